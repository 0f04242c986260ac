"""Whose pod it was: records find their workload whatever the order, and never a namesake's."""

import json
from itertools import permutations

import pytest

from tests.replaying import as_lines, replay

CLUSTER = "c-1"
FIRST, SECOND = (f"33333333-3333-4333-8333-33333333333{n}" for n in (1, 2))


def phase(workload: str, at: str, created: str, state: str = "Failed") -> dict[str, object]:
    value = {
        "id": workload,
        "name": "fit",
        "clusterId": CLUSTER,
        "projectName": "lab",
        "namespace": "runai-lab",
        "phase": state,
        "phaseUpdatedAt": at,
        "createdAt": created,
        "conditions": [],
        "events": [],
    }
    return {"topic": "runai-phases", "key": workload, "value": value}


def pod(workload: str, uid: str, at: str, k8s_phase: str) -> dict[str, object]:
    value = {
        "id": uid,
        "name": "fit-0-0",
        "workloadId": workload,
        "clusterId": CLUSTER,
        "projectName": "lab",
        "createdAt": at,
        "containers": [],
        "k8sPhase": k8s_phase,
        "k8sPhaseUpdatedAt": at,
    }
    return {"topic": "runai-pods", "key": workload, "value": value}


def event(at: str, reason: str, message: str) -> dict[str, object]:
    """As an exporter with a layout of its own writes it: no uid."""
    value = {
        "kind": "Pod",
        "name": "fit-0-0",
        "namespace": "runai-lab",
        "reason": reason,
        "message": message,
        "createdAt": at,
        "clusterName": CLUSTER,
    }
    return {"topic": "k8s-events", "key": None, "value": value}


MOUNT = ("FailedMount", 'MountVolume.SetUp failed for volume "d" : secret "s" not found')


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_an_event_waits_for_its_workload(order: tuple[int, ...]) -> None:
    records = [
        event("2026-05-01T10:01:00Z", *MOUNT),
        pod(FIRST, "u-1", "2026-05-01T10:00:00Z", "ContainerCreating"),
        phase(FIRST, "2026-05-01T10:02:00Z", "2026-05-01T09:59:00Z", "Pending"),
    ]
    (diagnosis,) = replay("-", stdin=as_lines([records[n] for n in order])).diagnoses
    assert diagnosis.category == "DATASOURCE_MOUNT_FAILED"
    assert diagnosis.subject.workload_id == FIRST


def test_a_resubmission_does_not_inherit_the_events_of_its_namesake() -> None:
    records = [
        event("2026-05-01T10:01:00Z", *MOUNT),
        pod(FIRST, "u-1", "2026-05-01T10:00:00Z", "ContainerCreating"),
        phase(FIRST, "2026-05-01T10:02:00Z", "2026-05-01T09:59:00Z", "Pending"),
        pod(SECOND, "u-2", "2026-05-01T12:00:00Z", "OOMKilled"),
        phase(SECOND, "2026-05-01T12:02:00Z", "2026-05-01T11:59:00Z"),
    ]
    found = {d.subject.workload_id: d for d in replay("-", stdin=as_lines(records)).diagnoses}
    assert found[SECOND].category == "OOM_KILLED"
    assert MOUNT[1] not in json.dumps([piece.text for piece in found[SECOND].evidence])
    assert found[FIRST].category == "DATASOURCE_MOUNT_FAILED"


def test_an_event_of_the_resubmission_is_not_the_first_ones() -> None:
    records = [
        phase(FIRST, "2026-05-01T10:02:00Z", "2026-05-01T09:59:00Z"),
        pod(FIRST, "u-1", "2026-05-01T10:00:00Z", "OOMKilled"),
        phase(SECOND, "2026-05-01T12:02:00Z", "2026-05-01T11:59:00Z", "Pending"),
        pod(SECOND, "u-2", "2026-05-01T12:00:00Z", "ContainerCreating"),
        event("2026-05-01T12:01:00Z", *MOUNT),
    ]
    for order in (records, records[::-1]):
        diagnoses = replay("-", stdin=as_lines(order)).diagnoses
        found = {d.subject.workload_id: d for d in diagnoses}
        assert found[FIRST].category == "OOM_KILLED"
        assert MOUNT[1] not in json.dumps([piece.text for piece in found[FIRST].evidence])
        assert found[SECOND].category == "DATASOURCE_MOUNT_FAILED"


def test_a_pod_that_two_workloads_claim_is_each_ones_own() -> None:
    records = [
        pod(FIRST, "u-1", "2026-05-01T10:00:00Z", "ImagePullBackOff"),
        phase(FIRST, "2026-05-01T10:02:00Z", "2026-05-01T09:59:00Z"),
        pod(SECOND, "u-1", "2026-05-01T12:00:00Z", "OOMKilled"),
        phase(SECOND, "2026-05-01T12:02:00Z", "2026-05-01T11:59:00Z"),
    ]
    diagnoses = replay("-", stdin=as_lines(records)).diagnoses
    found = {d.subject.workload_id: d.category for d in diagnoses}
    assert found == {FIRST: "IMAGE_PULL_FAILED", SECOND: "OOM_KILLED"}
