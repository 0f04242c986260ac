"""What is wrong with a workload as a whole: policies, claims, its controller, its own messages."""

from collections.abc import Iterator

from msgspec.structs import replace

from engine.verdict.ends import NAMES_EXIT, SAME_END_MS, End
from engine.verdict.failures import (
    CONSEQUENCE,
    PREEMPTED,
    Failure,
    failure,
    reading_of,
    unique,
)
from engine.verdict.pod_failures import failures_of, ran_after
from engine.verdict.workload_state import ENDED, TERMINAL, Pod, View, number, phase_name
from schemas.observation import Observation

NOBODY = Pod(key="")
SYMPTOMS = ("job.backoff_limit", "job.replicas_failed")


def all_failures(view: View) -> list[Failure]:
    """Every failure of the workload and its pods, recovered ones too, by time."""
    found = [one for pod in view.pods.values() for one in failures_of(view, pod)]
    found += _ended_by_others(view)
    found += _claims(view)
    found += _not_created(view)
    found += _said(view, found)
    return sorted(found, key=lambda one: (one.time_ms, -one.weight, one.category, one.pod))


def _ended_by_others(view: View) -> Iterator[Failure]:
    """Policies, requests to stop and preemptions, once per time of the workload."""
    why = "a rule or a request to stop ended the workload"
    yield from _by_spell(view, view.policies, ("SCHEDULING_POLICY_TERMINATED", "policy", why))
    routed = [one for one in view.own if one.signal in view.routed("preempted")]
    why = "the scheduler gave the workload's place to another one"
    yield from _by_spell(view, routed, (PREEMPTED, "preempted", why))


def _by_spell(
    view: View, causes: list[Observation], verdict: tuple[str, str, str]
) -> Iterator[Failure]:
    """Reports near each other are one; the workload's running again ends a spell."""
    category, rule, why = verdict
    spells: list[list[Observation]] = []
    for one in sorted(causes, key=lambda cause: cause.first_ms):
        if spells and not _alive_between(view, spells[-1][-1].first_ms, one.first_ms):
            spells[-1].append(one)
        else:
            spells.append([one])
    for spell in spells:
        yield Failure(
            category=category,
            rule=rule,
            why=why,
            time_ms=spell[0].first_ms,
            current=not ran_after(view, spell[-1].last_ms),
            evidence=unique(spell),
        )


def _alive_between(view: View, after_ms: int, until_ms: int) -> bool:
    return any(
        after_ms < one.first_ms <= until_ms and phase_name(one) == "Running" for one in view.phases
    )


def _claims(view: View) -> Iterator[Failure]:
    """A claim that cannot be bound; scheduling waits for it (OQ-03)."""
    named = view.named("DATASOURCE_MOUNT_FAILED")
    by_claim: dict[str, list[Observation]] = {}
    for one in view.own:
        if one.signal in named and one.where.kind:
            by_claim.setdefault(one.where.name, []).append(one)
    for claim, seen in sorted(by_claim.items()):
        bound = any(
            one.signal == "mount.claim_bound" and one.where.name == claim
            for one in view.own
            if one.last_ms >= seen[-1].last_ms
        )
        yield Failure(
            category="DATASOURCE_MOUNT_FAILED",
            rule="claim",
            why=f"the claim {claim} itself says that it cannot be bound",
            time_ms=seen[0].first_ms,
            current=not bound and not ran_after(view, seen[-1].last_ms),
            evidence=unique(seen),
        )


def _not_created(view: View) -> Iterator[Failure]:
    refused = [one for one in view.own if one.signal == "job.create_failed"]
    if refused:
        yield Failure(
            category="UNKNOWN",
            rule="not-created",
            why="the controller was not allowed to create the pods, which no category names",
            time_ms=refused[0].first_ms,
            current=not view.pods and not ran_after(view, refused[-1].last_ms),
            evidence=unique(refused),
        )


def _said(view: View, known: list[Failure]) -> Iterator[Failure]:
    """What phase messages and the workload's own status say where no pod says it."""
    for one in view.own:
        end = _message(view, one)
        if end is None or any(abs(f.time_ms - end.time_ms) <= SAME_END_MS for f in known):
            continue
        current = not ran_after(view, one.last_ms)
        yield replace(_as_failure(view, end), current=current)


def _as_failure(view: View, end: End) -> Failure:
    if end.oom:
        return failure(NOBODY, end, "OOM_KILLED", "oom-killed", "Run:ai names an OOM kill")
    if end.init:
        why = "Run:ai says that an init container failed"
        return failure(NOBODY, end, "INIT_FAILED", "init-failed", why)
    if end.reason == "image":
        why = "the workload's status names a failed image pull"
        found = failure(NOBODY, end, "IMAGE_PULL_FAILED", "image", why)
        return replace(found, is_end=False)
    if end.reason == "mount":
        why = "the workload's status names a failed mount"
        found = failure(NOBODY, end, "DATASOURCE_MOUNT_FAILED", "mount", why)
        return replace(found, is_end=False)
    if reading_of(view, end.exit_code) == "application":
        why = f"exit code {end.exit_code} without a system signal that explains it"
        return failure(NOBODY, end, "CRASH_APP_ERROR", "application-exit", why)
    why = f"exit {end.exit_code}, and nothing says where it came from"
    found = failure(NOBODY, end, "UNKNOWN", "exit-unexplained", why)
    return replace(found, weight=CONSEQUENCE)


def _message(view: View, one: Observation) -> End | None:
    base = End(time_ms=one.first_ms, container=one.where.container, evidence=(one,))
    if one.signal in view.named("OOM_KILLED"):
        return replace(base, oom=True)
    if one.signal in view.named("IMAGE_PULL_FAILED"):
        return replace(base, reason="image")
    if one.signal in view.named("DATASOURCE_MOUNT_FAILED") and not one.where.kind:
        return replace(base, reason="mount")
    code = number(one.attrs, "exit_code", -1)
    if one.signal == "runai.init_exit":
        return replace(base, init=True, exit_code=code)
    if one.signal in NAMES_EXIT and code > 0:
        return replace(base, exit_code=code)
    if one.signal == "workload.phase" and phase_name(one) not in ENDED[-1:]:
        return _status(view, one, base)
    return None


def _status(view: View, one: Observation, base: End) -> End | None:
    """The STATUS column that Run:ai shows for the workload itself."""
    shown = str(one.attrs.get("k8s_phase", ""))
    if not shown or shown == phase_name(one):
        return None
    named = {
        row.id
        for row in view.rules.signals.values()
        if shown in row.reasons and "pod_phase" in row.sources
    }
    if named & view.named("OOM_KILLED"):
        return replace(base, oom=True)
    if named & view.named("IMAGE_PULL_FAILED"):
        return replace(base, reason="image")
    if named & view.named("INIT_FAILED"):
        return replace(base, init=True)
    return None


def symptom(view: View) -> Failure | None:
    """The end of the workload, where nothing tells more than that it ended."""
    if view.phase not in TERMINAL:
        return None
    symptoms = [one for one in view.own if one.signal in SYMPTOMS]
    phases = [
        one
        for one in view.phases
        if phase_name(one) == view.phase and one.first_ms >= view.phase_ms
    ]
    return Failure(
        category="UNKNOWN",
        rule="phase-only",
        why=f"the workload is {view.phase}, and nothing that was seen says why",
        time_ms=view.phase_ms,
        weight=CONSEQUENCE,
        evidence=unique([*symptoms, *phases]),
    )
