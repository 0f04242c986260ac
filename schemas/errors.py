"""What can be wrong with a record, as a closed set."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a record could not be read; a metric label and a header, so the set is closed."""

    TOMBSTONE = "tombstone"
    EMPTY = "empty"
    NOT_TEXT = "not_text"
    NOT_JSON = "not_json"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    WRONG_SHAPE = "wrong_shape"
    UNKNOWN_TOPIC = "unknown_topic"
    BINARY_OTLP = "binary_otlp"


class SchemaError(ValueError):
    """A record that has no meaning here. It names the reason and, in words, what was found."""

    def __init__(self, reason: Reason, found: str) -> None:
        super().__init__(f"{reason}: {found}")
        self.reason = reason
        self.found = found
