"""The verdict about a FLARE job or site: seed 004 (catalog and rules), facts, flare section 3.

Consequences are set aside, then the first pattern with direct evidence decides, from records of
that job; sites come before the server. A job that could not start takes its cause from what is
open at the federation's sites.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from engine.verdict.common import Context, Verdict
from engine.verdict.flare_mode import in_job, mode_of_job, mode_of_site
from engine.verdict.flare_view import (
    COMPLETED,
    FAILED,
    SERVER,
    SUSPICIOUS,
    WAITING,
    View,
    concerned,
    view_of,
)
from engine.verdict.flare_written import Written, write_pattern, write_plain
from engine.verdict.health import FAILURE_ECHOES, STARTED, Ending, ending_of
from engine.verdict.patterns import LAST_LOCAL_RANK, Rejected, Support, choose, evaluate
from engine.verdict.sites import JOINED, accused, is_nameless, refused
from schemas.observation import Observation

PARTIAL = "PARTIAL_LOG_VISIBILITY"
INJECTED = "SUSPICIOUS_LOG_CONTENT"
UNKNOWN = "UNKNOWN"
ROUND_TIMEOUT = "ROUND_TIMEOUT"
NEAR_MS = 600_000  # what sites say outside jobs counts for a job within ten minutes of its records


def judge_job(observations: Sequence[Observation], context: Context) -> Verdict | None:
    """What went wrong with a job, or None when there is nothing to say."""
    belongs = in_job(observations, context.subject.job_id)
    mode = mode_of_job([item for item in observations if belongs(item)])
    view = view_of(observations, context, belongs, mode)
    pool = view.own
    supports, rejected = evaluate(view, pool, view.rules.patterns.values())
    if not supports and _looks_outside(view):
        pool = (*view.own, *_near(view))
        openers = [p for p in view.rules.patterns.values() if p.opens_site]
        supports, _ = evaluate(view, pool, openers)
    winner = choose(supports, accused(view.own))
    written = Written(view=view, pool=pool, supports=tuple(supports), rejected=tuple(rejected))
    if winner is None:
        return _without_pattern(written)
    if winner.pattern.name == ROUND_TIMEOUT and _only_the_server(winner) and view.denied:
        return write_plain(written, PARTIAL, why="what the server waited for cannot be read")
    return write_pattern(written, winner, resolved=view.status == COMPLETED)


def _looks_outside(view: View) -> bool:
    """Whether a job's cause may lie outside its records: it failed, or could not start."""
    return (
        view.status in FAILED
        or _is_blocked(view)
        or (view.status != COMPLETED and bool(view.having(*FAILURE_ECHOES)))
    )


def _is_blocked(view: View) -> bool:
    waits = view.having("flare.sites_short", "flare.resources_short")
    return view.status in WAITING and bool(waits) and not view.having(*STARTED)


def _near(view: View) -> tuple[Observation, ...]:
    """What the sites said outside jobs that can bear on this one.

    In time: at most ten minutes away from a job that ran; for one that could not start, anything
    before. In place: the job's own workspace, where that is among what is known.
    """
    workspaces = {item.where.workspace for item in view.own if item.where.workspace}
    around = [i for i in view.around if i.where.workspace in workspaces] or view.around
    dated = [item for item in view.own if item.first_ms > 0]
    if not dated:
        return tuple(around) if _is_blocked(view) else ()
    end = max(item.last_ms for item in dated) + NEAR_MS
    begin = 0 if _is_blocked(view) else min(item.first_ms for item in dated) - NEAR_MS
    return tuple(i for i in around if i.first_ms <= end and i.last_ms >= begin)


def _only_the_server(support: Support) -> bool:
    return {item.where.site for item in support.evidence} <= {SERVER, ""}


def _without_pattern(written: Written) -> Verdict | None:
    """Rules 0, 1, 15, 19 and 20: nothing in the catalog holds."""
    view = written.view
    ending = ending_of(view, list(written.rejected))
    explicit = ending.subcause == "explicit clean-up"
    if ending.kind == "failed" and not explicit:
        if view.suspicious:
            return write_plain(
                written, INJECTED, ending=ending, why="only injected text stands out"
            )
        if _lacks_logs(view, ending):
            why = "logs that are needed are missing"
            return write_plain(written, PARTIAL, ending=ending, why=why)
    if ending.kind in ("failed", "stalled", "reported"):
        return write_plain(written, UNKNOWN, ending=ending, why=ending.why)
    if view.suspicious:
        calm = Ending(kind="healthy")
        return write_plain(
            written, INJECTED, ending=calm, why="text in the logs instructs its reader"
        )
    return None


def _lacks_logs(view: View, ending: Ending) -> bool:
    """Rule 19: logs refused or left out; or some seen, and others of those who took part not."""
    partial = view.rules.patterns.get(PARTIAL)
    if partial is None or (view.mode != "ambiguous" and view.mode not in partial.modes):
        return False
    return bool(view.denied or (not ending.subcause and view.missing and view.seen))


def judge_site(observations: Sequence[Observation], context: Context) -> Verdict | None:
    """What keeps a site or the server from taking part, or None when there is nothing to say."""
    site = context.subject.site
    outside = [item for item in observations if not item.where.job]

    def belongs(item: Observation) -> bool:
        return item.where.site == site

    mode = mode_of_site([item for item in outside if belongs(item)])
    view = view_of(outside, context, belongs, mode)
    pool = (*view.own, *view.around)
    openers = [p for p in view.rules.patterns.values() if p.opens_site]
    supports, rejected = evaluate(view, pool, openers)
    mine = [own for one in supports if (own := _narrowed(one, site, pool)) is not None]
    refused = tuple(r for r in rejected if _is_about(r, site))
    winner = choose(mine, ())
    written = Written(view=view, pool=pool, supports=tuple(mine), rejected=refused)
    if winner is not None:
        if winner.pattern.rank > LAST_LOCAL_RANK and site != SERVER and _server_is_down(supports):
            return None  # a consequence of what the server's own diagnosis says
        return write_pattern(written, winner, resolved=False)
    if view.suspicious:
        calm = Ending(kind="healthy")
        return write_plain(
            written, INJECTED, ending=calm, why="text in the logs instructs its reader"
        )
    if _never_registered(view, site) and not _server_is_down(supports):
        ending = Ending(
            kind="failed",
            subcause="never registered",
            why="it was started, and the server took others in but not this one",
        )
        return write_plain(written, UNKNOWN, ending=ending, why=ending.why)
    return None


def _narrowed(support: Support, site: str, pool: Sequence[Observation]) -> Support | None:
    """The part of the evidence that is about one site.

    What the server says about nobody, or about a site of which there is no record, is told there.
    """
    present = {item.where.site for item in pool}
    whom = refused(support, pool)
    kept = tuple(
        item
        for item in support.evidence
        for sites in (whom if is_nameless(item) else set(concerned(item)),)
        if site in sites or (site == SERVER == item.where.site and not sites & present)
    )
    if not kept:
        return None
    direct = any(item.signal in support.pattern.direct for item in kept)
    return replace(support, evidence=kept, indirect=not direct)


def _is_about(refusal: Rejected, site: str) -> bool:
    return any(site in concerned(item) for item in refusal.evidence)


def _server_is_down(supports: Sequence[Support]) -> bool:
    return any(s.pattern.rank <= LAST_LOCAL_RANK and SERVER in s.sites for s in supports)


def _never_registered(view: View, site: str) -> bool:
    """Facts, flare 5: 2.9 swallows why; the site is silent and only its absence shows."""
    if site == SERVER or not view.context.final:
        return False
    joined = {n for item in view.around if item.signal == JOINED for n in concerned(item)}
    joined |= {n for item in view.own if item.signal == JOINED for n in concerned(item)}
    watched = any(item.signal == "progress.server_started" for item in view.around)
    knocked = bool(view.having("flare.connect_retry", "flare.connect_failed"))
    short = any(item.signal == "flare.sites_short" for item in view.around)
    working = any(item.signal.startswith("progress.") for item in view.own)
    present = any(item.signal != SUSPICIOUS for item in view.own)
    return (
        watched
        and present
        and site not in joined
        and not working
        and (knocked or short or bool(joined))
    )
