"""Joining observations: what each kind of merge does to count, times and samples."""

import pytest
from msgspec.structs import replace

from matchers.merge import OFFSET_RANGES_KEPT, join, join_all, join_offsets
from schemas.entry import Merge, Where
from schemas.observation import Observation, Sample


def seen(merge: Merge, at: int, count: int = 1, **more: object) -> Observation:
    sample = Sample(record_id=f"r{at}", time_ms=at, text=f"at {at}")
    base = Observation(
        signal="a.signal",
        where=Where(cluster="c", pod="p"),
        merge=merge,
        first_ms=at,
        last_ms=at,
        count=count,
        samples=(sample,),
    )
    return replace(base, **more)


@pytest.mark.parametrize(
    ("merge", "count", "first", "last"),
    [
        pytest.param("line", 5, 10, 20, id="lines-add-up"),
        pytest.param("event", 3, 10, 20, id="an-event-reported-again-is-the-same-event"),
        pytest.param("state", 2, 20, 20, id="the-newest-state-wins"),
    ],
)
def test_join(merge: Merge, count: int, first: int, last: int) -> None:
    joined = join(seen(merge, 10, 3), seen(merge, 20, 2))
    assert (joined.count, joined.first_ms, joined.last_ms) == (count, first, last)


def test_samples_are_the_earliest_whatever_the_order() -> None:
    items = [seen("line", at) for at in (50, 10, 40, 20, 30)]
    (joined,) = join_all(items)
    (other,) = join_all(reversed(items))
    assert [sample.time_ms for sample in joined.samples] == [10, 20, 30]
    assert joined == other


def test_one_record_in_two_topics_stays_two_witnesses() -> None:
    one, two = (
        seen("event", 1, samples=(Sample(record_id="r", time_ms=1, topic=topic),))
        for topic in ("runai-phases", "runai-history")
    )
    assert [sample.topic for sample in join(one, two).samples] == ["runai-history", "runai-phases"]


def test_what_one_witness_says_plainly_is_not_suspicious() -> None:
    plain, flagged = seen("line", 1), seen("line", 2, suspicious=True)
    assert not join(plain, flagged).suspicious
    assert join(flagged, flagged).suspicious


@pytest.mark.parametrize(
    ("one", "other", "union"),
    [
        pytest.param([(1, 3)], [(4, 5)], ((1, 5),), id="neighbours"),
        pytest.param([(1, 3)], [(2, 9)], ((1, 9),), id="overlap"),
        pytest.param([(7, 7)], [(1, 2)], ((1, 2), (7, 7)), id="apart"),
        pytest.param([(1, 2)], [(1, 2)], ((1, 2),), id="twice"),
    ],
)
def test_offset_ranges_unite(
    one: list[tuple[int, int]], other: list[tuple[int, int]], union: tuple[tuple[int, int], ...]
) -> None:
    assert join_offsets(one, other) == union


def test_offset_ranges_are_bounded_by_bridging_the_nearest() -> None:
    scattered = [(at * 10, at * 10) for at in range(OFFSET_RANGES_KEPT)] + [(5_000, 5_000)]
    bounded = join_offsets(scattered, [])
    assert len(bounded) == OFFSET_RANGES_KEPT
    assert bounded[0] == (0, 10)
    assert bounded[-1] == (5_000, 5_000)
