"""Tables of workloads and what is wrong with them: one table per rule, each row with a name."""

from typing import Any

import pytest

from tests.workload_records import (
    Record,
    disrupted,
    ended,
    event,
    looping,
    node,
    phase,
    pod,
    running,
    said,
    uid,
    was,
)

PULL = 'Failed to pull image "r.example/w:1": '
EVICTED = "Pod runai-blue/w-0 was preempted by higher priority workload other/z"
PACKED = (
    "Pod runai-blue/w-0 was preempted and rescheduled due to bin packing "
    "(resource consolidation) procedure"
)
GANG = "Workload doesn't meet the minimum required number of pods (3), evicting remaining pod: "
NCCL = "torch.distributed.DistBackendError: NCCL error: remote process exited"
NOT_FOUND = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    'exec: "pythn": executable file not found in $PATH: unknown'
)
SMALL = "failed to create containerd task: container init was OOM-killed (memory limit too low?)"
MARKED = "Marking for deletion Pod runai-blue/w-0"
XID = "NVRM: Xid (PCI:0000:3b:00): {}, pid=1"
WAITING = {"name": "main", "restartCount": 0, "state": {"waiting": {"reason": "PodInitializing"}}}
FAILED = phase("Failed", 10)


def case(
    name: str, wanted: str, *records: Record, count: int = -1, sub: str = "", **asked: Any
) -> Any:
    return pytest.param(wanted, records, count, sub, asked, id=name)


def kernel_line(named: str) -> str:
    return (
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/kubepods.slice/"
        f"kubepods-burstable-pod{named.replace('-', '_')}.slice/x.scope,task=a,pid=1,uid=0"
    )


def lost(minute: float, name: str = "rack-1") -> Record:
    return node("NodeNotReady", f"Node {name} status is now: NodeNotReady", minute, name)


def back(minute: float) -> Record:
    return node("NodeReady", "Node rack-1 status is now: NodeReady", minute)


def preempted(minute: float = 5) -> Record:
    return event("Evict", EVICTED, minute, kind="PodGroup", name="pg")


def stopped(minute: float = 10) -> Record:
    return pod("Error", minute, ended(143, minute))


OOM = [
    case(
        "exit-0",
        "OOM_KILLED",
        pod("OOMKilled", 9, ended(0, 9, reason="OOMKilled")),
        FAILED,
        count=1,
    ),
    case(
        "at-container-start",
        "OOM_KILLED",
        pod("StartError", 9, ended(128, 9, reason="StartError", message=SMALL)),
        FAILED,
        sub="limit-too-low-to-start",
    ),
    case(
        "flag-left-over-in-a-drain",
        "NODE_FAILURE",
        pod(
            "OOMKilled",
            9,
            ended(143, 9, reason="OOMKilled"),
            status=disrupted("EvictionByEvictionAPI", "Eviction API: evicting", 8),
        ),
        FAILED,
    ),
    case(
        "node-oom-without-pod",
        "UNKNOWN",
        pod("Error", 9, ended(137, 9)),
        node("SystemOOM", "System OOM encountered, victim process: a, pid: 1", 9),
        FAILED,
        sub="unexplained-kill",
    ),
    case(
        "application-only-says-so",
        "CRASH_APP_ERROR",
        pod("Error", 9, ended(1, 9, message="RuntimeError: worker was OOMKilled by kubelet")),
        FAILED,
    ),
    case(
        "kernel-names-another-pod",
        "UNKNOWN",
        pod("Error", 9, ended(137, 9)),
        node("OOMKilling", kernel_line(uid("other")), 9),
        FAILED,
    ),
    case(
        "kernel-names-this-pod",
        "OOM_KILLED",
        pod("Error", 9, ended(137, 9)),
        node("OOMKilling", kernel_line(uid("w-0")), 9),
        FAILED,
    ),
    case(
        "once-and-healthy-since",
        "route:running-no-symptom",
        phase("Running", 1),
        pod("Running", 30, running(10, restarts=1, last=ended(137, 9, reason="OOMKilled"))),
    ),
    case(
        "loop",
        "OOM_KILLED",
        phase("Running", 1),
        pod("CrashLoopBackOff", 30, looping(137, 29, 4, reason="OOMKilled")),
        count=5,
    ),
    case(
        "loop-between-two-ends",
        "OOM_KILLED",
        phase("Running", 1),
        pod("Running", 30, running(28, restarts=4, last=ended(137, 27, reason="OOMKilled"))),
        count=4,
    ),
    case(
        "phase-message-alone",
        "OOM_KILLED",
        phase("Failed", 10, "Container main was OOM killed"),
        count=1,
    ),
    case(
        "status-of-the-workload-alone",
        "OOM_KILLED",
        phase("Failed", 10, k8sPhase="OOMKilled"),
        count=1,
    ),
    case("while-the-phase-still-runs", "OOM_KILLED", phase("Running", 1), pod("OOMKilled", 9)),
]

IMAGES = [
    case(
        "certificate",
        "IMAGE_PULL_FAILED",
        event(
            "Failed",
            PULL + "tls: x509: certificate signed by unknown authority",
            5,
            container="main",
        ),
        pod("ErrImagePull", 6),
        phase("Pending", 6),
        sub="node-trust-store",
        count=1,
    ),
    case(
        "ambiguous-denial",
        "IMAGE_PULL_FAILED",
        event(
            "Failed",
            PULL + "pull access denied, repository does not exist or may require authorization",
            5,
            container="main",
        ),
        phase("Pending", 6),
        sub="missing-or-private-repository",
    ),
    case(
        "initializing-is-in-scope",
        "IMAGE_PULL_FAILED",
        event("BackOff", 'Back-off pulling image "r.example/w:1"', 5, container="main"),
        phase("Initializing", 6),
        pod("ImagePullBackOff", 6),
    ),
    case(
        "pull-policy-never",
        "IMAGE_PULL_FAILED",
        event(
            "ErrImageNeverPull",
            'Container image "w:1" is not present with pull policy of Never',
            5,
            container="main",
        ),
        phase("Pending", 6),
        sub="not-present-on-node",
    ),
    case(
        "pulled-later",
        "route:running-no-symptom",
        event("Failed", PULL + "i/o timeout", 5, container="main"),
        event("Pulled", 'Successfully pulled image "w:1" in 2s', 6, container="main"),
        phase("Running", 7),
        pod("Running", 7),
    ),
    case(
        "started-later-then-oom",
        "OOM_KILLED",
        event("Failed", PULL + "manifest unknown", 5, container="main"),
        event("Started", "Started container main", 6, container="main"),
        pod("OOMKilled", 9, ended(137, 9, since=6, reason="OOMKilled")),
        FAILED,
    ),
    case(
        "two-pods-one-after-the-other",
        "IMAGE_PULL_FAILED",
        event("Failed", PULL + "manifest unknown", 5, container="main"),
        was("Failed", 8),
        was("Pending", 60),
        event("Failed", PULL + "manifest unknown", 65, container="main", pod="w-1"),
        pod("ErrImagePull", 66, name="w-1", created=61),
        phase("Pending", 66),
        count=2,
    ),
    case(
        "stopped-by-a-user-who-gave-up",
        "IMAGE_PULL_FAILED",
        event("Failed", PULL + "manifest unknown", 5, container="main"),
        pod("ImagePullBackOff", 6),
        phase("Stopped", 60, "Stopped by user"),
    ),
    case(
        "one-member-of-a-gang",
        "IMAGE_PULL_FAILED",
        pod("Running", 3, running(2)),
        pod("ImagePullBackOff", 4, name="w-1"),
        event("Failed", PULL + "write /x: no space left on device", 4, container="main", pod="w-1"),
        phase("Initializing", 4),
        sub="node-disk-full",
        count=1,
    ),
]

STATUSES = [
    case(
        "image-message",
        "IMAGE_PULL_FAILED",
        phase("Pending", 6, PULL + "manifest unknown"),
        count=1,
    ),
    case(
        "image-message-overcome",
        "route:running-no-symptom",
        was("Pending", 6, PULL + "manifest unknown"),
        phase("Running", 9),
    ),
    case(
        "image-condition",
        "IMAGE_PULL_FAILED",
        phase(
            "Pending",
            6,
            conditions=[{"type": "Ready", "status": "True", "reason": "ImagePullBackOff"}],
        ),
    ),
    case(
        "mount-message",
        "DATASOURCE_MOUNT_FAILED",
        phase("Pending", 6, 'MountVolume.SetUp failed for volume "v" : x'),
    ),
    case(
        "exit-message",
        "CRASH_APP_ERROR",
        phase("Failed", 6, "Container main terminated with exit code 3"),
        count=1,
    ),
    case(
        "exit-137-message",
        "UNKNOWN",
        phase("Failed", 6, "Container main terminated with exit code 137"),
        count=1,
    ),
    case(
        "init-message",
        "INIT_FAILED",
        phase("Failed", 6, "Init container prep failed with exit code 3"),
        count=1,
    ),
]

INIT = [
    case(
        "exit",
        "INIT_FAILED",
        pod("Init:Error", 9, WAITING, inits=[ended(22, 9, name="prep")]),
        FAILED,
        count=1,
    ),
    case("column-with-code", "INIT_FAILED", pod("Init:ExitCode:5", 9), FAILED, count=1),
    case(
        "back-off-alone",
        "INIT_FAILED",
        phase("Pending", 1),
        event(
            "BackOff",
            "Back-off restarting failed container prep in pod w-0_runai-blue(x)",
            9,
            container="prep",
            init=True,
            count=40,
        ),
        count=2,
    ),
    case(
        "overcome-earlier",
        "CRASH_APP_ERROR",
        pod(
            "Error",
            30,
            ended(3, 30, message="ValueError: r"),
            inits=[{**ended(0, 5, reason="Completed", name="prep"), "restartCount": 2}],
        ),
        phase("Failed", 31),
        count=1,
    ),
    case(
        "waits-for-a-mount",
        "DATASOURCE_MOUNT_FAILED",
        event(
            "FailedMount", 'MountVolume.SetUp failed for volume "v" : configmap "c" not found', 5
        ),
        pod("Init:0/1", 6),
        phase("Pending", 6),
        sub="configmap-missing",
        count=1,
    ),
]

MOUNTS = [
    case(
        "mounted-later",
        "CRASH_APP_ERROR",
        event("FailedMount", 'MountVolume.SetUp failed for volume "v" : x', 2),
        event("Started", "Started container main", 3, container="main"),
        pod("Error", 9, ended(1, 9, since=3, message="FileNotFoundError: x")),
        FAILED,
        sub="missing-file",
    ),
    case(
        "claim-bound-later",
        "route:running-no-symptom",
        event("ProvisioningFailed", "x", 3, kind="PersistentVolumeClaim", name="c"),
        event("ProvisioningSucceeded", "y", 4, kind="PersistentVolumeClaim", name="c"),
        phase("Running", 6),
    ),
    case(
        "claim-never-bound",
        "DATASOURCE_MOUNT_FAILED",
        event(
            "FailedBinding",
            "no persistent volumes available for this claim and no storage class is set",
            3,
            kind="PersistentVolumeClaim",
            name="c",
        ),
        phase("Pending", 6),
        sub="storage-class-missing",
        count=1,
    ),
    case(
        "scheduler-text-alone",
        "route:pending-scheduling",
        event(
            "FailedScheduling",
            "0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims",
            5,
        ),
        phase("Pending", 6),
        pod("Pending", 6),
    ),
]

PREEMPTION = [
    case(
        "new-pod-with-its-own-cause",
        "IMAGE_PULL_FAILED",
        preempted(),
        stopped(6),
        event("Failed", PULL + "manifest unknown", 20, container="main", pod="w-1"),
        pod("ErrImagePull", 21, name="w-1", created=15),
        phase("Pending", 21),
        count=1,
    ),
    case(
        "ran-again-and-crashed",
        "CRASH_APP_ERROR",
        preempted(),
        stopped(6),
        was("Running", 17),
        pod("Error", 40, ended(1, 40, since=17, message="ValueError: x"), name="w-1", created=15),
        phase("Failed", 41),
        count=1,
    ),
    case(
        "new-pod-waits",
        "route:preempted",
        preempted(),
        stopped(6),
        pod("Pending", 16, name="w-1", created=15),
        phase("Pending", 16),
        count=0,
    ),
    case(
        "runs-again",
        "route:running-no-symptom",
        preempted(),
        stopped(6),
        pod("Running", 16, running(16), name="w-1", created=15),
        phase("Running", 17),
    ),
    case("completed-after-it", "route:completed", preempted(), stopped(6), phase("Completed", 50)),
    case(
        "bin-packing",
        "route:preempted",
        event("Evict", PACKED, 5, kind="PodGroup", name="pg"),
        stopped(6),
        phase("Pending", 6),
    ),
    case(
        "kube-scheduler",
        "route:preempted",
        event("Preempted", "Preempted by pod 0a1b on node rack-1", 5),
        pod("Error", 6, ended(137, 6)),
        FAILED,
    ),
    case(
        "critical-pod",
        "route:preempted",
        pod(
            "Preempting",
            6,
            ended(137, 6),
            status={"reason": "Preempting", "message": "Preempted in order to admit critical pod"},
        ),
        FAILED,
    ),
    case(
        "condition-alone",
        "route:preempted",
        pod(
            "Error",
            6,
            ended(143, 6),
            status=disrupted(
                "PreemptionByScheduler",
                "default-scheduler: preempting to accommodate a higher priority pod",
                5,
            ),
        ),
        FAILED,
    ),
    case(
        "condition-of-a-gang-clean-up",
        "UNKNOWN",
        pod(
            "Error",
            6,
            ended(143, 6),
            status=disrupted("PreemptionByScheduler", GANG + "runai-blue/w-0", 5),
        ),
        FAILED,
        sub="gang-incomplete",
    ),
    case(
        "spot-node-is-no-preemption",
        "NODE_FAILURE",
        node("PreemptScheduled", "Preempt Scheduled: Mon, 19 Sep 2022 18:49:42 GMT", 5),
        stopped(6),
        FAILED,
        sub="node-reclaimed-by-cloud",
    ),
    case(
        "application-only-says-so",
        "CRASH_APP_ERROR",
        pod("Error", 6, ended(1, 6, message="slurmstepd: job was preempted by a higher one")),
        FAILED,
    ),
    case("phase-of-older-versions", "route:preempted", phase("Preempted", 5)),
]

NODES = [
    case(
        "taint-eviction",
        "NODE_FAILURE",
        event("TaintManagerEviction", MARKED, 5),
        pod("Error", 6, ended(137, 6)),
        FAILED,
        count=1,
    ),
    case(
        "taint-eviction-called-off",
        "UNKNOWN",
        event("TaintManagerEviction", "Cancelling deletion of Pod runai-blue/w-0", 5),
        pod("Error", 6, ended(137, 6)),
        FAILED,
    ),
    case("pod-on-a-lost-node", "NODE_FAILURE", lost(5), pod("NodeLost", 6), FAILED),
    case(
        "reboot-exit-255",
        "NODE_FAILURE",
        node("Rebooted", "Node rack-1 has been rebooted, boot id: 1", 7),
        pod("Error", 6.5, ended(255, 6.5, reason="Unknown")),
        FAILED,
        sub="node-shutdown",
    ),
    case(
        "ready-again-before-the-exit",
        "UNKNOWN",
        lost(5),
        back(6),
        pod("Error", 9, ended(137, 9)),
        FAILED,
    ),
    case(
        "own-exception-on-a-shaky-node",
        "CRASH_APP_ERROR",
        lost(5),
        pod("Error", 9, ended(1, 9, message="ValueError: y")),
        FAILED,
    ),
    case("another-node", "UNKNOWN", lost(5, "rack-9"), pod("Error", 6, ended(137, 6)), FAILED),
    case(
        "cordon-alone",
        "UNKNOWN",
        node("NodeNotSchedulable", "x", 5),
        stopped(6),
        FAILED,
        sub="unexplained-stop",
    ),
    case(
        "read-only-disk",
        "NODE_FAILURE",
        node("FilesystemIsReadOnly", "Node condition ReadonlyFilesystem is now: True", 5),
        pod("Error", 6, ended(137, 6)),
        FAILED,
        sub="node-fault",
    ),
    case(
        "xid-48",
        "NODE_FAILURE",
        node("XidError", XID.format(48), 5),
        pod("Error", 6, ended(1, 6, message="CUDA error: uncorrectable ECC error encountered")),
        FAILED,
        sub="gpu-hardware",
    ),
    case(
        "xid-13",
        "CRASH_APP_ERROR",
        node("XidError", XID.format(13), 5),
        pod(
            "Error", 6, ended(1, 6, message="CUDA error: an illegal memory access was encountered")
        ),
        FAILED,
        sub="gpu-fault-of-application",
    ),
    case(
        "xid-45-is-clean-up",
        "CRASH_APP_ERROR",
        node("XidError", XID.format(45), 6),
        pod("Error", 6, ended(1, 6, message="ValueError: z")),
        FAILED,
        sub="exception",
    ),
    case(
        "xid-63-is-not-fatal",
        "UNKNOWN",
        node("XidError", XID.format(63), 6),
        pod("Error", 6, ended(137, 6)),
        FAILED,
    ),
    case(
        "sandbox-on-a-lost-node",
        "NODE_FAILURE",
        event("FailedCreatePodSandBox", "Failed to create pod sandbox: x", 5, count=9),
        lost(5),
        phase("Pending", 6),
    ),
]

POLICIES = [
    case(
        "idle-reason",
        "SCHEDULING_POLICY_TERMINATED",
        said("IdleTimeout", "x", 9),
        stopped(),
        phase("Stopped", 10),
        sub="idle-timeout",
        count=1,
    ),
    case(
        "idle-text",
        "SCHEDULING_POLICY_TERMINATED",
        said("Stopped", "Stopped because GPUs were idle beyond the configured limit", 9),
        stopped(),
        phase("Stopped", 10),
        sub="idle-timeout",
    ),
    case(
        "idle-phase",
        "SCHEDULING_POLICY_TERMINATED",
        stopped(),
        phase("Stopped", 10, "Terminated due to idle GPU policy"),
        sub="idle-timeout",
        count=1,
    ),
    case(
        "duration-reason",
        "SCHEDULING_POLICY_TERMINATED",
        said("MaxDurationExceeded", "y", 9),
        stopped(),
        phase("Stopped", 10),
        sub="max-duration",
    ),
    case(
        "duration-text",
        "SCHEDULING_POLICY_TERMINATED",
        said("WorkloadStopped", "Workload exceeded its maximum duration of 2h", 9),
        stopped(),
        phase("Stopped", 10),
        sub="max-duration",
    ),
    case(
        "duration-phase",
        "SCHEDULING_POLICY_TERMINATED",
        stopped(),
        phase("Stopped", 10, "Workload reached its time limit"),
        sub="max-duration",
    ),
    case(
        "timed-out-phase",
        "SCHEDULING_POLICY_TERMINATED",
        stopped(),
        phase("TimedOut", 10),
        sub="max-duration",
    ),
    case(
        "pod-deadline",
        "SCHEDULING_POLICY_TERMINATED",
        pod(
            "DeadlineExceeded",
            9,
            ended(143, 9),
            status={
                "reason": "DeadlineExceeded",
                "message": "Pod was active on the node longer than the specified deadline",
            },
        ),
        FAILED,
        sub="max-duration",
        count=1,
    ),
    case(
        "stop-text",
        "SCHEDULING_POLICY_TERMINATED",
        said("WorkloadStopped", "Workload was stopped by alice@example.com", 9),
        stopped(),
        phase("Stopped", 10),
        sub="manual-stop",
    ),
    case(
        "stop-phase",
        "SCHEDULING_POLICY_TERMINATED",
        stopped(),
        phase("Stopped", 10, "Workload was manually stopped"),
        sub="manual-stop",
    ),
    case(
        "stop-with-exit-0",
        "SCHEDULING_POLICY_TERMINATED",
        said("StopRequested", "x", 9),
        pod("Completed", 10, ended(0, 10, reason="Completed")),
        phase("Stopped", 10),
        sub="manual-stop",
        count=1,
    ),
    case(
        "stop-with-exit-1-on-sigterm",
        "SCHEDULING_POLICY_TERMINATED",
        said("StopRequested", "x", 9),
        pod("Error", 9.5, ended(1, 9.5)),
        phase("Stopped", 10),
        count=1,
    ),
    case(
        "crash-long-before-the-stop",
        "CRASH_APP_ERROR",
        pod("Error", 6, ended(1, 6, message="ValueError: q")),
        said("StopRequested", "x", 59),
        phase("Stopped", 60, "Workload was stopped by user"),
    ),
    case(
        "application-only-says-idle",
        "CRASH_APP_ERROR",
        pod(
            "Error",
            6,
            ended(
                1, 6, message="OperationalError: terminating connection due to idle-session timeout"
            ),
        ),
        phase(
            "Failed",
            7,
            "OperationalError: terminating connection due to idle session timeout reached",
        ),
    ),
    case(
        "nobody-says-who-stopped-it",
        "UNKNOWN",
        stopped(),
        phase("Stopped", 10),
        sub="unexplained-stop",
        count=1,
    ),
    case(
        "stopped-after-its-own-crash",
        "CRASH_APP_ERROR",
        pod("Error", 8, ended(1, 8, message="KeyError: z")),
        phase("Stopped", 9),
    ),
]

GANGS = [
    case(
        "only-forced-exits",
        "UNKNOWN",
        pod("Error", 10, ended(134, 10)),
        pod("Error", 10.5, ended(143, 10.5), name="w-1"),
        pod("Error", 10.2, ended(134, 10.2), name="w-2"),
        phase("Failed", 11),
        count=1,
    ),
    case(
        "peers-notice-before-the-node-is-reported",
        "NODE_FAILURE",
        pod("Error", 10, ended(1, 10, message=NCCL), on="rack-2"),
        pod("Error", 10.1, ended(1, 10.1), name="w-2", on="rack-2"),
        pod("Unknown", 15, name="w-1"),
        event("TaintManagerEviction", "Marking for deletion Pod runai-blue/w-1", 15, pod="w-1"),
        lost(10.7),
        phase("Failed", 11),
        count=1,
    ),
    case(
        "clean-up-without-a-first",
        "UNKNOWN",
        event("Evict", GANG + "runai-blue/w-0", 5, kind="PodGroup", name="pg"),
        stopped(6),
        pod("Completed", 4, ended(0, 4, reason="Completed"), name="w-2"),
        FAILED,
        sub="gang-incomplete",
    ),
    case(
        "only-lost-peers",
        "CRASH_APP_ERROR",
        pod("Error", 10, ended(1, 10, message=NCCL)),
        pod("Error", 10.1, ended(1, 10.1, message=NCCL), name="w-1"),
        phase("Failed", 11),
        count=1,
    ),
]

EXITS = [
    case("126", "CRASH_APP_ERROR", pod("Error", 9, ended(126, 9)), FAILED),
    case("255", "CRASH_APP_ERROR", pod("Error", 9, ended(255, 9)), FAILED),
    case("code-in-the-column", "CRASH_APP_ERROR", pod("ExitCode:3", 9), FAILED),
    case("signal-in-the-column", "UNKNOWN", pod("Signal:9", 9), FAILED, sub="unexplained-kill"),
    case(
        "command-not-found",
        "CRASH_APP_ERROR",
        pod("StartError", 9, ended(128, 9, reason="StartError", message=NOT_FOUND)),
        FAILED,
        sub="command-not-executable",
    ),
    case(
        "command-not-found-event",
        "CRASH_APP_ERROR",
        event("Failed", "Error: " + NOT_FOUND, 5, container="main"),
        pod("RunContainerError", 6),
        phase("Pending", 6),
        sub="command-not-executable",
    ),
    case(
        "written-down-unseen",
        "UNKNOWN",
        pod("ContainerStatusUnknown", 9, ended(137, 9, reason="ContainerStatusUnknown")),
        FAILED,
    ),
    case(
        "startup-probe",
        "CRASH_APP_ERROR",
        phase("Running", 1),
        event(
            "Killing", "Container main failed startup probe, will be restarted", 6, container="main"
        ),
        pod("CrashLoopBackOff", 9, looping(143, 7, 2)),
        sub="liveness-probe-kill",
    ),
    case(
        "readiness-probe-kills-nobody",
        "route:running-no-symptom",
        phase("Running", 1),
        event("Unhealthy", "Readiness probe failed: x", 5, container="main"),
        pod("Running", 6, running(1)),
    ),
    case(
        "named-by-a-failure-policy",
        "CRASH_APP_ERROR",
        event(
            "PodFailurePolicy",
            "Container main for pod runai-blue/w-0 failed with exit code 42 "
            "matching FailJob rule at index 0",
            9,
            kind="Job",
            name="w",
        ),
        FAILED,
        count=1,
    ),
    case(
        "rejected-at-admission",
        "UNKNOWN",
        pod("OutOfcpu", 3, status={"reason": "OutOfcpu", "message": "Pod was rejected: x"}),
        FAILED,
        sub="admission-rejected",
    ),
    case(
        "pods-over-quota",
        "UNKNOWN",
        event(
            "FailedCreate",
            'Error creating: pods "w-0" is forbidden: exceeded quota: q',
            3,
            kind="Job",
            name="w",
        ),
        FAILED,
        sub="creation-forbidden",
    ),
    case(
        "helper-beside-a-running-main",
        "CRASH_APP_ERROR",
        phase("Running", 1),
        pod("CrashLoopBackOff", 30, running(1), looping(1, 29, 5, name="helper")),
        count=6,
    ),
    case(
        "hook-and-a-kill",
        "UNKNOWN",
        event("FailedPostStartHook", "PostStartHook failed", 5, container="main"),
        pod("Error", 6, ended(137, 6)),
        FAILED,
    ),
]

COUNTS = [
    case(
        "cutoff-is-inclusive",
        "OOM_KILLED",
        said("OOMKilled", "Container main was OOM killed", 0, kind="Pod", name="w-0"),
        was("Failed", 1),
        was("Running", 60),
        pod("OOMKilled", 1440, name="w-1", created=60),
        phase("Failed", 1440),
        now=1440,
        count=2,
    ),
    case(
        "one-minute-outside",
        "OOM_KILLED",
        said("OOMKilled", "Container main was OOM killed", 0, kind="Pod", name="w-0"),
        was("Failed", 1),
        was("Running", 60),
        pod("OOMKilled", 1440, name="w-1", created=60),
        phase("Failed", 1440),
        now=1441,
        count=1,
    ),
    case(
        "retries-of-a-job",
        "CRASH_APP_ERROR",
        *(
            pod(
                "Error",
                10 * i + 9,
                ended(1, 10 * i + 9, since=10 * i, message="ValueError: r"),
                name=f"w-{i}",
                created=10 * i,
            )
            for i in range(4)
        ),
        phase("Failed", 40),
        count=4,
    ),
    case(
        "another-category",
        "CRASH_APP_ERROR",
        pod("OOMKilled", 9, ended(137, 9, reason="OOMKilled")),
        pod("Error", 30, ended(1, 30, since=20, message="ValueError: r"), name="w-1", created=20),
        phase("Failed", 31),
        count=1,
    ),
    case(
        "last-end-of-another-category",
        "CRASH_APP_ERROR",
        pod(
            "Error",
            30,
            {
                **ended(1, 30, since=20),
                "restartCount": 1,
                "lastState": ended(137, 19, reason="OOMKilled")["state"],
            },
        ),
        phase("Failed", 31),
        count=1,
    ),
    case(
        "both-known-ends",
        "CRASH_APP_ERROR",
        pod(
            "Error",
            30,
            {**ended(1, 30, since=20), "restartCount": 1, "lastState": ended(1, 19)["state"]},
        ),
        phase("Failed", 31),
        count=2,
    ),
    case(
        "back-off-means-two-not-forty",
        "UNKNOWN",
        phase("Running", 1),
        event(
            "BackOff",
            "Back-off restarting failed container main in pod w-0_runai-blue(x)",
            9,
            container="main",
            count=40,
        ),
        count=2,
    ),
    case(
        "controller-count-is-no-number-of-ends",
        "CRASH_APP_ERROR",
        event(
            "ExitedWithCode",
            "Pod: runai-blue.w-0 exited with code 1",
            9,
            kind="PyTorchJob",
            name="w",
            count=9,
            since=2,
        ),
        pod("Error", 9),
        FAILED,
        count=1,
    ),
]

PHASES = [
    case(
        "degraded-with-a-loop",
        "CRASH_APP_ERROR",
        phase("Degraded", 30),
        pod("CrashLoopBackOff", 30, looping(1, 29, 3)),
        count=4,
    ),
    case(
        "initializing",
        "route:non-terminal-phase",
        phase("Initializing", 3),
        pod("ContainerCreating", 3),
    ),
    case(
        "deleting-whatever-was",
        "route:non-terminal-phase",
        phase("Deleting", 12),
        pod("OOMKilled", 9, ended(137, 9, reason="OOMKilled")),
    ),
    case("suspended", "route:suspended", phase("Suspended", 12), count=0),
    case(
        "crashed-means-failed",
        "CRASH_APP_ERROR",
        pod("Error", 9, ended(1, 9)),
        phase("Crashed", 10),
    ),
    case("succeeded-means-completed", "route:completed", phase("Succeeded", 10), count=0),
    case(
        "completed-after-a-crash",
        "route:completed",
        pod(
            "Completed",
            50,
            {
                **ended(0, 50, since=20, reason="Completed"),
                "restartCount": 1,
                "lastState": ended(1, 19)["state"],
            },
        ),
        phase("Completed", 51),
    ),
    case("pending-without-a-word", "route:pending-scheduling", phase("Pending", 3)),
    case("stopped-without-a-word", "UNKNOWN", phase("Stopped", 9), count=1),
    case("nothing-at-all", "route:non-terminal-phase"),
]

KUBERNETES = [
    case(
        "owner-in-a-loop",
        "CRASH_APP_ERROR",
        event(
            "BackOff",
            "Back-off restarting failed container main in pod w-0_n(x)",
            9,
            container="main",
        ),
        pod("CrashLoopBackOff", 9, looping(1, 8, 3, message="KeyError: x")),
        kind="owner",
        count=4,
    ),
    case("running-pod", "route:running-no-symptom", pod("Running", 9, running(2)), kind="pod"),
    case(
        "completed-pod",
        "route:completed",
        pod("Completed", 9, ended(0, 9, reason="Completed")),
        kind="pod",
    ),
    case(
        "waiting-pod",
        "route:pending-scheduling",
        event("FailedScheduling", "0/5 nodes", 5),
        kind="pod",
    ),
    case(
        "evicted-pod",
        "NODE_FAILURE",
        event("Evicted", "The node was low on resource: memory. Threshold", 5),
        kind="pod",
    ),
    case(
        "unmounted-pod",
        "DATASOURCE_MOUNT_FAILED",
        event("FailedMount", 'MountVolume.SetUp failed for volume "v" : x', 5),
        kind="pod",
    ),
]

ALL = [
    *STATUSES,
    *OOM, *IMAGES, *INIT, *MOUNTS, *PREEMPTION, *NODES, *POLICIES, *GANGS, *EXITS, *COUNTS, *PHASES,
    *KUBERNETES,
]  # fmt: skip
