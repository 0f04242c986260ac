"""OTLP logs in their JSON encoding, as plain objects.

The collector's Kafka exporter writes `{"resourceLogs": [...]}` with attributes as key/value lists
and 64-bit integers as text. Several log records travel in one message.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from schemas.sources.event import Event, free_text, kind_of
from schemas.sources.fields import (
    first_name,
    first_time,
    listing,
    mapping,
    name,
    objects,
    time_ms,
    whole,
)

_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_DEEPEST = 48


class LogRecord(Struct, frozen=True, kw_only=True):
    """One OTLP log record with what its resource says. `name` is only set by old collectors."""

    body: Any
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]
    time: Any
    observed: Any
    severity: Any
    name: Any


def is_logs(value: object) -> bool:
    """Whether `value` is an OTLP export of logs."""
    found = mapping(value)
    return isinstance(found.get("resourceLogs", found.get("resource_logs")), list)


def log_records(value: object) -> Iterator[LogRecord]:
    """Every log record of an OTLP export; old collectors call a scope instrumentation library."""
    found = mapping(value)
    for of_resource in objects(_either(found, "resourceLogs", "resource_logs")):
        resource = attributes(mapping(of_resource.get("resource")).get("attributes"))
        for of_scope in objects(
            _either(of_resource, "scopeLogs", "scope_logs", "instrumentationLibraryLogs")
        ):
            for record in objects(_either(of_scope, "logRecords", "log_records", "logs")):
                yield LogRecord(
                    body=plain(record.get("body")),
                    attributes=attributes(record.get("attributes")),
                    resource=resource,
                    time=_either(record, "timeUnixNano", "time_unix_nano"),
                    observed=_either(record, "observedTimeUnixNano", "observed_time_unix_nano"),
                    severity=_either(record, "severityText", "severity_text"),
                    name=record.get("name"),
                )


def attributes(value: object) -> dict[str, Any]:
    """An attribute list as an object; one that is an object already stays as it is."""
    if isinstance(value, dict):
        return value
    return {
        pair["key"]: plain(pair.get("value"))
        for pair in objects(value)
        if isinstance(pair.get("key"), str)
    }


def plain(value: object, depth: int = 0) -> Any:
    """An OTLP `AnyValue` as a plain value; what is none stays as it is."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _DEEPEST:
        return value
    (kind, inner), *_ = value.items()
    if kind in _SCALARS:
        return inner
    if kind == "intValue":
        return whole(inner)
    if kind == "arrayValue":
        return [plain(item, depth + 1) for item in listing(mapping(inner).get("values"))]
    if kind == "kvlistValue":
        return {
            pair["key"]: plain(pair.get("value"), depth + 1)
            for pair in objects(mapping(inner).get("values"))
            if isinstance(pair.get("key"), str)
        }
    return value


def event_of(record: LogRecord) -> Event | None:
    """The event that the `k8sevents` receiver made this log record from; `None` if it is none.

    Early versions put the reason into the record's name, the field path into
    `k8s.container.name` and the object into `k8s.<kind>.name` (facts, runai 2.4).
    """
    attrs, resource = record.attributes, record.resource
    if "k8s.event.uid" not in attrs and "k8s.event.reason" not in attrs:
        return None
    kind, object_name, uid = _object_of(record)
    return Event(
        kind=kind,
        namespace=name(attrs.get("k8s.namespace.name")),
        name=object_name,
        uid=uid,
        field_path=first_name(
            resource.get("k8s.object.fieldpath"), attrs.get("k8s.container.name")
        ),
        reason=first_name(attrs.get("k8s.event.reason"), record.name),
        message=free_text(record.body),
        type=name(record.severity),
        action=name(attrs.get("k8s.event.action")),
        component=name(resource.get("k8s.event.source")),
        host=name(resource.get("k8s.node.name")),
        count=whole(attrs.get("k8s.event.count")) or 1,
        first_ms=time_ms(attrs.get("k8s.event.start_time")),
        last_ms=first_time(record.time, attrs.get("k8s.event.start_time"), record.observed),
        event_uid=name(attrs.get("k8s.event.uid")),
        event_name=name(attrs.get("k8s.event.name")),
    )


_NO_OBJECT = frozenset({"event", "namespace", "container", "cluster"})


def _object_of(record: LogRecord) -> tuple[str, str, str]:
    resource = record.resource
    if resource.get("k8s.object.kind") or resource.get("k8s.object.name"):
        return (
            kind_of(resource.get("k8s.object.kind")),
            name(resource.get("k8s.object.name")),
            name(resource.get("k8s.object.uid")),
        )
    for key in sorted(record.attributes):
        prefix, _, rest = key.partition(".")
        kind, _, last = rest.partition(".")
        if prefix == "k8s" and last == "name" and kind not in _NO_OBJECT:
            uid = record.attributes.get(f"k8s.{kind}.uid")
            return kind_of(kind), name(record.attributes[key]), name(uid)
    return "", "", ""


def _either(found: Mapping[str, Any], *names: str) -> Any:
    return next((found[key] for key in names if key in found), None)
