"""Findings about the evidence of a FLARE job or site: injected text, missing or cut-off logs, mode.

Suspicious observations support nothing (seed 004, requirements); they are counted, quoted as the
detector excerpted them, and named with their source.
"""

from collections.abc import Iterable

from engine.verdict.flare_view import View
from schemas.diagnosis import Finding
from schemas.observation import Observation

EXCERPT_KEPT = 200
FINDINGS_KEPT = 16
SUSPICIOUS_LOG_CONTENT = "SUSPICIOUS_LOG_CONTENT"
PARTIAL_LOG_VISIBILITY = "PARTIAL_LOG_VISIBILITY"
LOGS_TRUNCATED = "LOGS_TRUNCATED"
MODE_AMBIGUOUS = "MODE_AMBIGUOUS"


def findings_of(view: View, required: Iterable[str]) -> tuple[Finding, ...]:
    """All findings; `required` are the sites whose own records the verdict needs."""
    found = list(suspicious(view.suspicious))
    unseen = sorted(set(view.denied) | (set(required) & set(view.missing)))
    found += [Finding(kind=PARTIAL_LOG_VISIBILITY, count=1, where=name) for name in unseen]
    found += [Finding(kind=LOGS_TRUNCATED, count=1, where=name) for name in view.truncated]
    if view.mode == "ambiguous":
        found.append(Finding(kind=MODE_AMBIGUOUS, count=1))
    return tuple(found[:FINDINGS_KEPT])


def suspicious(observations: Iterable[Observation]) -> list[Finding]:
    """One finding for each place and set of families, the most telling first."""
    found = [
        Finding(
            kind=SUSPICIOUS_LOG_CONTENT,
            families=_words(item, "families"),
            rules=_words(item, "rules"),
            score=_score(item),
            count=item.count,
            where=item.where.site or item.where.job,
            excerpt=item.samples[0].text[:EXCERPT_KEPT] if item.samples else "",
            evidence=tuple(sample.record_id for sample in item.samples),
        )
        for item in observations
    ]
    return sorted(found, key=lambda f: (-f.score, f.where, f.families, f.excerpt))[:FINDINGS_KEPT]


def _words(item: Observation, name: str) -> tuple[str, ...]:
    return tuple(part for part in str(item.attrs.get(name, "")).split(",") if part)


def _score(item: Observation) -> int:
    score = item.attrs.get("score", 0)
    return score if isinstance(score, int) else 0
