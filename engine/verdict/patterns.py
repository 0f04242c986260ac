"""Which rows of the pattern catalog the evidence supports, and why the others are not.

One evaluation for all rows, a user's own included (facts, flare section 3): evidence that a later
success takes back, that an earlier event explains, or that lacks what it needs, is no evidence.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from engine.verdict.flare_view import (
    ABORTED,
    COMPLETED,
    SERVER,
    View,
    concerned,
    in_time,
    moments,
    succeeded_at,
)
from matchers.catalog import Pattern
from schemas.observation import Observation

EXPLAINED_WITHIN_MS = 300_000  # an order to stop explains what ends within five minutes
CONFIRMING = (
    "echo.task_failed",
    "echo.bad_result",
    "echo.job_failure_reported",
    "flare.executor_exception",
    "flare.trainer_gone",
)
UNANSWERED = ("flare.task_timeout", "flare.site_not_answering")
RESULTS = ("progress.result_received", "progress.result_accepted")
GOOD_END = "progress.controller_finished"
ABORT_ORDER = "cleanup.abort_command"
OWN_KILL = "cleanup.own_kill"
LAST_LOCAL_RANK = (
    150  # up to here a pattern says what went wrong in one place; then liveness begins
)

_COUNTER = re.compile(
    r"(?:bytes_done|bytes_sent|bytes_received|done_bytes|received|downloaded|progress)"
    r"[ =:]{1,3}([0-9]{1,18})"
)


class Support(Struct, frozen=True, kw_only=True):
    """A pattern with the evidence that holds. `indirect`: nothing of it is direct."""

    pattern: Pattern
    evidence: tuple[Observation, ...]
    indirect: bool

    @property
    def first_ms(self) -> int:
        """When the trouble began."""
        return self.evidence[0].first_ms

    @property
    def sites(self) -> frozenset[str]:
        """Everybody the evidence is about."""
        return frozenset(name for item in self.evidence for name in concerned(item))


class Rejected(Struct, frozen=True, kw_only=True):
    """A pattern whose signals were there and did not count, and why."""

    pattern: Pattern
    why: str
    kind: str  # cancelled, explained, needs, rival, mode, completed
    evidence: tuple[Observation, ...]


def evaluate(
    view: View, pool: Sequence[Observation], patterns: Iterable[Pattern]
) -> tuple[list[Support], list[Rejected]]:
    """The patterns that `pool` supports, in catalog order, and those that it only seems to."""
    supports: list[Support] = []
    rejected: list[Rejected] = []
    for pattern in patterns:
        named = {*pattern.direct, *pattern.indirect}
        present = [item for item in pool if item.signal in named and _counts(pattern, item)]
        if pattern.status == "draft" or not present:
            continue
        if view.mode != "ambiguous" and view.mode not in pattern.modes:
            why = "the pattern does not exist in this runtime mode"
            rejected.append(_rejected(pattern, why, "mode", present))
            continue
        held, refusals = _held(pattern, present, pool, view)
        rejected += refusals
        if held:
            direct = any(item.signal in pattern.direct for item in held)
            supports.append(Support(pattern=pattern, evidence=in_time(held), indirect=not direct))
    return supports, rejected


def _rejected(pattern: Pattern, why: str, kind: str, items: Sequence[Observation]) -> Rejected:
    return Rejected(pattern=pattern, why=why, kind=kind, evidence=in_time(items))


def _counts(pattern: Pattern, item: Observation) -> bool:
    if item.suspicious or item.attrs.get("echo"):
        return False
    return not any(item.attrs.get(name) in values for name, values in pattern.not_attrs.items())


def _held(
    pattern: Pattern, present: Sequence[Observation], pool: Sequence[Observation], view: View
) -> tuple[list[Observation], list[Rejected]]:
    rivals = [item for item in pool if item.signal in pattern.not_with]
    if rivals:
        why = "a signal is there that rules it out"
        return [], [_rejected(pattern, why, "rival", rivals)]
    held: list[Observation] = []
    refused: dict[tuple[str, str], list[Observation]] = {}
    for item in present:
        refusal = _refusal(pattern, item, pool, view)
        if refusal is None:
            held.append(item)
        else:
            refused.setdefault(refusal, []).append(item)
    return held, [
        _rejected(pattern, why, kind, items) for (kind, why), items in sorted(refused.items())
    ]


def _refusal(
    pattern: Pattern, item: Observation, pool: Sequence[Observation], view: View
) -> tuple[str, str] | None:
    """Why this piece of evidence does not count, or None when it does."""
    if _is_cancelled(pattern, item, pool):
        return "cancelled", "a later success takes it back"
    if _is_explained(pattern, item, pool) or _was_aborted(pattern, item, pool, view):
        return "explained", "it follows from what happened there just before"
    if not _needs_met(pattern, item, pool):
        return "needs", "what the pattern needs beside it was not seen at that time"
    if (
        not pattern.survives_success
        and _ended_well(view, pool, item)
        and not _confirmed(item, pool)
    ):
        return "completed", "the job ended well and nothing confirms a failure there"
    return None


def _is_cancelled(pattern: Pattern, item: Observation, pool: Sequence[Observation]) -> bool:
    names = pattern.cancelled_only_by.get(item.signal, pattern.cancelled_by)
    sites = set(concerned(item))
    return any(
        good.signal in names
        and good.last_ms > item.last_ms
        and (pattern.cancelled_anywhere or bool(sites & set(succeeded_at(good))))
        for good in pool
    )


def _is_explained(pattern: Pattern, item: Observation, pool: Sequence[Observation]) -> bool:
    return any(
        cause.signal in pattern.explained_by
        and cause.where.site == item.where.site
        and any(0 <= item.first_ms - at <= EXPLAINED_WITHIN_MS for at in moments(cause))
        for cause in pool
    )


def _was_aborted(
    pattern: Pattern, item: Observation, pool: Sequence[Observation], view: View
) -> bool:
    """Whether a job that ended as aborted had been told to stop when its process was killed.

    The job record is a witness of its own; it explains no kill that came before the order.
    """
    if view.status != ABORTED or OWN_KILL not in pattern.explained_by:
        return False
    orders = [order.first_ms for order in pool if order.signal == ABORT_ORDER]
    return not orders or min(orders) <= item.first_ms


def _needs_met(pattern: Pattern, item: Observation, pool: Sequence[Observation]) -> bool:
    only = pattern.needs_for.get(item.signal)
    groups = [only] if only is not None else pattern.needs
    sites = set(concerned(item))
    since = item.first_ms - pattern.needs_within_ms if pattern.needs_within_ms else None
    return all(
        any(
            witness.signal in names
            and (not sites or witness.where.site in sites | {SERVER, ""})
            and (since is None or _seen_since(witness, since))
            for witness in pool
        )
        for names in groups
    )


def _seen_since(witness: Observation, since: int) -> bool:
    """Whether it was seen from then on; a counter must have grown, a frozen one is no progress."""
    counted = [
        (sample.time_ms, int(found[1]))
        for sample in witness.samples
        if (found := _COUNTER.search(sample.text)) is not None
    ]
    if len(counted) < 2:
        return witness.last_ms >= since
    grown = [at for (_, low), (at, high) in pairwise(counted) if high > low]
    if not grown:
        return False
    return (witness.last_ms if witness.count > len(counted) else grown[-1]) >= since


def _ended_well(view: View, pool: Sequence[Observation], item: Observation) -> bool:
    """By the job's record; without one, by the workflow's own good end after the evidence."""
    if view.status:
        return view.status == COMPLETED
    return any(good.signal == GOOD_END and good.last_ms > item.last_ms for good in pool)


def _confirmed(item: Observation, pool: Sequence[Observation]) -> bool:
    """Whether the task failed there as others saw it: they say so, or waited for it in vain."""
    sites = set(concerned(item))
    later = [other for other in pool if other.last_ms >= item.first_ms]
    if any(o.signal in CONFIRMING and sites & set(concerned(o)) for o in later):
        return True
    answered = any(o.signal in RESULTS and sites & set(succeeded_at(o)) for o in later)
    return not answered and any(o.signal in UNANSWERED for o in later)


def choose(supports: Sequence[Support], accused: Sequence[str]) -> Support | None:
    """The support that decides (facts, flare section 3): by rank, causes before their consequences.

    `accused` are the sites whose results the server refused: where they have a cause of their own,
    a cause elsewhere is a consequence. What the server shows later than a site is one, too.
    """
    candidates = list(supports)
    if not candidates:
        return None
    local = [s for s in candidates if s.pattern.rank <= LAST_LOCAL_RANK and not s.indirect]
    if local:
        first_on_site = min((s.first_ms for s in local if s.sites - {SERVER}), default=None)
        named = [s for s in local if s.sites & set(accused)]
        for other in supports:
            on_server = other.sites <= {SERVER}
            follows = on_server and first_on_site is not None and other.first_ms > first_on_site
            elsewhere = bool(named) and other in local and other not in named and not on_server
            hint = other.indirect and other.pattern.rank <= LAST_LOCAL_RANK
            if follows or elsewhere or hint:
                candidates.remove(other)
    return min(candidates, key=lambda s: (s.pattern.rank, s.first_ms, s.pattern.name))
