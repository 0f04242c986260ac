"""The `causestream` command."""

from importlib.metadata import PackageNotFoundError, version

import click

from matchers.rows import CatalogError
from matchers.rules import Rules
from streams.cli.catalog import catalog_group
from streams.cli.explain import explain_command
from streams.cli.replay import replay_command
from streams.cli.report import report_command

MATCHER = "pyahocorasick"


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Name release, matcher and rules: what two machines must share to say the same."""
    if not wanted or ctx.resilient_parsing:
        return
    try:
        release = version("causestream")
    except PackageNotFoundError:
        release = "not installed"
    try:
        digest = Rules.load().digest
    except CatalogError as error:
        digest = f"can't be used, {len(error.faults)} faults; see `causestream catalog lint`"
    click.echo(f"causestream {release}\nmatcher {MATCHER} {version(MATCHER)}\ncatalog {digest}")
    ctx.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, the matcher and the digest of the built-in rules.",
)
def main() -> None:
    """Say why GPU workloads and federated jobs failed, from the records there already are."""


main.add_command(replay_command)
main.add_command(report_command)
main.add_command(explain_command)
main.add_command(catalog_group)
