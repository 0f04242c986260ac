"""What evidence is not there, why it matters, and the bounded command that gets it."""

from collections.abc import Iterator, Mapping

from engine.verdict.failures import Failure
from engine.verdict.workload_state import View, number
from matchers.commands import fill
from schemas.diagnosis import Missing, Subject
from schemas.observation import Observation

STATUS = "get_workload_status {workload_id}"
SPEC = "get_workload_spec {workload_id}"
PODS = "get_workload_pods {workload_id}"
HISTORY = "get_workload_history {workload_id} limit=50"
METRICS = "get_workload_metrics {workload_id}"
EVENTS = "kubectl get events -n {namespace} --field-selector involvedObject.name={pod}"
DESCRIBE = "kubectl describe pod {pod} -n {namespace}"
LOGS = "kubectl logs {pod} -n {namespace} --previous --tail=200"
NODE = "kubectl describe node {node}"
PODS_OF_PROJECT = "kubectl get pods -n {namespace}"


def missing_evidence(
    view: View, root: Failure | None, subject: Subject, values: Mapping[str, str]
) -> tuple[Missing, ...]:
    """Each gap once. A gap is never read as absence of what it would have shown."""
    found: list[tuple[str, str, str]] = []
    if subject.kind == "workload":
        found += _of_run_ai(view, root)
    if root is not None:
        found += _of_cause(view, root)
    unique = {what: (what, why, command) for what, why, command in found}
    return tuple(
        Missing(what=what, why=why, next_command=fill(command, values))
        for what, why, command in unique.values()
    )


def _of_run_ai(view: View, root: Failure | None) -> Iterator[tuple[str, str, str]]:
    current = [one for one in view.phases if number(one.attrs, "current")]
    if not current:
        yield "workload status", "no workload object was seen", STATUS
    elif current[-1].attrs.get("events") == "null":
        yield (
            "status events (fetch failed)",
            "the events of the status could not be fetched, so nothing follows from their absence",
            EVENTS if view.pods else HISTORY,
        )
    if root is None:
        return
    if not view.pods:
        yield "pods", "no pod of the workload was returned", PODS
    elif not _has_limits(view):
        yield "requested resources", "no request or limit of memory was returned", PODS
    if not _has_history(view) and root.category == "UNKNOWN":
        yield "history", "no history record within the lookback was seen", HISTORY
    spec = view.spec
    if spec is None:
        if root.category in ("UNKNOWN", "NODE_FAILURE"):
            yield "submitted spec", "restart policy, limits and mounts are not known", SPEC
    elif not number(spec.attrs, "has_spec"):
        yield "kind-specific spec", "the submitted spec was not part of the answer", SPEC


def _has_limits(view: View) -> bool:
    limited = [one for pod in view.pods.values() for one in pod.columns] + view.facts(
        "workload.spec"
    )
    return any("memory_limit" in one.attrs or "memory_request" in one.attrs for one in limited)


def _has_history(view: View) -> bool:
    if any(not number(one.attrs, "current") for one in view.phases):
        return True
    seen = [*view.own, *(one for pod in view.pods.values() for one in pod.seen)]
    return any(sample.tool == "get_workload_history" for one in seen for sample in one.samples)


def _of_cause(view: View, root: Failure) -> Iterator[tuple[str, str, str]]:
    if root.category == "OOM_KILLED" or root.exit_code == 137:
        yield from _of_memory(view)
    if root.category in ("UNKNOWN", "INIT_FAILED", "CRASH_APP_ERROR"):
        yield from _of_exit(view, root)
    if root.rule == "exit-unexplained":
        why = "exit 137 names no sender: kernel log, pod events and node conditions would"
        yield "cause of the SIGKILL", why, DESCRIBE
    if root.rule == "exit-consequence":
        why = "exit 143 follows from a request to end, and no record names who made it"
        yield "who or what stopped the workload", why, EVENTS
    elif view.phase == "Stopped" and root.category == "UNKNOWN":
        yield "who or what stopped the workload", "no stop request and no rule was seen", HISTORY
    if root.category == "NODE_FAILURE" and not _has_node_events(view, root):
        yield "node conditions", "no event of the node itself was seen", NODE
    if root.category == "IMAGE_PULL_FAILED" and not root.subcause:
        yield "registry error", "no event with the registry's own error was seen", EVENTS


def _of_memory(view: View) -> Iterator[tuple[str, str, str]]:
    measured = view.facts("workload.metrics") + _pod_metrics(view)
    if not measured:
        yield "observed memory peak", "no metrics answer was seen", METRICS
    elif not any("peak_bytes" in one.attrs for one in measured):
        why = "the metrics answer holds no sample, so no peak was observed"
        yield "observed memory peak", why, METRICS
    if not any("limit_bytes" in one.attrs for one in measured) and not _has_limits(view):
        yield "memory limit", "no limit was returned to compare with", SPEC


def _pod_metrics(view: View) -> list[Observation]:
    return [one for pod in view.pods.values() for one in pod.of("workload.metrics")]


def _of_exit(view: View, root: Failure) -> Iterator[tuple[str, str, str]]:
    kept_back = root.rule in ("configuration", "sandbox", "admission", "not-created", "own-limit")
    if root.exit_code < 0 and not kept_back:
        yield "exit code", "no record carries the exit code of the container", DESCRIBE
    told = any(one.signal.startswith("app.") for one in root.evidence)
    explained = ("exit-consequence", "probe-kill", "start-failed")
    if not told and not kept_back and root.rule not in explained:
        yield "container log", "no line of the container's own log was seen", LOGS


def _has_node_events(view: View, root: Failure) -> bool:
    pod = view.pods.get(root.pod)
    return bool(pod and view.on_nodes(pod)) or any(
        one.signal.startswith("node.") for one in root.evidence
    )
