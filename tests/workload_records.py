"""Records of one made-up workload, in the shapes of their producers, and its verdict.

Times are minutes after `BEGIN`; a record says only what a test is about.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Literal

from engine.verdict.common import Context, Verdict
from engine.verdict.runai import judge_workload
from matchers.merge import join_all
from matchers.observe import observe, origin_of
from matchers.rules import Rules
from schemas.codec import encode
from schemas.diagnosis import Subject
from schemas.observation import Observation
from schemas.record import RawRecord
from schemas.sources import kubernetes, runai

BEGIN = datetime(2031, 5, 6, 0, 0, tzinfo=UTC)
CLUSTER = "11111111-2222-3333-4444-555555555555"
WORKLOAD = "aaaaaaaa-0000-4000-8000-00000000000a"
NAMESPACE = "runai-blue"
NODE = "rack-1"
Record = tuple[str, dict[str, Any]]


@cache
def rules() -> Rules:
    return Rules.load()


def at(minute: float) -> str:
    return (BEGIN + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def ms(minute: float) -> int:
    return int((BEGIN + timedelta(minutes=minute)).timestamp() * 1000)


def uid(pod: str) -> str:
    number = sum(ord(char) * (index + 1) for index, char in enumerate(pod))
    return f"bbbbbbbb-0000-4000-8000-{number:012d}"


def event(
    reason: str,
    message: str,
    minute: float,
    *,
    pod: str = "w-0",
    kind: str = "Pod",
    name: str = "",
    container: str = "",
    init: bool = False,
    count: int = 1,
    since: float | None = None,
) -> Record:
    about: dict[str, Any] = {"kind": kind, "name": name or pod, "namespace": NAMESPACE}
    if kind == "Pod":
        about["uid"] = uid(pod)
    if kind == "Node":
        about = {"kind": kind, "name": name or NODE, "uid": name or NODE}
    if container:
        about["fieldPath"] = f"spec.{'initC' if init else 'c'}ontainers{{{container}}}"
    value = {
        "metadata": {"uid": f"{reason}/{message}/{minute}/{about['name']}", "namespace": NAMESPACE},
        "involvedObject": about,
        "reason": reason,
        "message": message,
        "type": "Warning",
        "firstTimestamp": at(minute if since is None else since),
        "lastTimestamp": at(minute),
        "count": count,
        "source": {"component": "kubelet", "host": NODE} if kind == "Pod" else {},
    }
    return "k8s-events", value


def node(reason: str, message: str, minute: float, name: str = NODE) -> Record:
    return event(reason, message, minute, kind="Node", name=name)


def ended(
    code: int,
    minute: float,
    *,
    reason: str = "Error",
    message: str = "",
    name: str = "main",
    since: float = 0,
) -> dict[str, Any]:
    """A container that is over."""
    over = {
        "exitCode": code,
        "reason": reason,
        "message": message,
        "startedAt": at(since),
        "finishedAt": at(minute),
    }
    return {"name": name, "restartCount": 0, "ready": False, "state": {"terminated": over}}


def looping(code: int, minute: float, restarts: int, **more: Any) -> dict[str, Any]:
    """A container that waits for its next restart."""
    over = ended(code, minute, **more)
    return {
        **over,
        "restartCount": restarts,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": over["state"],
    }


def running(since: float, *, restarts: int = 0, name: str = "main", last: Any = None) -> Any:
    return {
        "name": name,
        "restartCount": restarts,
        "ready": True,
        "state": {"running": {"startedAt": at(since)}},
        "lastState": last["state"] if last else {},
    }


def pod(
    column: str,
    minute: float,
    *containers: dict[str, Any],
    name: str = "w-0",
    created: float = 0,
    on: str = NODE,
    inits: Sequence[dict[str, Any]] = (),
    status: dict[str, Any] | None = None,
) -> Record:
    value = {
        "name": name,
        "id": uid(name),
        "workloadId": WORKLOAD,
        "workloadName": "w",
        "projectName": "blue",
        "clusterId": CLUSTER,
        "nodeName": on,
        "createdAt": at(created),
        "k8sPhase": column,
        "k8sPhaseUpdatedAt": at(minute),
        "updatedAt": at(minute),
        "requestedResources": {"cpuMemory": {"request": "4Gi", "limit": "8Gi"}},
    }
    if containers or inits or status:
        value["k8sStatus"] = {
            "containerStatuses": list(containers),
            "initContainerStatuses": list(inits),
            **(status or {}),
        }
    return "runai-pods", value


def disrupted(reason: str, message: str, minute: float) -> dict[str, Any]:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    return {"conditions": [{**condition, "message": message, "lastTransitionTime": at(minute)}]}


def phase(name: str, minute: float, message: str = "", **more: Any) -> Record:
    value = {
        "id": WORKLOAD,
        "name": "w",
        "projectName": "blue",
        "namespace": NAMESPACE,
        "clusterId": CLUSTER,
        "createdAt": at(0),
        "phase": name,
        "phaseUpdatedAt": at(minute),
        "updatedAt": at(minute),
        "phaseMessage": message,
        "events": [],
        **more,
    }
    return "runai-phases", value


def history(minute: float, **spec: Any) -> Record:
    meta = {"creationTimestamp": at(minute), "type": "Event" if "event" in spec else "PhaseUpdate"}
    value = {"workloadId": WORKLOAD, "clusterId": CLUSTER, "meta": meta, "spec": spec}
    return "runai-history", value


def was(name: str, minute: float, message: str = "") -> Record:
    return history(minute, phaseUpdate={"phase": name, "phaseMessage": message})


def said(
    reason: str, message: str, minute: float, *, kind: str = "TrainingWorkload", name: str = "w"
) -> Record:
    """An event in the workload's history."""
    about = {"kind": kind, "name": name, "namespace": NAMESPACE}
    if kind == "Pod":
        about["uid"] = uid(name)
    found = {"createdAt": at(minute), "reason": reason, "message": message, "type": "Normal"}
    key = {"id": f"{reason}/{minute}/{name}", "clusterId": CLUSTER, "involvedObject": about}
    return history(minute, event={**found, **key})


def spec(**more: Any) -> Record:
    value = {"workloadId": WORKLOAD, "name": "w", "clusterId": CLUSTER, "createdAt": at(0)}
    return "runai-specs", {**value, "spec": {"image": "r.example/w:1", **more}}


def metrics(*sizes: int) -> Record:
    values = [{"value": str(size), "timestamp": at(9)} for size in sizes]
    usage = {"type": "CPU_MEMORY_USAGE_BYTES", "values": values}
    value = {"workloadId": WORKLOAD, "clusterId": CLUSTER, "start": at(0), "end": at(10)}
    return "runai-metrics", {**value, "measurements": [usage]}


def observations(records: Sequence[Record]) -> list[Observation]:
    found: list[Observation] = []
    for offset, (topic, value) in enumerate(records):
        raw = RawRecord(
            topic=topic, partition=0, offset=offset, key=None, value=encode(value), timestamp_ms=0
        )
        if topic == "k8s-events":
            entries = kubernetes.read_events(value, cluster=CLUSTER, timestamp_ms=0)
        else:
            entries = runai.read(topic, value, cluster=CLUSTER, timestamp_ms=0)
        for entry in entries:
            found += observe(origin_of(raw), entry, rules(), Counter())
    return join_all(found)


def judge(
    *records: Record,
    now: float = 24 * 60,
    lookback_h: int = 24,
    kind: Literal["workload", "owner", "pod"] = "workload",
) -> Verdict:
    subject = Subject(
        kind=kind,
        cluster_id=CLUSTER,
        workload_id=WORKLOAD if kind == "workload" else "",
        workload_name="w",
        project="blue",
        namespace=NAMESPACE,
    )
    context = Context(
        subject=subject, as_of_ms=ms(now), rules=rules(), lookback_ms=lookback_h * 3_600_000
    )
    return judge_workload(observations(records), context)


def answer(verdict: Verdict) -> str:
    """The verdict as one word: a category, or a route."""
    return verdict.category or f"route:{verdict.route.name if verdict.route else ''}"
