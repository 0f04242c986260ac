"""The Kubernetes and Run:ai rows: what they see, and the traps that they must not fall for."""

from typing import Any

import pytest

from matchers.commands import problems
from matchers.rules import Rules
from schemas.entry import Entry, SourceName, Where

CATEGORIES = {
    "CRASH_APP_ERROR",
    "OOM_KILLED",
    "IMAGE_PULL_FAILED",
    "INIT_FAILED",
    "DATASOURCE_MOUNT_FAILED",
    "NODE_FAILURE",
    "SCHEDULING_POLICY_TERMINATED",
    "UNKNOWN",
}
ROUTES = {
    "preempted",
    "pending-scheduling",
    "suspended",
    "completed",
    "running-no-symptom",
    "cluster-mismatch",
    "non-terminal-phase",
}
OURS = ("image.", "mount.", "container.", "pod.", "node.", "job.", "gang.", "scheduling.")


def entry(source: SourceName, reason: str, text: str, kind: str = "Pod") -> Entry:
    where = Where(pod="p-0") if kind == "Pod" else Where(kind=kind, name="n")
    return Entry(
        fact="event",
        source=source,
        where=where,
        merge="event",
        record_id="r",
        first_ms=0,
        last_ms=0,
        text=text,
        reason=reason,
    )


def event(reason: str, text: str, kind: str = "Pod") -> Entry:
    return entry("k8s_event", reason, text, kind)


def seen(rules: Rules, found: Entry) -> set[str]:
    return {match.signal.id for match in rules.match(found)}


TRAPS = [
    # facts, runai 7: the words are there, the signal is not
    ("reason Failed is no pull", event("Failed", 'Error: secret "s" not found'), "image."),
    (
        "BackOff of a pull is no restart",
        event("BackOff", 'Back-off pulling image "a"'),
        "container.",
    ),
    (
        "BackOff of a restart is no pull",
        event("BackOff", "Back-off restarting failed container"),
        "image.",
    ),
    (
        "mount's exit status is no container's",
        event("FailedMount", "mount failed: exit status 32"),
        "container.",
    ),
    ("gRPC deadline is no Job deadline", event("FailedMount", "code = DeadlineExceeded"), "job."),
    (
        "clean-up of a gang is no preemption",
        event(
            "Evict",
            "Workload doesn't meet the minimum required number of pods (2), "
            "evicting remaining pod: a/b",
            "PodGroup",
        ),
        "pod.preempted",
    ),
    (
        "a spot node is no preemption",
        event("PreemptScheduled", "Preempt Scheduled: x", "Node"),
        "pod.preempted",
    ),
    (
        "condition alone is no preemption",
        entry("pod_status", "PreemptionByScheduler", ""),
        "pod.preempted",
    ),
    (
        "cancelled eviction",
        event("TaintManagerEviction", "Cancelling deletion of Pod a/b"),
        "pod.taint_evicted",
    ),
    (
        "own limit is no node pressure",
        event("Evicted", 'Usage of EmptyDir volume "v" exceeds the limit "1Gi". '),
        "pod.evicted_by_node",
    ),
    (
        "node pressure is no own limit",
        event("Evicted", "The node was low on resource: memory. "),
        "pod.own_limit",
    ),
    (
        "node memory pressure is no OOM",
        event("Evicted", "The node was low on resource: memory. "),
        "container.oom",
    ),
    ("exit 137 is no OOM", entry("pod_status", "Error", ""), "container.oom"),
    (
        "an application's OOM text",
        entry("pod_status", "Error", "CUDA out of memory, OOMKilled"),
        "container.oom",
    ),
    (
        "an application's preemption text",
        event("Failed", "Pod a/b was preempted by x"),
        "pod.preempted",
    ),
    (
        "kernel line without pod",
        event("OOMKilling", "Killed process 1 (a) total-vm:1kB", "Node"),
        "node.pod_oom",
    ),
    ("readiness never kills", event("Unhealthy", "Readiness probe failed: x"), "container.probe"),
    ("scheduler's binding is no claim", event("FailedBinding", "Failed to bind pod a/b"), "mount."),
    (
        "benign claim event",
        event("WaitForFirstConsumer", "waiting for first consumer", "PersistentVolumeClaim"),
        "mount.",
    ),
    (
        "application Xid is no hardware",
        event("XidError", "NVRM: Xid (PCI:0000:3b:00): 31, pid=1", "Node"),
        "node.xid_hardware",
    ),
    ("Xid in a log of a pod", event("Failed", "NVRM: Xid (PCI:0000:3b:00): 79"), "node.xid"),
    (
        "host path of a network plugin",
        event("FailedCreatePodSandBox", "stat /x: no such file or directory"),
        "mount.",
    ),
    ("an application's idle timeout", event("Failed", "idle timeout exceeded"), "policy."),
    (
        "an application's phase message",
        entry("runai_phase", "Failed", "Error: idle limit exceeded", ""),
        "policy.",
    ),
    ("a stopping container names nobody", event("Killing", "Stopping container main"), "policy."),
]


@pytest.mark.parametrize(("found", "prefix"), [pytest.param(e, p, id=n) for n, e, p in TRAPS])
def test_traps(rules: Rules, found: Entry, prefix: str) -> None:
    assert not {name for name in seen(rules, found) if name.startswith(prefix)}


PLACES: list[Any] = [
    pytest.param(
        event("Evict", "Pod ns/p-1 was preempted by workload a/b.", "PodGroup"),
        "pod.preempted",
        {"namespace": "ns", "pod": "p-1"},
        id="preempted pod",
    ),
    pytest.param(
        event("ExitedWithCode", "Pod: ns.p-1 exited with code 3", "PyTorchJob"),
        "container.exited",
        {"namespace": "ns", "pod": "p-1"},
        id="exited pod",
    ),
    pytest.param(
        event("Scheduled", "Successfully assigned pod ns/p-0 to node n-3 at node-pool x"),
        "scheduling.assigned",
        {"namespace": "ns", "pod": "p-0", "node": "n-3"},
        id="assigned node",
    ),
    pytest.param(
        event("BackOff", "Back-off restarting failed container c in pod p-0_ns(u)"),
        "container.restart_back_off",
        {"container": "c"},
        id="restarted container",
    ),
]


@pytest.mark.parametrize(("found", "signal", "place"), PLACES)
def test_texts_name_places(rules: Rules, found: Entry, signal: str, place: dict[str, str]) -> None:
    match = next(match for match in rules.match(found) if match.signal.id == signal)
    assert {name: getattr(match.where, name) for name in place} == place


@pytest.mark.parametrize("code", [48, 64, 74, 79, 94, 95, 119, 120, 154])
@pytest.mark.parametrize(
    "text", ["NVRM: Xid (PCI:0000:3b:00): {}, x", "XidCriticalError: Xid={} on Device=d", "Xid {}"]
)
def test_hardware_codes(rules: Rules, code: int, text: str) -> None:
    match = next(
        match
        for match in rules.match(event("AnyReason", text.format(code), "Node"))
        if match.signal.id == "node.xid_hardware"
    )
    assert str(match.attrs["xid"]) == str(code)


def test_every_category_and_route_is_there(rules: Rules) -> None:
    assert set(rules.categories) == CATEGORIES
    assert set(rules.routes) == ROUTES


def test_every_row_says_who_does_what(rules: Rules) -> None:
    for category in rules.categories.values():
        assert category.owner
        assert category.action
        assert category.recurring_action
        assert category.command.kubernetes
        assert not list(problems(category.command.kubernetes))
        for subcause in category.subcauses:
            assert subcause.action
            assert subcause.owner
    for route in rules.routes.values():
        assert route.action


def test_free_text_of_a_pod_decides_nothing(rules: Rules) -> None:
    """A row that reads text on pods is tied to a reason or to the head of a template."""
    for category in rules.categories.values():
        for name in category.signals:
            row = rules.signals.get(name)
            if row is None or not row.phrases or (row.objects and "Pod" not in row.objects):
                continue
            assert row.reasons or row.regex.lstrip("(?is)").startswith("^"), row.id


def test_reasons_are_asked_for_case_exactly(rules: Rules) -> None:
    assert "mount.failed" in seen(rules, event("FailedMount", "x"))
    assert "mount.failed" not in seen(rules, event("failedmount", "x"))


def test_exit_codes_that_are_never_a_cause(rules: Rules) -> None:
    assert rules.exit_codes[137].reading == "unresolved"
    assert rules.exit_codes[143].reading == "consequence"
    assert rules.exit_codes[0].reading == "success"


def test_rows_of_this_family_read_only_its_sources(rules: Rules) -> None:
    for row in rules.signals.values():
        if row.id.startswith(OURS) and "flare_log" not in row.sources:
            assert not {"flare_job", "runai_spec", "runai_metrics"} & set(row.sources), row.id
