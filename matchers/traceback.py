"""Whose fault a Python traceback shows: the user's code, FLARE, a library, a simulation's driver.

Facts, flare 2 "User frames or FLARE frames": the last user frame below the last FLARE frame
decides. A chained traceback has several parts, the first of which is the cause. When a job is
aborted, every trainer raises through its own code; that traceback is an echo and accuses nobody
(facts, flare 0.5).

Reads each line once; nothing here backtracks.
"""

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Owner = Literal["user", "flare", "library", "driver", ""]

BEGIN = "Traceback (most recent call last):"
CHAINED = (
    "During handling of the above exception, another exception occurred",
    "The above exception was the direct cause of the following exception",
)
LINES_READ = 4096
LINE_READ = 2048

_FRAME = re.compile(r'File "([^"\n]{1,1024})", line ([0-9]{1,9})(?:, in (.{1,256}))?')
# `KeyError: 'x'`, `torch.OutOfMemoryError: ...`, `queue.Empty`; not `else: x` and not a plain word.
_RAISED = re.compile(
    r"((?:[A-Za-z_][A-Za-z0-9_]{0,63}\.){0,8})([A-Za-z_][A-Za-z0-9_]{0,95})(?::| *$)"
)
_SECURE = re.compile(r"Exception Type: <class '([A-Za-z0-9_.]{1,256})'>")
_LOWER_NAMES = ("error", "exception", "timeout", "exit", "interrupt", "warning")

_LIBRARY = ("/site-packages/", "/dist-packages/")
_FLARE_PACKAGE = re.compile(
    r"(?:^|/)nvflare/(?:private|app_common|app_opt|apis|client|fuel|job_config|recipe|ha|lighter|"
    r"tool|widgets|security|utils|edge|collab|fox|dashboard|cli|metrics)(?:/|[._])"
)
_DRIVER_PACKAGE = re.compile(r"(?:^|/)nvflare/(?:recipe|job_config)/")
_STANDARD_LIBRARY = re.compile(r"/lib(?:64)?/(?:python|pypy)[0-9.]*/|/Lib/|^Lib/")
_DRIVER_FILES = ("/job.py", "_job.py", "-job.py")
_ABORTED = ("request to abort the job for reason", "request to stop the job for reason")
_ABORT_SIGNAL = "abort_signal_triggered"


class Frame(Struct, frozen=True, kw_only=True):
    """One call of a traceback, and whose file it is in."""

    file: str
    line: int
    function: str
    owner: Owner  # "" for frames that are nobody's: `<string>`, `<frozen runpy>`


class Traceback(Struct, frozen=True, kw_only=True):
    """What a traceback says about its cause.

    `echo`: raised because the job was already being aborted. `driver`: the program that sets a
    simulation up is on its way. `truncated`: its beginning is missing.
    """

    exception: str
    message: str
    owner: Owner
    user_file: str = ""
    user_function: str = ""
    user_line: int = 0
    frames: int = 0
    echo: bool = False
    driver: bool = False
    truncated: bool = False


class _Part(Struct, kw_only=True):
    """One exception of a chain, while it is read."""

    frames: list[Frame]
    exception: str = ""
    message: str = ""


def attribute(text: str) -> Traceback | None:
    """The traceback in a log entry's text, or `None` when there is none."""
    parts, whole, tail = _read(text)
    parts = [part for part in parts if part.frames or (part.exception and (whole or tail))]
    if not parts:
        return None
    cause = parts[0]
    shown, owner, user = cause, _owner(cause.frames), _user_frame(cause.frames)
    for part in parts[1:]:
        # A cause deep in a library: the part in which it surfaced says whose call it was.
        if owner in ("user", "flare", "driver"):
            break
        owner, user = _owner(part.frames), _user_frame(part.frames)
        shown = part
    named = next((part for part in parts if part.exception), cause)
    frames = [frame for part in parts for frame in part.frames]
    if _is_echo(shown.frames, named.message):
        echo, owner = True, "flare"
    else:
        echo = False
    if owner not in ("user", "driver"):
        user = None
    return Traceback(
        exception=named.exception,
        message=named.message,
        owner=owner,
        user_file=user.file if user else "",
        user_function=user.function if user else "",
        user_line=user.line if user else 0,
        frames=len(frames),
        echo=echo,
        driver=any(_is_driver(frame.file) for frame in frames) or owner == "driver",
        truncated=not whole,
    )


def begins(line: str) -> bool:
    """Whether a line begins a traceback, whatever stands before it; prose goes on after it."""
    return BEGIN in line and line.rstrip().endswith(BEGIN)


def _read(text: str) -> tuple[list[_Part], bool, bool]:
    """The parts; whether a beginning was seen; whether it is only the end of a traceback."""
    parts: list[_Part] = []
    part: _Part | None = None
    whole = tail = started = False
    for raw in text.split("\n", LINES_READ)[:LINES_READ]:
        line = raw[:LINE_READ].rstrip()
        inner = line.lstrip(" \t|+-")
        if begins(line):
            part = _Part(frames=[])
            whole = whole or not (parts or tail)
            parts.append(part)
            continue
        frame = _frame(inner)
        if frame is not None:
            if part is None or part.exception:
                part = _Part(frames=[])
                parts.append(part)
            part.frames.append(frame)
            continue
        found = raised(line)
        if found is None:
            tail = tail or (not started and line[:4] == "    ")
            started = started or bool(line)
            continue
        if part is None and tail:
            part = _Part(frames=[])
            parts.append(part)
        started = True
        if part is not None and not part.exception:
            part.exception, part.message = found
    return parts, whole, tail


def raised(line: str) -> tuple[str, str] | None:
    """Exception type and message of a line that ends a traceback, or `None`."""
    if not line or line[0] in " \t":
        return None
    secure = _SECURE.match(line)
    if secure is not None:
        return secure[1], ""
    found = _RAISED.match(line)
    if found is None:
        return None
    name = found[2]
    lowered = name.lower()
    if not (name[0].isupper() or found[1] or lowered.endswith(_LOWER_NAMES)):
        return None
    if not (found[1] or lowered.endswith(_LOWER_NAMES) or any(c.islower() for c in name)):
        return None  # `INFO: ...`, `NOTE`: words, not types
    return found[1] + name, line[found.end() :].strip()


def _frame(line: str) -> Frame | None:
    if not line.startswith('File "'):
        return None
    found = _FRAME.match(line)
    if found is None:
        return None
    file = found[1]
    return Frame(file=file, line=int(found[2]), function=found[3] or "", owner=owner_of(file))


@lru_cache(maxsize=4096)
def owner_of(file: str) -> Owner:
    """Whose file a frame is in. A job's own folder (`custom`) is the user's wherever it stands."""
    if file.startswith("<"):
        return ""
    path = file.replace("\\", "/")
    if any(mark in path for mark in _LIBRARY):
        return "flare" if _FLARE_PACKAGE.search(path) else "library"
    if "/custom/" in path or path.startswith("custom/"):
        return "user"
    if _STANDARD_LIBRARY.search(path):
        return "library"
    return "flare" if _FLARE_PACKAGE.search(path) else "user"


def _is_driver(file: str) -> bool:
    path = "/" + file.replace("\\", "/")
    return path.endswith(_DRIVER_FILES) and "/custom/" not in path and owner_of(file) == "user"


def _below_flare(frames: list[Frame]) -> list[Frame]:
    last = max((at for at, frame in enumerate(frames) if frame.owner == "flare"), default=-1)
    return frames[last + 1 :]


def _user_frame(frames: list[Frame]) -> Frame | None:
    """The last user frame: below FLARE's if there is one there, else wherever it is."""
    for among in (_below_flare(frames), frames):
        for frame in reversed(among):
            if frame.owner == "user":
                return frame
    return None


def _owner(frames: list[Frame]) -> Owner:
    below = [frame for frame in _below_flare(frames) if frame.owner == "user"]
    if any(not _is_driver(frame.file) for frame in below):
        return "user"
    if below or _set_up_by_user(frames):
        return "driver"
    owners = [frame.owner for frame in frames if frame.owner]
    if "flare" in owners:
        return "flare"
    return "library" if owners else ""


def _set_up_by_user(frames: list[Frame]) -> bool:
    """A user's program that calls FLARE's recipes or job API, and failed in there."""
    user = next((at for at, frame in enumerate(frames) if frame.owner == "user"), None)
    if user is None:
        return False
    after = [frame for frame in frames[user:] if frame.owner == "flare"]
    return bool(after) and _DRIVER_PACKAGE.search(after[0].file.replace("\\", "/")) is not None


def _is_echo(frames: list[Frame], message: str) -> bool:
    """Raised by FLARE inside a user's call, or seen without its frames, because of an abort."""
    if not any(words in message for words in _ABORTED) and _ABORT_SIGNAL not in message:
        return False
    owners = [frame.owner for frame in frames if frame.owner]
    return not owners or owners[-1] == "flare"
