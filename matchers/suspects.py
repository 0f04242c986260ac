"""Which lines of a whole buffer `waking.needs_look` may want to see, in linear time.

Each expression finds every line that `needs_look` does, and a few more; a property test holds the
two together. An expression whose byte is not in the buffer is not asked.
"""

import re2

_LATIN = re2.Options()
_LATIN.encoding = re2.Options.Encoding.LATIN1

_MAY_NEED_LOOK: tuple[tuple[bytes, "re2._Regexp[bytes]"], ...] = tuple(
    (byte, re2.compile(pattern, _LATIN))
    for byte, pattern in (
        (b"", rb"[^\x20-\x7e\t\n]"),
        (b"\\", rb"\\(?:u[0-9a-fA-F]{4}|U000|x[2-7][0-9a-fA-F]|x1b|x9[bd]|033|e\[)"),
        (b"%", rb"(?:%[0-9a-fA-F]{2}[^%\s]{0,40}){3}"),
        (b"&#", rb"&#x?\d"),
        (b"", rb"(?:\b\w ){8}"),
        (b"   ", rb"\w {3,12}\w{1,40},? {3,12}\w{1,40},? {3,12}\w"),
        (b"", rb"(?:[a-zA-Z]{2,24}[_-]){4}[a-zA-Z]"),
        (b"", rb"[A-Za-z][013457]{1,2}[G-Zg-z][^\n]{0,80}[A-Za-z][013457]{1,2}[G-Zg-z]"),
        (b"", rb"[A-Za-z0-9+]{12}[A-Za-z0-9+/]{12}"),
    )
)


def may_need_look(data: bytes) -> set[int]:
    """Where in a buffer of many lines something stands that `needs_look` may want to see."""
    found: set[int] = set()
    for byte, regex in _MAY_NEED_LOOK:
        if byte in data:
            found.update(match.start() for match in regex.finditer(data))
    return found
