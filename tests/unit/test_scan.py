"""What a record that can't be read is called, and what a batch says in all."""

import pytest

from matchers.entries import Open
from matchers.rules import Rules
from matchers.scan import ScanOptions, scan, scope_of
from schemas.entry import Where
from schemas.errors import Reason
from schemas.record import RawRecord

DEEP = b"[" * 200 + b"]" * 200
OOM = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB"
OTLP = b"\n\xc4\x02\n\x00\x12\x17k8s.cluster.name\x00"


@pytest.mark.parametrize(
    ("topic", "value", "reason"),
    [
        pytest.param("k8s-events", None, Reason.TOMBSTONE, id="tombstone"),
        pytest.param("flare-logs", None, Reason.TOMBSTONE, id="log-tombstone"),
        pytest.param("runai-pods", b"  ", Reason.EMPTY, id="empty"),
        pytest.param("k8s-events", b"{nope", Reason.NOT_JSON, id="not-json"),
        pytest.param("k8s-events", DEEP, Reason.TOO_DEEP, id="too-deep"),
        pytest.param("k8s-events", OTLP, Reason.BINARY_OTLP, id="binary-otlp"),
        pytest.param("runai-phases", b"\x89PNG\x00\x01", Reason.NOT_TEXT, id="binary"),
        pytest.param("flare-logs", b"\x7fELF\x00\x00", Reason.NOT_TEXT, id="binary-log"),
        pytest.param("flare-logs", b"x" * 1_100_000, Reason.TOO_LARGE, id="long-line"),
        pytest.param("runai-pods", b"42", Reason.WRONG_SHAPE, id="wrong-shape"),
        pytest.param("weather", b"{}", Reason.UNKNOWN_TOPIC, id="unknown-topic"),
    ],
)
def test_what_cannot_be_read_is_named(
    rules: Rules, topic: str, value: bytes | None, reason: Reason
) -> None:
    scanned = scan([RawRecord(topic=topic, value=value)], rules, Open(), ScanOptions())
    assert [letter.reason for letter in scanned.dead_letters] == [reason]
    assert scanned.counts[topic, "dead"] == 1


def test_a_dead_letter_keeps_no_credential(rules: Rules) -> None:
    value = b'{"image": "https://robot:Sw0rdf1shSw0rdf1sh@registry.example/v2", "oops'
    record = RawRecord(topic="k8s-events", partition=2, offset=7, value=value)
    (letter,) = scan([record], rules, Open(), ScanOptions()).dead_letters
    assert "Sw0rdf1sh" not in letter.payload
    assert (letter.partition, letter.offset) == (2, 7)


def test_a_storm_is_one_observation(rules: Rules) -> None:
    lines = [
        RawRecord(
            topic="flare-logs",
            offset=n,
            value=b"2026-01-01 00:00:00,%03d - App - ERROR - %b" % (n, OOM),
            path="ws/site-1/log.txt",
        )
        for n in range(500)
    ]
    scanned = scan(lines, rules, Open(), ScanOptions(), final=True)
    (message,) = scanned.observations
    (oom,) = [item for item in message.observations if item.signal != "stream.seen"]
    assert oom.count == 500
    assert len(oom.samples) == 3


@pytest.mark.parametrize(
    ("where", "scope"),
    [
        pytest.param(Where(cluster="c", namespace="n"), "k8s:c", id="a-cluster"),
        pytest.param(Where(node="n1"), "k8s:home", id="no-cluster-named"),
        pytest.param(Where(federation="f", site="s"), "flare:f", id="a-federation"),
        pytest.param(Where(job="j"), "flare:fed", id="no-federation-named"),
    ],
)
def test_scope(where: Where, scope: str) -> None:
    assert scope_of(where, ScanOptions(cluster="home", federation="fed")) == scope
