"""The assembly of log entries, line by line and stream by stream, within bounds."""

from msgspec.structs import replace

from matchers.held import (
    FRAMES,
    INSIDE,
    NONE,
    PREFIX,
    THREAD,
    Held,
    Open,
    Stream,
    advance,
    belongs,
    copy,
    fits,
    speaks,
)
from matchers.log_entry import build
from matchers.traceback import begins
from schemas.entry import Entry
from schemas.record import RawRecord
from schemas.sources.flare import (
    STAMP,
    is_header,
    is_log_header,
    logger_of,
    plain,
    read_line,
    read_text,
)
from schemas.sources.folders import is_flare_file, place
from schemas.sources.shippers import Line

ENTRY_LINES = 1000  # lines of one entry; longer ones are cut
ENTRY_BYTES = 64 * 1024  # characters of one entry
ROW_BYTES = 16 * 1024  # characters of one line
OPEN_MS = 10_000  # how long an entry waits for its next line, by the records' own time
OPEN_STREAMS = 2048  # streams that are remembered; the one quiet for longest goes first
OPEN_BYTES = 16 * 1024 * 1024  # characters held open in all

PIPED = ("ExternalProcessBackend", "SubprocessLauncher")  # their records are a trainer's own lines


def stream_key(record: RawRecord, line: Line) -> str:
    """The name of the sequence a line belongs to: a file on a host, or a container's output."""
    path = line.path or record.path
    if path:
        return f"{line.host}\x1f{path}"
    if line.pod or line.container:
        return f"{line.namespace}\x1f{line.pod}\x1f{line.container}\x1f{line.stream}\x1f{line.host}"
    named = "\x1f".join(line.fields.get(name, "") for name in ("site", "job"))
    key = "" if line.host else (record.key or b"")[:64].hex()
    return (
        f"{named}\x1f{line.host}\x1f{line.stream}\x1f{record.topic}\x1f{record.partition}\x1f{key}"
    )


def is_stale(held: Held, now_ms: int) -> bool:
    return now_ms - held.record.timestamp_ms > OPEN_MS


class Assembly:
    """The working state of one call; streams are copied when first touched."""

    def __init__(self, open_entries: Open, federation: str) -> None:
        self.streams = dict(open_entries.streams)
        self.federation = federation
        self.entries: list[Entry] = []
        self._own: set[str] = set()
        self._size = sum(held.size for s in self.streams.values() for held in s.held())

    def speaks(self, key: str) -> bool:
        """Whether a stream has something open that the next lines, quiet or not, may belong to."""
        stream = self.streams.get(key)
        return stream is not None and any(speaks(held) for held in stream.held())

    def freeze(self) -> Open:
        for key in self._own & self.streams.keys():
            for held in self.streams[key].held():
                if held.record.value is not None:
                    held.record = replace(held.record, value=None)
                    held.line = replace(held.line, text="")
        return Open(streams=self.streams)

    def release(self, key: str, *, cut: bool = False) -> None:
        """Complete everything a stream has open and forget the stream."""
        stream = self.streams.pop(key)
        self._own.discard(key)
        for held in stream.held():
            if held is stream.pieces:
                held = replace(held, rows=["".join(held.rows)])
            self._close(held, cut=cut)

    def _touch(self, key: str) -> Stream:
        """The stream, ours to change, moved to the end of the row."""
        stream = self.streams.pop(key, None)
        if stream is None:
            stream = Stream()
            self._own.add(key)
        elif key not in self._own:
            stream = copy(stream)
            self._own.add(key)
        self.streams[key] = stream
        if len(self.streams) > OPEN_STREAMS or self._size > OPEN_BYTES:
            oldest = next(iter(self.streams))
            if oldest != key:
                self.release(oldest, cut=True)
        return stream

    # --- lines ---------------------------------------------------------------------------------

    def take(self, record: RawRecord, line: Line, *, hit: bool) -> None:
        """Add one record's line or lines to its stream."""
        stream = self._touch(stream_key(record, line))
        if not hit and self._pass_quiet(stream, record, line):
            return
        self._expire(stream, record.timestamp_ms)
        if line.flare is not None:
            self._header(stream, record, line, "", hit=hit)
            return
        text = plain(line.text)
        if line.partial or stream.pieces is not None:
            whole = self._piece(stream, record, line, text, hit=hit)
            if whole is None:
                return
            record, line, text, hit = whole
        if "\n" not in text:
            self._row(stream, record, line, text, hit=hit)
            return
        self._rows(stream, record, line, text, hit=hit)

    def _pass_quiet(self, stream: Stream, record: RawRecord, line: Line) -> bool:
        """The short way of nearly every line: a quiet header where nothing of note is open."""
        main, text = stream.main, line.text
        if (
            (main is not None and (main.hit or main.stage != NONE))
            or stream.piped
            or stream.bare is not None
            or stream.pieces is not None
            or line.partial
            or len(text) > ROW_BYTES
            or "Traceback" in text
            or THREAD in text
        ):
            return False
        if line.flare is None:
            if "\n" in text or "\r" in text or not is_log_header(text):
                return False
            stream.stamp = text[:STAMP]
        if main is not None:
            self._size -= main.size
        head = text if line.flare is None else ""
        stream.main = Held(record=record, line=line, head=head, size=len(text))
        self._size += len(text)
        return True

    def _piece(
        self, stream: Stream, record: RawRecord, line: Line, text: str, *, hit: bool
    ) -> tuple[RawRecord, Line, str, bool] | None:
        """Join a line that was cut into pieces; `None` while more of it is to come."""
        held = stream.pieces
        if held is None:
            held = stream.pieces = Held(record=record, line=replace(line, text=""))
        if held.size < ENTRY_BYTES:
            held.rows.append(text[:ENTRY_BYTES])
            self._grow(held, len(held.rows[-1]))
        held.hit = held.hit or hit
        if line.partial:
            return None
        stream.pieces = None
        self._size -= held.size
        return held.record, held.line, "".join(held.rows), held.hit

    def _rows(self, stream: Stream, record: RawRecord, line: Line, text: str, *, hit: bool) -> None:
        """A record of several lines: what has no header belongs to the line before it."""
        target: Held | None = None
        for row in text.split("\n", ENTRY_LINES):
            row = row.rstrip("\r")
            if target is None or is_header(row):
                target = self._row(stream, record, line, row, hit=hit)
            else:
                self._append(target, line, row, hit=hit)

    def _row(self, stream: Stream, record: RawRecord, line: Line, row: str, *, hit: bool) -> Held:
        row = _clip(row)
        if is_header(row):
            return self._header(stream, record, line, row, hit=hit)
        return self._continue(stream, record, line, row, hit=hit)

    def _header(
        self, stream: Stream, record: RawRecord, line: Line, head: str, *, hit: bool
    ) -> Held:
        if is_log_header(head):
            stream.stamp = head[:STAMP]
        logger = logger_of(line, head)
        if logger in PIPED:
            message = (read_line(line) if line.flare is not None else read_text(head)).text
            held = stream.piped.get(logger)
            if held is not None:
                if fits(held, message):
                    self._append(held, line, message, hit=hit)
                    return held
                del stream.piped[logger]
                self._close(held)
            if begins(message) or message.startswith(THREAD):
                self._end_main(stream)
                held = Held(record=record, line=line, head=head, hit=hit, piped=True)
                stream.piped[logger] = held
                self._append(held, line, message, hit=hit)
                return held
        self._end_main(stream)
        shown = head
        if line.flare is not None:
            shown = _clip(line.flare["message"], ENTRY_BYTES)
            line = replace(line, text="", flare={**line.flare, "message": shown})
        held = Held(record=record, line=line, head=head, stamp=stream.stamp, hit=hit)
        self._grow(held, len(shown))
        held.stage = FRAMES if any(map(begins, shown.split("\n", ENTRY_LINES))) else NONE
        stream.main = held
        return held

    def _continue(
        self, stream: Stream, record: RawRecord, line: Line, row: str, *, hit: bool
    ) -> Held:
        """A line without a header: of an interrupted traceback, of what is open, or by itself."""
        main, bare = stream.main, stream.bare
        own_traceback = main is not None and not main.bare and main.stage == FRAMES
        if bare is not None and not own_traceback and fits(bare, row):
            self._append(bare, line, row, hit=hit)
            return bare
        loose = not is_flare_file(place(line.path or record.path).file)
        if main is not None and belongs(main, row, loose=loose):
            self._append(main, line, row, hit=hit)
            return main
        self._end_main(stream)
        held = Held(record=record, line=line, stamp=stream.stamp, hit=hit)
        if row.startswith(INSIDE) and row.strip():
            held.stage = FRAMES  # the beginning of this traceback is missing
        self._append(held, line, row, hit=hit)
        stream.main = held
        return held

    def _end_main(self, stream: Stream) -> None:
        """Something else begins: complete what is open, but keep an unfinished bare traceback."""
        main, stream.main = stream.main, None
        if stream.bare is not None and stream.bare.stage not in (PREFIX, FRAMES):
            self._close(stream.bare)
            stream.bare = None
        if main is None:
            return
        if main.bare and main.stage in (PREFIX, FRAMES):
            if stream.bare is not None:
                self._close(stream.bare)
            stream.bare = main
        else:
            self._close(main)

    # --- one entry -----------------------------------------------------------------------------

    def _append(self, held: Held, line: Line, row: str, *, hit: bool) -> None:
        row = _clip(row)
        held.stage = advance(held.stage, row)
        held.last_ms = max(held.last_ms, line.time_ms)
        if not held.spent and (len(held.rows) >= ENTRY_LINES or held.size + len(row) > ENTRY_BYTES):
            self._close(held, cut=True)
            held.spent, held.rows, held.size = True, [], 0
        if not held.spent:
            held.rows.append(row)
            held.hit = held.hit or hit
            self._grow(held, len(row) + 1)
        elif hit:  # beyond the bound, but it says something: an entry of its own
            rest = replace(held, rows=[row], spent=False, hit=True, size=0)
            self._close(rest, cut=True)

    def _grow(self, held: Held, by: int) -> None:
        held.size += by
        self._size += by

    def _expire(self, stream: Stream, now_ms: int) -> None:
        if stream.bare is not None and is_stale(stream.bare, now_ms):
            self._close(stream.bare)
            stream.bare = None
        if stream.main is not None and is_stale(stream.main, now_ms):
            self._close(stream.main)
            stream.main = None
        if stream.piped:
            for logger, held in list(stream.piped.items()):
                if is_stale(held, now_ms):
                    del stream.piped[logger]
                    self._close(held)

    def _close(self, held: Held, *, cut: bool = False) -> None:
        self._size -= held.size
        if not speaks(held):
            return
        self.entries.append(
            build(
                held.record,
                held.line,
                head=held.head,
                rows=held.rows,
                known_stamp=held.stamp,
                last_ms=held.last_ms,
                cut=cut or (held.stage == FRAMES and (held.bare or held.piped)),
                piped=held.piped,
                traced=held.stage != NONE,
                federation=self.federation,
            )
        )


def _clip(row: str, limit: int = ROW_BYTES) -> str:
    if len(row) <= limit:
        return row
    half = limit // 2
    return f"{row[:half]} … {row[-half:]}"
