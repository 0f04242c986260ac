"""Scan and diagnose over recorded records, without Kafka: the same functions, cells in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from engine.apply import Engine, EngineOptions
from engine.verdict.common import DEFAULT_LOOKBACK_MS, DEFAULT_STALL_MS
from matchers.entries import Open
from matchers.rules import Rules
from matchers.scan import Scanned, ScanOptions, dead_letter, scan
from schemas.codec import encode
from schemas.dead_letter import DeadLetter
from schemas.diagnosis import Diagnosis, Subject
from schemas.errors import Reason
from schemas.record import TextBlock
from streams.dumps import Rejected
from streams.inputs import Batch, Reader
from streams.selection import Question, Selection
from streams.walk import Unread

DEAD_LETTERS_KEPT = 100
SIGNALS = "signals/0"
UNSAID = frozenset({"withdrawn", "superseded"})
_NOTHING_LOST = frozenset({Reason.TOMBSTONE, Reason.EMPTY})


class Options(Struct, frozen=True, kw_only=True):
    """What a replay may be told. Times in ms; `as_of_ms` 0: as of each subject's newest record."""

    cluster: str = ""
    federation: str = ""
    lookback_ms: int = DEFAULT_LOOKBACK_MS
    stall_ms: int = DEFAULT_STALL_MS
    as_of_ms: int = 0


class Outcome(Struct, frozen=True, kw_only=True):
    """What a replay came to. `dead_letters` holds the first ones, `dead_counts` all, by reason.

    `drafts` says how often each row on trial matched.
    """

    diagnoses: list[Diagnosis]
    dead_letters: list[DeadLetter]
    dead_counts: dict[str, int]
    unread: list[Unread]
    passed_over: list[Unread]
    records: int
    drafts: dict[str, int]
    interrupted: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether everything that is a record was read."""
        return not self.unread and set(self.dead_counts) <= _NOTHING_LOST


class Session:
    """One run of scan and engine over batches, with its cells."""

    def __init__(self, rules: Rules, options: Options) -> None:
        self.rules = rules
        self.cells: dict[bytes, bytes] = {}
        self.scopes: set[str] = set()
        self.dead_letters: list[DeadLetter] = []
        self.dead_counts: Counter[str] = Counter()
        self.records = 0
        self.drafts: Counter[str] = Counter()
        self._scan_options = ScanOptions(
            cluster=options.cluster or ScanOptions().cluster,
            federation=options.federation or ScanOptions().federation,
        )
        self.engine = Engine(
            rules,
            EngineOptions(
                lookback_ms=options.lookback_ms,
                stall_ms=options.stall_ms,
                as_of_ms=options.as_of_ms,
            ),
        )
        self._open = Open()
        self._applied = 0
        self._now_ms = options.as_of_ms

    def feed(self, batch: Batch | TextBlock) -> Iterator[Diagnosis]:
        """Scan one batch and apply what it says; yields the revisions that are due."""
        yield from self._apply(scan(batch, self.rules, self._open, self._scan_options))

    def finish(self) -> Iterator[Diagnosis]:
        """The input has ended: close what is open, and judge every subject once more."""
        yield from self._apply(scan([], self.rules, self._open, self._scan_options, final=True))
        for scope in sorted(self.scopes):
            applied = self.engine.flush(self.cells.get, scope, self._now_ms)
            self.cells.update(applied.cells)
            yield from applied.outputs

    def bury(self, letters: Iterable[DeadLetter]) -> None:
        """Count dead letters and keep the first ones."""
        for letter in letters:
            self.dead_counts[letter.reason] += 1
            if len(self.dead_letters) < DEAD_LETTERS_KEPT:
                self.dead_letters.append(letter)

    def _apply(self, scanned: Scanned) -> Iterator[Diagnosis]:
        self._open = scanned.open
        self.records += sum(scanned.counts.values())
        self.drafts.update(scanned.drafts)
        self.bury(scanned.dead_letters)
        for message in scanned.observations:
            self.scopes.add(message.scope)
            self._now_ms = max(self._now_ms, message.observed_time_ms)
            applied = self.engine.apply(self.cells.get, encode(message), SIGNALS, self._applied)
            self._applied += 1
            if applied is not None:
                self.cells.update(applied.cells)
                yield from applied.outputs


class Replay:
    """A session over the batches of a reader: revisions as they come, then the outcome."""

    def __init__(
        self,
        rules: Rules,
        options: Options,
        on_revision: Callable[[Diagnosis], None] = lambda _: None,
    ) -> None:
        self.session = Session(rules, options)
        self._on_revision = on_revision
        self._last: dict[str, Diagnosis] = {}

    def feed(self, batch: Batch | TextBlock, rejected: Iterable[Rejected] = ()) -> None:
        """Take one batch, and what the reader rejected around it."""
        self._publish(self.session.feed(batch))
        self.bury(rejected)

    def bury(self, rejected: Iterable[Rejected]) -> None:
        """Make dead letters of what the reader rejected."""
        rules = self.session.rules
        self.session.bury(dead_letter(item.record, item.error, rules) for item in rejected)

    def finish(self) -> None:
        """Judge every subject once more: the input has ended."""
        self._publish(self.session.finish())

    def outcome(
        self, reader: Reader, question: Question | None = None, *, interrupted: bool = False
    ) -> Outcome:
        """What is known now: last revisions, or the answers to a question."""
        asked = question or Question()
        if asked.workload or asked.job:
            selection = Selection(self.session.engine, self.session.cells, self.session.scopes)
            diagnoses = selection.answers(asked)
        else:
            diagnoses = [item for item in self._last.values() if item.state not in UNSAID]
            diagnoses = [item for item in diagnoses if is_asked(item.subject, asked)]
        return Outcome(
            diagnoses=sorted(diagnoses, key=lambda item: (item.event_time_ms, item.id)),
            dead_letters=self.session.dead_letters,
            dead_counts=dict(sorted(self.session.dead_counts.items())),
            unread=reader.unread,
            passed_over=reader.passed_over,
            records=self.session.records,
            drafts=dict(sorted(self.session.drafts.items())),
            interrupted=interrupted,
        )

    def _publish(self, revisions: Iterator[Diagnosis]) -> None:
        for revision in revisions:
            self._last[revision.id] = revision
            self._on_revision(revision)


def drive(reader: Reader, replays: Sequence[Replay]) -> bool:
    """Feed everything to each replay and finish them; True if Ctrl-C ended the input early.

    What was read until then is diagnosed all the same.
    """
    interrupted = False
    try:
        for batch in reader.read():
            rejected = reader.take_rejected()
            for replay in replays:
                replay.feed(batch, rejected)
    except KeyboardInterrupt:
        interrupted = True
    rejected = reader.take_rejected()
    for replay in replays:
        replay.bury(rejected)
        replay.finish()
    return interrupted


def is_asked(subject: Subject, question: Question) -> bool:
    """Whether a subject lies in the cluster and project that are asked about, if any are."""
    in_cluster = question.cluster in ("", subject.cluster_id)
    return in_cluster and question.project in ("", subject.project)
