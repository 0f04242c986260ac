"""Which cluster records belong to that name none: the only one that the inputs name."""

from collections.abc import Sequence

import re2

from schemas.sources.fields import name
from streams.opening import CannotReadError, Source
from streams.walk import STDIN, Walk

_NAMED = re2.compile(rb'"cluster(?:Id|Name)"\s{0,4}:\s{0,4}"([^"\\\x00-\x1f]{1,253})"')
_KEPT = 512  # bytes of a block that may begin a name, taken along to the next one


def only_cluster(inputs: Sequence[str]) -> str:
    """The cluster that the records of these inputs name, if they name exactly one; else empty.

    Events as `kubectl` prints them name no cluster; beside the answers of one cluster they are
    that cluster's. Standard input is read once, so it is not asked.
    """
    found: set[str] = set()
    for file in Walk(inputs).files:
        if str(file.path) == str(STDIN):
            return ""
        try:
            with Source(file, lambda _: None) as source:
                if source.format.kind == "json":
                    _gather(source, found)
        except CannotReadError:
            continue  # the reader says so when it comes to it
        if len(found) > 1:
            return ""
    return next(iter(found), "")


def _gather(source: Source, found: set[str]) -> None:
    rest = b""
    for block in source.blocks():
        data = rest + block
        found.update(
            name(match.group(1).decode("utf-8", "replace")) for match in _NAMED.finditer(data)
        )
        if len(found) > 1:
            return
        rest = data[-_KEPT:]
