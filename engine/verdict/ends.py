"""The ends of a pod's containers: what the container status says, and what only hints at them.

A container status gives an end exactly. Events, messages and the STATUS column report the same end
again, or the only trace of one: they join an exact end near them, else each other (facts, runai 8).
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from engine.verdict.workload_state import Pod, View, number
from schemas.observation import Observation

MINUTE = 60_000
SAME_END_MS = 10 * MINUTE  # reports of one end lie within this, whoever is late
KERNEL_MS = 2 * MINUTE  # a kernel line and the end that it caused
LOOPS = ("container.restart_back_off", "container.crash_loop")
NAMES_EXIT = ("container.exited", "container.exited_policy", "runai.container_exit")
FAILED_COLUMNS = ("Error", "ContainerStatusUnknown", "StartError", "ContainerCannotRun")


class End(Struct, frozen=True, kw_only=True):
    """One end of one container. `exact`: its status says so; `exit_code` -1: not known."""

    time_ms: int
    container: str = ""
    init: bool = False
    sidecar: bool = False
    exact: bool = False
    exit_code: int = -1
    reason: str = ""
    started_ms: int = 0
    oom: bool = False
    restarts: int = 0
    evidence: tuple[Observation, ...] = ()

    @property
    def failed(self) -> bool:
        """Not a success."""
        return self.oom or self.exit_code != 0

    def saw(self, *signals: str) -> bool:
        """Whether its own evidence has one of these signals."""
        return any(one.signal in signals for one in self.evidence)


def ends_of(view: View, pod: Pod) -> list[End]:
    """Every known end of the pod's containers, by time."""
    ends = _once(_exact(pod, one) for one in pod.of("container.terminated"))
    ooms = view.named("OOM_KILLED")
    for one in pod.seen:
        hint = _hint(one, ooms)
        if hint is not None:
            _join(ends, hint, pod)
    for one in view.on_nodes(pod):
        if one.signal in ooms and _names(one, pod):
            _join_kernel(ends, one, pod)
    return sorted(ends, key=lambda end: (end.time_ms, end.init, end.container))


def lives(pod: Pod, container: str = "", *, status: bool = True) -> list[int]:
    """When a container (any, if not named) is known to have run or begun to run."""
    found: list[int] = []
    for one in pod.seen:
        if container and one.where.container not in ("", container):
            continue
        if one.signal == "container.started":
            found += [one.first_ms, one.last_ms]
        elif one.signal == "container.terminated":
            found.append(number(one.attrs, "started_ms"))
        elif one.signal == "container.state" and one.reason == "Running":
            found.append(number(one.attrs, "started_ms") or one.last_ms)
        elif status and one.signal == "pod.phase" and one.reason == "Running":
            found.append(one.first_ms)
    return sorted(time for time in found if time)


def lived_between(pod: Pod, container: str, after_ms: int, until_ms: int) -> bool:
    """Whether the container began to run again in between."""
    return any(after_ms < time <= until_ms for time in lives(pod, container))


def _exact(pod: Pod, one: Observation) -> End:
    beside = tuple(
        other
        for other in pod.seen
        if other is not one
        and other.detail == one.detail
        and other.where == one.where
        and other.signal not in ("pod.phase", "container.state")
    )
    return End(
        time_ms=one.last_ms,
        container=one.where.container,
        init=one.where.init,
        sidecar=bool(number(one.attrs, "sidecar")),
        exact=True,
        exit_code=number(one.attrs, "exit_code", -1),
        reason=one.reason,
        started_ms=number(one.attrs, "started_ms"),
        oom=one.reason == "OOMKilled" or any(o.signal == "container.oom_at_start" for o in beside),
        restarts=number(one.attrs, "restarts"),
        evidence=(one, *beside),
    )


def _hint(one: Observation, ooms: frozenset[str]) -> End | None:
    """What an event, a message or the STATUS column says about an end; None when nothing."""
    base = End(
        time_ms=one.last_ms, container=one.where.container, init=one.where.init, evidence=(one,)
    )
    if one.signal == "pod.phase":
        return _column(one, base)
    if one.signal in ooms and one.signal != "container.oom_killed_status":
        is_status = "exit_code" in one.attrs  # already part of the exact end
        return None if is_status else replace(base, oom=True, reason="OOMKilled")
    if one.signal in NAMES_EXIT and "exit_code" in one.attrs:
        return replace(base, exit_code=number(one.attrs, "exit_code", -1))
    if one.signal in LOOPS:
        return replace(base, reason="CrashLoopBackOff")
    if one.signal == "runai.init_exit":
        return replace(base, init=True, exit_code=number(one.attrs, "exit_code", -1))
    return None


def _column(one: Observation, base: End) -> End | None:
    """An end as kubectl's STATUS column shows it (facts, runai 4.3)."""
    init = one.reason.startswith("Init:")
    shown = one.reason.removeprefix("Init:")
    kind, _, code = shown.partition(":")
    base = replace(base, init=init)
    if kind in ("ExitCode", "Signal") and code.isascii() and code.isdigit() and len(code) < 4:
        known = int(code) + (128 if kind == "Signal" else 0)
        return replace(base, exit_code=known)
    if shown == "OOMKilled":
        return replace(base, oom=True, reason=shown)
    if shown in (*FAILED_COLUMNS, "CrashLoopBackOff"):
        return replace(base, reason=shown)
    return None


def _join(ends: list[End], hint: End, pod: Pod) -> None:
    """Add a hint to the end it reports, or as an end of its own."""
    at = _reported(ends, hint, pod)
    if at is None:
        ends.append(hint)
        return
    known = ends[at]
    ends[at] = replace(
        known,
        container=known.container or hint.container,
        init=known.init or (hint.init and not known.exact),
        oom=known.oom or (hint.oom and (known.exit_code in (-1, 137) or _is_event(hint))),
        exit_code=hint.exit_code if known.exit_code == -1 else known.exit_code,
        reason=known.reason or hint.reason,
        time_ms=known.time_ms if known.exact else min(known.time_ms, hint.time_ms),
        evidence=(*known.evidence, *(one for one in hint.evidence if one not in known.evidence)),
    )


def _is_event(hint: End) -> bool:
    return all(one.signal != "pod.phase" for one in hint.evidence)


def _reported(ends: list[End], hint: End, pod: Pod) -> int | None:
    """The end that a hint is about: the nearest one that fits."""
    fitting = [
        (abs(end.time_ms - hint.time_ms), at)
        for at, end in enumerate(ends)
        if _fits(end, hint) and _is_same(end, hint, pod)
    ]
    return min(fitting)[1] if fitting else None


def _fits(end: End, hint: End) -> bool:
    if not end.failed or (end.container and hint.container and end.container != hint.container):
        return False
    same = end.container and end.container == hint.container
    if not same and hint.init != end.init and (hint.init or end.exact):
        return False
    if hint.oom and not _is_event(hint):  # a column: another container may be the one it shows
        return end.oom or not end.exact or end.exit_code == 137
    return hint.exit_code in (-1, end.exit_code) or end.exit_code == -1


def _is_same(end: End, hint: End, pod: Pod) -> bool:
    if hint.reason == "CrashLoopBackOff":  # it lasts, and says nothing about one end
        return True
    first, last = sorted((end.time_ms, hint.time_ms))
    if lived_between(pod, end.container or hint.container, first, last):
        return False
    return hint.time_ms >= end.time_ms or last - first <= SAME_END_MS


def _names(one: Observation, pod: Pod) -> bool:
    """Whether a node's line names this pod, in either spelling of a uid."""
    named = str(one.attrs.get("pod_uid", "")).replace("_", "-").lower()
    return bool(named) and named == pod.uid.replace("_", "-").lower()


def _join_kernel(ends: list[End], line: Observation, pod: Pod) -> None:
    near = [
        (abs(end.time_ms - line.last_ms), at)
        for at, end in enumerate(ends)
        if end.failed and _overlaps(line, end.time_ms, KERNEL_MS)
    ]
    if near:
        at = min(near)[1]
        ends[at] = replace(ends[at], oom=True, evidence=(*ends[at].evidence, line))
    elif not lived_between(pod, "", line.last_ms, max(lives(pod), default=0)):
        ends.append(End(time_ms=line.last_ms, oom=True, reason="OOMKilled", evidence=(line,)))


def _overlaps(one: Observation, time_ms: int, slack_ms: int) -> bool:
    return one.first_ms - slack_ms <= time_ms <= one.last_ms + slack_ms


def _once(ends: Iterable[End]) -> list[End]:
    """An end that two producers report exactly is one end."""
    found: dict[tuple[str, bool, int], End] = {}
    for end in ends:
        key = (end.container, end.init, end.time_ms)
        known = found.get(key)
        if known is not None:
            end = replace(end, oom=end.oom or known.oom, evidence=(*known.evidence, *end.evidence))
        found[key] = end
    return list(found.values())
