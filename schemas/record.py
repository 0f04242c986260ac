"""One message as read, before parsing."""

from msgspec import Struct


class RawRecord(Struct, frozen=True, kw_only=True):
    """One message of an input topic, or one line of a file, as it was read.

    `timestamp_ms` is the broker's (or file's) time: the only `now` that scan and the engine see.
    `path` is the file that the line was read from; empty for messages of a broker.
    `offset` is the message's offset, in a file the line's byte offset.
    """

    topic: str
    partition: int = 0
    offset: int = 0
    key: bytes | None = None
    value: bytes | None = None
    timestamp_ms: int = 0
    path: str = ""
