"""What is open in a stream of log lines, and which next line can belong to it.

Facts, flare 1.1. A traceback on a console comes line by line, between the lines of other threads:
a line is its next one if it has the form that Python gives to it there.
"""

from msgspec import Struct, field
from msgspec.structs import replace

from matchers.traceback import CHAINED, begins, raised
from schemas.record import RawRecord
from schemas.sources.shippers import Line

# How far the traceback in an entry has come.
NONE, PREFIX, FRAMES, DONE, CHAIN = "", "prefix", "frames", "done", "chain"
THREAD = "Exception in thread "
INSIDE = ("    ", "  File ", "  [Previous ", "  |", "  +", "\t", 'File "')


class Held(Struct, omit_defaults=True):
    """An entry that may go on. `hit`: a line of it has something to say."""

    record: RawRecord
    line: Line
    head: str = ""  # its header line; empty for bare lines and JSON records
    rows: list[str] = field(default_factory=list)
    size: int = 0
    stage: str = NONE
    stamp: str = ""  # newest header time that the stream had shown before a line without one
    last_ms: int = 0
    hit: bool = False
    piped: bool = False
    spent: bool = False  # a bound bit: what belongs to it is still swallowed, not kept

    @property
    def bare(self) -> bool:
        return not self.head and self.line.flare is None


class Stream(Struct, omit_defaults=True):
    """What one stream of lines has open: at its end, interrupted, and per piping logger."""

    main: Held | None = None
    bare: Held | None = None  # a traceback that other threads' lines interrupted
    piped: dict[str, Held] = field(default_factory=dict)
    pieces: Held | None = None  # a line that the container runtime has cut into pieces
    stamp: str = ""

    def held(self) -> list[Held]:
        """Everything open here, oldest kind first."""
        some = (self.bare, *self.piped.values(), self.main, self.pieces)
        return [held for held in some if held is not None]


class Open(Struct, frozen=True):
    """Entries that earlier batches left open, by stream. Never changed in place."""

    streams: dict[str, Stream] = field(default_factory=dict)


def speaks(held: Held) -> bool:
    """Whether an open entry will be kept, so that its next lines matter."""
    return not held.spent and (held.hit or held.stage != NONE)


def copy(stream: Stream) -> Stream:
    """A stream that can be changed without changing the first."""

    def own(held: Held | None) -> Held | None:
        return replace(held, rows=list(held.rows)) if held is not None else None

    return Stream(
        main=own(stream.main),
        bare=own(stream.bare),
        piped={key: replace(held, rows=list(held.rows)) for key, held in stream.piped.items()},
        pieces=own(stream.pieces),
        stamp=stream.stamp,
    )


def advance(stage: str, row: str) -> str:
    """How far a traceback has come with one more line."""
    if begins(row):
        return FRAMES
    if stage == FRAMES:
        return DONE if raised(row) is not None else FRAMES
    if stage in (DONE, CHAIN) and row.startswith(CHAINED):
        return CHAIN
    if stage == NONE and row.startswith(THREAD):
        return PREFIX
    return stage


def fits(held: Held, row: str) -> bool:
    """Whether a line can be the next one of an entry's traceback."""
    if held.stage == PREFIX:
        return begins(row)
    if held.stage == NONE:
        return False
    if not row.strip():
        return True
    if held.stage == FRAMES:
        if row.startswith(INSIDE) or raised(row) is not None:
            return True
        return bool(held.rows) and held.rows[-1].startswith('File "')  # blanks were stripped
    if held.stage == CHAIN:
        return begins(row)
    return row.startswith(("  ", "\t", *CHAINED))


def belongs(main: Held, row: str, *, loose: bool) -> bool:
    """Whether a line without a header continues what is open at the stream's end."""
    if main.bare:
        if main.stage == NONE:
            return row[:1] in (" ", "\t") and not row.startswith('  File "')
        return fits(main, row)
    if not loose:
        return True
    if row.startswith(THREAD):
        return False
    if main.stage == FRAMES:
        return True
    if main.stage != NONE:
        return fits(main, row)
    return not row.strip() or row[0] in " \t]})"
