"""Many hostile records in one run: nothing escapes, nothing is lost unnamed, memory stays flat."""

import json
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from matchers.rules import Rules
from matchers.scan import TOPICS
from schemas.dead_letter import PAYLOAD_KEPT
from schemas.errors import Reason
from schemas.record import RawRecord
from streams.replay import Options, Session
from tests.fuzz.hostile import hostile_lines

RECORDS = int(os.environ.get("FUZZ_RECORDS", "20000"))
SEED = int(os.environ.get("FUZZ_SEED", "20260601"))
ROOT = Path(__file__).parent.parent.parent
GROWTH_KEPT = 32 * 1024 * 1024
REASONS = {reason.value for reason in Reason}


def test_hostile_records_in_one_run() -> None:
    command = [sys.executable, "-m", "tests.fuzz.run", str(RECORDS), str(SEED)]
    ended = subprocess.run(command, check=False, capture_output=True, cwd=ROOT, text=True)
    assert ended.returncode == 0, f"seed {SEED}: {ended.stderr}"
    found = json.loads(ended.stdout)
    grown = found["peak_bytes"] - found["early_bytes"]
    assert grown < GROWTH_KEPT, f"grew by {grown} bytes after a quarter of the records"
    broken = sum(not is_json(line) for line in hostile_lines(SEED, RECORDS))
    dead = sum(found["dead_counts"].values())
    assert set(found["dead_counts"]) <= REASONS
    assert dead >= broken, f"{broken} lines are no JSON, {dead} dead letters (seed {SEED})"
    assert found["diagnoses"], "real failures are found among the junk"
    for why, length in found["letters"]:
        assert why
        assert length <= PAYLOAD_KEPT


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


values = st.one_of(st.none(), st.binary(max_size=300), st.text(max_size=300).map(str.encode))
raw_records = st.builds(
    RawRecord,
    topic=st.sampled_from([*TOPICS, "orders", ""]),
    partition=st.integers(0, 2),
    offset=st.integers(0, 1 << 62),
    key=st.one_of(st.none(), st.binary(max_size=40)),
    value=values,
    timestamp_ms=st.integers(0, 4_102_444_800_000),
    path=st.sampled_from(["", "site-1/log.txt", "../../x", "\x00", "server/log.json"]),
)


@given(st.lists(raw_records, max_size=30))
def test_any_bytes_on_any_topic(rules: Rules, batch: list[RawRecord]) -> None:
    session = Session(rules, Options())
    list(session.feed(batch))
    list(session.finish())
    assert set(session.dead_counts) <= REASONS
    unread = [r for r in batch if r.topic not in {"flare-logs"} and not _is_object(r.value)]
    assert sum(session.dead_counts.values()) >= len(unread)


def _is_object(value: bytes | None) -> bool:
    if not value or not is_json(value):
        return False
    return isinstance(json.loads(value), dict | list)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.sampled_from(TOPICS), json_values)
def test_any_json_on_any_topic(rules: Rules, topic: str, value: object) -> None:
    session = Session(rules, Options())
    list(session.feed([RawRecord(topic=topic, value=json.dumps(value).encode())]))
    list(session.finish())
    assert set(session.dead_counts) <= REASONS
