"""The scenarios: fifty workloads and five jobs each, mixed, with one thing going wrong most."""

from collections.abc import Callable, Sequence
from random import Random

from msgspec import Struct

from tests.fleet import jobs, workloads
from tests.fleet.jobs import Job, Plot
from tests.fleet.shapes import HOUR, MINUTE, START_MS, Record, Workload, new_id
from tests.fleet.workloads import Story

WORKLOADS, JOBS = 50, 5

Arrange = Callable[[Random, list[list[Record]]], list[Record]]


class Scenario(Struct, frozen=True, kw_only=True):
    """How many workloads live which story (the rest is healthy), and what the jobs do."""

    name: str
    seed: int
    stories: tuple[tuple[Story, int], ...]
    plots: tuple[Plot, ...]
    arrange: str = "interleaved"
    clusters: int = 1


class Fleet(Struct, frozen=True, kw_only=True):
    """What a scenario produces: records as they arrive, and the truth by workload or job id."""

    records: tuple[Record, ...]
    truth: dict[str, str]


def build(scenario: Scenario) -> Fleet:
    """All records of one scenario, and what really happened."""
    rnd = Random(scenario.seed)
    streams: list[list[Record]] = []
    truth: dict[str, str] = {}
    clusters = [new_id(rnd) for _ in range(scenario.clusters)]
    for number, story in enumerate(_cast(rnd, scenario)):
        workload = Workload(
            rnd,
            name=f"train-{number % (WORKLOADS // scenario.clusters):02d}",
            cluster=clusters[number % scenario.clusters],
            node=f"node-{number:02d}",
            at_ms=START_MS + rnd.randrange(2 * HOUR),
        )
        truth[workload.id] = story(workload)
        streams += [[record] for record in workload.records]
    for number, plot in enumerate(scenario.plots):
        job = Job(rnd, name=f"federated-{number}", at_ms=START_MS + rnd.randrange(HOUR))
        truth[job.id] = plot(job)
        streams += _by_file(job.records)
    return Fleet(records=tuple(ARRANGED[scenario.arrange](rnd, streams)), truth=truth)


def _cast(rnd: Random, scenario: Scenario) -> list[Story]:
    stories = [story for story, times in scenario.stories for _ in range(times)]
    stories += [workloads.healthy] * (WORKLOADS - len(stories))
    rnd.shuffle(stories)
    return stories


def _by_file(records: Sequence[Record]) -> list[list[Record]]:
    """Lines of one file stay in order; everything else is free."""
    files: dict[str, list[Record]] = {}
    for number, record in enumerate(records):
        path = record["value"].get("log.file.path", str(number))
        files.setdefault(path, []).append(record)
    return list(files.values())


def interleave(rnd: Random, streams: list[list[Record]]) -> list[Record]:
    """Merge by time with delays of up to ten minutes; each stream keeps its order."""
    arrivals = []
    for place, stream in enumerate(streams):
        delay = rnd.randrange(10 * MINUTE)
        for turn, record in enumerate(stream):
            arrivals.append((record["timestamp"] + delay, place, turn))
    return [streams[place][turn] for _, place, turn in sorted(arrivals)]


def shuffle(rnd: Random, streams: list[list[Record]]) -> list[Record]:
    """Any order at all that keeps each stream's own."""
    places = [place for place, stream in enumerate(streams) for _ in stream]
    rnd.shuffle(places)
    left = [iter(stream) for stream in streams]
    return [next(left[place]) for place in places]


def redeliver(rnd: Random, streams: list[list[Record]]) -> list[Record]:
    """As it arrived, and a third of the structured records once more, later."""
    records = interleave(rnd, streams)
    again = [r for r in records if r["topic"] != "flare-logs" and rnd.random() < 1 / 3]
    return records + again


ARRANGED: dict[str, Arrange] = {
    "interleaved": interleave,
    "shuffled": shuffle,
    "redelivered": redeliver,
}

_W, _J = workloads, jobs
_QUIET: tuple[Plot, ...] = (_J.healthy,) * JOBS

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="quiet-day",
        seed=1,
        stories=((_W.completed, 12), (_W.image_recovered, 4), (_W.program_fails, 1)),
        plots=_QUIET,
    ),
    Scenario(
        name="memory",
        seed=2,
        stories=((_W.out_of_memory, 7), (_W.out_of_memory_twice, 3), (_W.killed_by_nobody, 2)),
        plots=(_J.gpu_full, _J.healthy, _J.killed, _J.healthy, _J.healthy),
    ),
    Scenario(
        name="registry",
        seed=3,
        stories=((_W.image_missing, 9), (_W.image_recovered, 8), (_W.pending, 2)),
        plots=(_J.missing_package, *_QUIET[1:]),
    ),
    Scenario(
        name="nodes",
        seed=4,
        stories=((_W.node_lost, 8), (_W.completed, 5), (_W.out_of_memory, 1)),
        plots=(_J.slow_site, *_QUIET[1:]),
    ),
    Scenario(
        name="storage",
        seed=5,
        stories=((_W.mount_fails, 9), (_W.init_fails, 3)),
        plots=(_J.missing_data, _J.missing_data, *_QUIET[2:]),
    ),
    Scenario(
        name="rollout",
        seed=6,
        stories=((_W.program_fails, 6), (_W.crash_loop, 6), (_W.init_fails, 2)),
        plots=(_J.user_error, _J.user_error, _J.user_error, *_QUIET[3:]),
    ),
    Scenario(
        name="policies",
        seed=7,
        stories=((_W.idle_too_long, 5), (_W.preempted, 6), (_W.pending, 6), (_W.suspended, 3)),
        plots=_QUIET,
    ),
    Scenario(
        name="federation",
        seed=8,
        stories=((_W.completed, 10),),
        plots=(_J.user_error, _J.missing_package, _J.missing_data, _J.gpu_full, _J.killed),
    ),
    Scenario(
        name="hostile",
        seed=9,
        stories=((_W.injected, 5), (_W.program_fails, 2)),
        plots=(_J.hostile, _J.user_error, *_QUIET[2:]),
    ),
    Scenario(
        name="any-order",
        seed=10,
        stories=((_W.out_of_memory, 3), (_W.node_lost, 3), (_W.image_recovered, 3)),
        plots=(_J.missing_package, _J.user_error, *_QUIET[2:]),
        arrange="shuffled",
    ),
    Scenario(
        name="told-twice",
        seed=11,
        stories=((_W.out_of_memory_twice, 3), (_W.crash_loop, 3), (_W.idle_too_long, 2)),
        plots=(_J.slow_site, _J.killed, *_QUIET[2:]),
        arrange="redelivered",
    ),
    Scenario(
        name="two-clusters",
        seed=12,
        stories=((_W.mount_fails, 4), (_W.program_fails, 4), (_W.image_missing, 4)),
        plots=(_J.gpu_full, *_QUIET[1:]),
        clusters=2,
    ),
    Scenario(
        name="storm",
        seed=13,
        stories=((_W.crash_loop, 2),),
        plots=(_J.storm, *_QUIET[1:]),
    ),
)
