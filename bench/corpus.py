"""Corpora of a stated size, fixed seed: what a training job writes, one line in 100 a signal.

98 of 100 lines are training output in which nothing is to be found, one is FLARE's own word of
progress, one is trouble. A log of nothing but FLARE's control lines is denser: every second line of
it is a witness of progress.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from uuid import UUID

SEED = 20_260_601
START_S = 1_780_272_000
SIGNAL_EVERY = 100

_QUIET = (
    ("TaskScriptRunner", "epoch {n} step {m} loss 0.{m:05d} accuracy 0.{n:04d} lr 0.001"),
    ("TaskScriptRunner", "loaded batch {m} of {n} in 0.{n:03d} s, shape (32, 3, 224, 224)"),
    ("Trainer", "step {m}: grad norm 1.{n:03d}, {n} samples/s, 12.{n:03d} GiB reserved"),
    ("Trainer", "validation dice 0.{n:04d} on {n} volumes, best 0.{m:05d}"),
    ("DataLoader", "worker 3 prefetched {n} items, queue depth {m}"),
    ("Sampler", "reshuffled {m} samples with seed {id}"),
)
_PROGRESS = (
    ("ClientRunner", "got task assignment: name=train, id={id}"),
    ("FedAvg", "Round {n} started."),
    ("FedAvg", "aggregating 2 update(s) at round {n}"),
    ("Communicator", "SubmitUpdate to: server. size: {m}B ({m} Bytes). time: 0.0{n:04d} seconds"),
)
_SIGNALS = (
    ("ExternalProcessBackend", "ModuleNotFoundError: No module named 'package_{n}'"),
    ("TaskScriptRunner", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n} MiB"),
    ("CoreCell", "cannot send to 'server': target_unreachable"),
    ("TaskScriptRunner", "FileNotFoundError: [Errno 2] No such file or directory: 'part-{n}.npy'"),
)
_EVENTS = (
    ("Scheduled", "Normal", "Successfully assigned team/train-{n}-0-0 to node node-{n}"),
    ("Pulled", "Normal", 'Container image "registry.example.com/team/train:{n}" already present'),
    ("Started", "Normal", "Started container main"),
    ("Created", "Normal", "Created container: main"),
)
_TROUBLE = (
    ("BackOff", "Warning", "Back-off restarting failed container main in pod train-{n}-0-0_team"),
    ("FailedMount", "Warning", 'MountVolume.SetUp failed for volume "data" : secret "s" not found'),
)


def text_log(folder: Path, size: int) -> Path:
    """One site's job log of about `size` bytes, where a federation would keep it."""
    rnd = Random(SEED)
    job = UUID(int=rnd.getrandbits(128), version=4)
    path = folder / "site-1" / str(job) / "log.txt"
    path.parent.mkdir(parents=True)
    _write(path, size, (f"{line}\n".encode() for _, line in _log_lines(rnd)))
    return path


def json_lines(folder: Path, size: int) -> Path:
    """A topic dump of about `size` bytes: shipped log lines and events, in equal numbers."""
    path = folder / "dump.jsonl"
    _write(path, size, _records(Random(SEED)))
    return path


def _write(path: Path, size: int, lines: Iterator[bytes]) -> None:
    written = 0
    with path.open("wb") as file:
        while written < size:
            written += file.write(next(lines))


def _log_lines(rnd: Random) -> Iterator[tuple[int, str]]:
    number = 0
    while True:
        number += 1
        rows: tuple[tuple[str, str], ...] = _QUIET
        level = "INFO"
        if number % SIGNAL_EVERY == 0:
            rows, level = _SIGNALS, "ERROR"
        elif number % SIGNAL_EVERY == 50:
            rows = _PROGRESS
        logger, text = rows[int(rnd.random() * len(rows))]
        n, m = int(rnd.random() * 1_000), int(rnd.random() * 90_000)
        at_ms = START_S * 1000 + number * 37
        moment = datetime.fromtimestamp(at_ms // 1000, tz=UTC)
        header = f"{moment:%Y-%m-%d %H:%M:%S},{at_ms % 1000:03d} - {logger} - {level} - "
        yield at_ms, header + text.format(n=n, m=m, id=f"{m:08x}-0000-4000-8000-{n:012x}")


def _records(rnd: Random) -> Iterator[bytes]:
    job = str(UUID(int=rnd.getrandbits(128), version=4))
    logs = _log_lines(rnd)
    offset = 0
    while True:
        at_ms, line = next(logs)
        moment = f"{datetime.fromtimestamp(at_ms // 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"
        shipped = {
            "@timestamp": moment,
            "message": line,
            "host": {"name": "site-1-host"},
            "log": {"file": {"path": f"/opt/nvflare/site-1/{job}/log.txt"}, "offset": offset},
        }
        yield _record("flare-logs", job, at_ms, offset, shipped)
        yield _record("k8s-events", None, at_ms, offset, _event(rnd, moment, offset))
        offset += 1


def _event(rnd: Random, moment: str, number: int) -> dict[str, object]:
    rows = _TROUBLE if number % SIGNAL_EVERY == 0 else _EVENTS
    reason, kind, text = rows[int(rnd.random() * len(rows))]
    n = int(rnd.random() * 200)
    uid = str(UUID(int=rnd.getrandbits(128), version=4))
    return {
        "metadata": {"name": f"train-{n}-0-0.{uid[:8]}", "namespace": "team", "uid": uid},
        "reason": reason,
        "message": text.format(n=n),
        "source": {"component": "kubelet", "host": f"node-{n}"},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
        "type": kind,
        "clusterName": "bench",
        "involvedObject": {"kind": "Pod", "namespace": "team", "name": f"train-{n}-0-0"},
    }


def _record(topic: str, key: str | None, at_ms: int, offset: int, value: object) -> bytes:
    record = {
        "topic": topic,
        "key": key,
        "partition": 0,
        "offset": offset,
        "timestamp": at_ms,
        "value": value,
    }
    return json.dumps(record).encode() + b"\n"
