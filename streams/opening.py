"""The bytes of one input, unpacked and bounded, in blocks."""

import codecs
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import BinaryIO

from streams.formats import HEAD_BYTES, Format, tell
from streams.walk import STDIN, Found, in_words

BLOCK_BYTES = 1024 * 1024
MAX_RATIO = 250  # a gzip that unpacks to more than this many times its size is refused ...
RATIO_FROM_BYTES = 64 * 1024 * 1024  # ... once it has unpacked to more than this
MAX_UNPACKED_BYTES = 16 * 1024 * 1024 * 1024


class CannotReadError(Exception):
    """An input, or the rest of one, that can't be read; says why."""


class Source:
    """One opened input. `format` says what it holds; `blocks()` yields its bytes once, as UTF-8."""

    def __init__(self, found: Found, on_read: Callable[[int], None]) -> None:
        self.unpacked = False
        self._on_read = on_read
        self._file = _open(found)
        self._packed = self._unpacked = 0
        try:
            self._start(found.label)
        except BaseException:
            self._close()
            raise

    def _start(self, name: str) -> None:
        self._blocks = self._raw()
        head = self._take_head()
        self.format: Format = tell(head, name=name)
        if self.format.kind == "gzip":
            self.unpacked = True
            self._blocks = self._gunzip(self._chained(head, self._blocks))
            head = self._take_head()
            self.format = tell(head, name=name)
            if self.format.kind == "gzip":
                self.format = Format(kind="unreadable", why="gzip inside gzip; unpack it first")
        self.head = head
        self._blocks = self._chained(head[self.format.skip :], self._blocks)

    def blocks(self) -> Iterator[bytes]:
        """The unpacked bytes. Raises `CannotReadError` where they break off."""
        if not self.format.encoding:
            yield from self._blocks
            return
        decoder = codecs.getincrementaldecoder(self.format.encoding)(errors="replace")
        for block in self._blocks:
            yield decoder.decode(block).encode(errors="replace")

    def __enter__(self) -> "Source":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not sys.stdin.buffer:
            self._file.close()

    def _take_head(self) -> bytes:
        head = bytearray()
        for block in self._blocks:
            head += block
            if len(head) >= HEAD_BYTES:
                break
        return bytes(head)

    @staticmethod
    def _chained(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
        if head:
            yield head
        yield from blocks

    def _raw(self) -> Iterator[bytes]:
        while True:
            try:
                block = self._file.read(BLOCK_BYTES)
            except OSError as error:
                raise CannotReadError(in_words(error)) from None
            if not block:
                return
            self._on_read(len(block))
            yield block

    def _gunzip(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        inflate, fresh = zlib.decompressobj(wbits=31), True
        for block in packed:
            self._packed += len(block)
            while block:
                fresh = False
                data = self._inflated(inflate, block)
                if data:
                    yield data
                block = inflate.unconsumed_tail
                if inflate.eof:  # a gzip may have several members; padding may follow the last
                    block = inflate.unused_data.lstrip(b"\0")
                    inflate, fresh = zlib.decompressobj(wbits=31), True
        if not fresh:
            raise CannotReadError(
                f"a gzip cut short: it ends after {self._unpacked:,} unpacked bytes"
            )

    def _inflated(self, inflate: "zlib._Decompress", block: bytes) -> bytes:
        try:
            data = inflate.decompress(block, BLOCK_BYTES)
        except zlib.error:
            why = f"a damaged gzip: it breaks off after {self._unpacked:,} unpacked bytes"
            raise CannotReadError(why) from None
        self._unpacked += len(data)
        is_bomb = self._unpacked > RATIO_FROM_BYTES and self._unpacked > MAX_RATIO * self._packed
        if is_bomb or self._unpacked > MAX_UNPACKED_BYTES:
            why = f"a gzip that unpacks to more than {self._unpacked:,} bytes; unpack it first"
            raise CannotReadError(why)
        return data


def _open(found: Found) -> BinaryIO:
    """Open without following a link that took the file's place, and without waiting for a pipe."""
    if found.path == STDIN:
        return sys.stdin.buffer
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
    if not found.given:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        number = os.open(found.path, flags)
    except OSError as error:
        raise CannotReadError(in_words(error)) from None
    if not found.given and not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise CannotReadError("is no regular file any more")
    return os.fdopen(number, "rb", buffering=0)
