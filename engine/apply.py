"""The engine's one seam: bytes in, bytes out. Pure; cells are read through a function and returned.

A message of `signals` is joined into the cells where its observations live, every subject that one
of those cells concerns is judged again, and what is due is published. The verdict is a function of
what the cells hold, so the last revision does not depend on how it got there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine import directory, federations, workloads
from engine.bench import Bench, Read
from engine.incident import advance, diagnosis, incident_id
from engine.state import Cell
from engine.verdict.common import (
    DEFAULT_LOOKBACK_MS,
    DEFAULT_STALL_MS,
    Context,
    Verdict,
    distinct,
    distinct_echoes,
)
from engine.verdict.flare import judge_job, judge_site
from engine.verdict.runai import judge_workload
from matchers.merge import join_all, join_offsets
from matchers.rules import Rules
from schemas.codec import decode
from schemas.diagnosis import Diagnosis, Subject
from schemas.observation import Observation, Observations

TICK = "tick"  # the `source` of a message that only says what time it is
Ranges = tuple[tuple[int, int], ...]


class EngineOptions(Struct, frozen=True, kw_only=True):
    """What a user may set. Times in ms; `as_of_ms` 0: the newest record of each subject."""

    lookback_ms: int = DEFAULT_LOOKBACK_MS
    stall_ms: int = DEFAULT_STALL_MS
    settle_ms: int = 30_000
    as_of_ms: int = 0


class Applied(Struct, frozen=True, kw_only=True):
    """The cells to store and the revisions to publish, in this order: publish, then store."""

    cells: dict[bytes, bytes]
    outputs: tuple[Diagnosis, ...]


class Engine:
    """Judges what the signals mean. Holds rules and options, never state."""

    def __init__(self, rules: Rules, options: EngineOptions | None = None) -> None:
        self.rules = rules
        self.options = options or EngineOptions()

    def apply(self, read: Read, payload: bytes, source: str, offset: int) -> Applied | None:
        """Apply one message of `signals` at its position; None when the scope contains it already.

        `source` names the partition of `signals`. Raises `SchemaError` when `payload` is none.
        """
        message = decode(payload, Observations)
        bench = Bench(read, source, offset)
        scope, scope_key = message.scope, directory.scope_key(message.scope)
        progress = bench.get(scope_key)
        if progress.covers(source, offset):
            return None
        bench.touch(scope_key)
        if message.source == TICK:
            return self._tick(bench, message)
        subjects = self._learn(bench, progress, message)
        outputs = [
            output
            for subject in sorted(subjects)
            for output in self._judge(bench, scope, subject, message.observed_time_ms)
        ]
        seen = progress.seen.get(message.source, ())
        counted = {**progress.seen, message.source: join_offsets(seen, message.scanned)}
        bench.put(scope_key, replace(bench.get(scope_key), seen=counted))
        return Applied(cells=bench.writes(), outputs=tuple(outputs))

    def flush(self, read: Read, scope: str, now_ms: int) -> Applied:
        """Judge every subject of a scope as if it had gone quiet: the input has ended."""
        bench = Bench(read, "", -1)
        outputs = list(self._unclaimed(bench, scope, now_ms))
        outputs += self._settle(bench, scope, self._everyone(bench, scope), now_ms)
        return Applied(cells=bench.writes(), outputs=tuple(outputs))

    def answer(self, read: Read, subject_key: str) -> Diagnosis | None:
        """What can be said about one subject now, a route included; None when nothing is known."""
        bench = Bench(read, "", -1)
        verdict = self._verdict(bench, subject_key, final=True)
        if verdict is None:
            return None
        incident = bench.get(directory.incident_key(subject_key)).incident
        return diagnosis(
            verdict,
            incident_id(subject_key),
            incident.revision if incident else 1,
            "resolved" if verdict.resolved else "settled",
            self.rules.digest,
        )

    def _learn(self, bench: Bench, progress: Cell, message: Observations) -> set[str]:
        """Join the observations where they live; the subjects whose verdict may have changed."""
        seen = progress.seen.get(message.source, ())
        subjects: set[str] = set()
        by_cell: dict[str, list[Observation]] = {}
        for observation in message.observations:
            counted = uncounted(observation, seen)
            by_cell.setdefault(directory.home(counted.where), []).append(counted)
        for cell_key in sorted(by_cell):
            bench.merge(cell_key, by_cell[cell_key])
            for observation in by_cell[cell_key]:
                flare = directory.is_flare(observation.where)
                subjects.update((federations if flare else workloads).learn(bench, observation))
        return subjects

    def _judge(
        self, bench: Bench, scope: str, subject_key: str, now_ms: int, *, quiet: bool = False
    ) -> Iterator[Diagnosis]:
        """Judge a subject; the revision that is due, if any."""
        verdict = self._verdict(bench, subject_key, final=quiet)
        yield from self._publish(bench, scope, subject_key, verdict, now_ms, quiet=quiet)

    def _publish(
        self,
        bench: Bench,
        scope: str,
        subject_key: str,
        verdict: Verdict | None,
        now_ms: int,
        *,
        quiet: bool,
    ) -> Iterator[Diagnosis]:
        incident_key = directory.incident_key(subject_key)
        cell = bench.get(incident_key)
        if cell.incident is not None and verdict is None:
            verdict = nothing_left(subject_key, cell.incident.event_ms)
        after, output = advance(
            cell.incident,
            verdict,
            subject_key=subject_key,
            now_ms=now_ms,
            quiet=quiet,
            settle_ms=self.options.settle_ms,
            catalog_digest=self.rules.digest,
        )
        if after is not None:
            bench.put(incident_key, replace(cell, incident=after))
            unsettled = directory.list_key(directory.UNSETTLED, scope, subject_key)
            if after.state == "provisional" or after.pending:
                bench.link(unsettled, "subjects", subject_key)
            else:
                bench.unlink(unsettled, "subjects", subject_key)
        if output is not None:
            yield output

    def _verdict(self, bench: Bench, subject_key: str, *, final: bool) -> Verdict | None:
        kind = directory.kind_of(subject_key)
        if kind == directory.WORKLOAD:
            observations, limits = workloads.observations_of(bench, subject_key)
            subject = workloads.workload_subject(subject_key, observations)
            return self._judged(judge_workload, observations, subject, limits, final=final)
        found, limits = federations.observations_of(bench, subject_key)
        named, subject = federations.with_server(found, federations.subject_of(subject_key))
        judge = judge_site if kind == directory.FED_SITE else judge_job
        return self._judged(judge, named, subject, limits, final=final)

    def _judged(
        self,
        judge: Callable[[Sequence[Observation], Context], Verdict | None],
        observations: Sequence[Observation],
        subject: Subject,
        limits: Iterable[str],
        *,
        final: bool,
    ) -> Verdict | None:
        """The verdict at the time that counts, with the bounds that bit on the way to it."""
        as_of_ms = self.options.as_of_ms
        joined = join_all(
            item for item in observations if not as_of_ms or item.first_ms <= as_of_ms
        )
        if not joined:
            return None
        context = Context(
            subject=subject,
            as_of_ms=as_of_ms or max(item.last_ms for item in joined),
            rules=self.rules,
            lookback_ms=self.options.lookback_ms,
            stall_ms=self.options.stall_ms,
            final=final,
        )
        verdict = judge(joined, context)
        if verdict is None:
            return None
        view = verdict.completeness
        return replace(
            verdict,
            evidence=distinct(verdict.evidence),
            echoes=distinct_echoes(verdict.echoes),
            completeness=replace(view, limits=tuple(sorted({*view.limits, *limits}))),
        )

    def _tick(self, bench: Bench, message: Observations) -> Applied:
        """Settle what has been quiet for the settle time, by the time that the tick tells."""
        now_ms = message.observed_time_ms
        due = [
            subject
            for subject in self._unsettled(bench, message.scope)
            if self._is_quiet(bench.get(directory.incident_key(subject)), now_ms)
        ]
        outputs = list(self._settle(bench, message.scope, due, now_ms))
        outputs += self._unclaimed(bench, message.scope, now_ms)
        return Applied(cells=bench.writes(), outputs=tuple(outputs))

    def _is_quiet(self, cell: Cell, now_ms: int) -> bool:
        incident = cell.incident
        return incident is not None and now_ms - incident.event_ms >= self.options.settle_ms

    def _settle(
        self, bench: Bench, scope: str, subjects: Iterable[str], now_ms: int
    ) -> Iterator[Diagnosis]:
        for subject in subjects:
            yield from self._judge(bench, scope, subject, now_ms, quiet=True)

    def _unsettled(self, bench: Bench, scope: str) -> list[str]:
        """The subjects of which more may have to be said without anything new."""
        lists = directory.list_keys(directory.UNSETTLED, scope)
        return [item for name in lists for item in bench.get(name).links.get("subjects", ())]

    def _everyone(self, bench: Bench, scope: str) -> list[str]:
        family, _, name = scope.partition(":")
        if family == "flare":
            return list(federations.all_subjects(bench, name))
        return self._unsettled(bench, scope)

    def _unclaimed(self, bench: Bench, scope: str, now_ms: int) -> Iterator[Diagnosis]:
        """Pods that Run:ai does not know, as subjects of their own, once nobody claimed them."""
        family, _, cluster = scope.partition(":")
        if family == "flare":
            return
        for subject_key, subject, cells in workloads.unclaimed_subjects(bench, cluster):
            observations = workloads.unclaimed_observations(bench, cells, subject)
            limits = {limit for cell in cells for limit in bench.get(cell).limits}
            verdict = self._judged(judge_workload, observations, subject, limits, final=True)
            yield from self._publish(bench, scope, subject_key, verdict, now_ms, quiet=True)


def nothing_left(subject_key: str, event_ms: int) -> Verdict:
    """What is said when earlier signals turned out to mean nothing, or to be another's."""
    flare = directory.kind_of(subject_key) in (
        directory.JOB,
        directory.SIMULATION,
        directory.FED_SITE,
    )
    subject = federations.subject_of(subject_key) if flare else Subject(kind="workload")
    return Verdict(
        family="flare" if flare else "runai",
        subject=subject,
        phase_or_status="",
        event_time_ms=event_ms,
        opened=False,
        confidence="high",
        summary="Later records took back what had been seen; nothing is left to diagnose.",
    )


def uncounted(observation: Observation, seen: Ranges) -> Observation:
    """The observation with the lines taken off its count that were counted before."""
    if not observation.offsets or not seen:
        return observation
    total = sum(high - low + 1 for low, high in observation.offsets)
    again = sum(
        max(0, min(high, known_high) - max(low, known_low) + 1)
        for low, high in observation.offsets
        for known_low, known_high in seen
    )
    if not again:
        return observation
    count = 0 if again >= total else min(observation.count, total - again)
    return replace(observation, count=count)
