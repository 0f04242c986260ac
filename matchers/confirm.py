"""A row's optional regex, run only where its phrase or reason was found."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import re2
from msgspec.structs import replace

from schemas.entry import Value, Where

PLACE_GROUPS = ("pod", "namespace", "node", "site", "job", "container", "workload")
"""Named groups that say what place a text speaks about; every other one becomes an attr."""

_NUMBER_ENDINGS = ("_code", "_count", "_ms", "_s", "_bytes", "_line", "_gpus", "_mib", "_gib")
_NUMBERS = ("round", "pid", "rank", "port", "signal", "restarts", "line", "code", "count", "rc")
_LONGEST_NUMBER = 18
_LONGEST_VALUE = 256

# What Python's `re` allows and a linear-time matcher cannot.
_REMEDIES = (
    ("(?=", "lookahead is not there: match more, and name only the part you need as a group"),
    ("(?!", "lookahead is not there: list what must not occur in `unless`"),
    ("(?<=", "lookbehind is not there: match the text in front too, outside the named group"),
    ("(?<!", "lookbehind is not there: list what must not occur in `unless`"),
    ("(?>", "atomic groups are not there and not needed: matching is linear anyway"),
    ("(?P=", "back references are not there: write the alternatives out"),
    *(
        (f"\\{digit}", "back references are not there: write the alternatives out")
        for digit in range(1, 10)
    ),
    ("\\Z", "write \\z for the end of the text"),
)


class Found(NamedTuple):
    """What the groups of a regex said."""

    attrs: Mapping[str, Value]
    place: Mapping[str, str]


NOTHING = Found(MappingProxyType({}), MappingProxyType({}))
"""Found, with nothing named."""


class RegexError(ValueError):
    """A regex that cannot be used: what is wrong with it, and what to write instead."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


class Regex:
    """A compiled regex whose time is linear in the text. Immutable.

    It searches bytes: for text, re2 would also translate every position back, which takes longer
    than the search. Raises `RegexError` for a pattern that cannot be used.
    """

    __slots__ = ("_groups", "_search")

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.log_errors = False
        try:
            regex = re2.compile(pattern.encode(), options=options)
        except re2.error as error:
            detail = error.args[0] if error.args else error
            what = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
            remedy = next((hint for sign, hint in _REMEDIES if sign in pattern), "use RE2 syntax")
            raise RegexError(f"regex: {what}", remedy) from None
        self._search = regex.search
        self._groups = tuple((name.decode(), at) for name, at in regex.groupindex.items())

    def confirm(self, text: str) -> Found | None:
        """What the named groups say in the first match, or None where there is none."""
        found = self._search(text.encode("utf-8", "replace"))  # a lone surrogate has no UTF-8 form
        if found is None:
            return None
        attrs: dict[str, Value] = {}
        place: dict[str, str] = {}
        for name, at in self._groups:
            value = (found.group(at) or b"").decode("utf-8", "replace")
            if not value:  # an alternative that did not take part
                continue
            if name in PLACE_GROUPS:
                place[name] = value[:_LONGEST_VALUE]
            else:
                attrs[name] = _value(name, value)
        return Found(attrs, place)


def relocated(where: Where, place: Mapping[str, str]) -> Where:
    """The place a text speaks about: what it names replaces what the entry had.

    What belonged to the old place alone (another pod's uid, another workload's id) goes with it.
    """
    changes: dict[str, Any] = {k: v for k, v in place.items() if getattr(where, k) != v}
    if "pod" in changes or "namespace" in changes:
        changes = {"pod_uid": "", "container": "", "init": False} | changes
    if "workload" in changes:
        changes = {"workload_id": ""} | changes
    return replace(where, **changes) if changes else where


def _value(name: str, value: str) -> Value:
    numeric = name in _NUMBERS or name.endswith(_NUMBER_ENDINGS)
    digits = value.removeprefix("-")
    if numeric and digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER:
        return int(value)
    return value[:_LONGEST_VALUE]
