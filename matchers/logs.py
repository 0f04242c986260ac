"""The `flare-logs` part of a batch: which lines have something to say, and their entries."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from matchers.assembly import Assembly, stream_key
from matchers.blocks import BlockLines
from matchers.entries import Open, assemble, mode_of, seen
from matchers.rules import Rules
from matchers.waking import may_need_look, needs_look
from schemas.codec import is_binary, read_json
from schemas.entry import Entry
from schemas.errors import Reason, SchemaError
from schemas.observation import Observation
from schemas.record import RawRecord, TextBlock
from schemas.sources.flare import read_line
from schemas.sources.flare_jobs import log_lines, read_jobs
from schemas.sources.shippers import Line, unwrap

PRESENCE = "stream.seen"
TIMED_LINES = 50  # how far from either end of a stream a line with a time is looked for

MAX_LINE_BYTES = 1024 * 1024


class LogScan(Struct, frozen=True, kw_only=True):
    """What the log lines of a batch said. `entries` with whether their text needs a closer look."""

    entries: list[Entry]
    presence: list[tuple[RawRecord, Observation]]
    unread: list[tuple[RawRecord, SchemaError]]
    open: Open
    heard: int  # lines with something to say
    quiet: int


def scan_logs(
    records: Sequence[RawRecord],
    rules: Rules,
    open_entries: Open,
    *,
    federation: str,
    final: bool,
) -> LogScan:
    """One Aho-Corasick pass over all lines; only those with a hit and their entries are read.

    Every line counts as presence of its stream, so a silent site is not taken for a missing one.
    """
    lines: list[tuple[RawRecord, Line]] = []
    unread: list[tuple[RawRecord, SchemaError]] = []
    for record in records:
        try:
            line = read_record(record)
        except SchemaError as error:
            unread.append((record, error))
            continue
        if line is not None:
            lines.append((record, line))
    hits = _hits(lines, rules)
    entries, still_open = assemble(
        lines, open_entries, final=final, federation=federation, hits=hits
    )
    return LogScan(
        entries=entries,
        presence=_presence(lines, federation),
        unread=unread,
        open=still_open,
        heard=len(hits),
        quiet=len(lines) - len(hits),
    )


def scan_block(block: TextBlock, rules: Rules, open_entries: Open, *, federation: str) -> LogScan:
    """The same for a block of a log file, without making anything of its quiet lines."""
    if block.data[:1] in (b"{", b'"') or b"\n{" in block.data:  # JSON: its texts are escaped
        return scan_logs(block.records(), rules, open_entries, federation=federation, final=False)
    lines = BlockLines(block)
    speaking = _speaking(lines, rules)
    work = Assembly(open_entries, federation)
    stream = stream_key(lines.record_at(0), lines.line_at(0))
    for at in lines.needed(speaking, lambda: work.speaks(stream)):
        work.take(lines.record_at(at), lines.line_at(at), hit=at in speaking)
    ends = [(lines.record_at(at), lines.line_at(at)) for at in lines.ends(TIMED_LINES)]
    return LogScan(
        entries=work.entries,
        presence=_presence(ends, federation),
        unread=[],
        open=work.freeze(),
        heard=len(speaking),
        quiet=lines.count - len(speaking),
    )


def _speaking(lines: BlockLines, rules: Rules) -> set[int]:
    """Where the lines begin that have something to say."""
    found: set[int] = set()
    until = -1
    for hit in rules.log_automaton.hits(lines.text):
        if hit.end > until:
            at = lines.begin_of(hit.start)
            until = lines.end_of(at)
            found.add(at)
    for at in lines.lines_of(may_need_look(lines.block.data)):
        if at not in found and needs_look(lines.at(at)):
            found.add(at)
    return found


def read_answer(record: RawRecord, value: object, rules: Rules, *, federation: str) -> list[Entry]:
    """The entries of a record of `flare-jobs`, with the log lines that an answer holds."""
    key = (record.key or b"")[:256].decode("utf-8", "replace")
    entries = read_jobs(value, federation=federation, timestamp_ms=record.timestamp_ms, key=key)
    lines = [(record, line) for line in log_lines(value, key=key)]
    found, _ = assemble(lines, Open(), final=True, federation=federation, hits=_hits(lines, rules))
    return entries + found


def _hits(lines: Sequence[tuple[RawRecord, Line]], rules: Rules) -> set[int]:
    """The positions of the lines that have something to say."""
    texts = [line.text for _, line in lines]
    hits = set(rules.log_automaton.hits_by_text(texts))
    hits.update(i for i in _suspects(texts) if i not in hits and needs_look(texts[i]))
    return hits


def _suspects(texts: Sequence[str]) -> set[int]:
    """The texts that may read otherwise than they look: found in one buffer, not one by one."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = list(accumulate(map(len, encoded), lambda end, size: end + size + 1, initial=-1))
    found = {bisect_right(ends, at) - 1 for at in may_need_look(b"\n".join(encoded))}
    return found | {i for i, text in enumerate(texts) if "\n" in text}


def read_record(record: RawRecord) -> Line | None:
    """The line in a record; None for an empty line of a file. Raises `SchemaError`."""
    if record.value is None:
        raise SchemaError(Reason.TOMBSTONE, "no value")
    if not record.value.strip():
        if record.path:
            return None
        raise SchemaError(Reason.EMPTY, "an empty value")
    if len(record.value) > MAX_LINE_BYTES:
        found = f"{len(record.value)} bytes in one line, at most {MAX_LINE_BYTES} are read"
        raise SchemaError(Reason.TOO_LARGE, found)
    if is_binary(record.value):
        raise SchemaError(Reason.NOT_TEXT, f"{len(record.value)} bytes that are not text")
    if record.value[:1] not in (b"{", b'"'):
        return unwrap(record, None)
    try:
        value = read_json(record.value)
    except SchemaError as error:
        if error.reason is Reason.NOT_JSON:
            return unwrap(record, None)
        raise
    return unwrap(record, value)


def _presence(
    lines: Sequence[tuple[RawRecord, Line]], federation: str
) -> list[tuple[RawRecord, Observation]]:
    """One observation per stream: that it is there, from when to when as far as lines tell."""
    streams: dict[tuple[str, str, str, str], list[tuple[RawRecord, Line]]] = {}
    for record, line in lines:
        key = (line.path or record.path, line.host, line.pod, line.container)
        streams.setdefault(key, []).append((record, line))
    return [(streams[key][0][0], _present(streams[key], federation)) for key in sorted(streams)]


def _present(stream: Sequence[tuple[RawRecord, Line]], federation: str) -> Observation:
    record, line = stream[0]
    first_ms = _first_time(stream[:TIMED_LINES])
    mode = mode_of(record, line)
    return Observation(
        signal=PRESENCE,
        where=seen(record, line, federation=federation),
        merge="event",
        first_ms=first_ms,
        last_ms=max(first_ms, _first_time(stream[: -TIMED_LINES - 1 : -1])),
        attrs={"mode": mode} if mode else {},
    )


def _first_time(stream: Sequence[tuple[RawRecord, Line]]) -> int:
    times = (line.time_ms or read_line(line).time_ms or r.timestamp_ms for r, line in stream)
    return next((time for time in times if time), 0)
