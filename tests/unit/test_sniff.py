"""A decoded value says by itself which topic it belongs to, or it says nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.sources.sniff import sniff

Json = dict[str, Any]
EVENT: Json = {"kind": "Event", "metadata": {}, "involvedObject": {}, "reason": "A", "message": "b"}
POD: Json = {"kind": "Pod", "metadata": {"name": "a"}, "status": {}}
RUNAI_EVENT: Json = {"createdAt": "2026-01-02T12:00:00Z", "message": "m", "reason": "Failed"}
RUNAI_POD: Json = {"name": "a", "workloadId": "w", "k8sPhase": "Error", "containers": []}
WORKLOAD: Json = {"name": "a", "id": "w", "clusterId": "c", "phase": "Failed", "k8sPhase": "Error"}
HISTORY: Json = {"meta": {"type": "Event"}, "spec": {"event": RUNAI_EVENT, "phaseUpdate": None}}
METRICS: Json = {"measurements": [], "workloadId": "w"}
SPEC: Json = {"name": "a", "workloadId": "w", "clusterId": "c", "desiredPhase": "Running"}
FLAT: Json = {"reason": "FailedMount", "message": "m", "kind": "Pod", "name": "a", "count": "3"}
K8SEVENTS: Json = {
    "resourceLogs": [
        {
            "resource": {"attributes": []},
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "body": {"stringValue": "m"},
                            "attributes": [{"key": "k8s.event.uid", "value": {"stringValue": "u"}}],
                        }
                    ]
                }
            ],
        }
    ]
}
OTHER_LOGS: Json = {
    "resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "hello"}}]}]}]
}


@pytest.mark.parametrize(
    ("value", "topic"),
    [
        pytest.param(EVENT, "k8s-events", id="event"),
        pytest.param({**EVENT, "clusterName": "c"}, "k8s-events", id="exporter"),
        pytest.param({"regarding": {}, "note": "b"}, "k8s-events", id="new-api"),
        pytest.param({"kind": "List", "items": [EVENT]}, "k8s-events", id="list"),
        pytest.param({"kind": "EventList", "items": []}, "k8s-events", id="empty-event-list"),
        pytest.param({"type": "ADDED", "object": EVENT}, "k8s-events", id="watch"),
        pytest.param([EVENT], "k8s-events", id="bare-list"),
        pytest.param(FLAT, "k8s-events", id="layout"),
        pytest.param({"eventType": "e", "details": FLAT}, "k8s-events", id="nested-layout"),
        pytest.param({"specversion": "1.0", "data": EVENT}, "k8s-events", id="envelope"),
        pytest.param(
            {"body": {"type": "ADDED", "object": EVENT}}, "k8s-events", id="watch-in-an-envelope"
        ),
        pytest.param({"message": json.dumps(EVENT), "file": "/p"}, "k8s-events", id="as-text"),
        pytest.param(K8SEVENTS, "k8s-events", id="k8sevents"),
        pytest.param(POD, "runai-pods", id="kubectl-pod"),
        pytest.param({"kind": "List", "items": [POD]}, "runai-pods", id="kubectl-pods"),
        pytest.param({"kind": "List", "items": [{"a": 1}, EVENT]}, "k8s-events", id="mixed-list"),
        pytest.param(WORKLOAD, "runai-phases", id="workload"),
        pytest.param({"workloads": [WORKLOAD], "next": 2}, "runai-phases", id="workloads"),
        pytest.param({"workloads": []}, "runai-phases", id="no-workloads"),
        pytest.param({"events": [RUNAI_EVENT]}, "runai-phases", id="runai-events"),
        pytest.param({"workload": WORKLOAD, "events": None}, "runai-phases", id="composite"),
        pytest.param({**WORKLOAD, "events": None}, "runai-phases", id="status"),
        pytest.param(HISTORY, "runai-history", id="history"),
        pytest.param({"records": [HISTORY]}, "runai-history", id="history-answer"),
        pytest.param({**HISTORY, "workloadId": "w"}, "runai-history", id="history-with-id"),
        pytest.param(RUNAI_POD, "runai-pods", id="runai-pod"),
        pytest.param({"pods": [RUNAI_POD]}, "runai-pods", id="runai-pods"),
        pytest.param(METRICS, "runai-metrics", id="metrics"),
        pytest.param({"measurements": [], "histogram": None}, "runai-metrics", id="bare-metrics"),
        pytest.param(SPEC, "runai-specs", id="spec-absent"),
        pytest.param({**SPEC, "spec": {"image": "i"}}, "runai-specs", id="spec"),
        pytest.param({"event": "job_meta", "job_id": "j"}, "flare-jobs", id="job-meta-event"),
        pytest.param({"job_id": "j", "deploy_map": {}}, "flare-jobs", id="job-meta"),
        pytest.param(
            {"job_id": "j", "status": "FINISHED:COMPLETED"}, "flare-jobs", id="job-list-row"
        ),
        pytest.param({"msg": "m", "reason": "r", "name": "n"}, None, id="some-application-log"),
        pytest.param({"name": "n", "min_clients": 2, "deploy_map": {}}, "flare-jobs", id="meta"),
        pytest.param(
            {"schema_version": "1", "status": "ok", "exit_code": 0, "data": {}}, "flare-jobs",
            id="command-answer",
        ),
        pytest.param(
            {"schema_version": "1", "status": "error", "exit_code": 2, "error_code": "X"},
            "flare-jobs", id="command-error",
        ),
        pytest.param(
            {"job_id": "j", "logs": {"site-1": {"status": "ok"}}}, "flare-jobs", id="old-job-logs"
        ),
        pytest.param(
            {
                "asctime": "t", "name": "n", "fullName": "f", "levelname": "INFO", "fl_ctx": "",
                "message": "m",
            },
            "flare-logs", id="flare-json-log",
        ),
        pytest.param({"message": "m", "log": {"file": {"path": "/p"}}}, "flare-logs", id="beats"),
        pytest.param({"message": "m", "log.file.path": "/p"}, "flare-logs", id="dotted"),
        pytest.param({"message": "m", "file": "/p", "host": "h"}, "flare-logs", id="vector"),
        pytest.param({"log": "m\n", "kubernetes": {}, "stream": "out"}, "flare-logs", id="fluent"),
        pytest.param({"log": "m\n", "stream": "out", "time": "t"}, "flare-logs", id="docker"),
        pytest.param(OTHER_LOGS, None, id="other-otlp"),
        pytest.param({"message": "m"}, None, id="only-a-message"),
        pytest.param({"a": 1}, None, id="anything"),
        pytest.param({"kind": "List", "items": [{"kind": "Node"}]}, None, id="nodes"),
        pytest.param({}, None, id="empty"),
        pytest.param([], None, id="empty-list"),
        pytest.param("text", None, id="text"),
        pytest.param(None, None, id="null"),
    ],
)  # fmt: skip
def test_sniff(value: object, topic: str | None) -> None:
    assert sniff(value) == topic


keys = st.sampled_from(
    [
        "kind", "type", "object", "items", "event", "events", "workload", "workloads", "pods",
        "spec",
        "records", "meta", "measurements", "message", "log", "file", "reason", "name", "metadata",
        "status", "resourceLogs", "scopeLogs", "logRecords", "body", "attributes", "phase",
        "clusterId", "containers", "k8sPhase", "job_id", "schema_version", "data",
    ]
)  # fmt: skip
anything = st.recursive(
    st.none() | st.integers() | st.text(st.characters(), max_size=5) | st.just("Pod"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=15,
)


@given(anything)
def test_sniffing_never_raises(value: object) -> None:
    assert sniff(value) == sniff(value)
