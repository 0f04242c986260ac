"""What is wrong with one pod: its ends, and what kept its containers from running."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine.verdict.ends import MINUTE, End, ends_of, lives
from engine.verdict.failures import (
    CONSEQUENCE,
    GRACE_MS,
    PREEMPTED,
    Failure,
    explains,
    node_context,
    node_signals,
    preemptions,
    unique,
    why_ended,
)
from engine.verdict.workload_state import Pod, View, number, phase_name
from schemas.observation import Observation

# The kubelet forgets the back-off of a container that has run for this long.
HEALTHY_MS = 10 * MINUTE
RAN = ("Running", "Completed", "Error", "OOMKilled", "CrashLoopBackOff", "NotReady")
OVER = ("Failed", "Evicted", "Terminated", "Unknown", "Terminating", "ContainerStatusUnknown")
GONE = (*OVER, "Error", "NodeLost", "NodeShutdown", "Shutdown")
CONFIGURATION = ("container.config_error", "container.config_error_state")


def failures_of(view: View, pod: Pod) -> list[Failure]:
    """Every failure of a pod, recovered ones too, by time."""
    ends = ends_of(view, pod)
    found = [*_ended(view, pod, ends)]
    found += _not_started(view, pod)
    found += _removed(view, pod, found)
    if not found:
        found += _only_column(pod)
    return sorted(found, key=lambda one: (one.time_ms, one.category, one.container))


def _ended(view: View, pod: Pod, ends: list[End]) -> Iterator[Failure]:
    """Each failed end as a failure; the newest of a container stands for those not recorded."""
    newest = {(end.container, end.init): end for end in ends}
    for end in ends:
        if not end.failed:
            continue
        found = why_ended(view, pod, end)
        last = newest[end.container, end.init] is end
        more = _unrecorded(pod, end, ends) if last else 0
        yield replace(
            found,
            current=last and _still(pod, end),
            ends=1 + more,
            at_least=more > 0,
        )


def _unrecorded(pod: Pod, end: End, ends: Iterable[End]) -> int:
    """Ends of a container that only its restart count tells of (facts, runai 8)."""
    state = pod.states().get(end.container)
    mine = [one for one in ends if (one.container, one.init) == (end.container, end.init)]
    if state is None:
        looping = any(one.signal == "container.restart_back_off" for one in end.evidence)
        return 1 if looping and len(mine) == 1 else 0  # the first restart has no back-off
    restarts = number(state.attrs, "restarts")
    total = restarts if state.reason == "Running" else restarts + 1
    return max(total - len(mine), 0)


def _still(pod: Pod, end: End) -> bool:
    """Whether the container has not recovered from this end."""
    after = [
        time
        for time in lives(pod, end.container, status=not _has_state(pod, end))
        if time > end.time_ms
    ]
    if not after:
        return True
    state = pod.states().get(end.container)
    if state is None or number(state.attrs, "restarts") < 2 or state.reason != "Running":
        return False
    ran_ms = state.last_ms - number(state.attrs, "started_ms", state.last_ms)
    return not number(state.attrs, "ready") or ran_ms < HEALTHY_MS


def _has_state(pod: Pod, end: End) -> bool:
    state = pod.states().get(end.container)
    return state is not None and state.last_ms >= end.time_ms


def started_after(view: View, pod: Pod, one: Observation) -> bool:
    """Whether a container that something kept back has got past it (facts, runai 7.9)."""
    container, since = one.where.container, one.last_ms
    if any(time >= since for time in lives(pod, container)):
        return True
    if any(c.last_ms > since and c.reason in RAN for c in pod.columns):
        return True
    if one.signal == "image.waiting" or one.signal in CONFIGURATION:
        state = pod.states().get(container)
        if state is not None and state.last_ms > since and state.reason != one.reason:
            return state.reason in ("Running", "Terminated", "CrashLoopBackOff")
    return ran_after(view, since)


def ran_after(view: View, since_ms: int) -> bool:
    """Whether the workload as a whole ran, or ended well, after that."""
    return any(
        one.first_ms > since_ms and phase_name(one) in ("Running", "Completed")
        for one in view.phases
    )


def _pulled_after(pod: Pod, one: Observation) -> bool:
    names = ("", one.where.container)
    return any(
        other.last_ms >= one.last_ms and (not one.where.container or other.where.container in names)
        for other in pod.of("image.pulled")
    )


def _not_started(view: View, pod: Pod) -> Iterator[Failure]:
    """Images, mounts, configuration, sandbox, admission: retries of one pod are one failure."""
    image = [one for one in pod.seen if one.signal in view.named("IMAGE_PULL_FAILED")]
    yield from _kept_back(
        view,
        pod,
        [one for one in image if not _pulled_after(pod, one)],
        image,
        ("IMAGE_PULL_FAILED", "image", "an image of the pod could not be pulled"),
    )
    mount = [one for one in pod.seen if one.signal in view.named("DATASOURCE_MOUNT_FAILED")]
    why = "a volume of the pod could not be attached or mounted"
    yield from _kept_back(view, pod, mount, mount, ("DATASOURCE_MOUNT_FAILED", "mount", why))
    config = pod.of(*CONFIGURATION)
    why = "the container's configuration cannot be built; no category names this (OQ-09)"
    yield from _kept_back(view, pod, config, config, ("UNKNOWN", "configuration", why))
    yield from _not_created(view, pod)
    sandbox = pod.of("pod.sandbox_failed")
    lost = any(node_context(view, pod, _at(one)) for one in sandbox)
    why = "the pod's sandbox could not be set up" + (
        "" if lost else "; no category names this (OQ-10)"
    )
    category = "NODE_FAILURE" if lost else "UNKNOWN"
    yield from _kept_back(view, pod, sandbox, sandbox, (category, "sandbox", why))
    rejected = pod.of("pod.rejected")
    if rejected and not pod.of("pod.gpu_rejected"):
        why = "the node refused to admit the pod, which no category names"
        yield from _kept_back(view, pod, rejected, rejected, ("UNKNOWN", "admission", why))


def _at(one: Observation) -> End:
    return End(time_ms=one.last_ms, reason="Unknown")


def _not_created(view: View, pod: Pod) -> Iterator[Failure]:
    """A command that cannot be executed, where no end of the container was recorded."""
    if pod.of("container.terminated"):
        return
    refused = pod.of("container.start_failed")
    why = "the command could not be executed"
    yield from _kept_back(view, pod, refused, refused, ("CRASH_APP_ERROR", "start-failed", why))
    if not refused and not pod.of("container.oom_at_start"):
        other = pod.of("container.start_error")
        why = "the runtime could not create the container; its message must say why"
        yield from _kept_back(view, pod, other, other, ("UNKNOWN", "not-created", why))


def _kept_back(
    view: View,
    pod: Pod,
    open_ones: list[Observation],
    every: list[Observation],
    verdict: tuple[str, str, str],
) -> Iterator[Failure]:
    """One failure from all signals of a kind; recovered when none of them is still open."""
    if not every:
        return
    still = [one for one in open_ones if not started_after(view, pod, one)]
    shown = still or every
    category, rule, why = verdict
    named = next((one for one in shown if one.where.container), shown[0])
    yield Failure(
        category=category,
        rule=rule,
        why=why,
        time_ms=min(one.first_ms for one in shown),
        pod=pod.key,
        container=named.where.container,
        init=named.where.init,
        current=bool(still),
        evidence=unique(shown),
    )


def _removed(view: View, pod: Pod, known: list[Failure]) -> Iterator[Failure]:
    """A pod that was evicted, lost, refused or preempted, without a recorded end."""
    explained = {id(one) for found in known for one in found.evidence}
    routed = [one for one in preemptions(view, pod) if id(one) not in explained]
    if routed and not _ends_with(known, PREEMPTED):
        why = "the scheduler gave the pod's place to another workload"
        yield _removal(
            pod, routed, (PREEMPTED, "preempted", why), current=not _lives_on(view, pod, routed[-1])
        )
    own = [one for one in pod.of("pod.own_limit") if id(one) not in explained]
    if own and not _ends_with(known, "UNKNOWN"):
        why = "the pod went over its own storage limit, which no category names (OQ-04)"
        yield _removal(pod, own, ("UNKNOWN", "own-limit", why), current=True)
    by_node = [one for one in node_signals(view, pod) if id(one) not in explained]
    by_node = [one for one in by_node if not _called_off(pod, one)]
    if by_node and not _ends_with(known, "NODE_FAILURE"):
        rejected = any(one.signal == "pod.gpu_rejected" for one in by_node)
        why = "the node's device is unhealthy" if rejected else "the pod was removed with its node"
        around = [one for one in view.on_nodes(pod) if _near(one, by_node)]
        current = rejected or (_is_gone(view, pod) and not _lives_on(view, pod, by_node[-1]))
        yield _removal(pod, [*by_node, *around], ("NODE_FAILURE", "node", why), current=current)
    gang = [
        one for one in pod.of("gang.evicted", "gang.evicted_condition") if id(one) not in explained
    ]
    if gang and not known:
        why = "the scheduler removed the rest of the gang; the member that went first is not known"
        found = _removal(pod, gang, ("UNKNOWN", "gang-evicted", why), current=True)
        yield replace(found, weight=CONSEQUENCE)


def _near(one: Observation, causes: Iterable[Observation]) -> bool:
    if one.signal == "node.ready" or not one.signal.startswith("node."):
        return False
    return any(
        explains(one, _at(cause), before_ms=GRACE_MS, after_ms=2 * GRACE_MS) for cause in causes
    )


def _ends_with(known: Iterable[Failure], category: str) -> bool:
    return any(one.category == category and one.current for one in known)


def _called_off(pod: Pod, one: Observation) -> bool:
    cancelled = (c.last_ms >= one.last_ms for c in pod.of("pod.eviction_cancelled"))
    return one.signal == "pod.taint_evicted" and any(cancelled)


def _is_gone(view: View, pod: Pod) -> bool:
    """A disruption can be announced and not happen: the pod or the workload has to have ended."""
    return pod.column in GONE or view.phase in ("Failed", "Stopped") or not pod.columns


def _lives_on(view: View, pod: Pod, since: Observation) -> bool:
    later = since.last_ms + GRACE_MS
    return any(time > later for time in lives(pod)) or any(
        one.reason == "Running" and one.last_ms > later for one in pod.states().values()
    )


def _removal(
    pod: Pod, evidence: list[Observation], verdict: tuple[str, str, str], *, current: bool
) -> Failure:
    category, rule, why = verdict
    about_the_pod = [one for one in evidence if not one.signal.startswith("node.")]
    return Failure(
        category=category,
        rule=rule,
        why=why,
        time_ms=min(one.first_ms for one in about_the_pod or evidence),
        pod=pod.key,
        current=current,
        evidence=unique(evidence),
    )


def _only_column(pod: Pod) -> Iterator[Failure]:
    """A pod that is shown as failed, with no word about why."""
    failed = [one for one in pod.columns if one.reason in OVER]
    if failed and pod.column in OVER and pod.column != "Terminating":
        yield Failure(
            category="UNKNOWN",
            rule="pod-failed",
            why=f"the pod is shown as {pod.column}, which does not say why",
            time_ms=failed[-1].first_ms,
            pod=pod.key,
            weight=CONSEQUENCE,
            evidence=(failed[-1],),
        )
