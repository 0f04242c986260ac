"""What is known about one FLARE job or site, sorted out of the flat list of its observations.

Facts, flare 1.3 to 1.6: the site is where a record was read; a line can speak *about* another one.
Suspicious observations are kept apart here, so nothing behind this module can use them as evidence.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from engine.verdict.common import Context
from matchers.rules import Rules
from schemas.diagnosis import Mode
from schemas.observation import Observation

SERVER = "server"
PRESENCE = "stream.seen"
SUSPICIOUS = "log.suspicious"
STRUCTURED = ("job.meta", "job.deploy", "job.schedule", "job.submit", "site.logs")
FAILED = (
    "FINISHED:EXECUTION_EXCEPTION",
    "FINISHED:ABNORMAL",
    "FINISHED:CAN_NOT_SCHEDULE",
    "FINISHED:FAILED_TO_RUN",
    "FINISHED:ABANDONED",
)
COMPLETED = "FINISHED:COMPLETED"
ABORTED = "FINISHED:ABORTED"
WAITING = ("", "SUBMITTED", "APPROVED", "FINISHED:CAN_NOT_SCHEDULE")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,126}")
_NO_SITE = (
    frozenset(
        ("all", "any", "at", "client", "clients", "each", "every", "from", "it", "least", "local")
    )
    | frozenset(
        ("none", "other", "others", "peer", "reply", "response", "responses", "result", "results")
    )
    | frozenset(
        (
            "server",
            "site",
            "sites",
            "some",
            "task",
            "tasks",
            "the",
            "them",
            "this",
            "update",
            "updates",
        )
    )
)  # words of a log line that stand where a site's name can stand


class View(Struct, frozen=True, kw_only=True):
    """A job's or site's observations by kind. `own` is about the subject, `around` about its
    federation outside jobs; both without suspicious ones, in order of time."""

    context: Context
    rules: Rules
    mode: Mode
    status: str
    own: tuple[Observation, ...]
    around: tuple[Observation, ...]
    suspicious: tuple[Observation, ...]
    expected: tuple[str, ...]  # client sites that took part, and the server where it is named
    seen: tuple[str, ...]  # those whose own records are there
    denied: tuple[str, ...]  # named as not available, or left out of an answer for all sites
    truncated: tuple[str, ...]

    def having(self, *signals: str) -> tuple[Observation, ...]:
        """The subject's own observations of these signals, in order of time."""
        return tuple(item for item in self.own if item.signal in signals)

    @property
    def missing(self) -> tuple[str, ...]:
        """Sites that took part or were denied, and of which nothing was read."""
        wanted = {*self.expected, *self.denied}
        return tuple(sorted(wanted - set(self.seen)))


def in_time(observations: Iterable[Observation]) -> tuple[Observation, ...]:
    """In an order that depends on content alone."""
    return tuple(
        sorted(
            observations, key=lambda o: (o.first_ms, o.last_ms, o.signal, o.where.site, o.detail)
        )
    )


def about(observation: Observation) -> tuple[str, ...]:
    """The sites that a line speaks of by name, as its signal's groups say."""
    named = {
        str(value)
        for key, value in observation.attrs.items()
        if key.startswith("about") and is_site(str(value))
    }
    return tuple(sorted(named))


def is_site(name: str) -> bool:
    """Whether a word of a log line can be a site's name."""
    return _NAME.fullmatch(name) is not None and name.lower() not in _NO_SITE


def concerned(observation: Observation) -> tuple[str, ...]:
    """Whom an observation is about: the named sites, else the site whose record it is."""
    return about(observation) or ((observation.where.site,) if observation.where.site else ())


def succeeded_at(observation: Observation) -> tuple[str, ...]:
    """Whose success a progress witness shows: the server's lines carry it as `peer`."""
    peer = str(observation.attrs.get("peer", ""))
    if not about(observation) and observation.where.site == SERVER and is_site(peer):
        good = observation.attrs.get("peer_rc", "OK") in ("OK", "")
        return (peer,) if good else ()
    return concerned(observation)


def moments(observation: Observation) -> tuple[int, ...]:
    """The times at which it is known to have been seen."""
    times = {observation.first_ms, observation.last_ms}
    return tuple(sorted(times | {sample.time_ms for sample in observation.samples}))


def view_of(
    observations: Sequence[Observation],
    context: Context,
    belongs: Callable[[Observation], bool],
    mode: Mode,
) -> View:
    """Sort observations into a view; `belongs` tells the subject's own from what is around it."""
    ordered = in_time(observations)
    own = tuple(item for item in ordered if belongs(item))
    clean = tuple(item for item in own if not _is_suspicious(item))
    denied, truncated = _log_access(clean)
    return View(
        context=context,
        rules=context.rules,
        mode=mode,
        status=_status(clean),
        own=clean,
        around=tuple(i for i in ordered if not belongs(i) and not _is_suspicious(i)),
        suspicious=tuple(i for i in own if i.signal == SUSPICIOUS),
        expected=_expected(clean),
        seen=_seen(own),
        denied=denied,
        truncated=truncated,
    )


def _is_suspicious(observation: Observation) -> bool:
    return observation.suspicious or observation.signal == SUSPICIOUS


def _status(own: Iterable[Observation]) -> str:
    """The newest status of the job record; a final one is not taken back by an older kind."""
    metas = [item for item in own if item.signal == "job.meta" and item.reason]
    if not metas:
        return ""
    return max(metas, key=lambda m: (m.reason.startswith("FINISHED"), m.last_ms, m.reason)).reason


def _expected(own: Iterable[Observation]) -> tuple[str, ...]:
    found: set[str] = set()
    for item in own:
        if item.signal in ("job.meta", "progress.expected_sites"):
            names = re.findall(r"[A-Za-z0-9][A-Za-z0-9_-]*", str(item.attrs.get("sites", "")))
            found.update(name for name in names if name == SERVER or is_site(name))
        elif item.signal == "job.deploy" and item.where.site:
            found.add(item.where.site)
    return tuple(sorted(found))


def _seen(own: Iterable[Observation]) -> tuple[str, ...]:
    found = {
        item.where.site
        for item in own
        if item.where.site
        and (item.signal not in STRUCTURED or (item.signal == "site.logs" and _readable(item)))
    }
    return tuple(sorted(found))


def _readable(item: Observation) -> bool:
    return item.reason in ("available", "truncated")


def _log_access(own: Sequence[Observation]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sites whose logs were refused or left out, and those whose logs were cut off."""
    answers = [item for item in own if item.signal == "site.logs"]
    read = {item.where.site for item in own if item.where.site and item.signal not in STRUCTURED}
    read |= {item.where.site for item in answers if _readable(item)}
    denied = {i.where.site or i.detail for i in answers if not _readable(i)}
    if any(item.where.site == SERVER or item.detail == SERVER for item in answers):
        denied |= set(_expected(own)) - {SERVER}  # an answer for all sites lists all it has
    denied |= {name for i in own if i.signal == "echo.log_stream_broken" for name in about(i)}
    truncated = {item.where.site or item.detail for item in answers if item.reason == "truncated"}
    truncated |= {
        item.where.site
        for item in own
        if item.where.site and item.signal in STRUCTURED and item.attrs.get("truncated")
    }
    return tuple(sorted(denied - read - {""})), tuple(sorted(truncated - {""}))
