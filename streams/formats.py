"""What a file holds, told by its first bytes; and how a stream of JSON falls into documents.

Names decide nothing but one thing: whether a text file found in a folder, whose first lines look
like no log, is read as one (`nohup.out`, `stderr.txt`).
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

Kind = Literal["empty", "gzip", "json", "text", "log", "unreadable"]

HEAD_BYTES = 64 * 1024
LINE_BYTES = 1024 * 1024  # a longer text line is a dead letter
DOCUMENT_BYTES = 64 * 1024 * 1024  # a longer JSON document is a dead letter, unless it is a list

_PACKED = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "compressed with bzip2; only gzip is read",
    b"\xfd7zXZ\x00": "compressed with xz; only gzip is read",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; only gzip is read",
}
_JUNK = bytes(code for code in range(32) if code not in b"\t\n\r\x0b\x0c\x08\x1b") + b"\x7f"
_LOG_LINE = re.compile(
    rb"^(?:\x1b\[[0-9;]{0,8}m)?"
    rb"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}[,.][0-9]{3}"  # FLARE
    rb"|[IWEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+ "  # glog: gRPC core, the kubelet
    rb"|Traceback \(most recent call last\):\r?$)",
    re.MULTILINE,
)
_LOG_NAME = re.compile(
    r"(?:.*(?:log|console|stderr|stdout|output).*\.(?:txt|log|out|err)(?:\.[0-9]+)?"
    r"|.*\.(?:log|out|err)(?:\.[0-9]+)?|stderr|stdout|nohup\.out)(?:\.gz)?\Z",
    re.IGNORECASE,
)
_YAML = re.compile(rb"\A(?:---\s*\r?\n)?(?:apiVersion|kind|items|metadata):", re.IGNORECASE)


class Format(Struct, frozen=True, kw_only=True):
    """What a file holds. `why` says why it can't be read; `encoding` is set if it is no UTF-8."""

    kind: Kind
    why: str = ""
    encoding: str = ""
    skip: int = 0  # bytes of a byte order mark


def tell(head: bytes, *, name: str = "") -> Format:
    """Tell a file's format by its first `HEAD_BYTES`. `name` only matters for text (see above)."""
    if head.startswith(b"\x1f\x8b"):
        return Format(kind="gzip")
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):  # PowerShell's `kubectl ... > file`
            text = head[2:].decode(encoding, errors="ignore").encode()
            return Format(kind=tell(text, name=name).kind, encoding=encoding, skip=2)
    skip = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    body = head[skip:].lstrip()
    if not body:
        return Format(kind="empty")
    why = _unreadable(head, body)
    if why:
        return Format(kind="unreadable", why=why)
    if body[:1] == b"{" or (body[:1] == b"[" and re.match(rb'\[\s*[\[{"\]]', body)):
        return Format(kind="json", skip=skip)
    is_log = _LOG_LINE.search(head) or _LOG_NAME.fullmatch(name.rpartition("/")[2])
    return Format(kind="log" if is_log else "text", skip=skip)


def _unreadable(head: bytes, body: bytes) -> str:
    for mark, why in _PACKED.items():
        if head.startswith(mark):
            return why
    if head[257:262] == b"ustar":
        return "a tar archive; unpack it first"
    if is_junk(head):
        return "binary, no text"
    if _YAML.match(body):
        return "YAML; write it with -o json"
    return ""


def is_junk(data: bytes) -> bool:
    """True if more than a tenth of the bytes are control characters that no text holds."""
    return (len(data) - len(data.translate(None, _JUNK))) * 10 > len(data)


class Piece(Struct, frozen=True, kw_only=True):
    """A cut of a JSON stream. `whole`: a document, as far as its brackets tell; else one line."""

    offset: int
    data: bytes
    whole: bool
    too_long: bool = False  # `data` is only its beginning


_LIST_OPENS = re.compile(rb'\s*"items"\s*:\s*\[\s*\Z')
_CONTINUES = (b"{", b"[", b",", b":")
_CLOSED = 1 << 30  # the depth of no element: the list is closed, its envelope is not yet


class Documents:
    """Cuts lines into JSON documents: one a line, pretty-printed over many, or one after the other.

    The elements of a pretty-printed list (`items`, `records`, `workloads`, or a bare array) come
    out one by one, so that a list of any length needs the memory of one element. A document that
    breaks off costs its own lines only: two whole objects in a row, no comma between, cannot be
    inside one.
    """

    def __init__(self) -> None:
        self._lines: list[tuple[int, bytes]] = []
        self._bytes = 0
        self._depth = 0
        self._base = 0  # depth at which an element of an open list begins; 0 = no list is open
        self._after_whole = False  # the line before was a whole object, and no comma followed

    def feed(self, offset: int, line: bytes) -> Iterator[Piece]:
        """Take one line (without its end) and yield what it completes."""
        line = line.strip()
        if not line:
            return
        if self._depth == 0 and _looks_whole(line):
            yield Piece(offset=offset, data=line, whole=True)
            return
        outside = _outside_strings(line)
        if self._depth and (outside is None or self._breaks_off(line, outside)):
            yield from self.end()
            yield from self.feed(offset, line)
        elif outside is None:
            yield Piece(offset=offset, data=line, whole=False)
        elif self._depth == 0 and not _begins(line, outside):
            yield Piece(offset=offset, data=line, whole=_balance(outside) == 0)
        else:
            yield from self._continue(offset, line, self._depth + _balance(outside))

    def end(self, *, too_long: bool = False) -> Iterator[Piece]:
        """Give up what is still open: yield its lines, or if it is too long only the first."""
        lines = self._lines[:1] if too_long else self._lines
        self._clear()
        self._depth = self._base = 0
        for offset, line in lines:
            whole = not too_long and _looks_whole(line.rstrip(b", "))
            yield Piece(offset=offset, data=line.rstrip(b", "), whole=whole, too_long=too_long)

    def _breaks_off(self, line: bytes, outside: bytes) -> bool:
        is_whole = line[:1] == b"{" and line[-1:] == b"}" and _balance(outside) == 0
        broken, self._after_whole = self._after_whole and is_whole, is_whole
        return broken

    def _continue(self, offset: int, line: bytes, depth: int) -> Iterator[Piece]:
        if self._base == 0 and depth == self._depth + 1 and self._opens_list(line):
            self._base = self._depth = depth
            self._clear()
            return
        self._lines.append((offset, line))
        self._bytes += len(line) + 1
        self._depth = depth
        if self._base == 0 and depth <= 0:
            yield self._whole()
            self._depth = 0
        elif self._base and depth == self._base:
            piece = self._whole()
            if piece.data.strip(b", "):
                yield Piece(offset=piece.offset, data=piece.data.strip(b", "), whole=True)
        elif self._base and depth < self._base:  # closed; the rest of its envelope says nothing
            self._clear()
            self._base = _CLOSED if depth > 0 else 0
        elif self._bytes > DOCUMENT_BYTES:
            yield from self.end(too_long=True)

    def _opens_list(self, line: bytes) -> bool:
        bare = self._depth == 0 and line == b"["
        return bare or (self._depth == 1 and _LIST_OPENS.match(line) is not None)

    def _whole(self) -> Piece:
        offset = self._lines[0][0]
        data = b"\n".join(line for _, line in self._lines)
        self._clear()
        return Piece(offset=offset, data=data, whole=True)

    def _clear(self) -> None:
        self._lines, self._bytes, self._after_whole = [], 0, False


def _begins(line: bytes, outside: bytes) -> bool:
    """True for the first line of a document of many; a line cut short elsewhere is none."""
    return line[:1] in (b"{", b"[") and _balance(outside) > 0 and line.endswith(_CONTINUES)


def _looks_whole(line: bytes) -> bool:
    """True for one line that holds whole documents, as far as counting brackets can say."""
    if line[:1] == b"{":
        return line[-1:] == b"}" and line.count(b"{") == line.count(b"}")
    return line[:1] == b"[" and line[-1:] == b"]" and line.count(b"[") == line.count(b"]")


def _balance(outside: bytes) -> int:
    opened = outside.count(b"{") + outside.count(b"[")
    return opened - outside.count(b"}") - outside.count(b"]")


def _outside_strings(line: bytes) -> bytes | None:
    """The line without its JSON strings; None if a string is still open at its end."""
    parts = line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
    return None if len(parts) % 2 == 0 else b"".join(parts[::2])


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)


def concatenated(data: bytes) -> list[bytes]:
    """Cut `{...}{...}` on one line into its documents; what can't be cut stays whole."""
    found: list[bytes] = []
    depth = start = 0
    for token in _TOKEN.finditer(data):
        mark = token[0]
        depth += (mark in (b"{", b"[")) - (mark in (b"}", b"]"))
        if depth == 0 and mark in (b"}", b"]"):
            found.append(data[start : token.end()].strip())
            start = token.end()
    rest = data[start:].strip()
    return [*found, rest] if rest else found
