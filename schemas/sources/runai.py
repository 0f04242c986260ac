"""Answers of the Run:ai API: workloads, history, pods, metrics and submitted specs.

Facts, runai 1: a poller passes them on as they are; what it adds are `workloadId` and `clusterId`
where an answer does not name its workload. Every topic takes one object, a list of them, or the
API's list answer.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from schemas.entry import Entry, Where
from schemas.errors import Reason, SchemaError
from schemas.sources import kubernetes, pods
from schemas.sources.event import COMBINED, free_text, kind_of
from schemas.sources.fields import (
    digest,
    first_name,
    first_time,
    listing,
    mapping,
    name,
    only_readable,
    time_ms,
)
from schemas.sources.runai_measured import read_metrics, read_spec
from schemas.sources.runai_pods import read_pod
from schemas.sources.runai_workload import phase_entry, read_workload, workload_where

STATUS, HISTORY = "get_workload_status", "get_workload_history"
_Read = Iterator[Entry | None]


def read(topic: str, value: object, *, cluster: str, timestamp_ms: int) -> list[Entry]:
    """Every entry of one decoded record of a `runai-*` topic.

    `cluster` is for records that name none, `timestamp_ms` for those without a time. Raises
    `SchemaError` when nothing in the record can be read.
    """
    reader = _READERS.get(topic)
    if reader is None:
        raise SchemaError(Reason.UNKNOWN_TOPIC, f"{topic!r} is no topic of Run:ai records")
    entries = reader(value, cluster, timestamp_ms)
    return only_readable(entries, value, wanted=f"{topic} record")


def _each(value: object, key: str) -> Iterator[Mapping[str, Any] | None]:
    """The objects of a record: itself, a list, or the list under `key` of an answer.

    Ids that only the answer as a whole carries are handed down to its items.
    """
    answer = mapping(value)
    inside = answer.get(key) if isinstance(answer.get(key), list) else None
    handed = {k: answer[k] for k in ("workloadId", "clusterId") if k in answer}
    for item in value if isinstance(value, list) else [value] if inside is None else inside:
        if isinstance(item, dict):
            yield {**handed, **item} if inside is not None else item
        else:
            yield None


def _phases(value: object, cluster: str, timestamp_ms: int) -> _Read:
    for item in _each(value, "workloads"):
        if item is None:
            yield None
            continue
        workload = _composed(item)
        read_one = list(read_workload(workload, cluster=cluster, timestamp_ms=timestamp_ms))
        yield from read_one
        events = workload.get("events")
        if not read_one and not isinstance(events, list):
            yield None
            continue
        where = workload_where(workload, cluster)
        for event in listing(events):
            yield _event(event, where, STATUS, timestamp_ms)


def _composed(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A status answer that holds the workload beside its conditions and events, as one object."""
    inner = item.get("workload")
    if not isinstance(inner, dict):
        return item
    return {**inner, **{key: said for key, said in item.items() if key != "workload"}}


def _history(value: object, cluster: str, timestamp_ms: int) -> _Read:
    answer = mapping(value)
    if isinstance(answer.get("events"), list):
        yield from _phases(value, cluster, timestamp_ms)
        return
    for record in _each(value, "records"):
        yield None if record is None else _history_record(record, cluster, timestamp_ms)


def _history_record(record: Mapping[str, Any], cluster: str, timestamp_ms: int) -> Entry | None:
    meta, spec = mapping(record.get("meta")), mapping(record.get("spec"))
    where = workload_where({**record, "id": record.get("workloadId")}, cluster)
    at_ms = time_ms(meta.get("creationTimestamp"))
    event, update = spec.get("event"), spec.get("phaseUpdate")
    if isinstance(event, dict):
        return _event(event, where, HISTORY, at_ms or timestamp_ms)
    if isinstance(update, dict) and name(update.get("phase")):
        return phase_entry(
            where,
            phase=name(update.get("phase")),
            message=free_text(update.get("phaseMessage")),
            at_ms=at_ms or timestamp_ms,
            tool=HISTORY,
            attrs={"current": 0},
        )
    return None


def _event(value: object, workload: Where, tool: str, timestamp_ms: int) -> Entry | None:
    """An event as the API lists it: no count, no field path, its source a plain text.

    Its place is what the event itself and the ids of its workload say, so that the status answer
    and the history agree about it.
    """
    event = mapping(value)
    reason, message = name(event.get("reason")), free_text(event.get("message"))
    if not reason and not message:
        return None
    about = mapping(event.get("involvedObject"))
    kind, called = kind_of(about.get("kind")), name(about.get("name"))
    is_pod = kind == "Pod"
    at_ms = first_time(event.get("createdAt"), event.get("timestamp")) or timestamp_ms
    where = Where(
        cluster=first_name(event.get("clusterId"), workload.cluster),
        workload_id=workload.workload_id,
        namespace=name(about.get("namespace")),
        pod=called if is_pod else "",
        pod_uid=name(about.get("uid")) if is_pod else "",
        kind="" if is_pod else kind,
        name="" if is_pod else called,
        node=called if kind == "Node" else "",
    )
    uid = name(event.get("id"))
    detail = uid or digest("event", kind, called, where.namespace, reason, message, at_ms)
    attrs = {"type": name(event.get("type")), "component": name(event.get("source"))}
    return Entry(
        fact="event",
        source="runai_event",
        where=where,
        merge="event",
        record_id=digest("runai-event", detail, at_ms),
        first_ms=at_ms,
        last_ms=at_ms,
        text=message.removeprefix(COMBINED),
        reason=reason,
        detail=detail,
        tool=tool,
        attrs={key: said for key, said in attrs.items() if said},
    )


def _pods(value: object, cluster: str, timestamp_ms: int) -> _Read:
    answer = mapping(value)
    if pods.is_pod(value) or isinstance(answer.get("items"), list) or _is_watch(answer):
        yield from kubernetes.read_events(value, cluster=cluster, timestamp_ms=timestamp_ms)
        return
    for item in _each(value, "pods"):
        if item is None:
            yield None
        elif pods.is_pod(item):
            yield from pods.read_pod(item, cluster=cluster, timestamp_ms=timestamp_ms)
        else:
            yield from read_pod(item, cluster=cluster, timestamp_ms=timestamp_ms)


def _is_watch(answer: Mapping[str, Any]) -> bool:
    return pods.is_pod(answer.get("object"))


def _metrics(value: object, cluster: str, timestamp_ms: int) -> _Read:
    for item in _each(value, "metrics"):
        if item is None:
            yield None
        else:
            where = workload_where({**item, "id": item.get("workloadId")}, cluster)
            pod_uid = first_name(item.get("podId"), item.get("podUid"))
            where = replace(where, pod_uid=pod_uid, pod=name(item.get("podName")))
            yield read_metrics(item, where, timestamp_ms=timestamp_ms)


def _specs(value: object, cluster: str, timestamp_ms: int) -> _Read:
    for item in _each(value, "workloads"):
        if item is None:
            yield None
        else:
            where = workload_where({"id": item.get("workloadId"), **item}, cluster)
            yield read_spec(item, where, timestamp_ms=timestamp_ms)


_READERS: Mapping[str, Callable[[object, str, int], _Read]] = {
    "runai-phases": _phases,
    "runai-history": _history,
    "runai-pods": _pods,
    "runai-metrics": _metrics,
    "runai-specs": _specs,
}
