"""What is published when, and in which state."""

import pytest
from msgspec.structs import replace

from engine.incident import STATES, advance
from engine.state import Incident
from engine.verdict.common import Verdict
from schemas.diagnosis import Diagnosis, Subject

BASE = Verdict(
    family="runai",
    subject=Subject(kind="workload", workload_id="w"),
    phase_or_status="Failed",
    event_time_ms=1_000,
    opened=True,
    summary="it failed",
    confidence="high",
    category="OOM_KILLED",
)


def step(
    incident: Incident | None, verdict: Verdict | None, now_ms: int = 1_000, *, quiet: bool = False
) -> tuple[Incident | None, Diagnosis | None]:
    return advance(
        incident,
        verdict,
        subject_key="workload\x1fc\x1fw",
        now_ms=now_ms,
        quiet=quiet,
        settle_ms=30_000,
        catalog_digest="d",
    )


def test_nothing_is_said_about_a_subject_without_trouble() -> None:
    assert step(None, replace(BASE, opened=False)) == (None, None)
    assert step(None, None) == (None, None)


def test_the_first_revision_goes_out_at_once_and_is_provisional() -> None:
    incident, output = step(None, BASE)
    assert incident is not None
    assert output is not None
    assert (output.revision, output.state, output.category) == (1, "provisional", "OOM_KILLED")


def test_the_same_verdict_again_is_not_said_again() -> None:
    incident, _ = step(None, BASE)
    assert step(incident, BASE) == (incident, None)


def test_evidence_alone_waits_for_the_settle_time() -> None:
    incident, _ = step(None, BASE)
    more = replace(BASE, summary="it failed, and more is known")
    waiting, output = step(incident, more, now_ms=2_000)
    assert output is None
    assert waiting is not None
    assert waiting.pending
    _, output = step(waiting, more, now_ms=31_001)
    assert output is not None
    assert output.revision == 2


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"category": "NODE_FAILURE"}, id="category"),
        pytest.param({"confidence": "low"}, id="confidence"),
        pytest.param({"subcause": "node-drain"}, id="subcause"),
    ],
)
def test_what_a_consumer_acts_on_goes_out_at_once(changed: dict[str, str]) -> None:
    incident, _ = step(None, BASE)
    _, output = step(incident, replace(BASE, **changed), now_ms=1_001)
    assert output is not None
    assert output.revision == 2


def test_a_quiet_subject_settles_once() -> None:
    incident, _ = step(None, BASE)
    settled, output = step(incident, BASE, now_ms=31_000, quiet=True)
    assert output is not None
    assert output.state == "settled"
    assert step(settled, BASE, now_ms=99_000, quiet=True)[1] is None


def test_recovery_resolves_and_new_trouble_opens_the_same_incident_again() -> None:
    incident, first = step(None, BASE)
    incident, output = step(incident, replace(BASE, resolved=True))
    assert output is not None
    assert output.state == "resolved"
    again, output = step(incident, BASE)
    assert output is not None
    assert first is not None
    assert again is not None
    assert (output.id, output.revision, again.opened) == (first.id, 3, 1)


def test_trouble_that_turns_out_to_be_none_is_withdrawn() -> None:
    incident, _ = step(None, BASE)
    withdrawn, output = step(incident, replace(BASE, opened=False))
    assert output is not None
    assert output.state == "withdrawn"
    assert step(withdrawn, replace(BASE, opened=False))[1] is None


def test_every_combination_has_a_state() -> None:
    assert len(STATES) == 8
