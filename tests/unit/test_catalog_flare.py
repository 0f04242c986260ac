"""The FLARE catalog: seed 004's table copied exactly, every row proven by its own samples."""

import pytest

from matchers.catalog import Signal
from matchers.commands import problems
from matchers.lint import is_found
from matchers.rules import Rules
from schemas.entry import Entry, Where

RULES = Rules.load()
FLARE = [s for s in RULES.signals.values() if {"flare_log", "flare_job"} & set(s.sources)]

BOTH = {"simulation", "poc_production"}
POC = {"poc_production"}
TABLE = [
    # pattern, modes, recovery category: the table of seed 004
    ("USER_CODE_EXCEPTION", BOTH, "FIXABLE_BY_CODE"),
    ("IMPORT_ERROR", BOTH, "FIXABLE_BY_CODE"),
    ("DATA_PATH_NOT_FOUND", BOTH, "FIXABLE_BY_CODE"),
    ("ABSOLUTE_DATA_PATH", BOTH, "FIXABLE_BY_CODE"),
    ("CUDA_OOM", BOTH, "FIXABLE_BY_CODE"),
    ("RESOURCE_EXCEEDS_HOST_CAPACITY", BOTH, "FIXABLE_BY_CONFIG"),
    ("ROUND_TIMEOUT", POC, "ENVIRONMENT_FAILURE"),
    ("TRANSFER_PROGRESS_TIMEOUT", POC, "RETRYABLE"),
    ("DATUM_OBJECT_TYPE_6", BOTH, "FIXABLE_BY_CONFIG"),
    ("PROCESS_EXIT_NEG9", BOTH, "UNKNOWN"),
    ("PEER_GONE_OR_TIMEOUT", POC, "ENVIRONMENT_FAILURE"),
    ("AUTH_FAILURE", POC, "FIXABLE_BY_CONFIG"),
    ("STARTUP_KIT_EXPIRED", POC, "FIXABLE_BY_CONFIG"),
    ("COMPONENT_NOT_AUTHORIZED", BOTH, "FIXABLE_BY_CONFIG"),
    ("PACKAGE_EXPORT_ERROR", BOTH, "FIXABLE_BY_CODE"),
    ("SIMULATION_CONFIG_ERROR", {"simulation"}, "FIXABLE_BY_CODE"),
    ("CONFIG_FILE_VALIDATION_ERROR", BOTH, "FIXABLE_BY_CONFIG"),
    ("INFRASTRUCTURE_DEPLOYMENT_FAILURE", POC, "ENVIRONMENT_FAILURE"),
    ("PARTIAL_LOG_VISIBILITY", POC, "UNKNOWN"),
    ("SITE_AUTHORIZATION_FAILURE", POC, "FIXABLE_BY_CONFIG"),
    ("SUSPICIOUS_LOG_CONTENT", BOTH, "UNKNOWN"),
]


@pytest.mark.parametrize(("name", "modes", "category"), TABLE, ids=[row[0] for row in TABLE])
def test_row_copies_the_seed(name: str, modes: set[str], category: str) -> None:
    row = RULES.patterns[name]
    assert set(row.modes) == modes
    assert row.recovery_category == category


def test_no_row_but_the_seeds_and_unknown() -> None:
    assert set(RULES.patterns) == {row[0] for row in TABLE} | {"UNKNOWN"}


def test_precedence_is_that_of_the_facts() -> None:
    order = [
        "STARTUP_KIT_EXPIRED",
        "SITE_AUTHORIZATION_FAILURE",
        "AUTH_FAILURE",
        "INFRASTRUCTURE_DEPLOYMENT_FAILURE",
        "COMPONENT_NOT_AUTHORIZED",
        "RESOURCE_EXCEEDS_HOST_CAPACITY",
        "IMPORT_ERROR",
        "PACKAGE_EXPORT_ERROR",
        "CONFIG_FILE_VALIDATION_ERROR",
        "SIMULATION_CONFIG_ERROR",
        "CUDA_OOM",
        "ABSOLUTE_DATA_PATH",
        "DATA_PATH_NOT_FOUND",
        "DATUM_OBJECT_TYPE_6",
        "USER_CODE_EXCEPTION",
        "PROCESS_EXIT_NEG9",
        "TRANSFER_PROGRESS_TIMEOUT",
        "PEER_GONE_OR_TIMEOUT",
        "ROUND_TIMEOUT",
        "PARTIAL_LOG_VISIBILITY",
    ]
    ranks = [RULES.patterns[name].rank for name in order]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


@pytest.mark.parametrize("name", sorted(RULES.patterns))
def test_advice_is_safe(name: str) -> None:
    row = RULES.patterns[name]
    commands = row.command
    for command, simulated in ((commands.simulation, True), (commands.poc_production, False)):
        assert not command or not list(problems(command, simulation=simulated))
    assert "nvflare job" not in commands.simulation
    assert "nvflare system" not in commands.simulation
    assert bool(commands.poc_production) == ("poc_production" in row.modes)


def test_dot6_advice_registers_nothing_blindly() -> None:
    action = RULES.patterns["DATUM_OBJECT_TYPE_6"].action.lower()
    assert "client.py" not in action
    assert "proven" in action


def test_exit_minus_9_advice_assumes_no_memory() -> None:
    action = RULES.patterns["PROCESS_EXIT_NEG9"].action.lower()
    assert "memory" not in action
    assert "oom" not in action


@pytest.mark.parametrize("signal", FLARE, ids=[s.id for s in FLARE])
def test_a_signal_is_proven_by_its_own_samples(signal: Signal) -> None:
    assert signal.why
    assert signal.matches
    assert signal.rejects
    assert all(is_found(signal, sample, RULES) is True for sample in signal.matches)
    assert all(is_found(signal, sample, RULES) is False for sample in signal.rejects)


def _signals(text: str, level: str = "ERROR", **attrs: str) -> set[str]:
    entry = Entry(
        fact="log",
        source="flare_log",
        where=Where(site="alpha"),
        merge="line",
        record_id="r",
        first_ms=1,
        last_ms=1,
        text=text,
        level=level,
        attrs=dict(attrs),
    )
    return {match.signal.id for match in RULES.match(entry)}


LINES = [
    # name, text, a signal that must be there, one that must not
    ("cublas", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED", "flare.cuda_oom", ""),
    ("hip", "torch.OutOfMemoryError: HIP out of memory. Tried", "flare.cuda_oom", ""),
    ("oom mentioned", "retrying after CUDA out of memory", "", "flare.cuda_oom"),
    ("relative import", "ImportError: attempted relative import with no known parent package",
     "flare.import_error", ""),
    ("import handled", "could not import nolib, going on without it", "", "flare.import_error"),
    ("mount path", "FileNotFoundError: [Errno 2] No such file or directory: '/mnt/a/b.csv'",
     "flare.missing_path", "flare.personal_path"),
    ("root's path", "FileNotFoundError: [Errno 2] No such file or directory: '/root/b.csv'",
     "flare.personal_path", ""),
    ("relative home", "FileNotFoundError: [Errno 2] No such file or directory: 'home/x/b.csv'",
     "flare.missing_path", "flare.personal_path"),
    ("win error", "FileNotFoundError: [WinError 3] The system cannot find it: 'C:\\Users\\a'",
     "flare.personal_path", ""),
    ("handler 3", "cannot find handler for Datum Object Type 3", "", "flare.dot6"),
    ("dot 6", "no handler for DOT 6", "flare.dot6", ""),
    ("dot 60", "no handler for DOT 60", "", "flare.dot6"),
    ("elastic", "exitcode  : -9 (pid: 71)", "flare.exit_neg9", ""),
    ("job cell", "cannot send to 'server.5f1e': target_unreachable", "",
     "flare.target_unreachable"),
    ("parent cell", "cannot send to 'server': target_unreachable", "flare.target_unreachable", ""),
    ("internal listener", "7: Error binding to  127.0.0.1:4: OSError: [Errno 98] Address in use",
     "", "flare.deployment_failed"),
    ("public listener", "7: Error binding to  0.0.0.0:8002: OSError: [Errno 98] Address in use",
     "flare.deployment_failed", ""),
    ("warn mode", "Component 'a.B' at config path 'c' is not in allow_list; allowing it because "
     "class_list_enforcement_mode is 'warn'", "", "flare.component_not_authorized"),
    ("end run", "pull_task completed. Task name:__end_run__ Status:True", "",
     "progress.task_received"),
    ("config named", "Error processing 'config_fed_server.json' in element '{}': path: 'x'",
     "flare.config_invalid", "flare.package_incomplete"),
    ("config missing", "config_fed_client.json is missing", "flare.package_incomplete", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "has", "lacks"), LINES, ids=[row[0] for row in LINES])
def test_lines(name: str, text: str, has: str, lacks: str) -> None:
    found = _signals(text)
    assert not has or has in found
    assert not lacks or lacks not in found


def test_user_code_is_a_matter_of_frames() -> None:
    trace = 'Traceback (most recent call last):\n  File "/j/custom/f.py", line 1, in g\nKeyError: 1'
    assert "flare.user_exception" in _signals(trace, owner="user")
    assert "flare.user_exception" not in _signals(trace, owner="flare")
    assert "flare.user_exception" not in _signals("[USER_CODE_EXCEPTION] site crashed")
