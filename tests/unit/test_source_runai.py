"""Answers of the Run:ai API, one and many, whole and partial."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.entry import Entry
from schemas.errors import Reason, SchemaError
from schemas.sources import runai

NOON = 1_767_355_200_000  # 2026-01-02T12:00:00Z
MINUTE = 60_000
Json = dict[str, Any]

EVENT: Json = {
    "createdAt": "2026-01-02T12:00:00.000Z",
    "id": "e-1",
    "type": "Warning",
    "clusterId": "c-1",
    "message": "Container main was OOM killed",
    "reason": "OOMKilled",
    "source": "kubelet",
    "involvedObject": {"uid": "p-1", "kind": "Pod", "name": "fit-0", "namespace": "runai-lab"},
}
WORKLOAD: Json = {
    "type": "TrainingWorkload",
    "name": "fit",
    "id": "w-1",
    "clusterId": "c-1",
    "projectName": "lab",
    "namespace": "runai-lab",
    "createdAt": "2026-01-02T10:00:00Z",
    "phase": "Failed",
    "phaseMessage": "out of memory",
    "k8sPhase": "OOMKilled",
    "phaseUpdatedAt": "2026-01-02T12:01:00Z",
    "updatedAt": "2026-01-02T12:02:00Z",
    "conditions": [
        {
            "type": "Failed",
            "status": "True",
            "reason": "DeadlineExceeded",
            "message": "too long",
            "lastTransitionTime": "2026-01-02T12:01:30Z",
        }
    ],
    "command": "python",
    "environmentVariables": [{"name": "KEY", "value": "v"}],
    "events": [EVENT],
}
HISTORY_EVENT: Json = {
    "workloadId": "w-1",
    "clusterId": "c-1",
    "meta": {"creationTimestamp": "2026-01-02T12:00:00.000Z", "type": "Event"},
    "spec": {"event": EVENT, "phaseUpdate": None},
}
HISTORY_PHASE: Json = {
    "workloadId": "w-1",
    "clusterId": "c-1",
    "meta": {"creationTimestamp": "2026-01-02T12:01:00Z", "type": "PhaseUpdate"},
    "spec": {"event": None, "phaseUpdate": {"phase": "Failed", "phaseMessage": "out of memory"}},
}
POD: Json = {
    "name": "fit-0",
    "id": "p-1",
    "workloadId": "w-1",
    "clusterId": "c-1",
    "projectName": "lab",
    "workloadName": "fit",
    "nodeName": "node-a",
    "createdAt": "2026-01-02T10:00:00Z",
    "completedAt": None,
    "containers": [{"name": "main", "image": "img"}],
    "k8sPhase": "OOMKilled",
    "k8sPhaseUpdatedAt": "2026-01-02T12:00:00Z",
    "updatedAt": "2026-01-02T12:00:30Z",
    "requestedResources": {"cpuMemory": {"request": "16Gi", "limit": "32Gi"}},
    "allocatedResources": {"cpuMemory": "32G"},
}
STATUS: Json = {
    "phase": "Failed",
    "conditions": [],
    "containerStatuses": [
        {
            "name": "main",
            "ready": False,
            "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
            "lastState": {
                "terminated": {
                    "exitCode": 137,
                    "reason": "OOMKilled",
                    "finishedAt": "2026-01-02T12:00:00Z",
                }
            },
        }
    ],
}
METRICS: Json = {
    "workloadId": "w-1",
    "clusterId": "c-1",
    "start": "2026-01-02T10:00:00Z",
    "end": "2026-01-02T12:02:00Z",
    "measurements": [
        {
            "type": "CPU_MEMORY_USAGE_BYTES",
            "labels": None,
            "values": [
                {"value": "1073741824", "timestamp": "2026-01-02 11:58:00.500"},
                {"value": "51110110822", "timestamp": "2026-01-02T12:00:00Z"},
                {"value": "NaN", "timestamp": "2026-01-02T12:01:00Z"},
                {"value": None, "timestamp": None},
                None,
            ],
        },
        {
            "type": "CPU_MEMORY_LIMIT_BYTES",
            "values": [{"value": "51539607552", "timestamp": "2026-01-02T12:00:00Z"}],
        },
        {"type": "GPU_UTILIZATION", "values": [{"value": "99999999999999"}]},
        {"type": "CPU_MEMORY_REQUEST_BYTES", "values": None},
    ],
    "histogram": None,
}
SPEC: Json = {
    "name": "fit",
    "workloadId": "w-1",
    "clusterId": "c-1",
    "createdAt": "2026-01-02T10:00:00Z",
    "desiredPhase": "Running",
    "actualPhase": "Failed",
    "spec": {
        "image": "https://bob:hunter2@registry.example.com/lab/fit:1?sig=abc",
        "command": "python",
        "args": ["fit.py", "--token", "t0ps3cret"],
        "restartPolicy": "Never",
        "backoffLimit": 6,
        "compute": {"cpuMemoryRequest": "16Gi", "cpuMemoryLimit": "32Gi"},
        "storage": {
            "pvc": [{"claimName": "data", "path": "/data"}, {"claimName": "cache"}],
            "secretVolume": [{"secret": "reader", "mountPath": "/s"}],
        },
        "annotations": [{"name": "note", "value": "by the user"}],
        "environmentVariables": [{"name": "KEY", "value": "v"}],
    },
}
RECORDS = {
    "runai-phases": [WORKLOAD, {"workloads": [WORKLOAD], "next": 1}, {"events": [EVENT]}],
    "runai-history": [HISTORY_EVENT, HISTORY_PHASE, {"records": [HISTORY_PHASE]}],
    "runai-pods": [POD, {**POD, "k8sStatus": STATUS}, {"pods": [POD]}],
    "runai-metrics": [METRICS],
    "runai-specs": [SPEC],
}


def read(topic: str, value: object) -> list[Entry]:
    return runai.read(topic, value, cluster="west", timestamp_ms=7)


def facts(topic: str, value: object) -> dict[str, Entry]:
    return {entry.fact: entry for entry in read(topic, value)}


def without(value: Json, *keys: str) -> Json:
    return {key: inner for key, inner in value.items() if key not in keys}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(WORKLOAD, id="object"),
        pytest.param([WORKLOAD], id="list"),
        pytest.param({"workloads": [WORKLOAD]}, id="answer"),
        pytest.param(
            {
                "workload": without(WORKLOAD, "conditions", "events"),
                "conditions": WORKLOAD["conditions"],
                "events": [EVENT],
            },
            id="composite",
        ),
    ],
)
def test_workload(value: object) -> None:
    found = facts("runai-phases", value)
    phase, condition = found["workload.phase"], found["workload.condition"]
    where = phase.where
    assert (where.cluster, where.workload_id, where.workload) == ("c-1", "w-1", "fit")
    assert (where.project, where.namespace) == ("lab", "runai-lab")
    assert (phase.reason, phase.text, phase.last_ms) == ("Failed", "out of memory", NOON + MINUTE)
    assert phase.detail == f"{NOON + MINUTE}/Failed"
    assert phase.attrs == {
        "phase": "Failed",
        "current": 1,
        "k8s_phase": "OOMKilled",
        "created_ms": NOON - 120 * MINUTE,
        "updated_ms": NOON + 2 * MINUTE,
        "events": "present",
    }
    assert phase.unseen == ("python", "KEY=v")
    assert (condition.reason, condition.text) == ("DeadlineExceeded", "too long")
    assert condition.attrs == {"type": "Failed", "status": "True"}
    assert condition.last_ms == NOON + MINUTE * 3 // 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param({"events": None}, "null", id="could-not-be-fetched"),
        pytest.param({"events": []}, "empty", id="none"),
        pytest.param({"events": [EVENT]}, "present", id="some"),
        pytest.param({}, "absent", id="not-asked"),
    ],
)
def test_what_is_known_about_events(answer: Json, said: str) -> None:
    value = {**without(WORKLOAD, "events"), **answer}
    assert facts("runai-phases", value)["workload.phase"].attrs["events"] == said


@pytest.mark.parametrize(
    ("sent", "canonical"),
    [
        ("Failed", "Failed"),
        ("Crashed", "Failed"),
        ("Succeeded", "Completed"),
        ("Deleted", "Deleting"),
        ("Suspended", "Suspended"),
        ("Preempted", "Preempted"),
        ("TimedOut", "TimedOut"),
        ("crashed", "crashed"),
        ("Brewing", "Brewing"),
    ],
)
def test_phases(sent: str, canonical: str) -> None:
    current = facts("runai-phases", {**WORKLOAD, "phase": sent})["workload.phase"]
    update = {"event": None, "phaseUpdate": {"phase": sent}}
    past = facts("runai-history", {**HISTORY_PHASE, "spec": update})["workload.phase"]
    for entry in (current, past):
        assert (entry.reason, entry.attrs["phase"]) == (canonical, sent)
    assert (current.attrs["current"], past.attrs["current"]) == (1, 0)
    assert current.record_id == past.record_id


def test_scheduling_reasons() -> None:
    pending = {"nodePool": "a100", "phaseReason": "OverLimit", "userMessage": "limit reached"}
    value = {**WORKLOAD, "phaseReason": "OverLimit", "pendingSchedulingMessages": [pending]}
    entries = read("runai-phases", value)
    assert entries[0].attrs["phase_reason"] == "OverLimit"
    held = [e for e in entries if e.attrs.get("type") == "PendingScheduling/a100"]
    assert [(e.reason, e.text) for e in held] == [("OverLimit", "limit reached")]


def test_an_event_is_the_same_from_status_and_history() -> None:
    status = facts("runai-phases", WORKLOAD)["event"]
    history = facts("runai-history", HISTORY_EVENT)["event"]
    assert (status.where, status.detail, status.record_id) == (
        history.where,
        history.detail,
        history.record_id,
    )
    where = status.where
    assert (where.workload_id, where.pod, where.pod_uid) == ("w-1", "fit-0", "p-1")
    assert (where.namespace, where.container) == ("runai-lab", "")
    assert (status.source, status.reason, status.first_ms) == ("runai_event", "OOMKilled", NOON)
    assert status.attrs == {"type": "Warning", "component": "kubelet"}
    assert (status.tool, history.tool) == ("get_workload_status", "get_workload_history")


def test_events_answer_without_a_workload() -> None:
    (entry,) = read("runai-phases", {"events": [EVENT]})
    assert (entry.where.cluster, entry.where.workload_id) == ("c-1", "")
    assert read("runai-phases", {"events": [EVENT], "workloadId": "w-1"})[0].where == (
        facts("runai-phases", WORKLOAD)["event"].where
    )


def test_event_about_the_workload_itself() -> None:
    about = {"kind": "TrainingWorkload", "name": "fit", "uid": "x"}
    entry = facts("runai-phases", {"events": [{**EVENT, "involvedObject": about}]})["event"]
    assert (entry.where.kind, entry.where.name, entry.where.pod) == ("TrainingWorkload", "fit", "")


def test_history_answer_hands_its_ids_down() -> None:
    bare = without(HISTORY_PHASE, "workloadId", "clusterId")
    answer = {"records": [bare, HISTORY_PHASE], "workloadId": "w-2", "clusterId": "c-2"}
    found = [entry.where.workload_id for entry in read("runai-history", answer)]
    assert found == ["w-2", "w-1"]


@pytest.mark.parametrize(
    ("topic", "value"),
    [
        ("runai-history", {"records": [], "next": None}),
        ("runai-phases", {"workloads": []}),
        ("runai-phases", {"events": []}),
        ("runai-pods", {"pods": []}),
        ("runai-pods", []),
    ],
)
def test_empty_answers_say_nothing(topic: str, value: object) -> None:
    assert read(topic, value) == []


def test_pod_without_kubernetes_status() -> None:
    (entry,) = read("runai-pods", POD)
    where = entry.where
    assert (where.pod, where.pod_uid, where.node) == ("fit-0", "p-1", "node-a")
    assert (where.workload_id, where.workload, where.project) == ("w-1", "fit", "lab")
    assert where.namespace == ""  # a pod record names none, and it is not made up
    assert (entry.fact, entry.reason, entry.last_ms) == ("pod.phase", "OOMKilled", NOON)
    assert entry.attrs == {
        "created_ms": NOON - 120 * MINUTE,
        "memory_request": "16Gi",
        "memory_request_bytes": 16 * 2**30,
        "memory_limit": "32Gi",
        "memory_limit_bytes": 32 * 2**30,
        "memory_allocated": "32G",
        "memory_allocated_bytes": 32 * 10**9,
        "resources": 1,
        "tier2": 0,
    }


def test_pod_without_resources() -> None:
    value = {**POD, "requestedResources": None, "allocatedResources": None}
    (entry,) = read("runai-pods", value)
    assert entry.attrs["resources"] == 0
    assert not any(key.startswith("memory") for key in entry.attrs)


def test_pod_with_kubernetes_status() -> None:
    found = facts("runai-pods", {**POD, "k8sStatus": STATUS})
    assert found["pod.phase"].attrs["tier2"] == 1
    state, ended = found["container.state"], found["container.terminated"]
    assert (state.reason, state.text) == ("CrashLoopBackOff", "back-off 40s")
    assert state.attrs == {"restarts": 3, "state": "waiting", "ready": 0}
    assert state.last_ms == NOON + MINUTE // 2  # the record is as new as its newest time
    assert (ended.reason, ended.first_ms, ended.attrs["last"]) == ("OOMKilled", NOON, 1)
    assert (ended.where.container, ended.where.workload_id) == ("main", "w-1")


def test_whole_pod_object_as_kubernetes_status() -> None:
    whole = {"metadata": {"namespace": "runai-lab"}, "spec": {}, "status": STATUS}
    found = facts("runai-pods", {**POD, "k8sStatus": whole})
    assert found["container.terminated"].where.namespace == "runai-lab"


def test_status_reason_of_an_evicted_pod() -> None:
    status = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource"}
    found = facts("runai-pods", {**POD, "k8sPhase": "Evicted", "k8sStatus": status})
    entry = found["pod.status_reason"]
    assert (entry.reason, entry.detail, entry.first_ms) == ("Evicted", "Evicted", NOON)


def test_lost_container_without_an_end_time() -> None:
    lost = {"exitCode": 137, "reason": "ContainerStatusUnknown", "finishedAt": None}
    status = {"containerStatuses": [{"name": "main", "state": {"terminated": lost}}]}
    entry = facts("runai-pods", {**POD, "k8sStatus": status})["container.terminated"]
    assert (entry.detail, entry.first_ms) == ("restart/0", NOON)
    assert "finished_ms" not in entry.attrs


def test_kubectl_pods_on_the_pod_topic() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "fit-0"}, "status": {"phase": "Pending"}}
    for value in (pod, {"kind": "List", "items": [pod]}, {"type": "ADDED", "object": pod}):
        (entry,) = read("runai-pods", value)
        assert (entry.where.cluster, entry.where.pod, entry.reason) == ("west", "fit-0", "Pending")


def test_metrics() -> None:
    (entry,) = read("runai-metrics", METRICS)
    assert entry.attrs == {
        "peak_bytes": 51_110_110_822,
        "limit_bytes": 51_539_607_552,
        "samples": 2,
        "partial": 0,
    }
    assert (entry.first_ms, entry.last_ms) == (NOON - 2 * MINUTE + 500, NOON)
    assert entry.detail == f"{NOON - 120 * MINUTE}/{NOON + 2 * MINUTE}"


@pytest.mark.parametrize(
    "measurements",
    [
        None,
        [],
        [{"type": "CPU_MEMORY_USAGE_BYTES", "values": None}],
        [{"type": "CPU_MEMORY_USAGE_BYTES", "values": []}],
        [{"type": "CPU_MEMORY_USAGE_BYTES", "values": [{"value": ""}, {"value": "NaN"}]}],
    ],
)
def test_metrics_without_samples(measurements: object) -> None:
    (entry,) = read("runai-metrics", {**METRICS, "measurements": measurements})
    assert entry.attrs == {"samples": 0, "partial": 0}
    assert entry.last_ms == NOON + 2 * MINUTE


def test_partial_metrics() -> None:
    assert read("runai-metrics", {**METRICS, "statusCode": 207})[0].attrs["partial"] == 1


def test_spec() -> None:
    (entry,) = read("runai-specs", SPEC)
    assert entry.attrs == {
        "has_spec": 1,
        "restart_policy": "Never",
        "backoff_limit": 6,
        "image": "registry.example.com/lab/fit:1",
        "claims": "cache,data",
        "secrets": "reader",
        "mounts": "pvc,secretVolume",
        "desired_phase": "Running",
        "memory_request": "16Gi",
        "memory_request_bytes": 16 * 2**30,
        "memory_limit": "32Gi",
        "memory_limit_bytes": 32 * 2**30,
    }
    assert set(entry.unseen) == {
        "python", "fit.py --token t0ps3cret", "KEY=v", "note=by the user",
    }  # fmt: skip
    assert entry.text == ""


def test_spec_that_was_not_returned() -> None:
    (entry,) = read("runai-specs", without(SPEC, "spec"))
    assert entry.attrs == {"has_spec": 0, "desired_phase": "Running"}


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("registry.example.com/a:1", "registry.example.com/a:1"),
        ("a@sha256:00ff", "a@sha256:00ff"),
        ("bob:pw@registry.example.com/a@sha256:00ff", "registry.example.com/a@sha256:00ff"),
        ("bob:p@w@registry.example.com/a", "registry.example.com/a"),
    ],
)
def test_image_without_credentials(image: str, shown: str) -> None:
    value = {**SPEC, "spec": {"image": image}}
    assert read("runai-specs", value)[0].attrs["image"] == shown


@pytest.mark.parametrize("topic", RECORDS)
@pytest.mark.parametrize("value", [None, 5, "text", {}, {"a": 1}, [None], [{}], [[]]])
def test_unusable_records_say_what_was_found(topic: str, value: object) -> None:
    with pytest.raises(SchemaError) as caught:
        read(topic, value)
    assert caught.value.reason is Reason.WRONG_SHAPE
    assert f"no {topic} record in " in caught.value.found


@pytest.mark.parametrize("topic", RECORDS)
def test_lists_skip_what_cannot_be_read(topic: str) -> None:
    good = RECORDS[topic][0]
    assert read(topic, [None, {"a": 1}, good]) == read(topic, good)


def test_unknown_topic() -> None:
    with pytest.raises(SchemaError) as caught:
        read("runai-gossip", WORKLOAD)
    assert caught.value.reason is Reason.UNKNOWN_TOPIC


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["Pod", "True", "2026-01-02T12:00:00Z", "NaN", "32Gi"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def mutated(draw: Callable[[Any], Any], value: Any) -> Any:
    """A real shape with a few of its values replaced by anything."""
    if draw(st.integers(0, 15)) == 0:
        return draw(anything)
    if isinstance(value, dict):
        return {key: mutated(draw, inner) for key, inner in value.items()}
    return [mutated(draw, inner) for inner in value] if isinstance(value, list) else value


@st.composite
def mutated_records(draw: Callable[[Any], Any]) -> tuple[str, Any]:
    topic = draw(st.sampled_from(sorted(RECORDS)))
    return topic, mutated(draw, deepcopy(draw(st.sampled_from(RECORDS[topic]))))


@given(st.tuples(st.sampled_from(sorted(RECORDS)), anything) | mutated_records())
def test_whatever_comes_only_a_schema_error_leaves(record: tuple[str, object]) -> None:
    topic, value = record
    try:
        entries = read(topic, value)
    except SchemaError:
        return
    assert entries == read(topic, value)
    for entry in entries:
        msgspec.json.encode(entry)
        assert 0 < entry.first_ms <= entry.last_ms
        assert entry.record_id
