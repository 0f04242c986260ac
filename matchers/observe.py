"""From one entry to the observations it makes: matched, inspected for injected text, redacted."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from msgspec.structs import replace

from matchers.injection import Suspicion, needs_look
from matchers.rules import ANCHOR, Rules
from schemas.entry import Entry, Origin, Value, Where
from schemas.observation import (
    CONTEXT_TEXT_KEPT,
    TEXT_KEPT,
    Observation,
    Sample,
    is_context,
)
from schemas.record import RawRecord
from schemas.sources.quote import quote

STRUCTURAL_EXEMPT = frozenset({"event", "log"})  # these facts speak only through signals
ATTRS_KEPT = 32
VALUE_KEPT = 200
CACHED = 4096  # names and places recur: each is looked through once
NAME_KEPT = 253  # characters of a name, as Kubernetes bounds its own

SUSPICIOUS = "log.suspicious"


def origin_of(record: RawRecord) -> Origin:
    """Where a record was read, as its observations will say."""
    return Origin(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        in_file=bool(record.path),
    )


def observe(
    origin: Origin, entry: Entry, rules: Rules, drafts: Counter[str]
) -> Iterator[Observation]:
    """Every observation of one entry; matches of draft rows are only counted, in `drafts`.

    Lines that try to instruct their reader are taken out before matching, so that they can support
    nothing; where only such lines are left, what still matches is marked `suspicious`.
    """
    suspicions, calm = _suspicions(entry, rules)
    spoofed = "spoofed_identity" in entry.attrs
    for suspicion in suspicions:
        yield _suspicious(origin, entry, suspicion, rules)
    if spoofed:
        yield _suspicious(origin, entry, SPOOFED_IDENTITY, rules)
    judged = replace(entry, text=calm) if suspicions else entry
    base = _observation(origin, judged, rules)
    flagged = spoofed or (bool(suspicions) and not calm.strip())
    if entry.fact not in STRUCTURAL_EXEMPT:
        yield base
    for match in rules.match(judged):
        if match.is_draft:
            drafts[match.signal.id] += 1
            continue
        attrs = _safe_attrs({**entry.attrs, **match.attrs}, rules)
        yield replace(
            base,
            signal=match.signal.id,
            where=_safe_where(match.where, rules),
            detail=_told_apart_by(attrs) if entry.merge == "line" else base.detail,
            attrs=attrs,
            samples=_brief(base.samples) if is_context(match.signal.id) else base.samples,
            suspicious=flagged and bool(match.signal.phrases),
        )


_SAME_ON_EVERY_LINE = frozenset(
    {"run", "identity", "mode", "role", "peer_rc", "task_name", "task_id"}
)


def _told_apart_by(attrs: dict[str, Value]) -> str:
    """What makes two log lines of one signal at one place two things: the names that they name."""
    names = (name for name in sorted(attrs) if name not in _SAME_ON_EVERY_LINE)
    told = (f"{name}={attrs[name]}" for name in names if isinstance(attrs[name], str))
    return ";".join(told)[:VALUE_KEPT]


SPOOFED_IDENTITY = Suspicion(
    families=("spoofed-marker",),
    rules=("spoofed-context-prefix",),
    score=5,
    excerpt="",
)


def _suspicions(entry: Entry, rules: Rules) -> tuple[list[Suspicion], str]:
    """The suspicious lines of an entry, and its text without them."""
    found: list[Suspicion] = []
    calm: list[str] = []
    for line in entry.text.splitlines() if _can_be_suspicious(entry.text, rules) else ():
        suspicion = rules.detector.inspect(line, source=entry.source)
        if suspicion is None:
            calm.append(line)
        else:
            found.append(suspicion)
    for text in entry.unseen:
        suspicion = rules.detector.inspect(text, source=entry.source)
        if suspicion is not None:
            found.append(suspicion)
    return found, "\n".join(calm)


def _can_be_suspicious(text: str, rules: Rules) -> bool:
    """Whether the detector can find anything in `text`: it says itself what that takes."""
    anchored = any(ANCHOR in hit.owners for hit in rules.log_automaton.hits(text))
    return anchored or needs_look(text)


def _suspicious(origin: Origin, entry: Entry, suspicion: Suspicion, rules: Rules) -> Observation:
    base = _observation(origin, entry, rules)
    text = suspicion.excerpt or base.samples[0].text
    return replace(
        base,
        signal=SUSPICIOUS,
        merge="line" if entry.merge == "line" else "event",
        count=1,
        detail=",".join((*suspicion.families, *suspicion.rules)),
        reason=",".join(suspicion.families),
        attrs={
            "families": ",".join(suspicion.families),
            "rules": ",".join(suspicion.rules),
            "score": suspicion.score,
        },
        samples=(replace(base.samples[0], text=text[:TEXT_KEPT]),),
        suspicious=True,
    )


def _observation(origin: Origin, entry: Entry, rules: Rules) -> Observation:
    sample = Sample(
        record_id=entry.record_id,
        time_ms=entry.last_ms if entry.merge == "state" else entry.first_ms,
        text=shorten(rules.redactor.redact(quote(entry)), TEXT_KEPT),
        topic=origin.topic,
        partition=0 if origin.in_file else origin.partition,
        offset=origin.offset,
        tool=entry.tool,
        file=entry.where.file,
    )
    return Observation(
        signal=entry.fact,
        where=_safe_where(entry.where, rules),
        merge=entry.merge,
        first_ms=entry.first_ms,
        last_ms=entry.last_ms,
        count=entry.count,
        detail=_safe(entry.detail, rules),
        reason=_safe(entry.reason, rules),
        attrs=_safe_attrs(entry.attrs, rules),
        samples=(sample,),
        offsets=_counted(origin) if entry.merge == "line" else (),
    )


def _brief(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    return tuple(replace(s, text=shorten(s.text, CONTEXT_TEXT_KEPT)) for s in samples)


def _counted(origin: Origin) -> tuple[tuple[int, int], ...]:
    """The offsets that a count stands for; a file is read once, so its lines need no such mark."""
    return () if origin.in_file else ((origin.offset, origin.offset),)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: the head and the longer tail, which is where causes stand."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head]} … {text[len(text) - (limit - head - 3) :]}"


@lru_cache(maxsize=CACHED)
def _safe(text: str, rules: Rules) -> str:
    return rules.redactor.redact(text)[:VALUE_KEPT] if text else text


def _safe_attrs(attrs: dict[str, Value], rules: Rules) -> dict[str, Value]:
    kept = sorted(attrs)[:ATTRS_KEPT]
    return {
        name: _safe(value, rules) if isinstance(value, str) else value
        for name in kept
        for value in (attrs[name],)
    }


@lru_cache(maxsize=CACHED)
def _safe_where(where: Where, rules: Rules) -> Where:
    """The place with its names bounded and free of credentials."""
    changed: dict[str, str] = {}
    for name in where.__struct_fields__:
        value = getattr(where, name)
        if isinstance(value, str) and value:
            safe = rules.redactor.redact(value)[:NAME_KEPT]
            if safe != value:
                changed[name] = safe
    return replace(where, **changed) if changed else where
