"""Diagnoses on standard output or into a file, as table, JSON lines or Markdown; notes on stderr.

Foreign text is escaped for its place by `engine.report` and `matchers.display`.
"""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import click
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from engine.report import TABLE_COLUMNS, is_failure, markdown, subject_words, table_cells
from matchers.display import escape_terminal, is_hidden
from schemas.codec import encode
from schemas.diagnosis import Diagnosis
from streams.compare import Change, Said
from streams.replay import Outcome

Shape = Literal["table", "jsonl", "markdown"]
SHAPES = ("table", "jsonl", "markdown")
SUMMARY = 70  # columns that a summary beside its row needs
NAMES_SHOWN = 10
_INDENT = "    "


def json_line(value: Any) -> str:
    """A struct as one line of JSON in which nothing acts on a terminal; parsers read the same."""
    line = encode(value).decode()
    if line.isascii() and line.isprintable():
        return line
    return "".join(_unit_escapes(c) if is_hidden(c) else c for c in line)


def _unit_escapes(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


@contextmanager
def opened(out: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that only replaces an older one when everything is written."""
    if out is None:
        stream = click.get_text_stream("stdout", encoding="utf-8", errors="backslashreplace")
        yield stream
        stream.flush()
        return
    if out.exists() and not out.is_file():  # /dev/stdout, a pipe
        with out.open("w", encoding="utf-8") as stream:
            yield stream
        return
    try:
        number, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    except OSError as error:
        raise click.UsageError(f"--out {out}: {(error.strerror or '').lower()}") from None
    try:
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            yield stream
        Path(name).chmod(0o644)
        Path(name).replace(out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write(diagnoses: Sequence[Diagnosis], shape: Shape, stream: IO[str]) -> None:
    """Write diagnoses in a shape."""
    if shape == "jsonl":
        for diagnosis in diagnoses:
            stream.write(json_line(diagnosis) + "\n")
    elif shape == "markdown":
        stream.write("\n---\n\n".join(markdown(diagnosis) for diagnosis in diagnoses))
    elif diagnoses:
        styles = [_style(diagnosis) for diagnosis in diagnoses]
        _table([table_cells(diagnosis) for diagnosis in diagnoses], styles, stream)


def write_changes(found: Sequence[Change], shape: Shape, stream: IO[str]) -> None:
    """Write what two catalogs see differently."""
    if shape == "jsonl":
        for change in found:
            stream.write(json_line(change) + "\n")
    elif shape == "markdown":
        for change in found:
            subject = escape_terminal(subject_words(change.subject))
            words = f"{_said(change.before)} → {_said(change.after)}"
            stream.write(f"- {change.change}: `{subject}`: {words}\n")
    elif found:
        rows = [
            tuple(
                escape_terminal(cell)
                for cell in (
                    change.change,
                    subject_words(change.subject),
                    _said(change.before),
                    _said(change.after),
                )
            )
            for change in found
        ]
        widths = [max(cell_len(row[at]) for row in rows) for at in range(4)]
        for row in rows:
            line = "  ".join(set_cell_size(c, w) for c, w in zip(row, widths, strict=True))
            stream.write(line.rstrip() + "\n")


def note_outcome(outcome: Outcome, *, shown: int | None) -> None:
    """Say on stderr what was read, what could not be, and what was left out."""
    noted = _many(outcome.records, "record") + " read"
    if shown is not None:
        noted += f", {_many(shown, 'diagnosis', 'diagnoses')}"
    click.echo(noted + (": nothing was found to diagnose" if shown == 0 else ""), err=True)
    for reason, count in outcome.dead_counts.items():
        click.echo(f"dead letters, {reason}: {count:,}{_example(outcome, reason)}", err=True)
    _names("could not be read", outcome.unread)
    if outcome.passed_over:
        click.echo(f"passed over: {_many(len(outcome.passed_over), 'file')}", err=True)
    for name, count in outcome.drafts.items():
        click.echo(f"draft row {name}: would have matched {_many(count, 'time')}", err=True)
    if outcome.interrupted:
        click.echo("interrupted: this is what the records read until then say", err=True)


def _example(outcome: Outcome, reason: str) -> str:
    letter = next((item for item in outcome.dead_letters if item.reason == reason), None)
    if letter is None:
        return ""
    place = letter.path or f"{letter.topic} {letter.partition}"
    return escape_terminal(f" (first: {place} at {letter.offset}: {letter.found})")[:300]


def _names(words: str, items: Sequence[Any]) -> None:
    for item in items[:NAMES_SHOWN]:
        click.echo(f"{words}: {escape_terminal(item.label)}: {item.why}", err=True)
    if len(items) > NAMES_SHOWN:
        click.echo(f"{words}: {len(items) - NAMES_SHOWN:,} more", err=True)


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def _said(said: Said | None) -> str:
    if said is None:
        return "nothing"
    details = [said.confidence, said.subcause or "", ", ".join(said.culprits)]
    return f"{said.verdict} ({', '.join(detail for detail in details if detail)})"


def _style(diagnosis: Diagnosis) -> str:
    if diagnosis.route is not None or diagnosis.state == "resolved":
        return "dim"
    unsure = (diagnosis.category or diagnosis.matched_pattern) == "UNKNOWN"
    return "yellow" if unsure or not is_failure(diagnosis) else "bold red"


def _table(rows: Sequence[Sequence[str]], styles: Sequence[str], stream: IO[str]) -> None:
    """One row per diagnosis: its summary beside it where there is room, else beneath.

    In a pipe a row is one line, never cut.
    """
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    natural = [max(cell_len(row[at]) for row in (TABLE_COLUMNS, *rows)) for at in range(6)]
    if not console.is_terminal:
        for row in (TABLE_COLUMNS, *rows):
            stream.write(_line(row[:6], natural) + "  " + row[6] + "\n")
        return
    room = console.width - sum(natural) - 2 * 6
    shown = 6 if room >= -2 else 4  # on a narrow terminal who acts and when go beneath too
    widths = _fitted(natural[:shown], console.width)
    title = f"  {TABLE_COLUMNS[6]}" if room >= SUMMARY else ""
    console.print(Text(_line(TABLE_COLUMNS[:shown], widths) + title, "bold"))
    for row, style in zip(rows, styles, strict=True):
        start = _styled(row[:shown], widths, style)
        if room >= SUMMARY:
            _print_row(console, start + "  ", row[6])
            continue
        console.print(start)
        beneath = ", ".join(cell for cell in row[shown:6] if cell)
        _print_row(console, Text(_INDENT), f"{beneath}: {row[6]}" if beneath else row[6])


def _print_row(console: Console, start: Text, text: str) -> None:
    """Print `start` and beside it `text`, wrapped."""
    indent = cell_len(start.plain)
    lines = Text(text).wrap(console, max(console.width - indent, 20))
    for number, line in enumerate(lines or [Text()]):
        console.print((start if number == 0 else Text(" " * indent)) + line)


def _styled(cells: Sequence[str], widths: Sequence[int], style: str) -> Text:
    line = Text(_line(cells, widths))
    line.stylize(style, widths[0] + 2, widths[0] + 2 + widths[1])
    return line


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(_cut(cell, size) for cell, size in zip(cells, widths, strict=True))


def _cut(text: str, size: int) -> str:
    if cell_len(text) <= size:
        return set_cell_size(text, size)
    return set_cell_size(text, size - 1) + "…"


def _fitted(natural: Sequence[int], width: int) -> list[int]:
    """Column widths: as wide as their cells, then narrowed in turn until the line fits."""
    widths = list(natural)
    for at, least in ((0, 20), (1, 16), (0, 8), (3, 8)):
        excess = sum(widths) + 2 * (len(widths) - 1) - width
        if excess > 0:
            widths[at] = max(min(least, widths[at]), widths[at] - excess)
    return widths


def write_out(diagnoses: Iterable[Diagnosis], shape: Shape, out: Path | None) -> None:
    """Write everything at once, to standard output or to a file."""
    with opened(out) as stream:
        write(list(diagnoses), shape, stream)


def is_stderr_terminal() -> bool:
    """Whether somebody watches stderr."""
    return sys.stderr.isatty()
