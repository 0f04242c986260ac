"""Envelopes of log shippers: one line, whatever it was packed in."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import Reason, SchemaError
from schemas.record import RawRecord
from schemas.sources.shippers import Line, unwrap

RECORD = RawRecord(topic="flare-logs", offset=7)
PATH = "/fl/site-1/log.txt"
ISO, MS = "2026-03-01T08:00:00.250Z", 1772352000250
FLARE = {
    "asctime": "2026-03-01 08:00:00,250",
    "name": "FedAvg",
    "fullName": "nvflare.app_common.workflows.fedavg.FedAvg",
    "levelname": "INFO",
    "fl_ctx": "",
    "message": "Round 2 started.",
}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"message": "hi", "@timestamp": ISO, "log.file.path": PATH}, id="flat"),
        pytest.param(
            {
                "@timestamp": ISO,
                "message": "hi",
                "log": {"file": {"path": PATH}, "offset": 12, "flags": ["multiline"]},
                "host": {"name": "h"},
                "agent": {"type": "filebeat"},
            },
            id="filebeat-nested",
        ),
        pytest.param(
            {"@timestamp": ISO, "message": "hi", "log.file.path": PATH, "log.offset": 12},
            id="filebeat-dotted",
        ),
        pytest.param(
            {"timestamp": ISO, "message": "hi", "file": PATH, "source_type": "file"}, id="vector"
        ),
        pytest.param({"date": MS / 1000, "log": "hi", "filename": PATH}, id="fluent-bit-tail"),
        pytest.param({"time": ISO, "log": "hi", "path": PATH}, id="fluentd"),
        pytest.param(
            {"__REALTIME_TIMESTAMP": str(MS * 1000), "MESSAGE": "hi", "path": PATH}, id="journald"
        ),
    ],
)
def test_text_time_and_path(value: dict[str, Any]) -> None:
    line = unwrap(RECORD, value)
    assert (line.text, line.time_ms, line.path) == ("hi", MS, PATH)
    assert line.offset in (-1, 12)


def test_container_record() -> None:
    value = {
        "@timestamp": MS / 1000,
        "log": "hi\n",
        "stream": "stderr",
        "logtag": "F",
        "kubernetes": {
            "pod_name": "p",
            "namespace_name": "ns",
            "container_name": "c",
            "host": "node",
            "labels": {"nvflare/site": "site-1", "bad": 1},
        },
    }
    line = unwrap(RECORD, value)
    assert (line.pod, line.namespace, line.container, line.stream) == ("p", "ns", "c", "stderr")
    assert (line.host, line.labels, line.partial) == ("node", {"nvflare/site": "site-1"}, False)


@pytest.mark.parametrize(
    ("value", "partial"),
    [
        ({"log": "x", "logtag": "P"}, True),
        ({"log": "x", "logtag": "F"}, False),
        ({"log": "x"}, False),
        ({"log": "x" * 16384, "stream": "stdout"}, True),
        ({"log": "x" * 16384 + "\n", "stream": "stdout"}, False),
        ({"log": "x", "partial_message": "true", "partial_last": "false"}, True),
        ({"log": "x", "partial_message": "true", "partial_last": "true"}, False),
        ({"MESSAGE": "x", "CONTAINER_PARTIAL_MESSAGE": "true"}, True),
    ],
)
def test_lines_that_the_runtime_cut(value: dict[str, Any], partial: bool) -> None:
    assert unwrap(RECORD, value).partial is partial


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(FLARE, id="direct"),
        pytest.param({"message": json.dumps(FLARE), "file": PATH}, id="as-a-string"),
        pytest.param({"log": json.dumps(FLARE) + "\n", "stream": "stdout"}, id="container-string"),
        pytest.param({**FLARE, "@timestamp": ISO, "host": "h"}, id="merged"),
        pytest.param({"message": "outer", "json": FLARE}, id="decoded-beside"),
        pytest.param({"message": FLARE}, id="decoded-in-place"),
        pytest.param(json.dumps(FLARE), id="json-string"),
    ],
)
def test_flare_json_wins(value: object) -> None:
    line = unwrap(RECORD, value)
    assert line.flare == FLARE
    assert line.text == "Round 2 started."


def test_plain_text_keeps_its_place_in_the_file() -> None:
    record = RawRecord(topic="flare-logs", value="grüße".encode(), path=PATH, offset=99)
    assert unwrap(record, None) == Line(text="grüße", path=PATH, offset=99)


def test_operator_fields() -> None:
    nested = unwrap(RECORD, {"message": "m", "fields": {"site": "s", "job_id": "j", "x": "y"}})
    dotted = unwrap(RECORD, {"message": "m", "fields.site": "s", "job": "j"})
    assert nested.fields == dotted.fields == {"site": "s", "job": "j"}


@pytest.mark.parametrize(
    "value", [[], 3, {}, {"level": "x"}, {"message": None}, {"log": {"offset": 1}}]
)
def test_records_without_text(value: object) -> None:
    with pytest.raises(SchemaError) as caught:
        unwrap(RECORD, value)
    assert caught.value.reason is Reason.WRONG_SHAPE


def test_tombstone() -> None:
    with pytest.raises(SchemaError):
        unwrap(RECORD, None)


_OTHER = (
    *("log", "file", "path", "host", "fields", "kubernetes", "container", "labels", "offset"),
    *("@timestamp", "time", "stream", "logtag", "json", "log.offset", "log.file.path", "agent"),
)
_KEYS = st.sampled_from([*FLARE, *_OTHER])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_only_schema_errors(value: object) -> None:
    try:
        line = unwrap(RawRecord(topic="t", value=b"\xff\x00"), value)
    except SchemaError:
        return
    assert isinstance(line.text, str)
    assert all(isinstance(found, str) for found in (line.path, line.host, *line.fields.values()))
