"""Attempts of a workload, and where the trouble of one attempt began (facts, runai 7.10, 8)."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from engine.verdict.ends import MINUTE, SAME_END_MS
from engine.verdict.failures import CONSEQUENCE, DECISIVE, PLAIN, PREEMPTED, Failure
from engine.verdict.workload_state import ENDED, View, phase_name

FOREVER_MS = 1 << 62
STAGGER_MS = 2 * MINUTE  # the pods of one attempt are not all created in the same moment
SIMULTANEOUS_MS = 5_000
# A lost node is reported after its peers have noticed it; other causes are dated to the second.
HEAD_START_MS = {"NODE_FAILURE": 5 * MINUTE}
DEFAULT_HEAD_START_MS = MINUTE
STRENGTH = (
    PREEMPTED,
    "OOM_KILLED",
    "IMAGE_PULL_FAILED",
    "INIT_FAILED",
    "DATASOURCE_MOUNT_FAILED",
    "NODE_FAILURE",
    "SCHEDULING_POLICY_TERMINATED",
    "CRASH_APP_ERROR",
    "UNKNOWN",
)
"""Order of direct signals (seed 000 step 4); what ended a pod from outside goes before its exit."""


class Attempt(Struct, frozen=True, kw_only=True):
    """One life of the workload: from one new beginning to the next."""

    after_ms: int
    until_ms: int
    failures: tuple[Failure, ...]
    root: Failure | None = None

    @property
    def echoes(self) -> tuple[Failure, ...]:
        """Failures of other pods, which follow from the first."""
        root = self.root
        if root is None:
            return ()
        return tuple(one for one in self.failures if one.pod and one.pod != root.pod)


def attempts(view: View, failures: Sequence[Failure]) -> list[Attempt]:
    """The workload's attempts by time, each with its failures and its root."""
    borders = [0, *_borders(view, failures), FOREVER_MS]
    found: list[Attempt] = []
    for after_ms, until_ms in pairwise(borders):
        inside = tuple(one for one in failures if after_ms < one.time_ms <= until_ms)
        root = root_of(_candidates(inside))
        found.append(Attempt(after_ms=after_ms, until_ms=until_ms, failures=inside, root=root))
    return found


def _candidates(failures: Sequence[Failure]) -> list[Failure]:
    """What was not recovered from; in a gang also an end shortly before, which the pod survived."""
    current = [one for one in failures if one.current]
    if len({one.pod for one in current if one.pod}) < 2:
        return current
    first_ms = min(one.time_ms for one in current)
    survived = [
        one
        for one in failures
        if not one.current and one.is_end and first_ms - SAME_END_MS <= one.time_ms <= first_ms
    ]
    return [*survived, *current]


def _borders(view: View, failures: Sequence[Failure]) -> list[int]:
    """Times after which the workload lived anew."""
    borders: set[int] = set()
    ends = [one.first_ms for one in view.phases if phase_name(one) in ENDED]
    preempted = [one.time_ms for one in failures if one.category == PREEMPTED]
    for time_ms in sorted({*ends, *preempted}):
        if _lived_anew(view, failures, time_ms):
            borders.add(_settled(view, failures, time_ms))
    borders.update(_replaced(view, failures))
    return sorted(borders)


def _lived_anew(view: View, failures: Sequence[Failure], end_ms: int) -> bool:
    """Whether there is a new phase, a new pod, or a failure that only a new life can have had."""
    return (
        any(one.first_ms > end_ms and phase_name(one) in ("Running",) for one in view.phases)
        or any(pod.created_ms > end_ms for pod in view.pods.values())
        or any(one.time_ms > end_ms + SAME_END_MS and one.weight > CONSEQUENCE for one in failures)
    )


def _settled(view: View, failures: Sequence[Failure], end_ms: int) -> int:
    """The end of an attempt with the exits of its pods that trail behind it."""
    trailing = [
        one.time_ms
        for one in failures
        if end_ms < one.time_ms <= end_ms + STAGGER_MS
        and one.pod
        and view.pods[one.pod].first_ms <= end_ms
    ]
    return max(trailing, default=end_ms)


def _replaced(view: View, failures: Sequence[Failure]) -> list[int]:
    """Creation times that replaced all pods: nothing older failed after them."""
    created = sorted({pod.created_ms for pod in view.pods.values() if pod.created_ms})
    found: list[int] = []
    for time_ms in created:
        if time_ms - created[0] <= STAGGER_MS:
            continue
        before = [f for f in failures if f.time_ms < time_ms and f.pod]
        old_after = [
            f
            for f in failures
            if f.time_ms >= time_ms
            and f.pod
            and f.category != PREEMPTED
            and view.pods[f.pod].first_ms < time_ms
        ]
        if before and not old_after:
            found.append(time_ms - 1)
    return found


def root_of(failures: Sequence[Failure]) -> Failure | None:
    """Where it began: the earliest failure that is no consequence."""
    if not failures:
        return None
    decisive = [one for one in failures if one.weight == DECISIVE]
    plain = [one for one in failures if one.weight == PLAIN]
    strong = _earliest(decisive)
    first = _earliest(plain)
    if strong is not None and (first is None or not _is_ahead(first, strong)):
        return strong
    if first is not None:
        return first
    return _earliest(_told(failures))


def _is_ahead(plain: Failure, strong: Failure) -> bool:
    """Whether a bare exit came so early that the other cause cannot be behind it."""
    head_start_ms = HEAD_START_MS.get(strong.category, DEFAULT_HEAD_START_MS)
    return plain.time_ms < strong.time_ms - head_start_ms


def _told(failures: Sequence[Failure]) -> list[Failure]:
    """Of consequences alone: in a gang with forced exits none is known to be the first (OQ-18)."""
    pods = {one.pod for one in failures if one.pod}
    forced = [one for one in failures if one.exit_code >= 128]
    if len(pods) > 1 and len(forced) == len([one for one in failures if one.pod]):
        unknown = [one for one in failures if one.category == "UNKNOWN"]
        return unknown or list(failures)
    return list(failures)


def _earliest(failures: Iterable[Failure]) -> Failure | None:
    """The earliest; of nearly simultaneous ones the strongest signal."""
    by_time = sorted(failures, key=lambda one: (one.time_ms, STRENGTH.index(one.category), one.pod))
    if not by_time:
        return None
    near = [one for one in by_time if one.time_ms - by_time[0].time_ms <= SIMULTANEOUS_MS]
    return min(near, key=lambda one: (STRENGTH.index(one.category), one.time_ms, one.pod))
