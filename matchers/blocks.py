"""Lines of a block of text, found where they are needed instead of cut one by one."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from matchers.held import INSIDE, THREAD
from schemas.record import RawRecord, TextBlock
from schemas.sources.flare import is_header, plain
from schemas.sources.shippers import Line, unwrap

_INSIDE = re.compile(
    "^(?:" + "|".join(re.escape(text) for text in (*INSIDE, THREAD)) + ")", re.MULTILINE
)
LOOK_BACK = 1000  # lines back from a line for the header of its entry: as long as an entry may be


class BlockLines:
    """The lines of one block, each named by the position at which it begins."""

    def __init__(self, block: TextBlock) -> None:
        self.block = block
        self.text = block.data.decode()
        self._plain = self.text.isascii()
        self._known = (0, 0)  # a position in the text, and the same in bytes
        filled = self.text.count("\n") - self.text.count("\n\n") - self.text.startswith("\n")
        self.count = filled + (not self.text.endswith("\n"))

    def __iter__(self) -> Iterator[int]:
        """Where each line begins that is not empty."""
        at = 0
        while at < len(self.text):
            end = self.end_of(at)
            if not self.text[at:end].isspace() and end > at:
                yield at
            at = end + 1

    def begin_of(self, position: int) -> int:
        """Where the line around a position begins."""
        return self.text.rfind("\n", 0, position) + 1

    def end_of(self, at: int) -> int:
        """Where the line that begins at a position ends."""
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def at(self, at: int) -> str:
        """The line that begins there."""
        return self.text[at : self.end_of(at)].rstrip("\r")

    def record_at(self, at: int) -> RawRecord:
        """That line as a record."""
        return self.block.record(self._offset(at), self.at(at).encode())

    def line_at(self, at: int) -> Line:
        """That line, read."""
        return unwrap(self.record_at(at), None)

    def _offset(self, at: int) -> int:
        if self._plain:
            return self.block.first_offset + at
        known, known_bytes = self._known
        if at < known:
            known, known_bytes = 0, 0
        self._known = (at, known_bytes + len(self.text[known:at].encode()))
        return self.block.first_offset + self._known[1]

    def lines_of(self, offsets: Iterable[int]) -> Iterator[int]:
        """The lines that hold these offsets into the block's bytes, in order."""
        data, known, known_bytes, end = self.block.data, 0, 0, 0
        for offset in sorted(offsets):
            if offset < end:
                continue
            begin = data.rfind(b"\n", end, offset) + 1 or end
            known += len(data[known_bytes:begin].decode())
            known_bytes = begin
            end = data.find(b"\n", offset) + 1 or len(data) + 1
            yield known

    def needed(self, speaking: Collection[int], goes_on: Callable[[], bool]) -> Iterator[int]:
        """The lines that have to be read, in order.

        Those that speak, each from the header of its entry on; what follows while an entry
        `goes_on`; and the last entry of the block, which the next block may continue.
        """
        at = 0
        for target in sorted({*speaking, *self._frames(), *self._tail()}):
            while at < target and goes_on():
                yield from self._filled(at)
                at = self.end_of(at) + 1
            if at > target:
                continue
            at = self._header_before(target, at)
            while at <= target:
                yield from self._filled(at)
                at = self.end_of(at) + 1
        while at < len(self.text) and goes_on():
            yield from self._filled(at)
            at = self.end_of(at) + 1

    def ends(self, number: int) -> list[int]:
        """The first and the last lines, so many at each end."""
        first: list[int] = []
        for at in self:
            if len(first) == number:
                break
            first.append(at)
        last: list[int] = []
        at = len(self.text.rstrip("\n"))
        while at > 0 and len(last) < number:
            at = self.begin_of(at)
            last += self._filled(at)
            at -= 1
        return sorted({*first, *last})

    def _filled(self, at: int) -> Iterator[int]:
        end = self.end_of(at)
        if end > at and not self.text[at:end].isspace():
            yield at

    def _frames(self) -> Iterator[int]:
        """Lines that may be the inside of a traceback whose beginning is missing."""
        return (found.start() for found in _INSIDE.finditer(self.text))

    def _tail(self) -> list[int]:
        """The lines of the block's last entry: from its header to the end."""
        end = len(self.text.rstrip("\n"))
        if not end:
            return []
        at = self._header_before(self.begin_of(end), 0)
        lines: list[int] = []
        while at < end:
            lines += self._filled(at)
            at = self.end_of(at) + 1
        return lines

    def _header_before(self, target: int, floor: int) -> int:
        """The nearest header with a time at or before a line, but not before `floor`."""
        at = target
        for _ in range(LOOK_BACK):
            if at <= floor or _is_dated(plain(self.at(at))):
                return max(at, floor)
            at = self.begin_of(at - 1)
        return at


def _is_dated(line: str) -> bool:
    """Whether a line is a header that also tells when the undated lines after it were written."""
    return line[:1].isdigit() and is_header(line)
