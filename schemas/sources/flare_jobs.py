"""Answers about FLARE jobs -> entries: job meta, submit answers, `nvflare job logs`, system status.

Facts, flare 1.5 and 1.6. A record is the bare answer of the command (`{"schema_version", "status",
"data"}`), the data alone, or either under an `event` with the time it was asked for
(`job_meta`, `job_logs`, `job_submit`, `system_status`, `operator_report`). Lists hold several.

The log lines in an answer of `nvflare job logs` are `log_lines`; how complete they are is said by
the `site.logs` entries of `read_jobs`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from schemas.entry import Entry, Merge, Value, Where
from schemas.errors import Reason, SchemaError
from schemas.sources.fields import (
    digest,
    first_name,
    first_time,
    found_in,
    listing,
    mapping,
    name,
    objects,
    text,
    time_ms,
    whole,
)
from schemas.sources.flare import read_line
from schemas.sources.folders import is_uuid
from schemas.sources.shippers import Line, flare_record

TEXT_KEPT = 4 * 1024
JOBS_READ = 1000  # jobs of one list
SITES_READ = 1000
HISTORY_READ = 200  # newest lines of a schedule history
LINES_READ = 20_000  # log lines of one site's answer
LOGS_TOOL = "nvflare job logs"

_NO_FAILURE = frozenset(
    {"JOB_NOT_RUNNING", "JOB_NOT_FOUND"}
)  # answers about asking, not about jobs
_MISSING = frozenset({"missing", "unavailable", "not_available", "not_found", "permission_denied"})


class _Answer:
    """One answer: what it is about, when, and where its entries belong."""

    def __init__(
        self, event: str, value: Mapping[str, Any], federation: str, at_ms: int, key: str
    ) -> None:
        self.event = event
        self.value = value
        self.federation = federation
        self.at_ms = at_ms
        self.key = key if is_uuid(key) else ""

    def entry(
        self,
        fact: str,
        *,
        job: str = "",
        site: str = "",
        at_ms: int | None = None,
        merge: Merge = "event",
        reason: str = "",
        said: str = "",
        detail: str = "",
        tool: str = "nvflare job meta",
        attrs: Mapping[str, Value | None] | None = None,
    ) -> Entry:
        when_ms = self.at_ms if at_ms is None else at_ms
        kept = {key: found for key, found in (attrs or {}).items() if found not in (None, "")}
        return Entry(
            fact=fact,
            source="flare_job",
            where=Where(federation=self.federation, job=job, site=site),
            merge=merge,
            record_id=digest(fact, self.federation, job, site, when_ms, reason, detail, said),
            first_ms=when_ms,
            last_ms=when_ms,
            text=said,
            reason=reason,
            detail=detail,
            tool=tool,
            attrs={key: found for key, found in kept.items() if found is not None},
        )


def read_jobs(value: object, *, federation: str, timestamp_ms: int, key: str = "") -> list[Entry]:
    """Every entry of one record. `key`: the record's key, which may name the job.

    Raises `SchemaError` when the record is no answer about jobs.
    """
    entries: list[Entry] = []
    understood = False
    for answer in _answers(value, federation, timestamp_ms, key):
        found = _read(answer)
        if found is not None:
            understood = True
            entries.extend(found)
    if not understood:
        raise SchemaError(Reason.WRONG_SHAPE, f"no answer about FLARE jobs in {found_in(value)}")
    return entries


def _answers(value: object, federation: str, timestamp_ms: int, key: str) -> Iterator[_Answer]:
    """The answers in a record, freed of the event and of the command's envelope."""
    for item in listing(value)[:JOBS_READ] or [value]:
        if not isinstance(item, dict):
            continue
        at_ms = first_time(item.get("observed_at"), item.get("@timestamp")) or timestamp_ms
        event = name(item.get("event"))
        inner = item.get("response") if isinstance(item.get("response"), dict) else item
        yield _Answer(event, {**item, **mapping(inner)}, federation, at_ms, key)


def _read(answer: _Answer) -> list[Entry] | None:
    """The entries of one answer, or `None` when it is not understood."""
    value = answer.value
    if answer.event == "operator_report":
        return [_report(answer)]
    if name(value.get("status")).lower() == "error" and value.get("error_code"):
        return _refusal(answer)
    data = value.get("data", value)
    if isinstance(data, list):
        return _job_list(answer, data)
    data = mapping(data)
    if "logs" in data or "sites" in data or "unavailable" in data:
        return list(_visibility(answer, data))
    if isinstance(data.get("jobs"), list) and ("clients" not in data):
        return _job_list(answer, data["jobs"])
    if isinstance(data.get("clients"), list) or "client_status" in data:
        return [*_clients(answer, data), *_job_list(answer, listing(data.get("jobs")))]
    for nested in ("meta", "job_meta", "job"):
        if isinstance(data.get(nested), dict):
            data = {**data, **data[nested]}
    if not _job_id(data):
        return [] if name(value.get("status")).lower() == "ok" else None
    return _meta(answer, data) if data.get("status") is not None else []


def _job_id(data: Mapping[str, Any]) -> str:
    return first_name(data.get("job_id"), data.get("jobId"), data.get("id"))[:128]


def _job_list(answer: _Answer, jobs: list[Any]) -> list[Entry]:
    return [
        entry
        for data in objects(jobs[:JOBS_READ])
        if _job_id(data) and data.get("status") is not None
        for entry in _meta(answer, data)
    ]


# --- job meta -------------------------------------------------------------------------------------


def _meta(answer: _Answer, data: Mapping[str, Any]) -> list[Entry]:
    job = _job_id(data)
    detail = [_pair(line) for line in listing(data.get("job_deploy_detail"))[:SITES_READ]]
    entries = [
        answer.entry(
            "job.meta",
            job=job,
            merge="state",
            reason=name(data.get("status")),
            attrs={
                "mode": "poc_production",  # a simulation has no job meta
                "name": first_name(data.get("name"), data.get("job_name")),
                "min_clients": whole(data.get("min_clients")),
                "sites": ",".join(site for site, _ in detail if site)[:TEXT_KEPT],
                "targets": _targets(data.get("deploy_map")),
                "schedule_count": whole(data.get("schedule_count")),
                "requested": _requested(data.get("resource_spec")),
                "submitted_ms": first_time(data.get("submit_time_iso"), data.get("submit_time")),
                "started_ms": first_time(data.get("start_time")),
            },
        )
    ]
    for site, said in detail:
        if site and said.strip().upper() != "OK":
            entries.append(answer.entry("job.deploy", job=job, site=site, detail=site, said=said))
    for line in listing(data.get("schedule_history"))[-HISTORY_READ:]:
        at_ms, said = _dated(text(line, TEXT_KEPT))
        entries.append(
            answer.entry("job.schedule", job=job, at_ms=at_ms, detail=said[:256], said=said)
        )
    return entries


def _pair(line: object) -> tuple[str, str]:
    site, _, said = text(line, TEXT_KEPT).partition(":")
    return name(site), said.strip()


def _dated(line: str) -> tuple[int | None, str]:
    """`2026-06-02 10:00:20: connected sites ...` as time (no zone: read as UTC) and text."""
    stamp, separator, said = line.partition(": ")
    at_ms = time_ms(stamp) if separator else None
    return (at_ms, said) if at_ms is not None else (None, line)


def _targets(deploy_map: object) -> str:
    """The sites that a job names; nothing for `@ALL`."""
    sites: list[str] = []
    for found in mapping(deploy_map).values():
        for item in listing(found):
            site = first_name(item, *listing(mapping(item).get("sites")))
            if site and not site.startswith("@") and site not in sites:
                sites.append(site)
    return ",".join(sites[:SITES_READ])[:TEXT_KEPT]


def _requested(spec: object) -> str:
    """A resource spec in words: `site-1: num_of_gpus=4 mem_per_gpu_in_GiB=16; site-2: ...`."""
    words = []
    for site, wanted in list(mapping(spec).items())[:SITES_READ]:
        parts = [
            f"{name(key)}={first_name(found, whole(found))}"
            for key, found in list(mapping(wanted).items())[:16]
            if first_name(found, whole(found))
        ]
        if parts and name(site):
            words.append(f"{name(site)}: {' '.join(parts)}")
    return "; ".join(words)[:1024]


# --- other answers --------------------------------------------------------------------------------


def _report(answer: _Answer) -> Entry:
    said = text(answer.value.get("text"), TEXT_KEPT) or text(answer.value.get("message"), TEXT_KEPT)
    return answer.entry(
        "job.report",
        job=_job_id(answer.value) or answer.key,
        said=said,
        detail=said[:256],
        tool="operator report",
    )


def _refusal(answer: _Answer) -> list[Entry]:
    """An answer with an error code: a refused submission, or logs that cannot be had."""
    value = answer.value
    code = name(value.get("error_code"))
    job = _job_id(value) or _job_id(mapping(value.get("data"))) or answer.key
    said = text(value.get("message"), TEXT_KEPT)
    if answer.event == "job_logs":
        site = first_name(value.get("site"), value.get("target"))
        return [_logs_of(answer, job, site, "unavailable", why=said or code)]
    if answer.event not in ("", "job_submit") or (not answer.event and code in _NO_FAILURE):
        return []
    folder = first_name(value.get("job_folder"), value.get("folder"))
    return [
        answer.entry(
            "job.submit",
            # a refused submission never got an id: it goes by its folder, else by what was said
            job=job or folder or f"submission-{digest('submit', code, said)[:8]}",
            reason=code,
            said=said,
            tool="nvflare job submit",
            attrs={
                "exit_code": whole(value.get("exit_code")),
                "hint": text(value.get("hint"), 512),
                "folder": folder,
            },
        )
    ]


def _clients(answer: _Answer, data: Mapping[str, Any]) -> Iterator[Entry]:
    """`nvflare system status`: which sites are registered, and what the server says of each."""
    said: dict[str, str] = {}
    last: dict[str, int | None] = {}
    for client in objects(listing(data.get("clients"))[:SITES_READ]):
        site = first_name(client.get("client_name"), client.get("name"))
        said.setdefault(site, name(client.get("status")) or "registered")
        last[site] = time_ms(client.get("client_last_conn_time"))
    for client in objects(listing(data.get("client_status"))[:SITES_READ]):
        site = first_name(client.get("client_name"), client.get("name"))
        said[site] = name(client.get("status")) or said.get(site, "")
    for site in listing(data.get("disabled_clients"))[:SITES_READ]:
        said[first_name(site, mapping(site).get("client_name"))] = "disabled"
    for site, status in said.items():
        if site:
            yield answer.entry(
                "site.status",
                site=site,
                merge="state",
                reason=status,
                detail=site,
                tool="nvflare system status",
                attrs={"connected_ms": last.get(site)},
            )


# --- logs -----------------------------------------------------------------------------------------


def _logs_of(
    answer: _Answer,
    job: str,
    site: str,
    reason: str,
    *,
    why: str = "",
    lines: int | None = None,
    size: int | None = None,
) -> Entry:
    return answer.entry(
        "site.logs",
        job=job,
        site=site,
        merge="state",
        reason=reason,
        said=why,
        detail=site,
        tool=LOGS_TOOL,
        attrs={"lines": lines, "bytes": size, "why": why},
    )


def _visibility(answer: _Answer, data: Mapping[str, Any]) -> Iterator[Entry]:
    """How much of each site's log an answer holds (facts, flare 1.6: two shapes)."""
    job = _job_id(data) or answer.key
    logs, sites = mapping(data.get("logs")), mapping(data.get("sites"))
    missing = mapping(data.get("unavailable"))
    for site in list(dict.fromkeys([*sites, *logs, *missing]))[:SITES_READ]:
        if not name(site):
            continue
        about = mapping(sites.get(site)) or mapping(logs.get(site))
        status = name(about.get("status")).lower()
        why = text(about.get("reason"), 512) or text(missing.get(site), 512)
        if site in missing or about.get("available") is False or status in _MISSING:
            yield _logs_of(answer, job, name(site), "unavailable", why=why or status)
            continue
        cut = about.get("logs_truncated", about.get("truncated"))
        if cut is None:
            cut = data.get("logs_truncated")
        yield _logs_of(
            answer,
            job,
            name(site),
            "truncated" if cut is True else "available",
            why=why,
            lines=whole(about.get("lines")),
            size=whole(about.get("bytes")),
        )


def log_lines(value: object, *, key: str = "") -> list[Line]:
    """The log lines in answers of `nvflare job logs`, each with its job and site.

    Lines before the first one with a time (the log was cut there) get that time; if none has one,
    the time at which the logs were asked for.
    """
    found: list[Line] = []
    for answer in _answers(value, "", 0, key):
        data = mapping(answer.value.get("data", answer.value))
        job = _job_id(data) or answer.key
        for site, logs in list(mapping(data.get("logs")).items())[:SITES_READ]:
            fields = {"site": name(site), "job": job}
            lines = [_log_line(row, fields) for row in _rows(logs)[:LINES_READ]]
            timed = ((at, read_line(line).time_ms) for at, line in enumerate(lines))
            before, at_ms = next((pair for pair in timed if pair[1]), (len(lines), answer.at_ms))
            found += [replace(line, time_ms=at_ms) for line in lines[:before]]
            found += lines[before:]
    return found


def _log_line(row: str, fields: dict[str, str]) -> Line:
    flare = flare_record(row)
    return Line(text=flare["message"] if flare else row, fields=fields, flare=flare, tool=LOGS_TOOL)


def _rows(logs: object) -> list[str]:
    if isinstance(logs, str):
        return text(logs, 8 * 1024 * 1024).rstrip("\n").split("\n")
    rows = listing(mapping(logs).get("lines")) or listing(logs)
    return [text(row, 1024 * 1024).rstrip("\n") for row in rows if isinstance(row, str)]
