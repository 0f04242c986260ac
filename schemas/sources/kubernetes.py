"""Kubernetes events, from every producer that brings them (facts, runai 2.1 to 2.4).

A record may hold one event or many, bare or wrapped: what kubectl prints, a watch, the two forks of
kubernetes-event-exporter, Fluent Bit, an OpenTelemetry collector, or a layout of someone's own.
Pods that come the same ways (`kubectl get pods,events -o json`) are read too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from schemas.codec import read_json
from schemas.entry import Entry
from schemas.errors import SchemaError
from schemas.sources import otel, pods
from schemas.sources.event import Event, entry_of, free_text, kind_of, owner
from schemas.sources.event_layout import guess
from schemas.sources.fields import (
    first_name,
    first_time,
    mapping,
    name,
    only_readable,
    whole,
)

MOST_COUNTED = 2**31 - 1  # a count is an int32 in the API
_WATCH = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"})
WRAPPERS = ("object", "event", "data", "body", "payload", "value", "_source", "message", "log")
_DEEPEST = 6


class _Setting(Struct, frozen=True, kw_only=True):
    cluster: str
    timestamp_ms: int
    depth: int = 0


def read_events(value: object, *, cluster: str, timestamp_ms: int) -> list[Entry]:
    """Every event (and pod) of one decoded record.

    `cluster` is for records that name none; `timestamp_ms`, the record's own time, for events
    without one. Raises `SchemaError` when nothing in the record can be read.
    """
    setting = _Setting(cluster=cluster, timestamp_ms=timestamp_ms)
    return only_readable(_read(value, setting), value, wanted="Kubernetes event")


def _read(value: object, setting: _Setting) -> Iterator[Entry | None]:
    if setting.depth > _DEEPEST:
        yield None
        return
    inside = replace(setting, depth=setting.depth + 1)
    if isinstance(value, list):
        for item in value:
            yield from _read(item, inside)
    elif isinstance(value, str):
        yield from _read_text(value, inside)
    elif not isinstance(value, dict):
        yield None
    elif otel.is_logs(value):
        for record in otel.log_records(value):
            yield from _read_log(record, inside)
    elif isinstance(value.get("items"), list):
        yield from _read(value["items"], inside)
    elif name(value.get("type")) in _WATCH and "object" in value:
        yield from _read_change(str(value["type"]), value["object"], inside)
    else:
        yield from _read_object(value, inside)


def _read_object(value: Mapping[str, Any], setting: _Setting) -> Iterator[Entry | None]:
    if is_event(value):
        yield entry_of(_event(value), cluster=setting.cluster, timestamp_ms=setting.timestamp_ms)
    elif pods.is_pod(value):
        yield from pods.read_pod(value, cluster=setting.cluster, timestamp_ms=setting.timestamp_ms)
    elif "reason" in value or not {"apiVersion", "kind", "metadata"} <= value.keys():
        yield from _read_unknown(value, setting)
    # any other Kubernetes object is fine, and says nothing here


def _read_unknown(value: Mapping[str, Any], setting: _Setting) -> Iterator[Entry | None]:
    """A layout of someone's own, or an event inside another producer's envelope."""
    wrapped = [value[key] for key in WRAPPERS if key in value]
    named = first_name(
        value.get("clusterName"),
        value.get("cluster"),
        mapping(value.get("resource")).get("k8s.cluster.name"),
        mapping(value.get("attributes")).get("k8s.cluster.name"),
    )
    setting = replace(setting, cluster=named or setting.cluster)
    for inner in wrapped:
        if isinstance(inner, dict) and (is_event(inner) or pods.is_pod(inner)):
            yield from _read(inner, setting)
            return
    guessed = guess(value)
    if guessed is not None:
        yield entry_of(
            _bounded(guessed), cluster=setting.cluster, timestamp_ms=setting.timestamp_ms
        )
        return
    for inner in wrapped:
        if isinstance(inner, dict) or (isinstance(inner, str) and inner[:1] in ("{", "[")):
            yield from _read(inner, setting)
            return
    yield None


def _read_text(value: str, setting: _Setting) -> Iterator[Entry | None]:
    """JSON inside a text, as shippers write it that do not decode what they carry."""
    try:
        inner = read_json(value.encode("utf-8", "replace"))
    except SchemaError:
        yield None
    else:
        yield from _read(inner, setting)


def _read_change(change: str, changed: object, setting: _Setting) -> Iterator[Entry | None]:
    """One item of a watch. A deleted event has only expired; a deleted pod shows its last state."""
    if change in ("ADDED", "MODIFIED") or (change == "DELETED" and pods.is_pod(changed)):
        yield from _read(changed, setting)


def _read_log(record: otel.LogRecord, setting: _Setting) -> Iterator[Entry | None]:
    """A log record of the collector's `k8sevents` (attributes) or `k8sobjects` (body) receiver."""
    cluster = first_name(record.resource.get("k8s.cluster.name"), setting.cluster)
    event = otel.event_of(record)
    if event is not None:
        yield entry_of(_bounded(event), cluster=cluster, timestamp_ms=setting.timestamp_ms)
    else:
        at_ms = first_time(record.time, record.observed) or setting.timestamp_ms
        yield from _read(record.body, replace(setting, cluster=cluster, timestamp_ms=at_ms))


def is_event(value: object) -> bool:
    """Whether this is an event object, of either API."""
    found = mapping(value)
    return (
        isinstance(found.get("involvedObject"), dict)
        or isinstance(found.get("regarding"), dict)
        or (found.get("kind") == "Event" and "reason" in found and "metadata" in found)
    )


def _event(value: Mapping[str, Any]) -> Event:
    """An event of core/v1 or events.k8s.io/v1: the same thing under two sets of names."""
    meta = mapping(value.get("metadata"))
    about = mapping(value.get("involvedObject")) or mapping(value.get("regarding"))
    source = mapping(value.get("source")) or mapping(value.get("deprecatedSource"))
    owner_kind, owner_name = owner(about.get("ownerReferences"))
    kind = kind_of(about.get("kind"))
    component = first_name(
        source.get("component"),
        value.get("reportingComponent"),
        value.get("reportingController"),
        value.get("source"),
    )
    annotations = {**mapping(about.get("annotations")), **mapping(meta.get("annotations"))}
    return _bounded(
        Event(
            kind=kind,
            namespace=first_name(about.get("namespace"), meta.get("namespace")),
            name=name(about.get("name")),
            uid=name(about.get("uid")),
            field_path=name(about.get("fieldPath")),
            reason=name(value.get("reason")),
            message=free_text(value.get("message")) or free_text(value.get("note")),
            type=name(value.get("type")),
            action=name(value.get("action")),
            component=component,
            host=first_name(source.get("host"), value.get("reportingInstance")),
            count=_count(value),
            first_ms=_first(value, meta),
            last_ms=_last(value, meta),
            event_uid=name(meta.get("uid")),
            event_name=name(meta.get("name")),
            cluster=first_name(value.get("clusterName"), meta.get("clusterName")),
            labels=mapping(about.get("labels")),
            annotations=annotations,
            owner_kind=owner_kind,
            owner_name=owner_name,
        )
    )


def _first(value: Mapping[str, Any], meta: Mapping[str, Any]) -> int | None:
    return first_time(
        value.get("firstTimestamp"),
        value.get("deprecatedFirstTimestamp"),
        value.get("eventTime"),
        meta.get("creationTimestamp"),
    )


def _last(value: Mapping[str, Any], meta: Mapping[str, Any]) -> int | None:
    """The order of trust of facts, runai 2.2; Fluent Bit's own time comes last."""
    return first_time(
        mapping(value.get("series")).get("lastObservedTime"),
        value.get("lastTimestamp"),
        value.get("deprecatedLastTimestamp"),
        value.get("eventTime"),
        value.get("firstTimestamp"),
        value.get("deprecatedFirstTimestamp"),
        meta.get("creationTimestamp"),
        value.get("@timestamp"),
    )


def _count(value: Mapping[str, Any]) -> int:
    counts = (
        mapping(value.get("series")).get("count"),
        value.get("count"),
        value.get("deprecatedCount"),
    )
    return max((n for n in map(whole, counts) if n is not None), default=1)


def _bounded(event: Event) -> Event:
    return replace(event, count=min(max(event.count, 1), MOST_COUNTED))
