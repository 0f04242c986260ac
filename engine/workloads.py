"""Run:ai and Kubernetes subjects: which cells they are made of, and how their pods are told."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine import state
from engine.bench import Bench
from engine.directory import (
    LONE_POD,
    NODE,
    OBJECT,
    OWNER,
    POD,
    POD_NAME,
    UNCLAIMED,
    WORKLOAD,
    home,
    kind_of,
    list_key,
    list_keys,
)
from engine.ids import key
from engine.state import Cell
from schemas.diagnosis import Subject
from schemas.entry import Where
from schemas.observation import Observation

CLAIMED = frozenset({WORKLOAD})
NEVER_MS = 1 << 62


def learn(bench: Bench, observation: Observation) -> Iterator[str]:
    """Remember what this observation tells about who belongs to whom; yields subjects to judge."""
    where = observation.where
    cell_key = home(where)
    if where.workload_id:
        workload = key(WORKLOAD, where.cluster, where.workload_id)
        bench.link(workload, "namespace", where.namespace)
        bench.link(workload, "name", where.workload)
        if where.workload and where.namespace:
            named = key(OBJECT, where.cluster, where.namespace, where.workload)
            bench.watch(named, workload)
            yield from bench.get(named).watchers
        if where.pod_uid:
            bench.link(workload, "pods", where.pod_uid)
            bench.watch(key(POD, where.cluster, where.pod_uid), workload)
        if where.pod:
            bench.link(workload, "podnames", where.pod)
        for claim in str(observation.attrs.get("claims", "")).split(","):
            bench.link(workload, "claims", claim.strip())
        yield workload
    elif kind_of(cell_key) in (POD, POD_NAME) and not bench.get(cell_key).watchers:
        bench.link(list_key(UNCLAIMED, where.cluster, cell_key), "pods", cell_key)
    yield from bench.get(cell_key).watchers


def observations_of(bench: Bench, subject_key: str) -> tuple[list[Observation], set[str]]:
    """Everything known about a Run:ai workload, and which bounds bit on the way.

    Its own cell; its pods by uid, and by namespace and name where an event names no uid; objects
    called like the workload and its claims; the nodes of its pods. All are watched from now on.
    What names another workload is left out: names of pods and objects come back.
    """
    _, cluster, workload_id = subject_key.split("\x1f")
    own = bench.get(subject_key)
    pods = own.links.get("pods", ())[: state.PODS_JUDGED]
    cells = [key(POD, cluster, uid) for uid in pods]
    nearby: list[str] = []
    for namespace in own.links.get("namespace", ()):
        names = own.links.get("podnames", ())[: state.PODS_JUDGED]
        nearby += [key(POD_NAME, cluster, namespace, name) for name in names]
        objects = (*own.links.get("name", ()), *own.links.get("claims", ()))
        nearby += [key(OBJECT, cluster, namespace, name) for name in objects]
    found = [*own.observations, *_from(bench, cells)]
    born_ms, ended_ms = _era(bench, own, cluster)
    near = _from(bench, nearby)
    found += [item for item in near if born_ms <= item.last_ms and item.first_ms < ended_ms]
    nodes = sorted({item.where.node for item in found if item.where.node})
    node_cells = [key(NODE, cluster, node) for node in nodes]
    found += _from(bench, node_cells)
    found = [item for item in found if item.where.workload_id in ("", workload_id)]
    for cell_key in (*nearby, *node_cells):
        bench.watch(cell_key, subject_key)
    read = [subject_key, *cells, *nearby, *node_cells]
    return found, {limit for cell_key in read for limit in bench.get(cell_key).limits}


def _era(bench: Bench, own: Cell, cluster: str) -> tuple[int, int]:
    """From when to when a name without an id can mean this workload: until its next namesake."""
    born_ms = _born(own)
    named = [
        key(OBJECT, cluster, namespace, name)
        for namespace in own.links.get("namespace", ())
        for name in own.links.get("name", ())
    ]
    births = (
        _born(bench.get(workload))
        for cell_key in named
        for workload in bench.get(cell_key).watchers
        if kind_of(workload) == WORKLOAD
    )
    return born_ms, min((birth for birth in births if birth > born_ms), default=NEVER_MS)


def _born(cell: Cell) -> int:
    return min((born(item) for item in cell.observations if born(item)), default=0)


def born(observation: Observation) -> int:
    """When the workload was created, as a phase record says; 0 = not said."""
    created = observation.attrs.get("created_ms", 0)
    said = observation.signal == "workload.phase" and isinstance(created, int)
    return int(created) if said else 0


def _from(bench: Bench, cell_keys: Iterable[str]) -> list[Observation]:
    return [item for cell_key in cell_keys for item in bench.get(cell_key).observations]


def workload_subject(subject_key: str, observations: Iterable[Observation]) -> Subject:
    """The workload as its newest records name it."""
    _, cluster, workload_id = subject_key.split("\x1f")
    place = Where()
    for item in sorted(observations, key=lambda item: item.last_ms):
        if item.where.workload_id:
            place = replace(
                place,
                cluster=item.where.cluster or place.cluster,
                workload_id=item.where.workload_id,
                workload=item.where.workload or place.workload,
                project=item.where.project or place.project,
                namespace=item.where.namespace or place.namespace,
            )
    return Subject(
        kind="workload",
        cluster_id=place.cluster or cluster,
        workload_id=place.workload_id or workload_id,
        workload_name=place.workload,
        project=place.project,
        namespace=place.namespace,
    )


def unclaimed_subjects(bench: Bench, cluster: str) -> Iterator[tuple[str, Subject, list[str]]]:
    """Pods that no Run:ai workload has claimed, grouped by their owner: (key, subject, cells).

    A pod whose label names a workload that is known in its namespace is handed to that workload
    instead, and not yielded.
    """
    grouped: dict[str, tuple[Subject, list[str]]] = {}
    for index in list_keys(UNCLAIMED, cluster):
        for cell_key in bench.get(index).links.get("pods", ()):
            cell = bench.get(cell_key)
            claimed = any(kind_of(name) in CLAIMED for name in cell.watchers)
            if not cell.observations or claimed or _handed_over(bench, cell_key):
                bench.unlink(index, "pods", cell_key)
                continue
            subject_key, subject = _owner(cell.observations)
            grouped.setdefault(subject_key, (subject, []))[1].append(cell_key)
    for subject_key in sorted(grouped):
        subject, cells = grouped[subject_key]
        yield subject_key, subject, sorted(cells)


def _handed_over(bench: Bench, cell_key: str) -> bool:
    for item in bench.get(cell_key).observations:
        label = item.attrs.get("label_workload")
        if not isinstance(label, str) or not label:
            continue
        named = key(OBJECT, item.where.cluster, item.where.namespace, label)
        workloads = [name for name in bench.get(named).watchers if kind_of(name) == WORKLOAD]
        if len(workloads) == 1:
            bench.link(workloads[0], "pods", item.where.pod_uid)
            bench.link(workloads[0], "podnames", item.where.pod)
            bench.watch(cell_key, workloads[0])
            return True
    return False


def _owner(observations: Iterable[Observation]) -> tuple[str, Subject]:
    place = Where()
    owner = ("", "")
    for item in sorted(observations, key=lambda item: item.last_ms):
        kind, name = item.attrs.get("owner_kind"), item.attrs.get("owner_name")
        if isinstance(kind, str) and isinstance(name, str) and kind and name:
            owner = (kind, name)
        if item.where.pod:
            place = item.where
    base = Subject(
        kind="pod",
        cluster_id=place.cluster,
        namespace=place.namespace,
        workload_name=place.pod,
    )
    if owner == ("", ""):
        return key(LONE_POD, place.cluster, place.namespace, place.pod), base
    kind, name = owner
    subject = replace(base, kind="owner", workload_name=f"{kind}/{name}")
    return key(OWNER, place.cluster, place.namespace, kind, name), subject


def unclaimed_observations(
    bench: Bench, cells: Iterable[str], subject: Subject
) -> list[Observation]:
    """What is known about the pods of one owner, about the owner itself and about their nodes."""
    found = _from(bench, cells)
    name = subject.workload_name.partition("/")[2]
    if name:
        found += _from(bench, [key(OBJECT, subject.cluster_id, subject.namespace, name)])
    nodes = sorted({item.where.node for item in found if item.where.node})
    return found + _from(bench, [key(NODE, subject.cluster_id, node) for node in nodes])
