"""Files, folders and standard input -> batches of raw records.

A format is told by content (`streams.formats`), never by name alone. JSON is cut into documents and
each document's topic is told by its content or named by its dump; every other text is lines of
`flare-logs` with the path's label, which tells site and job. What can't be read is named and
counted, and the rest goes on.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from schemas.errors import Reason, SchemaError
from schemas.record import RawRecord, TextBlock
from schemas.sources.folders import is_uuid, looks_like_site
from streams.dumps import Place, Rejected, records_of, rejected
from streams.formats import DOCUMENT_BYTES, LINE_BYTES, Documents, Piece, is_junk
from streams.opening import CannotReadError, Source
from streams.walk import Found, Unread, Walk

BATCH_RECORDS = 2_000
BATCH_BYTES = 1024 * 1024
LOGS = "flare-logs"
_IDENTITY = re.compile(rb"\[identity=([^,\]\s]{1,128})")  # of a fl_ctx (facts, flare 1.2)
FIRST_FILE = 100_000
"""Partition of the first file. No topic has so many: files share no offsets with dumps."""


Batch = list[RawRecord]


class Reader:
    """Reads inputs once, in the order `streams.walk` states.

    After reading, `unread` names what could not be read and `passed_over` what was left out;
    `rejected` holds the parts that are no record since it was last taken.
    """

    def __init__(
        self, inputs: Sequence[str], *, on_read: Callable[[int], None] = lambda _: None
    ) -> None:
        walk = Walk(inputs)
        self.files = walk.files
        self.unread: list[Unread] = walk.unread
        self.passed_over: list[Unread] = walk.passed_over
        self.total_bytes = sum(found.size for found in walk.files)
        self.bytes_read = 0
        self.on_read = on_read
        self._rejected: list[Rejected] = []

    def read(self) -> Iterator[Batch | TextBlock]:
        """All records, in batches; logs in blocks of whole lines."""
        for number, found in enumerate(self.files):
            try:
                with Source(found, self._count) as source:
                    placed = replace(found, label=placed_label(found, source.head))
                    yield from self._file(source, placed, FIRST_FILE + number)
            except CannotReadError as error:
                self.unread.append(Unread(label=found.label, why=str(error)))

    def take_rejected(self) -> list[Rejected]:
        """What was no record since the last call."""
        taken, self._rejected = self._rejected, []
        return taken

    def _count(self, count: int) -> None:
        self.bytes_read += count
        self.on_read(count)

    def _file(self, source: Source, found: Found, partition: int) -> Iterator[Batch | TextBlock]:
        kind = source.format.kind
        if kind == "json":
            yield from _batched(self._documents(source, found, partition))
        elif kind == "log" or (kind == "text" and found.given):
            yield from self._log(source, found, partition)
        elif kind == "text":
            self._pass_over(found, "text that looks like no log")
        elif kind == "unreadable" and found.given:
            self.unread.append(Unread(label=found.label, why=source.format.why))
        elif kind == "unreadable":
            self._pass_over(found, source.format.why)

    def _pass_over(self, found: Found, why: str) -> None:
        self.passed_over.append(Unread(label=found.label, why=why))

    def _documents(self, source: Source, found: Found, partition: int) -> Iterator[RawRecord]:
        is_first = True
        for piece in _pieces(source):
            place = Place(path=found.label, partition=partition, offset=piece.offset)
            for record in self._read_piece(piece, place):
                if isinstance(record, RawRecord):
                    yield record
                elif is_first and not found.given and _is_foreign(record):
                    self._pass_over(found, record.error.found)
                    return
                else:
                    self._rejected.append(record)
                is_first = False

    def _read_piece(self, piece: Piece, place: Place) -> Iterator[RawRecord | Rejected]:
        if piece.too_long:
            found = f"a document or line of more than {DOCUMENT_BYTES:,} bytes"
            yield rejected(piece.data, place, SchemaError(Reason.TOO_LARGE, found))
        elif piece.data[:1] in (b"{", b"["):
            yield from records_of(piece.data, place)
        else:  # a word among the JSON of a log
            yield from _readable(place.path, place.partition, place.offset, piece.data)

    def _log(self, source: Source, found: Found, partition: int) -> Iterator[Batch | TextBlock]:
        lines = Lines(LINE_BYTES)
        for offset, data, cut in lines.cut(source.blocks()):
            place = Place(path=found.label, partition=partition, offset=offset)
            if cut:
                error = SchemaError(Reason.TOO_LARGE, f"a line of more than {LINE_BYTES:,} bytes")
                self._rejected.append(rejected(data, place, error))
            elif b"\0" not in data and _is_utf8(data):
                yield TextBlock(
                    topic=LOGS,
                    path=found.label,
                    partition=partition,
                    first_offset=offset,
                    data=data,
                )
            else:
                yield from _batched(self._hard_lines(data, place))

    def _hard_lines(self, data: bytes, place: Place) -> Iterator[RawRecord]:
        offset = place.offset
        for line in data.split(b"\n"):
            if line.strip():
                for record in _readable(place.path, place.partition, offset, line):
                    if isinstance(record, RawRecord):
                        yield record
                    else:
                        self._rejected.append(record)
            offset += len(line) + 1


class Lines:
    """Cuts blocks behind line ends. A line longer than `limit` is cut: its beginning, marked."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def cut(self, blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes, bool]]:
        """Yield (offset, whole lines, False), and (offset, beginning of a line, True)."""
        offset, parts, held, dropping = 0, list[bytes](), 0, False
        for block in blocks:
            end = block.rfind(b"\n") + 1
            if dropping:  # the rest of a line that was too long
                first = block.find(b"\n") + 1
                offset += first or len(block)
                if not first:
                    continue
                block, end, dropping = block[first:], end - first, False
            if end:
                data = b"".join((*parts, block[:end]))
                yield offset, data, False
                offset += len(data)
                parts, held = [], 0
            if end < len(block):
                parts.append(block[end:])
                held += len(block) - end
            if held > self._limit:
                yield offset, b"".join(parts), True
                offset += held
                parts, held, dropping = [], 0, True
        if held:
            yield offset, b"".join(parts), False


def placed_label(found: Found, head: bytes) -> str:
    """The label, without its folders when they mean nothing: a log copied to `~/Downloads`.

    FLARE's folders are named as the site or the job. A file given without the workspace around it
    keeps them unless its lines name their site and never the folder.
    """
    *folders, name = found.label.split("/")
    if not found.loose or not folders:
        return found.label
    folder = folders[-1]
    identities = set(_IDENTITY.findall(head))
    is_placed = is_uuid(folder) or looks_like_site(folder) or folder.encode() in identities
    return found.label if is_placed or not identities else name


def _pieces(source: Source) -> Iterator[Piece]:
    documents = Documents()
    for offset, data, cut in Lines(DOCUMENT_BYTES).cut(source.blocks()):
        if cut:
            yield Piece(offset=offset, data=data, whole=False, too_long=True)
            continue
        for line in data.split(b"\n"):
            yield from documents.feed(offset, line)
            offset += len(line) + 1
    yield from documents.end()


def _batched(records: Iterator[RawRecord]) -> Iterator[Batch]:
    batch: Batch = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.value or b"")
        if len(batch) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _readable(
    path: str, partition: int, offset: int, line: bytes
) -> Iterator[RawRecord | Rejected]:
    """A line of unknown encoding: UTF-8, else Latin-1; binary junk is rejected."""
    if is_junk(line):
        place = Place(path=path, partition=partition, offset=offset)
        yield rejected(line, place, SchemaError(Reason.NOT_TEXT, f"{len(line)} bytes, not text"))
        return
    text = line if _is_utf8(line) else line.decode("latin-1").encode()
    yield _line(path, partition, offset, text)


def _line(path: str, partition: int, offset: int, line: bytes) -> RawRecord:
    value = line.rstrip(b"\r")
    return RawRecord(topic=LOGS, partition=partition, offset=offset, value=value, path=path)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_foreign(record: Rejected) -> bool:
    return record.error.reason in (Reason.UNKNOWN_TOPIC, Reason.WRONG_SHAPE)
