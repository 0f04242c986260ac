"""An entry as one line that a report can quote: literal, in the field names of its producer."""

from collections.abc import Callable, Mapping

from schemas.entry import Entry, Value
from schemas.sources.fields import readable


def quote(entry: Entry) -> str:
    """What an entry says, as its own tools would show it. Not redacted, not shortened."""
    return _QUOTES.get(entry.fact, _only_text)(entry)


def _with_text(head: str, text: str) -> str:
    return f"{head}: {text}" if head and text else head or text


def _pairs(attrs: Mapping[str, Value], **names: str) -> str:
    """`shown=value` of every attribute that is there, in the order of `names`."""
    return " ".join(f"{shown}={attrs[key]}" for key, shown in names.items() if key in attrs)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _only_text(entry: Entry) -> str:
    return entry.text


def _event(entry: Entry) -> str:
    path = entry.attrs.get("field_path", "")
    return _with_text(_joined(entry.reason, f"[{path}]" if path else ""), entry.text)


def _workload_phase(entry: Entry) -> str:
    shown = entry.attrs.get("phase", entry.reason)
    return _with_text(
        _joined(f"phase={shown}", _pairs(entry.attrs, phase_reason="phaseReason")), entry.text
    )


def _condition(entry: Entry) -> str:
    kind = f"{entry.attrs.get('type', '')}={entry.attrs.get('status', '')}".strip("=")
    reason = f"reason={entry.reason}" if entry.reason else ""
    return _with_text(_joined("condition", kind, reason), entry.text)


def _pod_phase(entry: Entry) -> str:
    memory = _pairs(entry.attrs, memory_request="request", memory_limit="limit")
    head = f"k8sPhase={entry.reason}"
    return _with_text(f"{head}; {memory}" if memory else head, entry.text)


def _container_state(entry: Entry) -> str:
    state = str(entry.attrs.get("state", entry.reason.lower()))
    reason = f"reason={entry.reason}" if state == "waiting" else ""
    return _with_text(
        _joined(state, reason, _pairs(entry.attrs, restarts="restartCount")), entry.text
    )


def _terminated(entry: Entry) -> str:
    reason = f"reason={entry.reason}" if entry.reason else ""
    head = _joined(_pairs(entry.attrs, exit_code="exitCode", signal="signal"), reason)
    return _with_text(head or "terminated", entry.text)


def _status_reason(entry: Entry) -> str:
    return _with_text(f"reason={entry.reason}", entry.text)


def _disrupted(entry: Entry) -> str:
    return _with_text(_joined("DisruptionTarget", f"reason={entry.reason}"), entry.text)


def _metrics(entry: Entry) -> str:
    samples, peak = entry.attrs.get("samples", 0), entry.attrs.get("peak_bytes")
    partial = " (partial answer)" if entry.attrs.get("partial") else ""
    if not isinstance(peak, int):
        return f"no samples{partial}"
    sizes = {
        shown: readable(size)
        for shown, key in (("limit", "limit_bytes"), ("request", "request_bytes"))
        if isinstance(size := entry.attrs.get(key), int)
    }
    named = " ".join(f"{shown}={size}" for shown, size in sizes.items())
    return _joined(f"memory peak {readable(peak)} of {samples} samples", named) + partial


def _spec(entry: Entry) -> str:
    if entry.attrs.get("has_spec") == 0:
        desired = _pairs(entry.attrs, desired_phase="desiredPhase")
        return _joined("no spec in the answer;" if desired else "no spec in the answer", desired)
    return (
        _pairs(
            entry.attrs,
            restart_policy="restartPolicy",
            memory_request="request",
            memory_limit="limit",
            backoff_limit="backoffLimit",
            claims="claimName",
            secrets="secret",
            image="image",
        )
        or "spec without limits and mounts"
    )


def _job_meta(entry: Entry) -> str:
    return _with_text(f"status={entry.reason}" if entry.reason else "", entry.text)


def _job_submit(entry: Entry) -> str:
    code = f"error_code={entry.reason}" if entry.reason else ""
    return _with_text(_joined(code, _pairs(entry.attrs, exit_code="exit_code")), entry.text)


def _deploy(entry: Entry) -> str:
    site = entry.detail
    return entry.text if entry.text.startswith(site) else _with_text(site, entry.text)


def _site_logs(entry: Entry) -> str:
    amount = _pairs(entry.attrs, lines="lines", bytes="bytes")
    said = _joined("logs of", entry.detail or entry.where.site, entry.reason, amount)
    return _with_text(said, str(entry.attrs.get("why", "")) or entry.text)


_QUOTES: Mapping[str, Callable[[Entry], str]] = {
    "event": _event,
    "workload.phase": _workload_phase,
    "workload.condition": _condition,
    "pod.phase": _pod_phase,
    "container.state": _container_state,
    "container.terminated": _terminated,
    "pod.status_reason": _status_reason,
    "pod.disrupted": _disrupted,
    "workload.metrics": _metrics,
    "workload.spec": _spec,
    "job.meta": _job_meta,
    "job.deploy": _deploy,
    "job.submit": _job_submit,
    "site.logs": _site_logs,
}
