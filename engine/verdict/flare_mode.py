"""Simulation, POC/production, or not known (facts, flare 1.4 and "Mode" in the clarifications)."""

from collections.abc import Callable, Sequence

from engine.verdict.flare_view import STRUCTURED
from schemas.diagnosis import Mode
from schemas.observation import Observation

SIMULATION: Mode = "simulation"
PRODUCTION: Mode = "poc_production"


def simulated_workspaces(observations: Sequence[Observation]) -> frozenset[str]:
    """Workspaces of which some record witnesses a simulator run."""
    return frozenset(
        item.where.workspace
        for item in observations
        if item.where.workspace and item.attrs.get("mode") == SIMULATION and not item.where.job
    )


def in_job(observations: Sequence[Observation], job_id: str) -> Callable[[Observation], bool]:
    """Whether an observation is the job's own: by its id, or as a site folder of its simulation."""
    simulated = {w for w in simulated_workspaces(observations) if _last(w) == job_id}

    def belongs(item: Observation) -> bool:
        return item.where.job == job_id or (
            not item.where.job and item.where.workspace in simulated
        )

    return belongs


def _last(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def mode_of_job(own: Sequence[Observation]) -> Mode:
    """A job record or a CLI answer exists in POC/production only; else places, then texts speak."""
    if any(item.signal in STRUCTURED for item in own):
        return PRODUCTION
    trusted = [i for i in own if not i.suspicious] or list(own)
    said = {str(item.attrs["mode"]) for item in trusted if item.attrs.get("mode")}
    placed = {
        str(item.attrs["mode"])
        for item in own
        if item.signal == "stream.seen" and item.attrs.get("mode")
    }
    for modes in (placed, said):
        if modes == {SIMULATION}:
            return SIMULATION
        if modes == {PRODUCTION}:
            return PRODUCTION
    return "ambiguous"


def mode_of_site(own: Sequence[Observation]) -> Mode:
    """Sites and servers of their own are parents of POC/production, unless all says otherwise."""
    said = {str(item.attrs["mode"]) for item in own if item.attrs.get("mode")}
    return SIMULATION if said == {SIMULATION} else PRODUCTION
