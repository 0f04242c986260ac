"""Why a container ended: the strongest direct signal, then who else ended it (seed 000 step 4)."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from engine.verdict.ends import MINUTE, End
from engine.verdict.workload_state import Pod, View
from schemas.observation import Observation

PREEMPTED = "PREEMPTED"  # no category: a route (seed 000)
CONSEQUENCE, PLAIN, DECISIVE = 0, 1, 2

# How long after its cause an end may come, and how long before the cause's own report.
GRACE_MS = 15 * MINUTE  # eviction after the default toleration of 300 s, and a grace period
LATE_MS = 2 * MINUTE  # the report of a lost node comes 40-50 s after its last heartbeat
POLICY_LATE_MS = 10 * MINUTE  # a phase message follows the grace period of the pods
SUDDEN_MS = 5_000
GPU_GRACE_MS = 30 * MINUTE  # peers notice a dead GPU when a collective operation times out
PROBE_GRACE_MS = 5 * MINUTE
FORCED = (137, 143, 130, 0, 255, -1)  # codes of a container that something else ended
CLEANUP_XID = "45"


class Failure(Struct, frozen=True, kw_only=True):
    """One failure of a pod, or of the workload as a whole (`pod` is empty then).

    `weight`: whether it can be where the trouble began (`DECISIVE`), is an exit that says nothing
    of itself (`PLAIN`), or looks like a consequence of another one.
    """

    category: str
    rule: str
    time_ms: int
    why: str
    pod: str = ""
    container: str = ""
    init: bool = False
    sidecar: bool = False
    subcause: str = ""
    weight: int = DECISIVE
    exit_code: int = -1
    is_end: bool = False  # a container ended; else something kept it from running
    ends: int = 1  # how many ends of this container it stands for
    at_least: bool = False
    current: bool = True
    evidence: tuple[Observation, ...] = ()


def why_ended(view: View, pod: Pod, end: End) -> Failure:
    """The failure that an end is."""
    return (
        _oom(view, pod, end)
        or _probe(view, pod, end)
        or _preempted(view, pod, end)
        or _own_limit(view, pod, end)
        or _by_node(view, pod, end)
        or _by_policy(view, pod, end)
        or _init(view, pod, end)
        or _application(view, pod, end)
    )


def failure(pod: Pod, end: End, category: str, rule: str, why: str, *more: Observation) -> Failure:
    """A failure of one end, with the end's evidence and what explains it."""
    return Failure(
        category=category,
        rule=rule,
        why=why,
        time_ms=end.time_ms,
        pod=pod.key,
        container=end.container,
        init=end.init,
        sidecar=end.sidecar,
        exit_code=end.exit_code,
        is_end=True,
        evidence=unique((*more, *end.evidence)),
    )


def unique(observations: Iterable[Observation]) -> tuple[Observation, ...]:
    """Each observation once, in the order given."""
    return tuple({id(one): one for one in observations}.values())


def explains(cause: Observation, end: End, *, before_ms: int, after_ms: int) -> bool:
    """Whether the end came within `after_ms` of the cause, or within `before_ms` ahead of it."""
    return cause.first_ms - before_ms <= end.time_ms <= cause.last_ms + after_ms


def node_signals(view: View, pod: Pod) -> list[Observation]:
    """What says that the pod's node ended it: said of the pod itself."""
    return pod.of(*sorted(view.named("NODE_FAILURE")))


def _oom(view: View, pod: Pod, end: End) -> Failure | None:
    if not end.oom:
        return None
    if end.exit_code == 143:  # a flag left by an earlier child; the drain is what ended it (OQ-12)
        by_node = _by_node(view, pod, end)
        if by_node is not None:
            return by_node
    what = "init container" if end.init and not end.sidecar else "container"
    why = f"a direct OOM signal on the {what} {end.container}".rstrip()
    return failure(pod, end, "OOM_KILLED", "oom-killed", why)


def _probe(view: View, pod: Pod, end: End) -> Failure | None:
    killed = [
        one
        for one in pod.of("container.probe_killed")
        if one.where.container in ("", end.container) or not end.container
        if explains(one, end, before_ms=SUDDEN_MS, after_ms=PROBE_GRACE_MS)
    ]
    if not killed:
        return None
    failed = [
        one
        for one in pod.of("container.probe_failed")
        if one.where.container in ("", end.container) or not end.container
    ]
    why = "the kubelet killed the container after its probe had failed"
    return failure(pod, end, "CRASH_APP_ERROR", "probe-kill", why, *killed, *failed)


def preemptions(view: View, pod: Pod) -> list[Observation]:
    """What says that this pod was preempted, by its own name or for the workload as a whole."""
    routed = view.routed("preempted")
    of_all = [one for one in view.own if one.signal in routed and was_there(pod, one)]
    return [one for one in pod.seen if one.signal in routed] + of_all


def _preempted(view: View, pod: Pod, end: End) -> Failure | None:
    causes = [
        one
        for one in preemptions(view, pod)
        if explains(one, end, before_ms=_slack(end, one), after_ms=GRACE_MS)
    ]
    if not causes:
        return None
    why = "the scheduler gave the pod's place to another workload"
    return failure(pod, end, PREEMPTED, "preempted", why, *causes)


def was_there(pod: Pod, cause: Observation) -> bool:
    """Whether the pod existed when that happened: what came later has causes of its own (OQ-14)."""
    return pod.created_ms <= cause.last_ms


def _own_limit(view: View, pod: Pod, end: End) -> Failure | None:
    causes = [
        one
        for one in pod.of("pod.own_limit")
        if explains(one, end, before_ms=LATE_MS, after_ms=GRACE_MS)
    ]
    if not causes:
        return None
    why = "the pod went over its own storage limit, which no category names (OQ-04)"
    return failure(pod, end, "UNKNOWN", "own-limit", why, *causes)


def _by_node(view: View, pod: Pod, end: End) -> Failure | None:
    causes = [
        one
        for one in node_signals(view, pod)
        if explains(one, end, before_ms=LATE_MS, after_ms=GRACE_MS)
        if end.exit_code in FORCED or one.first_ms <= end.time_ms
    ]
    around = node_context(view, pod, end)
    if not causes and not around:
        return None
    why = "the pod's node ended it, and no preemption did"
    support = [one for one in view.on_nodes(pod) if _supports(one, end)]
    return failure(pod, end, "NODE_FAILURE", "node", why, *causes, *around, *support)


def _supports(one: Observation, end: End) -> bool:
    supporting = one.signal in ("node.cordoned", "node.pressure", "node.not_ready")
    return supporting and explains(one, end, before_ms=LATE_MS, after_ms=2 * GRACE_MS)


def node_context(view: View, pod: Pod, end: End) -> list[Observation]:
    """What was said about the node itself that explains the end (facts, runai 6)."""
    ready = [one.last_ms for one in view.on_nodes(pod) if one.signal == "node.ready"]
    lost = end.reason in ("ContainerStatusUnknown", "Unknown") or end.exit_code in FORCED[:2]
    named, found = view.named("NODE_FAILURE"), list[Observation]()
    for one in view.on_nodes(pod):
        if one.signal not in named:
            continue
        if any(one.last_ms < back <= end.time_ms for back in ready):
            continue
        if one.signal == "node.xid_hardware":
            if explains(one, end, before_ms=LATE_MS, after_ms=GPU_GRACE_MS):
                found.append(one)
        elif lost and explains(one, end, before_ms=LATE_MS, after_ms=GRACE_MS):
            found.append(one)
    return found


def _by_policy(view: View, pod: Pod, end: End) -> Failure | None:
    causes = [
        one
        for one in view.policies
        if one.where.pod in ("", pod.name)
        and was_there(pod, one)
        and explains(one, end, before_ms=_slack(end, one), after_ms=GRACE_MS)
    ]
    if not causes:
        return None
    why = "a rule or a request to stop came first; the exit follows from it"
    return failure(pod, end, "SCHEDULING_POLICY_TERMINATED", "policy", why, *causes)


def _slack(end: End, cause: Observation) -> int:
    """How far ahead of a cause's report the end may be: far only for an exit that was forced."""
    return POLICY_LATE_MS if end.exit_code in FORCED else SUDDEN_MS


def _init(view: View, pod: Pod, end: End) -> Failure | None:
    if not end.init or end.sidecar or main_runs(pod):
        return None
    name = f" {end.container}" if end.container else ""
    code = f" with exit code {end.exit_code}" if end.exit_code >= 0 else ""
    why = f"the init container{name} failed{code} before the main container could start"
    return failure(pod, end, "INIT_FAILED", "init-failed", why)


def main_runs(pod: Pod) -> bool:
    """Whether a main container has been started: then no init container stands in its way."""
    states = [one for one in pod.states().values() if not one.where.init]
    if states:
        return any(one.reason in ("Running", "Terminated", "CrashLoopBackOff") for one in states)
    return pod.column == "Running"


def _application(view: View, pod: Pod, end: End) -> Failure:
    if end.saw("container.start_failed") or (end.reason == "StartError"):
        return failure(
            pod, end, "CRASH_APP_ERROR", "start-failed", "the command could not be executed"
        )
    code = end.exit_code
    reading = reading_of(view, code)
    if end.reason in ("ContainerStatusUnknown", "Unknown") or code == -1:
        why = "the container ended, and neither its exit code nor its cause is known"
        found = failure(pod, end, "UNKNOWN", "exit-unknown", why)
        return replace(found, weight=CONSEQUENCE)
    if reading == "unresolved":
        why = f"exit {code} without OOMKilled, and nothing names who killed the container"
        found = failure(pod, end, "UNKNOWN", "exit-unexplained", why)
        return replace(found, weight=CONSEQUENCE, subcause="unexplained-kill")
    if reading == "consequence":
        why = f"exit {code} always follows from something else, and nothing says from what"
        gang = pod.of("gang.evicted", "gang.evicted_condition")
        found = failure(pod, end, "UNKNOWN", "exit-consequence", why, *gang)
        return replace(found, weight=CONSEQUENCE, subcause="" if gang else "unexplained-stop")
    why = f"exit code {code} without a system signal that explains it"
    found = failure(pod, end, "CRASH_APP_ERROR", "application-exit", why, *_gpu(view, pod, end))
    return replace(found, weight=_weight(end))


def reading_of(view: View, code: int) -> str:
    """How an exit code reads when nothing nearer explains it (facts, runai 5)."""
    row = view.rules.exit_codes.get(code)
    return row.reading if row is not None else "application"


def _weight(end: End) -> int:
    if end.saw("app.peer_lost"):
        return CONSEQUENCE
    causes = [one for one in end.evidence if one.signal.startswith("app.")]
    if causes:
        return DECISIVE
    return CONSEQUENCE if end.exit_code >= 128 else PLAIN


def _gpu(view: View, pod: Pod, end: End) -> list[Observation]:
    """Driver faults of the application itself; the clean-up code is never a cause."""
    return [
        one
        for one in view.on_nodes(pod)
        if one.signal == "node.xid_application"
        and str(one.attrs.get("xid")) != CLEANUP_XID
        and end.saw("app.gpu_fault")
        and explains(one, end, before_ms=LATE_MS, after_ms=LATE_MS)
    ]
