"""Two observations of one thing become one: a join, so order and repetition do not matter."""

from collections.abc import Iterable, Mapping

from msgspec.structs import astuple, replace

from schemas.codec import encode
from schemas.entry import Value
from schemas.observation import SAMPLES_KEPT, Observation, Sample, is_context


def identity(observation: Observation) -> tuple[str | bool, ...]:
    """What makes two observations the same: signal, place and detail. Sortable."""
    return (observation.signal, observation.detail, *astuple(observation.where))


def join(one: Observation, other: Observation) -> Observation:
    """The one observation that two of equal identity make (`schemas.entry.Merge` says how).

    Commutative, associative and, but for the count of log lines, idempotent.
    """
    if one.merge == "state":
        return max(one, other, key=_age)
    return replace(
        one,
        first_ms=min(one.first_ms, other.first_ms),
        last_ms=max(one.last_ms, other.last_ms),
        count=one.count + other.count if one.merge == "line" else max(one.count, other.count),
        reason=max(one.reason, other.reason),
        attrs=join_attrs(one.attrs, other.attrs),
        samples=join_samples(
            one.samples, other.samples, 1 if is_context(one.signal) else SAMPLES_KEPT
        ),
        offsets=join_offsets(one.offsets, other.offsets),
        suspicious=one.suspicious and other.suspicious,
    )


def _age(observation: Observation) -> tuple[int, bytes]:
    """Newest last; of two snapshots of one moment always the same one."""
    return (observation.last_ms, encode(observation))


def join_attrs(one: Mapping[str, Value], other: Mapping[str, Value]) -> dict[str, Value]:
    """Both attrs; where they differ, the larger value, and beside a number its smallest.

    So `bytes_done` and `bytes_done_min` tell progress from standstill.
    """
    joined: dict[str, Value] = {**one, **other}
    for name in one.keys() & other.keys():
        mine, theirs = one[name], other[name]
        if mine == theirs:
            continue
        joined[name] = max(mine, theirs, key=_rank)
        if isinstance(mine, int) and isinstance(theirs, int) and not name.endswith(_MIN):
            known = (one.get(name + _MIN, mine), other.get(name + _MIN, theirs))
            joined[name + _MIN] = min(known, key=_rank)
        elif name.endswith(_MIN):
            joined[name] = min(mine, theirs, key=_rank)
    return joined


_MIN = "_min"


def _rank(value: Value) -> tuple[bool, int, str]:
    return (isinstance(value, str), *((0, value) if isinstance(value, str) else (value, "")))


def join_samples(
    one: Iterable[Sample], other: Iterable[Sample], keep: int = SAMPLES_KEPT
) -> tuple[Sample, ...]:
    """The earliest samples of both by (time, record, topic): chosen by content, not by arrival.

    A record read from two topics stays two samples: two witnesses of one thing.
    """
    by_key: dict[tuple[int, str, str], Sample] = {}
    for sample in (*one, *other):
        key = (sample.time_ms, sample.record_id, sample.topic)
        kept = by_key.get(key)
        if kept is None or _origin(sample) < _origin(kept):
            by_key[key] = sample
    return tuple(by_key[key] for key in sorted(by_key)[:keep])


def _origin(sample: Sample) -> tuple[int, int, str]:
    return (sample.partition, sample.offset, sample.text)


OFFSET_RANGES_KEPT = 64


def join_offsets(
    one: Iterable[tuple[int, int]], other: Iterable[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """The union of two sets of inclusive offset ranges.

    Past `OFFSET_RANGES_KEPT` ranges the nearest neighbours are bridged: a count may then be a
    little low after a crash, never high.
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted((*one, *other)):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    while len(merged) > OFFSET_RANGES_KEPT:
        gaps = [(merged[i + 1][0] - merged[i][1], i) for i in range(len(merged) - 1)]
        _, at = min(gaps)
        merged[at : at + 2] = [(merged[at][0], merged[at + 1][1])]
    return tuple(merged)


def join_all(observations: Iterable[Observation]) -> list[Observation]:
    """All observations, those of equal identity joined, in the order of their identity."""
    joined: dict[tuple[str | bool, ...], Observation] = {}
    for observation in observations:
        key = identity(observation)
        known = joined.get(key)
        joined[key] = observation if known is None else join(known, observation)
    return [joined[key] for key in sorted(joined)]
