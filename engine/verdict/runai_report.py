"""What a verdict over a workload shows: evidence, reasons, rivals, confidence, what to do next."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from engine.verdict.common import evidence_per_topic
from engine.verdict.failures import CONSEQUENCE, DECISIVE, PREEMPTED, Failure, unique
from engine.verdict.gang import Attempt
from engine.verdict.workload_failures import SYMPTOMS
from engine.verdict.workload_state import SUSPICIOUS, Pod, View, number, phase_name
from matchers.catalog import Category, Subcause
from schemas.diagnosis import (
    Because,
    Confidence,
    Culprit,
    Echo,
    Evidence,
    Finding,
    Missing,
    Recommendation,
)
from schemas.observation import Observation

EVIDENCE_KEPT = 48
ECHOES_KEPT = 32
FINDINGS_KEPT = 16
EXCERPT_KEPT = 200
SUSPICIOUS_LOG_CONTENT = "SUSPICIOUS_LOG_CONTENT"
# What leaves the cause itself in doubt, whatever else is known.
WEIGHTY_GAPS = ("exit code", "container log", "registry error", "node conditions", "pods")


def subcause_of(view: View, root: Failure) -> Subcause | None:
    """The nearest cause within the category: the first whose signals are in the evidence."""
    row = view.rules.categories.get(root.category)
    if row is None:
        return None
    if root.subcause:
        return next((one for one in row.subcauses if one.name == root.subcause), None)
    seen = {one.signal for one in (*root.evidence, *_causes(view, root))}
    return next((one for one in row.subcauses if seen & set(one.signals)), None)


def _causes(view: View, root: Failure) -> list[Observation]:
    """What names a nearer cause of the root: on its pod, about its container, at that time."""
    row = view.rules.categories.get(root.category)
    named = {signal for one in (row.subcauses if row else ()) for signal in one.signals}
    pod = view.pods.get(root.pod)
    seen = pod.seen if pod else view.own
    if root.is_end:  # an end carries its own causes; what else the pod saw may be about another end
        near = [
            one for one in seen if one.first_ms - 600_000 <= root.time_ms <= one.last_ms + 60_000
        ]
        return [
            one
            for one in near
            if one.signal in named and one.where.container in ("", root.container)
        ]
    ids = {(one.detail, one.where.container) for one in root.evidence}
    return [one for one in seen if one.signal in named and (one.detail, one.where.container) in ids]


def deciding(view: View, root: Failure, alike: Iterable[Failure]) -> tuple[Observation, ...]:
    """Every observation that a reader needs to follow the verdict, the deciding ones first.

    `alike`: failures of other pods in the same category; the head of their evidence is shown too.
    """
    pod = view.pods.get(root.pod)
    found = [*root.evidence, *_causes(view, root)]
    found += [one for one in view.own if one.signal in SYMPTOMS]
    if pod is not None:
        found += pod.columns[-1:]
        found += [one for one in pod.columns if "memory_limit" in one.attrs][-1:]
    found += phase_evidence(view)
    found += [one for one in view.facts("workload.condition") if one.attrs.get("status") == "True"]
    found += [spec for spec in (view.spec,) if spec is not None]
    if root.category == "OOM_KILLED" or root.exit_code == 137:
        found += metrics_of(view, pod)
    found += [one for other in alike for one in other.evidence[:2]]
    records = {sample.record_id for one in root.evidence for sample in one.samples}
    found += [  # quoted so that a reader sees what was said; it supported nothing
        one for one in view.suspicious if any(s.record_id in records for s in one.samples)
    ]
    return unique(found)


def phase_evidence(view: View) -> list[Observation]:
    """The newest phase, once for each record that reported it."""
    return [
        one
        for one in view.phases
        if phase_name(one) == view.phase and one.first_ms >= view.phase_ms
    ]


def metrics_of(view: View, pod: Pod | None) -> list[Observation]:
    """Measured memory of the pod, else of the workload."""
    own = pod.of("workload.metrics") if pod is not None else []
    return own or view.facts("workload.metrics")


def evidence(observations: Iterable[Observation]) -> tuple[Evidence, ...]:
    """Observations as evidence: each record and topic once, however many signals it showed.

    One thing read from a second topic is a second witness: its id names the topic too.
    """
    found: dict[tuple[str, str, str], Evidence] = {}
    ids: set[str] = set()
    for one in observations:
        for piece in evidence_per_topic(one):
            key = (piece.id, piece.source.topic, piece.text)
            if key in found or not piece.text or len(found) >= EVIDENCE_KEPT:
                continue
            name = piece.id if piece.id not in ids else f"{piece.id}@{piece.source.topic}"
            while name in ids:
                name += "'"
            ids.add(name)
            found[key] = replace(piece, id=name)
    return tuple(found.values())


def confidence_of(attempt: Attempt, root: Failure, gaps: Sequence[Missing]) -> Confidence:
    """High for a direct signal of pod or kubelet; lower with gaps, low without a cause."""
    if root.category == "UNKNOWN" or (root.weight == CONSEQUENCE and attempt.echoes):
        return "low"
    if root.weight == CONSEQUENCE or any(one.what in WEIGHTY_GAPS for one in gaps):
        return "medium"
    direct = any(
        one.signal != "workload.phase" and one.samples and one.samples[0].tool != ""
        for one in root.evidence
    )
    return "high" if (direct and root.weight == DECISIVE) or root.exit_code > 0 else "medium"


def reasons_of(root: Failure, shown: Sequence[Evidence]) -> tuple[Because, ...]:
    """The rule that decided, and on what."""
    return (because(root.rule, root.category, root.why, root.evidence, shown),)


def because(
    rule: str,
    verdict: str,
    why: str,
    observations: Iterable[Observation],
    shown: Sequence[Evidence],
) -> Because:
    """A rule with what it said, and on which of the evidence shown."""
    return Because(rule=rule, verdict=verdict, why=why, evidence=_ids(observations, shown))


def rivals_of(view: View, attempt: Attempt, shown: Sequence[Evidence]) -> tuple[Because, ...]:
    """Near rivals of the root, and why each of them did not decide."""
    root, found = attempt.root, list[Because]()
    if root is None:
        return ()
    for one in attempt.failures:
        if one is root or one.category == root.category:
            continue
        why = _why_not(one, root)
        found.append(
            Because(
                rule=one.rule,
                verdict=f"not {one.category}",
                why=f"{one.why}, but {why}",
                evidence=_ids(one.evidence, shown),
            )
        )
    found += _no_oom(view, root)
    unique_ones = {(one.rule, one.verdict, one.why): one for one in found}
    return tuple(unique_ones.values())[:8]


def _why_not(one: Failure, root: Failure) -> str:
    if not one.current:
        return "it was overcome later"
    if one.weight == CONSEQUENCE:
        return "it looks like a consequence"
    if one.time_ms > root.time_ms:
        return "it came later"
    return "a stronger direct signal decides"


def _no_oom(view: View, root: Failure) -> Iterator[Because]:
    """Exit 137 invites to say OOM: say why not (facts, runai 7.6)."""
    if root.exit_code != 137 or root.category == "OOM_KILLED":
        return
    why = "exit 137 alone does not say OOM: no OOMKilled reason was seen"
    for one in metrics_of(view, view.pods.get(root.pod))[-1:]:
        if "peak_bytes" in one.attrs and "limit_bytes" in one.attrs:
            under = number(one.attrs, "peak_bytes") < number(one.attrs, "limit_bytes")
            why += ", and the sampled peak stayed under the limit" if under else ""
    yield Because(rule="oom-killed", verdict="not OOM_KILLED", why=why)


def _ids(observations: Iterable[Observation], shown: Sequence[Evidence]) -> tuple[str, ...]:
    known = {one.id for one in shown}
    ids = (sample.record_id for one in observations for sample in one.samples)
    return tuple(dict.fromkeys(one for one in ids if one in known))


def culprits_of(view: View, root: Failure) -> tuple[Culprit, ...]:
    """Who failed first."""
    pod = view.pods.get(root.pod)
    found: list[Culprit] = []
    if root.category == "NODE_FAILURE" and pod is not None:
        found += [Culprit(kind="node", name=name) for name in sorted(pod.nodes)]
    if pod is not None and root.category not in ("SCHEDULING_POLICY_TERMINATED", PREEMPTED):
        found.append(Culprit(kind="pod", name=pod.name))
        if root.container:
            found.append(Culprit(kind="container", name=root.container))
    return tuple(found)


def recommendations_of(
    view: View, row: Category, sub: Subcause | None, *, recurring: bool
) -> tuple[Recommendation, ...]:
    """What to do next: the nearer cause's advice first. Only ever catalog text."""
    found: list[Recommendation] = []
    action = row.action
    if row.retry_action and _restart_policy(view) == "OnFailure":
        action = row.retry_action
    if sub is not None and sub.action:
        found.append(Recommendation(owner=sub.owner or row.owner, action=sub.action))
    if sub is None or row.retry_action:
        found.append(Recommendation(owner=row.owner, action=action))
    if recurring and row.recurring_action:
        found.append(Recommendation(owner=row.owner, action=row.recurring_action))
    return tuple(found)


def _restart_policy(view: View) -> str:
    spec = view.spec
    policy = str(spec.attrs.get("restart_policy", "")) if spec is not None else ""
    if policy:
        return policy
    named = [one.attrs.get("restart_policy") for pod in view.pods.values() for one in pod.columns]
    return next((str(one) for one in reversed(named) if one), "")


def echoes_of(view: View, attempt: Attempt) -> tuple[Echo, ...]:
    """Failures of other pods that follow from the first one."""
    return tuple(
        Echo(
            where=view.pods[one.pod].name,
            signal=one.evidence[0].signal if one.evidence else one.rule,
            text=one.evidence[0].samples[0].text
            if one.evidence and one.evidence[0].samples
            else "",
            time_ms=one.time_ms,
        )
        for one in attempt.echoes
    )[:ECHOES_KEPT]


def findings_of(view: View) -> tuple[Finding, ...]:
    """Texts that try to instruct their reader: reported, and evidence for nothing."""
    found = [
        Finding(
            kind=SUSPICIOUS_LOG_CONTENT,
            families=_words(one, "families"),
            rules=_words(one, "rules"),
            score=number(one.attrs, "score"),
            count=one.count,
            where=one.where.pod or one.where.name or one.where.workload,
            excerpt=one.samples[0].text[:EXCERPT_KEPT] if one.samples else "",
            evidence=tuple(sample.record_id for sample in one.samples),
        )
        for one in view.suspicious
        if one.signal == SUSPICIOUS
    ]
    return tuple(sorted(found, key=lambda f: (-f.score, f.where, f.excerpt))[:FINDINGS_KEPT])


def _words(one: Observation, name: str) -> tuple[str, ...]:
    return tuple(part for part in str(one.attrs.get(name, "")).split(",") if part)


def summary_of(view: View, root: Failure, sub: Subcause | None) -> str:
    """One line: what, where, why."""
    pod = view.pods.get(root.pod)
    kind = "sidecar" if root.sidecar else "init container" if root.init else "container"
    place = f" in pod {pod.name}" if pod is not None and pod.name else ""
    if root.container:
        place += f", {kind} {root.container}"
    nearer = f" ({sub.title})" if sub is not None else ""
    return f"{root.category}{place}: {root.why}{nearer}"


def named(root: Failure, sub: Subcause | None) -> Failure:
    """The root with its nearer cause named."""
    return replace(root, subcause=sub.name) if sub is not None else root
