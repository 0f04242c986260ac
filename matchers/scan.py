"""From a batch of raw records to observations and dead letters: the first stage, pure.

The road of a record: parse (`schemas.sources`) -> entry -> match, inspect, redact -> observation.
Quiet log lines leave before they are parsed: one Aho-Corasick pass over the whole batch says which
lines have something to say.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from matchers.display import visible
from matchers.entries import Open, held_records
from matchers.logs import LogScan, read_answer, scan_block, scan_logs
from matchers.merge import join_all, join_offsets
from matchers.observe import observe, origin_of
from matchers.rules import Rules
from schemas.codec import read_json
from schemas.dead_letter import PAYLOAD_KEPT, DeadLetter
from schemas.entry import Entry, Origin, Where
from schemas.errors import Reason, SchemaError
from schemas.observation import Observation, Observations
from schemas.record import RawRecord, TextBlock
from schemas.sources import kubernetes, runai

TOPICS = (
    "k8s-events",
    "runai-phases",
    "runai-history",
    "runai-pods",
    "runai-metrics",
    "runai-specs",
    "flare-logs",
    "flare-jobs",
)


class ScanOptions(Struct, frozen=True, kw_only=True):
    """What records that do not say so themselves belong to."""

    cluster: str = "default"
    federation: str = "default"


class Scanned(Struct, frozen=True, kw_only=True):
    """What one batch said. `counts` is by (topic, outcome): read, quiet, dead.

    `drafts` counts what rows on trial (status `draft`) matched; nothing else is made of it.
    """

    observations: list[Observations]
    dead_letters: list[DeadLetter]
    open: Open
    counts: Counter[tuple[str, str]]
    drafts: Counter[str]


class _Batch:
    """The working state of one call of `scan`; nothing of it outlives the call."""

    def __init__(self, rules: Rules, options: ScanOptions) -> None:
        self.rules = rules
        self.options = options
        self.found: dict[tuple[str, str], list[Observation]] = {}
        self.dead: list[DeadLetter] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.drafts: Counter[str] = Counter()
        self.offsets: dict[str, set[int]] = {}
        self.held: dict[str, set[int]] = {}
        self.now_ms = 0

    def note(self, record: RawRecord) -> None:
        """Every record of the batch: its time is the batch's `now`, its offset is scanned."""
        self.now_ms = max(self.now_ms, record.timestamp_ms)
        if not record.path:
            source = f"{record.topic}/{record.partition}"
            self.offsets.setdefault(source, set()).add(record.offset)

    def add(self, origin: Origin, observation: Observation) -> None:
        scope = scope_of(observation.where, self.options)
        self.found.setdefault((scope, _source(origin)), []).append(observation)

    def add_entry(self, origin: Origin, entry: Entry) -> None:
        for observation in observe(origin, entry, self.rules, self.drafts):
            self.add(origin, observation)

    def add_logs(self, scanned: LogScan) -> None:
        """What the log lines said. Presence is counted for the partition that shows it."""
        self.counts["flare-logs", "quiet"] += scanned.quiet
        self.counts["flare-logs", "read"] += scanned.heard
        for entry in scanned.entries:
            if entry.origin is not None:
                self.add_entry(entry.origin, entry)
                self.offsets.setdefault(_source(entry.origin), set()).add(entry.origin.offset)
        for record in held_records(scanned.open):
            self.held.setdefault(f"{record.topic}/{record.partition}", set()).add(record.offset)
        for record, observation in scanned.presence:
            self.add(origin_of(record), observation)
        for record, error in scanned.unread:
            self.bury(record, error)

    def scanned(self, source: str) -> tuple[tuple[int, int], ...]:
        """The offsets of a source partition that are said now, and need not be counted again.

        Not those of an entry that is still open: it is counted when it is said.
        """
        said = self.offsets.get(source, set()) - self.held.get(source, set())
        return join_offsets([(offset, offset) for offset in said], [])

    def result(self, still_open: Open) -> Scanned:
        """What the batch said, by scope and source, each thing once."""
        observations = [
            Observations(
                scope=scope,
                source=source,
                observed_time_ms=self.now_ms,
                observations=tuple(join_all(found)),
                scanned=self.scanned(source),
            )
            for (scope, source), found in sorted(self.found.items())
        ]
        return Scanned(
            observations=observations,
            dead_letters=self.dead,
            open=still_open,
            counts=self.counts,
            drafts=self.drafts,
        )

    def bury(self, record: RawRecord, error: SchemaError) -> None:
        self.counts[record.topic, "dead"] += 1
        self.dead.append(dead_letter(record, error, self.rules))


def _source(origin: Origin) -> str:
    """The source partition; all files count as one, for no file is read twice."""
    return f"{origin.topic}/{0 if origin.in_file else origin.partition}"


def scope_of(where: Where, options: ScanOptions) -> str:
    """The unit of order: a cluster or a federation, the smallest that every record names."""
    if where.federation or where.site or where.job or where.workspace:
        return f"flare:{where.federation or options.federation}"
    return f"k8s:{where.cluster or options.cluster}"


def scan(
    batch: Sequence[RawRecord] | TextBlock,
    rules: Rules,
    open_entries: Open,
    options: ScanOptions,
    *,
    final: bool = False,
) -> Scanned:
    """Read one batch of one or more partitions, or a block of a log file.

    `open_entries` are those that earlier batches left open; `final` closes all of them. Same
    arguments, same answer; how records are cut into batches makes no difference to what is said
    in all.
    """
    work = _Batch(rules, options)
    if isinstance(batch, TextBlock):
        in_block = scan_block(batch, rules, open_entries, federation=options.federation)
        work.add_logs(in_block)
        return work.result(in_block.open)
    logs: list[RawRecord] = []
    for record in batch:
        work.note(record)
        if record.topic == "flare-logs":
            logs.append(record)
            continue
        try:
            entries = _read_structured(record, rules, options)
        except SchemaError as error:
            work.bury(record, error)
            continue
        work.counts[record.topic, "read"] += 1
        for entry in entries:
            work.add_entry(origin_of(record), entry)
    scanned = scan_logs(logs, rules, open_entries, federation=options.federation, final=final)
    work.add_logs(scanned)
    return work.result(scanned.open)


def _decoded(record: RawRecord) -> object:
    if record.value is None:
        raise SchemaError(Reason.TOMBSTONE, "no value")
    if not record.value.strip():
        raise SchemaError(Reason.EMPTY, "an empty value")
    return read_json(record.value)


def _read_structured(record: RawRecord, rules: Rules, options: ScanOptions) -> list[Entry]:
    if record.topic not in TOPICS:
        raise SchemaError(Reason.UNKNOWN_TOPIC, f"topic {record.topic!r} is not one of {TOPICS}")
    value = _decoded(record)
    if record.topic == "k8s-events":
        return kubernetes.read_events(
            value, cluster=options.cluster, timestamp_ms=record.timestamp_ms
        )
    if record.topic == "flare-jobs":
        return read_answer(record, value, rules, federation=options.federation)
    return runai.read(
        record.topic, value, cluster=options.cluster, timestamp_ms=record.timestamp_ms
    )


def dead_letter(record: RawRecord, error: SchemaError, rules: Rules) -> DeadLetter:
    """What is kept of a record that could not be read: redacted before it is cut."""
    payload = (record.value or b"")[: 8 * PAYLOAD_KEPT].decode("utf-8", "replace")
    return DeadLetter(
        reason=error.reason,
        found=visible(rules.redactor.redact(error.found))[:PAYLOAD_KEPT],
        payload=visible(rules.redactor.redact(payload))[:PAYLOAD_KEPT],
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        timestamp_ms=record.timestamp_ms,
        key=visible((record.key or b"")[:256].decode("utf-8", "replace")),
        path=record.path,
    )
