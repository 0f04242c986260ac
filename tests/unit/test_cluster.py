"""Records that name no cluster belong to the only one that the inputs name."""

import json
from pathlib import Path

from tests.replaying import replay

POD = {"uid": "11111111-1111-4111-8111-111111111111", "name": "fit-0-0"}


def event() -> dict[str, object]:
    """As `kubectl get events -o json` prints it: no cluster anywhere."""
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": "fit.1", "namespace": "runai-lab", "uid": "e1"},
                "involvedObject": {"kind": "Pod", "namespace": "runai-lab", **POD},
                "reason": "FailedMount",
                "message": 'MountVolume.SetUp failed for volume "d" : secret "s" not found',
                "type": "Warning",
                "count": 3,
                "firstTimestamp": "2026-05-01T10:00:00Z",
                "lastTimestamp": "2026-05-01T10:05:00Z",
            }
        ],
    }


def workload(cluster: str, number: int) -> dict[str, object]:
    return {
        "id": f"22222222-2222-4222-8222-22222222222{number}",
        "name": "fit",
        "clusterId": cluster,
        "projectName": "lab",
        "namespace": "runai-lab",
        "phase": "Pending",
        "phaseUpdatedAt": "2026-05-01T10:06:00Z",
        "createdAt": "2026-05-01T09:59:00Z",
        "conditions": [],
        "events": [],
    }


def pod(cluster: str) -> dict[str, object]:
    return {
        "id": POD["uid"],
        "name": POD["name"],
        "workloadId": workload(cluster, 1)["id"],
        "clusterId": cluster,
        "projectName": "lab",
        "createdAt": "2026-05-01T09:59:30Z",
        "containers": [{"name": "main", "image": "a/b:1"}],
        "k8sPhase": "ContainerCreating",
        "k8sPhaseUpdatedAt": "2026-05-01T10:00:00Z",
    }


def write(folder: Path, *values: object) -> Path:
    for number, value in enumerate(values):
        (folder / f"{number}.json").write_text(json.dumps(value))
    return folder


def test_events_join_the_one_cluster_that_is_named(tmp_path: Path) -> None:
    (diagnosis,) = replay(write(tmp_path, event(), workload("c-1", 1), pod("c-1"))).diagnoses
    assert diagnosis.subject.kind == "workload"
    assert diagnosis.category == "DATASOURCE_MOUNT_FAILED"
    assert {piece.source.topic for piece in diagnosis.evidence} >= {"k8s-events", "runai-pods"}


def test_between_two_clusters_nothing_is_guessed(tmp_path: Path) -> None:
    values = (event(), workload("c-1", 1), pod("c-1"), workload("c-2", 2))
    diagnoses = replay(write(tmp_path, *values)).diagnoses
    assert {(d.family, d.subject.kind) for d in diagnoses} == {("kubernetes", "pod")}


def test_the_user_knows_better(tmp_path: Path) -> None:
    folder = write(tmp_path, event(), workload("c-1", 1), pod("c-1"))
    diagnoses = replay(folder, "--cluster", "c-9").diagnoses
    assert {d.subject.cluster_id for d in diagnoses} == {"c-9"}
