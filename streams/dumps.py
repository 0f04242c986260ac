"""JSON documents -> the records they hold: topic dumps, lists, and single objects of any producer.

A dump's line is `{"topic", "key", "value", "timestamp", "partition", "offset"}` (also what `rpk`
writes) or the line of `kcat -J` (`payload`, `ts`). `value` is a JSON object, or a string that holds
the message, or null for a tombstone; with `"encoding": "base64"` the string is the message's bytes.
Any other document is taken by its content for the topic it belongs to.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from msgspec import Raw, Struct

from matchers.scan import TOPICS
from schemas.codec import MAX_BYTES, decode, read_json
from schemas.errors import Reason, SchemaError
from schemas.record import RawRecord
from schemas.sources.fields import time_ms, whole
from schemas.sources.sniff import sniff
from streams.formats import concatenated

_ABSENT = Raw()
REJECTED_BYTES = 4096
_DUMPED = re.compile(rb'\[\s*\{[^{}]{0,400}"topic"\s*:')


class _Shape(Struct, frozen=True):
    """What a document is told by. Raw: nothing of it is decoded before it is known to be wanted."""

    topic: Raw = _ABSENT
    key: Raw = _ABSENT
    value: Raw = _ABSENT
    payload: Raw = _ABSENT
    timestamp: Raw = _ABSENT
    ts: Raw = _ABSENT
    partition: Raw = _ABSENT
    offset: Raw = _ABSENT
    encoding: Raw = _ABSENT
    items: Raw = _ABSENT
    records: Raw = _ABSENT
    workloads: Raw = _ABSENT


class _Usual(Struct, frozen=True):
    """A dump's line as it usually is: decoded at once. Any other is read by its `_Shape`."""

    topic: str
    value: Raw
    key: str | None = None
    timestamp: int = 0
    partition: int | None = None
    offset: int | None = None
    encoding: str = ""


_USUAL_MS = range(10**11, 10**14)  # a timestamp that can only be in milliseconds


class Place(Struct, frozen=True, kw_only=True):
    """Where a document stands: what a record has for a position if it brings none."""

    path: str
    partition: int
    offset: int


class Rejected(Struct, frozen=True, kw_only=True):
    """A part of an input that is no record, and why; `record.value` is only its beginning."""

    record: RawRecord
    error: SchemaError


def records_of(data: bytes, place: Place) -> Iterator[RawRecord | Rejected]:
    """Every record that a document, or several on one line, hold."""
    if data[:1] == b"[":
        yield from _elements(data, place)
        return
    usual = _usual(data, place) if data.startswith(b'{"topic"') else None
    if usual is not None:
        yield usual
        return
    try:
        shape = decode(data, _Shape)
    except SchemaError as error:
        parts = concatenated(data) if error.reason is Reason.NOT_JSON else []
        if len(parts) > 1:
            yield from _each(parts, place)
        else:
            yield rejected(data, place, error)
        return
    listed = _list_in(shape, len(data))
    if listed is None:
        yield _record(data, shape, place)
    else:
        yield from _elements(bytes(listed), place)


def _elements(data: bytes, place: Place) -> Iterator[RawRecord | Rejected]:
    try:
        listed = decode(data, list[Raw])
    except SchemaError as error:
        yield rejected(data, place, error)
        return
    yield from _each([bytes(item) for item in listed], place)


def rejected(data: bytes, place: Place, error: SchemaError) -> Rejected:
    """A part of an input as a dead letter in the making."""
    return Rejected(record=_of("", data[:REJECTED_BYTES], place), error=error)


def _list_in(shape: _Shape, size: int) -> Raw | None:
    """The list in an answer that is only an envelope: a Kubernetes List, a page of workloads."""
    if _is_text(shape.topic):
        return None
    if bytes(shape.items)[:1] == b"[":
        return shape.items
    if _DUMPED.match(bytes(shape.records)):
        return shape.records
    is_long = size > MAX_BYTES and bytes(shape.workloads)[:1] == b"["
    return shape.workloads if is_long else None


def _each(parts: list[bytes], place: Place) -> Iterator[RawRecord | Rejected]:
    for number, part in enumerate(parts):
        own = Place(path=place.path, partition=place.partition, offset=place.offset + number)
        try:
            shape = decode(part, _Shape)
        except SchemaError as error:
            yield rejected(part, own, error)
        else:
            yield _record(part, shape, own)


def _record(data: bytes, shape: _Shape, place: Place) -> RawRecord | Rejected:
    try:
        if _is_text(shape.topic) and (shape.value or shape.payload):
            return _dumped(shape, place)
        return _of(_told(data), data, place)
    except SchemaError as error:
        return rejected(data, place, error)


def _usual(data: bytes, place: Place) -> RawRecord | None:
    try:
        line = decode(data, _Usual)
        value = _message(line.value, is_base64=line.encoding == "base64")
    except SchemaError:
        return None
    if line.topic not in TOPICS or line.timestamp not in _USUAL_MS:
        return None
    if line.partition is None or line.offset is None or line.partition < 0 or line.offset < 0:
        return None
    return RawRecord(
        topic=line.topic,
        partition=line.partition,
        offset=line.offset,
        key=None if line.key is None else line.key.encode(),
        value=value,
        timestamp_ms=line.timestamp,
    )


def _dumped(shape: _Shape, place: Place) -> RawRecord:
    """One line of a topic dump. A topic of another name than ours is told by its content."""
    topic = decode(bytes(shape.topic), str)
    value = _message(shape.value or shape.payload, is_base64=bytes(shape.encoding) == b'"base64"')
    partition, offset = _number(shape.partition), _number(shape.offset)
    if topic not in TOPICS and value:
        topic, partition = _told(value), None
    return RawRecord(
        topic=topic,
        partition=place.partition if partition is None else partition,
        offset=place.offset if partition is None or offset is None else offset,
        key=_message(shape.key, is_base64=False) if shape.key else None,
        value=value,
        timestamp_ms=_time(shape.timestamp or shape.ts),
    )


def _of(topic: str, value: bytes, place: Place) -> RawRecord:
    return RawRecord(
        topic=topic,
        partition=place.partition,
        offset=place.offset,
        value=value,
        path=place.path,
    )


def _told(data: bytes) -> str:
    topic = sniff(read_json(data))
    if topic is None:
        raise SchemaError(Reason.UNKNOWN_TOPIC, "JSON of no known producer")
    return topic


def _is_text(raw: Raw) -> bool:
    return bytes(raw)[:1] == b'"'


def _message(raw: Raw, *, is_base64: bool) -> bytes | None:
    if not _is_text(raw):
        data = bytes(raw)
        return None if data == b"null" else data
    text = decode(bytes(raw), str)
    if not is_base64:
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SchemaError(Reason.WRONG_SHAPE, "a value that is no base64") from None


def _number(raw: Raw) -> int | None:
    found = whole(read_json(bytes(raw))) if raw else None
    return found if found is not None and found >= 0 else None


def _time(raw: Raw) -> int:
    return (time_ms(read_json(bytes(raw))) if raw else None) or 0
