"""FLARE subjects: jobs, simulations and sites, and which cells they are made of."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from engine.bench import Bench
from engine.directory import (
    FED_SITE,
    FEDERATION,
    JOB,
    SIMULATION,
    SITE,
    WORKSPACE,
    home,
    job_of,
    site_key,
)
from engine.ids import key
from schemas.diagnosis import Subject
from schemas.observation import Observation

SITES_CORRELATED = 64  # a change at one site judges the others again up to this many
JOBS_FOLLOWED = 256
PRESENCE = "stream.seen"
SERVER = "server"


def learn(bench: Bench, observation: Observation) -> Iterator[str]:
    """Remember sites, jobs and modes that this observation shows; yields subjects to judge."""
    where = observation.where
    federation = key(FEDERATION, where.federation)
    workspace = key(WORKSPACE, where.federation, where.workspace)
    job = job_of(where)
    if job:
        job_key = key(JOB, where.federation, job)
        bench.link(federation, "jobs", job_key, keep=JOBS_FOLLOWED)
        bench.link(job_key, "workspaces", workspace if where.workspace else "")
        bench.link(job_key, "sites", home(where))
        yield job_key
        return
    new_site = bench.link(workspace, "sites", site_key(where))
    new_mode = bench.link(workspace, "modes", str(observation.attrs.get("mode", "")))
    bench.link(federation, "workspaces", workspace)
    if observation.attrs.get("role") == SERVER:
        bench.link(workspace, "servers", where.site)
    if is_simulation(bench, workspace):
        yield key(SIMULATION, where.federation, where.workspace)
        if new_mode:
            yield from _subjects_in(bench, workspace)
    elif new_mode or new_site or observation.signal != PRESENCE:
        yield from _correlated(bench, federation, workspace)


def _subjects_in(bench: Bench, workspace: str) -> Iterator[str]:
    for site in bench.get(workspace).links.get("sites", ())[:SITES_CORRELATED]:
        yield FED_SITE + site.removeprefix(SITE)


def _correlated(bench: Bench, federation: str, workspace: str) -> Iterator[str]:
    """The subjects whose verdict may change with what one site says: its peers and the jobs."""
    for other in _together(bench, federation, [workspace]):
        yield from _subjects_in(bench, other)
    yield from bench.get(federation).links.get("jobs", ())


def _together(bench: Bench, federation: str, workspaces: Iterable[str]) -> list[str]:
    """The workspaces that may belong to one system with these.

    A folder that holds a server's log is a system of its own: others beside it are other systems.
    A folder without one is a site's own machine, and may belong to any.
    """
    known = bench.get(federation).links.get("workspaces", ())
    real = [name for name in known if not is_simulation(bench, name)]
    ours = set(workspaces)
    servers = {name for name in real if _has_server(bench, name)}
    if len(servers) < 2 or not ours <= servers:
        return real
    return [name for name in real if name in ours or name not in servers]


def _has_server(bench: Bench, workspace: str) -> bool:
    links = bench.get(workspace).links
    named = any(site.endswith(f"\x1f{SERVER}") for site in links.get("sites", ()))
    return named or bool(links.get("servers"))


def is_simulation(bench: Bench, workspace: str) -> bool:
    """Whether any record of a workspace witnesses that it belongs to a simulator run."""
    return "simulation" in bench.get(workspace).links.get("modes", ())


def subject_of(subject_key: str) -> Subject:
    """The subject that a key of this family names."""
    kind, federation, name, *rest = subject_key.split("\x1f")
    if kind == FED_SITE:
        return Subject(kind="site", federation=federation, site="".join(rest))
    job = name.replace("\\", "/").rstrip("/").rpartition("/")[2] if kind == SIMULATION else name
    return Subject(kind="job", federation=federation, job_id=job)


def observations_of(bench: Bench, subject_key: str) -> tuple[list[Observation], set[str]]:
    """What a job's or a site's verdict is made from, and which bounds bit on the way.

    A job: its own cell and what the sites of its system say outside jobs. A simulation: all site
    folders of its workspace, and records that name it as a job. A site: all sites of its system.
    """
    kind, federation, name, *_ = subject_key.split("\x1f")
    if kind == SIMULATION:
        workspace = bench.get(key(WORKSPACE, federation, name))
        job = bench.get(key(JOB, federation, subject_of(subject_key).job_id))
        cells = [*job.links.get("sites", ()), *workspace.links.get("sites", ())]
    elif kind == JOB:
        links = bench.get(subject_key).links
        cells = list(links.get("sites", ()))
        cells += _site_cells(bench, federation, links.get("workspaces", ()))
    else:
        cells = _site_cells(bench, federation, [key(WORKSPACE, federation, name)])
    found = [item for cell_key in cells for item in bench.get(cell_key).observations]
    read = (subject_key, *cells)
    return found, {limit for cell_key in read for limit in bench.get(cell_key).limits}


def _site_cells(bench: Bench, federation: str, workspaces: Iterable[str]) -> list[str]:
    together = _together(bench, key(FEDERATION, federation), workspaces)
    return [site for name in together for site in bench.get(name).links.get("sites", ())]


def all_subjects(bench: Bench, federation: str) -> Iterator[str]:
    """Every job, simulation and site of a federation that is followed."""
    index = bench.get(key(FEDERATION, federation))
    simulated: set[str] = set()
    for workspace in index.links.get("workspaces", ()):
        if is_simulation(bench, workspace):
            subject = key(SIMULATION, federation, workspace.split("\x1f")[2])
            simulated.add(key(JOB, federation, subject_of(subject).job_id))
            yield subject
        else:
            yield from _subjects_in(bench, workspace)
    yield from (job for job in index.links.get("jobs", ()) if job not in simulated)


def with_server(
    observations: Sequence[Observation], subject: Subject
) -> tuple[Sequence[Observation], Subject]:
    """The same with the server called `server`, whatever its folder is called.

    A provisioned server's folder has its host's name. Who writes under the server's loggers, and
    never under a client's, is the server.
    """
    roles: dict[str, set[object]] = {}
    for item in observations:
        if "role" in item.attrs:
            roles.setdefault(item.where.site, set()).add(item.attrs["role"])
    servers = {site for site, found in roles.items() if found == {SERVER} and site}
    if servers <= {SERVER}:
        return observations, subject
    renamed = [
        replace(item, where=replace(item.where, site=SERVER))
        if item.where.site in servers
        else item
        for item in observations
    ]
    return renamed, replace(subject, site=SERVER) if subject.site in servers else subject


def _at_server(item: Observation) -> Observation:
    process = {"CP": "SP", "CJ": "SJ"}.get(item.where.process, item.where.process)
    return replace(item, where=replace(item.where, site=SERVER, process=process))
