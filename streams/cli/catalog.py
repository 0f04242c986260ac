"""`causestream catalog`: read, check and try the rules, the user's own too."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

import click
from msgspec import Struct, to_builtins
from rich.console import Console
from rich.table import Table
from rich.text import Text

from matchers.catalog import Catalog
from matchers.display import escape_terminal, is_hidden
from matchers.lint import bare_phrases, is_found, lint_folders
from matchers.loading import load
from matchers.rows import CatalogError, Fault
from matchers.rules import Rules
from schemas import codec
from schemas.entry import SourceName

MAX_LINE_BYTES = 1024 * 1024
TRIED_AS: SourceName = "flare_log"

_folders = click.option(
    "--catalog",
    "folders",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="A folder of rows of your own, over the built-in ones. Repeatable; the last one wins.",
)


class Suspected(Struct, frozen=True, kw_only=True):
    """What looks like an instruction to the reader in a tried line."""

    families: tuple[str, ...]
    rules: tuple[str, ...]
    score: int


class Tried(Struct, frozen=True, kw_only=True):
    """What the rules say about one line."""

    line: int
    signals: tuple[str, ...]
    suspicious: Suspected | None
    redacted: str


@click.group("catalog")
def catalog_group() -> None:
    """Read, check and try the rules that diagnoses rest on."""


@catalog_group.command("list")
@_folders
def list_rows(folders: tuple[Path, ...]) -> None:
    """List every row: id, kind, sources, phrases, status."""
    catalog = _loaded(folders)
    table = Table("id", "kind", "sources", "phrases", "status", box=None, pad_edge=False)
    for signal in catalog.signals.values():
        _row(
            table,
            signal.id,
            "signal",
            " ".join(signal.sources),
            str(len(signal.phrases)),
            signal.status,
        )
    for pattern in catalog.patterns.values():
        _row(table, pattern.name, "pattern", " ".join(pattern.modes), "", pattern.status)
    for category in catalog.categories.values():
        _row(table, category.name, "category", "", "", "stable")
    for code in catalog.exit_codes.values():
        _row(table, str(code.code), "exit_code", code.reading, "", "stable")
    for route in catalog.routes.values():
        _row(table, route.name, "route", " ".join(route.phases), "", "stable")
    _console().print(table)


@catalog_group.command("show")
@click.argument("row_id")
@_folders
def show_row(row_id: str, folders: tuple[Path, ...]) -> None:
    """Show one row: what it asks for, its samples, why, and where it stands."""
    catalog = _loaded(folders)
    named: dict[str, list[tuple[str, Struct]]] = {}
    for kind, rows in _by_kind(catalog):
        for name, row in rows.items():
            named.setdefault(str(name), []).append((kind, row))
    if row_id not in named:
        near = difflib.get_close_matches(row_id, named, n=3)
        hint = f"; near it: {', '.join(near)}" if near else "; `catalog list` shows all"
        raise click.UsageError(f"no row is named {row_id!r}{hint}")
    console = _console()
    for kind, row in named[row_id]:
        place = catalog.places[kind, row_id]
        console.print(Text(f"{kind} {row_id}  ({place.file}:{place.line})", style="bold"))
        for field, value in to_builtins(row).items():
            if value not in ("", [], {}, None):
                _field(console, field, value)


@catalog_group.command("lint")
@_folders
def lint_rows(folders: tuple[Path, ...]) -> None:
    """Check every row; exit 1 when one is faulty. All faults at once, with file and line."""
    faults = lint_folders(folders)
    if faults:
        _fail(faults)
    catalog = _loaded(folders)
    click.echo(f"{_size(catalog)}: no faults; digest {catalog.digest}")


@catalog_group.command("test")
@_folders
def test_rows(folders: tuple[Path, ...]) -> None:
    """Run the samples of every signal; print how many hold in each file. Exit 1 when one fails.

    `bare`: phrases that stand in no sample.
    """
    catalog = _loaded(folders)
    rules = Rules.of(catalog)
    columns = ("file", "signals", "matches", "rejects", "bare", "failed")
    table = Table(*columns, box=None, pad_edge=False)
    counts: dict[str, list[int]] = {}
    for signal in catalog.signals.values():
        file = catalog.places["signal", signal.id].file
        count = counts.setdefault(file, [0, 0, 0, 0, 0])
        matched = [is_found(signal, sample, rules) is True for sample in signal.matches]
        rejected = [is_found(signal, sample, rules) is False for sample in signal.rejects]
        failed = matched.count(False) + rejected.count(False)
        bare = len(bare_phrases(signal))
        added = (1, matched.count(True), rejected.count(True), bare, failed)
        counts[file] = [a + b for a, b in zip(count, added, strict=True)]
    for file, numbers in sorted(counts.items()):
        _row(table, file, *map(str, numbers))
    _console().print(table)
    if any(numbers[-1] for numbers in counts.values()):
        click.echo("`causestream catalog lint` names each failed sample.", err=True)
        raise SystemExit(1)


@catalog_group.command("try")
@click.argument("file", type=click.File("rb"))
@click.option("--format", "shape", type=click.Choice(["jsonl", "table"]), default="table")
@_folders
def try_lines(file: IO[bytes], shape: str, folders: tuple[Path, ...]) -> None:
    """Say for each line of FILE (or -) which signals it shows, and whether it is suspicious.

    A bare line has no reason, level or object: a signal counts when its words are there.
    """
    try:
        rules = Rules.load(folders)
    except CatalogError as error:
        _fail(error.faults)
    if shape == "jsonl":
        for answer in _tried(file, rules):
            click.echo(_escaped_json(codec.encode(answer).decode()))
        return
    table = Table("line", "signals", "suspicious", "text", box=None, pad_edge=False)
    for answer in _tried(file, rules):
        suspected = answer.suspicious
        flag = f"{suspected.score} {' '.join(suspected.families)}" if suspected else ""
        _row(table, str(answer.line), " ".join(answer.signals), flag, answer.redacted)
    _console().print(table)


def _tried(file: IO[bytes], rules: Rules) -> Iterator[Tried]:
    for number, text in enumerate(_lines(file), 1):
        suspicion = rules.detector.inspect(text, source=TRIED_AS)
        yield Tried(
            line=number,
            signals=tuple(signal.id for signal in rules.matches_text(text)),
            suspicious=Suspected(
                families=tuple(suspicion.families),
                rules=tuple(suspicion.rules),
                score=suspicion.score,
            )
            if suspicion
            else None,
            redacted=rules.redactor.redact(text),
        )


def _lines(file: IO[bytes]) -> Iterator[str]:
    """Lines as producers end them; what is longer than the limit is cut, and still one line."""
    while line := file.readline(MAX_LINE_BYTES):
        rest = line
        while not rest.endswith(b"\n") and len(rest) == MAX_LINE_BYTES:
            rest = file.readline(MAX_LINE_BYTES)
        yield line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def _escaped_json(line: str) -> str:
    """JSON in which nothing acts on a terminal or hides; every parser reads the same from it."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(_json_escape(c) if is_hidden(c) else c for c in line)


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _loaded(folders: tuple[Path, ...]) -> Catalog:
    try:
        return load(folders)
    except CatalogError as error:
        _fail(error.faults)


def _fail(faults: Iterable[Fault]) -> NoReturn:
    shown = list(faults)
    for fault in shown:
        click.echo(escape_terminal(str(fault)))
    click.echo(f"{len(shown)} fault{'s' if len(shown) != 1 else ''}", err=True)
    raise SystemExit(1)


def _by_kind(catalog: Catalog) -> Iterator[tuple[str, Any]]:
    yield "signal", catalog.signals
    yield "pattern", catalog.patterns
    yield "category", catalog.categories
    yield "exit_code", catalog.exit_codes
    yield "route", catalog.routes


def _size(catalog: Catalog) -> str:
    return ", ".join(f"{kind}: {len(rows)}" for kind, rows in _by_kind(catalog))


def _field(console: Console, field: str, value: object) -> None:
    if isinstance(value, list):
        console.print(Text(f"  {field}:"))
        for item in value:
            console.print(Text(f"    - {escape_terminal(str(item))}"))
    else:
        console.print(Text(f"  {field}: {escape_terminal(str(value))}"))


def _row(table: Table, *cells: str) -> None:
    """Cells as plain text: rich would read brackets in a log line as its own markup."""
    table.add_row(*(Text(escape_terminal(cell), overflow="fold") for cell in cells))


def _console() -> Console:
    """The terminal's own width there; in a pipe no line is broken."""
    console = Console(highlight=False, markup=False, emoji=False)
    return console if console.is_terminal else Console(width=2000, highlight=False, markup=False)
