"""What another catalog would have said about the same records, by subject."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from engine.report import subject_words, verdict_of
from schemas.codec import encode
from schemas.diagnosis import Confidence, Diagnosis, Subject


class Said(Struct, frozen=True, kw_only=True):
    """What one catalog says about a subject, as far as it is compared."""

    verdict: str
    confidence: Confidence
    subcause: str | None
    culprits: tuple[str, ...]
    count: int
    findings: tuple[str, ...]


class Change(Struct, frozen=True, kw_only=True):
    """A subject that the two catalogs see differently. Gained: only the other diagnoses it."""

    change: Literal["gained", "lost", "changed"]
    subject: Subject
    before: Said | None
    after: Said | None


def changes(before: Iterable[Diagnosis], after: Iterable[Diagnosis]) -> list[Change]:
    """The differences, by name of the subject; what both say alike is left out."""
    old = {_identity(item.subject): item for item in before}
    new = {_identity(item.subject): item for item in after}
    found: list[Change] = []
    for identity in sorted({*old, *new}):
        was, now = old.get(identity), new.get(identity)
        said_was, said_now = _said(was), _said(now)
        if said_was == said_now:
            continue
        subject = was.subject if was else now.subject if now else Subject(kind="workload")
        kind: Literal["gained", "lost", "changed"] = "changed"
        if was is None:
            kind = "gained"
        elif now is None:
            kind = "lost"
        found.append(Change(change=kind, subject=subject, before=said_was, after=said_now))
    return sorted(found, key=lambda item: (subject_words(item.subject), encode(item.subject)))


def _said(diagnosis: Diagnosis | None) -> Said | None:
    if diagnosis is None:
        return None
    return Said(
        verdict=verdict_of(diagnosis),
        confidence=diagnosis.confidence,
        subcause=diagnosis.subcause,
        culprits=tuple(f"{item.kind} {item.name}" for item in diagnosis.culprits),
        count=diagnosis.recurrence.count if diagnosis.recurrence else 0,
        findings=tuple(sorted({item.kind for item in diagnosis.findings})),
    )


def _identity(subject: Subject) -> tuple[str, ...]:
    if subject.kind == "job":
        return (subject.kind, subject.federation, subject.job_id)
    if subject.kind == "site":
        return (subject.kind, subject.federation, subject.site)
    name = subject.workload_id or subject.workload_name
    return (subject.kind, subject.cluster_id, subject.namespace * (not subject.workload_id), name)
