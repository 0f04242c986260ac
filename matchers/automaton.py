"""Every literal phrase in one pass over a text, or over a whole batch joined into one buffer."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import ahocorasick

SEPARATOR = "\x00"
"""Joins the texts of a batch. No phrase contains it, so no phrase matches across two texts."""

TEXTS_JOINED = 512
"""Texts per buffer: of log lines this many fit into a processor's cache, and many more are slower
by a third."""


def fold(text: str) -> str:
    """Lower-case ASCII letters only, so that every position still fits the original text.

    `str.lower` changes the length of some texts ("İ"), and `str.translate` is fifty times slower
    than the way through bytes, whose `lower` knows ASCII alone.
    """
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


class Hit(NamedTuple):
    """A phrase in a text: `text[start:end]`, and who asked for it."""

    start: int
    end: int
    owners: tuple[int, ...]


class Automaton:
    """Finds all phrases, overlapping and nested ones too, whatever their case. Immutable.

    An owner is a small number that the caller chose; several owners may share a phrase.
    """

    __slots__ = ("_automaton",)

    def __init__(self, phrases: Iterable[tuple[str, int]]) -> None:
        owners: dict[str, set[int]] = {}
        for phrase, owner in phrases:
            if not phrase or SEPARATOR in phrase:
                raise ValueError(f"phrase {phrase!r}: empty, or holds a NUL character")
            owners.setdefault(fold(phrase), set()).add(owner)
        automaton = ahocorasick.Automaton()
        for phrase, ids in owners.items():  # add_word keeps only the last value of a word
            automaton.add_word(phrase, (len(phrase), tuple(sorted(ids))))
        if owners:
            automaton.make_automaton()
        self._automaton: Any = automaton if owners else None

    def hits(self, text: str) -> Iterator[Hit]:
        """Every phrase in `text`, by its end."""
        if self._automaton is not None:
            for last, (length, owners) in self._automaton.iter(fold(text)):
                yield Hit(last - length + 1, last + 1, owners)

    def hits_by_text(self, texts: Sequence[str]) -> dict[int, set[int]]:
        """For each text with a phrase in it: its index, and the owners of its phrases.

        A quiet text costs no object, only its share of a buffer.
        """
        found: dict[int, set[int]] = {}
        if self._automaton is not None:
            for first in range(0, len(texts), TEXTS_JOINED):
                self._search(texts[first : first + TEXTS_JOINED], first, found)
        return found

    def _search(self, texts: Sequence[str], first: int, found: dict[int, set[int]]) -> None:
        ends = list(accumulate(map(len, texts), lambda end, length: end + length + 1, initial=-1))
        owners: set[int] = set()
        until = -1  # the hits come by rising position: search anew only behind the current text
        for last, (_, ids) in self._automaton.iter(fold(SEPARATOR.join(texts))):
            if last >= until:
                index = bisect_right(ends, last)
                until = ends[index]
                owners = found[first + index - 1] = set()
            owners.update(ids)
