"""`pod.status` verbatim: containers, why the pod ended, and whether it was disrupted."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from schemas.entry import Entry, Value, Where
from schemas.sources.event import free_text
from schemas.sources.fields import digest, latest, mapping, name, objects, time_ms, whole

TOOL = "kubectl describe pod"
MOST_CONTAINERS = 64
_GROUPS = (
    ("initContainerStatuses", True),
    ("containerStatuses", False),
    ("ephemeralContainerStatuses", False),
)


class _Snapshot(Struct, frozen=True, kw_only=True):
    """The pod's place, what was read of it, and how new that is."""

    where: Where
    status: Mapping[str, Any]
    sidecars: frozenset[str]
    seen_ms: int  # how new the snapshot is, by the newest time in it
    ended_ms: int  # when the pod came into its present state, as far as it says


def read_status(
    where: Where,
    status: Mapping[str, Any],
    *,
    seen_ms: int,
    changed_ms: int,
    spec: Mapping[str, Any] = {},
) -> Iterator[Entry]:
    """What a pod's status says about its containers, its end and its disruption.

    `seen_ms` is how new the record around it is, `changed_ms` when its state last changed.
    """
    snapshot = _Snapshot(
        where=where,
        status=status,
        sidecars=_sidecars(status, spec),
        seen_ms=latest([seen_ms, *times(status)]) or seen_ms,
        ended_ms=changed_ms,
    )
    for group, init in _GROUPS:
        for container in list(objects(status.get(group)))[:MOST_CONTAINERS]:
            yield from _container(snapshot, container, init=init)
    yield from _disrupted(snapshot)
    yield from _status_reason(snapshot)


def _container(snapshot: _Snapshot, container: Mapping[str, Any], *, init: bool) -> Iterator[Entry]:
    called = name(container.get("name"))
    where = replace(snapshot.where, container=called, init=init)
    shared: dict[str, Value] = {"restarts": max(whole(container.get("restartCount")) or 0, 0)}
    if init and called in snapshot.sidecars:
        shared["sidecar"] = 1
    state, last = mapping(container.get("state")), mapping(container.get("lastState"))
    yield from _container_state(snapshot, where, container, state, shared)
    for where_from, is_last in ((state, 0), (last, 1)):
        ended = where_from.get("terminated")
        if isinstance(ended, dict):
            yield _terminated(snapshot, where, ended, {**shared, "last": is_last})


def _container_state(
    snapshot: _Snapshot,
    where: Where,
    container: Mapping[str, Any],
    state: Mapping[str, Any],
    shared: Mapping[str, Value],
) -> Iterator[Entry]:
    kind = next((k for k in ("waiting", "running", "terminated") if _is_set(state, k)), "")
    if not kind:
        return
    inner = mapping(state.get(kind))
    waiting = name(inner.get("reason")) if kind == "waiting" else ""
    reason = waiting or kind.capitalize()
    attrs: dict[str, Value] = {**shared, "state": kind}
    if isinstance(container.get("ready"), bool):
        attrs["ready"] = int(container["ready"])
    started_ms = time_ms(inner.get("startedAt"))
    if started_ms is not None:
        attrs["started_ms"] = started_ms
    yield Entry(
        fact="container.state",
        source="pod_status",
        where=where,
        merge="state",
        record_id=digest(
            "container.state", *identity(where), reason, attrs["restarts"], snapshot.seen_ms
        ),
        first_ms=snapshot.seen_ms,
        last_ms=snapshot.seen_ms,
        text=free_text(inner.get("message")) if kind == "waiting" else "",
        reason=reason,
        tool=TOOL,
        attrs=attrs,
    )


def _is_set(state: Mapping[str, Any], kind: str) -> bool:
    return isinstance(state.get(kind), dict)


def _terminated(
    snapshot: _Snapshot, where: Where, ended: Mapping[str, Any], shared: Mapping[str, Value]
) -> Entry:
    finished_ms = time_ms(ended.get("finishedAt"))
    at_ms = finished_ms or snapshot.ended_ms
    numbers = {
        "exit_code": whole(ended.get("exitCode")),
        "signal": whole(ended.get("signal")) or None,
        "started_ms": time_ms(ended.get("startedAt")),
        "finished_ms": finished_ms,
    }
    # A container that was lost has no end time: its restart number tells which end it was.
    number = int(shared["restarts"]) - int(shared["last"])
    detail = str(finished_ms) if finished_ms else f"restart/{max(number, 0)}"
    return Entry(
        fact="container.terminated",
        source="pod_status",
        where=where,
        merge="event",
        record_id=digest("container.terminated", *identity(where), detail),
        first_ms=at_ms,
        last_ms=at_ms,
        text=free_text(ended.get("message")),
        reason=name(ended.get("reason")),
        detail=detail,
        tool=TOOL,
        attrs={**shared, **{key: n for key, n in numbers.items() if n is not None}},
    )


def _disrupted(snapshot: _Snapshot) -> Iterator[Entry]:
    for condition in conditions(snapshot.status):
        if condition.get("type") != "DisruptionTarget" or condition.get("status") != "True":
            continue
        reason = name(condition.get("reason"))
        at_ms = time_ms(condition.get("lastTransitionTime")) or snapshot.ended_ms
        yield Entry(
            fact="pod.disrupted",
            source="pod_status",
            where=snapshot.where,
            merge="event",
            record_id=digest("pod.disrupted", *identity(snapshot.where), reason, at_ms),
            first_ms=at_ms,
            last_ms=at_ms,
            text=free_text(condition.get("message")),
            reason=reason,
            detail=f"{at_ms}/{reason}",
            tool=TOOL,
        )


def _status_reason(snapshot: _Snapshot) -> Iterator[Entry]:
    reason = name(snapshot.status.get("reason"))
    if not reason:
        return
    phase = name(snapshot.status.get("phase"))
    yield Entry(
        fact="pod.status_reason",
        source="pod_status",
        where=snapshot.where,
        merge="event",
        record_id=digest("pod.status_reason", *identity(snapshot.where), reason),
        first_ms=snapshot.ended_ms,
        last_ms=snapshot.ended_ms,
        text=free_text(snapshot.status.get("message")),
        reason=reason,
        detail=reason,
        tool=TOOL,
        attrs={"phase": phase} if phase else {},
    )


def conditions(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A pod's conditions, bounded."""
    return list(objects(status.get("conditions")))[:MOST_CONTAINERS]


def _sidecars(status: Mapping[str, Any], spec: Mapping[str, Any]) -> frozenset[str]:
    """Init containers that keep running beside the main ones (facts, runai 4.5)."""
    listed = [*objects(status.get("initContainerStatuses")), *objects(spec.get("initContainers"))]
    return frozenset(
        name(item.get("name")) for item in listed if item.get("restartPolicy") == "Always"
    )


def times(value: Mapping[str, Any]) -> Iterator[int | None]:
    """Every time in a pod's metadata or status."""
    meta = mapping(value.get("metadata"))
    yield time_ms(meta.get("creationTimestamp"))
    yield from (time_ms(item.get("time")) for item in objects(meta.get("managedFields")))
    yield time_ms(value.get("startTime"))
    for condition in conditions(value):
        yield time_ms(condition.get("lastTransitionTime"))
    for group, _ in _GROUPS:
        for container in list(objects(value.get(group)))[:MOST_CONTAINERS]:
            for state in (mapping(container.get("state")), mapping(container.get("lastState"))):
                for inner in (mapping(state.get("running")), mapping(state.get("terminated"))):
                    yield time_ms(inner.get("startedAt"))
                    yield time_ms(inner.get("finishedAt"))


def identity(where: Where) -> tuple[str, ...]:
    """What identifies a pod or container: its uid, else its place."""
    pod = where.pod_uid or f"{where.namespace}/{where.pod}"
    return (where.cluster, pod, where.container)
