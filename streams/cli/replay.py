"""`causestream replay`: diagnose old records."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from msgspec import Struct

from engine.report import is_failure
from matchers.rows import CatalogError
from matchers.rules import Rules
from schemas.diagnosis import Diagnosis
from streams.cli import output
from streams.cluster import only_cluster
from streams.compare import changes
from streams.inputs import Reader
from streams.progress import progress_bar
from streams.replay import Options, Outcome, Replay, drive
from streams.selection import Intent, NothingSelectedError, Question
from streams.settings import Settings, SettingsError, load_settings, parse_span, parse_time

COMPLETE, FAILURES, USAGE, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
Command = TypeVar("Command", bound=Callable[..., Any])


class _Span(click.ParamType):
    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return parse_span(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Time(click.ParamType):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return parse_time(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


_Folder = click.Path(exists=True, file_okay=False, path_type=Path)


def reading_options(command: Command) -> Command:
    """The options that every verb has which reads inputs."""
    for option in (
        click.option(
            "--catalog",
            "catalogs",
            type=_Folder,
            multiple=True,
            help="A folder of rows of your own, over the built-in ones. Repeatable; the last wins.",
        ),
        click.option("--cluster", default="", metavar="ID", help=_CLUSTER),
        click.option(
            "--as-of", type=_Time(), metavar="TIME", help="Judge as of this time, by event time."
        ),
        click.option(
            "--lookback", type=_Span(), metavar="24h", help="How far back failures are counted."
        ),
    ):
        command = option(command)
    return command


_CLUSTER = (
    "The cluster asked about; records that name none belong to it. Without it they belong to the "
    "one that the inputs name, if it is only one."
)


class Request(Struct, frozen=True, kw_only=True):
    """Inputs and how to read them, as options and settings together say."""

    inputs: tuple[str, ...]
    settings: Settings
    options: Options
    cluster: str


def request(
    inputs: tuple[str, ...],
    catalogs: tuple[Path, ...],
    cluster: str,
    as_of: int | None,
    lookback: int | None,
) -> Request:
    """Options over settings. A setting that can't be used is a usage error."""
    try:
        settings = load_settings(os.environ)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    return Request(
        inputs=inputs,
        settings=Settings(catalog=catalogs or settings.catalog),
        options=Options(
            cluster=cluster or settings.cluster or only_cluster(inputs),
            federation=settings.federation,
            lookback_ms=lookback or settings.lookback_ms,
            stall_ms=settings.stall_ms,
            as_of_ms=as_of or 0,
        ),
        cluster=cluster,
    )


def load_rules(folders: tuple[Path, ...]) -> Rules:
    """The rules, or a usage error that names every fault of a catalog."""
    try:
        return Rules.load(folders)
    except CatalogError as error:
        shown = "\n".join(f"  {fault}" for fault in error.faults)
        raise click.UsageError(f"the catalog can't be used:\n{shown}") from None


def run(asked: Request, replays: list[Replay]) -> tuple[Reader, bool]:
    """Read all inputs into the replays, with a bar on a terminal."""
    stream = click.get_text_stream("stderr")
    reader = Reader(asked.inputs)
    with progress_bar(reader.total_bytes, stream) as bar:

        def show(count: int) -> None:
            bar.add_bytes(count)
            bar.set_records(replays[0].session.records)

        reader.on_read = show
        interrupted = drive(reader, replays)
    return reader, interrupted


def conclude(
    asked: Request, question: Question, on_revision: Callable[[Diagnosis], None] = lambda _: None
) -> Outcome:
    """Read everything and answer. A question that fits nothing is a usage error."""
    replay = Replay(load_rules(asked.settings.catalog), asked.options, on_revision)
    reader, interrupted = run(asked, [replay])
    return answered(replay, reader, question, interrupted=interrupted)


def answered(replay: Replay, reader: Reader, question: Question, *, interrupted: bool) -> Outcome:
    """The outcome of a replay; a question that fits nothing is a usage error."""
    try:
        return replay.outcome(reader, question, interrupted=interrupted)
    except NothingSelectedError as error:
        output.note_outcome(replay.outcome(reader, interrupted=interrupted), shown=None)
        raise click.UsageError(str(error)) from None


def leave(outcome: Outcome, *, with_failures: bool = False) -> None:
    """End with the exit code that the outcome asks for."""
    if outcome.interrupted:
        raise SystemExit(INTERRUPTED)
    if not outcome.is_complete:
        raise SystemExit(INCOMPLETE)
    if with_failures and any(is_failure(item) for item in outcome.diagnoses):
        raise SystemExit(FAILURES)


@click.command("replay")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@click.option(
    "--format", "shape", type=click.Choice(output.SHAPES), default="table", show_default=True
)
@click.option("--all-revisions", is_flag=True, help="Every revision, not only the last ones.")
@click.option("--workload", default="", metavar="ID|NAME", help="Answer about this workload.")
@click.option("--project", default="", metavar="P", help="Only this project; a name needs it.")
@click.option(
    "--intent",
    type=click.Choice(["terminal", "active"]),
    default=None,
    help="Of several of that name: the newest that ended, or the newest that shows a failure now.",
)
@click.option("--job", default="", metavar="ID", help="Answer about this FLARE job.")
@click.option("--compare", type=_Folder, help="Show what another catalog would have said.")
@click.option("--exit-code", "with_failures", is_flag=True, help="Exit 1 if a failure was found.")
@reading_options
def replay_command(
    inputs: tuple[str, ...],
    out: Path | None,
    shape: output.Shape,
    all_revisions: bool,
    workload: str,
    project: str,
    intent: str | None,
    job: str,
    compare: Path | None,
    with_failures: bool,
    **reading: Any,
) -> None:
    """Diagnose what INPUT... holds: files, folders, or - for standard input.

    Any mix of topic dumps, Kubernetes events, Run:ai answers, FLARE logs and whole workspaces; gzip
    of any of them. Formats are told by content.

    Exit codes: 0 done; 1 a failure was diagnosed (with --exit-code); 2 usage; 3 some input could
    not be read, the rest was.
    """
    asked = request(inputs, **reading)
    question = Question(
        cluster=asked.cluster,
        workload=workload,
        project=project,
        intent=cast("Intent", intent or ""),
        job=job,
    )
    if intent and not workload:
        raise click.UsageError("--intent chooses among workloads of one name; add --workload")
    if compare is not None:
        _compare(asked, question, compare, shape, out)
        return
    revisions: list[Diagnosis] = []
    outcome = conclude(asked, question, revisions.append if all_revisions else lambda _: None)
    shown = outcome.diagnoses
    if all_revisions:
        ids = {item.id for item in shown}
        is_narrowed = question != Question()
        shown = [item for item in revisions if not is_narrowed or item.id in ids]
    output.write_out(shown, shape, out)
    output.note_outcome(outcome, shown=len(shown))
    leave(outcome, with_failures=with_failures)


def _compare(
    asked: Request, question: Question, other: Path, shape: output.Shape, out: Path | None
) -> None:
    before = Replay(load_rules(asked.settings.catalog), asked.options)
    after = Replay(load_rules((other,)), asked.options)
    reader, interrupted = run(asked, [before, after])
    outcomes = [answered(r, reader, question, interrupted=interrupted) for r in (before, after)]
    found = changes(outcomes[0].diagnoses, outcomes[1].diagnoses)
    with output.opened(out) as stream:
        output.write_changes(found, shape, stream)
    counts = [sum(item.change == kind for item in found) for kind in ("gained", "lost", "changed")]
    click.echo("verdicts gained {}, lost {}, changed {}".format(*counts), err=True)
    leave(outcomes[1])
