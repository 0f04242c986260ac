"""The verdict over a Run:ai workload, or over a Kubernetes workload that Run:ai does not know.

Order of seed 000: preemption first, then the phase rule, then the strongest direct signal.
"""

from collections.abc import Mapping, Sequence

from engine.verdict import runai_report as report
from engine.verdict.common import Context, Verdict
from engine.verdict.failures import PREEMPTED, Failure
from engine.verdict.gang import Attempt, attempts
from engine.verdict.missing import missing_evidence
from engine.verdict.occurrences import recurrence_of
from engine.verdict.workload_failures import all_failures, symptom
from engine.verdict.workload_state import TERMINAL, View, view_of
from schemas.diagnosis import Completeness, Family, Recommendation, Recurrence, Route, Subject
from schemas.observation import Observation

LEAVING = ("Deleting", "Terminating", "Stopping")  # on the way out: nothing to classify yet
WAITING = ("Pending", "Creating", "Initializing", "Resuming")


def judge_workload(observations: Sequence[Observation], context: Context) -> Verdict:
    """What the observations of one workload mean now. Same observations, same answer."""
    view = view_of(observations, context.rules)
    tries = attempts(view, all_failures(view))
    attempt = _latest(view, tries)
    root = attempt.root
    if root is not None and root.category == PREEMPTED and not _went_on(view, root):
        return _routed(view, context, "preempted", root.why, root.evidence)
    route = _route(view, root)
    if route is not None:
        name, why = route
        return _routed(view, context, name, why, ())
    if root is None:
        root = symptom(view)
        if root is None:
            return _routed(view, context, "running-no-symptom", "no failure was seen", ())
    return _classified(view, context, tries, attempt, root)


def _went_on(view: View, root: Failure) -> bool:
    """Whether the workload ran again, or ended well, after its preemption (OQ-14)."""
    return view.phase in ("Running", "Completed") and view.phase_ms > root.time_ms


def _latest(view: View, tries: Sequence[Attempt]) -> Attempt:
    """The attempt that the question is about: the last; while it only waits, the one before."""
    last = tries[-1]
    if last.root is not None or view.phase not in WAITING:
        return last
    return next((one for one in reversed(tries) if one.root is not None), last)


def _route(view: View, root: Failure | None) -> tuple[str, str] | None:
    """The phase rule of seed 000 step 1; None: go on and classify."""
    phase = view.phase or _kubernetes_phase(view)
    if phase in ("Failed", "Stopped", "TimedOut"):
        return None
    if phase == "Preempted":
        return "preempted", "the phase is Preempted"
    if phase == "Completed":
        return "completed", "the phase is Completed: it ended well"
    if phase == "Suspended":
        return "suspended", "the phase is Suspended: paused, not failed"
    if phase in LEAVING:
        return "non-terminal-phase", f"the phase is {phase}"
    if root is not None and root.category != PREEMPTED:
        return None
    if phase == "Pending":
        return (
            "pending-scheduling",
            "the phase is Pending, and no direct signal of a failed pod was seen",
        )
    if phase == "Running":
        return "running-no-symptom", "the phase is Running, and no current failure is confirmed"
    return "non-terminal-phase", f"the phase is {phase or 'not known'}"


def _kubernetes_phase(view: View) -> str:
    """The phase of a workload without Run:ai, from its pods' STATUS and its controller's events."""
    if any(one.signal == "job.completed" for one in view.own):
        return "Completed"
    suspended = [one for one in view.own if one.signal == "job.suspended"]
    columns = [pod.column for pod in view.pods.values() if pod.columns]
    if suspended and not columns:
        return "Suspended"
    if columns and all(column == "Completed" for column in columns):
        return "Completed"
    if columns and all(column in ("Running", "Completed") for column in columns):
        return "Running"
    waiting = any(
        one.signal == "scheduling.waiting" for pod in view.pods.values() for one in pod.seen
    )
    if waiting and all(column in ("", "Pending", "SchedulingGated") for column in columns):
        return "Pending"
    return ""


def _classified(
    view: View, context: Context, tries: Sequence[Attempt], attempt: Attempt, root: Failure
) -> Verdict:
    sub = report.subcause_of(view, root)
    root = report.named(root, sub)
    row = context.rules.categories[root.category]
    gaps = missing_evidence(view, root, context.subject, _values(view, context.subject, root))
    alike = [one for one in attempt.echoes if one.category == root.category]
    shown = report.evidence(report.deciding(view, root, alike))
    counted = recurrence_of(
        view, tries, root.category, as_of_ms=context.as_of_ms, lookback_ms=context.lookback_ms
    )
    return Verdict(
        family=_family(context.subject),
        subject=context.subject,
        phase_or_status=_phase_shown(view),
        event_time_ms=root.time_ms,
        opened=True,
        resolved=False,
        summary=report.summary_of(view, root, sub),
        confidence=report.confidence_of(attempt, root, gaps),
        culprits=report.culprits_of(view, root),
        category=root.category,
        subcause=sub.name if sub is not None else None,
        recovery_owner=sub.owner if sub is not None else row.owner,
        reasons=report.reasons_of(root, shown),
        rivals=report.rivals_of(view, attempt, shown),
        evidence=shown,
        missing_evidence=gaps,
        findings=report.findings_of(view),
        recurrence=counted,
        completeness=_completeness(view),
        recommendations=report.recommendations_of(view, row, sub, recurring=counted.recurring),
        echoes=report.echoes_of(view, attempt),
    )


def _routed(
    view: View, context: Context, name: str, why: str, cause: Sequence[Observation]
) -> Verdict:
    """A workload that is no failure: where it belongs, shown by phase and cause."""
    row = context.rules.routes.get(name)
    supporting = [one for one in _everything(view) if row and one.signal in row.signals]
    shown = report.evidence([*cause, *supporting, *report.phase_evidence(view), *_conditions(view)])
    failed = bool(view.phases) and any(one.reason in TERMINAL for one in view.phases)
    gaps = missing_evidence(view, None, context.subject, _values(view, context.subject, None))
    return Verdict(
        family=_family(context.subject),
        subject=context.subject,
        phase_or_status=_phase_shown(view),
        event_time_ms=view.phase_ms or max((one.last_ms for one in _everything(view)), default=0),
        opened=name == "preempted" and view.phase in TERMINAL,
        resolved=name in ("completed", "running-no-symptom"),
        summary=f"{name}: {row.title if row else why}",
        confidence="high" if view.phases or failed else "medium",
        route=Route(name=name, reason=why),
        recovery_owner=row.owner if row else "",
        reasons=(report.because(f"route.{name}", name, why, cause, shown),),
        evidence=shown,
        missing_evidence=gaps,
        findings=report.findings_of(view),
        recurrence=_none_counted(name, context),
        completeness=_completeness(view),
        recommendations=(Recommendation(owner=row.owner, action=row.action),) if row else (),
    )


def _none_counted(name: str, context: Context) -> Recurrence:
    return Recurrence(
        category=name,
        count=0,
        recurring=False,
        lookback_s=context.lookback_ms // 1000,
        first_ms=0,
        last_ms=0,
    )


def _conditions(view: View) -> list[Observation]:
    return [one for one in view.facts("workload.condition") if one.attrs.get("status") == "True"]


def _everything(view: View) -> list[Observation]:
    return [*view.own, *(one for pod in view.pods.values() for one in pod.seen)]


def _family(subject: Subject) -> Family:
    return "runai" if subject.kind == "workload" else "kubernetes"


def _phase_shown(view: View) -> str:
    if view.phases:
        return str(view.phases[-1].attrs.get("phase", view.phase))
    columns = sorted({pod.column for pod in view.pods.values() if pod.columns})
    return ", ".join(columns[:4])


def _completeness(view: View) -> Completeness:
    expected = sorted({pod.name for pod in view.pods.values() if pod.name})
    seen = sorted({pod.name for pod in view.pods.values() if pod.name and pod.columns})
    return Completeness(expected=tuple(expected), seen=tuple(seen))


def _values(view: View, subject: Subject, root: Failure | None) -> Mapping[str, str]:
    """What fills a command: names of the failing pod, else of any pod of the workload."""
    pod = view.pods.get(root.pod) if root is not None else None
    if pod is None:
        pod = next((one for one in view.pods.values() if one.name), None)
    namespace = subject.namespace or (pod.namespace if pod else "")
    if not namespace and subject.project:
        namespace = f"runai-{subject.project}"  # the default mapping of seed 000 step 4
    return {
        "workload_id": subject.workload_id,
        "project": subject.project,
        "namespace": namespace,
        "pod": pod.name if pod else "",
        "container": root.container if root is not None else "",
        "node": sorted(pod.nodes)[0] if pod and pod.nodes else "",
    }
