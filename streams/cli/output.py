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
WIDE = 150  # columns; from here on a row has its summary beside it, below that beneath it
NAMES_SHOWN = 10
_WIDEST = (34, 30, 6, 16, 30, 19)
_NARROWEST = (12, 16, 6, 8, 8, 10)
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
        _table(TABLE_COLUMNS, [table_cells(diagnosis) for diagnosis in diagnoses], styles, stream)


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


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str], stream: IO[str]
) -> None:
    """One row per diagnosis: at a wide terminal the summary beside it, at a narrow one beneath.

    In a pipe a row is one line, never cut.
    """
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        widths = [max(cell_len(row[at]) for row in (titles, *rows)) for at in range(6)]
        for row in (titles, *rows):
            stream.write(_line(row[:6], widths) + "  " + row[6] + "\n")
        return
    width = console.width
    beside = width >= WIDE
    widths = _fitted(rows, titles, width // 2 + 20 if beside else width)
    head = _line(titles[:6], widths) + ("  " + titles[6] if beside else "")
    console.print(Text(head, style="bold"))
    for row, style in zip(rows, styles, strict=True):
        line = Text(_line(row[:6], widths))
        start = widths[0] + 2
        line.stylize(style, start, start + widths[1])
        room = width - cell_len(line.plain) - 2 if beside else width - len(_INDENT)
        summary = list(Text(row[6]).wrap(console, max(room, 20)))
        if beside:
            line.append("  ")
            line.append_text(summary[0] if summary else Text())
        console.print(line)
        indent = " " * (width - room) if beside else _INDENT
        for part in summary[1:] if beside else summary:
            console.print(Text(indent).append_text(part))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(_cut(cell, size) for cell, size in zip(cells, widths, strict=True))


def _cut(text: str, size: int) -> str:
    if cell_len(text) <= size:
        return set_cell_size(text, size)
    return set_cell_size(text, size - 1) + "…"


def _fitted(rows: Sequence[Sequence[str]], titles: Sequence[str], width: int) -> list[int]:
    """Column widths: as wide as their cells, then narrowed in turn until the line fits."""
    widths = [
        min(_WIDEST[at], max(cell_len(row[at]) for row in (titles, *rows))) for at in range(6)
    ]
    for at in (4, 0, 1, 3, 5):
        excess = sum(widths) + 2 * 5 - width
        if excess > 0:
            widths[at] = max(min(_NARROWEST[at], widths[at]), widths[at] - excess)
    return widths


def write_out(diagnoses: Iterable[Diagnosis], shape: Shape, out: Path | None) -> None:
    """Write everything at once, to standard output or to a file."""
    with opened(out) as stream:
        write(list(diagnoses), shape, stream)


def is_stderr_terminal() -> bool:
    """Whether somebody watches stderr."""
    return sys.stderr.isatty()
