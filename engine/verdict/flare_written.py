"""A FLARE verdict put together: culprits, confidence, evidence, what is missing, what to do."""

from collections.abc import Container, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.verdict import flare_words as words
from engine.verdict.common import Verdict, evidence_of
from engine.verdict.findings import PARTIAL_LOG_VISIBILITY, SUSPICIOUS_LOG_CONTENT, findings_of
from engine.verdict.flare_confidence import HOST_OOM, confidence_of, host_memory
from engine.verdict.flare_view import SERVER, View, concerned
from engine.verdict.health import Ending
from engine.verdict.patterns import Rejected, Support
from engine.verdict.sites import awaited, culprits_of, echoes_of
from matchers.catalog import Pattern
from schemas.diagnosis import (
    Because,
    Completeness,
    Confidence,
    Culprit,
    Evidence,
    Missing,
    Recommendation,
    Recurrence,
    Subject,
)
from schemas.observation import Observation

EVIDENCE_KEPT = 12
WEIGHED_KEPT = 4
NAMES_KEPT = 64
KILLED = "PROCESS_EXIT_NEG9"


class Written(Struct, frozen=True, kw_only=True):
    """What a verdict is written from: the view, all that was weighed, and what came of it."""

    view: View
    pool: tuple[Observation, ...]
    supports: tuple[Support, ...] = ()
    rejected: tuple[Rejected, ...] = ()


class _Told(Struct, frozen=True, kw_only=True):
    """What differs between verdicts: with a pattern's evidence, and without."""

    name: str
    summary: str
    why: str
    items: tuple[Observation, ...]
    pattern: Pattern | None
    culprits: tuple[Culprit, ...] = ()
    confidence: Confidence = "low"
    subcause: str | None = None
    missing: tuple[Missing, ...] = ()
    required: frozenset[str] = frozenset()
    resolved: bool = False
    failed: bool = True
    winner: Support | None = None


def write_pattern(written: Written, winner: Support, *, resolved: bool) -> Verdict:
    """The verdict that a supported pattern gives."""
    view, pattern = written.view, winner.pattern
    pool = tuple({id(i): i for i in (*written.pool, *_host_lines(view))}.values())
    culprits = culprits_of(winner, view, pool)
    confidence, doubt = confidence_of(winner, culprits, view, pool)
    subcause = _subcause(winner, pool)
    required = {culprit.name for culprit in culprits}
    if pattern.blames == "peer":
        required |= awaited(view, pool)
    sites = sorted(required) or sorted(winner.sites)
    since = _begin(winner.evidence, view)
    shown = (*winner.evidence, *host_memory(winner, pool)) if subcause else winner.evidence
    return _verdict(
        written,
        _Told(
            name=pattern.name,
            summary=words.summary_of(winner, culprits, subcause),
            why=pattern.why,
            items=(*shown, *_supporting(winner, culprits, pool)),
            pattern=pattern,
            culprits=culprits,
            confidence=confidence,
            subcause=subcause,
            missing=words.missing_of(view, pattern, sites, doubt, since) if doubt else (),
            required=frozenset(required),
            resolved=resolved,
            winner=winner,
        ),
    )


def write_plain(written: Written, name: str, *, why: str, ending: Ending | None = None) -> Verdict:
    """A verdict that no evidence pattern gives: partial logs, injected text, or unknown."""
    view = written.view
    pattern = view.rules.patterns.get(name)
    ending = ending or Ending(kind="failed", why=why)
    failed = ending.kind != "healthy"
    items = ending.evidence or tuple(i for s in written.supports for i in s.evidence)
    culprits: tuple[Culprit, ...] = ()
    if name == SUSPICIOUS_LOG_CONTENT:
        items = view.suspicious
        culprits = _source_of_text(view) if failed else ()
    sites = sorted(view.denied) or sorted(ending.sites) or sorted(view.missing)
    where = ", ".join(words.word(site) for site in sites[:8])
    summary = f"{name}: {pattern.title if pattern else why}; {ending.subcause or why}"
    begin = _begin(items, view)
    return _verdict(
        written,
        _Told(
            name=name,
            summary=(summary + (f" ({where})" if where else ""))[: words.SUMMARY_KEPT],
            why=why,
            items=items,
            pattern=pattern,
            culprits=culprits,
            subcause=ending.subcause or None,
            missing=_missing(view, pattern, sites, ending, begin),
            required=frozenset(sites if name == PARTIAL_LOG_VISIBILITY else ()),
            failed=failed,
        ),
    )


def _verdict(written: Written, told: _Told) -> Verdict:
    view, pattern = written.view, told.pattern
    rivals, weighed = words.rivals_of(told.winner, written.supports, written.rejected)
    evidence = _evidence(told.items, weighed)
    known = {piece.id for piece in evidence}
    accusing = told.winner.evidence if told.winner else told.items
    return Verdict(
        family="flare",
        subject=_subject(view),
        phase_or_status=view.status,
        event_time_ms=_begin(accusing, view),
        opened=True,
        resolved=told.resolved,
        summary=told.summary,
        confidence=told.confidence,
        mode=view.mode,
        culprits=told.culprits,
        matched_pattern=told.name,
        recovery_category=pattern.recovery_category if pattern else "UNKNOWN",
        subcause=told.subcause,
        recovery_owner=pattern.owner if pattern else "",
        reasons=_shown_by((words.reason(told.name, told.why, accusing),), known),
        rivals=_shown_by(rivals, known),
        evidence=evidence,
        missing_evidence=told.missing,
        findings=findings_of(view, told.required),
        recurrence=_recurrence(view, told.name, accusing) if told.failed else None,
        completeness=_completeness(view),
        recommendations=_advice(view, pattern),
        echoes=echoes_of(view.own, told.items) if told.failed else (),
    )


def _begin(items: Sequence[Observation], view: View) -> int:
    """When the trouble began; logs without dates are passed over for what has one."""
    times = [i.first_ms for i in items if i.first_ms > 0] or [
        i.first_ms for i in view.own if i.first_ms > 0
    ]
    return min(times, default=view.context.as_of_ms)


def _shown_by(reasons: Iterable[Because], known: Container[str]) -> tuple[Because, ...]:
    """Reasons that point only to evidence which is there to be read."""
    return tuple(
        replace(item, evidence=tuple(name for name in item.evidence if name in known))
        for item in reasons
    )


def _missing(
    view: View, pattern: Pattern | None, sites: Sequence[str], ending: Ending, begin: int
) -> tuple[Missing, ...]:
    if pattern is None:
        return ()
    if ending.kind == "healthy":
        site = next((i.where.site for i in view.suspicious if i.where.site), "")
        asked = words.command(pattern, view, site=site, since_ms=begin)
        why = "only its owner knows why it is printed"
        return (Missing(what="who writes the quoted text", why=why, next_command=asked),)
    what = "what ended the run"
    if ending.subcause == "trainer stopped without a word":
        what = "standard error of the trainer's process"
    elif ending.subcause == "process lost":
        what = "what ended the process on its host"
        pattern = view.rules.patterns.get(KILLED, pattern)
    elif ending.subcause == "never registered":
        what = "the validity dates of the site's certificate"
        pattern = view.rules.patterns.get("STARTUP_KIT_EXPIRED", pattern)
    found = words.missing_of(view, pattern, sites, what, begin)
    everything = words.command(view.rules.patterns.get(SUSPICIOUS_LOG_CONTENT), view)
    if ending.subcause or not everything or any(m.next_command == everything for m in found):
        return found
    why = "a cause stands at a site before it shows at the server"
    return (*found, Missing(what="the end of every site's log", why=why, next_command=everything))


def _subject(view: View) -> Subject:
    name = next((str(i.attrs["name"]) for i in view.having("job.meta") if i.attrs.get("name")), "")
    subject = view.context.subject
    return replace(subject, job_name=words.word(name)) if name and not subject.job_name else subject


def _host_lines(view: View) -> tuple[Observation, ...]:
    """What hosts say about killed processes belongs to no job: `host_memory` compares the times."""
    return tuple(item for item in view.around if item.signal == HOST_OOM)


def _subcause(winner: Support, pool: Sequence[Observation]) -> str | None:
    if winner.pattern.name != KILLED:
        return None
    if host_memory(winner, pool):
        return "the host killed it for memory"
    return "unexplained process loss"


def _supporting(
    winner: Support, culprits: Sequence[Culprit], pool: Sequence[Observation]
) -> tuple[Observation, ...]:
    names = {culprit.name for culprit in culprits} or set(winner.sites)
    return tuple(
        item
        for item in pool
        if item.signal in winner.pattern.supporting
        and not item.suspicious
        and names & set(concerned(item))
    )


def _evidence(items: Sequence[Observation], weighed: Sequence[Observation]) -> tuple[Evidence, ...]:
    """What decided, what supports it, then what was weighed and did not: each record once."""
    pieces: dict[str, Evidence] = {}
    for kept, among in ((EVIDENCE_KEPT, items), (EVIDENCE_KEPT + WEIGHED_KEPT, weighed)):
        for item in among:
            piece = evidence_of(item)
            if piece.id and piece.text and len(pieces) < kept:
                pieces.setdefault(piece.id, replace(piece, count=max(1, piece.count)))
    return tuple(pieces.values())


def _source_of_text(view: View) -> tuple[Culprit, ...]:
    """Where injected lines were written, when it is one place: the source, not the cause."""
    places = {item.where.site for item in view.suspicious if item.where.site}
    if len(places) != 1:
        return ()
    name = places.pop()
    return (Culprit(kind="server" if name == SERVER else "site", name=name),)


def _recurrence(view: View, name: str, evidence: Sequence[Observation]) -> Recurrence | None:
    """One job fails once, and one failed start-up is one, however often a loop repeats it."""
    if not evidence:
        return None
    return Recurrence(
        category=name,
        count=1,
        recurring=False,
        lookback_s=view.context.lookback_ms // 1000,
        first_ms=min(item.first_ms for item in evidence),
        last_ms=max(item.last_ms for item in evidence),
    )


def _completeness(view: View) -> Completeness:
    return Completeness(
        expected=view.expected[:NAMES_KEPT],
        seen=view.seen[:NAMES_KEPT],
        truncated=view.truncated[:NAMES_KEPT],
    )


def _advice(view: View, pattern: Pattern | None) -> tuple[Recommendation, ...]:
    if pattern is None:
        return ()
    injected = view.rules.patterns.get(SUSPICIOUS_LOG_CONTENT)
    found = [Recommendation(owner=pattern.owner, action=pattern.action)]
    if view.suspicious and injected is not None and injected.name != pattern.name:
        found.append(Recommendation(owner=injected.owner, action=injected.action))
    return tuple(found)
