"""`causestream explain`: why this verdict, rule by rule."""

from collections.abc import Iterable, Iterator
from typing import Any

import click

from engine.report import moment, one_line
from matchers.display import escape_terminal
from schemas.diagnosis import Because, Diagnosis, Evidence, EvidenceSource
from streams.cli import output
from streams.cli.replay import conclude, leave, reading_options, request
from streams.cli.report import chosen
from streams.selection import Question


@click.command("explain")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--subject", required=True, metavar="S", help="A workload, job or site, or a diagnosis's id."
)
@reading_options
def explain_command(inputs: tuple[str, ...], subject: str, **reading: Any) -> None:
    """Say why the verdict about a subject is what it is, and why nearer rivals are not."""
    asked = request(inputs, **reading)
    outcome = conclude(asked, Question(cluster=asked.cluster))
    diagnosis = chosen(outcome.diagnoses, subject)
    with output.opened(None) as stream:
        stream.writelines(f"{line}\n" for line in explained(diagnosis))
    leave(outcome)


def explained(diagnosis: Diagnosis) -> Iterator[str]:
    """The verdict, the rules that decided, the rivals that lost, and the evidence they rest on."""
    numbers = {item.id: number for number, item in enumerate(diagnosis.evidence, 1)}
    yield one_line(diagnosis)
    yield ""
    yield "Why:"
    yield from _rules(diagnosis.reasons, numbers)
    yield ""
    yield "Why not:"
    yield from _rules(diagnosis.rivals, numbers)
    yield ""
    yield "Evidence:"
    for number, item in enumerate(diagnosis.evidence, 1):
        yield from _evidence(number, item)
    for missing in diagnosis.missing_evidence:
        yield escape_terminal(f"  missing: {missing.what}: {missing.why}")
        if missing.next_command:
            yield escape_terminal(f"      {missing.next_command}")


def _rules(rules: Iterable[Because], numbers: dict[str, int]) -> Iterator[str]:
    found = False
    for because in rules:
        found = True
        cited = sorted(numbers[name] for name in because.evidence if name in numbers)
        shown = f" [{', '.join(map(str, cited))}]" if cited else ""
        yield escape_terminal(f"  {because.verdict}, by {because.rule}: {because.why}{shown}")
    if not found:
        yield "  nothing"


def _evidence(number: int, item: Evidence) -> Iterator[str]:
    times = f", {item.count} times" if item.count > 1 else ""
    yield escape_terminal(f"  [{number}] {moment(item.first_ms)} {item.signal}{times}")
    yield from (escape_terminal(f"      {line}") for line in item.text.split("\n"))
    yield escape_terminal(f"      {_source(item.source)}")


def _source(source: EvidenceSource) -> str:
    place = source.file or f"{source.topic} {source.partition}"
    parts = [source.tool, f"{place} at {source.offset}"]
    parts += [source.site, source.process, source.pod, source.container]
    return ", ".join(part for part in parts if part)
