"""Which input topic a decoded JSON value belongs to, told by its content alone."""

from collections.abc import Mapping
from typing import Any

from schemas.sources import otel, pods
from schemas.sources.event_layout import guess
from schemas.sources.fields import mapping, name
from schemas.sources.kubernetes import WRAPPERS, is_event

_JOB_EVENTS = frozenset({"job_meta", "job_logs", "job_submit", "operator_report"})
_JOB_STATES = frozenset({"SUBMITTED", "APPROVED", "DISPATCHED", "RUNNING", "FINISHED", "ABORTED"})
_LOG_JSON = ("asctime", "levelname", "message")  # of FLARE's own JSON log
_LINES = ("message", "log", "msg", "line", "MESSAGE")
_PATHS = (
    "log.file.path", "file", "path", "filename", "file_path", "filepath", "source_file",
    "kubernetes", "container_name", "log.offset", "input.type", "_SYSTEMD_UNIT",
)  # fmt: skip
_WATCH = frozenset({"ADDED", "MODIFIED", "DELETED"})
_ITEMS_LOOKED_AT = 20


def sniff(value: object) -> str | None:
    """The topic that such records travel on; `None` when the value is of no known kind.

    A list is what the first recognised of its items is.
    """
    return _sniff(value, 0)


def _sniff(value: object, depth: int) -> str | None:
    if depth > 3:
        return None
    if isinstance(value, list):
        return _first_of(value, depth)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("items"), list):
        known = _first_of(value["items"], depth)
        return known or _empty_list(value)
    if name(value.get("type")) in _WATCH and isinstance(value.get("object"), dict):
        return _sniff(value["object"], depth + 1)
    return next((topic for known in _TESTS if (topic := known(value))), None)


def _first_of(items: list[Any], depth: int) -> str | None:
    found = (_sniff(item, depth + 1) for item in items[:_ITEMS_LOOKED_AT])
    return next((topic for topic in found if topic), None)


def _empty_list(value: Mapping[str, Any]) -> str | None:
    kinds = {"EventList": "k8s-events", "PodList": "runai-pods", "List": "k8s-events"}
    return kinds.get(str(value.get("kind"))) if not value["items"] else None


def _kubernetes(value: Mapping[str, Any]) -> str | None:
    if is_event(value) or _is_otel_event(value):
        return "k8s-events"
    return "runai-pods" if pods.is_pod(value) else None


def _is_otel_event(value: Mapping[str, Any]) -> bool:
    """An OTLP export that the collector's Kubernetes receivers made, by its first records."""
    if not otel.is_logs(value):
        return False
    for number, record in enumerate(otel.log_records(value)):
        body = mapping(record.body)
        inner = mapping(body.get("object")) or body
        if otel.event_of(record) is not None or is_event(inner) or pods.is_pod(inner):
            return True
        if number == _ITEMS_LOOKED_AT:
            break
    return False


def _flare_job(value: Mapping[str, Any]) -> str | None:
    if name(value.get("event")) in _JOB_EVENTS:
        return "flare-jobs"
    if "schema_version" in value and ("data" in value or "exit_code" in value):
        return "flare-jobs"
    known = "deploy_map" in value or "min_clients" in value or "job_deploy_detail" in value
    known = known or name(value.get("status")).partition(":")[0] in _JOB_STATES
    if "job_id" in value and (known or isinstance(value.get("logs"), dict)):
        return "flare-jobs"
    return "flare-jobs" if "min_clients" in value and "deploy_map" in value else None


def _flare_log(value: Mapping[str, Any]) -> str | None:
    return "flare-logs" if all(isinstance(value.get(key), str) for key in _LOG_JSON) else None


def _runai_answer(value: Mapping[str, Any]) -> str | None:
    """The list answers of the Run:ai API."""
    for key, topic in (
        ("workloads", "runai-phases"),
        ("pods", "runai-pods"),
        ("records", "runai-history"),
    ):
        inner = value.get(key)
        if isinstance(inner, list) and all(isinstance(item, dict) for item in inner[:3]):
            first = next((found for found in map(_runai_item, inner[:3]) if found), topic)
            return first if first.startswith("runai") else topic
    return None


def _runai_item(value: Mapping[str, Any]) -> str | None:
    if isinstance(value.get("measurements"), list) and "containers" not in value:
        return "runai-metrics"
    meta, spec = mapping(value.get("meta")), mapping(value.get("spec"))
    if meta and ("phaseUpdate" in spec or "event" in spec):
        return "runai-history"
    is_of_runai = any(key in value for key in ("workloadId", "clusterId", "projectId"))
    if "k8sPhase" in value and "containers" in value:
        return "runai-pods"
    if "phase" in value and (is_of_runai or "k8sPhase" in value):
        return "runai-phases"
    if isinstance(value.get("workload"), dict) and ("conditions" in value or "events" in value):
        return "runai-phases"
    if is_of_runai and any(key in value for key in ("desiredPhase", "actualPhase", "spec")):
        return "runai-specs"
    events = value.get("events")
    if isinstance(events, list) and all(_is_runai_event(item) for item in events):
        return "runai-phases"
    return None


def _is_runai_event(value: object) -> bool:
    found = mapping(value)
    return "createdAt" in found and "message" in found


def _wrapped(value: Mapping[str, Any]) -> str | None:
    """An event or pod inside another producer's envelope, as an object or as JSON text."""
    for inner in (value.get(key) for key in WRAPPERS):
        change = mapping(inner)
        held = mapping(change.get("object")) if name(change.get("type")) in _WATCH else change
        known = _kubernetes(held)
        if known:
            return known
        if isinstance(inner, str) and _is_event_text(inner):
            return "k8s-events"
    return None


def _is_event_text(text: str) -> bool:
    """Whether a text is the JSON of an event, without decoding it."""
    return text.startswith("{") and ('"involvedObject"' in text or '"regarding"' in text)


def _shipped_line(value: Mapping[str, Any]) -> str | None:
    """A line of text in a shipper's envelope, with something that says where it was read."""
    if not any(isinstance(value.get(key), str) for key in _LINES):
        return None
    log = mapping(value.get("log"))
    has_place = any(key in value for key in _PATHS) or "file" in log or "offset" in log
    docker = "stream" in value and ("time" in value or "log" in value)
    return "flare-logs" if has_place or docker else None


def _custom_layout(value: Mapping[str, Any]) -> str | None:
    guessed = guess(value)
    if guessed is None or not guessed.message or not guessed.name:
        return None
    return "k8s-events" if guessed.kind or guessed.namespace else None


_TESTS = (
    _kubernetes,
    _flare_job,
    _flare_log,
    _runai_answer,
    _runai_item,
    _custom_layout,
    _wrapped,
    _shipped_line,
)
