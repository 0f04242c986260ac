"""Logs that FLARE itself wrote: each failed run gets its pattern, each healthy one gets none."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.codec import encode
from schemas.diagnosis import Diagnosis
from tests.replaying import replay
from tests.taxonomy import RECOVERY

RUNS = Path(__file__).parent / "data" / "flare-runs"
EXPECTED: dict[str, dict[str, Any]] = orjson.loads((RUNS / "expected.json").read_bytes())


@pytest.mark.parametrize("run", sorted(EXPECTED))
def test_real_run(run: str) -> None:
    replayed = replay(RUNS / run)
    assert replayed.exit_code == 0, replayed.errors
    expect = EXPECTED[run]
    faults = [
        *_patterns(replayed.diagnoses, expect),
        *_blamed(replayed.diagnoses, expect),
        *_flags(replayed.diagnoses, expect),
        *_user_code(replayed.diagnoses, expect),
    ]
    said = [encode(diagnosis).decode() for diagnosis in replayed.diagnoses]
    assert not faults, "\n".join(["; ".join(faults), *said])


def test_every_run_has_an_expectation() -> None:
    folders = {path.name for path in RUNS.iterdir() if path.is_dir()}
    assert folders - {"poc-session-parents"} == set(EXPECTED)


def test_a_session_of_many_jobs_blames_no_healthy_job() -> None:
    """The parents' log names the healthy job too; its return code there is 0."""
    (healthy,) = (path.name for path in (RUNS / "poc-healthy" / "server").iterdir())
    diagnoses = replay(RUNS / "poc-session-parents").diagnoses
    assert healthy not in {diagnosis.subject.job_id for diagnosis in diagnoses}


def test_all_runs_at_once_keep_apart() -> None:
    """Pointing the command at the whole folder finds what it finds run by run."""
    apart = {
        (run, diagnosis.matched_pattern)
        for run in EXPECTED
        for diagnosis in replay(RUNS / run).diagnoses
    }
    jobs = {
        diagnosis.subject.job_id: diagnosis.matched_pattern
        for run in EXPECTED
        if run.startswith("poc-")
        for diagnosis in replay(RUNS / run).diagnoses
        if diagnosis.subject.job_id
    }
    together = {
        diagnosis.subject.job_id: diagnosis.matched_pattern
        for diagnosis in replay(RUNS).diagnoses
        if diagnosis.subject.job_id
    }
    assert apart
    assert {job: together.get(job) for job in jobs} == jobs


def _patterns(diagnoses: Sequence[Diagnosis], expect: dict[str, Any]) -> list[str]:
    accepted = expect["accept_patterns"]
    if not diagnoses and None not in accepted:
        return [f"nothing was diagnosed, one of {accepted} is right"]
    faults = []
    for diagnosis in diagnoses:
        given = diagnosis.matched_pattern
        if given not in accepted or given is None:
            faults.append(f"{diagnosis.subject}: {given}, one of {accepted} is right")
        elif diagnosis.recovery_category != RECOVERY[given]:
            faults.append(f"{given} with {diagnosis.recovery_category}")
        if diagnosis.confidence not in expect.get("confidence", [diagnosis.confidence]):
            faults.append(f"confidence {diagnosis.confidence}")
    return faults


def _blamed(diagnoses: Sequence[Diagnosis], expect: dict[str, Any]) -> list[str]:
    if expect["blamed"] is None:
        return []
    given = {c.name for d in diagnoses for c in d.culprits if c.kind in {"site", "server"}}
    return (
        [] if given == set(expect["blamed"]) else [f"blamed {given}, {expect['blamed']} is right"]
    )


def _flags(diagnoses: Sequence[Diagnosis], expect: dict[str, Any]) -> list[str]:
    kinds = {finding.kind for diagnosis in diagnoses for finding in diagnosis.findings}
    missing = set(expect["also_flagged"]) - kinds
    faults = [f"finding {kind} is not there" for kind in sorted(missing)]
    if "SUSPICIOUS_LOG_CONTENT" in kinds and not expect["also_flagged"]:
        faults.append("ordinary output is called suspicious")
    return faults


def _user_code(diagnoses: Sequence[Diagnosis], expect: dict[str, Any]) -> list[str]:
    if "user_code" not in expect:
        return []
    file, function = expect["user_code"]["file"], expect["user_code"]["function"]
    named = re.compile(rf"\b{re.escape(file)}\b.*\b{re.escape(function)}\b", re.DOTALL)
    told = [text for diagnosis in diagnoses for text in _told(diagnosis)]
    return [] if any(named.search(text) for text in told) else [f"{file}, {function} is not named"]


def _told(diagnosis: Diagnosis) -> list[str]:
    actions = [recommendation.action for recommendation in diagnosis.recommendations]
    whys = [reason.why for reason in diagnosis.reasons]
    return [diagnosis.summary, *actions, *whys, *(piece.text for piece in diagnosis.evidence)]
