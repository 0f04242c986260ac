"""The rows of `secrets.toml`: how credentials show in text, as data without regular expressions."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from matchers.rows import CatalogError, Fault, Place, Table, read_toml, tables, typed

BUILT_IN = "secrets.toml"
ALPHABETS = ("upper", "word", "url", "base64", "query", "path", "dotted")


class Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token known by its issuer's prefix: `prefix`, then at least `min` of `alphabet`."""

    kind: str
    prefixes: list[str]
    alphabet: str
    min: int
    why: str
    matches: list[str]
    rejects: list[str]
    mixed: bool = False  # a digit or both cases are needed: the prefix also starts ordinary names
    keep_prefix: bool = False
    word_start: bool = True  # the prefix must not continue a word


class Key(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names whose assigned value is a secret.

    `strict`: the value must look random. `quoted`: name and value must stand in quotes.
    """

    kind: str
    names: list[str]
    why: str
    matches: list[str]
    rejects: list[str]
    whole_word: bool = False  # no prefix may stand before the name but with `_` or `-` between
    strict: bool = False
    quoted: bool = False


class Command(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Programs that take a secret as an option's value, or (option "") as their next word."""

    kind: str
    programs: list[str]
    options: list[str]
    why: str
    matches: list[str]
    rejects: list[str]
    glued: bool = False  # the value follows the option without a blank
    after_colon: bool = False  # the value is `user:secret`
    strict: bool = False


class Never(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words that stand where a secret could, and are none."""

    words: list[str]
    why: str
    matches: list[str]
    rejects: list[str]


class Secrets(Struct, frozen=True, kw_only=True):
    """All rows, typed."""

    shapes: list[Shape] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    never: list[Never] = field(default_factory=list)

    def proofs(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Each row's name with the samples that must change and those that must not."""
        for rows in (self.shapes, self.keys, self.commands, self.never):
            for row in rows:
                name = f"{type(row).__name__.lower()} {getattr(row, 'kind', '')}".strip()
                yield name, row.matches, row.rejects


_KINDS: dict[str, type[Any]] = {"shape": Shape, "key": Key, "command": Command, "never": Never}


def read_secrets(path: Path | None = None) -> Secrets:
    """The rows of a file, the built-in one by default. Raises `CatalogError` with every fault."""
    source = path or files("matchers").joinpath("catalogs", BUILT_IN)
    data, name = source.read_bytes(), path.name if path else BUILT_IN
    content, faults = read_toml(data, name)
    found, more = tables(content, data, name, _KINDS)
    faults += more
    rows: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    for table in found:
        row, wrong = typed(table, _KINDS[table.kind])
        faults += wrong or list(_faults(table, row))
        rows[table.kind].append(row)
    if faults:
        raise CatalogError(faults)
    return Secrets(
        shapes=rows["shape"], keys=rows["key"], commands=rows["command"], never=rows["never"]
    )


def _faults(table: Table, row: object) -> Iterator[Fault]:
    place: Place = table.place
    if isinstance(row, Shape):
        if row.alphabet not in ALPHABETS:
            yield place.fault(f"alphabet {row.alphabet!r}", f"use one of {', '.join(ALPHABETS)}")
        if row.min < 8:
            yield place.fault("min below 8", "a shorter token cannot be told from a word")
        if any(len(prefix) < 3 for prefix in row.prefixes):
            yield place.fault("a prefix below 3 characters", "write a longer prefix")
    kind = getattr(row, "kind", "ok")
    if not (kind.replace("_", "").isalnum() and kind.islower() and len(kind) <= 32):
        yield place.fault(f"kind {kind!r}", "use at most 32 of a-z, 0-9 and _")
