"""How sure a FLARE verdict is: the confidence guidance of seed 004 and the clarifications in facts.

High: direct evidence from the affected site's own file, or an explicit refusal in structured
evidence. Medium: only the server speaks, something required is missing or cut off, or the signal
leaves more than one reading. Low: no pattern holds.
"""

from collections.abc import Sequence

from engine.verdict.flare_view import View
from engine.verdict.patterns import Support
from schemas.diagnosis import Confidence, Culprit
from schemas.observation import Observation

HOST_OOM = "flare.host_oom"


def confidence_of(
    support: Support, culprits: Sequence[Culprit], view: View, pool: Sequence[Observation]
) -> tuple[Confidence, str]:
    """The confidence, and what keeps it from being high ("" when nothing does)."""
    doubt = _doubt(support, culprits, view, pool)
    return ("medium", doubt) if doubt else ("high", "")


def _doubt(
    support: Support, culprits: Sequence[Culprit], view: View, pool: Sequence[Observation]
) -> str:
    names = {culprit.name for culprit in culprits}
    if support.indirect:
        return "a nearer look at what the signal only hints at"
    if view.mode == "ambiguous":
        return "the runtime mode"
    if any(item.attrs.get("cut") for item in support.evidence) or (
        {item.where.site for item in support.evidence} & set(view.truncated)
    ):
        return "the part of the log that was cut off"
    if names & set(view.missing):
        return "the log of the affected site"
    if support.pattern.name == "PROCESS_EXIT_NEG9" and not host_memory(support, pool):
        return "who sent the signal on that host"
    return _only_hearsay(support, names, pool)


def _only_hearsay(support: Support, names: set[str], pool: Sequence[Observation]) -> str:
    if support.pattern.blames == "nobody" or any(i.merge != "line" for i in support.evidence):
        return ""
    speakers = {item.where.site for item in support.evidence}
    if names & speakers:
        return ""
    if not names:
        return "whom the line is about"
    if support.pattern.blames == "peer":
        present = {item.where.site for item in pool}
        return "" if names <= present else "the log of the awaited site"
    known = {*support.pattern.direct, *support.pattern.indirect, *support.pattern.supporting}
    confirming = {item.where.site for item in pool if item.signal in known}
    return "" if names <= confirming else "the log of the site that the server speaks about"


def host_memory(support: Support, pool: Sequence[Observation]) -> tuple[Observation, ...]:
    """Evidence of the kernel or runtime that memory was why the process was killed."""
    begin, end = support.first_ms, max(item.last_ms for item in support.evidence)
    places = {item.where.site for item in support.evidence} | {""}
    return tuple(
        item
        for item in pool
        if item.signal == HOST_OOM
        and item.where.site in places
        and item.first_ms <= end + 600_000
        and item.last_ms >= begin - 600_000
    )
