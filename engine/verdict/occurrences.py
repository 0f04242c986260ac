"""How often a workload failed the same way within the lookback (facts, runai 8)."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.verdict.ends import SAME_END_MS
from engine.verdict.failures import PREEMPTED, Failure
from engine.verdict.gang import Attempt
from engine.verdict.workload_state import TERMINAL, View, phase_name
from schemas.diagnosis import Recurrence


class Occurrence(Struct, frozen=True, kw_only=True):
    """Distinct failures at one time: more than one where only a restart count tells of them."""

    category: str
    time_ms: int
    times: int = 1
    at_least: bool = False


def recurrence_of(
    view: View, tries: Sequence[Attempt], category: str, *, as_of_ms: int, lookback_ms: int
) -> Recurrence:
    """Occurrences of a category from the cutoff on, by event time, inclusive."""
    cutoff_ms = as_of_ms - lookback_ms
    found = [one for one in occurrences(view, tries, cutoff_ms) if one.category == category]
    inside = [one for one in found if one.time_ms >= cutoff_ms]
    count = sum(one.times for one in inside)
    return Recurrence(
        category=category,
        count=count,
        recurring=count >= 2,
        lookback_s=lookback_ms // 1000,
        first_ms=min((one.time_ms for one in inside), default=0),
        last_ms=max((one.time_ms for one in inside), default=0),
        at_least=any(one.at_least for one in inside),
    )


def occurrences(view: View, tries: Sequence[Attempt], cutoff_ms: int) -> list[Occurrence]:
    """Every distinct failure of the workload: one root per attempt, and each end of its pod."""
    found = [one for attempt in tries for one in _of_attempt(view, attempt, cutoff_ms)]
    found += _phase_only(view, tries)
    return sorted(found, key=lambda one: (one.time_ms, one.category))


def _of_attempt(view: View, attempt: Attempt, cutoff_ms: int) -> Iterator[Occurrence]:
    root = attempt.root
    counted: list[Failure] = []
    for one in attempt.failures:
        if one.category == PREEMPTED or not (one.is_end or one is root):
            continue
        if root is not None and one is not root and _is_echo(one, root):
            continue
        if not one.pod and any(abs(one.time_ms - c.time_ms) <= SAME_END_MS for c in counted):
            continue
        counted.append(one)
        times = 1 + _unrecorded(view, one, cutoff_ms)
        yield Occurrence(category=one.category, time_ms=_at(one), times=times, at_least=times > 1)


def _is_echo(one: Failure, root: Failure) -> bool:
    """Another pod's failure around or after the first one, or another report of the first one."""
    if one.pod != root.pod:
        return one.time_ms >= root.time_ms - SAME_END_MS
    return not root.is_end and abs(one.time_ms - root.time_ms) <= SAME_END_MS


def _at(one: Failure) -> int:
    """An end has its time; what kept a pod from running counts as long as it lasts."""
    if one.is_end:
        return one.time_ms
    shown = [o.last_ms for o in one.evidence if not o.signal.startswith("node.")]
    return max([one.time_ms, *shown])


def _unrecorded(view: View, one: Failure, cutoff_ms: int) -> int:
    """Ends known only by their number, as far as they surely lie within the lookback."""
    more = one.ends - 1
    pod = view.pods.get(one.pod)
    if more <= 0 or pod is None:
        return 0
    return more if pod.first_ms >= cutoff_ms else 1


def _phase_only(view: View, tries: Sequence[Attempt]) -> Iterator[Occurrence]:
    """Ends of the workload that no other evidence is near to: failures of unknown cause."""
    last_ms = 0
    for phase in view.phases:
        if phase_name(phase) not in TERMINAL:
            last_ms = 0 if phase_name(phase) == "Running" else last_ms
            continue
        time_ms = phase.first_ms
        near = any(
            one.current and abs(one.time_ms - time_ms) <= SAME_END_MS
            for attempt in tries
            for one in attempt.failures
        )
        repeated = last_ms and time_ms - last_ms <= SAME_END_MS
        if not near and not repeated and not _explained(tries, time_ms):
            yield Occurrence(category="UNKNOWN", time_ms=time_ms)
        last_ms = time_ms


def _explained(tries: Sequence[Attempt], time_ms: int) -> bool:
    """Whether the attempt that this end belongs to has a root of its own."""
    return any(
        attempt.root is not None and attempt.after_ms < time_ms <= attempt.until_ms
        for attempt in tries
    )
