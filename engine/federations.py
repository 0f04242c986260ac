"""FLARE subjects: jobs, simulations and sites, and which cells they are made of."""

from collections.abc import Iterator

from engine.bench import Bench
from engine.directory import FED_SITE, FEDERATION, JOB, SIMULATION, WORKSPACE, job_of, site_key
from engine.ids import key
from schemas.diagnosis import Subject
from schemas.entry import Where
from schemas.observation import Observation

SITES_CORRELATED = 64  # a change at one site judges the others again up to this many
JOBS_FOLLOWED = 256
PRESENCE = "stream.seen"


def learn(bench: Bench, observation: Observation) -> Iterator[str]:
    """Remember sites, jobs and modes that this observation shows; yields subjects to judge."""
    where = observation.where
    federation = key(FEDERATION, where.federation)
    job = job_of(where)
    if job:
        bench.link(federation, "jobs", key(JOB, where.federation, job), keep=JOBS_FOLLOWED)
        yield key(JOB, where.federation, job)
        return
    workspace = key(WORKSPACE, where.federation, where.workspace)
    new_site = bench.link(workspace, "sites", site_key(where))
    bench.link(workspace, "names", where.site)
    new_mode = bench.link(workspace, "modes", str(observation.attrs.get("mode", "")))
    bench.link(federation, "workspaces", workspace)
    if is_simulation(bench, workspace):
        yield key(SIMULATION, where.federation, where.workspace)
        if new_mode:
            yield from _site_subjects(bench, where)
        return
    if new_mode or new_site or observation.signal != PRESENCE:
        yield key(FED_SITE, where.federation, where.site)
        yield from _correlated(bench, where)


def _site_subjects(bench: Bench, where: Where) -> Iterator[str]:
    workspace = key(WORKSPACE, where.federation, where.workspace)
    for name in bench.get(workspace).links.get("names", ()):
        yield key(FED_SITE, where.federation, name)


def _correlated(bench: Bench, where: Where) -> Iterator[str]:
    """Other subjects whose verdict may change with what one site says: peers and jobs."""
    federation = bench.get(key(FEDERATION, where.federation))
    sites = sorted(
        name
        for workspace in federation.links.get("workspaces", ())
        if not is_simulation(bench, workspace)
        for name in bench.get(workspace).links.get("names", ())
    )
    for name in sites[:SITES_CORRELATED]:
        yield key(FED_SITE, where.federation, name)
    yield from federation.links.get("jobs", ())


def is_simulation(bench: Bench, workspace: str) -> bool:
    """Whether any record of a workspace witnesses that it belongs to a simulator run."""
    return "simulation" in bench.get(workspace).links.get("modes", ())


def subject_of(subject_key: str) -> Subject:
    """The subject that a key of this family names."""
    kind, federation, name = subject_key.split("\x1f")
    if kind == FED_SITE:
        return Subject(kind="site", federation=federation, site=name)
    job = name.replace("\\", "/").rstrip("/").rpartition("/")[2] if kind == SIMULATION else name
    return Subject(kind="job", federation=federation, job_id=job)


def observations_of(bench: Bench, subject_key: str) -> tuple[list[Observation], set[str]]:
    """What a job's or a site's verdict is made from, and which bounds bit on the way.

    A job: its own cell and what the federation's sites say outside jobs. A simulation: all site
    folders of its workspace, and records that name it as a job. A site: all sites outside jobs.
    """
    kind, federation, name = subject_key.split("\x1f")
    if kind == SIMULATION:
        workspace = bench.get(key(WORKSPACE, federation, name))
        cells = [key(JOB, federation, subject_of(subject_key).job_id)]
        cells += workspace.links.get("sites", ())
    else:
        cells = [subject_key] if kind == JOB else []
        cells += _site_cells(bench, federation)
    found = [item for cell_key in cells for item in bench.get(cell_key).observations]
    return found, {limit for cell_key in cells for limit in bench.get(cell_key).limits}


def _site_cells(bench: Bench, federation: str) -> list[str]:
    workspaces = bench.get(key(FEDERATION, federation)).links.get("workspaces", ())
    return [
        site
        for workspace in workspaces
        if not is_simulation(bench, workspace)
        for site in bench.get(workspace).links.get("sites", ())
    ]


def all_subjects(bench: Bench, federation: str) -> Iterator[str]:
    """Every job, simulation and site of a federation that is followed."""
    index = bench.get(key(FEDERATION, federation))
    simulated: set[str] = set()
    for workspace in index.links.get("workspaces", ()):
        names = bench.get(workspace).links.get("names", ())
        if is_simulation(bench, workspace):
            subject = key(SIMULATION, federation, workspace.split("\x1f")[2])
            simulated.add(key(JOB, federation, subject_of(subject).job_id))
            yield subject
        else:
            yield from (key(FED_SITE, federation, name) for name in names)
    yield from (job for job in index.links.get("jobs", ()) if job not in simulated)
