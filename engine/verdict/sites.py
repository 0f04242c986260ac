"""Who failed first, which sites a verdict is about, and what merely follows.

Facts, flare section 3: the root is looked for on sites before the server; transfer congestion,
partial logs and UNKNOWN blame nobody. A handshake error that names no site belongs to the only
site that never joined and whose connections failed in the same seconds (facts, flare 5).
"""

from collections.abc import Iterable, Sequence

from engine.verdict.flare_view import SERVER, View, about, concerned, in_time, is_site
from engine.verdict.patterns import RESULTS, Support
from schemas.diagnosis import Culprit, Echo
from schemas.observation import Observation

REFUSALS = ("flare.handshake_expired", "flare.handshake_refused", "flare.client_refused")
CONNECTING = ("flare.connect_retry", "flare.connect_failed")
JOINED = "progress.client_joined"
AWAITED = ("flare.site_not_answering", "flare.waiting_for_results")
SAME_SECONDS_MS = 10_000
CULPRITS_KEPT = 64
ECHOES_KEPT = 16


def culprits_of(support: Support, view: View, pool: Sequence[Observation]) -> tuple[Culprit, ...]:
    """Whom the evidence accuses; nobody where the pattern does not."""
    blames = support.pattern.blames
    if blames == "nobody" or (support.indirect and _names_nobody(support)):
        return ()
    if blames == "peer":
        return _as_culprits(_peers(support, view, pool))
    sites = {name for item in support.evidence if not is_nameless(item) for name in concerned(item)}
    sites |= refused(support, pool)
    return _as_culprits(sites - {SERVER} or sites)


def _names_nobody(support: Support) -> bool:
    """The scheduler's own lines say that sites are short, not which one is to blame."""
    return all(item.signal == "flare.resources_short" for item in support.evidence)


def _as_culprits(sites: Iterable[str]) -> tuple[Culprit, ...]:
    names = sorted(name for name in sites if name == SERVER or is_site(name))[:CULPRITS_KEPT]
    return tuple(Culprit(kind="server" if n == SERVER else "site", name=n) for n in names)


def is_nameless(item: Observation) -> bool:
    """Whether a line refuses somebody without saying whom."""
    return item.signal in REFUSALS and not about(item)


def refused(support: Support, pool: Sequence[Observation]) -> set[str]:
    """Whom the lines without a name refuse: who else is refused by name, else who knocked."""
    nameless = [item for item in support.evidence if is_nameless(item)]
    if not nameless:
        return set()
    others = [item for item in support.evidence if not is_nameless(item)]
    named = {name for item in others for name in concerned(item)} - {SERVER}
    return named if len(named) == 1 else knocking(nameless, pool)


def knocking(nameless: Sequence[Observation], pool: Sequence[Observation]) -> set[str]:
    """The one site that never joined and failed to connect in the same seconds; else nobody."""
    joined = {name for item in pool if item.signal == JOINED for name in concerned(item)}
    begin = min(item.first_ms for item in nameless) - SAME_SECONDS_MS
    end = max(item.last_ms for item in nameless) + SAME_SECONDS_MS
    undated = begin < 0  # a log without dates, read from a file: the rest has to be enough
    failing = {
        item.where.site
        for item in pool
        if item.signal in CONNECTING
        and (undated or (item.first_ms <= end and item.last_ms >= begin))
    }
    candidates = failing - joined - {SERVER, ""}
    return candidates if len(candidates) == 1 else set()


def _peers(support: Support, view: View, pool: Sequence[Observation]) -> set[str]:
    named = {name for item in support.evidence for name in about(item)}
    if named:
        return named
    speaking = {item.where.site for item in support.evidence} - {SERVER, ""}
    if speaking:
        lost_server = {i.where.site for i in support.evidence if _lost(i) == SERVER} - {SERVER}
        return {SERVER} if len(lost_server) > 1 and lost_server == speaking else speaking
    return awaited(view, pool)


def _lost(item: Observation) -> str:
    return str(item.attrs.get("target") or item.attrs.get("target2") or "")


def awaited(view: View, pool: Sequence[Observation]) -> set[str]:
    """The sites whose answer the server waited for: named, else those that gave no result."""
    named = {name for item in pool if item.signal in AWAITED for name in about(item)}
    if named:
        return named
    took_part = set(view.expected or view.seen) - {SERVER}
    answers: dict[str, int] = {}
    for item in pool:
        if item.signal in RESULTS:
            names = about(item) or (str(item.attrs.get("peer", "")),)
            for name in names:
                answers[name] = max(answers.get(name, 0), item.last_ms)
    silent = took_part - set(answers)
    if silent or not answers:
        return silent if answers else set()
    newest = max(answers.values())
    waits = [i.last_ms for i in pool if i.signal == "flare.task_timeout"]
    since = max((at for at in waits if at <= newest), default=0)
    late = {name for name in took_part if answers.get(name, 0) <= since}
    return late if late != took_part else set()


def accused(pool: Iterable[Observation]) -> tuple[str, ...]:
    """Sites whose result the server refused first: its cheapest pointer to the failing site."""
    refused = in_time(
        i for i in pool if i.signal in ("echo.bad_result", "echo.job_failure_reported")
    )
    return tuple(dict.fromkeys(name for item in refused for name in about(item)))


def echoes_of(pool: Sequence[Observation], used: Iterable[Observation]) -> tuple[Echo, ...]:
    """What followed from the first failure, named so that nobody has to chase it."""
    taken = set(map(id, used))
    found = [
        item
        for item in pool
        if id(item) not in taken and (item.signal.startswith("echo.") or item.attrs.get("echo"))
    ]
    return tuple(
        Echo(
            where=item.where.site or "unknown",
            signal=item.signal,
            text=item.samples[0].text if item.samples else "",
            time_ms=item.first_ms,
        )
        for item in in_time(found)[:ECHOES_KEPT]
    )
