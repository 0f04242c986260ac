"""Where slots stand in one readable line, and which rules they meet."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
    | {"recovery", "hotfix", "workaround", "resolution", "remedy"}
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
_CLIENT_ERROR = re.compile(r' "[^"\s]{1,1024}": ')  # Go: Get "https://host/path": what went wrong
_LAST_WORDS = re.compile(r"(?:([\w'-]{1,24}) )?([\w']{1,16}) $")


def can_order(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` can be an order: nothing around it makes the verb a report."""
    if text[end : end + 1] in _CALLS and text[end - 1].isalnum():
        return False
    if _CLIENT_ERROR.match(text, end):
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


class Met(NamedTuple):
    """A rule, and the piece of the line that meets it."""

    rule: Rule
    start: int
    end: int


class _Pattern(NamedTuple):
    """A slot row's regex, and where it does not count."""

    hosts: tuple[str, ...]
    regex: "re2._Regexp[str]"


class Slots:
    """Finds the slots of a line. Immutable once built.

    Each slot name has a bit. A line's bits say which slots it can hold, each rule's which it needs:
    nearly all rules are done with after a few operations on numbers.
    """

    def __init__(self, rows: Sequence[Slot], rules: Sequence[Rule]) -> None:
        self.rows = tuple(rows)
        names = sorted({row.name for row in rows})
        bits = {name: 1 << index for index, name in enumerate(names)}
        self.bit_of_row = [bits[row.name] for row in rows]
        self.always = 0  # slots with a regex that no literal announces
        self.patterns: dict[str, list[tuple[int, _Pattern]]] = {}
        phrases: list[tuple[str, int]] = []
        for index, row in enumerate(rows):
            phrases += [
                (fold_phrase(p.rstrip("*")), 3 * index + p.endswith("*")) for p in row.phrases
            ]
            phrases += [(fold_phrase(hint), 3 * index + 2) for hint in row.hints]
            if row.regex and not row.hints:
                self.always |= bits[row.name]
            patterns = [(index, _Pattern(tuple(row.hosts), re2.compile(r))) for r in row.regex]
            self.patterns.setdefault(row.name, []).extend(patterns)
        self._automaton = Automaton(phrases)
        self._glued = Automaton(
            (p.replace(" ", ""), i) for p, i in phrases if len(p) >= 6 and i % 3 != 2
        )
        self.rules = [
            (rule, [sum(bits[name] for name in set(need.split("|"))) for need in rule.needs])
            for rule in rules
        ]

    def line(self, text: str, *, unspaced: bool = False) -> "Line":
        """A readable line with its slots. `unspaced`: its blanks mean nothing any more."""
        found: dict[int, list[Hit]] = {}
        mask = 0 if unspaced else self.always
        for hit in (self._glued if unspaced else self._automaton).hits(text):
            for owner in hit.owners:
                hits = found.get(owner)
                if hits is None:
                    hits = found[owner] = []
                    mask |= self.bit_of_row[owner // 3]
                if len(hits) < HITS_KEPT:
                    hits.append(Hit(hit.start, hit.end))
        return Line(self, text, found, mask, unspaced=unspaced)


class Line:
    """One readable line. Slots are looked at only when a rule asks for them."""

    __slots__ = ("_found", "_known", "_mask", "_slots", "_unspaced", "text")

    def __init__(
        self, slots: Slots, text: str, found: dict[int, list[Hit]], mask: int, *, unspaced: bool
    ) -> None:
        self.text = text
        self._slots = slots
        self._found = found
        self._mask = mask
        self._unspaced = unspaced
        self._known: dict[str, list[Hit]] = {}

    def rules(self) -> Iterator[Met]:
        """Every rule that the line meets, and where."""
        mask = self._mask
        for rule, needs in self._slots.rules:
            if all(mask & need for need in needs):
                span = self._meets(rule)
                if span is not None:
                    yield Met(rule, *span)

    def hits(self, need: str) -> list[Hit]:
        """Where a need's slots stand, by rising start."""
        known = self._known.get(need)
        if known is None:
            names = need.split("|")
            if len(names) > 1:
                found = [hit for name in names for hit in self.hits(name)]
            else:
                found = [*self._phrases(need), *self._matches(need)]
            known = self._known[need] = sorted(found, key=lambda hit: (hit.start, hit.end))
        return known

    def _phrases(self, name: str) -> list[Hit]:
        kept: list[Hit] = []
        for owner, hits in self._found.items():
            row = self._slots.rows[owner // 3]
            if row.name == name and owner % 3 != 2:
                is_stem = owner % 3 == 1
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

    def _matches(self, name: str) -> list[Hit]:
        """What the slot's regexes find, where a literal announces them."""
        found: list[Hit] = []
        for index, (hosts, regex) in () if self._unspaced else self._slots.patterns.get(name, ()):
            if self._slots.rows[index].hints and 3 * index + 2 not in self._found:
                continue
            for match in regex.finditer(self.text):
                if hosts and match[0].partition("://")[2].startswith(hosts):
                    continue
                found.append(Hit(*match.span()))
                if len(found) >= HITS_KEPT:
                    return found
        return found

    def _meets(self, rule: Rule) -> tuple[int, int] | None:
        """The piece of the line in which all needs of a rule stand near each other."""
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
