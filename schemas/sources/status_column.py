"""The STATUS column of `kubectl get pods`, which is what Run:ai calls `k8sPhase`.

The steps are those of facts, runai 4.3: pod reason, then the first init container that is not
through, else the first-listed main container that has a reason, then deletion.
"""

from collections.abc import Mapping
from typing import Any

from schemas.sources.fields import mapping, name, objects, whole

_OVER = ("Failed", "Succeeded")


def status_column(pod: Mapping[str, Any]) -> str:
    """What kubectl shows as the STATUS of a pod object."""
    status = mapping(pod.get("status"))
    phase = name(status.get("phase"))
    shown = name(status.get("reason")) or phase
    if _is_gated(status):
        shown = "SchedulingGated"
    shown = _init_column(pod, status) or _main_column(status, shown)
    if mapping(pod.get("metadata")).get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if phase not in _OVER:
            return "Terminating"
    return shown


def _init_column(pod: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    """`Init:...` of the first init container that is not through; empty when all are."""
    sidecars = {
        name(item.get("name"))
        for item in objects(mapping(pod.get("spec")).get("initContainers"))
        if item.get("restartPolicy") == "Always"
    }
    containers = list(objects(status.get("initContainerStatuses")))
    for index, container in enumerate(containers):
        state = mapping(container.get("state"))
        ended, waiting = mapping(state.get("terminated")), mapping(state.get("waiting"))
        if ended and whole(ended.get("exitCode")) == 0:
            continue
        is_sidecar = name(container.get("name")) in sidecars
        if is_sidecar and container.get("started") is True:
            continue
        if ended:
            return f"Init:{_ended(ended)}"
        reason = name(waiting.get("reason"))
        if reason and reason != "PodInitializing":
            return f"Init:{reason}"
        return f"Init:{index}/{len(containers)}"
    return ""


def _main_column(status: Mapping[str, Any], shown: str) -> str:
    """The reason of the first-listed container that has one, else what is shown already."""
    running = False
    for container in reversed(list(objects(status.get("containerStatuses")))):
        state = mapping(container.get("state"))
        waiting = name(mapping(state.get("waiting")).get("reason"))
        ended = mapping(state.get("terminated"))
        if waiting:
            shown = waiting
        elif ended:
            shown = _ended(ended)
        elif isinstance(state.get("running"), dict) and container.get("ready") is True:
            running = True
    if shown == "Completed" and running:
        return "Running" if _is_ready(status) else "NotReady"
    return shown


def _ended(ended: Mapping[str, Any]) -> str:
    reason, signal = name(ended.get("reason")), whole(ended.get("signal"))
    if reason:
        return reason
    return f"Signal:{signal}" if signal else f"ExitCode:{whole(ended.get('exitCode')) or 0}"


def _is_ready(status: Mapping[str, Any]) -> bool:
    return _has_condition(status, "Ready", "True", "")


def _is_gated(status: Mapping[str, Any]) -> bool:
    return _has_condition(status, "PodScheduled", "False", "SchedulingGated")


def _has_condition(status: Mapping[str, Any], kind: str, value: str, reason: str) -> bool:
    return any(
        item.get("type") == kind
        and item.get("status") == value
        and (not reason or item.get("reason") == reason)
        for item in objects(status.get("conditions"))
    )
