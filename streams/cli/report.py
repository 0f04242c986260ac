"""`causestream report`: one diagnosis as the Markdown report."""

from pathlib import Path
from typing import Any

import click

from engine.report import subject_words
from matchers.display import escape_terminal
from schemas.diagnosis import Diagnosis, Subject
from streams.cli import output
from streams.cli.replay import conclude, leave, reading_options, request
from streams.selection import Question

NAMES_SHOWN = 10


def names_of(subject: Subject) -> set[str]:
    """Everything a user may call a subject by."""
    name = subject.workload_name
    names = {subject.workload_id, name, subject.job_id, subject.job_name, subject_words(subject)}
    if subject.kind == "site":
        names.add(subject.site)
    for home in (subject.project, subject.namespace):
        if home and name:
            names.add(f"{home}/{name}")
    return names - {""}


def chosen(diagnoses: list[Diagnosis], called: str) -> Diagnosis:
    """The one diagnosis of that id or subject; none or several are a usage error."""
    exact = [item for item in diagnoses if item.id == called or called in names_of(item.subject)]
    found = exact or [item for item in diagnoses if len(called) >= 6 and item.id.startswith(called)]
    if len(found) == 1:
        return found[0]
    if not found:
        words = f"no diagnosis has the id or subject {called!r}"
        among = diagnoses
    else:
        words = f"{len(found)} diagnoses are called {called!r}; name one by its id"
        among = found
    lines = [f"  {item.id}  {escape_terminal(subject_words(item.subject))}" for item in among]
    if len(lines) > NAMES_SHOWN:
        lines[NAMES_SHOWN:] = [f"  and {len(lines) - NAMES_SHOWN} more"]
    raise click.UsageError("\n".join([words, *(lines or ["  these records give no diagnosis"])]))


@click.command("report")
@click.argument("called", metavar="ID")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@reading_options
def report_command(called: str, inputs: tuple[str, ...], out: Path | None, **reading: Any) -> None:
    """Print one diagnosis of INPUT... as a Markdown report.

    ID is the diagnosis's id, or what its subject is called: a workload's id or name, project/name,
    a FLARE job's id, a site's name.
    """
    asked = request(inputs, **reading)
    outcome = conclude(asked, Question(cluster=asked.cluster))
    output.write_out([chosen(outcome.diagnoses, called)], "markdown", out)
    leave(outcome)
