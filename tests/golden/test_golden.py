"""The fleet's diagnoses, byte for byte, and held against what the generator knows happened."""

from functools import cache

import pytest

from tests.fleet.scenarios import JOBS, SCENARIOS, WORKLOADS, Fleet, build
from tests.fleet.workloads import SECRET
from tests.golden.runs import BY_NAME, build_named, golden_file, run
from tests.replaying import Replayed

NAMES = [scenario.name for scenario in SCENARIOS]


@cache
def replayed(name: str) -> tuple[Fleet, Replayed]:
    fleet = build_named(name)
    return fleet, run(fleet)


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_out_is_what_came_out(name: str) -> None:
    _, answer = replayed(name)
    assert answer.output == golden_file(BY_NAME[name]).read_bytes(), "make golden, then review"


@pytest.mark.parametrize("name", NAMES)
def test_every_failure_is_found_and_no_other(name: str) -> None:
    fleet, answer = replayed(name)
    given: dict[str, str] = {}
    for diagnosis in answer.diagnoses:
        subject = diagnosis.subject.workload_id or diagnosis.subject.job_id
        route = f"route:{diagnosis.route.name}" if diagnosis.route else ""
        verdict = diagnosis.category or diagnosis.matched_pattern or route
        assert subject not in given, "one incident, one diagnosis"
        given[subject] = verdict
    happened = {subject: truth for subject, truth in fleet.truth.items() if truth}
    failures = {s: truth for s, truth in happened.items() if not truth.startswith("route:")}
    routed = {s: verdict for s, verdict in given.items() if verdict.startswith("route:")}
    assert {s: verdict for s, verdict in given.items() if s not in routed} == failures
    assert routed.items() <= happened.items(), "a route is no failure"


def test_a_storm_is_one_diagnosis_with_a_count() -> None:
    _, answer = replayed("storm")
    (diagnosis,) = (d for d in answer.diagnoses if d.matched_pattern == "CUDA_OOM")
    assert max(piece.count for piece in diagnosis.evidence) == 2_000
    assert len(answer.output) < 200_000


def test_a_credential_in_a_message_goes_nowhere() -> None:
    _, answer = replayed("hostile")
    assert SECRET.encode() not in answer.output


def test_the_generator_keeps_its_word() -> None:
    for scenario in SCENARIOS:
        fleet = build(scenario)
        assert len(fleet.truth) == WORKLOADS + JOBS
        assert fleet == build(scenario)
