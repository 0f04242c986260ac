"""What goes out: one diagnosis per failed workload, job or site."""

from typing import Literal

from msgspec import Struct

Family = Literal["runai", "kubernetes", "flare", "fleet"]
Mode = Literal["simulation", "poc_production", "ambiguous"]
State = Literal["provisional", "settled", "resolved", "withdrawn"]
Confidence = Literal["high", "medium", "low"]


class Subject(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is diagnosed: a Run:ai workload, another Kubernetes workload, a FLARE job or site."""

    kind: Literal["workload", "owner", "pod", "job", "site"]
    cluster_id: str = ""
    workload_id: str = ""
    workload_name: str = ""
    project: str = ""
    namespace: str = ""
    federation: str = ""
    job_id: str = ""
    job_name: str = ""
    site: str = ""


class Culprit(Struct, frozen=True, kw_only=True):
    """Who failed first."""

    kind: Literal["site", "server", "pod", "container", "node"]
    name: str


class Route(Struct, frozen=True, kw_only=True):
    """Where a workload belongs that is no failure: a name of the catalog, and why."""

    name: str
    reason: str


class EvidenceSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a piece of evidence was read."""

    topic: str = ""
    partition: int = 0
    offset: int = 0
    record_id: str = ""
    tool: str = ""
    site: str = ""
    pod: str = ""
    container: str = ""
    process: str = ""
    file: str = ""


class Evidence(Struct, frozen=True, kw_only=True):
    """One thing that was seen: quoted redacted, with its place, its time and how often."""

    id: str
    signal: str
    text: str
    source: EvidenceSource
    first_ms: int
    last_ms: int
    count: int


class Missing(Struct, frozen=True, kw_only=True):
    """Evidence that is not there, why it matters, and the read-only command that gets it."""

    what: str
    why: str
    next_command: str


class Finding(Struct, frozen=True, kw_only=True):
    """Something about the evidence itself: suspicious content, missing or truncated logs."""

    kind: str
    families: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    score: int = 0
    count: int = 0
    where: str = ""
    excerpt: str = ""  # redacted, defanged, escaped, at most 200 characters
    evidence: tuple[str, ...] = ()


class Because(Struct, frozen=True, kw_only=True):
    """One rule and what it said: why this verdict, or why not a near rival."""

    rule: str
    verdict: str
    why: str
    evidence: tuple[str, ...] = ()


class Recurrence(Struct, frozen=True, kw_only=True):
    """How often this category failed within `lookback_s`, by event time."""

    category: str
    count: int
    recurring: bool
    lookback_s: int
    first_ms: int
    last_ms: int
    at_least: bool = False  # the count is a lower bound


class Completeness(Struct, frozen=True, kw_only=True):
    """How complete the view was. Silence is never read as health."""

    expected: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


class Recommendation(Struct, frozen=True, kw_only=True):
    """What to do next and who must. Only ever catalog text."""

    owner: str
    action: str


class Echo(Struct, frozen=True, kw_only=True):
    """A failure that follows from the first one."""

    where: str
    signal: str
    text: str
    time_ms: int


class Diagnosis(Struct, frozen=True, kw_only=True):
    """One verdict about one incident. Consumers keep the highest `revision` of an `id`.

    Exactly one of `category` (Run:ai, Kubernetes), `matched_pattern` (FLARE) and `route` is set.
    Field order is part of the wire format: new fields go last.
    """

    schema: str
    id: str
    revision: int
    state: State
    family: Family
    mode: Mode | None
    subject: Subject
    phase_or_status: str
    event_time_ms: int
    culprits: tuple[Culprit, ...]
    category: str | None
    matched_pattern: str | None
    recovery_category: str | None
    subcause: str | None
    recovery_owner: str
    route: Route | None
    confidence: Confidence
    summary: str
    reasons: tuple[Because, ...]
    rivals: tuple[Because, ...]
    evidence: tuple[Evidence, ...]
    missing_evidence: tuple[Missing, ...]
    findings: tuple[Finding, ...]
    recurrence: Recurrence | None
    completeness: Completeness
    recommendations: tuple[Recommendation, ...]
    echoes: tuple[Echo, ...]
    catalog_digest: str
