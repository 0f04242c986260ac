"""Events in a layout that an administrator made up: flat texts, guessed by common key names.

kubernetes-event-exporter's `layout:` gives any keys at any place, all values texts, mostly without
uid and field path (facts, runai 2.4). Keys are compared without case, `_`, `-` and `.`, one level
of nesting deep; a key that names its object (`involvedObject.name`) goes before a plain one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.codec import read_json
from schemas.errors import SchemaError
from schemas.sources.event import Event, free_text, kind_of, owner
from schemas.sources.fields import first_name, first_time, mapping, name, whole

_OBJECT = ("involvedobject", "regarding", "object", "resource")
_KEYS: dict[str, tuple[str, ...]] = {
    "message": ("message", "note", "msg", "eventmessage", "description", "text"),
    "reason": ("reason", "eventreason"),
    "type": ("type", "eventtype", "severity", "level"),
    "count": ("count", "eventcount", "deprecatedcount", "seriescount", "occurrences"),
    "kind": (*(f"{of}kind" for of in _OBJECT), "kind", "resourcetype"),
    "name": (*(f"{of}name" for of in _OBJECT), "name", "podname", "pod"),
    "namespace": (*(f"{of}namespace" for of in _OBJECT), "namespace", "podnamespace", "ns"),
    "uid": (*(f"{of}uid" for of in _OBJECT), "poduid"),
    "field_path": (*(f"{of}fieldpath" for of in _OBJECT), "fieldpath"),
    "container": ("containername", "container"),
    "event_uid": ("metadatauid", "eventuid", "uid", "eventid"),
    "event_name": ("metadataname", "eventname"),
    "component": (
        "sourcecomponent", "component", "reportingcomponent", "reportingcontroller", "source",
    ),
    "node": ("sourcehost", "node", "nodename"),
    "host": ("host", "reportinginstance", "hostname"),  # may be the shipper's
    "action": ("action",),
    "cluster": ("clustername", "cluster", "clusterid", "k8sclustername"),
    "first": (
        "firsttimestamp", "deprecatedfirsttimestamp", "firstseen", "firstoccurrence",
        "eventtime", "createdat", "creationtimestamp", "metadatacreationtimestamp", "created",
    ),
    "last": (
        "serieslastobservedtime", "lastobservedtime", "lasttimestamp", "deprecatedlasttimestamp",
        "lastseen", "lastoccurrence", "updatedat", "eventtime", "timestamp", "time", "ts", "date",
    ),
    "labels": (*(f"{of}labels" for of in _OBJECT), "labels"),
    "annotations": (*(f"{of}annotations" for of in _OBJECT), "annotations"),
    "owners": (*(f"{of}ownerreferences" for of in _OBJECT), "ownerreferences"),
}  # fmt: skip
_EVENT_TYPES = ("Normal", "Warning")
_KEYS_READ = 256


def guess(value: Mapping[str, Any]) -> Event | None:
    """The event that an unknown layout most likely means; `None` without reason and object."""
    flat = dict(_flattened(value))

    def candidates(field: str) -> list[Any]:
        return [flat[key] for key in _KEYS[field] if key in flat]

    reason = first_name(*candidates("reason"))
    message = next((found for found in map(free_text, candidates("message")) if found), "")
    kind, namespace, object_name = _reference(flat.get("involvedobject", flat.get("object")))
    object_name = first_name(*candidates("name")) or object_name
    if not reason or not (message or object_name):
        return None
    owner_kind, owner_name = owner(_opened(next(iter(candidates("owners")), None)))
    first_ms = first_time(*candidates("first"))
    component = first_name(*candidates("component"))
    hosts = candidates("node") + (candidates("host") if component == "kubelet" else [])
    return Event(
        kind=first_name(*map(kind_of, candidates("kind"))) or kind or _implied_kind(flat),
        namespace=first_name(*candidates("namespace")) or namespace,
        name=object_name,
        uid=first_name(*candidates("uid")),
        field_path=_field_path(candidates("field_path"), candidates("container")),
        reason=reason,
        message=message,
        type=next((kind for kind in map(name, candidates("type")) if kind in _EVENT_TYPES), ""),
        action=first_name(*candidates("action")),
        component=component,
        host=first_name(*hosts),
        count=max((n for n in map(whole, candidates("count")) if n is not None), default=1),
        first_ms=first_ms,
        last_ms=first_time(*candidates("last"), first_ms, value.get("@timestamp")),
        event_uid=first_name(*candidates("event_uid")),
        event_name=first_name(*candidates("event_name")),
        cluster=first_name(*candidates("cluster")),
        labels=mapping(_opened(next(iter(candidates("labels")), None))),
        annotations=mapping(_opened(next(iter(candidates("annotations")), None))),
        owner_kind=owner_kind,
        owner_name=owner_name,
    )


def _flattened(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Folded keys and values, least trusted first, so that a dictionary keeps the best."""
    items = list(value.items())[:_KEYS_READ]
    nested = [(_folded(key), inner) for key, inner in items if isinstance(inner, dict)]
    for key, inner in nested:
        if key != "metadata":  # its name and uid are the event's, not the object's
            yield from ((_folded(deep), leaf) for deep, leaf in list(inner.items())[:_KEYS_READ])
    for key, inner in nested:
        yield from ((key + _folded(deep), leaf) for deep, leaf in list(inner.items())[:_KEYS_READ])
    yield from ((_folded(key), leaf) for key, leaf in items)


def _folded(key: str) -> str:
    """A key without case and punctuation; a leading `@` stays, it marks a shipper's own key."""
    return "".join(char for char in key[:64] if char.isalnum() or char == "@").lower()


def _implied_kind(flat: Mapping[str, Any]) -> str:
    return "Pod" if "pod" in flat or "podname" in flat else ""


def _field_path(paths: list[Any], containers: list[Any]) -> str:
    found = first_name(*paths)
    if found:
        return found
    container = first_name(*containers)
    if container.startswith("spec."):
        return container
    return f"spec.containers{{{container}}}" if container else ""


def _reference(value: object) -> tuple[str, str, str]:
    """Kind, namespace and name of `Pod/name` or `pod/namespace/name`."""
    parts = name(value).split("/")
    if len(parts) == 2:
        return kind_of(parts[0]), "", parts[1]
    return (kind_of(parts[0]), parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _opened(value: object) -> object:
    """A value that a template wrote as JSON text (`toJson`), decoded."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return read_json(value.encode("utf-8", "replace"))
        except SchemaError:
            return None
    return value
