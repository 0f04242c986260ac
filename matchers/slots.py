"""The rows of `injection.toml`, and where their slots stand in a line.

A slot is a kind of word: what cancels, who reads, what is weakened. Rules ask for several slots
near each other, so that no single word says anything.
"""

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import re2
from msgspec import Struct, field

from matchers.automaton import Automaton
from matchers.normalise import fold_phrase
from matchers.rows import CatalogError, Fault, Table, read_toml, tables, typed

BUILT_IN = "injection.toml"
FAMILIES = (
    "run-this",
    "weaken-security",
    "exfiltrate",
    "address-the-assistant",
    "steer-the-diagnosis",
    "spoofed-marker",
    "hidden-carrier",
)
HITS_KEPT = 64  # of one slot in one line; a line with more says no more


class Slot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Phrases of one kind. Several rows may share a name, for instance one per language.

    `order`: a phrase counts only where an order can stand: at a start, after a mark, after "please"
    or "must". `inside`: no word bounds, for scripts without blanks. `regex` (RE2) adds what no
    phrase can say; it is looked for only in lines that have an anchor already.
    """

    name: str
    why: str
    phrases: list[str] = field(default_factory=list)
    regex: list[str] = field(default_factory=list)
    order: bool = False
    inside: bool = False
    glued: bool = False  # may be a part of a hyphenated word


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes a line suspicious: all of `needs` within `within` characters.

    A need names a slot, or several with `|` between. `anchor` is the need whose phrases are rare:
    without one of them the line is not looked at.
    """

    id: str
    family: str
    score: int
    needs: list[str]
    why: str
    matches: list[str]
    rejects: list[str]
    anchor: int = 0
    within: int = 160
    ordered: bool = False
    strong: bool = True  # may also be found in names, and in decoded or unspaced text


class Quiet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whole messages of an ordinary tool. `{}` stands for one word, `{*}` for more of them."""

    tool: str
    templates: list[str]
    why: str


class Lexicon(Struct, frozen=True, kw_only=True):
    """All rows, typed."""

    slots: list[Slot]
    rules: list[Rule]
    quiet: list[Quiet]


class Hit(Struct, frozen=True):
    """One slot's phrase in a line."""

    start: int
    end: int


_KINDS: dict[str, type[Any]] = {"slot": Slot, "rule": Rule, "quiet": Quiet}


def read_lexicon(path: Path | None = None) -> Lexicon:
    """The rows of a file, the built-in one by default. Raises `CatalogError` with every fault."""
    source = path or files("matchers").joinpath("catalogs", BUILT_IN)
    data, name = source.read_bytes(), path.name if path else BUILT_IN
    content, faults = read_toml(data, name)
    found, more = tables(content, data, name, _KINDS)
    faults += more
    rows: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    for table in found:
        row, wrong = typed(table, _KINDS[table.kind])
        faults += wrong
        if row is not None:
            rows[table.kind].append(row)
    named = {slot.name for slot in rows["slot"]}
    for table in found:
        faults += _faults(table, named)
    if faults:
        raise CatalogError(faults)
    return Lexicon(slots=rows["slot"], rules=rows["rule"], quiet=rows["quiet"])


def _faults(table: Table, named: set[str]) -> Iterator[Fault]:
    values = table.values
    if table.kind == "rule":
        if values.get("family") not in FAMILIES:
            remedy = f"use one of {', '.join(FAMILIES)}"
            yield table.place.fault(f"family {values.get('family')!r}", remedy)
        needs = values.get("needs", [])
        for need in needs if isinstance(needs, list) else []:
            for slot in str(need).split("|"):
                if slot not in named:
                    yield table.place.fault(f"slot {slot!r} is not known", "add a [[slot]] row")
        if not needs or not 0 <= values.get("anchor", 0) < len(needs):
            yield table.place.fault("no need is the anchor", "give the index of a need")
    for pattern in values.get("regex", []) if table.kind == "slot" else []:
        try:
            re2.compile(pattern)
        except re2.error as error:
            yield table.place.fault(f"regex {pattern!r}: {error}", "write it in RE2 syntax")


_MARKS = frozenset(":;,.!?()[]{}<>|\"'`=*#/\n\u2014\u2013\u2022-+&>")
_LEADS = frozenset(
    (
        "please",
        "pls",
        "kindly",
        "must",
        "should",
        "shall",
        "now",
        "then",
        "and",
        "or",
        "so",
        "first",
    )
    + ("simply", "just", "also", "always", "immediately", "next", "instead", "afterwards")
    + ("therefore", "you", "operator", "operators", "admin", "admins", "do", "not")
)
_OBLIGES = frozenset(
    ("need", "needs", "have", "has", "had", "required", "ought", "instructed", "want", "wants")
    + ("asked", "you", "advised", "told", "expected", "supposed", "necessary", "authorised")
    + ("authorized", "mandatory", "recommended", "remember", "sure")
)
_REPORTS = re.compile(
    r"\b(?:fail\w{0,4} to|unable to|not able to|could not|couldn't|can ?not|can't|did not|didn't"
    r"|trying to|tries to|tried to|attempt\w{0,4} to|error \w{2,12}ing|refus\w{2,3} to)\b"
)
_LAST_WORDS = re.compile(r"(?:([\w'-]{1,24}) )?([\w']{1,16}) $")


def can_order(text: str, start: int) -> bool:
    """Whether an order can begin at `start`: nothing before it makes the verb a report."""
    head = text[max(0, start - 48) : start]
    bare = head.rstrip("\"'`([{<*_ ")
    if not bare:
        return True
    if bare[-1] in _MARKS:
        return bare[-1] not in "-/+&=." or head[-1] != bare[-1]
    found = _LAST_WORDS.search(head)
    if found is None:
        return False
    before, last = found[1], found[2]
    if last == "to":
        return before in _OBLIGES
    return last in _LEADS and not _REPORTS.search(head)


class Slots:
    """Finds the slots of a line. Immutable once built."""

    def __init__(self, rows: list[Slot]) -> None:
        self._rows = tuple(rows)
        phrases = [
            (fold_phrase(phrase), index) for index, row in enumerate(rows) for phrase in row.phrases
        ]
        self._automaton = Automaton(phrases)
        self._glued = Automaton((p.replace(" ", ""), i) for p, i in phrases if len(p) >= 6)
        self._regexes = [(row.name, re2.compile(r)) for row in rows for r in row.regex]

    def in_line(self, text: str) -> dict[str, list[Hit]]:
        """Every slot in a readable line, each list by rising start."""
        found: dict[str, list[Hit]] = {}
        for hit in self._automaton.hits(text):
            for owner in hit.owners:
                row = self._rows[owner]
                if not row.inside and not _bounded(text, hit.start, hit.end, glued=row.glued):
                    continue
                if row.order and not can_order(text, hit.start):
                    continue
                _keep(found, row.name, Hit(hit.start, hit.end))
        if found:
            self._add_regexes(text, found)
        return _sorted(found)

    def in_unspaced(self, text: str) -> dict[str, list[Hit]]:
        """Every slot in a line whose blanks mean nothing any more: without any bounds."""
        found: dict[str, list[Hit]] = {}
        for hit in self._glued.hits(text):
            for owner in hit.owners:
                _keep(found, self._rows[owner].name, Hit(hit.start, hit.end))
        return _sorted(found)

    def _add_regexes(self, text: str, found: dict[str, list[Hit]]) -> None:
        for name, regex in self._regexes:
            for match in regex.finditer(text):
                if not _keep(found, name, Hit(*match.span())):
                    break


def _keep(found: dict[str, list[Hit]], name: str, hit: Hit) -> bool:
    hits = found.setdefault(name, [])
    if len(hits) < HITS_KEPT:
        hits.append(hit)
    return len(hits) < HITS_KEPT


def _sorted(found: dict[str, list[Hit]]) -> dict[str, list[Hit]]:
    for hits in found.values():
        hits.sort(key=lambda hit: (hit.start, hit.end))
    return found


def _bounded(text: str, start: int, end: int, *, glued: bool) -> bool:
    """Whether a phrase stands as words of its own."""
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    joins = "_" if glued else "_-"
    if first.isalnum() and (before.isalnum() or (before and before in joins)):
        return False
    return not (last.isalnum() and (after.isalnum() or (after and after in joins)))


def meets(rule: Rule, slots: dict[str, list[Hit]]) -> tuple[int, int] | None:
    """The piece of the line in which all needs of a rule stand near each other."""
    lists = [_of_need(need, slots) for need in rule.needs]
    if not all(lists):
        return None
    for first in lists[0]:
        span = _around(first, lists[1:], rule)
        if span is not None:
            return span
    return None


def _of_need(need: str, slots: dict[str, list[Hit]]) -> list[Hit]:
    names = need.split("|")
    if len(names) == 1:
        return slots.get(need, [])
    return sorted(
        (hit for name in names for hit in slots.get(name, ())), key=lambda hit: (hit.start, hit.end)
    )


def _around(first: Hit, others: Iterable[list[Hit]], rule: Rule) -> tuple[int, int] | None:
    start, end, at = first.start, first.end, first.end
    for hits in others:
        chosen = None
        for hit in hits:
            if rule.ordered and hit.start < at:
                continue
            if hit.start < first.end and hit.end > first.start:
                continue  # one phrase is not two slots
            if abs(hit.start - first.start) <= rule.within:
                chosen = hit
                break
        if chosen is None:
            return None
        at = chosen.end
        start, end = min(start, chosen.start), max(end, chosen.end)
    return start, end
