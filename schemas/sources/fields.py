"""Reading single values out of foreign JSON: times, quantities, names, texts and ids.

Nothing here raises. A value that cannot be read is absent (`None`, or empty text): a missing time
or quantity is never guessed. What is returned can always be encoded: no lone surrogates, no
integers beyond 64 bits.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from functools import lru_cache
from hashlib import blake2s
from typing import Any

from schemas.entry import Entry
from schemas.errors import Reason, SchemaError

TEXT_READ = 32 * 1024  # characters of one text that are searched; more is cut
NAME_READ = 253  # the longest name Kubernetes allows
LATEST_MS = 253_402_300_799_999  # the last millisecond of the year 9999
LARGEST = 2**63 - 1

_EMPTY: Mapping[str, Any] = {}


def mapping(value: object) -> Mapping[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def listing(value: object) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; whatever else is in it is passed over."""
    return (item for item in listing(value) if isinstance(item, dict))


def text(value: object, limit: int = TEXT_READ) -> str:
    """A text, or a number as text, cut to `limit` characters. Half characters become U+FFFD."""
    if isinstance(value, str):
        return _whole_characters(value[:limit])
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) <= LARGEST else ""
    return ""


def _whole_characters(value: str) -> str:
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def name(value: object) -> str:
    """A name of something; empty if it has characters that no name has, such as a line break."""
    found = text(value, NAME_READ).strip()
    return found if found.isprintable() else ""


def first_name(*values: object) -> str:
    """The first of several values that is a name."""
    for value in values:
        found = name(value) if value is not None else ""
        if found:
            return found
    return ""


def whole(value: object) -> int | None:
    """A whole number, also when it is sent as text or as `3.0`; `None` beyond 64 bits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        found = int(value) if value.is_integer() else None
    elif isinstance(value, str):
        digits = value.strip()
        found = int(digits) if _WHOLE.fullmatch(digits) else None
    else:
        found = value if isinstance(value, int) else None
    return found if found is not None and abs(found) <= LARGEST else None


_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")

# --- times -------------------------------------------------------------------------------------

# RFC 3339 with any fraction; a blank for the T; no zone (then UTC); Go's own form, which ends in
# `+0000 UTC` and may carry a monotonic reading.
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:[.,]([0-9]{1,9})[0-9]{0,9})?"
    r" ?(?:([Zz]|UTC|GMT)|([+-])([0-9]{2}):?([0-9]{2}))?"
    r"(?: [A-Z+0-9-]{1,5})?(?: m=[+-][0-9.]{1,24})?"
)
_NUMBER = re.compile(r"[0-9]{1,19}(?:\.[0-9]{1,9})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
# An epoch number says its unit by its size: seconds stay below 10^11 until the year 5138.
_EPOCH_UNITS = ((10**11, Decimal(1000)), (10**14, Decimal(1)), (10**17, Decimal("0.001")))
_NANOSECONDS = Decimal("0.000001")


def time_ms(value: object) -> int | None:
    """A time in milliseconds since 1970, UTC, from every form producers use (facts, runai 7.16).

    Text is RFC 3339 or one of its relatives; a number is an epoch in s, ms, µs or ns. Go's zero
    time, null, and times before 1970 or after 9999 are absent.
    """
    if isinstance(value, str):
        return _text_ms(value) if len(value) <= 64 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 < value < 10**19:  # also refuses NaN
        return None
    return _epoch_ms(Decimal(str(value)))


@lru_cache(maxsize=4096)  # one record says its time several times, and neighbours share it
def _text_ms(value: str) -> int | None:
    stamp = value.strip()
    found = _TIME.fullmatch(stamp)
    if found is not None:
        return _calendar_ms(found)
    return _epoch_ms(Decimal(stamp)) if _NUMBER.fullmatch(stamp) else None


def _calendar_ms(found: re.Match[str]) -> int | None:
    year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
    fraction = int((found[7] or "0").ljust(9, "0")[:3])
    try:
        # A leap second is read as the second before it: calendars here have none.
        local = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    ahead_min = int(found[10]) * 60 + int(found[11]) if found[9] else 0
    ahead_ms = ahead_min * 60_000 * (-1 if found[9] == "-" else 1)
    return _in_range((local - _EPOCH) // _MS + fraction - ahead_ms)


def _epoch_ms(number: Decimal) -> int | None:
    per_ms = next((factor for below, factor in _EPOCH_UNITS if number < below), _NANOSECONDS)
    return _in_range(int(number * per_ms))


def _in_range(found_ms: int) -> int | None:
    return found_ms if 0 < found_ms <= LATEST_MS else None


def first_time(*values: object) -> int | None:
    """The first of several values that is a time."""
    return next((found for found in map(time_ms, values) if found is not None), None)


def latest(times: Iterable[int | None]) -> int | None:
    """The newest of several times, absent ones aside."""
    return max((at for at in times if at is not None), default=None)


# --- quantities --------------------------------------------------------------------------------

_QUANTITY = re.compile(
    r"\+?([0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})"
    r"(?:[eE]([+-]?[0-9]{1,2})| ?([numkKMGTPE]|[KMGTPE]i)?)B?"
)
_UNITS = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10**3),
    "K": Decimal(10**3),
    **{unit: Decimal(1000 ** (power + 1)) for power, unit in enumerate("KMGTPE") if power},
    **{f"{unit}i": Decimal(1024 ** (power + 1)) for power, unit in enumerate("KMGTPE")},
}


def quantity(value: object) -> int | None:
    """A Kubernetes quantity as a number of bytes: `32Gi`, `32G`, `1e3`, `0B`, `34359738368`.

    Fractions of a byte are rounded up, as Kubernetes does (facts, runai 7.17). Negative quantities,
    NaN and whatever exceeds 64 bits are absent.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        if not 0 <= value <= LARGEST:
            return None
        number = Decimal(str(value))
    else:
        found = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None:
            return None
        try:
            number = Decimal(found[1]).scaleb(int(found[2] or 0)) * _UNITS.get(found[3] or "", 1)
        except InvalidOperation:
            return None
    if number > LARGEST:
        return None
    return int(number.to_integral_value(ROUND_CEILING))


def readable(size: int) -> str:
    """A number of bytes as people write it: `47.6Gi`, `32Gi`, `512Mi`, `17`."""
    for power in range(6, 0, -1):
        unit = 1024**power
        if size >= unit:
            tenths = (size * 10 + unit // 2) // unit
            fraction = f".{tenths % 10}" if tenths % 10 else ""
            return f"{tenths // 10}{fraction}{'KMGTPE'[power - 1]}i"
    return str(size)


def quantity_text(value: object) -> str:
    """A quantity as it was sent; empty if it is none."""
    return text(value, 64).strip() if quantity(value) is not None else ""


# --- whole records -----------------------------------------------------------------------------

_KEY = re.compile(r"[A-Za-z_@][A-Za-z0-9_@.-]{0,31}")


def found_in(value: object) -> str:
    """What a value is, in words that repeat none of its content but a few plain key names."""
    if not isinstance(value, dict):
        return {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a number")
    keys = sorted(key for key in value if _KEY.fullmatch(key))[:8]
    return f"an object with {len(value)} keys ({', '.join(keys)})"


def only_readable(entries: Iterable[Entry | None], value: object, *, wanted: str) -> list[Entry]:
    """The entries of a record; `None` stands for an item that could not be read.

    Unreadable items are passed over as long as others can be read; a record of which nothing can
    be read is a `SchemaError`. A record that validly says nothing is an empty list.
    """
    kept: list[Entry] = []
    broken = 0
    for entry in entries:
        if entry is None:
            broken += 1
        else:
            kept.append(entry)
    if broken and not kept:
        raise SchemaError(Reason.WRONG_SHAPE, f"no {wanted} in {found_in(value)}")
    return kept


# --- ids ---------------------------------------------------------------------------------------


def digest(*parts: str | int) -> str:
    """An id derived from content: equal parts, equal id."""
    joined = "\x1f".join(map(str, parts))
    return blake2s(joined.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
