"""What a run's end means when no pattern explains it: clean-up, a lost process, a stall, silence.

Facts, flare 0.6, 5 and the clarifications to rules 1 and 15.
"""

from typing import Literal

from msgspec import Struct

from engine.verdict.flare_view import ABORTED, COMPLETED, FAILED, SERVER, View, concerned
from engine.verdict.patterns import Rejected
from engine.verdict.sites import awaited
from schemas.observation import Observation

FAILURE_ECHOES = (
    "echo.bad_result",
    "echo.run_aborted",
    "echo.task_failed",
    "echo.job_failure_reported",
    "echo.deploy_failed",
    "flare.trainer_gone",
)
STARTED = ("progress.round_started", "progress.task_received")
LOST_CODES = (1, 101)
END = ("progress.runner_finished", "progress.controller_finished", "cleanup.end_run")

Kind = Literal["failed", "aborted", "stalled", "waiting", "reported", "healthy"]


class Ending(Struct, frozen=True, kw_only=True):
    """How a run stands: `kind`, the sub-cause and the evidence for it, and who it is about."""

    kind: Kind
    subcause: str = ""
    why: str = ""
    evidence: tuple[Observation, ...] = ()
    sites: tuple[str, ...] = ()


def ending_of(view: View, rejected: list[Rejected]) -> Ending:
    """How the run ended, told without any pattern."""
    killed = _explained_kill(rejected)
    if killed is not None:
        return Ending(
            kind="failed",
            subcause="explicit clean-up",
            why="the process was ended on purpose before it exited with -9",
            evidence=killed.evidence,
        )
    if view.status == ABORTED:
        return Ending(kind="aborted", why="the job was aborted and nothing else failed")
    if view.status in FAILED or (view.status != COMPLETED and view.having(*FAILURE_ECHOES)):
        return _failed(view)
    if view.status == COMPLETED:
        return Ending(kind="healthy")
    if _is_stalled(view):
        started = view.having(*STARTED)
        return Ending(
            kind="stalled",
            subcause="stalled",
            why="a started run has shown no progress for the set time",
            evidence=started[-1:],
            sites=tuple(sorted(awaited(view, view.own))),
        )
    reports = view.having("job.report")
    if reports:
        return Ending(kind="reported", why="somebody reports a failure", evidence=reports)
    return Ending(kind="healthy")


def _explained_kill(rejected: list[Rejected]) -> Rejected | None:
    for refusal in rejected:
        if refusal.kind == "explained" and refusal.pattern.name == "PROCESS_EXIT_NEG9":
            return refusal
    return None


def _failed(view: View) -> Ending:
    gone = view.having("flare.trainer_gone")
    if gone:
        return Ending(
            kind="failed",
            subcause="trainer stopped without a word",
            why="the trainer thread ended and its standard error is not here",
            evidence=gone,
            sites=tuple(sorted({name for item in gone for name in concerned(item)})),
        )
    lost = _lost_processes(view)
    if lost:
        return Ending(
            kind="failed",
            subcause="process lost",
            why="a job process ended without traceback and without an order to stop",
            evidence=lost,
            sites=tuple(sorted({name for item in lost for name in concerned(item)})),
        )
    return Ending(kind="failed", why="only the end is known", evidence=view.having(*FAILURE_ECHOES))


def _lost_processes(view: View) -> tuple[Observation, ...]:
    """Exit codes 1 and 101 at sites that nobody told to stop (facts, flare 0.6)."""
    ordered = view.having("cleanup.abort_command")
    found = []
    for item in view.having("flare.worker_exit"):
        told = any(
            order.where.site == item.where.site and order.first_ms <= item.first_ms
            for order in ordered
        )
        if item.attrs.get("rc") in LOST_CODES and item.where.site != SERVER and not told:
            found.append(item)
    named = {name for i in view.having("echo.job_failure_reported") for name in concerned(i)}
    return tuple(i for i in found if i.where.site in named) or tuple(found)


def _is_stalled(view: View) -> bool:
    """A run that started, did not end, and has shown nothing new for the stall time.

    Time is the newest known of the subject's evaluation; the end of the input alone proves no
    stall, only that the set time has passed in the records' own time does.
    """
    progress = [i for i in view.own if i.signal.startswith("progress.")]
    if not view.having(*STARTED) or view.having(*END):
        return False
    newest = max(item.last_ms for item in progress)
    return view.context.as_of_ms - newest >= view.context.stall_ms
