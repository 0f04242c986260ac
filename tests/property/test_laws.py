"""The engine's laws on observations of any kind: pure, skips what it has, bounded, order-free."""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.apply import Applied, Engine
from engine.ids import key
from matchers.rules import Rules
from schemas.codec import encode
from schemas.entry import Merge, Where
from schemas.observation import SAMPLES_KEPT, TEXT_KEPT, Observation, Observations, Sample

CELL_LIMIT = 64 * 1024
K8S, FLARE = "k8s:c", "flare:f"

PLACES = {
    K8S: [
        Where(cluster="c", workload_id="w1", workload="w", project="p", namespace="n"),
        Where(cluster="c", workload_id="w1", pod="w-0", pod_uid="u0", node="g1"),
        Where(cluster="c", namespace="n", pod="w-0", pod_uid="u0"),
        Where(cluster="c", namespace="n", pod="w-1"),
        Where(cluster="c", namespace="n", pod="x-0", pod_uid="u9"),
        Where(cluster="c", node="g1", kind="Node", name="g1"),
        Where(cluster="c", namespace="n", kind="Job", name="w"),
    ],
    FLARE: [
        Where(federation="f", job="j1", site="site-1", workspace="/ws"),
        Where(federation="f", job="j1", site="server", workspace="/ws"),
        Where(federation="f", site="site-1", workspace="/ws"),
        Where(federation="f", site="server", workspace="/ws"),
        Where(federation="f", site="site-2", workspace="/sim"),
    ],
}
FACTS: dict[str, tuple[Merge, tuple[str, ...]]] = {
    "workload.phase": ("event", ("Failed", "Running", "Pending", "Completed")),
    "pod.phase": ("event", ("OOMKilled", "Error", "Running")),
    "container.terminated": ("event", ("OOMKilled", "Error", "Completed")),
    "job.meta": ("state", ("RUNNING", "FINISHED:EXECUTION_EXCEPTION", "FINISHED:COMPLETED")),
    "stream.seen": ("event", ("",)),
}


@st.composite
def observation(draw: st.DrawFn, scope: str, signals: Sequence[str]) -> Observation:
    signal = draw(st.sampled_from([*FACTS, *signals]))
    merge, reasons = FACTS.get(signal, ("line" if scope == FLARE else "event", ("", "Failed")))
    at = draw(st.integers(0, 20)) * 60_000
    number = draw(st.integers(0, 3))
    return Observation(
        signal=signal,
        where=draw(st.sampled_from(PLACES[scope])),
        merge=merge,
        first_ms=at,
        last_ms=at,
        detail=f"{at}/{number}" if merge == "event" else "",
        reason=draw(st.sampled_from(reasons)),
        attrs={"exit_code": draw(st.sampled_from([0, 1, 137, 143]))},
        samples=(Sample(record_id=f"r{at}/{number}", time_ms=at, text=signal, topic="t"),),
    )


def messages(scope: str, found: Sequence[Observation]) -> list[bytes]:
    return [
        encode(Observations(scope=scope, source="t/0", observed_time_ms=0, observations=(item,)))
        for item in found
    ]


def run(engine: Engine, scope: str, payloads: Sequence[bytes]) -> dict[bytes, bytes]:
    cells: dict[bytes, bytes] = {}
    for offset, payload in enumerate(payloads):
        applied = engine.apply(cells.get, payload, "signals/0", offset)
        assert applied is not None
        cells.update(applied.cells)
    cells.update(engine.flush(cells.get, scope, 10**9).cells)
    return cells


SUBJECTS = {
    K8S: [key("workload", "c", "w1")],
    FLARE: [
        key("job", "f", "j1"),
        key("simulation", "f", "/sim"),
        *(key("fedsite", "f", "/ws", site) for site in ("server", "site-1")),
    ],
}


def nothing_stored(_: bytes) -> bytes | None:
    """The store of an engine that has heard nothing."""
    return None


def said(engine: Engine, scope: str, cells: dict[bytes, bytes]) -> list[bytes]:
    """What can be said in the end about every subject; revisions count how it got there."""
    answers = (engine.answer(cells.get, subject) for subject in SUBJECTS[scope])
    return [encode(replace(answer, revision=0)) for answer in answers if answer is not None]


@pytest.fixture(scope="module")
def engine(rules: Rules) -> Engine:
    return Engine(rules)


@pytest.fixture(scope="module", params=[K8S, FLARE])
def scope(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def signals_of(engine: Engine, scope: str) -> list[str]:
    flare = scope == FLARE
    rows = engine.rules.signals.values()
    return [row.id for row in rows if any(s.startswith("flare") == flare for s in row.sources)]


many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(st.data())
def test_arrival_order_does_not_matter(engine: Engine, scope: str, data: st.DataObject) -> None:
    one = observation(scope, signals_of(engine, scope))
    found = data.draw(st.lists(one, min_size=1, max_size=12))
    shuffled = data.draw(st.permutations(found))
    first = run(engine, scope, messages(scope, found))
    other = run(engine, scope, messages(scope, shuffled))
    assert said(engine, scope, first) == said(engine, scope, other)


@many
@given(st.data())
def test_the_same_arguments_give_the_same_answer(
    engine: Engine, scope: str, data: st.DataObject
) -> None:
    found = data.draw(st.lists(observation(scope, signals_of(engine, scope)), min_size=1))
    (payload, *_) = messages(scope, found)
    assert engine.apply(nothing_stored, payload, "s/0", 0) == engine.apply(
        nothing_stored, payload, "s/0", 0
    )


def test_a_message_that_was_applied_is_skipped(engine: Engine, scope: str) -> None:
    (payload,) = messages(scope, [plain(PLACES[scope][0], "x", 1)])
    applied = engine.apply(nothing_stored, payload, "signals/0", 7)
    assert isinstance(applied, Applied)
    cells = dict(applied.cells)
    assert engine.apply(cells.get, payload, "signals/0", 7) is None
    assert engine.apply(cells.get, payload, "signals/0", 6) is None
    assert engine.apply(cells.get, payload, "signals/0", 8) is not None


def plain(where: Where, signal: str, at: int, text: str = "") -> Observation:
    return Observation(
        signal=signal,
        where=where,
        merge="event",
        first_ms=at,
        last_ms=at,
        detail=str(at),
        samples=tuple(
            Sample(record_id=f"{signal}{at}{n}", time_ms=at, text=text) for n in range(SAMPLES_KEPT)
        ),
    )


def test_no_cell_outgrows_its_bound(engine: Engine, scope: str) -> None:
    cells: dict[bytes, bytes] = {}
    for offset in range(30):
        flood = [
            plain(where, f"signal.{offset}", at, "é" * TEXT_KEPT)
            for where in PLACES[scope]
            for at in range(40)
        ]
        payload = encode(
            Observations(scope=scope, source="t/0", observed_time_ms=0, observations=tuple(flood))
        )
        applied = engine.apply(cells.get, payload, "signals/0", offset)
        assert applied is not None
        cells.update(applied.cells)
    assert max(len(cell) + len(key) for key, cell in cells.items()) < CELL_LIMIT
    bitten = [key for key, cell in cells.items() if b'"limits"' in cell]
    assert bitten, "a bound bit and the cell does not say so"


def crowd(scope: str, number: int) -> list[Observation]:
    """Very many things with very long names, each of which somebody has to be told about."""
    long = f"{number:05d}-" + "n" * 200
    if scope == FLARE:
        return [
            plain(Where(federation="f", job=f"job-{long}", site=long, workspace="/ws"), "s", 1),
            plain(Where(federation="f", site=long, workspace="/ws"), "s", 1),
        ]
    mine = Where(cluster="c", workload_id="w1", workload="w", namespace="n", pod=long, pod_uid=long)
    other = Where(cluster="c", workload_id=long, workload="w", namespace="n", pod=long, node="g1")
    loose = Where(cluster="c", namespace="n", pod=f"loose-{long}", pod_uid=f"loose-{long}")
    failed = plain(Where(cluster="c", workload_id=long), "workload.phase", 1)
    return [plain(mine, "s", 1), plain(other, "s", 1), plain(loose, "s", 1), failed]


def test_no_cell_outgrows_its_bound_in_a_crowd(engine: Engine, scope: str) -> None:
    cells: dict[bytes, bytes] = {}
    for offset in range(6):
        found = [item for n in range(100) for item in crowd(scope, 100 * offset + n)]
        message = Observations(
            scope=scope, source="t/0", observed_time_ms=0, observations=tuple(found)
        )
        applied = engine.apply(cells.get, encode(message), "signals/0", offset)
        assert applied is not None
        cells.update(applied.cells)
    cells.update(engine.flush(cells.get, scope, 10**9).cells)
    assert max(len(cell) + len(key) for key, cell in cells.items()) < CELL_LIMIT
