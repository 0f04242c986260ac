"""Identifiers derived from content: the same thing has the same id on every machine."""

from hashlib import blake2s

_UNIT = "\x1f"


def derive(kind: str, *parts: str | int) -> str:
    """A 20-digit hexadecimal id of `parts`, distinct per `kind`."""
    text = _UNIT.join((kind, *map(str, parts)))
    return blake2s(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


_LONGEST_PART = 300


def key(kind: str, *parts: str) -> str:
    """A cell's key: readable, with over-long or separator-bearing parts digested."""
    return _UNIT.join((kind, *(_part(part) for part in parts)))


def _part(part: str) -> str:
    if len(part) <= _LONGEST_PART and part.isprintable() and _UNIT not in part:
        return part
    return f"{part[:40]!a}#{derive('part', part)}"
