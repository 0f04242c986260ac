"""Texts that a user wrote into a workload: searched for injected instructions, never quoted."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.sources.fields import listing, mapping, objects, text

MOST_TEXTS = 128
TEXT_LENGTH = 4096

_PLAIN = ("command", "args", "arguments")
_PAIRS = ("environmentVariables", "env", "annotations")


def user_texts(*holders: Mapping[str, Any]) -> tuple[str, ...]:
    """Commands, arguments, environment and annotations of specs, containers or metadata.

    Values can be secrets: whoever reads these may look, and must not repeat them.
    """
    found: list[str] = []
    for holder in holders:
        for said in _texts(holder):
            if said.strip():
                found.append(said)
            if len(found) == MOST_TEXTS:
                return tuple(found)
    return tuple(found)


def _texts(holder: Mapping[str, Any]) -> Iterator[str]:
    for key in _PLAIN:
        value = holder.get(key)
        parts = [text(part, TEXT_LENGTH) for part in listing(value)[:MOST_TEXTS]]
        yield " ".join(parts)[:TEXT_LENGTH] if parts else text(value, TEXT_LENGTH)
    for key in _PAIRS:
        value = holder.get(key)
        for pair in list(objects(value))[:MOST_TEXTS]:
            yield _pair(pair.get("name", pair.get("key")), pair.get("value"))
        for called, inner in list(mapping(value).items())[:MOST_TEXTS]:
            yield _pair(called, inner)


def _pair(called: object, value: object) -> str:
    shown = text(value, TEXT_LENGTH)
    return f"{text(called, 253)}={shown}" if shown else ""
