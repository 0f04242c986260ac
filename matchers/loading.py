"""Catalog folders to one catalog: the built-in one, then the user's in their order.

A row of a later folder replaces the row of the same name; `[[extend]]` adds to a signal. All faults
of all files come out at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2s
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from matchers import checks
from matchers.catalog import Catalog, Category, ExitCode, Extend, Pattern, RouteRow, Signal
from matchers.rows import CatalogError, Fault, Place, Table, read_toml, tables, typed
from schemas import codec

BUILTIN = "built-in"
"""How places name the folder that is shipped."""

INJECTION, SECRETS = "injection.toml", "secrets.toml"
OWN_SHAPE = (INJECTION, SECRETS)
"""Files whose rows their own classes read; here they only count into the digest."""

_KINDS: dict[str, tuple[type[Any], str]] = {  # table: its row type, and the field that names a row
    "signal": (Signal, "id"),
    "pattern": (Pattern, "name"),
    "category": (Category, "name"),
    "exit_code": (ExitCode, "code"),
    "route": (RouteRow, "name"),
    "extend": (Extend, "signal"),
}


class _Source(NamedTuple):
    """One TOML file, read."""

    folder: int
    name: str  # as a fault names it
    base: str  # the file's own name
    content: dict[str, Any]
    data: bytes


class _Rows:
    """Rows as they accumulate over the folders, and what is wrong with them."""

    def __init__(self) -> None:
        self.by_kind: dict[str, dict[Any, Any]] = {kind: {} for kind in _KINDS}
        self.places: dict[tuple[str, str], Place] = {}
        self.extends: list[tuple[Place, Extend]] = []
        self.faults: list[Fault] = []
        self.faulty: set[str] = set()  # signals that are there but could not be read
        self._folder_of: dict[tuple[str, str], int] = {}

    def add(self, table: Table, folder: int) -> None:
        """Take one row in, unless it is faulty or its folder has its name already."""
        kind, naming = _KINDS[table.kind]
        row, faults = typed(_named(table, naming), kind)
        self.faults += faults
        if row is None:
            self.faulty.add(str(table.values.get(naming)))
            return
        name, place = getattr(row, naming), _named(table, naming).place
        if isinstance(row, Extend):
            self.extends.append((place, row))
            return
        key = (table.kind, str(name))
        if self._folder_of.get(key) == folder:
            first = self.places[key]
            what = f"defined twice in one folder, first in {first.file}:{first.line}"
            self.faults.append(place.fault(what, "rename or remove one of them"))
            return
        self._folder_of[key] = folder
        self.by_kind[table.kind][name] = row
        self.places[key] = place

    def extend(self) -> None:
        """Add the phrases and samples of every `[[extend]]` row to its signal."""
        signals = self.by_kind["signal"]
        for place, more in self.extends:
            signal = signals.get(more.signal)
            if signal is None:
                if more.signal in self.faulty:
                    continue
                remedy = "name a signal that a file of this or an earlier folder defines"
                self.faults.append(place.fault("no such signal", remedy))
                continue
            signals[more.signal] = replace(
                signal,
                phrases=_joined(signal.phrases, more.phrases),
                reasons=_joined(signal.reasons, more.reasons),
                matches=_joined(signal.matches, more.matches),
                rejects=_joined(signal.rejects, more.rejects),
                why=f"{signal.why} {more.why}",
            )


def builtin_folder() -> Traversable:
    """The catalog that is shipped with the package."""
    return files("matchers") / "catalogs"


def load(folders: Sequence[Path] = (), *, builtin: Traversable | None = None) -> Catalog:
    """The built-in catalog, the user's folders over it. Raises `CatalogError` with all faults."""
    catalog, faults = _read(folders, builtin or builtin_folder())
    if faults:
        raise CatalogError(faults)
    return catalog


def load_usable(folders: Sequence[Path] = ()) -> tuple[Catalog, list[Fault]]:
    """The rows that can be used, and what is wrong with the others: to prove what is there."""
    catalog, faults = _read(folders, builtin_folder())
    faulty = {(fault.file, fault.row) for fault in faults}
    usable = {
        (kind, name)
        for (kind, name), place in catalog.places.items()
        if (place.file, place.row) not in faulty
    }

    def kept(kind: str, rows: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return MappingProxyType({k: row for k, row in rows.items() if (kind, str(k)) in usable})

    left = replace(
        catalog,
        signals=kept("signal", catalog.signals),
        patterns=kept("pattern", catalog.patterns),
        categories=kept("category", catalog.categories),
        exit_codes=kept("exit_code", catalog.exit_codes),
        routes=kept("route", catalog.routes),
    )
    return left, faults


def _read(folders: Sequence[Path], builtin: Traversable) -> tuple[Catalog, list[Fault]]:
    rows = _Rows()
    sources = list(_sources([builtin, *folders], rows.faults))
    for source in sources:
        if source.base in OWN_SHAPE:
            continue
        found, faults = tables(source.content, source.data, source.name, _KINDS)
        rows.faults += faults
        for table in found:
            rows.add(table, source.folder)
    rows.extend()
    catalog = Catalog(
        signals=MappingProxyType(rows.by_kind["signal"]),
        patterns=MappingProxyType(rows.by_kind["pattern"]),
        categories=MappingProxyType(rows.by_kind["category"]),
        exit_codes=MappingProxyType(rows.by_kind["exit_code"]),
        routes=MappingProxyType(rows.by_kind["route"]),
        places=MappingProxyType(rows.places),
        digest=_digest(rows, sources),
    )
    return catalog, rows.faults + checks.faults(catalog, rows.faulty)


def _sources(folders: Iterable[Traversable], faults: list[Fault]) -> Iterable[_Source]:
    for number, folder in enumerate(folders):
        shown = BUILTIN if number == 0 else str(folder)
        try:
            found = sorted(
                (entry for entry in folder.iterdir() if entry.name.endswith(".toml")),
                key=lambda entry: entry.name,
            )
        except OSError as error:
            what = f"cannot be read: {error.strerror}"
            faults.append(Fault(file=shown, what=what, remedy="name a folder of TOML files"))
            continue
        for entry in found:
            name = f"{shown}/{entry.name}"
            try:
                data = entry.read_bytes()
            except OSError as error:
                what = f"cannot be read: {error.strerror}"
                faults.append(Fault(file=name, what=what, remedy="make it a readable file"))
                continue
            content, broken = read_toml(data, name)
            faults += broken
            yield _Source(number, name, entry.name, content, data)


def _named(table: Table, naming: str) -> Table:
    """The table with its row's own name in its place, where it has one."""
    name = table.values.get(naming)
    if not isinstance(name, str | int):
        return table
    return table._replace(place=table.place._replace(row=f"{table.kind} {name}"))


def _joined(first: list[Any], second: list[Any]) -> list[Any]:
    return [*first, *(value for value in second if value not in first)]


def _digest(rows: _Rows, sources: Iterable[_Source]) -> str:
    parts = [
        codec.encode([kind, _canonical(msgspec.to_builtins(row))])
        for kind, named in rows.by_kind.items()
        for row in named.values()
    ]
    for source in sources:
        if source.base in OWN_SHAPE:
            for key, value in source.content.items():
                own = value if isinstance(value, list) else [value]
                parts += [codec.encode([source.base, key, _canonical(row)]) for row in own]
    digest = blake2s(digest_size=16)
    for part in sorted(parts):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _canonical(value: object) -> object:
    """The value with its keys sorted, so that the order of writing does not count."""
    if isinstance(value, dict):
        return {key: _canonical(cast("dict[str, object]", value)[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return value
