"""Run `causestream replay` in this process, as a user runs it, and read what it prints."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from click.testing import CliRunner
from msgspec import Struct

from schemas.codec import decode
from schemas.diagnosis import Diagnosis
from streams.cli.main import main


class Replayed(Struct, frozen=True, kw_only=True):
    """What one run printed: the diagnoses and the very bytes of standard output."""

    exit_code: int
    output: bytes
    errors: str
    diagnoses: tuple[Diagnosis, ...]


def replay(*arguments: str | Path, stdin: bytes | None = None) -> Replayed:
    """The last revisions that `causestream replay --format jsonl` prints; a crash is raised."""
    command = ["replay", *map(str, arguments), "--format", "jsonl"]
    result = CliRunner().invoke(main, command, input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    lines = result.stdout_bytes.splitlines()
    return Replayed(
        exit_code=result.exit_code,
        output=result.stdout_bytes,
        errors=result.stderr,
        diagnoses=tuple(decode(line, Diagnosis) for line in lines if line.strip()),
    )


def as_lines(records: Sequence[dict[str, Any]]) -> bytes:
    """Records as a topic dump: one JSON object a line, offsets counted per topic."""
    counted: dict[str, int] = {}
    lines = []
    for record in records:
        offset = counted.get(record["topic"], 0)
        counted[record["topic"]] = offset + 1
        lines.append(orjson.dumps({**record, "partition": 0, "offset": offset}))
    return b"\n".join(lines) + b"\n"
