"""The words of a FLARE verdict: summary, next commands, missing evidence, reasons and rivals.

Advice is catalog text. What comes out of logs (names, files, exceptions) is bounded here, and put
into a command only when it is a plain name; else the command keeps its placeholder.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from engine.verdict.flare_view import View, in_time
from engine.verdict.patterns import Rejected, Support
from matchers.catalog import Pattern
from matchers.commands import fill
from schemas.diagnosis import Because, Culprit, Missing
from schemas.observation import Observation

WORD_KEPT = 120
SUMMARY_KEPT = 400
RIVALS_KEPT = 8
MISSING_KEPT = 8

_WORDLESS = re.compile(r"[\x00-\x1f\x7f]+")


def command(pattern: Pattern | None, view: View, *, site: str = "", since_ms: int = 0) -> str:
    """The pattern's next bounded, read-only command for the mode.

    While the mode is not known, the command of POC/production: its answer tells the mode, too.
    """
    if pattern is None:
        return ""
    row = pattern.command
    subject = view.context.subject
    return fill(
        row.simulation if view.mode == "simulation" else row.poc_production,
        {
            "job": subject.job_id,
            "site": site or subject.site,
            "workspace": _workspace(view),
            "since": _stamp(since_ms) if since_ms else "",
        },
    )


def _workspace(view: View) -> str:
    return min((i.where.workspace for i in view.own if i.where.workspace), default="")


def _stamp(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def word(value: object, limit: int = WORD_KEPT) -> str:
    """A value from a log as one bounded word of a sentence."""
    text = _WORDLESS.sub(" ", str(value)).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def names(culprits: Iterable[Culprit]) -> str:
    """Culprits as a list in words."""
    return ", ".join(word(culprit.name) for culprit in culprits)


def summary_of(support: Support, culprits: Sequence[Culprit], subcause: str | None) -> str:
    """One line: pattern, who, and what the evidence says nearest to the cause."""
    said = f"{support.pattern.name}"
    if culprits:
        said += f" at {names(culprits)}"
    said += f": {support.pattern.title}"
    nearest = _nearest(support.evidence)
    if nearest:
        said += f" ({nearest})"
    if subcause:
        said += f"; {subcause}"
    return said[:SUMMARY_KEPT]


def _nearest(evidence: Sequence[Observation]) -> str:
    """What was raised and where in the user's code, as far as the evidence says it."""
    for item in evidence:
        attrs = item.attrs
        parts = [word(attrs["exception"])] if attrs.get("exception") else []
        parts += [word(f"module {attrs['module']}")] if attrs.get("module") else []
        parts += [word(f"path {attrs['path']}")] if attrs.get("path") else []
        parts += [word(f"component {attrs['component']}")] if attrs.get("component") else []
        if attrs.get("user_file"):
            file = str(attrs["user_file"]).replace("\\", "/").rpartition("/")[2]
            place = f"in {file}"
            if attrs.get("user_function"):
                place += f", {attrs['user_function']}"
            if attrs.get("user_line"):
                place += f", line {attrs['user_line']}"
            parts.append(word(place))
        if parts:
            return ", ".join(parts)
    return ""


def rivals_of(
    winner: Support | None, supports: Sequence[Support], rejected: Sequence[Rejected]
) -> tuple[tuple[Because, ...], tuple[Observation, ...]]:
    """Named nearer patterns that did not win and why, and the first evidence of each."""
    won = winner.pattern.name if winner else ""
    found: dict[str, tuple[Because, Observation]] = {}
    for other in supports:
        name = other.pattern.name
        if winner is None:
            told = ("not proven", "the logs that it needs cannot be seen")
        elif other.pattern.rank > winner.pattern.rank:
            told = ("consequence or weaker", f"{won} decides before it")
        else:
            told = ("consequence or weaker", "a consequence, or only a hint beside it")
        if name != won:
            found.setdefault(name, (_because(name, *told, other.evidence), other.evidence[0]))
    for refusal in rejected:
        name = refusal.pattern.name
        because = _because(name, refusal.kind, refusal.why, refusal.evidence)
        if name != won:
            found.setdefault(name, (because, refusal.evidence[0]))
    kept = list(found.values())[:RIVALS_KEPT]
    return tuple(because for because, _ in kept), tuple(first for _, first in kept)


def _because(rule: str, verdict: str, why: str, evidence: Sequence[Observation]) -> Because:
    return Because(rule=rule, verdict=verdict, why=why, evidence=record_ids(evidence))


def reason(rule: str, why: str, evidence: Sequence[Observation]) -> Because:
    """The rule that holds, and on what."""
    return Because(rule=rule, verdict="holds", why=why, evidence=record_ids(evidence))


def record_ids(evidence: Iterable[Observation]) -> tuple[str, ...]:
    """The records that show it, first ones first."""
    ids = (item.samples[0].record_id for item in in_time(evidence) if item.samples)
    return tuple(dict.fromkeys(ids))[:8]


def missing_of(
    view: View, pattern: Pattern, sites: Sequence[str], why: str, since_ms: int
) -> tuple[Missing, ...]:
    """What would raise the confidence, each with the command that gets it."""
    if view.mode == "ambiguous":
        what = "the runtime mode: a job id, a startup kit or the path of a simulation's workspace"
        asked = command(view.rules.patterns.get("UNKNOWN"), view)
        return (Missing(what=what, why="commands and patterns depend on it", next_command=asked),)
    partial = view.rules.patterns.get("PARTIAL_LOG_VISIBILITY")
    found = [
        Missing(
            what=f"records of {word(name)}",
            why="the site took part and nothing of it was read",
            next_command=command(partial, view, site=name, since_ms=since_ms),
        )
        for name in view.missing
    ]
    found += [
        Missing(
            what=f"the whole log of {word(name)}",
            why="it was cut off",
            next_command=command(partial, view, site=name, since_ms=since_ms),
        )
        for name in view.truncated
    ]
    site = next(iter(sites), "")
    asked = command(pattern, view, site=site, since_ms=since_ms)
    if asked and asked not in {item.next_command for item in found}:
        found.append(
            Missing(what=why, why="it would confirm or refute the cause", next_command=asked)
        )
    return tuple(found[:MISSING_KEPT])
