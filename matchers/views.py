"""Other ways to read a line: without separators, spacing, digits for letters, or coding.

Each view is made only where the line shows that it is wanted, and all of them together are bounded
by a constant times the line (facts, injection 1c stage 1).
"""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from matchers.normalise import Canonical

DECODED_CANDIDATES = 4
DECODED_DEPTH = 2
DECODED_KEPT = 8 * 1024
MIN_CODED, MAX_CODED = 24, 4096


class View(NamedTuple):
    """A line read in one way. `added`: what reading it so adds to a rule's score."""

    name: str
    text: str
    added: int
    unspaced: bool = False


_JOINED = re.compile(r"(?<![a-z])(?:[a-z]{1,24}[_/.;,:-]{1,3}){4}[a-z]")
_JOINERS = re.compile(r"(?<=[^\W_])[_/.-]{1,2}(?=[^\W_])|(?<=[,;:])[_/.-]{1,2}|(?<=\w)\.(?= )")
_DASHES = re.compile(r"_|(?<=[^\W_])-(?=[^\W_])|(?<=[,;:])[_-]|(?<=\w)\.(?= )")
_STOPS = re.compile(r"(?<=\w)[.](?= \w)")
_LETTERS = re.compile(r"(?:(?<![^\s])[^\s][ \u00a0]{1,6}){8,}[^\s]?(?![^\s])")
_LEET_WORD = re.compile(
    r"(?<![\w-])(?=[a-z0-9@$!|]{0,23}[g-z])(?=[a-z0-9@$!|]{0,23}[013457@$])[a-z0-9@$!|]{3,24}(?![\w-])"
)
_LEET = str.maketrans("013457@$!|", "oieastasii")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{24,4096}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,2048}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def views(raw: str, form: Canonical) -> Iterator[View]:
    """The further views of a line; `form` is its canonical reading."""
    text = form.text
    if _JOINED.search(text) or len(_STOPS.findall(text)) >= 2:
        words = _DASHES.sub(" ", text)
        yield View("words", words, 0)
        names = _JOINERS.sub(" ", text)
        if names != words:
            yield View("names", names, 0)
    spaced = _LETTERS.search(form.spaced)
    if spaced is not None:
        yield from _unlettered(form.spaced)
    if len(_LEET_WORD.findall(text)) >= 3:
        yield View("leet", text.translate(_LEET), 1)
    if "rot13" in text or "rot-13" in text:
        yield View("rot13", codecs.decode(text, "rot13"), 2)
    if "bidi" in form.flags or "revers" in text:
        yield View("reversed", text[::-1], 2)
    budget = DECODED_KEPT
    for decoded in _decoded(raw, 0):
        if budget <= 0:
            break
        budget -= len(decoded)
        yield View("decoded", decoded, 2)


def _unlettered(spaced: str) -> Iterator[View]:
    """Letters set apart put together again: by their wider gaps, or without any gaps."""

    def words(found: re.Match[str]) -> str:
        return " ".join(word.replace(" ", "") for word in re.split(r"[ ]{2,}", found[0])) + " "

    yield View("letters", " ".join(_LETTERS.sub(words, spaced).split()), 1)
    yield View("unspaced", "".join(spaced.split()), 1, unspaced=True)


def _decoded(text: str, depth: int) -> Iterator[str]:
    if depth >= DECODED_DEPTH:
        return
    candidates = 0
    for found in _CODED.finditer(text):
        if candidates >= DECODED_CANDIDATES:
            return
        if not _may_be_coded(found[0]):
            continue
        candidates += 1
        plain = _from_base64(found[0])
        if plain is not None:
            yield plain
            yield from _decoded(plain, depth + 1)
    for found in _HEX.finditer(text):
        if candidates >= DECODED_CANDIDATES:
            return
        digits = re.sub(r"[ :]", "", found[0])
        candidates += 1
        plain = _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))
        if plain is not None:
            yield plain


def _may_be_coded(run: str) -> bool:
    """Whether a run can be base64 of text: mixed as coded text is, not a path or a name."""
    digits = sum(map(str.isdigit, run))
    return (
        run != run.lower() and run != run.upper() and digits > 0 and run.count("/") * 8 < len(run)
    )


def _from_base64(run: str) -> str | None:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    usable = bare[: len(bare) - (len(bare) % 4 == 1)]
    try:
        data = base64.b64decode(usable + "=" * (-len(usable) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return _readable(data)


def _readable(data: bytes) -> str | None:
    """The text of decoded bytes, if it is text that somebody wrote."""
    text = data.decode("utf-8", "replace")
    if len(text) < 12:
        return None
    printable = sum(c.isprintable() or c in "\n\t" for c in text) - text.count("\ufffd")
    letters = sum(c.isalpha() or c == " " for c in text)
    return text if printable * 10 >= len(text) * 9 and letters * 10 >= len(text) * 6 else None
