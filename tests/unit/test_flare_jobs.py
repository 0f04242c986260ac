"""Answers about FLARE jobs, in every shape of the command's output."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchers.entries import Open, assemble
from schemas.entry import Entry
from schemas.errors import SchemaError
from schemas.record import RawRecord
from schemas.sources.flare_jobs import log_lines, read_jobs

JOB = "5b2f3d1c-0a4e-4c59-9f6e-7d1a2b3c4d5e"
META = {
    "job_id": JOB,
    "name": "heart",
    "status": "FINISHED:ABNORMAL",
    "min_clients": 2,
    "deploy_map": {"app": ["@ALL"], "b": ["site-2"]},
    "resource_spec": {"site-1": {"num_of_gpus": 2, "mem": "16"}},
    "submit_time": 1772352000.25,
    "submit_time_iso": "2026-03-01T08:00:00.250000+00:00",
    "job_deploy_detail": ["server: OK", "site-1: OK", "site-2: BYOC not permitted"],
    "schedule_count": 2,
    "schedule_history": ["2026-03-01 08:00:01: not enough sites", "no time here"],
}


def read(value: object, key: str = "") -> list[Entry]:
    return read_jobs(value, federation="f", timestamp_ms=5, key=key)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(META, id="bare"),
        pytest.param({"event": "job_meta", "observed_at": 0.005, **META}, id="event"),
        pytest.param({"schema_version": "1", "status": "ok", "data": META}, id="envelope"),
        pytest.param({"event": "x", "response": {"status": "ok", "data": META}}, id="response"),
        pytest.param([META], id="list"),
        pytest.param({"status": "ok", "data": {"jobs": [META]}}, id="job-list"),
        pytest.param({"status": "ok", "data": [META]}, id="data-list"),
    ],
)
def test_job_meta_in_every_shape(value: object) -> None:
    meta, deploy, first, second = read(value)
    assert (meta.fact, meta.reason, meta.where.job, meta.merge) == (
        "job.meta",
        "FINISHED:ABNORMAL",
        JOB,
        "state",
    )
    assert meta.attrs == {
        "mode": "poc_production",
        "name": "heart",
        "min_clients": 2,
        "sites": "server,site-1,site-2",
        "targets": "site-2",
        "schedule_count": 2,
        "requested": "site-1: num_of_gpus=2 mem=16",
        "submitted_ms": 1772352000250,
    }
    assert (deploy.fact, deploy.where.site, deploy.text) == (
        "job.deploy",
        "site-2",
        "BYOC not permitted",
    )
    assert (first.fact, first.first_ms, first.text) == (
        "job.schedule",
        1772352001000,
        "not enough sites",
    )
    assert (second.first_ms, second.text) == (5, "no time here")
    assert {entry.where.federation for entry in (meta, deploy, first, second)} == {"f"}


def test_refused_submission() -> None:
    answer = {
        "status": "error",
        "exit_code": 1,
        "error_code": "JOB_INVALID",
        "message": "bad",
        "hint": "h",
    }
    for value in (answer, {"event": "job_submit", "job_folder": "d", "response": answer}):
        (entry,) = read(value, key=JOB)
        assert (entry.fact, entry.reason, entry.text) == ("job.submit", "JOB_INVALID", "bad")
        assert entry.where.job == JOB
        assert entry.attrs["exit_code"] == 1


def test_accepted_submission_says_nothing() -> None:
    assert read({"status": "ok", "exit_code": 0, "data": {"job_id": JOB}}) == []


def test_report() -> None:
    (entry,) = read({"event": "operator_report", "job_id": "j", "text": "it failed"})
    assert (entry.fact, entry.where.job, entry.text) == ("job.report", "j", "it failed")


def logs_answer() -> dict[str, Any]:
    json_line = (
        '{"asctime": "2026-03-01 08:00:00,250", "name": "FedAvg", "levelname": "ERROR",'
        ' "fl_ctx": "", "message": "lost"}'
    )
    return {
        "event": "job_logs",
        "observed_at": "2026-03-01T09:00:00Z",
        "response": {
            "status": "ok",
            "data": {
                "job_id": JOB,
                "target": "all",
                "logs": {"server": json_line + "\n", "site-1": "    f()\nValueError: x\n"},
                "logs_truncated": True,
                "sites": {
                    "server": {"available": True, "lines": 1, "bytes": 9, "logs_truncated": False},
                    "site-1": {"available": True, "lines": 2},
                    "site-2": {"available": False, "reason": "no stream"},
                },
                "unavailable": {"site-3": "denied"},
            },
        },
    }


def test_visibility_of_logs() -> None:
    found = {
        entry.where.site: (entry.reason, entry.attrs.get("why", ""))
        for entry in read(logs_answer())
    }
    assert found == {
        "server": ("available", ""),
        "site-1": ("truncated", ""),
        "site-2": ("unavailable", "no stream"),
        "site-3": ("unavailable", "denied"),
    }


def test_visibility_in_the_other_shape() -> None:
    value = {
        "event": "job_logs",
        "job_id": "abc",
        "logs": {
            "server": {"status": "ok", "truncated": True, "lines": ["one", "two"]},
            "site-1": {"status": "permission_denied"},
            "site-2": {"status": "missing"},
        },
    }
    reasons = [entry.reason for entry in read(value)]
    assert reasons == ["truncated", "unavailable", "unavailable"]
    assert [line.text for line in log_lines(value)] == ["one", "two"]


def test_log_lines_of_an_answer() -> None:
    record = RawRecord(topic="flare-jobs")
    lines = [(record, line) for line in log_lines(logs_answer())]
    lost, cut = assemble(lines, Open(), final=True, federation="f")[0]
    assert (lost.where.site, lost.where.process, lost.level, lost.text) == (
        "server",
        "SJ",
        "ERROR",
        "lost",
    )
    assert lost.tool == "nvflare job logs"
    assert (cut.where.site, cut.attrs["truncated"], cut.attrs["exception"]) == (
        "site-1",
        1,
        "ValueError",
    )
    assert cut.first_ms == 1772355600000  # when the logs were asked for


def test_a_cut_beginning_gets_the_time_of_what_follows() -> None:
    rows = "    f()\nValueError: x\n2026-03-01 08:00:00,250 - A - INFO - b\nmore"
    lines = log_lines({"job_id": JOB, "logs": {"site-1": rows}})
    assert [line.time_ms for line in lines] == [1772352000250, 1772352000250, 0, 0]


def test_system_status() -> None:
    entries = read(
        {
            "status": "ok",
            "data": {
                "clients": [{"client_name": "site-1", "client_last_conn_time": 1772352000.25}],
                "client_status": [{"client_name": "site-1", "status": "no_jobs"}],
                "disabled_clients": ["site-2"],
                "jobs": [],
            },
        }
    )
    assert [(entry.where.site, entry.reason) for entry in entries] == [
        ("site-1", "no_jobs"),
        ("site-2", "disabled"),
    ]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, {"data": 1}, [1, 2], {"job": "x"}])
def test_no_answer(value: object) -> None:
    with pytest.raises(SchemaError):
        read(value)


_KEYS = st.sampled_from(
    [
        *("event", "response", "status", "data", "job_id", "logs", "sites", "unavailable", "lines"),
        *("clients", "jobs", "meta", "error_code", "job_deploy_detail", "schedule_history", "text"),
        *("deploy_map", "resource_spec", "client_status", "name"),
    ]
)
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats()
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["ok", "error", "a: b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=15,
)


@given(_JSON)
def test_only_schema_errors(value: object) -> None:
    assemble([(RawRecord(topic="t"), line) for line in log_lines(value)], Open(), final=True)
    try:
        read(value)
    except SchemaError:
        return
