"""Catalog rows: TOML files to typed rows.

A catalog is a folder of TOML files. The built-in one is `matchers/catalogs/`; a user's folder adds
rows, or overrides a row of the same id. Every row carries its own proof: samples that must match,
samples that must not, and why the row is right.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from matchers.rows import Place
from schemas.entry import SourceName

FACTS = frozenset(
    {
        "workload.phase",
        "workload.condition",
        "pod.phase",
        "container.state",
        "container.terminated",
        "pod.status_reason",
        "pod.disrupted",
        "workload.metrics",
        "workload.spec",
        "job.meta",
        "job.deploy",
        "job.schedule",
        "job.submit",
        "job.report",
        "site.logs",
        "stream.seen",
    }
)
"""What the engine is told besides signals (`schemas.entry.Entry`). Rows may name these too."""


class CatalogSample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sample of a signal when its text alone does not say enough."""

    text: str = ""
    reason: str = ""
    source: str = ""
    level: str = ""
    logger: str = ""
    object: str = ""
    attrs: dict[str, str | int] = field(default_factory=dict)


class Signal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named condition that one entry can reveal.

    It holds when the entry's source is one of `sources`, and (where given) its reason is one of
    `reasons`, its level one of `levels`, its logger ends in one of `loggers`, its involved object's
    kind is one of `objects`, its attrs equal `attrs`, one of `phrases` occurs in its text (ASCII
    case ignored), `regex` matches there, and none of `unless` occurs. Named groups of `regex`
    become attrs of the observation; the groups pod, namespace, node, site, job, container and
    workload say what place the text speaks about and replace the entry's own.
    """

    id: str
    title: str
    sources: list[SourceName]
    matches: list[str | CatalogSample]
    rejects: list[str | CatalogSample]
    why: str
    status: str = "stable"  # draft rows are matched and counted, never published
    phrases: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    regex: str = ""
    unless: list[str] = field(default_factory=list)
    levels: list[str] = field(default_factory=list)
    loggers: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    attrs: dict[str, str | int] = field(default_factory=dict)


class Commands(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The next bounded, read-only command, per mode; fields in braces are filled from the subject.

    Fields: {job}, {site}, {workspace}, {since}, {pod}, {namespace}, {node}, {workload_id},
    {project}.
    """

    simulation: str = ""
    poc_production: str = ""
    kubernetes: str = ""


class Pattern(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the FLARE failure-pattern catalog.

    `rank`: the lower, the sooner it decides (facts, flare section 3). `direct` signals are evidence
    by themselves; `supporting` ones only beside a direct one. `needs`: of each inner list at least
    one must be there too. `cancelled_by`: a later one at the same site (or by the server about it)
    takes the evidence back. `explained_by`: an earlier one at the same site explains it away.
    `not_with`: rival signals whose presence rules the pattern out. `opens_site`: it is diagnosed
    for a site even without a job. `blames`: whom its evidence accuses.
    """

    name: str
    title: str
    recovery_category: str
    modes: list[str]
    rank: int
    action: str  # next action, in our own words
    why: str
    owner: str
    direct: list[str] = field(default_factory=list)
    supporting: list[str] = field(default_factory=list)
    needs: list[list[str]] = field(default_factory=list)
    cancelled_by: list[str] = field(default_factory=list)
    explained_by: list[str] = field(default_factory=list)
    not_with: list[str] = field(default_factory=list)
    blames: str = "site"  # site, peer, nobody
    opens_site: bool = False
    survives_success: bool = False  # holds although the job ends well
    status: str = "stable"
    command: Commands = field(default_factory=Commands)
    indirect: list[str] = field(default_factory=list)  # evidence enough, but never for high
    needs_for: dict[str, list[str]] = field(default_factory=dict)  # direct signal: instead of needs
    needs_within_ms: int = 0  # a need counts from so long before the direct signal on; 0: whenever
    cancelled_anywhere: bool = False  # by a success of any site, not only of the same one
    cancelled_only_by: dict[str, list[str]] = field(default_factory=dict)  # direct signal: by what
    not_attrs: dict[str, list[str]] = field(default_factory=dict)  # values that are no evidence


class Subcause(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A nearer cause within a Run:ai category, and the advice that it supports."""

    name: str
    title: str
    signals: list[str]
    action: str
    owner: str
    why: str = ""


class Category(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the Run:ai root-cause taxonomy (seed 000)."""

    name: str
    title: str
    owner: str
    signals: list[str]  # the direct signals that support it
    action: str
    why: str
    recurring_action: str = ""
    retry_action: str = ""  # instead of `action` where the restart policy allows another try
    subcauses: list[Subcause] = field(default_factory=list)
    command: Commands = field(default_factory=Commands)


class ExitCode(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an exit code reads when nothing nearer explains it (facts, runai section 5)."""

    code: int
    meaning: str
    reading: str  # success, application, unresolved, consequence


class RouteRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workload that is no failure: where it belongs and what to do there."""

    name: str
    title: str
    action: str
    why: str
    owner: str = ""
    signals: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)


class Extend(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Further phrases and samples for a signal that another file or folder defines."""

    signal: str
    why: str
    phrases: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    matches: list[str | CatalogSample] = field(default_factory=list)
    rejects: list[str | CatalogSample] = field(default_factory=list)


class Catalog(Struct, frozen=True, kw_only=True):
    """All rows in effect, by their names, in catalog order: built-in files first, by file name.

    `places` says where each row stands, by kind and name. `digest` depends on the content of the
    rows alone: not on their order, nor on comments or layout.
    """

    signals: Mapping[str, Signal]
    patterns: Mapping[str, Pattern]
    categories: Mapping[str, Category]
    exit_codes: Mapping[int, ExitCode]
    routes: Mapping[str, RouteRow]
    places: Mapping[tuple[str, str], Place]
    digest: str
