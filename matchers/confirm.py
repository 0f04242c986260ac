"""A row's optional regex, run only where its phrase or reason was found."""

from collections.abc import Mapping
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

    attrs: dict[str, Value]
    place: dict[str, str]


class RegexError(ValueError):
    """A regex that cannot be used: what is wrong with it, and what to write instead."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


def compile_regex(pattern: str) -> Any:
    """A matcher whose time is linear in the text. Raises `RegexError`."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        what = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        remedy = next((hint for sign, hint in _REMEDIES if sign in pattern), "use RE2 syntax")
        raise RegexError(f"regex: {what}", remedy) from None


def confirm(regex: Any, text: str) -> Found | None:
    """The groups of `regex` in `text`, or None where it does not match."""
    found = regex.search(encodable(text))
    if found is None:
        return None
    attrs: dict[str, Value] = {}
    place: dict[str, str] = {}
    for name, value in found.groupdict().items():
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


def encodable(text: str) -> str:
    """`text` without lone surrogates, which have no UTF-8 form; its length stays."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _value(name: str, value: str) -> Value:
    numeric = name in _NUMBERS or name.endswith(_NUMBER_ENDINGS)
    digits = value.removeprefix("-")
    if numeric and digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER:
        return int(value)
    return value[:_LONGEST_VALUE]
