"""Which workload or job is asked about, and the answer: seed 000's two ways to name a workload.

Read from the engine's cells after the last record. Nothing is guessed: what fits no record, or
several none of which confirms the question, raises `NothingSelectedError` with what to write.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from engine import federations
from engine.apply import Engine
from engine.bench import Bench
from engine.directory import WORKLOAD, kind_of
from engine.state import Cell
from matchers.display import escape_terminal
from schemas.codec import decode
from schemas.diagnosis import Diagnosis
from schemas.observation import Observation
from streams.answers import cluster_mismatch, nothing_wrong

Intent = Literal["", "terminal", "active"]
TERMINAL = frozenset({"Failed", "Stopped", "Completed", "TimedOut", "Preempted"})
NAMES_SHOWN = 5


class Question(Struct, frozen=True, kw_only=True):
    """What the user asks about; empty = everything."""

    cluster: str = ""
    workload: str = ""  # an id or, with `project`, a name
    project: str = ""
    intent: Intent = ""
    job: str = ""


class NothingSelectedError(ValueError):
    """No record fits the question, or it is not clear which; says what to write instead."""


class Known(Struct, frozen=True, kw_only=True):
    """A Run:ai workload of the records, as its newest phase record describes it."""

    key: str
    cluster: str
    workload_id: str
    name: str
    project: str
    phase: str
    phase_ms: int
    newest: Observation


class Selection:
    """Answers a question from what the engine knows."""

    def __init__(self, engine: Engine, cells: Mapping[bytes, bytes], scopes: Iterable[str]) -> None:
        self._engine = engine
        self._cells = cells
        self._federations = sorted(s.partition(":")[2] for s in scopes if s.startswith("flare:"))

    def answers(self, question: Question) -> list[Diagnosis]:
        """One answer for each workload or job that is asked about."""
        found: list[Diagnosis] = []
        if question.workload:
            found.append(self._workload(question))
        if question.job:
            found.append(self._job(question.job))
        return found

    def _workload(self, question: Question) -> Diagnosis:
        known = sorted(self._known(), key=lambda item: (-item.phase_ms, item.key))
        matches = [item for item in known if item.workload_id == question.workload]
        if not matches:
            matches = self._named(known, question)
        here = [item for item in matches if question.cluster in ("", item.cluster)]
        if not here:
            found = matches[0]
            subject = self._answer(found.key)
            return cluster_mismatch(
                subject, found.newest, asked=question.cluster, rules=self._engine.rules
            )
        return self._by_intent(here, question)

    def _named(self, known: list[Known], question: Question) -> list[Known]:
        named = [item for item in known if item.name == question.workload]
        if not named:
            raise NothingSelectedError(
                f"no record is about a workload of the id or name {question.workload!r}; "
                + _offer("the records name", (item.name or item.workload_id for item in known))
            )
        if not question.project:
            raise NothingSelectedError(
                f"several workloads may be called {question.workload!r}; add --project, "
                + _offer("for example one of", (item.project for item in named))
            )
        matches = [item for item in named if item.project == question.project]
        if not matches:
            raise NothingSelectedError(
                f"no workload {question.workload!r} is in project {question.project!r}; "
                + _offer("it is in", (item.project for item in named))
            )
        return matches

    def _by_intent(self, newest_first: list[Known], question: Question) -> Diagnosis:
        """Seed 000 step 1: the newest terminal one, or the newest active one with its symptom."""
        if len(newest_first) == 1:
            return self._answer(newest_first[0].key)
        terminal = [item for item in newest_first if item.phase in TERMINAL]
        if terminal and question.intent != "active":
            return self._answer(terminal[0].key)
        active = [item for item in newest_first if item.phase not in TERMINAL]
        if question.intent != "terminal":
            for item in active:
                answer = self._answer(item.key)
                if answer.route is None:
                    return answer
            if not question.intent:
                return self._answer(newest_first[0].key)
        wanted = "has ended" if question.intent == "terminal" else "shows a failure"
        raise NothingSelectedError(
            f"no workload {question.workload!r} of these records {wanted}; name one by its id: "
            + _offer("there are", (item.workload_id for item in newest_first))
        )

    def _answer(self, subject_key: str) -> Diagnosis:
        answer = self._engine.answer(self._cells.get, subject_key)
        if answer is None:  # the id occurs, but no record before --as-of says anything about it
            raise NothingSelectedError(
                "no record before that time is about this workload; choose a later --as-of"
            )
        return answer

    def _known(self) -> Iterator[Known]:
        for cell_key, data in self._cells.items():
            name = cell_key.decode()
            if kind_of(name) != WORKLOAD:
                continue
            phases = _phases(decode(data, Cell), self._engine.options.as_of_ms)
            _, cluster, workload_id = name.split("\x1f")
            if phases:
                phase_ms, newest = phases[-1]
                where = newest.where
                yield Known(
                    key=name,
                    cluster=where.cluster or cluster,
                    workload_id=where.workload_id or workload_id,
                    name=where.workload,
                    project=where.project,
                    phase=newest.reason if newest.signal == _PHASE else "",
                    phase_ms=phase_ms,
                    newest=newest,
                )

    def _job(self, job: str) -> Diagnosis:
        bench = Bench(self._cells.get, "", -1)
        keys = {
            subject_key: federations.subject_of(subject_key)
            for name in self._federations
            for subject_key in federations.all_subjects(bench, name)
        }
        jobs = {k: subject for k, subject in keys.items() if subject.kind == "job"}
        for subject_key, subject in sorted(jobs.items()):
            if subject.job_id != job:
                continue
            answer = self._engine.answer(self._cells.get, subject_key)
            if answer is not None:
                return answer
            observations, _ = federations.observations_of(bench, subject_key)
            return nothing_wrong(subject, observations, self._engine.rules)
        raise NothingSelectedError(
            f"no record is about a job {job!r}; "
            + _offer("the records name", (subject.job_id for subject in jobs.values()))
        )


_PHASE = "workload.phase"


def _phases(cell: Cell, as_of_ms: int) -> list[tuple[int, Observation]]:
    """What is said about a workload by time, records of its phase last."""
    said = [item for item in cell.observations if not as_of_ms or item.first_ms <= as_of_ms]
    current = [item for item in said if item.signal == _PHASE and item.attrs.get("current")]
    phases = current or [item for item in said if item.signal == _PHASE] or said
    timed = [(_time(item), item) for item in phases]
    return sorted(timed, key=lambda pair: (pair[0], pair[1].detail))


def _time(item: Observation) -> int:
    updated = item.attrs.get("updated_ms")
    return updated if isinstance(updated, int) and updated else item.last_ms


def _offer(words: str, names: Iterable[str]) -> str:
    shown = sorted({name for name in names if name})
    if not shown:
        return "the records name none"
    more = f" and {len(shown) - NAMES_SHOWN} more" if len(shown) > NAMES_SHOWN else ""
    return f"{words} " + ", ".join(escape_terminal(name) for name in shown[:NAMES_SHOWN]) + more
