"""A progress bar on a terminal, and none in a pipe: bytes, records, rate, remaining time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


class Bar:
    """Counts bytes and records; shows nothing when there is no terminal."""

    def __init__(self, progress: Progress | None, total_bytes: int) -> None:
        self._progress = progress
        self._records = 0
        if progress is not None:
            self._task = progress.add_task("reading", total=total_bytes or None, records="0")

    def add_bytes(self, count: int) -> None:
        """Bytes were read from an input, packed or not."""
        if self._progress is not None:
            self._progress.advance(self._task, count)

    def set_records(self, count: int) -> None:
        """So many records were read until now."""
        if self._progress is not None:
            self._progress.update(self._task, records=f"{count:,}")


@contextmanager
def progress_bar(total_bytes: int, stream: IO[str]) -> Iterator[Bar]:
    """A bar on `stream` if it is a terminal; it is gone when the work is done."""
    if not stream.isatty():
        yield Bar(None, total_bytes)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        DownloadColumn(),
        TextColumn("{task.fields[records]} records"),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        yield Bar(progress, total_bytes)
