"""No line costs more than its length: four times the text takes about four times the work.

CPU seconds of this process are compared, and only against a bound far above what linear work takes,
so that a busy machine fails nothing and quadratic work fails always.
"""

import json
from time import process_time

import pytest

from matchers.rules import Rules
from schemas.record import RawRecord
from streams.replay import Options, Session

LONG = 100_000
SECONDS = 2.0

UNITS = (
    "a", "A-", "a b ", "word ", "(", "-", "_", ".", "/", ":", ",", "=", "%41", "\\x41", "\\u0041",
    "&#65;", "QUJD", "0a", "[", "{", "<!--", "'", '"', "a@b.", "password=", "token: ", "key=a ",
    "Bearer ", "--a=", "a.b/", "ignore ", "run this ", "[identity=", " - ", "\u202e", "\u00e9",
    "\U0001f600", "e\u0301", "\x1b[31m", "\t", "a:b@", "://", 'File "', "peer=", "1.1.1.1 ",
    "-----BEGIN ", "eyJ",
)  # fmt: skip


def seconds(rules: Rules, record: RawRecord) -> float:
    session = Session(rules, Options())
    start = process_time()
    list(session.feed([record]))
    list(session.finish())
    return process_time() - start


@pytest.mark.parametrize("head", ["", "2026-06-01 00:00:00,000 - a - ERROR - CUDA out of memory "])
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_long_log_line_costs_its_length(rules: Rules, unit: str, head: str) -> None:
    text = head + unit * (LONG // len(unit))
    record = RawRecord(topic="flare-logs", value=text.encode(), path="site-1/log.txt")
    assert seconds(rules, record) < SECONDS


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_long_event_message_costs_its_length(rules: Rules, unit: str) -> None:
    involved = {"kind": "Pod", "namespace": "team", "name": "a", "uid": "b"}
    text = "Back-off restarting failed container " + unit * (LONG // len(unit))
    value = {
        "metadata": {"name": "a.1", "namespace": "team", "uid": "c"},
        "reason": "BackOff",
        "message": text,
        "lastTimestamp": "2026-06-01T00:00:00Z",
        "involvedObject": involved,
    }
    record = RawRecord(topic="k8s-events", value=json.dumps(value).encode())
    assert seconds(rules, record) < SECONDS
