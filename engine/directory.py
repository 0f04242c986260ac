"""Where an observation lives, and which cells a subject's verdict reads.

Nothing is ever moved: an event on a pod that nobody has claimed yet waits in that pod's own cell,
and the workload that turns out to own the pod reads it there. So attribution does not depend on
the order of arrival.
"""

from engine.ids import derive, key
from engine.state import LISTS
from schemas.entry import Where

POD, POD_NAME, WORKLOAD, NODE, OBJECT = "pod", "podname", "workload", "node", "object"
JOB, JOB_SITE, SITE, WORKSPACE = "job", "jobsite", "site", "workspace"
FEDERATION = "federation"
SIMULATION, FED_SITE, OWNER, LONE_POD = "simulation", "fedsite", "owner", "lonepod"
SCOPE, INCIDENT, UNCLAIMED, UNSETTLED = "scope", "incident", "unclaimed", "unsettled"


def is_flare(where: Where) -> bool:
    """Whether the place belongs to a federation rather than to a cluster."""
    return bool(where.federation or where.job or where.site or where.workspace)


def home(where: Where) -> str:
    """The key of the cell in which an observation about this place is kept."""
    if is_flare(where):
        if job_of(where):
            return key(JOB_SITE, where.federation, job_of(where), where.site)
        return site_key(where)
    if where.pod_uid:
        return key(POD, where.cluster, where.pod_uid)
    if where.pod:
        return key(POD_NAME, where.cluster, where.namespace, where.pod)
    if where.workload_id:
        return key(WORKLOAD, where.cluster, where.workload_id)
    if where.node:
        return key(NODE, where.cluster, where.node)
    return key(OBJECT, where.cluster, where.namespace, where.name)


def job_of(where: Where) -> str:
    """The job with a cell of its own; a simulation lives in its workspace, whatever names it."""
    folder = where.workspace.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return where.job if where.job != folder else ""


def kind_of(cell_key: str) -> str:
    """The kind of cell or subject a key names."""
    return cell_key.partition("\x1f")[0]


def site_key(where: Where) -> str:
    """The cell of what one site says outside any job."""
    return key(SITE, where.federation, where.workspace, where.site)


def scope_key(scope: str) -> str:
    """The cell that remembers how far each source partition was counted."""
    return key(SCOPE, scope)


def incident_key(subject_key: str) -> str:
    """The cell of what was last published about a subject."""
    return f"{INCIDENT}\x1f{subject_key}"


def list_key(kind: str, scope: str, item: str) -> str:
    """The cell of a scope's long list that an item stands in."""
    return key(kind, scope, str(int(derive(kind, item)[:8], 16) % LISTS))


def list_keys(kind: str, scope: str) -> list[str]:
    """All cells that a scope's long list is spread over."""
    return [key(kind, scope, str(number)) for number in range(LISTS)]
