"""Every broken input is survived, named, and harms no good record beside it."""

import gzip
from pathlib import Path

import pytest

from schemas.errors import Reason
from tests.labels import load_cases
from tests.replaying import as_lines, replay

BROKEN = Path(__file__).parent.parent / "data" / "broken"
FILES = sorted(path.name for path in BROKEN.iterdir() if path.name != "README.md")
DONE, SOME_UNREAD = 0, 3

MADE: dict[str, bytes] = {
    "ten-megabyte-line.log": b"x" * 10_000_000 + b"\n2026-06-01 00:00:00,000 - a - INFO - b\n",
    "ten-megabyte-value.jsonl": b'{"topic":"k8s-events","value":"' + b"y" * 10_000_000 + b'"}\n',
    "bomb.log.gz": gzip.compress(b"0" * 120_000_000, mtime=0),
    "a-million-brackets.json": b"[" * 1_000_000,
    "long-traceback.log": b"Traceback (most recent call last):\n"
    + b'  File "/w/site-1/app_site-1/custom/f.py", line 1, in f\n    f()\n' * 50_000,
    "many-carriage-returns.log": b"2026-06-01 00:00:00,000 - a - ERROR - b" + b"\r" * 500_000,
    "many-escapes.log": b"\x1b[31m" * 200_000 + b"\n" + b"\x1b]0;" * 200_000 + b"\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_is_survived(name: str) -> None:
    replayed = replay(BROKEN / name)
    assert replayed.exit_code in {DONE, SOME_UNREAD}
    if replayed.exit_code == SOME_UNREAD:
        named = any(reason.value in replayed.errors for reason in Reason)
        assert named or name in replayed.errors, replayed.errors


@pytest.mark.parametrize("name", MADE)
def test_a_large_broken_file_is_survived(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(MADE[name])
    assert replay(path).exit_code in {DONE, SOME_UNREAD}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("deep.json", id="too-deep"),
        pytest.param("binary.bin", id="binary"),
        pytest.param("cut-off.jsonl", id="cut-off"),
        pytest.param("cut-off.jsonl.gz", id="cut-off-gzip"),
        pytest.param("unknown-topics.jsonl", id="unknown-topics"),
        pytest.param("wrong-shapes.jsonl", id="wrong-shapes"),
    ],
)
def test_what_is_not_read_is_said(name: str) -> None:
    replayed = replay(BROKEN / name)
    assert replayed.exit_code == SOME_UNREAD
    assert replayed.errors.strip()


def test_a_good_record_among_broken_ones_is_diagnosed(tmp_path: Path) -> None:
    case = next(case for case in load_cases("runai") if case.expect.get("category"))
    good = tmp_path / "good.jsonl"
    good.write_bytes(as_lines(case.records))
    alone = {d.subject.workload_id: d.category for d in replay(good).diagnoses}
    among = {d.subject.workload_id: d.category for d in replay(BROKEN, good).diagnoses}
    assert alone
    assert alone.items() <= among.items()


@pytest.mark.parametrize("name", FILES)
def test_a_broken_tail_costs_no_good_head(name: str, tmp_path: Path) -> None:
    """Good records, then the broken bytes, in one file: the good ones still count."""
    case = next(case for case in load_cases("runai") if case.expect.get("category"))
    path = tmp_path / "both.jsonl"
    path.write_bytes(as_lines(case.records) + (BROKEN / name).read_bytes())
    found = {d.subject.workload_id: d.category for d in replay(path).diagnoses}
    alone = {case.request["workload_id"]: case.expect["category"]}
    assert alone.items() <= found.items()
