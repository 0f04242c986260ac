"""Where slots stand in one readable line, and which rules they meet."""

import re
from collections.abc import Sequence

import re2
from msgspec import Struct

from matchers.automaton import Automaton
from matchers.normalise import fold_phrase
from matchers.slots import Rule, Slot

HITS_KEPT = 64  # of one slot in one line; a line with more says no more


class Hit(Struct, frozen=True):
    """One slot's phrase in a line."""

    start: int
    end: int


_MARKS = frozenset(":;,.!?()[]{}<>|=#/\n\u2014\u2013\u2022-+&")
_ATTACHED = frozenset("-/+&=.")  # part of a word or a path, unless a blank follows
_CALLS = frozenset("(=[_:")  # behind a verb: a function, a field
_LEADS = frozenset(
    {"please", "pls", "kindly", "must", "should", "shall", "now", "then", "and", "or", "so"}
    | {"first", "simply", "just", "also", "always", "next", "immediately", "instead", "therefore"}
    | {"afterwards", "you", "operator", "operators", "admin", "admins", "do", "not"}
)
_OBLIGES = frozenset(
    {"need", "needs", "have", "has", "had", "required", "ought", "instructed", "asked", "you"}
    | {"advised", "told", "expected", "supposed", "necessary", "authorised", "authorized"}
    | {"mandatory", "recommended", "remember", "sure", "is", "fix"}
)
_REPORTS = re.compile(
    r"\b(?:fail\w{0,4} to|unable to|not able to|could not|couldn't|can ?not|can't|did not|didn't"
    r"|trying to|tries to|tried to|attempt\w{0,4} to|error \w{2,12}ing|refus\w{2,3} to)\b"
)
_LAST_WORDS = re.compile(r"(?:([\w'-]{1,24}) )?([\w']{1,16}) $")


def can_order(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` can be an order: nothing around it makes the verb a report."""
    if text[end : end + 1] in _CALLS and text[end - 1].isalnum():
        return False
    head = text[max(0, start - 48) : start]
    bare = head.rstrip(" \"'`*_")
    if not bare:
        return True
    if bare[-1] in _MARKS:
        if bare[-1] not in _ATTACHED or head[-1] != bare[-1]:
            return True
        return bare[-1] == "/" and " " in text[start : start + 24]  # a file name made of prose
    found = _LAST_WORDS.search(bare + " ")
    if found is None:
        return False
    before, last = found[1], found[2]
    if last == "to":
        return before in _OBLIGES
    return last in _LEADS and not _REPORTS.search(head)


class Slots:
    """Finds the slots of a line. Immutable once built."""

    def __init__(self, rows: Sequence[Slot]) -> None:
        self.rows = tuple(rows)
        phrases = [
            (fold_phrase(phrase.rstrip("*")), 2 * index + phrase.endswith("*"))
            for index, row in enumerate(rows)
            for phrase in row.phrases
        ]
        self._automaton = Automaton(phrases)
        self._glued = Automaton((p.replace(" ", ""), i) for p, i in phrases if len(p) >= 6)
        self.regexes: dict[str, list[tuple[tuple[str, ...], re2._Regexp[str]]]] = {}
        for row in rows:
            hints = tuple(map(fold_phrase, row.hints))
            for regex in row.regex:
                self.regexes.setdefault(row.name, []).append((hints, re2.compile(regex)))

    def line(self, text: str, *, unspaced: bool = False) -> "Line":
        """A readable line with its slots. `unspaced`: its blanks mean nothing any more."""
        found: dict[int, list[Hit]] = {}
        for hit in (self._glued if unspaced else self._automaton).hits(text):
            for owner in hit.owners:
                hits = found.setdefault(owner, [])
                if len(hits) < HITS_KEPT:
                    hits.append(Hit(hit.start, hit.end))
        return Line(self, text, found, unspaced=unspaced)


class Line:
    """One readable line. Slots are looked at only when a rule asks for them."""

    __slots__ = ("_found", "_known", "_names", "_slots", "_unspaced", "text")

    def __init__(
        self, slots: Slots, text: str, found: dict[int, list[Hit]], *, unspaced: bool
    ) -> None:
        self.text = text
        self._slots = slots
        self._found = found
        self._unspaced = unspaced
        self._names = {slots.rows[owner // 2].name for owner in found}
        self._known: dict[str, list[Hit]] = {}

    def may_hold(self, need: str) -> bool:
        """Whether one of the need's slots can be in the line: cheap, and never wrongly false."""
        regexes = self._slots.regexes
        return any(name in self._names or name in regexes for name in need.split("|"))

    def hits(self, need: str) -> list[Hit]:
        """Where a need's slots stand, by rising start."""
        known = self._known.get(need)
        if known is None:
            names = need.split("|")
            found = [hit for name in names for hit in (*self._phrases(name), *self._regex(name))]
            known = self._known[need] = sorted(found, key=lambda hit: (hit.start, hit.end))
        return known

    def _phrases(self, name: str) -> list[Hit]:
        if name not in self._names:
            return []
        kept: list[Hit] = []
        for owner, hits in self._found.items():
            row = self._slots.rows[owner // 2]
            if row.name == name:
                is_stem = owner % 2 == 1
                kept += hits if self._unspaced else self._standing(row, hits, is_stem=is_stem)
        return kept

    def _standing(self, row: Slot, hits: list[Hit], *, is_stem: bool) -> list[Hit]:
        """The hits that are words of their own and, for orders, stand where an order can."""
        joins = "_" if row.glued else "_-"
        return [
            hit
            for hit in hits
            if _starts_word(self.text, hit.start, joins)
            and (is_stem or _ends_word(self.text, hit.end, joins))
            and (not row.order or can_order(self.text, hit.start, hit.end))
        ]

    def _regex(self, name: str) -> list[Hit]:
        if self._unspaced:
            return []
        found: list[Hit] = []
        for hints, regex in self._slots.regexes.get(name, ()):
            if hints and not any(hint in self.text for hint in hints):
                continue
            for match in regex.finditer(self.text):
                found.append(Hit(*match.span()))
                if len(found) >= HITS_KEPT:
                    return found
        return found

    def meets(self, rule: Rule) -> tuple[int, int] | None:
        """The piece of the line in which all needs of a rule stand near each other."""
        if not all(map(self.may_hold, rule.needs)):
            return None
        lists: list[list[Hit]] = []
        for need in rule.needs:
            hits = self.hits(need)
            if not hits:
                return None
            lists.append(hits)
        for first in lists[0]:
            span = _around(first, lists[1:], rule)
            if span is not None:
                return span
        return None


def _starts_word(text: str, start: int, joins: str) -> bool:
    """Whether a word begins at `start`. Scripts other than Latin have no such bounds."""
    first, before = text[start], text[start - 1] if start else " "
    return not (first.isascii() and first.isalnum() and (before.isalnum() or before in joins))


def _ends_word(text: str, end: int, joins: str) -> bool:
    last, after = text[end - 1], text[end] if end < len(text) else " "
    return not (last.isascii() and last.isalnum() and (after.isalnum() or after in joins))


def _around(first: Hit, others: list[list[Hit]], rule: Rule) -> tuple[int, int] | None:
    start, end, at = first.start, first.end, first.end
    for hits in others:
        chosen = None
        for hit in hits:
            if rule.ordered and hit.start < at:
                continue
            if hit.start == first.start:
                continue  # one phrase is not two slots
            if abs(hit.start - first.start) <= rule.within:
                chosen = hit
                break
        if chosen is None:
            return None
        at = chosen.end
        start, end = min(start, chosen.start), max(end, chosen.end)
    return start, end
