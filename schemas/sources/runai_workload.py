"""A Run:ai workload: its phase, its conditions, and where it is."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.entry import Entry, Value, Where
from schemas.sources.event import free_text
from schemas.sources.fields import digest, first_name, first_time, name, objects, time_ms
from schemas.sources.unseen import user_texts

TOOL = "get_workload_status"
MOST_CONDITIONS = 64
# Names outside the API's own list that mean one of it (facts, runai 9 OQ-15), case-exact. The
# others that are not on the list (Suspended, Preempted, TimedOut) mean something of their own.
PHASE_ALIASES = {"Crashed": "Failed", "Succeeded": "Completed", "Deleted": "Deleting"}


def workload_where(workload: Mapping[str, Any], cluster: str) -> Where:
    """The place that a record names; a cluster of its own goes before the configured one."""
    return Where(
        cluster=first_name(workload.get("clusterId"), cluster),
        workload_id=first_name(workload.get("id"), workload.get("workloadId")),
        workload=first_name(workload.get("name"), workload.get("workloadName")),
        project=name(workload.get("projectName")),
        namespace=name(workload.get("namespace")),
    )


def read_workload(
    workload: Mapping[str, Any], *, cluster: str, timestamp_ms: int
) -> Iterator[Entry]:
    """The phase of a workload object and its conditions; nothing when it has no phase."""
    where = workload_where(workload, cluster)
    # `actualPhase` stands in where an older control plane leaves `phase` out (facts, runai 1.1).
    phase = first_name(workload.get("phase"), workload.get("actualPhase"))
    if not phase or not (where.workload_id or where.workload):
        return
    updated_ms = first_time(workload.get("updatedAt"), workload.get("phaseUpdatedAt"))
    at_ms = first_time(workload.get("phaseUpdatedAt"), workload.get("updatedAt")) or timestamp_ms
    attrs: dict[str, Value | None] = {
        "phase_reason": name(workload.get("phaseReason")),
        "k8s_phase": name(workload.get("k8sPhase")),
        "created_ms": time_ms(workload.get("createdAt")),
        "updated_ms": updated_ms,
        "events": _events_answer(workload),
    }
    yield phase_entry(
        where,
        phase=phase,
        message=free_text(workload.get("phaseMessage")),
        at_ms=at_ms,
        tool=TOOL,
        attrs={"current": 1, **{key: value for key, value in attrs.items() if value}},
        unseen=user_texts(workload),
    )
    for condition in list(objects(workload.get("conditions")))[:MOST_CONDITIONS]:
        yield _condition(where, condition, updated_ms or at_ms)
    for message in list(objects(workload.get("pendingSchedulingMessages")))[:MOST_CONDITIONS]:
        yield _pending(where, message, at_ms)


def phase_entry(
    where: Where,
    *,
    phase: str,
    message: str,
    at_ms: int,
    tool: str,
    attrs: Mapping[str, Value],
    unseen: tuple[str, ...] = (),
) -> Entry:
    """A phase that a workload came into at a time, from its status or from its history."""
    reason = PHASE_ALIASES.get(phase, phase)
    detail = f"{at_ms}/{reason}"
    return Entry(
        fact="workload.phase",
        source="runai_phase",
        where=where,
        merge="event",
        record_id=digest("workload.phase", *_identity(where), detail),
        first_ms=at_ms,
        last_ms=at_ms,
        text=message,
        reason=reason,
        detail=detail,
        tool=tool,
        attrs={"phase": phase, **attrs},
        unseen=unseen,
    )


def _events_answer(workload: Mapping[str, Any]) -> str:
    """Null is an answer that could not be fetched, which is not the same as no events."""
    if "events" not in workload:
        return "absent"
    events = workload["events"]
    if not isinstance(events, list):
        return "null"
    return "present" if events else "empty"


def _condition(where: Where, condition: Mapping[str, Any], seen_ms: int) -> Entry:
    at_ms = time_ms(condition.get("lastTransitionTime")) or seen_ms
    kind, status = name(condition.get("type")), name(condition.get("status"))
    return _condition_entry(
        where,
        kind=kind,
        status=status,
        reason=name(condition.get("reason")),
        message=free_text(condition.get("message")),
        at_ms=at_ms,
    )


def _pending(where: Where, message: Mapping[str, Any], at_ms: int) -> Entry:
    """Why the scheduler holds a workload back, said once per node pool."""
    pool = name(message.get("nodePool"))
    return _condition_entry(
        where,
        kind=f"PendingScheduling/{pool}" if pool else "PendingScheduling",
        status="True",
        reason=first_name(message.get("phaseReason"), message.get("reason")),
        message=free_text(message.get("userMessage")),
        at_ms=at_ms,
    )


def _condition_entry(
    where: Where, *, kind: str, status: str, reason: str, message: str, at_ms: int
) -> Entry:
    return Entry(
        fact="workload.condition",
        source="runai_phase",
        where=where,
        merge="event",
        record_id=digest("workload.condition", *_identity(where), kind, status, at_ms),
        first_ms=at_ms,
        last_ms=at_ms,
        text=message,
        reason=reason,
        detail=f"{at_ms}/{kind}",
        tool=TOOL,
        attrs={"type": kind, "status": status},
    )


def _identity(where: Where) -> tuple[str, ...]:
    return (where.cluster, where.workload_id or f"{where.project}/{where.workload}")
