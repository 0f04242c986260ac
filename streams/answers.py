"""Answers that are no verdict about a failure: the wrong cluster, a job that is well."""

from collections.abc import Sequence

from msgspec.structs import replace

from engine.ids import derive
from engine.incident import diagnosis
from engine.verdict.common import Verdict, evidence_of
from matchers.rules import Rules
from schemas.diagnosis import (
    Because,
    Diagnosis,
    Evidence,
    Recommendation,
    Route,
    Subject,
)
from schemas.observation import Observation


def cluster_mismatch(
    answer: Diagnosis, newest: Observation, *, asked: str, rules: Rules
) -> Diagnosis:
    """The workload is of another cluster: said, and not diagnosed (seed 000 step 1)."""
    found = answer.subject.cluster_id
    cited = replace(evidence_of(newest), text=f"clusterId={found}", count=1)
    why = f"The records of this workload come from cluster {found}; asked was cluster {asked}."
    return _routed(
        answer.subject,
        name="cluster-mismatch",
        status=answer.phase_or_status,
        why=why,
        evidence=(cited,),
        rules=rules,
    )


def nothing_wrong(subject: Subject, observations: Sequence[Observation], rules: Rules) -> Diagnosis:
    """A FLARE job that was asked about and shows no failure in what was read."""
    metas = [item for item in observations if item.signal == "job.meta"]
    newest = max(metas, key=lambda item: (item.last_ms, item.reason), default=None)
    status = newest.reason if newest else ""
    ended = status == "FINISHED:COMPLETED"
    why = "Its status says that it completed." if ended else "No record of it shows a failure."
    return _routed(
        subject,
        name="completed" if ended else "running-no-symptom",
        status=status or "not known",
        why=why,
        evidence=(evidence_of(newest),) if newest else (),
        rules=rules,
    )


def _routed(
    subject: Subject,
    *,
    name: str,
    status: str,
    why: str,
    evidence: tuple[Evidence, ...],
    rules: Rules,
) -> Diagnosis:
    row = rules.routes[name]
    verdict = Verdict(
        family="flare" if subject.kind in ("job", "site") else "runai",
        subject=subject,
        phase_or_status=status,
        event_time_ms=max((item.last_ms for item in evidence), default=0),
        opened=False,
        summary=f"{row.title}: no failure is diagnosed.",
        confidence="high",
        recovery_owner=row.owner,
        route=Route(name=name, reason=why),
        reasons=(
            Because(
                rule=f"route.{name}",
                verdict=name,
                why=why,
                evidence=tuple(item.id for item in evidence),
            ),
        ),
        evidence=evidence,
        recommendations=(Recommendation(owner=row.owner, action=row.action),),
    )
    answer_id = derive("answer", subject.cluster_id, subject.workload_id, subject.job_id, name)
    return diagnosis(verdict, answer_id, 1, "settled", rules.digest)
