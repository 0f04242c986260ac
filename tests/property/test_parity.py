"""The law of parity: a folder of logs and a topic dump of its lines end in the same revisions."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from msgspec.structs import replace

from matchers.rules import Rules
from schemas.diagnosis import Diagnosis
from streams.inputs import Reader
from streams.replay import Options, Replay, drive

RUNS = Path(__file__).parents[1] / "data" / "flare-runs"
CHOSEN = [
    "poc-import-error",
    "poc-operator-abort",
    "poc-port-in-use",
    "poc-user-exception",
    "poc27-cert-expired-grpc",
    "sim-injected-prints-healthy",
    "sim-subprocess-sigkill",
    "sim25-import-error",
]


def diagnosed(path: Path, rules: Rules) -> list[Diagnosis]:
    reader, replay = Reader([str(path)]), Replay(rules, Options())
    drive(reader, [replay])
    return [comparable(diagnosis) for diagnosis in replay.outcome(reader).diagnoses]


def comparable(diagnosis: Diagnosis) -> Diagnosis:
    """All fields but the revision and the place in a topic, which a file has not."""
    evidence = tuple(
        replace(piece, source=replace(piece.source, partition=0, offset=0))
        for piece in diagnosis.evidence
    )
    return replace(diagnosis, revision=0, evidence=evidence)


def dumped(run: Path) -> Iterator[bytes]:
    """Every record of a run as a shipper and `nvflare` would have put it on the topics."""
    for file in sorted(run.rglob("*")):
        if file.suffix == ".json" and file.name.startswith("cli_"):
            value = orjson.loads(file.read_bytes())
            yield orjson.dumps({"topic": "flare-jobs", "value": value})
        elif file.is_file():
            yield from _lines(run, file)


def _lines(run: Path, file: Path) -> Iterator[bytes]:
    offset = 0
    for line in file.read_bytes().split(b"\n"):
        label = f"{run.name}/{file.relative_to(run)}"
        value = {"message": line.decode(), "log.file.path": label, "log.offset": offset}
        if line.strip():
            yield orjson.dumps({"topic": "flare-logs", "value": value})
        offset += len(line) + 1


@pytest.mark.parametrize("name", CHOSEN)
def test_files_and_a_dump_agree(name: str, rules: Rules, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(b"\n".join(dumped(RUNS / name)) + b"\n")
    from_files = diagnosed(RUNS / name, rules)
    assert diagnosed(dump, rules) == from_files
