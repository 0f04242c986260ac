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


class TextBlock(Struct, frozen=True, kw_only=True):
    """Many whole lines of one log file at once, valid UTF-8; most are quiet and never looked at.

    It means the same as its `records`, and costs less.
    """

    topic: str
    path: str
    partition: int
    first_offset: int
    data: bytes

    def records(self) -> list[RawRecord]:
        """A record per line that is not empty."""
        found: list[RawRecord] = []
        offset = self.first_offset
        for line in self.data.split(b"\n"):
            if line.strip():
                found.append(self.record(offset, line))
            offset += len(line) + 1
        return found

    def record(self, offset: int, line: bytes) -> RawRecord:
        """One of its lines as a record. `offset`: where it begins in the file, in bytes."""
        return RawRecord(
            topic=self.topic,
            partition=self.partition,
            offset=offset,
            value=line.rstrip(b"\r"),
            path=self.path,
        )
