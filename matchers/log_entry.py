"""From the lines of one log entry to the `Entry`: whose log it is, when, which job, which id.

Sites and jobs come from where a line was read; its own text is the last witness, because any
program can print what it likes (facts, flare 0.11, 1.3).
"""

import re

from msgspec.structs import replace

from matchers.traceback import Traceback, attribute
from schemas.entry import Entry, Origin, Value, Where
from schemas.record import RawRecord
from schemas.sources.fields import digest, time_ms
from schemas.sources.flare import LogLine, job_in, job_of_run, read_line, read_text
from schemas.sources.folders import (
    SERVER,
    SIMULATE_JOB,
    Place,
    is_uuid,
    looks_like_site,
    place,
)
from schemas.sources.shippers import Line, label

TEXT_KEPT = 16 * 1024  # characters of an entry's text: its head, and the longer tail
HEAD_KEPT = 5 * 1024

_SERVER_NAMES = frozenset({"server", "simulator_server", "example_project"})
_SIMULATION_LOGGERS = ("Simulator", "ClientTaskWorker")
_JOB_LOGGERS = frozenset(
    {"JobRunner", "DefaultJobScheduler", "JobExecutor", "ProcessExecutor", "Authenticator"}
)
_KIT = "/startup/"  # the folder of a startup kit, which simulations do not have
_SERVER_LOGGERS = frozenset(
    {"ServerRunner", "WFCommServer", "ServerEngine", "FederatedServer", "JobRunner"}
    | {"DefaultJobScheduler", "ClientManager", "ServerDeployer", "HandleDeadJobCommand"}
    | {"runner_process"}
)
_CLIENT_LOGGERS = frozenset(
    {"ClientRunner", "ClientTaskWorker", "TaskScriptRunner", "InProcessClientAPI"}
    | {"ClientAPIExecutor", "ExternalProcessBackend", "SubprocessLauncher", "FederatedClient"}
    | {"ClientRunManager", "JobExecutor", "ProcessExecutor", "Communicator", "Authenticator"}
    | {"worker_process"}
)
_SIMULATION_TEXTS = (f"/{SIMULATE_JOB}/", f".{SIMULATE_JOB}", "python job.py", "python3 job.py")
_POD_SITE = re.compile(r"(server|site-[0-9]{1,6})(?:-.*)?")
_POD_JOB = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE
)


def seen(record: RawRecord, line: Line, *, federation: str = "") -> Where:
    """Whose log a line is in, as far as the place it was read at says it. Cheap."""
    return _stream_where(record, line, place(line.path or record.path), federation)


def mode_of(record: RawRecord, line: Line) -> str:
    """The mode that the place a line was read at proves: simulation, poc_production, or none."""
    return place(line.path or record.path).mode or ("poc_production" if line.tool else "")


def _stream_where(record: RawRecord, line: Line, spot: Place, federation: str) -> Where:
    fields = line.fields
    site = (
        fields.get("site")
        or spot.site
        or label(line, "site", "site_name", "client_name")
        or _site_of_pod(line.pod)
        or (line.host if looks_like_site(line.host) else "")
    )
    job = fields.get("job") or spot.job or _job_of_pod(line)
    process = spot.process
    if not process and site and job and spot.mode != "simulation":
        process = "SJ" if site == SERVER else "CJ"
    return Where(
        cluster=fields.get("cluster", ""),
        namespace=line.namespace,
        pod=line.pod,
        container=line.container,
        federation=fields.get("federation") or federation,
        job=job,
        site=site,
        process=process,
        workspace=spot.workspace,
        file=line.path or record.path,
    )


def _site_of_pod(pod: str) -> str:
    found = _POD_SITE.fullmatch(pod) if pod else None
    return found[1] if found is not None else ""


def _job_of_pod(line: Line) -> str:
    named = label(line, "job_id", "jobid") if line.labels else ""
    if named:
        return named
    found = _POD_JOB.search(line.pod) if line.pod else None
    return found[0].lower() if found is not None else ""


def build(
    record: RawRecord,
    line: Line,
    *,
    head: str,
    rows: list[str],
    known_stamp: str,
    last_ms: int,
    cut: bool,
    piped: bool,
    traced: bool,
    federation: str,
) -> Entry:
    """One log entry. `head` is its header line (empty: it has none), `rows` are what follows."""
    first = LogLine(text="")
    if line.flare is not None:
        first = read_line(line)
    elif head:
        first = read_text(head)
    shown = rows if piped or not (head or line.flare) else [first.text, *rows]
    text = shorten("\n".join(shown).rstrip())
    traceback = attribute(text) if traced or 'File "' in text else None
    spot = place(line.path or record.path)
    where = _stream_where(record, line, spot, federation)
    mode = spot.mode or _mode_by_text(first, text, traceback, line)
    if not where.site and traceback is not None:
        where = _with_site(where, traceback.user_file)
    where = _with_job(where, record, first, text, mode, piped=piped)
    at_ms = line.time_ms or first.time_ms or time_ms(known_stamp) or record.timestamp_ms
    return Entry(
        fact="log",
        source="flare_log",
        where=where,
        merge="line",
        record_id=_record_id(record, line, where, first, text),
        first_ms=at_ms,
        last_ms=max(at_ms, last_ms),
        text=text,
        level=first.level,
        logger=first.logger,
        tool=line.tool,
        attrs=_attrs(first, where, mode, traceback, cut=cut),
        origin=Origin(
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            in_file=bool(record.path),
        ),
    )


def shorten(text: str) -> str:
    """At most `TEXT_KEPT` characters: head and tail, for the cause stands at the end."""
    if len(text) <= TEXT_KEPT:
        return text
    tail = TEXT_KEPT - HEAD_KEPT - 3
    return f"{text[:HEAD_KEPT]}\n…\n{text[-tail:]}"


def _mode_by_text(first: LogLine, text: str, traceback: Traceback | None, line: Line) -> str:
    if line.tool or is_uuid(first.run):
        return "poc_production"
    if first.run == SIMULATE_JOB or "simulator_server" in (first.identity, first.peer):
        return "simulation"
    if first.logger.startswith(_SIMULATION_LOGGERS):
        return "simulation"
    if first.logger in _JOB_LOGGERS or first.run == "?":
        return "poc_production"
    if (traceback is not None and traceback.driver) or any(t in text for t in _SIMULATION_TEXTS):
        return "simulation"
    return "poc_production" if _KIT in text or job_in(text) else ""


def _with_job(
    where: Where, record: RawRecord, first: LogLine, text: str, mode: str, *, piped: bool
) -> Where:
    """Complete job and process by what the entry itself says, then by the record's key."""
    job = where.job or job_of_run(first.run)
    if not job and mode != "simulation":
        job = job_in(text)
    if not job and record.key:
        key = record.key[:64].decode("ascii", "replace")
        job = key if is_uuid(key) else ""
    process = where.process
    if mode == "simulation" and process in ("SP", "CP"):
        process = ""
    if piped:
        process = "subprocess"
    if job == where.job and process == where.process:
        return where
    return replace(where, job=job, process=process)


def _with_site(where: Where, user_file: str) -> Where:
    """The site whose app a traceback goes through, where all sites share one console."""
    found = place(user_file) if "/app_" in user_file or "\\app_" in user_file else Place()
    return replace(where, site=found.site) if found.site else where


def _attrs(
    first: LogLine, where: Where, mode: str, traceback: Traceback | None, *, cut: bool
) -> dict[str, Value]:
    attrs: dict[str, Value] = {}
    for name in ("identity", "run", "peer", "peer_rc"):
        found = getattr(first, name)
        if found:
            attrs[name] = found
    if mode:
        attrs["mode"] = mode
    if cut:
        attrs["cut"] = 1
    role = role_of(first.logger)
    if role:
        attrs["role"] = role
    if role != "server" and _is_spoofed(first, where.site):
        attrs["spoofed_identity"] = first.identity
    if traceback is not None:
        attrs |= _traceback_attrs(traceback)
    return attrs


def _traceback_attrs(found: Traceback) -> dict[str, Value]:
    attrs: dict[str, Value] = {"frames": found.frames}
    if found.exception:
        attrs["exception"] = found.exception
    if found.owner:
        attrs["owner"] = found.owner
    if found.user_file:
        attrs |= {
            "user_file": found.user_file,
            "user_function": found.user_function,
            "user_line": found.user_line,
        }
    for name in ("echo", "driver", "truncated"):
        if getattr(found, name):
            attrs[name] = 1
    return attrs


def role_of(logger: str) -> str:
    """The side of a federation that writes under a logger's name: server, client, or not told."""
    if logger in _SERVER_LOGGERS:
        return "server"
    return "client" if logger in _CLIENT_LOGGERS else ""


def _is_spoofed(first: LogLine, site: str) -> bool:
    """Whether a context names another site than the one whose log it stands in.

    Servers write their project's name, which may be anything, beside the workflow that only they
    have; a folder may be called after its site with something added.
    """
    identity = first.identity
    if "wf" in first.ctx and not looks_like_site(site) and not looks_like_site(identity):
        return False
    if not identity or not site or identity == site:
        return False
    if identity in _SERVER_NAMES or identity in site or site in identity:
        return False
    return looks_like_site(identity) if site == SERVER else True


def _record_id(record: RawRecord, line: Line, where: Where, first: LogLine, text: str) -> str:
    """The same line, the same id: delivered twice, or written to several files of one process.

    A line with a time of its own is named by that; another one by its place in its file; else by
    the shipper's time; else by the place of the record.
    """
    if where.site:
        owner = (where.site, where.job or where.workspace)
    else:
        owner = (f"{line.host}\x1e{line.pod}", where.job or where.workspace)
    if first.stamp:
        return digest("log", *owner, first.stamp, first.level, first.logger, text)
    stream = (*owner, where.file, line.pod, line.container, line.stream)
    if line.offset >= 0:
        return digest("row", *stream, line.offset, text)
    if line.time_ms:
        return digest("row", *stream, "at", line.time_ms, text)
    return digest("row", *stream, record.topic, record.partition, record.offset, text)
