"""The life of a subject's one incident: what is published when, and in which state."""

from hashlib import blake2s

from msgspec.structs import asdict, replace

from engine.ids import derive
from engine.state import Incident
from engine.verdict.common import Verdict
from schemas.codec import encode
from schemas.diagnosis import Diagnosis, State

SCHEMA = "diagnosis/1"

# (a trigger is confirmed, recovery is newer than the trouble, the subject is quiet) -> state
STATES: dict[tuple[bool, bool, bool], State] = {
    (True, False, False): "provisional",
    (True, False, True): "settled",
    (True, True, False): "resolved",
    (True, True, True): "resolved",
    (False, False, False): "withdrawn",
    (False, False, True): "withdrawn",
    (False, True, False): "withdrawn",
    (False, True, True): "withdrawn",
}
CLOSED = frozenset({"", "resolved", "withdrawn"})


def advance(
    incident: Incident | None,
    verdict: Verdict | None,
    *,
    subject_key: str,
    now_ms: int,
    quiet: bool,
    settle_ms: int,
    catalog_digest: str,
) -> tuple[Incident | None, Diagnosis | None]:
    """The incident after this verdict, and the revision to publish, if one is due.

    The first revision and every change of what a consumer acts on go out at once; a change of
    evidence alone at most once per `settle_ms`. `verdict` is None where nothing is left to say.
    """
    if incident is None and (verdict is None or not verdict.opened):
        return None, None
    before = incident or Incident(id=incident_id(subject_key))
    if verdict is None:
        return before, None
    state = STATES[verdict.opened, verdict.resolved, quiet]
    if state == "withdrawn" and before.state in CLOSED:
        return before, None
    acted_on, content = _digests(verdict, state)
    urgent = acted_on != before.verdict
    due = quiet or now_ms - before.published_ms >= settle_ms
    changed = content != before.content
    if not urgent and not (changed and due):
        return replace(before, pending=changed, event_ms=verdict.event_time_ms), None
    reopened = before.revision > 0 and before.state in CLOSED and state not in CLOSED
    after = replace(
        before,
        revision=before.revision + 1,
        state=state,
        content=content,
        verdict=acted_on,
        published_ms=now_ms,
        event_ms=verdict.event_time_ms,
        pending=False,
        opened=before.opened + reopened,
    )
    return after, diagnosis(verdict, after.id, after.revision, state, catalog_digest)


def incident_id(subject_key: str) -> str:
    """A subject has one incident: trouble that comes back opens it again."""
    return derive("incident", subject_key)


def diagnosis(
    verdict: Verdict, incident_id: str, revision: int, state: State, catalog_digest: str
) -> Diagnosis:
    """A verdict with the memory of its incident."""
    said = asdict(verdict)
    del said["opened"], said["resolved"]
    return Diagnosis(
        schema=SCHEMA,
        id=incident_id,
        revision=revision,
        state=state,
        catalog_digest=catalog_digest,
        **said,
    )


def _digests(verdict: Verdict, state: State) -> tuple[str, str]:
    acted_on = (
        state if state != "settled" else "provisional",
        verdict.category,
        verdict.matched_pattern,
        verdict.route.name if verdict.route else None,
        verdict.subcause,
        verdict.confidence,
        [(culprit.kind, culprit.name) for culprit in verdict.culprits],
        [finding.kind for finding in verdict.findings],
        verdict.recurrence.recurring if verdict.recurrence else None,
    )
    return _digest(encode(acted_on)), _digest(encode((state, verdict)))


def _digest(data: bytes) -> str:
    return blake2s(data, digest_size=8).hexdigest()
