"""Which lines are looked at at all: those with a rare word of a rule, and those that may hide one.

Nearly all lines of a log are plain text without any such word. They cost one Aho-Corasick pass and
one linear regular expression, and are never read again.
"""

import re
from collections.abc import Iterator

import re2

from matchers.automaton import fold
from matchers.slots import Lexicon

_NEEDS_LOOK = re.compile(
    r"[^\x20-\x7e\t]"  # another script, or a control character
    r"|\\(?:u[0-9a-fA-F]{4}|U000|x[2-7][0-9a-fA-F]|x1b|x9[bd]|033|e\[)"
    r"|(?:%[0-9a-fA-F]{2}[^%\s]{0,40}){3}|&#x?\d"
    r"|(?:\b\w ){8}"
    r"|\w {3,12}\w{1,40},? {3,12}\w{1,40},? {3,12}\w"
    r"|(?<![a-zA-Z])(?:[a-zA-Z]{2,24}[_-](?!\d)){4}[a-zA-Z]"
    r"|(?:(?<![\w.-])\w{0,12}[A-Za-z][013457]{1,2}[G-Zg-z]\w{0,12}(?![\w.-])[^\n]{0,24}?){2}"
    r"|(?<![\w/.-])(?=[A-Za-z+/]{0,23}[0-9])(?=[a-z0-9+/]{0,23}[A-Z])(?=[A-Z0-9+/]{0,23}[a-z])"
    r"[A-Za-z0-9+]{12}[A-Za-z0-9+/]{12}"
)


def needs_look(text: str) -> bool:
    """Whether a line has to be inspected although it has no anchor: it may read otherwise."""
    return _NEEDS_LOOK.search(text) is not None


_LATIN = re2.Options()
_LATIN.encoding = re2.Options.Encoding.LATIN1

# The same question to a whole buffer: each expression finds every line that `_NEEDS_LOOK` does, and
# a few more, in linear time: it takes the rest of the line along, and is not asked where its byte
# is not there.
_MAY_NEED_LOOK: tuple[tuple[bytes, "re2._Regexp[bytes]"], ...] = tuple(
    (byte, re2.compile(pattern + rb"[^\n]*", _LATIN))
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


def anchors(lexicon: Lexicon) -> tuple[str, ...]:
    """The literals, folded, of which a plain line needs one so that a rule can be met."""
    wanted = {name for rule in lexicon.rules for name in rule.anchor}
    found: set[str] = set()
    for slot in lexicon.slots:
        if slot.name not in wanted:
            continue
        found.update(fold(hint) for hint in slot.hints if hint not in slot.common)
        for phrase in map(fold, slot.phrases):
            if phrase.isascii() and phrase not in slot.common:
                end = " " if slot.order and phrase[-1].isalnum() else ""  # an order goes on
                phrase = phrase.rstrip("*")
                found.update(phrase.replace(" ", joined) + end for joined in " -_")
    kept: set[str] = set()
    for phrase in sorted(found, key=lambda p: (len(p), p)):
        if not any(part in kept for part in _parts(phrase)):
            kept.add(phrase)
    return tuple(sorted(kept))


def _parts(text: str) -> Iterator[str]:
    """Every piece of a text."""
    ends = range(1, len(text) + 1)
    return (text[start:end] for end in ends for start in range(end))
