"""What one record says, parsed but not yet matched: the common form of every producer."""

from typing import Literal

from msgspec import Struct, field

Merge = Literal["event", "state", "line"]
"""How two observations of one signal at one place with one `detail` become one.

`event`: the same thing reported again (count is the maximum, times widen);
`state`: the newest snapshot wins;
`line`: log lines (counts add up, times widen).
"""

SourceName = Literal[
    "k8s_event",  # a Kubernetes event, whatever shipped it
    "runai_event",  # an event as the Run:ai API lists it (status events, history)
    "runai_phase",  # a phase of a Run:ai workload, its message and conditions
    "pod_phase",  # k8sPhase of a Run:ai pod: kubectl's STATUS column
    "pod_status",  # verbatim pod.status: container states, status.reason, DisruptionTarget
    "runai_metrics",
    "runai_spec",
    "flare_log",  # one log entry of a FLARE process, whole (with its traceback)
    "flare_job",  # job meta, deploy detail, schedule history, submit answer, `nvflare job logs`
]

Value = str | int


class Where(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The place something was said about, as far as its producer names it; empty = not named."""

    cluster: str = ""
    namespace: str = ""
    project: str = ""
    workload_id: str = ""
    workload: str = ""  # the workload's name
    kind: str = ""  # of a Kubernetes object that is no pod: Node, PodGroup, Job, ...
    name: str = ""  # that object's name
    pod: str = ""
    pod_uid: str = ""
    container: str = ""
    init: bool = False  # the container is an init container (or a native sidecar: see the verdict)
    node: str = ""
    federation: str = ""
    job: str = ""
    site: str = ""  # a client site's name, or "server"
    process: str = ""  # SP, CP, SJ, CJ, subprocess, console
    workspace: str = ""  # FLARE: the folder that holds the site folders
    file: str = ""


class Origin(Struct, frozen=True, kw_only=True):
    """The record that an entry began in, where it is not the one at hand: entries span records."""

    topic: str
    partition: int
    offset: int
    in_file: bool  # read from a file: its offsets are not those of a topic


class Entry(Struct, frozen=True, kw_only=True):
    """One whole thing a record says: an event, a phase, a pod's state, a log entry.

    `fact` names what kind of thing it is; the table below is closed. `text` is what catalog phrases
    are searched in and what may be quoted (not redacted yet); `unseen` are further texts by the
    user (commands, annotations, environment) that are checked for injection and never quoted.

    | fact | source | reason | detail (what makes it one thing) | attrs |
    | --- | --- | --- | --- | --- |
    | event | k8s_event, runai_event | event reason | event uid or id | type, component, field_path, action, label_workload, label_project, owner_kind, owner_name, evictor_action, combined (1: client-go mixed several) |
    | workload.phase | runai_phase | phase, canonical | time/phase | phase (as sent), phase_reason, k8s_phase, created_ms, updated_ms, current (1: workload object, 0: history), events (null, empty, present, absent) |
    | workload.condition | runai_phase | condition reason | time/type | type (PendingScheduling/POOL: what the scheduler says), status |
    | pod.phase | pod_phase | k8sPhase | time/k8sPhase | created_ms, completed_ms, deleted_ms, memory_request, memory_limit, memory_allocated (each also as ..._bytes), resources (0/1), tier2 (0/1); of a pod object also owner_kind, owner_name, label_workload, label_project, restart_policy |
    | container.state | pod_status | waiting reason, else Running/Terminated | "" (state) | state (waiting, running, terminated), restarts, started_ms, ready (0/1), sidecar (1: native sidecar) |
    | container.terminated | pod_status | terminated reason | finished_ms, else restart/number | exit_code, signal, started_ms, finished_ms, restarts, last (1: from lastState), sidecar |
    | pod.status_reason | pod_status | status.reason | reason | phase |
    | pod.disrupted | pod_status | DisruptionTarget reason | time/reason | |
    | workload.metrics | runai_metrics | | start/end | peak_bytes, samples, limit_bytes, request_bytes, partial |
    | workload.spec | runai_spec | | "" (state) | has_spec, restart_policy, backoff_limit, image, memory_request, memory_limit, claims (comma list), secrets (comma list), mounts (comma list of storage kinds), desired_phase, memory_request_bytes, memory_limit_bytes |
    | log | flare_log | | "" | exception, owner (user, flare, library, driver), user_file, user_function, user_line, frames, echo, driver, truncated, cut (1: a bound or the end of input cut it), peer, peer_rc, run, identity, spoofed_identity, mode |
    | job.meta | flare_job | status | "" (state) | name, min_clients, sites (comma list of job_deploy_detail), targets (sites that deploy_map names), schedule_count, requested (resource_spec in words), submitted_ms, started_ms, mode |
    | job.deploy | flare_job | | site | |
    | job.schedule | flare_job | | text | |
    | job.submit | flare_job | error_code | "" | exit_code, hint, folder |
    | job.report | flare_job | | text | |
    | site.status | flare_job | status the server gives (no_jobs, disabled, ...) | site | connected_ms |
    | site.logs | flare_job | available, unavailable, truncated | site | lines, bytes, why |
    """  # noqa: E501 -- a table

    fact: str
    source: SourceName
    where: Where
    merge: Merge
    record_id: str  # the same thing, the same id, however often and in whatever record it arrives
    first_ms: int
    last_ms: int
    text: str = ""
    reason: str = ""
    level: str = ""
    logger: str = ""
    count: int = 1
    detail: str = ""
    tool: str = (
        ""  # which command or call shows this: "get_workload_pods", "kubectl get events", ...
    )
    attrs: dict[str, Value] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    origin: Origin | None = None
