"""Kubernetes events and pods: every producer's shape becomes the same entry."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.entry import Entry
from schemas.errors import Reason, SchemaError
from schemas.sources.event import COMBINED
from schemas.sources.kubernetes import MOST_COUNTED, read_events
from schemas.sources.status_column import status_column

FIRST, LAST = 1_767_355_200_000, 1_767_355_500_000  # 12:00 and 12:05 on 2026-01-02
Json = dict[str, Any]

META: Json = {
    "name": "web-0.17a2b3c4d5e6f708",
    "namespace": "shop",
    "uid": "11111111-aaaa-4bbb-8ccc-000000000001",
    "creationTimestamp": "2026-01-02T12:00:00Z",
}
ABOUT: Json = {
    "kind": "Pod",
    "namespace": "shop",
    "name": "web-0",
    "uid": "22222222-aaaa-4bbb-8ccc-000000000002",
    "apiVersion": "v1",
    "fieldPath": "spec.initContainers{fetch}",
}
TEXT = "Back-off restarting failed container fetch"
CORE: Json = {
    "metadata": META,
    "involvedObject": ABOUT,
    "reason": "BackOff",
    "message": TEXT,
    "source": {"component": "kubelet", "host": "node-a"},
    "firstTimestamp": "2026-01-02T12:00:00Z",
    "lastTimestamp": "2026-01-02T12:05:00Z",
    "count": 4,
    "type": "Warning",
    "eventTime": None,
    "reportingComponent": "kubelet",
    "reportingInstance": "node-a",
}
NEW_API: Json = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": META,
    "eventTime": None,
    "regarding": ABOUT,
    "reason": "BackOff",
    "note": TEXT,
    "type": "Warning",
    "reportingController": "kubelet",
    "reportingInstance": "node-a",
    "deprecatedSource": {"component": "kubelet", "host": "node-a"},
    "deprecatedFirstTimestamp": "2026-01-02T12:00:00Z",
    "deprecatedLastTimestamp": "2026-01-02T12:05:00Z",
    "deprecatedCount": 4,
}
KUBECTL: Json = {"apiVersion": "v1", "kind": "Event", **CORE}
EXPORTER: Json = {
    **CORE,
    "clusterName": "east",
    "involvedObject": {
        **ABOUT,
        "labels": {"workloadName": "web", "project": "shop"},
        "ownerReferences": [
            {"kind": "Other", "name": "x"},
            {"kind": "PyTorchJob", "name": "web", "controller": True},
        ],
        "deleted": False,
    },
}


def otlp_value(value: Any) -> Json:
    """A plain value as the OTLP JSON encoding writes it."""
    if isinstance(value, dict):
        pairs = [{"key": key, "value": otlp_value(inner)} for key, inner in value.items()]
        return {"kvlistValue": {"values": pairs}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(inner) for inner in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value} if isinstance(value, str) else {}


def otlp(
    *records: Json, resource: Json, scopes: str = "scopeLogs", logs: str = "logRecords"
) -> Json:
    attributes = [{"key": key, "value": otlp_value(value)} for key, value in resource.items()]
    return {
        "resourceLogs": [{"resource": {"attributes": attributes}, scopes: [{logs: list(records)}]}]
    }


def pairs(values: Json) -> list[Json]:
    return [{"key": key, "value": otlp_value(value)} for key, value in values.items()]


K8SEVENTS_RESOURCE = {
    "k8s.node.name": "node-a",
    "k8s.object.kind": "Pod",
    "k8s.object.name": "web-0",
    "k8s.object.uid": ABOUT["uid"],
    "k8s.object.fieldpath": ABOUT["fieldPath"],
}
K8SEVENTS_RECORD: Json = {
    "timeUnixNano": str(LAST * 1_000_000),
    "severityText": "Warning",
    "body": {"stringValue": TEXT},
    "attributes": pairs(
        {
            "k8s.event.reason": "BackOff",
            "k8s.event.action": "",
            "k8s.event.start_time": "2026-01-02 12:00:00 +0000 UTC",
            "k8s.event.name": META["name"],
            "k8s.event.uid": META["uid"],
            "k8s.namespace.name": "shop",
            "k8s.event.count": 4,
        }
    ),
}
OLD_K8SEVENTS_RECORD: Json = {
    "timeUnixNano": str(LAST * 1_000_000),
    "name": "BackOff",
    "severityText": "Warning",
    "body": {"stringValue": TEXT},
    "attributes": pairs(
        {
            "k8s.event.start_time": "2026-01-02 12:00:00 +0000 UTC",
            "k8s.event.name": META["name"],
            "k8s.event.uid": META["uid"],
            "k8s.container.name": ABOUT["fieldPath"],
            "k8s.namespace.name": "shop",
            "k8s.event.count": 4,
            "k8s.pod.name": "web-0",
            "k8s.pod.uid": ABOUT["uid"],
        }
    ),
}

SHAPES = {
    "core": CORE,
    "kubectl": KUBECTL,
    "events.k8s.io": NEW_API,
    "list": {"apiVersion": "v1", "kind": "List", "items": [KUBECTL]},
    "bare-list": [KUBECTL],
    "watch": {"type": "MODIFIED", "object": NEW_API},
    "exporter": EXPORTER,
    "fluent-bit": {"@timestamp": LAST / 1000 + 30, **KUBECTL},
    "fluent-bit-iso": {"@timestamp": "2026-01-02T12:09:00.000Z", **CORE},
    "as-text-in-an-envelope": {"message": json.dumps(CORE), "host": "shipper-1"},
    "as-object-in-an-envelope": {"specversion": "1.0", "type": "event", "data": CORE},
    "k8sobjects-watch": otlp(
        {"body": otlp_value({"type": "ADDED", "object": NEW_API})}, resource={}
    ),
    "k8sobjects-pull": otlp({"body": otlp_value(KUBECTL)}, resource={}),
    "k8sobjects-raw": {"type": "ADDED", "object": NEW_API},
    "k8sevents": otlp(K8SEVENTS_RECORD, resource=K8SEVENTS_RESOURCE),
    "k8sevents-old": otlp(
        OLD_K8SEVENTS_RECORD,
        resource={"k8s.node.name": "node-a", "k8s.event.source": "kubelet"},
        scopes="instrumentationLibraryLogs",
        logs="logs",
    ),
}


def read(value: object) -> list[Entry]:
    return read_events(value, cluster="west", timestamp_ms=7)


def one(value: object) -> Entry:
    (entry,) = read(value)
    return entry


def changed(value: Json, **fields: Any) -> Json:
    return {**deepcopy(value), **fields}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_the_same_event(shape: str) -> None:
    entry = one(SHAPES[shape])
    where = entry.where
    assert (entry.fact, entry.source, entry.merge) == ("event", "k8s_event", "event")
    assert (entry.reason, entry.text, entry.count) == ("BackOff", TEXT, 4)
    assert (entry.first_ms, entry.last_ms) == (FIRST, LAST)
    assert entry.detail == META["uid"]
    assert (where.namespace, where.pod, where.pod_uid) == ("shop", "web-0", ABOUT["uid"])
    assert (where.container, where.init, where.node) == ("fetch", True, "node-a")
    assert (where.kind, where.name) == ("", "")
    assert entry.attrs["type"] == "Warning"
    assert entry.record_id == one(CORE).record_id


@pytest.mark.parametrize(
    ("value", "cluster"),
    [
        pytest.param(CORE, "west", id="configured"),
        pytest.param(EXPORTER, "east", id="named-by-the-exporter"),
        pytest.param(
            otlp(K8SEVENTS_RECORD, resource={**K8SEVENTS_RESOURCE, "k8s.cluster.name": "north"}),
            "north",
            id="resource-attribute",
        ),
        pytest.param({"cluster": "south", "event": CORE}, "south", id="envelope"),
        pytest.param(
            {"body": CORE, "attributes": {"k8s.cluster.name": "south"}}, "south", id="attribute"
        ),
    ],
)
def test_cluster(value: object, cluster: str) -> None:
    assert one(value).where.cluster == cluster


def test_what_the_exporter_adds_becomes_attributes() -> None:
    attrs = one(EXPORTER).attrs
    assert (attrs["label_workload"], attrs["label_project"]) == ("web", "shop")
    assert (attrs["owner_kind"], attrs["owner_name"]) == ("PyTorchJob", "web")


SCHEDULER_EVENT: Json = {
    "metadata": {**META, "creationTimestamp": "2026-01-02T11:59:00Z"},
    "involvedObject": {k: v for k, v in ABOUT.items() if k != "fieldPath"},
    "reason": "Preempted",
    "message": "Preempted by pod 3f on node node-b",
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": "2026-01-02T12:00:00.000000Z",
    "type": "Normal",
    "action": "Preempting",
    "reportingComponent": "default-scheduler",
    "reportingInstance": "default-scheduler-cp-1",
}


def test_event_of_the_new_api_read_through_the_old_one() -> None:
    entry = one(SCHEDULER_EVENT)
    assert (entry.first_ms, entry.last_ms, entry.count) == (FIRST, FIRST, 1)
    assert entry.where.node == ""  # the scheduler's instance is no node
    assert entry.attrs["component"] == "default-scheduler"
    assert entry.attrs["action"] == "Preempting"


@pytest.mark.parametrize(
    ("fields", "first_ms", "last_ms", "count"),
    [
        pytest.param(
            {"series": {"count": 9, "lastObservedTime": "2026-01-02T12:05:00Z"}},
            FIRST, LAST, 9, id="series-first",
        ),
        pytest.param({"lastTimestamp": "2026-01-02T12:05:00Z"}, FIRST, LAST, 1, id="last"),
        pytest.param({}, FIRST, FIRST, 1, id="event-time"),
        pytest.param(
            {"eventTime": None, "firstTimestamp": "2026-01-02T12:00:00Z"},
            FIRST, FIRST, 1, id="first",
        ),
        pytest.param({"eventTime": None}, FIRST - 60_000, FIRST - 60_000, 1, id="created"),
        pytest.param({"eventTime": None, "metadata": {}}, 7, 7, 1, id="record-time"),
        pytest.param(
            {"eventTime": None, "metadata": {}, "@timestamp": LAST / 1000},
            LAST, LAST, 1, id="shipper-time",
        ),
        pytest.param({"deprecatedCount": 5, "count": 3}, FIRST, FIRST, 5, id="greatest-count"),
        pytest.param({"count": "16"}, FIRST, FIRST, 16, id="count-as-text"),
        pytest.param({"count": 10**12}, FIRST, FIRST, MOST_COUNTED, id="count-bounded"),
        pytest.param({"count": -3}, FIRST, FIRST, 1, id="negative-count"),
        pytest.param(
            {"firstTimestamp": "2026-01-03T00:00:00Z"}, FIRST, FIRST, 1, id="first-after-last"
        ),
    ],
)  # fmt: skip
def test_times_and_counts(fields: Json, first_ms: int, last_ms: int, count: int) -> None:
    entry = one(changed(SCHEDULER_EVENT, **fields))
    assert (entry.first_ms, entry.last_ms, entry.count) == (first_ms, last_ms, count)


def about(**fields: Any) -> Json:
    return changed(CORE, involvedObject=fields)


@pytest.mark.parametrize(
    ("value", "kind", "name", "namespace", "pod", "node"),
    [
        pytest.param(
            about(kind="Node", name="node-z", uid="node-z"), "Node", "node-z", "", "", "node-z",
            id="node",
        ),
        pytest.param(
            about(kind="Node", uid="node-z"), "Node", "node-z", "", "", "node-z",
            id="node-named-by-its-uid",
        ),
        pytest.param(
            about(kind="PodGroup", name="pg-1", namespace="shop"), "PodGroup", "pg-1", "shop", "",
            "node-a", id="other-object",
        ),
        pytest.param({**CORE, "involvedObject": {}}, "", "", "shop", "web-0", "node-a", id="empty"),
        pytest.param(
            {**CORE, "involvedObject": {}, "source": {"component": "job-controller"}},
            "", "web-0", "shop", "", "", id="empty-and-kind-unknown",
        ),
        pytest.param(
            {
                **CORE,
                "involvedObject": {},
                "metadata": {"name": "node-a.17a2b3c4d5e6f708", "namespace": "default"},
            },
            "Node", "node-a", "", "", "node-a", id="empty-and-about-the-node",
        ),
    ],
)  # fmt: skip
def test_place(value: Json, kind: str, name: str, namespace: str, pod: str, node: str) -> None:
    where = one(value).where
    assert (where.kind, where.name, where.namespace) == (kind, name, namespace)
    assert (where.pod, where.node) == (pod, node)


@pytest.mark.parametrize(
    ("path", "container", "init"),
    [
        ("spec.containers{web}", "web", False),
        ("spec.initContainers{git-sync}", "git-sync", True),
        ("spec.ephemeralContainers{debugger}", "debugger", False),
        ("spec.containers{}", "", False),
        ("spec.containers{a}{b}", "a", False),
        ("spec.nodeName", "", False),
        ("", "", False),
    ],
)
def test_field_path(path: str, container: str, init: bool) -> None:
    where = one(changed(CORE, involvedObject={**ABOUT, "fieldPath": path})).where
    assert (where.container, where.init) == (container, init)


def test_combined_prefix_is_no_part_of_the_text() -> None:
    entry = one(changed(CORE, message=COMBINED + TEXT))
    assert entry.text == TEXT
    assert entry.attrs["combined"] == 1
    assert "combined" not in one(CORE).attrs


def test_evictor_action_comes_from_either_place() -> None:
    noted = {"evictor-action-type": "reclaim"}
    own = changed(CORE, metadata={**META, "annotations": noted})
    enriched = changed(CORE, involvedObject={**ABOUT, "annotations": noted})
    assert one(own).attrs["evictor_action"] == one(enriched).attrs["evictor_action"] == "reclaim"


def test_without_uid_the_content_makes_it_one_event() -> None:
    bare = changed(CORE, metadata={"namespace": "shop"})
    later = changed(bare, lastTimestamp="2026-01-02T12:09:00Z", count=9)
    other = changed(bare, message="Back-off restarting failed container other")
    assert one(bare).detail == one(later).detail != one(other).detail
    assert one(bare).record_id == one(bare).record_id != one(later).record_id


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"type": "DELETED", "object": NEW_API}, id="deleted"),
        pytest.param({"type": "BOOKMARK", "object": {"kind": "Event"}}, id="bookmark"),
        pytest.param({"type": "ERROR", "object": {"kind": "Status", "code": 410}}, id="error"),
        pytest.param({"apiVersion": "v1", "kind": "List", "items": []}, id="empty-list"),
        pytest.param(
            {"items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]},
            id="other-objects",
        ),
        pytest.param({"resourceLogs": []}, id="empty-export"),
    ],
)
def test_no_news(value: object) -> None:
    assert read(value) == []


def test_list_skips_what_it_cannot_read() -> None:
    items = [KUBECTL, None, {"apiVersion": "v1", "kind": "Secret", "metadata": {}}, {"a": 1}, 5]
    assert [entry.reason for entry in read({"kind": "List", "items": items})] == ["BackOff"]


def test_several_events_in_one_export() -> None:
    second = changed(K8SEVENTS_RECORD, body={"stringValue": "other"})
    value = otlp(K8SEVENTS_RECORD, second, resource=K8SEVENTS_RESOURCE)
    assert [entry.text for entry in read(value)] == [TEXT, "other"]


@pytest.mark.parametrize(
    "value",
    [
        None, True, 5, "", "text", [], [None], {}, {"message": "hello"}, {"reason": "X"},
        {"items": [{}]}, {"involvedObject": {}}, {"type": "ADDED", "object": None},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "hi"}}]}]}]},
    ],
)  # fmt: skip
def test_unusable_records_say_what_was_found(value: object) -> None:
    if value == []:
        assert read(value) == []
        return
    with pytest.raises(SchemaError) as caught:
        read(value)
    assert caught.value.reason is Reason.WRONG_SHAPE
    assert "no Kubernetes event in " in caught.value.found


FLAT: Json = {
    "message": "MountVolume.SetUp failed",
    "reason": "FailedMount",
    "type": "Warning",
    "count": "16",
    "kind": "Pod",
    "name": "web-0",
    "namespace": "shop",
    "component": "kubelet",
    "host": "node-a",
    "createdAt": str(FIRST),
}


def renamed(**names: str) -> Json:
    return {names.get(key, key): value for key, value in FLAT.items()}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(FLAT, id="flat"),
        pytest.param({key.upper(): value for key, value in FLAT.items()}, id="upper-case"),
        pytest.param({"eventType": "kubernetes-event", "details": FLAT}, id="nested"),
        pytest.param(
            renamed(message="msg", kind="object_kind", name="object_name", createdAt="first_seen"),
            id="other-names",
        ),
        pytest.param(
            {
                **{k: v for k, v in FLAT.items() if k not in ("kind", "name", "namespace")},
                "involved-object": {"kind": "Pod", "name": "web-0", "namespace": "shop"},
            },
            id="nested-object",
        ),
        pytest.param(
            {
                **{k: v for k, v in FLAT.items() if k not in ("kind", "name", "namespace")},
                "object": "pod/shop/web-0",
            },
            id="reference",
        ),
        pytest.param(
            {**{k: v for k, v in FLAT.items() if k not in ("kind", "name")}, "pod": "web-0"},
            id="pod-key",
        ),
        pytest.param(
            {**FLAT, "metadata": {"name": "web-0.17a2b3c4d5e6f708", "namespace": "shop"}},
            id="event-name-is-not-the-object",
        ),
    ],
)
def test_layouts_of_someones_own(value: Json) -> None:
    entry = one(value)
    assert (entry.reason, entry.text) == ("FailedMount", "MountVolume.SetUp failed")
    assert (entry.where.namespace, entry.where.pod, entry.where.node) == ("shop", "web-0", "node-a")
    assert (entry.count, entry.attrs["type"]) == (16, "Warning")
    assert (entry.first_ms, entry.last_ms) == (FIRST, FIRST)


def test_layout_details() -> None:
    entry = one(
        {
            **FLAT,
            "clusterName": "east",
            "containerName": "web",
            "metadata": {"uid": META["uid"]},
            "labels": json.dumps({"workloadName": "web"}),
            "lastTimestamp": "2026-01-02T12:05:00Z",
        }
    )
    assert (entry.where.cluster, entry.where.container) == ("east", "web")
    assert (entry.detail, entry.attrs["label_workload"]) == (META["uid"], "web")
    assert (entry.first_ms, entry.last_ms) == (FIRST, LAST)


POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "uid": ABOUT["uid"],
        "creationTimestamp": "2026-01-02T11:00:00Z",
        "ownerReferences": [{"kind": "Job", "name": "web", "controller": True}],
        "labels": {"workloadName": "web"},
        "annotations": {"note": "from the user"},
    },
    "spec": {
        "nodeName": "node-a",
        "restartPolicy": "Never",
        "initContainers": [
            {"name": "fetch", "command": ["sh", "-c", "fetch it"]},
            {"name": "proxy", "restartPolicy": "Always"},
        ],
        "containers": [
            {
                "name": "web",
                "env": [{"name": "MODE", "value": "x"}],
                "resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}},
            }
        ],
    },
    "status": {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory.",
        "startTime": "2026-01-02T11:00:05Z",
        "conditions": [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "TerminationByKubelet",
                "message": "low on memory",
                "lastTransitionTime": "2026-01-02T12:00:00Z",
            },
            {"type": "Ready", "status": "False"},
        ],
        "initContainerStatuses": [
            {"name": "fetch", "restartCount": 0, "state": {"terminated": {"exitCode": 0}}},
            {"name": "proxy", "restartCount": 2, "started": True, "state": {"running": {}}},
        ],
        "containerStatuses": [
            {
                "name": "web",
                "ready": False,
                "restartCount": 1,
                "state": {
                    "terminated": {
                        "exitCode": 137,
                        "reason": "Error",
                        "message": "bye\n",
                        "startedAt": "2026-01-02T11:30:00Z",
                        "finishedAt": "2026-01-02T12:00:00Z",
                    }
                },
                "lastState": {
                    "terminated": {
                        "exitCode": 1,
                        "signal": 9,
                        "finishedAt": "2026-01-02T11:20:00Z",
                    }
                },
            }
        ],
    },
}


def facts(value: object) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in read(value):
        found.setdefault(entry.fact, []).append(entry)
    return found


def test_pod_object() -> None:
    found = facts(POD)
    (phase,) = found["pod.phase"]
    assert (phase.reason, phase.last_ms) == ("Error", FIRST)
    assert (phase.where.namespace, phase.where.pod, phase.where.node) == ("shop", "web-0", "node-a")
    assert phase.attrs["owner_kind"] == "Job"
    assert phase.attrs["owner_name"] == "web"
    assert phase.attrs["label_workload"] == "web"
    assert phase.attrs["restart_policy"] == "Never"
    assert (phase.attrs["memory_request"], phase.attrs["memory_limit"]) == ("1Gi", "2Gi")
    assert set(phase.unseen) == {"note=from the user", "MODE=x", "sh -c fetch it"}
    (reason,) = found["pod.status_reason"]
    assert (reason.reason, reason.text, reason.attrs) == (
        "Evicted", "The node was low on resource: memory.", {"phase": "Failed"},
    )  # fmt: skip
    (disrupted,) = found["pod.disrupted"]
    assert (disrupted.reason, disrupted.first_ms) == ("TerminationByKubelet", FIRST)


def test_pod_containers() -> None:
    found = facts(POD)
    ended = {(e.where.container, e.attrs["last"]): e for e in found["container.terminated"]}
    now, before = ended["web", 0], ended["web", 1]
    assert (now.reason, now.text, now.detail) == ("Error", "bye", str(FIRST))
    assert (now.attrs["exit_code"], now.attrs["restarts"]) == (137, 1)
    assert (before.attrs["exit_code"], before.attrs["signal"]) == (1, 9)
    assert ended["fetch", 0].where.init
    assert ended["fetch", 0].detail == "restart/0"
    states = {e.where.container: e for e in found["container.state"]}
    assert (states["proxy"].reason, states["proxy"].attrs["sidecar"]) == ("Running", 1)
    assert "sidecar" not in states["fetch"].attrs
    assert (states["web"].reason, states["web"].attrs["ready"]) == ("Terminated", 0)
    assert {e.merge for e in found["container.state"]} == {"state"}


def test_pod_in_a_list_of_events_and_pods() -> None:
    kinds = {entry.fact for entry in read({"kind": "List", "items": [KUBECTL, POD]})}
    assert {"event", "pod.phase"} <= kinds


def test_deleted_pod_shows_its_last_state() -> None:
    assert read({"type": "DELETED", "object": POD}) == read(POD)


def test_unscheduled_pod_says_why() -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available",
    }
    pod = changed(POD, status={"phase": "Pending", "conditions": [condition]})
    (entry,) = read(pod)
    assert (entry.reason, entry.text) == ("Pending", "0/3 nodes are available")


def waiting(reason: str) -> Json:
    return {"state": {"waiting": {"reason": reason}}}


def ended(**fields: Any) -> Json:
    return {"state": {"terminated": fields}}


RUNNING: Json = {"ready": True, "state": {"running": {}}}
READY = [{"type": "Ready", "status": "True"}]
GATED = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]
DELETING = {"deletionTimestamp": "2026-01-02T12:00:00Z"}


@pytest.mark.parametrize(
    ("shown", "status", "meta"),
    [
        ("Pending", {"phase": "Pending"}, {}),
        ("SchedulingGated", {"phase": "Pending", "conditions": GATED}, {}),
        ("Evicted", {"phase": "Failed", "reason": "Evicted"}, {}),
        (
            "CrashLoopBackOff",
            {"phase": "Running", "containerStatuses": [waiting("CrashLoopBackOff"), RUNNING]},
            {},
        ),
        (
            "Error",
            {"reason": "Evicted", "containerStatuses": [ended(reason="Error", exitCode=1)]},
            {},
        ),
        ("ErrImagePull", {"containerStatuses": [waiting("ErrImagePull"), waiting("Other")]}, {}),
        ("Signal:9", {"containerStatuses": [ended(signal=9, exitCode=137)]}, {}),
        ("ExitCode:3", {"containerStatuses": [ended(exitCode=3)]}, {}),
        (
            "Running",
            {
                "phase": "Running",
                "conditions": READY,
                "containerStatuses": [ended(reason="Completed", exitCode=0), RUNNING],
            },
            {},
        ),
        (
            "NotReady",
            {"containerStatuses": [ended(reason="Completed", exitCode=0), RUNNING]},
            {},
        ),
        (
            "Init:Error",
            {"initContainerStatuses": [ended(exitCode=0), ended(reason="Error", exitCode=1)]},
            {},
        ),
        ("Init:ExitCode:4", {"initContainerStatuses": [ended(exitCode=4)]}, {}),
        ("Init:Signal:9", {"initContainerStatuses": [ended(exitCode=137, signal=9)]}, {}),
        (
            "Init:ImagePullBackOff",
            {
                "initContainerStatuses": [waiting("ImagePullBackOff")],
                "containerStatuses": [waiting("PodInitializing")],
            },
            {},
        ),
        (
            "Init:1/2",
            {"initContainerStatuses": [ended(exitCode=0), waiting("PodInitializing")]},
            {},
        ),
        ("Terminating", {"phase": "Running", "containerStatuses": [RUNNING]}, DELETING),
        ("Unknown", {"phase": "Running", "reason": "NodeLost"}, DELETING),
        (
            "OOMKilled",
            {
                "phase": "Failed",
                "containerStatuses": [ended(reason="OOMKilled", exitCode=137)],
            },
            DELETING,
        ),
    ],
)
def test_status_column(shown: str, status: Json, meta: Json) -> None:
    assert status_column({"metadata": meta, "spec": {}, "status": status}) == shown


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["Pod", "Node", "ADDED", "2026-01-02T12:00:00Z", "NaN", "True"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def mutated(draw: Callable[[Any], Any], value: Any) -> Any:
    """A real shape with a few of its values replaced by anything."""
    if draw(st.integers(0, 12)) == 0:
        return draw(anything)
    if isinstance(value, dict):
        return {key: mutated(draw, inner) for key, inner in value.items()}
    return [mutated(draw, inner) for inner in value] if isinstance(value, list) else value


@st.composite
def mutated_shapes(draw: Callable[[Any], Any]) -> Any:
    return mutated(draw, draw(st.sampled_from([*SHAPES.values(), FLAT, POD, SCHEDULER_EVENT])))


@given(anything | mutated_shapes())
def test_whatever_comes_only_a_schema_error_leaves(value: object) -> None:
    try:
        entries = read(value)
    except SchemaError:
        return
    assert entries == read(value)
    for entry in entries:
        msgspec.json.encode(entry)
        assert 0 < entry.first_ms <= entry.last_ms
        assert entry.count >= 1
        assert entry.record_id


def test_deep_nesting_ends() -> None:
    value: object = KUBECTL
    for _ in range(60):
        value = {"type": "ADDED", "object": value}
    with pytest.raises(SchemaError):
        read(value)


def test_layout_does_not_take_the_shipper_for_the_node() -> None:
    shipped = {
        **{key: value for key, value in FLAT.items() if key != "component"},
        "host": "shipper-1",
        "@timestamp": "2026-01-02T12:09:00Z",
    }
    entry = one(shipped)
    assert (entry.where.node, entry.last_ms) == ("", FIRST)
    del shipped["createdAt"]
    assert one(shipped).last_ms == LAST + 4 * 60_000
