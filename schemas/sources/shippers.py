"""Envelopes of log shippers: whatever a shipper made of a log line -> `Line`.

Facts, flare 1.8. Known shapes: Filebeat 7 and 8 (nested or dotted keys), Fluent Bit and Fluentd,
Vector, Docker's json-file, journald, a FLARE JSON record (by itself, as a string under the
shipper's message key, or merged with the shipper's keys), flat objects, and plain text.

Whom to believe, nearest to the operator first; what is missing falls to the next:

- path: the shipper's own field, then the path of the file that was read
- site: field `site` set by the operator, the path, a label, the pod's name, a host named as a site
- job: field `job` set by the operator, the path, a label, a job id in the pod's name, then (below
  this module) the entry's own context and the record's key

The text of a line is never believed about any of these before all of them are silent.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from schemas.codec import read_json
from schemas.errors import Reason, SchemaError
from schemas.record import RawRecord
from schemas.sources.fields import first_name, first_time, mapping, text, whole

LINE_READ = 1024 * 1024  # characters of one record's text
LABELS_READ = 64
DOCKER_CHUNK = 16 * 1024  # Docker cuts longer lines, and the pieces end without a line feed

FLARE_KEYS = ("asctime", "name", "fullName", "levelname", "fl_ctx", "message")

_MESSAGE_KEYS = ("message", "log", "MESSAGE", "msg", "line", "body")
_PATH_KEYS = (
    "log.file.path",
    "file.path",
    "file",
    "filename",
    "file_path",
    "filepath",
    "filePath",
    "path",
    "source",
    "tailed_path",
    "log_file",
)
_TIME_KEYS = ("@timestamp", "timestamp", "time", "ts", "date", "__REALTIME_TIMESTAMP")
_MERGED_UNDER = ("json", "log_processed", "parsed")
_OPERATOR = ("federation", "cluster", "site", "job", "job_id")


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record of a log, free of its shipper. Usually one line; `multiline`: several, joined.

    `time_ms` is the shipper's time (0: none), `offset` the place in the file (-1: not known).
    `flare` holds the six keys of FLARE's JSON format when the record is one. `partial`: the text
    goes on in the next record of the same stream. `tool`: the command whose answer holds the line.
    """

    text: str
    path: str = ""
    host: str = ""
    time_ms: int = 0
    offset: int = -1
    stream: str = ""
    pod: str = ""
    namespace: str = ""
    container: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    flare: dict[str, str] | None = None
    multiline: bool = False
    partial: bool = False
    tool: str = ""


def unwrap(record: RawRecord, value: object | None) -> Line:
    """The log line in one record. `value` is its decoded JSON, or `None` for plain text.

    Raises `SchemaError` when there is no text in it.
    """
    if value is None:
        if record.value is None:
            raise SchemaError(Reason.TOMBSTONE, "no value")
        return _plain(record, record.value.decode("utf-8", "replace"))
    if isinstance(value, str):
        return _plain(record, value)
    if not isinstance(value, dict):
        raise SchemaError(Reason.WRONG_SHAPE, f"a log record cannot be a {type(value).__name__}")
    return _from_object(record, value)


def _plain(record: RawRecord, line: str) -> Line:
    shown = text(line, LINE_READ)
    flare = flare_record(shown)
    return Line(
        text=flare["message"] if flare else shown,
        path=record.path,
        offset=record.offset if record.path else -1,
        flare=flare,
    )


def flare_record(line: str) -> dict[str, str] | None:
    """A line of FLARE's `log.json`, or `None`."""
    if not line.startswith("{") or '"levelname"' not in line:
        return None
    try:
        return _flare_keys(read_json(line.encode()))
    except SchemaError:
        return None


def _flare_keys(value: object) -> dict[str, str] | None:
    if not isinstance(value, dict) or "asctime" not in value or "levelname" not in value:
        return None
    return {key: text(value.get(key), LINE_READ) for key in FLARE_KEYS}


def _from_object(record: RawRecord, value: dict[str, Any]) -> Line:
    shown, flare = _text_of(value)
    kubernetes = mapping(value.get("kubernetes"))
    log = mapping(value.get("log"))
    docker = mapping(value.get("container"))
    path = _path_of(value, log) or record.path
    return Line(
        text=shown,
        path=path,
        host=_host_of(value, kubernetes),
        time_ms=first_time(*(value.get(key) for key in _TIME_KEYS)) or 0,
        offset=_offset_of(record, value, log),
        stream=first_name(value.get("stream"), log.get("iostream")),
        pod=first_name(
            kubernetes.get("pod_name"),
            mapping(kubernetes.get("pod")).get("name"),
            value.get("kubernetes.pod.name"),
            value.get("kubernetes.pod_name"),
        ),
        namespace=first_name(
            kubernetes.get("namespace_name"),
            kubernetes.get("pod_namespace"),
            kubernetes.get("namespace"),
            value.get("kubernetes.namespace"),
        ),
        container=first_name(
            kubernetes.get("container_name"),
            mapping(kubernetes.get("container")).get("name"),
            value.get("kubernetes.container.name"),
            docker.get("name"),
            value.get("container_name"),
            value.get("CONTAINER_NAME"),
        ),
        labels=_labels_of(value, kubernetes, docker),
        fields=_fields_of(value),
        flare=flare,
        multiline="\n" in shown.strip("\r\n"),
        partial=flare is None and _is_partial(value, shown),
    )


def _text_of(value: dict[str, Any]) -> tuple[str, dict[str, str] | None]:
    """The line's text, and FLARE's own record in it: its message wins over the shipper's."""
    raw = next((value[key] for key in _MESSAGE_KEYS if isinstance(value.get(key), str)), None)
    if raw is None and isinstance(value.get("log"), dict):  # ECS `log.original`, OTel-like bodies
        raw = first_text(value["log"].get("original"), mapping(value.get("event")).get("original"))
    candidates = [raw.strip()] if raw is not None and raw.lstrip()[:1] == "{" else []
    flare = next((found for found in map(flare_record, candidates) if found), None)
    flare = flare or _flare_keys(value)
    for key in _MERGED_UNDER:
        flare = flare or _flare_keys(value.get(key))
    flare = flare or _flare_keys(value.get("message"))
    if flare is not None:
        return flare["message"], flare
    if raw is None:
        keys = ", ".join(sorted(key for key in value if key.isascii())[:8])[:120]
        raise SchemaError(Reason.WRONG_SHAPE, f"no text of a log line among the keys {keys}")
    return text(raw, LINE_READ), None


def first_text(*values: object) -> str | None:
    """The first of several values that is a text."""
    return next((found for found in values if isinstance(found, str)), None)


def _path_of(value: dict[str, Any], log: Mapping[str, Any]) -> str:
    nested = mapping(log.get("file")).get("path"), mapping(value.get("file")).get("path")
    for found in (*nested, *(value.get(key) for key in _PATH_KEYS)):
        if isinstance(found, str) and ("/" in found or "\\" in found or "." in found):
            return text(found, 1024)
    return ""


def _offset_of(record: RawRecord, value: dict[str, Any], log: Mapping[str, Any]) -> int:
    for found in (log.get("offset"), value.get("log.offset"), value.get("offset")):
        number = whole(found)
        if number is not None and number >= 0:
            return number
    return record.offset if record.path else -1


def _host_of(value: dict[str, Any], kubernetes: Mapping[str, Any]) -> str:
    return first_name(
        mapping(value.get("host")).get("name"),
        value.get("host"),
        value.get("host.name"),
        value.get("hostname"),
        mapping(value.get("agent")).get("hostname"),
        mapping(value.get("beat")).get("hostname"),
        value.get("_HOSTNAME"),
        kubernetes.get("host"),
        mapping(kubernetes.get("node")).get("name"),
    )


def _labels_of(
    value: dict[str, Any], kubernetes: Mapping[str, Any], docker: Mapping[str, Any]
) -> dict[str, str]:
    kept: dict[str, str] = {}
    for labels in (kubernetes.get("labels"), docker.get("labels"), value.get("labels")):
        for key, found in list(mapping(labels).items())[:LABELS_READ]:
            if isinstance(found, str) and key not in kept:
                kept[text(key, 253)] = text(found, 253)
    return kept


def _fields_of(value: dict[str, Any]) -> dict[str, str]:
    """What the operator's shipper configuration says by itself: nested, dotted or at the top."""
    nested = mapping(value.get("fields"))
    kept = {
        key: first_name(nested.get(key), value.get(f"fields.{key}"), value.get(key))
        for key in _OPERATOR
    }
    kept["job"] = kept["job"] or kept.pop("job_id")
    return {key: found for key, found in kept.items() if found and key != "job_id"}


def _is_partial(value: dict[str, Any], shown: str) -> bool:
    """Whether the container runtime cut the line here: CRI tag P, Docker's and journald's marks."""
    if value.get("logtag") in ("P", "F"):
        return bool(value["logtag"] == "P")
    if str(value.get("partial_message", "")).lower() == "true":
        return str(value.get("partial_last", "")).lower() != "true"
    if str(value.get("CONTAINER_PARTIAL_MESSAGE", "")).lower() == "true":
        return True
    raw = value.get("log")
    return isinstance(raw, str) and len(raw) >= DOCKER_CHUNK and not raw.endswith("\n")


def label(line: Line, *words: str) -> str:
    """The value of the first label whose last part is one of `words`: `nvflare/site`, `site`."""
    for key in sorted(line.labels):
        last = key.replace(".", "/").rpartition("/")[2].lower().replace("-", "_")
        if last in words and line.labels[key]:
            return line.labels[key]
    return ""
