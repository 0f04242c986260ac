"""What a report quotes: one literal line per fact, in the words of its producer."""

from typing import Any

import pytest

from schemas.entry import Entry, Where
from schemas.sources.quote import quote


def entry(fact: str, **fields: Any) -> Entry:
    return Entry(
        **{
            "fact": fact,
            "source": "k8s_event",
            "where": Where(),
            "merge": "event",
            "record_id": "r",
            "first_ms": 1,
            "last_ms": 1,
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("said", "line"),
    [
        pytest.param(
            entry(
                "event", reason="BackOff", text="Back-off restarting",
                attrs={"field_path": "spec.initContainers{fetch}"},
            ),
            "BackOff [spec.initContainers{fetch}]: Back-off restarting", id="event-of-a-container",
        ),
        pytest.param(entry("event", reason="Evicted", text="low"), "Evicted: low", id="event"),
        pytest.param(entry("event", reason="Started"), "Started", id="event-without-text"),
        pytest.param(entry("event", text="only text"), "only text", id="event-without-reason"),
        pytest.param(
            entry("workload.phase", reason="Failed", text="it broke", attrs={"phase": "Crashed"}),
            "phase=Crashed: it broke", id="phase-as-sent",
        ),
        pytest.param(
            entry(
                "workload.phase", reason="Pending",
                attrs={"phase": "Pending", "phase_reason": "OverLimit"},
            ),
            "phase=Pending phaseReason=OverLimit", id="phase-reason",
        ),
        pytest.param(
            entry(
                "workload.condition", reason="DeadlineExceeded", text="too long",
                attrs={"type": "Failed", "status": "True"},
            ),
            "condition Failed=True reason=DeadlineExceeded: too long", id="condition",
        ),
        pytest.param(
            entry(
                "pod.phase", reason="OOMKilled",
                attrs={
                    "memory_request": "16Gi", "memory_limit": "32Gi", "memory_limit_bytes": 2**35,
                },
            ),
            "k8sPhase=OOMKilled; request=16Gi limit=32Gi", id="pod",
        ),
        pytest.param(
            entry("pod.phase", reason="Pending", text="0/3 nodes"), "k8sPhase=Pending: 0/3 nodes",
            id="pod-without-memory",
        ),
        pytest.param(
            entry(
                "container.state", reason="CrashLoopBackOff", text="back-off 40s",
                attrs={"state": "waiting", "restarts": 6},
            ),
            "waiting reason=CrashLoopBackOff restartCount=6: back-off 40s", id="waiting",
        ),
        pytest.param(
            entry("container.state", reason="Running", attrs={"state": "running", "restarts": 0}),
            "running restartCount=0", id="running",
        ),
        pytest.param(
            entry(
                "container.terminated", reason="OOMKilled", text="bye", attrs={"exit_code": 137}
            ),
            "exitCode=137 reason=OOMKilled: bye", id="terminated",
        ),
        pytest.param(
            entry("container.terminated", attrs={"exit_code": 0, "signal": 9}),
            "exitCode=0 signal=9", id="terminated-by-signal",
        ),
        pytest.param(entry("container.terminated", text="x"), "terminated: x", id="no-exit-code"),
        pytest.param(
            entry("pod.status_reason", reason="Evicted", text="low"), "reason=Evicted: low",
            id="status-reason",
        ),
        pytest.param(
            entry("pod.disrupted", reason="PreemptionByScheduler", text="moved"),
            "DisruptionTarget reason=PreemptionByScheduler: moved", id="disrupted",
        ),
        pytest.param(
            entry(
                "workload.metrics",
                attrs={"peak_bytes": 51_110_110_822, "samples": 12, "limit_bytes": 48 * 2**30},
            ),
            "memory peak 47.6Gi of 12 samples limit=48Gi", id="metrics",
        ),
        pytest.param(
            entry("workload.metrics", attrs={"samples": 0, "limit_bytes": 5, "partial": 1}),
            "no samples (partial answer)", id="no-samples",
        ),
        pytest.param(
            entry(
                "workload.spec",
                attrs={
                    "has_spec": 1, "restart_policy": "Never", "memory_request": "32Gi",
                    "memory_limit": "32Gi", "claims": "data",
                },
            ),
            "restartPolicy=Never request=32Gi limit=32Gi claimName=data", id="spec",
        ),
        pytest.param(
            entry("workload.spec", attrs={"has_spec": 0, "desired_phase": "Running"}),
            "no spec in the answer; desiredPhase=Running", id="spec-not-returned",
        ),
        pytest.param(entry("log", text="ERROR - it broke"), "ERROR - it broke", id="log"),
        pytest.param(
            entry("job.meta", reason="FINISHED:EXECUTION_EXCEPTION"),
            "status=FINISHED:EXECUTION_EXCEPTION", id="job",
        ),
        pytest.param(
            entry("job.deploy", detail="site-1", text="unknown app"), "site-1: unknown app",
            id="deploy",
        ),
        pytest.param(
            entry("job.deploy", detail="site-1", text="site-1: OK"), "site-1: OK", id="deploy-text"
        ),
        pytest.param(
            entry("job.submit", reason="JOB_INVALID", text="no app", attrs={"exit_code": 2}),
            "error_code=JOB_INVALID exit_code=2: no app", id="submit",
        ),
        pytest.param(
            entry("site.logs", detail="site-2", reason="unavailable", attrs={"why": "no stream"}),
            "logs of site-2 unavailable: no stream", id="site-logs",
        ),
    ],
)  # fmt: skip
def test_quote(said: Entry, line: str) -> None:
    assert quote(said) == line


def test_unknown_facts_are_quoted_by_their_text() -> None:
    assert quote(entry("something.new", text="as it came")) == "as it came"


def test_what_users_wrote_is_never_quoted() -> None:
    assert "secret" not in quote(entry("workload.spec", unseen=("KEY=secret",)))
