"""A Kubernetes pod object, as kubectl prints it or a collector watches it."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.entry import Entry, Value, Where
from schemas.sources.event import PROJECT_LABELS, WORKLOAD_LABELS, free_text, label, owner
from schemas.sources.fields import (
    digest,
    first_name,
    latest,
    mapping,
    name,
    objects,
    quantity,
    quantity_text,
    readable,
    time_ms,
)
from schemas.sources.pod_status import MOST_CONTAINERS, conditions, identity, read_status, times
from schemas.sources.status_column import status_column
from schemas.sources.unseen import user_texts


def is_pod(value: object) -> bool:
    """Whether this is a Kubernetes pod object; the items of a PodList carry no kind."""
    found = mapping(value)
    if not isinstance(found.get("metadata"), dict):
        return False
    status = found.get("status")
    if found.get("kind") == "Pod":  # a custom event layout can say that too, without these two
        return isinstance(status, dict) or isinstance(found.get("spec"), dict)
    return "kind" not in found and isinstance(status, dict) and "containerStatuses" in status


def read_pod(value: object, *, cluster: str, timestamp_ms: int) -> Iterator[Entry]:
    """A Kubernetes pod object: its STATUS column and everything its status says."""
    pod = mapping(value)
    meta, spec, status = (mapping(pod.get(key)) for key in ("metadata", "spec", "status"))
    where = Where(
        cluster=cluster,
        namespace=name(meta.get("namespace")),
        pod=name(meta.get("name")),
        pod_uid=name(meta.get("uid")),
        node=name(spec.get("nodeName")),
    )
    seen_ms = latest([*times(pod), *times(status)]) or timestamp_ms
    column = name(status_column(pod)) or "Unknown"
    entered_ms = latest(times(status)) or seen_ms
    yield Entry(
        fact="pod.phase",
        source="pod_phase",
        where=where,
        merge="event",
        record_id=digest("pod.phase", *identity(where), column, entered_ms),
        first_ms=entered_ms,
        last_ms=entered_ms,
        text=_unscheduled(status),
        reason=column,
        detail=f"{entered_ms}/{column}",
        tool="kubectl get pod",
        attrs=_pod_attrs(meta, spec),
        unseen=_unseen(meta, spec),
    )
    yield from read_status(where, status, spec=spec, seen_ms=seen_ms, changed_ms=entered_ms)


def _unscheduled(status: Mapping[str, Any]) -> str:
    """What the scheduler says about a pod that it did not place."""
    for condition in conditions(status):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return free_text(condition.get("message"))
    return ""


def _pod_attrs(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Value]:
    owner_kind, owner_name = owner(meta.get("ownerReferences"))
    labels = mapping(meta.get("labels"))
    attrs: dict[str, Value | None] = {
        "created_ms": time_ms(meta.get("creationTimestamp")),
        "deleted_ms": time_ms(meta.get("deletionTimestamp")),
        "owner_kind": owner_kind,
        "owner_name": owner_name,
        "label_workload": label(labels, WORKLOAD_LABELS),
        "label_project": label(labels, PROJECT_LABELS),
        "restart_policy": first_name(spec.get("restartPolicy")),
        **memory_attrs(_sum_memory(spec, "requests"), _sum_memory(spec, "limits")),
    }
    kept: dict[str, Value] = {key: value for key, value in attrs.items() if value}
    resources = any(mapping(item.get("resources")) for item in objects(spec.get("containers")))
    return {**kept, "resources": int(resources), "tier2": 1}


def memory_attrs(
    request: object = None, limit: object = None, allocated: object = None
) -> dict[str, Value]:
    """Amounts of memory, as they were sent and as bytes; what is no quantity is absent."""
    attrs: dict[str, Value] = {}
    for kind, value in (("request", request), ("limit", limit), ("allocated", allocated)):
        size = quantity(value)
        if size is not None:
            attrs[f"memory_{kind}"] = quantity_text(value)
            attrs[f"memory_{kind}_bytes"] = size
    return attrs


def _sum_memory(spec: Mapping[str, Any], kind: str) -> str | None:
    """The memory of all main containers; `None` unless each of them names its own."""
    named = [
        mapping(mapping(item.get("resources")).get(kind)).get("memory")
        for item in list(objects(spec.get("containers")))[:MOST_CONTAINERS]
    ]
    sizes = [size for size in map(quantity, named) if size is not None]
    if not sizes or len(sizes) < len(named):
        return None
    return quantity_text(named[0]) if len(named) == 1 else readable(sum(sizes))


def _unseen(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> tuple[str, ...]:
    return user_texts(meta, *objects(spec.get("containers")), *objects(spec.get("initContainers")))
