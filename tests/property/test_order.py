"""The law of order: permuted, repeated or cut otherwise, records end in the same verdicts."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from matchers.rules import Rules
from schemas.diagnosis import Diagnosis, Evidence
from schemas.record import RawRecord
from streams.replay import UNSAID, Options, Session
from tests.labels import Case, load_cases

LOGS, JOBS = "flare-logs", "flare-jobs"
STEP_MS = 1_000
ORDERS = max(8, int(os.environ.get("FUZZ_EXAMPLES", "0")) // 20)  # tried per case
CASES = [*load_cases("runai"), *load_cases("flare")]


def raw(case: Case) -> list[RawRecord]:
    """The case's records as they arrived, a second apart."""
    at_ms = options(case).as_of_ms
    return [
        RawRecord(
            topic=record["topic"],
            key=record["key"].encode() if record["key"] else None,
            value=orjson.dumps(record["value"]),
            timestamp_ms=at_ms + number * STEP_MS,
        )
        for number, record in enumerate(case.records)
    ]


def options(case: Case) -> Options:
    if case.family == "flare":
        return Options()
    return Options(
        cluster=case.request["cluster_id"],
        lookback_ms=int(case.lookback.removesuffix("h")) * 3_600_000,
        as_of_ms=int(datetime.fromisoformat(case.as_of).timestamp() * 1000),
    )


def last_revisions(
    records: Sequence[RawRecord],
    rules: Rules,
    chosen: Options,
    cuts: Sequence[int] = (),
    *,
    counted: bool = False,
) -> list[Diagnosis]:
    """What is last said when the records come in this order, cut into batches there."""
    session = Session(rules, chosen)
    placed = [replace(record, offset=number) for number, record in enumerate(records)]
    last: dict[str, Diagnosis] = {}
    edges = [0, *sorted(set(cuts)), len(placed)]
    for start, end in pairwise(edges):
        last.update((d.id, d) for d in session.feed(placed[start:end]))
    last.update((d.id, d) for d in session.finish())
    said = [comparable(d, counted=counted) for d in last.values() if d.state not in UNSAID]
    return sorted(said, key=lambda diagnosis: diagnosis.id)


def comparable(diagnosis: Diagnosis, *, counted: bool) -> Diagnosis:
    """All fields but the revision, the place in a topic and, unless `counted`, counts of lines."""
    evidence = tuple(
        replace(
            piece,
            source=replace(piece.source, partition=0, offset=0),
            count=piece.count if counted or not is_log_line(piece) else 0,
        )
        for piece in diagnosis.evidence
    )
    findings = tuple(
        replace(finding, count=finding.count if counted else 0) for finding in diagnosis.findings
    )
    return replace(diagnosis, revision=0, evidence=evidence, findings=findings)


def is_log_line(piece: Evidence) -> bool:
    """A line of a log, shipped or fetched with `job logs`: fetched twice, it was sent twice."""
    fetched = piece.source.topic == JOBS and not piece.signal.startswith(("job.", "site."))
    return piece.source.topic == LOGS or fetched


def file_of(record: RawRecord, number: int) -> str:
    """What keeps its order: the file a log line comes from. Anything else is on its own."""
    if record.topic != LOGS or record.value is None:
        return f"#{number}"
    value: dict[str, Any] = orjson.loads(record.value)
    found = [value.get("log.file.path"), value.get("file"), value.get("stream"), value.get("host")]
    log = value.get("log")
    if isinstance(log, dict):
        found.insert(0, log.get("file", {}).get("path"))
    kubernetes = value.get("kubernetes")
    if isinstance(kubernetes, dict):
        found.insert(0, kubernetes.get("pod_name"))
    return str(next((path for path in found if isinstance(path, str)), "")) or str(record.key)


def permuted(records: Sequence[RawRecord], rnd: Random) -> list[RawRecord]:
    """Any order in which the lines of one file keep theirs."""
    files: dict[str, list[RawRecord]] = {}
    for number, record in enumerate(records):
        files.setdefault(file_of(record, number), []).append(record)
    places = [name for name, lines in files.items() for _ in lines]
    rnd.shuffle(places)
    left: dict[str, Iterator[RawRecord]] = {name: iter(lines) for name, lines in files.items()}
    return [next(left[name]) for name in places]


def with_repeats(records: Sequence[RawRecord], rnd: Random) -> list[RawRecord]:
    """Some structured records once more, anywhere."""
    again = [record for record in records if record.topic != LOGS and rnd.random() < 0.5]
    mixed = list(records)
    for record in again:
        mixed.insert(rnd.randrange(len(mixed) + 1), record)
    return mixed


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
@settings(max_examples=ORDERS)
@given(rnd=st.randoms(use_true_random=False))
def test_order_repeats_and_batches_do_not_matter(case: Case, rules: Rules, rnd: Random) -> None:
    chosen = options(case)
    records = raw(case)
    expected = last_revisions(records, rules, chosen)
    other = with_repeats(permuted(records, rnd), rnd)
    cuts = [rnd.randrange(1, len(other)) for _ in range(rnd.randrange(6))] if other[1:] else []
    assert last_revisions(other, rules, chosen, cuts) == expected


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_one_record_a_batch_says_the_same(case: Case, rules: Rules) -> None:
    """Nothing is sent twice here, so that even lines are counted alike."""
    records, chosen = raw(case), options(case)
    whole = last_revisions(records, rules, chosen, counted=True)
    cuts = range(1, len(records))
    assert last_revisions(records, rules, chosen, cuts, counted=True) == whole
