"""Where a FLARE log file stands says whose log it is: path -> site, job, process, workspace, file.

Facts, flare 1.3. The layouts, the innermost folder last:

| layout | path tail |
| --- | --- |
| parent process (POC, production) | `<ws>/<site>/log.txt`, `<ws>/<site>/poc_console.log` |
| job process (POC, production) | `<ws>/<site>/<job>/log.txt` |
| simulator | `<ws>/<job>/<site>/log.txt`, `<ws>/<job>/<site>/simulate_job/...` |
| simulator before 2.5 | `<ws>/simulate_job/app_<site>/log.txt` |
| downloaded job | `<job>/workspace/...`: the server's job folder |

A path is data: nothing here opens it, and every unknown layout is a `Place` with empty fields.
"""

import re
from functools import lru_cache

from msgspec import Struct

MAX_PATH = 1024  # characters; what is longer is no path of a log file
SERVER = "server"
SIMULATE_JOB = "simulate_job"  # the folder, and the run name, of every simulation

_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_SITE = re.compile(
    r"(?:server|site|client|hospital|node)(?:[-_.]?[0-9]{1,6}|[-_.][A-Za-z0-9]{1,12})?",
    re.IGNORECASE,
)
_POC_STAGE = re.compile(r"prod_\d\d")
_SIMULATION = re.compile(r".*simulat.*|sim(?:[-_].*)?", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_ROTATION = re.compile(r"(?:\.(?:\d{1,4}|gz|zst|bz2|xz)){1,3}$", re.IGNORECASE)

# Written by FLARE's own handlers: a line without a header belongs to the record above it.
FLARE_FILES = frozenset({"log.txt", "log.json", "error_log.txt", "log_error.txt", "log_fl.txt"})
# Standard output and error of whole processes: a line without a header may be anybody's.
_CONSOLES = re.compile(r"con\..*|.*(?:console|stdout|stderr|nohup).*", re.IGNORECASE)
# Of one program's run: the folder they lie in is a job's, unless it is named as a site.
_OUTPUTS = re.compile(r".*(?:stdout|stderr).*", re.IGNORECASE)
# Folders within a site or job folder; they say nothing about whose log it is.
_INNER = frozenset({"local", "startup", "config", "custom", "logs", "log", "transfer", "audit"})
# Folders above sites that are no site themselves.
_GENERIC = frozenset(
    {
        *("", ".", "..", "home", "root", "opt", "var", "tmp", "mnt", "data", "usr", "srv"),
        *("workspace", "workspaces", "simulation", "simulator", "simulator_workspace", "sim"),
        *("nvflare", "flare", "poc", "jobs", "runs", "containers", "pods"),
    }
)
_CONTAINER_LOGS = ("/var/log/pods/", "/var/log/containers/", "/var/lib/docker/containers/")


class Place(Struct, frozen=True, kw_only=True):
    """What a path says about a log file; empty = it does not say.

    `workspace` is the folder above the site folder (in a simulation `<ws>/<job>`). `mode` is
    "simulation" or "poc_production" only where the layout alone proves it.
    """

    site: str = ""
    job: str = ""
    process: str = ""  # SP, CP, SJ, CJ, console
    workspace: str = ""
    file: str = ""
    mode: str = ""


def is_uuid(text: str) -> bool:
    """Whether `text` is a job id as FLARE makes them."""
    return _UUID.fullmatch(text) is not None


def looks_like_site(name: str) -> bool:
    """Whether a folder or host is named as FLARE's own tools name sites."""
    return _SITE.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_flare_file(file: str) -> bool:
    """Whether FLARE's own file handlers write a file of this name (rotated and packed ones too)."""
    return _ROTATION.sub("", file[:128]).lower() in FLARE_FILES


@lru_cache(maxsize=4096)
def place(path: str) -> Place:
    """What `path` says about the log file it names."""
    if not path or len(path) > MAX_PATH:
        return Place()
    plain = path.replace("\\", "/")
    *folders, file = plain.split("/")
    folders = [part for part in folders if part not in ("", ".")]
    if plain.startswith(_CONTAINER_LOGS) or not folders or _DRIVE.fullmatch(folders[-1]):
        return Place(file=file, process="console" if _is_console(file) else "")
    found = _site_and_job(folders, file)
    if found is None:
        return Place(file=file, process=_process("", "", file))
    site, job, above = found
    workspace = ("/" if plain.startswith("/") else "") + "/".join(above)
    mode = _mode(folders, site, job)
    process = _process(site, job, file) if mode != "simulation" or _is_console(file) else ""
    return Place(site=site, job=job, process=process, workspace=workspace, file=file, mode=mode)


def _site_and_job(folders: list[str], file: str) -> tuple[str, str, list[str]] | None:
    """Site, job and the folders above the site."""
    if SIMULATE_JOB in folders:
        return _in_simulate_job(folders)
    job_ids = [index for index, name in enumerate(folders) if is_uuid(name)]
    if job_ids:
        return _around_job_id(folders, job_ids[-1])
    kept = list(folders)
    while len(kept) > 1 and (kept[-1].lower() in _INNER or kept[-1].startswith("app_")):
        kept.pop()
    last, above = kept[-1], kept[-2] if len(kept) > 1 else ""
    if looks_like_site(last) or _POC_STAGE.fullmatch(above):
        return last, "", kept[:-1]
    if looks_like_site(above) or (len(kept) > 2 and _POC_STAGE.fullmatch(kept[-3])):
        return above, last, kept[:-2]
    if last.lower() in _GENERIC | _INNER:
        return None
    if _OUTPUTS.fullmatch(file):  # of a program started in that folder: a simulation's driver
        return "", "", kept
    return last, "", kept[:-1]


def _in_simulate_job(folders: list[str]) -> tuple[str, str, list[str]]:
    at = folders.index(SIMULATE_JOB)
    owner = folders[at - 1] if at else ""
    inner = folders[at + 1] if len(folders) > at + 1 else ""
    if inner.startswith("app_") and inner[4:] != owner and not looks_like_site(owner):
        return inner[4:], "", folders[:at]  # before 2.5: one folder for all sites
    if owner.lower() in _GENERIC:
        return "", "", folders[:at]
    above = folders[: at - 1]
    return owner, above[-1] if above and is_uuid(above[-1]) else "", above


def _around_job_id(folders: list[str], at: int) -> tuple[str, str, list[str]]:
    """The job's folder is `<site>/<job>`, or (simulator, downloads) it holds the sites' folders."""
    job, owner = folders[at], folders[at - 1] if at else ""
    inner = [name for name in folders[at + 1 :] if name.lower() not in _INNER]
    if inner and inner[0] == "workspace":  # what `nvflare job download` brings
        site = inner[1].removeprefix("app_") if len(inner) > 1 else SERVER
        return site, job, folders[: at + 1]
    if inner and not inner[0].startswith("app_"):
        return inner[0], job, folders[: at + 1]
    if owner.lower() in _GENERIC or _POC_STAGE.fullmatch(owner):
        return inner[0][4:] if inner else "", job, folders[: at + 1]
    return owner, job, folders[: at - 1]


def _mode(folders: list[str], site: str, job: str) -> str:
    if SIMULATE_JOB in folders:
        return "simulation"
    if any(_POC_STAGE.fullmatch(name) for name in folders):
        return "poc_production"
    if job and site and job in folders:
        at = folders.index(job)
        if (at and folders[at - 1] == site) or "workspace" in folders[at + 1 :]:
            return "poc_production"  # a simulation has no job folder below the site's
    return "simulation" if any(_SIMULATION.fullmatch(name) for name in folders) else ""


def _is_console(file: str) -> bool:
    return _CONSOLES.fullmatch(file) is not None


def _process(site: str, job: str, file: str) -> str:
    if _is_console(file):
        return "console"
    if not site:
        return ""
    return ("S" if site == SERVER else "C") + ("J" if job else "P")
