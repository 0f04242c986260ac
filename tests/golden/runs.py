"""Where the golden files are, and how they come about."""

from pathlib import Path

from tests.fleet.scenarios import SCENARIOS, Fleet, Scenario, build
from tests.replaying import Replayed, as_lines, replay

FOLDER = Path(__file__).parent
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def golden_file(scenario: Scenario) -> Path:
    return FOLDER / scenario.name / "diagnoses.jsonl"


def run(fleet: Fleet) -> Replayed:
    """The whole fleet through the command, from standard input."""
    return replay("-", stdin=as_lines(fleet.records))


def build_named(name: str) -> Fleet:
    return build(BY_NAME[name])
