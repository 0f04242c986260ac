"""What scan tells the engine: signals and facts, addressed to one scope."""

from msgspec import Struct, field

from schemas.entry import Merge, Value, Where

SAMPLES_KEPT = 3
TEXT_KEPT = 512  # characters of redacted text per sample
CONTEXT_TEXT_KEPT = 200
_CONTEXT = ("progress.", "cleanup.", "echo.")


def is_context(signal: str) -> bool:
    """Whether a signal only says what is around a cause: one short sample of it is enough."""
    return signal.startswith(_CONTEXT)


class Sample(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record that shows a signal. `text` is redacted and at most `TEXT_KEPT` characters."""

    record_id: str
    time_ms: int
    text: str = ""
    topic: str = ""
    partition: int = 0
    offset: int = 0
    tool: str = ""
    file: str = ""


class Observation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One signal or fact at one place, from one entry or from a batch's repeats of it.

    `signal` is a catalog id, or a fact name of `schemas.entry.Entry`. `count` says how often;
    `offsets` are the inclusive ranges of source offsets counted (only for `merge == "line"`).
    `suspicious`: the text tries to instruct its reader, so it is no evidence for anything.
    """

    signal: str
    where: Where
    merge: Merge
    first_ms: int
    last_ms: int
    count: int = 1
    detail: str = ""
    reason: str = ""
    attrs: dict[str, Value] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    offsets: tuple[tuple[int, int], ...] = ()
    suspicious: bool = False


class Observations(Struct, frozen=True, kw_only=True):
    """One message of `signals`: what one batch of one source partition says about one scope."""

    scope: str
    source: str  # "topic/partition" that was scanned
    observed_time_ms: int  # newest broker time of the batch: the engine's `now`
    observations: tuple[Observation, ...]
    scanned: tuple[tuple[int, int], ...] = ()  # inclusive ranges of source offsets it was made from
    schema: str = "observations/1"
