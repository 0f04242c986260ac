"""The rows of `injection.toml`, typed.

A slot is a kind of word: what cancels, who reads, what is weakened. Rules ask for several slots
near each other, so that no single word says anything.
"""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import re2
from msgspec import Struct, field

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


class Slot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Phrases of one kind. Several rows may share a name, for instance one per language.

    `order`: a phrase counts only where an order can stand: at a start, after a mark, after "please"
    or "must". A star at a phrase's end stands for any ending. `regex` (RE2) adds what no phrase
    can say; where there are `hints`, it needs one of these literals. `common` are phrases and
    hints that ordinary logs hold too often for them to wake a line up; they count once it is awake.
    """

    name: str
    why: str
    phrases: list[str] = field(default_factory=list)
    regex: list[str] = field(default_factory=list)
    order: bool = False
    hints: list[str] = field(default_factory=list)
    common: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)  # addresses that begin so do not count
    glued: bool = False  # may be a part of a hyphenated word


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes a line suspicious: all of `needs` within `within` characters.

    A need names a slot, or several with `|` between. `anchor` are the slots whose phrases are rare:
    a plain line without any of them is not looked at.
    """

    id: str
    family: str
    score: int
    needs: list[str]
    why: str
    matches: list[str]
    rejects: list[str]
    anchor: list[str]
    within: int = 160
    ordered: bool = False
    strong: bool = True  # may also be found in names, and in decoded or unspaced text


class Quiet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whole messages of an ordinary tool. `{}` stands for one word, `{*}` for more of them.

    They quiet findings of their `families` only, so that nothing else can hide in such a message.
    """

    tool: str
    families: list[str]
    templates: list[str]
    why: str


class Lexicon(Struct, frozen=True, kw_only=True):
    """All rows, typed."""

    slots: list[Slot]
    rules: list[Rule]
    quiet: list[Quiet]


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
        for slot in values.get("anchor", []) or [""]:
            if slot not in named:
                yield table.place.fault(f"anchor {slot!r} is no slot", "name slots with rare words")
    for pattern in values.get("regex", []) if table.kind == "slot" else []:
        try:
            re2.compile(pattern)
        except re2.error as error:
            yield table.place.fault(f"regex {pattern!r}: {error}", "write it in RE2 syntax")
