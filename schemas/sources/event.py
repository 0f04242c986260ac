"""A Kubernetes event in one form, whatever API version, shipper or layout it was read from."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from schemas.entry import Entry, Value, Where
from schemas.sources.fields import digest, first_name, name, objects, text

COMBINED = "(combined from similar events): "  # client-go's prefix; count and text are mixed then
NO_NAMESPACE = frozenset({"Node", "PersistentVolume", "Namespace", "StorageClass"})
WORKLOAD_LABELS = ("workloadName", "run.ai/workload-name", "runai/workload-name")
PROJECT_LABELS = ("project", "run.ai/project", "runai/project", "runai/queue")
_KINDS = {
    kind.lower(): kind
    for kind in (
        "Pod", "Node", "Job", "CronJob", "ReplicaSet", "StatefulSet", "Deployment", "DaemonSet",
        "PersistentVolumeClaim", "PersistentVolume", "Namespace", "PodGroup", "PyTorchJob",
        "TFJob", "MPIJob", "XGBoostJob", "TrainJob", "JobSet", "RayJob", "RayCluster",
        "StorageClass", "Service", "Queue",
    )
}  # fmt: skip
_FIELD_PATH = re.compile(
    r"spec\.(containers|initContainers|ephemeralContainers)\{([^{}]{1,253})\}.{0,200}"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EVENT_NAME = re.compile(r"(.{1,253})\.[0-9a-f]{8,20}")


class Event(Struct, frozen=True, kw_only=True):
    """What an event says.

    `kind`, `namespace`, `name` and `uid` are those of the object it is about.
    """

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    field_path: str = ""
    reason: str = ""
    message: str = ""
    type: str = ""
    action: str = ""
    component: str = ""
    host: str = ""
    count: int = 1
    first_ms: int | None = None
    last_ms: int | None = None
    event_uid: str = ""
    event_name: str = ""
    cluster: str = ""
    labels: Mapping[str, Any] = {}
    annotations: Mapping[str, Any] = {}
    owner_kind: str = ""
    owner_name: str = ""


def entry_of(event: Event, *, cluster: str, timestamp_ms: int) -> Entry | None:
    """The entry of an event; `None` when it says nothing.

    `timestamp_ms` serves when the event has no time of its own.
    """
    if not event.reason and not event.message:
        return None
    last_ms = event.last_ms or event.first_ms or timestamp_ms
    first_ms = min(event.first_ms or last_ms, last_ms)
    message = event.message.removeprefix(COMBINED)
    kind, object_name = _object(event)
    about = (kind, event.namespace, object_name, event.uid, event.field_path)
    # Without a uid, what it says about what since when is what makes an event one.
    detail = event.event_uid or digest("event", *about, event.reason, message, event.first_ms or 0)
    return Entry(
        fact="event",
        source="k8s_event",
        where=_where(event, kind, object_name, event.cluster or cluster),
        merge="event",
        record_id=digest("k8s-event", detail, event.count, last_ms),
        first_ms=first_ms,
        last_ms=last_ms,
        text=message,
        reason=event.reason,
        count=event.count,
        detail=detail,
        tool="kubectl get events",
        attrs=_attrs(event, combined=message != event.message),
    )


def container_of(field_path: str) -> tuple[str, bool]:
    """The container that a field path names, and whether it is an init container."""
    found = _FIELD_PATH.fullmatch(field_path)
    return (found[2], found[1] == "initContainers") if found else ("", False)


def kind_of(value: object) -> str:
    """A kind in the spelling of its API, also when a producer wrote it in lower case."""
    found = name(value)
    return _KINDS.get(found.lower(), found)


def label(labels: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of several labels that is set."""
    return first_name(*(labels.get(key) for key in names))


def owner(references: object) -> tuple[str, str]:
    """Kind and name of the controlling owner, else of the first owner."""
    owners = list(objects(references))
    if not owners:
        return "", ""
    chosen = next((item for item in owners if item.get("controller") is True), owners[0])
    return name(chosen.get("kind")), name(chosen.get("name"))


def _object(event: Event) -> tuple[str, str]:
    """Kind and name of the object, recovered from the event's name where a shipper lost them."""
    if event.kind or event.name:
        if event.kind == "Node" and not event.name:  # older kubelets put the name into the uid
            return "Node", "" if _UUID.fullmatch(event.uid) else event.uid
        if not event.kind and (event.field_path or _from_kubelet(event)):
            return "Pod", event.name
        return event.kind, event.name
    found = _EVENT_NAME.fullmatch(event.event_name)
    if found is None:
        return "", ""
    if found[1] == event.host:
        return "Node", found[1]
    return ("Pod" if _from_kubelet(event) else ""), found[1]


def _from_kubelet(event: Event) -> bool:
    return event.component == "kubelet"


def _where(event: Event, kind: str, object_name: str, cluster: str) -> Where:
    host = event.host if event.component in ("kubelet", "") else ""
    namespace = "" if kind in NO_NAMESPACE else event.namespace
    if kind == "Pod":
        container, init = container_of(event.field_path)
        return Where(
            cluster=cluster,
            namespace=namespace,
            pod=object_name,
            pod_uid=event.uid,
            container=container,
            init=init,
            node=host,
        )
    return Where(
        cluster=cluster,
        namespace=namespace,
        kind=kind,
        name=object_name,
        node=object_name if kind == "Node" else host,
    )


def _attrs(event: Event, *, combined: bool) -> dict[str, Value]:
    attrs: dict[str, Value] = {
        "type": event.type,
        "component": event.component,
        "field_path": event.field_path,
        "action": event.action,
        "label_workload": label(event.labels, WORKLOAD_LABELS),
        "label_project": label(event.labels, PROJECT_LABELS),
        "owner_kind": event.owner_kind,
        "owner_name": event.owner_name,
        "evictor_action": name(event.annotations.get("evictor-action-type")),
        "combined": int(combined),
    }
    return {key: value for key, value in attrs.items() if value}


def free_text(value: object) -> str:
    """A message without trailing line ends."""
    return text(value).rstrip("\r\n")
