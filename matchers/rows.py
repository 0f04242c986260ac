"""TOML text to typed rows, with every fault found at once and the place of each."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import NODEFAULT, Struct

T = TypeVar("T", bound=Struct)

_HEADER = re.compile(r"^\s*\[\[\s*([A-Za-z0-9_-]+)\s*\]\]", re.MULTILINE)
_LINE_OF_SYNTAX_ERROR = re.compile(r"\(at line (\d+), column \d+\)")


class Fault(Struct, frozen=True, kw_only=True, order=True):
    """One thing that is wrong with a catalog: where, what, and what to do about it."""

    file: str
    line: int = 0  # 0: not known
    row: str = ""  # "signal pod.oom_killed", "pattern #3"; empty: the file itself
    what: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.row + ': ' if self.row else ''}{self.what}; {self.remedy}"


class CatalogError(ValueError):
    """A catalog that cannot be used. `faults` holds all that is wrong, not only the first."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class Place(NamedTuple):
    """Where a row stands."""

    file: str
    line: int
    row: str

    def fault(self, what: str, remedy: str) -> Fault:
        """A fault of the row at this place."""
        return Fault(file=self.file, line=self.line, row=self.row, what=what, remedy=remedy)


class Table(NamedTuple):
    """One `[[kind]]` table of a file, not yet typed."""

    kind: str
    place: Place
    values: dict[str, Any]


def read_toml(data: bytes, file: str) -> tuple[dict[str, Any], list[Fault]]:
    """The content of one file; empty, with a fault, when it is no TOML."""
    try:
        return tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n")), []
    except UnicodeDecodeError as error:
        place, what = Place(file, 0, ""), f"byte {error.start} is no UTF-8"
        return {}, [place.fault(what, "save the file as UTF-8")]
    except tomllib.TOMLDecodeError as error:
        found = _LINE_OF_SYNTAX_ERROR.search(str(error))
        place = Place(file, int(found[1]) if found else data.count(b"\n") + 1, "")
        return {}, [place.fault(f"no TOML: {error}", "correct the syntax")]
    except RecursionError:
        return {}, [Place(file, 0, "").fault("nested too deep", "write rows, not trees")]


def tables(
    content: Mapping[str, Any], data: bytes, file: str, kinds: Iterable[str]
) -> tuple[list[Table], list[Fault]]:
    """The `[[kind]]` tables of a file in their order, each with the line of its header."""
    found: list[Table] = []
    faults: list[Fault] = []
    allowed = sorted(kinds)
    lines = _header_lines(data)
    for kind, rows in content.items():
        if kind not in allowed:
            place = Place(file, next(iter(lines.get(kind, [])), 0), "")
            faults.append(place.fault(f"unknown table {kind!r}", f"use one of {_listed(allowed)}"))
        elif not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            faults.append(
                Place(file, 0, "").fault(f"{kind!r} is no table of rows", f"write [[{kind}]]")
            )
        else:
            known = lines.get(kind, [])
            at = known if len(known) == len(rows) else [0] * len(rows)
            found += [
                Table(kind, Place(file, at[i], f"{kind} #{i + 1}"), row)
                for i, row in enumerate(rows)
            ]
    return found, faults


def typed(table: Table, kind: type[T]) -> tuple[T | None, list[Fault]]:
    """A table as a row of type `kind`, or every reason why it is none."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    faults = [
        table.place.fault(f"unknown field {name!r}", f"use one of {_listed(sorted(fields))}")
        for name in table.values
        if name not in fields
    ]
    for name, field in fields.items():
        if name not in table.values:
            if field.default is NODEFAULT and field.default_factory is NODEFAULT:
                faults.append(table.place.fault(f"field {name!r} is missing", "add it"))
            continue
        try:
            msgspec.convert(table.values[name], type=field.type)
        except msgspec.ValidationError as error:
            remedy = "give it the type that the catalog's README states"
            faults.append(table.place.fault(f"field {name!r}: {error}", remedy))
    return (None, faults) if faults else (msgspec.convert(table.values, type=kind), [])


def _header_lines(data: bytes) -> dict[str, list[int]]:
    text = data.decode("utf-8", errors="replace")
    lines: dict[str, list[int]] = {}
    for found in _HEADER.finditer(text):
        lines.setdefault(found[1], []).append(text.count("\n", 0, found.start(1)) + 1)
    return lines


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
