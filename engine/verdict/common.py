"""What a verdict is, and what it is made from."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from matchers.rules import Rules
from schemas.diagnosis import (
    Because,
    Completeness,
    Confidence,
    Culprit,
    Echo,
    Evidence,
    EvidenceSource,
    Family,
    Finding,
    Missing,
    Mode,
    Recommendation,
    Recurrence,
    Route,
    Subject,
)
from schemas.observation import Observation, Sample

DEFAULT_LOOKBACK_MS = 24 * 3600 * 1000
DEFAULT_STALL_MS = 30 * 60 * 1000


class Context(Struct, frozen=True, kw_only=True):
    """What a verdict may use beside the observations. Times in ms, UTC, by event time.

    `as_of_ms` ends the recurrence window. `final`: the input has ended or the subject is quiet, so
    what has not come will not be waited for (stall, missing logs).
    """

    subject: Subject
    as_of_ms: int
    rules: Rules
    lookback_ms: int = DEFAULT_LOOKBACK_MS
    stall_ms: int = DEFAULT_STALL_MS
    final: bool = False


class Verdict(Struct, frozen=True, kw_only=True):
    """What a state means now; a diagnosis without memory of its own (see `schemas.diagnosis`).

    `opened`: a confirmed trigger is there, so an incident exists; else it only answers a question.
    `resolved`: recovery evidence is newer than the trouble.
    """

    family: Family
    subject: Subject
    phase_or_status: str
    event_time_ms: int
    opened: bool
    summary: str
    confidence: Confidence
    mode: Mode | None = None
    resolved: bool = False
    culprits: tuple[Culprit, ...] = ()
    category: str | None = None
    matched_pattern: str | None = None
    recovery_category: str | None = None
    subcause: str | None = None
    recovery_owner: str = ""
    route: Route | None = None
    reasons: tuple[Because, ...] = ()
    rivals: tuple[Because, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    missing_evidence: tuple[Missing, ...] = ()
    findings: tuple[Finding, ...] = ()
    recurrence: Recurrence | None = None
    completeness: Completeness = Completeness()
    recommendations: tuple[Recommendation, ...] = ()
    echoes: tuple[Echo, ...] = ()


def evidence_of(observation: Observation, sample: Sample | None = None) -> Evidence:
    """One observation as a piece of evidence, shown by `sample` (its first one by default)."""
    shown = sample or (observation.samples[0] if observation.samples else None)
    where = observation.where
    return Evidence(
        id=shown.record_id if shown else "",
        signal=observation.signal,
        text=shown.text if shown else "",
        source=EvidenceSource(
            topic=shown.topic if shown else "",
            partition=shown.partition if shown else 0,
            offset=shown.offset if shown else 0,
            record_id=shown.record_id if shown else "",
            tool=shown.tool if shown else "",
            site=where.site,
            pod=where.pod,
            container=where.container,
            process=where.process,
            file=(shown.file if shown else "") or where.file,
        ),
        first_ms=observation.first_ms,
        last_ms=observation.last_ms,
        count=observation.count,
    )


def evidence_per_topic(observation: Observation) -> tuple[Evidence, ...]:
    """The same, once for each topic that reported it: two reports are two witnesses."""
    shown: dict[str, Sample] = {}
    for sample in observation.samples:
        shown.setdefault(sample.topic, sample)
    return tuple(evidence_of(observation, shown[topic]) for topic in sorted(shown))


def distinct(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Evidence with ids of its own: what shows the same text of the same record is one piece.

    A record that is shown twice (read from two topics, quoted in two ways) keeps its id the first
    time; the others are numbered, so that reasons always find the piece that they name.
    """
    pieces: dict[tuple[str, str, str], Evidence] = {}
    taken: dict[str, int] = {}
    for piece in evidence:
        key = (piece.id, piece.source.topic, piece.text)
        known = pieces.get(key)
        if known is not None:
            pieces[key] = replace(
                known,
                source=min(known.source, piece.source, key=_prefer),
                first_ms=min(known.first_ms, piece.first_ms),
                last_ms=max(known.last_ms, piece.last_ms),
                count=max(known.count, piece.count),
            )
            continue
        taken[piece.id] = number = taken.get(piece.id, 0) + 1
        pieces[key] = piece if number == 1 else replace(piece, id=f"{piece.id}~{number}")
    return tuple(pieces.values())


def _prefer(source: EvidenceSource) -> tuple[bool, str, int]:
    """FLARE writes an error to several files; the whole log shows what is around it."""
    return (not source.file.endswith("/log.txt"), source.file, source.offset)


ECHOES_KEPT = 16


def distinct_echoes(echoes: Iterable[Echo]) -> tuple[Echo, ...]:
    """Each echo once, the earliest first, and only so many that a reader still reads them."""
    first: dict[tuple[str, str, str], Echo] = {}
    for echo in sorted(echoes, key=lambda echo: (echo.time_ms, echo.where, echo.signal, echo.text)):
        first.setdefault((echo.where, echo.signal, echo.text), echo)
    return tuple(first.values())[:ECHOES_KEPT]
