"""Whole log entries from lines: a header, what follows it, and tracebacks however they were cut up.

Facts, flare 1.1. A record begins with a header line; lines without one continue it. In the files
that FLARE's handlers write this always holds. On a console (standard output and error of a process,
container logs) it does not: a traceback comes bare, lines of other threads interrupt it, and a
plain line is nobody's. External trainers write one record per line of their own standard error.

Everything is decided line by line and stream by stream, so neither the cut of batches nor the
interleaving of streams makes a difference. A caller may leave out quiet lines of streams in which
nothing is open (`wants`); what it leaves out cannot serve as context.
"""

from collections.abc import Collection, Sequence

from matchers.assembly import Assembly, is_stale, stream_key
from matchers.held import Held, Open, Stream, speaks
from matchers.log_entry import mode_of, seen
from schemas.entry import Entry
from schemas.record import RawRecord
from schemas.sources.shippers import Line

__all__ = [
    "Held",
    "Open",
    "Stream",
    "assemble",
    "close_stale",
    "held_records",
    "mode_of",
    "seen",
    "stream_key",
    "wants",
]


def wants(open_entries: Open, stream: str) -> bool:
    """Whether the next lines of a stream are needed although they may be quiet."""
    found = open_entries.streams.get(stream)
    return found is not None and any(speaks(held) for held in found.held())


def assemble(
    lines: Sequence[tuple[RawRecord, Line]],
    open_entries: Open,
    *,
    final: bool = False,
    federation: str = "",
    hits: Collection[int] | None = None,
) -> tuple[list[Entry], Open]:
    """The entries that these lines complete, and what stays open.

    `hits` are the positions of the lines that have something to say (all, if not given): an entry
    without one is dropped, unless it holds a traceback. `final` completes everything.
    """
    work = Assembly(open_entries, federation)
    for position, (record, line) in enumerate(lines):
        work.take(record, line, hit=hits is None or position in hits)
    if final:
        for key in list(work.streams):
            work.release(key)
    return work.entries, work.freeze()


def held_records(open_entries: Open) -> list[RawRecord]:
    """The records in which entries began that will still be said."""
    streams = open_entries.streams.values()
    return [held.record for stream in streams for held in stream.held() if speaks(held)]


def close_stale(
    open_entries: Open, now_ms: int, *, federation: str = ""
) -> tuple[list[Entry], Open]:
    """Complete what has waited for longer than `OPEN_MS`: for streams that have fallen silent."""
    work = Assembly(open_entries, federation)
    for key, stream in open_entries.streams.items():
        if all(is_stale(held, now_ms) for held in stream.held()):
            work.release(key)
    return work.entries, work.freeze()
