"""A pod as the Run:ai API lists it, with Kubernetes' own status where someone may read that."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.entry import Entry, Value, Where
from schemas.sources.fields import digest, first_name, first_time, latest, mapping, name, time_ms
from schemas.sources.pod_status import identity, read_status
from schemas.sources.pods import memory_attrs
from schemas.sources.runai_measured import read_metrics

TOOL = "get_workload_pods"


def read_pod(pod: Mapping[str, Any], *, cluster: str, timestamp_ms: int) -> Iterator[Entry | None]:
    """A pod's `k8sPhase` and, under `k8sStatus`, its verbatim `pod.status` (facts, runai 1.3)."""
    tier2 = _verbatim_status(pod)
    phase = first_name(pod.get("k8sPhase"), pod.get("phase"))
    where = _where(pod, cluster)
    if not where.pod and not where.pod_uid:
        yield None
        return
    entered_ms = (
        first_time(pod.get("k8sPhaseUpdatedAt"), pod.get("updatedAt"), pod.get("createdAt"))
        or timestamp_ms
    )
    if phase:
        yield _phase(pod, where, phase, entered_ms, tier2=bool(tier2))
    if tier2:
        seen_ms = latest(
            time_ms(pod.get(key)) for key in ("updatedAt", "k8sPhaseUpdatedAt", "completedAt")
        )
        yield from read_status(
            where, tier2, seen_ms=seen_ms or entered_ms, changed_ms=entered_ms, spec=_spec(pod)
        )
    if isinstance(pod.get("measurements"), list) and pod["measurements"]:
        yield read_metrics(pod, where, timestamp_ms=entered_ms)
    if not phase and not tier2:
        yield None


def _verbatim_status(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """`k8sStatus`, also when a bridge put the whole pod object there."""
    found = mapping(pod.get("k8sStatus"))
    return mapping(found["status"]) if isinstance(found.get("status"), dict) else found


def _spec(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(pod.get("k8sStatus")).get("spec"))


def _where(pod: Mapping[str, Any], cluster: str) -> Where:
    meta = mapping(mapping(pod.get("k8sStatus")).get("metadata"))
    return Where(
        cluster=first_name(pod.get("clusterId"), cluster),
        namespace=first_name(pod.get("namespace"), meta.get("namespace")),
        project=name(pod.get("projectName")),
        workload_id=name(pod.get("workloadId")),
        workload=name(pod.get("workloadName")),
        pod=name(pod.get("name")),
        pod_uid=name(pod.get("id")),
        node=name(pod.get("nodeName")),
    )


def _phase(pod: Mapping[str, Any], where: Where, phase: str, at_ms: int, *, tier2: bool) -> Entry:
    requested, allocated = pod.get("requestedResources"), mapping(pod.get("allocatedResources"))
    memory = mapping(mapping(requested).get("cpuMemory"))
    times: dict[str, Value | None] = {
        "created_ms": time_ms(pod.get("createdAt")),
        "completed_ms": time_ms(pod.get("completedAt")),
        "deleted_ms": time_ms(pod.get("deletedAt")),
    }
    return Entry(
        fact="pod.phase",
        source="pod_phase",
        where=where,
        merge="event",
        record_id=digest("pod.phase", *identity(where), phase, at_ms),
        first_ms=at_ms,
        last_ms=at_ms,
        reason=phase,
        detail=f"{at_ms}/{phase}",
        tool=TOOL,
        attrs={
            **{key: value for key, value in times.items() if value},
            **memory_attrs(memory.get("request"), memory.get("limit")),
            **memory_attrs(allocated=allocated.get("cpuMemory")),
            "resources": int(isinstance(requested, dict)),
            "tier2": int(tier2),
        },
    )
