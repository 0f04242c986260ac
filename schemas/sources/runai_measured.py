"""What a Run:ai workload used, and what was asked for it: metrics and the submitted spec."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from schemas.entry import Entry, Value, Where
from schemas.sources.fields import (
    digest,
    first_name,
    latest,
    listing,
    mapping,
    name,
    objects,
    quantity,
    time_ms,
    whole,
)
from schemas.sources.pods import memory_attrs
from schemas.sources.unseen import user_texts

USAGE = "CPU_MEMORY_USAGE_BYTES"
LIMIT = "CPU_MEMORY_LIMIT_BYTES"
REQUEST = "CPU_MEMORY_REQUEST_BYTES"
RESTART_POLICIES = frozenset({"Always", "Never", "OnFailure"})
STORAGE = (
    "configMapVolume", "dataVolume", "emptyDirVolume", "git", "hostPath", "nfs", "pvc", "s3",
    "secretVolume",
)  # fmt: skip
MOST_NAMES = 32


class _Series(Struct, frozen=True, kw_only=True):
    sizes: tuple[int, ...] = ()
    times: tuple[int, ...] = ()


def read_metrics(value: Mapping[str, Any], where: Where, *, timestamp_ms: int) -> Entry | None:
    """The sampled peak of CPU memory (facts, runai 1.4); `None` when this is no metrics answer.

    No samples are reported as none: the peak is then absent, never zero.
    """
    if "measurements" not in value:
        return None
    measurements = listing(value.get("measurements"))
    usage, limit, request = (_series(measurements, kind) for kind in (USAGE, LIMIT, REQUEST))
    start_ms, end_ms = time_ms(value.get("start")), time_ms(value.get("end"))
    last_ms = max(usage.times, default=None) or end_ms or timestamp_ms
    first_ms = min(min(usage.times, default=None) or start_ms or last_ms, last_ms)
    numbers = {
        "peak_bytes": max(usage.sizes, default=None),
        "limit_bytes": max(limit.sizes, default=None),
        "request_bytes": max(request.sizes, default=None),
    }
    detail = f"{start_ms or ''}/{end_ms or ''}"
    return Entry(
        fact="workload.metrics",
        source="runai_metrics",
        where=where,
        merge="state",
        record_id=digest(
            "workload.metrics", where.cluster, where.workload_id, where.pod_uid, detail, last_ms
        ),
        first_ms=first_ms,
        last_ms=last_ms,
        detail=detail,
        tool="get_workload_metrics",
        attrs={
            **{key: size for key, size in numbers.items() if size is not None},
            "samples": len(usage.sizes),
            "partial": int(_is_partial(value)),
        },
    )


def _series(measurements: list[Any], kind: str) -> _Series:
    """All samples of one kind; a sample without a readable value is none."""
    sizes: list[int] = []
    times: list[int] = []
    for measurement in objects(measurements):
        if measurement.get("type") != kind:
            continue
        for sample in objects(measurement.get("values")):
            size = quantity(sample.get("value"))
            if size is not None:
                sizes.append(size)
                at_ms = time_ms(sample.get("timestamp"))
                times.extend(() if at_ms is None else (at_ms,))
    return _Series(sizes=tuple(sizes), times=tuple(times))


def _is_partial(value: Mapping[str, Any]) -> bool:
    """HTTP 207, as far as a poller passes it on."""
    codes = (value.get("status"), value.get("statusCode"), value.get("httpStatus"))
    return value.get("partial") is True or any(whole(code) == 207 for code in codes)


def read_spec(value: Mapping[str, Any], where: Where, *, timestamp_ms: int) -> Entry | None:
    """What was submitted: limits, mounts and restart policy. Commands stay unseen.

    The kind-specific `spec` may be absent (facts, runai 1.5); that is worth an entry as well.
    """
    if not (where.workload_id or where.workload) or "phase" in value:
        return None
    spec = mapping(value.get("spec"))
    compute, storage = mapping(spec.get("compute")), mapping(spec.get("storage"))
    policy = name(spec.get("restartPolicy"))
    at_ms = latest(time_ms(value.get(key)) for key in ("createdAt", "updatedAt", "deletedAt"))
    said: dict[str, Value | None] = {
        "restart_policy": policy if policy in RESTART_POLICIES else "",
        "backoff_limit": whole(spec.get("backoffLimit")),
        "image": _public_image(name(spec.get("image"))),
        "claims": _names(storage.get("pvc"), "claimName", "name"),
        "secrets": _names(storage.get("secretVolume"), "secret", "name"),
        "mounts": ",".join(sorted(kind for kind in STORAGE if storage.get(kind))),
        "desired_phase": name(value.get("desiredPhase")),
    }
    desired = (where.workload_id or where.workload, said["desired_phase"] or "")
    return Entry(
        fact="workload.spec",
        source="runai_spec",
        where=where,
        merge="state",
        record_id=digest("workload.spec", where.cluster, *desired, at_ms or 0),
        first_ms=at_ms or timestamp_ms,
        last_ms=at_ms or timestamp_ms,
        tool="get_workload_spec",
        attrs={
            "has_spec": int(bool(spec)),
            **{key: item for key, item in said.items() if item not in ("", None)},
            **memory_attrs(compute.get("cpuMemoryRequest"), compute.get("cpuMemoryLimit")),
        },
        unseen=user_texts(value, spec, mapping(spec.get("master")), mapping(spec.get("worker"))),
    )


def _names(mounts: object, *keys: str) -> str:
    """The names of mounted things, sorted, as one comma-separated text."""
    found = (first_name(*(mount.get(key) for key in keys)) for mount in objects(mounts))
    return ",".join(sorted({item for item in found if item})[:MOST_NAMES])


def _public_image(image: str) -> str:
    """An image without user, password and query; a digest stays."""
    plain = image.partition("?")[0]
    head, at, tail = plain.rpartition("@")
    if not at:
        return plain
    if tail.startswith("sha") and ":" in tail:
        return f"{head.rpartition('@')[2]}@{tail}"
    return tail
