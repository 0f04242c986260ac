"""Records in the shapes of their producers: the Run:ai API, event exporters, log shippers."""

from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID

Record = dict[str, Any]

START_MS = 1_780_272_000_000  # 2026-06-01T00:00:00Z
MINUTE = 60_000
HOUR = 60 * MINUTE


def stamp(at_ms: int) -> str:
    """RFC 3339 with milliseconds, as the Run:ai API writes it."""
    moment = datetime.fromtimestamp(at_ms // 1000, tz=UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"


def seconds(at_ms: int) -> str:
    """RFC 3339 in whole seconds, as Kubernetes writes it."""
    return f"{datetime.fromtimestamp(at_ms // 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"


def new_id(rnd: Random) -> str:
    return str(UUID(int=rnd.getrandbits(128), version=4))


class Workload:
    """One Run:ai workload with one pod, and its records so far."""

    def __init__(self, rnd: Random, *, name: str, cluster: str, node: str, at_ms: int) -> None:
        self.rnd = rnd
        self.name, self.cluster, self.node, self.start_ms = name, cluster, node, at_ms
        self.id, self.pod_uid, self.pod = new_id(rnd), new_id(rnd), f"{name}-0-0"
        self.project = rnd.choice(["vision", "speech", "ranking"])
        self.namespace = f"runai-{self.project}"
        self.memory = f"{rnd.choice([16, 24, 48, 64])}Gi"
        self.records: list[Record] = []

    def add(self, topic: str, key: str | None, at_ms: int, value: Any) -> None:
        self.records.append({"topic": topic, "key": key, "timestamp": at_ms, "value": value})

    def phase(
        self,
        at_ms: int,
        phase: str,
        *,
        k8s: str = "",
        message: str = "",
        events: list[Record] | None = None,
    ) -> None:
        """The workload object with its recent events, as the status call answers."""
        value: Record = {
            "type": "TrainingWorkload",
            "name": self.name,
            "id": self.id,
            "clusterId": self.cluster,
            "projectName": self.project,
            "namespace": self.namespace,
            "createdAt": stamp(self.start_ms),
            "phase": phase,
            "k8sPhase": k8s or phase,
            "phaseUpdatedAt": stamp(at_ms),
            "k8sPhaseUpdatedAt": stamp(at_ms),
            "updatedAt": stamp(at_ms),
            "deletedAt": None,
            "conditions": [],
            "events": events or [],
        }
        if message:
            value["phaseMessage"] = message
        self.add("runai-phases", self.id, at_ms, value)

    def event_of_runai(self, at_ms: int, reason: str, message: str) -> Record:
        return {
            "createdAt": stamp(at_ms),
            "id": new_id(self.rnd),
            "type": "Warning",
            "clusterId": self.cluster,
            "message": message,
            "reason": reason,
            "source": "kubelet",
            "involvedObject": {
                "uid": self.pod_uid,
                "kind": "Pod",
                "name": self.pod,
                "namespace": self.namespace,
            },
        }

    def history(self, at_ms: int, *, event: Record | None = None, phase: str = "") -> None:
        update = {"phase": phase, "phaseMessage": ""} if phase else None
        value = {
            "workloadId": self.id,
            "clusterId": self.cluster,
            "meta": {
                "creationTimestamp": stamp(at_ms),
                "type": "Event" if event else "PhaseUpdate",
            },
            "spec": {"event": event, "phaseUpdate": update},
        }
        self.add("runai-history", self.id, at_ms, value)

    def pod_record(self, at_ms: int, k8s: str, status: Record | None = None) -> None:
        """The pod as the Run:ai API lists it; `status` is the verbatim Kubernetes status."""
        value: Record = {
            "name": self.pod,
            "id": self.pod_uid,
            "workloadId": self.id,
            "clusterId": self.cluster,
            "projectName": self.project,
            "workloadName": self.name,
            "nodeName": self.node,
            "createdAt": stamp(self.start_ms),
            "completedAt": None,
            "containers": [{"name": "main", "image": "registry.example.com/team/train:7"}],
            "k8sPhase": k8s,
            "k8sPhaseUpdatedAt": stamp(at_ms),
            "updatedAt": stamp(at_ms),
            "deletedAt": None,
            "requestedResources": {"cpuMemory": {"limit": self.memory, "request": self.memory}},
        }
        if status is not None:
            value["k8sStatus"] = status
        self.add("runai-pods", self.id, at_ms, value)

    def spec(self, at_ms: int, *, restart: str = "Never", storage: Record | None = None) -> None:
        value = {
            "name": self.name,
            "workloadId": self.id,
            "clusterId": self.cluster,
            "createdAt": stamp(self.start_ms),
            "desiredPhase": "Running",
            "spec": {
                "image": "registry.example.com/team/train:7",
                "command": "python train.py",
                "restartPolicy": restart,
                "backoffLimit": 6,
                "compute": {"cpuMemoryRequest": self.memory, "cpuMemoryLimit": self.memory},
                "storage": storage or {},
            },
        }
        self.add("runai-specs", self.id, at_ms, value)

    def event(
        self,
        at_ms: int,
        reason: str,
        message: str,
        *,
        field: str = "",
        count: int = 1,
        kind: str = "Warning",
    ) -> None:
        """A Kubernetes event of the pod, as an event exporter ships it."""
        involved: Record = {
            "kind": "Pod",
            "namespace": self.namespace,
            "name": self.pod,
            "uid": self.pod_uid,
            "apiVersion": "v1",
        }
        if field:
            involved["fieldPath"] = field
        value = exported(self.rnd, self.cluster, at_ms, reason, message, involved, count, kind)
        self.add("k8s-events", value["metadata"]["uid"], at_ms, value)


def exported(
    rnd: Random,
    cluster: str,
    at_ms: int,
    reason: str,
    message: str,
    involved: Record,
    count: int = 1,
    kind: str = "Warning",
) -> Record:
    """An event in the exporter's shape. `at_ms` is when it was seen last."""
    uid = new_id(rnd)
    return {
        "metadata": {
            "name": f"{involved['name']}.{uid[:8]}",
            "namespace": involved.get("namespace", "default"),
            "uid": uid,
            "creationTimestamp": seconds(at_ms),
        },
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet"},
        "firstTimestamp": seconds(at_ms - (count - 1) * MINUTE),
        "lastTimestamp": seconds(at_ms),
        "count": count,
        "type": kind,
        "eventTime": None,
        "clusterName": cluster,
        "involvedObject": involved,
    }


def ended(name: str, at_ms: int, code: int, reason: str = "Error", message: str = "") -> Record:
    """A container that terminated."""
    terminated: Record = {
        "exitCode": code,
        "reason": reason,
        "startedAt": seconds(at_ms - 30 * MINUTE),
        "finishedAt": seconds(at_ms),
    }
    if message:
        terminated["message"] = message
    return {
        "name": name,
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": terminated},
        "lastState": {},
    }


def waiting(name: str, reason: str, restarts: int = 0, last: Record | None = None) -> Record:
    """A container that waits, after `last` ended."""
    return {
        "name": name,
        "ready": False,
        "restartCount": restarts,
        "state": {"waiting": {"reason": reason}},
        "lastState": last["state"] if last else {},
    }
