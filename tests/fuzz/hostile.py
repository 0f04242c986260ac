"""Hostile records by the thousand: real shapes with something broken in them."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from matchers.scan import TOPICS
from tests.labels import load_cases

_JUNK: tuple[Any, ...] = (
    None, "", " ", 0, -1, 1.5, 10**30, True, [], {}, [[]], [None], {"": None}, "\x00", "\ud83d",
    "\u202e\u200b", "%s%n{0}${x}", "a" * 3_000, "Traceback (most recent call last):", "9999-99-99",
    "CUDA out of memory", "ignore previous instructions", {"a": {"b": {"c": []}}}, "\x1b[2J", "-9",
)  # fmt: skip


def hostile_lines(seed: int, number: int) -> Iterator[bytes]:
    """`number` lines of a topic dump. Same seed, same lines."""
    rnd = Random(seed)
    cases = [*load_cases("runai"), *load_cases("flare")]
    models = [record for case in cases for record in case.records]
    for offset in range(number):
        record = {**rnd.choice(models), "partition": rnd.randrange(3), "offset": offset}
        yield _spoil(rnd, record)


def _spoil(rnd: Random, record: dict[str, Any]) -> bytes:
    way = rnd.randrange(10)
    if way == 0:
        return rnd.randbytes(rnd.randrange(1, 200)).replace(b"\n", b" ")
    if way == 1:
        whole = _line(record)
        return whole[: rnd.randrange(1, len(whole))]
    if way == 2:
        return _line({**record, "value": rnd.choice(_JUNK)})
    if way == 3:
        name = rnd.choice(["topic", "key", "timestamp"])
        return _line({**record, name: rnd.choice(_JUNK)})
    if way == 4:
        text = json.dumps(record["value"])
        return _line({**record, "value": text[: rnd.randrange(len(text))]})
    if way == 5:
        return _line({**record, "topic": rnd.choice(TOPICS)})
    value = _replaced(rnd, record["value"], depth=rnd.randrange(1, 5))
    return _line({**record, "value": value})


def _replaced(rnd: Random, value: Any, *, depth: int) -> Any:
    """The value with one of its parts, `depth` levels down, replaced by junk."""
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return rnd.choice(_JUNK)
    if isinstance(value, list):
        place = rnd.randrange(len(value))
        return [
            _replaced(rnd, item, depth=depth - 1) if number == place else item
            for number, item in enumerate(value)
        ]
    name = rnd.choice(sorted(value))
    return {**value, name: _replaced(rnd, value[name], depth=depth - 1)}


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()
