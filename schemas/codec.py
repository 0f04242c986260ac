"""Encode and decode everything that travels; the only module that imports orjson.

Our own records are msgspec structs: typed, validated on decoding, field order fixed. Foreign JSON
is read by orjson into plain objects, with bounds on size and depth.
"""

from typing import Any, TypeVar

import msgspec
import orjson

from schemas.errors import Reason, SchemaError

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 64

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    """One of our structs as JSON bytes; same value, same bytes."""
    return _encoder.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """JSON bytes as one of our structs. Raises `SchemaError` when they are none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise SchemaError(Reason.WRONG_SHAPE, str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise SchemaError(Reason.NOT_JSON, str(error)) from None


def read_json(data: bytes) -> Any:
    """Foreign JSON as plain objects. Raises `SchemaError` with the reason it has no meaning."""
    if len(data) > MAX_BYTES:
        raise SchemaError(Reason.TOO_LARGE, f"{len(data)} bytes, at most {MAX_BYTES} are read")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _not_json(data, str(error)) from None
    if _deeper_than(value, MAX_DEPTH):
        raise SchemaError(Reason.TOO_DEEP, f"nested more than {MAX_DEPTH} levels")
    return value


def is_binary(data: bytes) -> bool:
    """Whether bytes are no text of any kind: they hold NUL, as no log, JSON or UTF-8 line does."""
    return b"\x00" in data


_OTLP = b"\n"  # field 1, length-delimited: how every binary OTLP request begins


def _not_json(data: bytes, found: str) -> SchemaError:
    if "recursion" in found:
        return SchemaError(Reason.TOO_DEEP, found)
    if is_binary(data):
        if data.startswith(_OTLP):
            what = "binary OTLP; set the exporter's encoding to otlp_json"
            return SchemaError(Reason.BINARY_OTLP, what)
        return SchemaError(Reason.NOT_TEXT, f"{len(data)} bytes that are not text")
    return SchemaError(Reason.NOT_JSON, found)


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            inner
            for item in level
            if isinstance(item, (dict, list))
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
