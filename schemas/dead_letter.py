"""A record that could not be read, kept with reason and origin."""

from msgspec import Struct

from schemas.errors import Reason

PAYLOAD_KEPT = 2048  # characters of redacted payload


class DeadLetter(Struct, frozen=True, kw_only=True):
    """What could not be read and why; `payload` is redacted and at most `PAYLOAD_KEPT` long."""

    reason: Reason
    found: str
    payload: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: str = ""
    path: str = ""
    schema: str = "dead-letter/1"
