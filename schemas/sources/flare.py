"""FLARE's own log formats, and those of what it runs on: one line -> `LogLine`.

Facts, flare 1.1 and 1.2. `asctime - name - level - fl_ctx - message` since 2.6; before, the context
is part of the message (`[identity=...]: text`); a record without context has four fields; the
concise console form has no name. JSON records have the same fields by name. Beside them: glog lines
of gRPC, kernel lines, and `time="..." level=... msg="..."` of Docker and Helm.

`asctime` has no zone: it is read as UTC, and only used where no shipper gave a time. The context is
a second witness only: a program that prints `[identity=...]: text` puts what it likes there (facts,
flare 0.11).
"""

import re

from msgspec import Struct, field

from schemas.sources.fields import time_ms
from schemas.sources.folders import is_uuid
from schemas.sources.shippers import Line

CONTEXT_READ = 1024  # characters within which a context must end

_HEADER = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}[,.][0-9]{3} - ")
STAMP = 23  # characters of asctime
_HEADER_END = STAMP + 3
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,32}[ -/]?[@-~]|\x1b\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?")
_LEVELS = frozenset({"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "NOTSET"})
_CONTEXT_KEYS = frozenset(
    {"identity", "run", "wf", "peer", "peer_run", "peer_rc", "task_name", "task_id"}
)
_GLOG = re.compile(
    r"([IWEF])[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3,6} +[0-9]+ ([^\s\]]{1,128})\] ?"
)
_GLOG_LEVELS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL"}
_KERNEL = re.compile(r"\[ *[0-9]{1,9}\.[0-9]{3,9}\] ")
_LOGFMT = re.compile(r'time="([^"]{1,64})" level=([a-z]{1,16}) msg=(?:"(.*)"|(\S*))', re.DOTALL)


class LogLine(Struct, frozen=True, kw_only=True):
    """What a line says by itself. `header`: it begins a record; otherwise it continues one.

    `time_ms` is the line's own time, 0 if it has none or (glog, kernel) no date.
    """

    text: str
    header: bool = False
    time_ms: int = 0
    stamp: str = ""  # the line's own time as written: names the line in whatever file it stands
    level: str = ""
    logger: str = ""
    identity: str = ""
    run: str = ""
    peer: str = ""
    peer_rc: str = ""
    ctx: dict[str, str] = field(default_factory=dict)


def plain(text: str) -> str:
    """The line without terminal colours and line ends."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.rstrip("\r\n")


def is_log_header(text: str) -> bool:
    """Whether a plain line begins a record in FLARE's own form."""
    return _HEADER.match(text) is not None


def is_header(text: str) -> bool:
    """Whether a plain line begins a record: FLARE's own form, or glog, kernel or logfmt."""
    if not text:
        return False
    first = text[0]
    if first in "0123456789":
        return _HEADER.match(text) is not None
    if first in "IWEF":
        return _GLOG.match(text) is not None
    if first == "[":
        return _KERNEL.match(text) is not None
    return first == "t" and text.startswith('time="') and _LOGFMT.match(text) is not None


def logger_of(line: Line, text: str) -> str:
    """The last part of the logger's name, without reading the rest of the line."""
    if line.flare is not None:
        return line.flare["name"].rpartition(".")[2]
    if _HEADER.match(text) is None:
        return ""
    name, _, rest = text[_HEADER_END : _HEADER_END + 160].partition(" - ")
    return name.rpartition(".")[2] if rest and name not in _LEVELS else ""


def read_line(line: Line) -> LogLine:
    """The fields of one line. Never fails: what has no known form is text of its own."""
    if line.flare is not None:
        return _from_json(line.flare)
    return read_text(plain(line.text))


def read_text(text: str) -> LogLine:
    """The fields of one line of a text log, free of colours and line ends."""
    if not is_header(text):
        return LogLine(text=text)
    if text[0] in "0123456789":
        return _from_header(text)
    return _from_others(text)


def _from_json(flare: dict[str, str]) -> LogLine:
    ctx, _ = _context(flare["fl_ctx"])
    message = plain(flare["message"])
    if not ctx:
        ctx, message = _context(message)
    return _line(
        message, flare["asctime"], flare["levelname"], flare["name"] or flare["fullName"], ctx
    )


def _from_header(text: str) -> LogLine:
    stamp, rest = text[:STAMP], text[_HEADER_END:]
    first, _, after = rest.partition(" - ")
    second, _, message = after.partition(" - ")
    if first in _LEVELS:  # the concise console form has no name
        level, logger, message = first, "", after
    elif second in _LEVELS:
        level, logger = second, first
    else:
        level, logger, message = "", "", rest
    ctx, message = _context(message)
    return _line(message, stamp, level, logger, ctx)


def _line(message: str, stamp: str, level: str, logger: str, ctx: dict[str, str]) -> LogLine:
    return LogLine(
        text=message,
        header=True,
        time_ms=time_ms(stamp) or 0,
        stamp=stamp[:64],
        level="WARNING" if level == "WARN" else level[:16],
        logger=logger.rpartition(".")[2][:128],
        identity=ctx.get("identity", ""),
        run=ctx.get("run", ""),
        peer=ctx.get("peer", ""),
        peer_rc=ctx.get("peer_rc", ""),
        ctx=ctx,
    )


def _context(message: str) -> tuple[dict[str, str], str]:
    """A leading `[key=value, ...]` and what follows it after `: ` or ` - `."""
    if not message.startswith("["):
        return {}, message
    end = message.find("]", 0, CONTEXT_READ)
    if end < 0:
        return {}, message
    ctx: dict[str, str] = {}
    for part in message[1:end].split(", "):
        key, equals, value = part.partition("=")
        if not equals or key not in _CONTEXT_KEYS:
            return {}, message
        ctx[key] = value[:253]
    rest = message[end + 1 :]
    for separator in (": ", " - "):
        if rest.startswith(separator):
            return ctx, rest[len(separator) :]
    return ctx, rest.lstrip(" :-") if rest else ""


def _from_others(text: str) -> LogLine:
    glog = _GLOG.match(text)
    if glog is not None:
        return LogLine(
            text=text, header=True, level=_GLOG_LEVELS[glog[1]], logger=glog[2].partition(":")[0]
        )
    logfmt = _LOGFMT.match(text)
    if logfmt is not None:
        level = logfmt[2].upper()
        return LogLine(
            text=text,
            header=True,
            time_ms=time_ms(logfmt[1]) or 0,
            level="WARNING" if level == "WARN" else level,
        )
    return LogLine(text=text, header=True, logger="kernel")


# --- jobs that a message names --------------------------------------------------------------------

_HEX = "[0-9a-fA-F]"
_ID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
# The words before an id that make it a job's: FLARE writes many other ids (tasks, transfers,
# tokens) in the same form (facts, flare 1.3).
_JOB = re.compile(
    rf"(?:\b(?:job|run)(?:[_ ]?id)?[ :='\"(]{{1,4}}|\b(?:server|site-[0-9]{{1,4}})\.|job/client )"
    rf"({_ID})",
    re.IGNORECASE,
)
_JOB_FOLDER = re.compile(rf"[/\\]({_ID})[/\\]app_")


def job_in(text: str) -> str:
    """The id of the job that a message speaks about: the first one in a place where jobs stand."""
    found = _JOB.search(text) or _JOB_FOLDER.search(text)
    return found[1].lower() if found is not None else ""


def job_of_run(run: str) -> str:
    """The job id in a context's `run`; a simulation and a parent process have none."""
    return run if is_uuid(run) else ""
