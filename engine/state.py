"""What is stored: cells, and every bound on them.

State lives where its identity is: a workload, a pod, a node, a job, a site each have a cell. A
verdict joins the cells it needs when it is made, so it does not matter which of them was filled
first.
"""

from msgspec import Struct, field

from schemas.observation import Observation

CELL_BYTES = 60 * 1024  # a cell stays under 64 KiB with its key and frame
OBSERVATIONS_PER_SIGNAL = 64  # per signal and cell
OBSERVATIONS_KEPT = 256  # per cell
WATCHERS_KEPT = 256
LINKS_KEPT = 512  # per link name
LINK_BYTES = 10 * 1024  # of one link name, and of all watchers
LISTS = 64  # cells over which a scope's long lists (open subjects, unclaimed pods) are spread
PODS_JUDGED = 256  # of one workload


class Incident(Struct, frozen=True, kw_only=True):
    """What was last published about a subject."""

    id: str
    revision: int = 0
    state: str = ""
    content: str = ""  # digest of what was last published, but for its revision
    verdict: str = ""  # digest of the part that a consumer acts on
    published_ms: int = 0
    event_ms: int = 0
    pending: bool = False  # something newer has not been published yet
    opened: int = 0  # how often it was opened again


class Cell(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stored cell. A record changes position and content, or neither."""

    source: str = ""  # "topic/partition" of the last applied message of `signals`
    offset: int = -1  # and its offset
    observations: tuple[Observation, ...] = ()
    watchers: tuple[str, ...] = ()  # keys of subjects that are judged again when this changes
    links: dict[str, tuple[str, ...]] = field(default_factory=dict)
    seen: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Scope cell: per source partition the offsets that were counted, so that twice counts once."""
    limits: tuple[str, ...] = ()  # names of the bounds that bit
    incident: Incident | None = None

    def covers(self, source: str, offset: int) -> bool:
        """Whether this cell already contains that message of `signals`."""
        return self.source == source and self.offset >= offset
