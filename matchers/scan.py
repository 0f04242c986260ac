"""From a batch of raw records to observations and dead letters: the first stage, pure.

The road of a record: parse (`schemas.sources`) -> entry -> match, inspect, redact -> observation.
Quiet log lines leave before they are parsed: one Aho-Corasick pass over the whole batch says which
lines have something to say.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from matchers.display import visible
from matchers.entries import Open, assemble, stream_key, wants
from matchers.merge import join_all
from matchers.observe import Suspect, observe
from matchers.rules import Rules
from schemas.codec import read_json
from schemas.dead_letter import PAYLOAD_KEPT, DeadLetter
from schemas.entry import Entry, Where
from schemas.errors import Reason, SchemaError
from schemas.observation import Observation, Observations
from schemas.record import RawRecord
from schemas.sources import flare, flare_jobs, kubernetes, runai, shippers

MAX_LINE_BYTES = 1024 * 1024

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
    """What one batch said. `counts` is by (topic, outcome): read, quiet, dead."""

    observations: list[Observations]
    dead_letters: list[DeadLetter]
    open: Open
    counts: Counter[tuple[str, str]]


class _Batch:
    """The working state of one call of `scan`; nothing of it outlives the call."""

    def __init__(self, rules: Rules, options: ScanOptions) -> None:
        self.rules = rules
        self.options = options
        self.found: dict[tuple[str, str], list[Observation]] = {}
        self.dead: list[DeadLetter] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.now_ms = 0

    def add(self, record: RawRecord, observation: Observation) -> None:
        scope = scope_of(observation.where, self.options)
        source = f"{record.topic}/{record.partition}"
        self.found.setdefault((scope, source), []).append(observation)

    def add_entry(self, record: RawRecord, entry: Entry) -> None:
        for observation in observe(record, entry, self.rules):
            self.add(record, observation)

    def bury(self, record: RawRecord, error: SchemaError) -> None:
        self.counts[record.topic, "dead"] += 1
        self.dead.append(dead_letter(record, error, self.rules))


def scope_of(where: Where, options: ScanOptions) -> str:
    """The unit of order: a cluster or a federation, the smallest that every record names."""
    if where.federation or where.site or where.job or where.workspace:
        return f"flare:{where.federation or options.federation}"
    return f"k8s:{where.cluster or options.cluster}"


def scan(
    batch: Sequence[RawRecord],
    rules: Rules,
    open_entries: Open,
    options: ScanOptions,
    *,
    final: bool = False,
) -> Scanned:
    """Read one batch of one or more partitions.

    `open_entries` are those that earlier batches left open; `final` closes all of them. Same
    arguments, same answer; how records are cut into batches makes no difference to what is said
    in all.
    """
    work = _Batch(rules, options)
    logs: list[RawRecord] = []
    for record in batch:
        work.now_ms = max(work.now_ms, record.timestamp_ms)
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
            work.add_entry(record, entry)
    still_open = _scan_logs(logs, work, open_entries, final=final)
    observations = [
        Observations(
            scope=scope,
            source=source,
            observed_time_ms=work.now_ms,
            observations=tuple(join_all(found)),
        )
        for (scope, source), found in sorted(work.found.items())
    ]
    return Scanned(
        observations=observations, dead_letters=work.dead, open=still_open, counts=work.counts
    )


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
        return flare_jobs.read_jobs(
            value, federation=options.federation, timestamp_ms=record.timestamp_ms
        )
    return runai.read(
        record.topic, value, cluster=options.cluster, timestamp_ms=record.timestamp_ms
    )
