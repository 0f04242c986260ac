"""The join is commutative, associative and (but for counts of lines) idempotent."""

from hypothesis import given
from hypothesis import strategies as st

from matchers.merge import join, join_all
from schemas.entry import Merge, Where
from schemas.observation import Observation, Sample

MERGES: tuple[Merge, ...] = ("event", "state", "line")


@st.composite
def observations(draw: st.DrawFn, merge: Merge) -> Observation:
    first = draw(st.integers(0, 50))
    sample = Sample(
        record_id=draw(st.sampled_from("abc")),
        time_ms=first,
        text=draw(st.sampled_from(["x", "y"])),
        topic=draw(st.sampled_from(["t", "u"])),
        offset=draw(st.integers(0, 3)),
    )
    return Observation(
        signal="s",
        where=Where(pod="p"),
        merge=merge,
        first_ms=first,
        last_ms=first + draw(st.integers(0, 5)),
        count=draw(st.integers(1, 3)),
        reason=draw(st.sampled_from(["", "r"])),
        attrs=draw(st.dictionaries(st.sampled_from("kl"), st.integers(0, 2))),
        samples=(sample,),
        suspicious=draw(st.booleans()),
    )


pairs = st.sampled_from(MERGES).flatmap(lambda m: st.tuples(observations(m), observations(m)))
many = st.sampled_from(MERGES).flatmap(lambda m: st.lists(observations(m), min_size=1, max_size=6))


@given(pairs)
def test_either_order_gives_the_same(pair: tuple[Observation, Observation]) -> None:
    assert join(*pair) == join(*reversed(pair))


@given(many, st.randoms(use_true_random=False))
def test_any_grouping_gives_the_same(items: list[Observation], rnd: object) -> None:
    shuffled = list(items)
    rnd.shuffle(shuffled)  # type: ignore[attr-defined]
    at = len(items) // 2
    grouped = join_all([*join_all(shuffled[:at]), *join_all(shuffled[at:])])
    assert grouped == join_all(items)


IDEMPOTENT: tuple[Merge, ...] = ("event", "state")


@given(st.sampled_from(IDEMPOTENT).flatmap(lambda m: st.lists(observations(m), min_size=1)))
def test_hearing_it_twice_changes_nothing(items: list[Observation]) -> None:
    assert join_all([*items, *items]) == join_all(items)
