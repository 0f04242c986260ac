"""Settings of the command: `CAUSESTREAM_*` variables, over a TOML file, over defaults that work.

The TOML file is the one that `CAUSESTREAM_SETTINGS` names; its keys are catalog, cluster,
federation, lookback and stall. An option of the command line wins over both. A wrong value is one
line: which setting, what was found, what is allowed.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from engine.verdict.common import DEFAULT_LOOKBACK_MS, DEFAULT_STALL_MS
from schemas.sources.fields import time_ms

PREFIX = "CAUSESTREAM_"
FILE = PREFIX + "SETTINGS"
_SPAN = re.compile(r"([1-9][0-9]{0,8})(ms|s|m|h|d)")
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class SettingsError(ValueError):
    """A setting that can't be used, in one line."""


class Settings(Struct, frozen=True, kw_only=True):
    """What holds when the command line says nothing."""

    catalog: tuple[Path, ...] = ()
    cluster: str = ""
    federation: str = ""
    lookback_ms: int = DEFAULT_LOOKBACK_MS
    stall_ms: int = DEFAULT_STALL_MS


def parse_span(text: str) -> int:
    """Turn `24h` into milliseconds. Raises `ValueError` with what is allowed."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ValueError(
            f"{text!r} is no span; write a whole number and ms, s, m, h or d, as in 24h"
        )
    return int(found[1]) * _UNIT_MS[found[2]]


def parse_time(text: str) -> int:
    """Turn a time into milliseconds since 1970, UTC. Raises `ValueError` with what is allowed."""
    found = time_ms(text) or time_ms(text.strip() + "T00:00:00Z")
    if found is None:
        raise ValueError(f"{text!r} is no time; write it as in 2026-03-12T10:00:00Z")
    return found


def load_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings. Raises `SettingsError` at the first that can't be used."""
    values: dict[str, tuple[str, Any]] = {}
    file = environment.get(FILE, "")
    if file:
        values.update(_from_file(Path(file)))
    for name in ("catalog", "cluster", "federation", "lookback", "stall"):
        variable = PREFIX + name.upper()
        if environment.get(variable):
            values[name] = (variable, environment[variable])
    return Settings(
        catalog=_folders(*values["catalog"]) if "catalog" in values else (),
        cluster=_text(*values.get("cluster", ("", ""))),
        federation=_text(*values.get("federation", ("", ""))),
        lookback_ms=_span(*values["lookback"]) if "lookback" in values else DEFAULT_LOOKBACK_MS,
        stall_ms=_span(*values["stall"]) if "stall" in values else DEFAULT_STALL_MS,
    )


def _from_file(file: Path) -> dict[str, tuple[str, Any]]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{FILE}: {file} can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{FILE}: {file} is no TOML: {error}") from None
    known = {"catalog", "cluster", "federation", "lookback", "stall"}
    for name in found:
        if name not in known:
            raise SettingsError(
                f"{file}: unknown setting {name!r}; known: {', '.join(sorted(known))}"
            )
    return {name: (f"{file}: {name}", value) for name, value in found.items()}


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"{where}: found {value!r}, a text is allowed")
    return value


def _span(where: str, value: object) -> int:
    try:
        return parse_span(_text(where, value))
    except ValueError as error:
        raise SettingsError(f"{where}: {error}") from None


def _folders(where: str, value: object) -> tuple[Path, ...]:
    """Folders, from a list or from a text with `:` between them."""
    names = value if isinstance(value, list) else _text(where, value).split(":")
    folders = tuple(Path(_text(where, name)) for name in names if name)
    for folder in folders:
        if not folder.is_dir():
            raise SettingsError(f"{where}: there is no folder {str(folder)!r}")
    return folders
