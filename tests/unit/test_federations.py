"""Which sites belong together, and which of them is the server."""

from pathlib import Path

from tests.replaying import replay

JOB = "6b1f0a52-91c4-4f7e-9d70-1f2a3b4c5d6e"
SERVER_LOG = """\
2026-08-01 09:00:00,100 - ServerRunner - INFO - [identity=heart_study, run={job}, wf=controller] - \
starting workflow controller (<class 'nvflare.app_common.workflows.fedavg.FedAvg'>) ...
2026-08-01 09:00:01,200 - FedAvg - INFO - [identity=heart_study, run={job}, wf=controller] - \
Sampled clients: ['clinic-a', 'clinic-b']
2026-08-01 09:05:01,200 - ServerRunner - ERROR - [identity=heart_study, run={job}, wf=controller, \
peer=clinic-b, peer_run={job}, peer_rc=EXECUTION_EXCEPTION] - Aborting current RUN due to \
FATAL_SYSTEM_ERROR received: Result from clinic-b is bad, error code: EXECUTION_EXCEPTION.
"""
CLIENT_LOG = """\
2026-08-01 09:04:59,000 - SubprocessLauncher - INFO - Traceback (most recent call last):
2026-08-01 09:04:59,001 - SubprocessLauncher - INFO -   File "/fl/app_clinic-b/custom/fit.py", \
line 7, in fit
2026-08-01 09:04:59,004 - SubprocessLauncher - INFO - ModuleNotFoundError: No module named 'torchio'
"""
CONFIG_LOG = """\
2026-08-01 09:00:00,850 - runner_process - ERROR - FL server execution exception: ConfigError: \
Error processing 'config_fed_server.json' in element 'x': path: 'workflows.#1', exception: \
'TypeError: FedAvg.__init__() got an unexpected keyword argument 'rounds_max''
"""


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_server_is_told_by_what_it_writes_not_by_its_folder(tmp_path: Path) -> None:
    write(tmp_path, f"ws/fl.heart.example/{JOB}/log.txt", SERVER_LOG.format(job=JOB))
    write(tmp_path, f"ws/clinic-b/{JOB}/log.txt", CLIENT_LOG)
    (diagnosis,) = replay(tmp_path / "ws").diagnoses
    assert diagnosis.matched_pattern == "IMPORT_ERROR"
    assert [culprit.name for culprit in diagnosis.culprits] == ["clinic-b"]
    assert diagnosis.findings == () or {f.kind for f in diagnosis.findings} == {
        "PARTIAL_LOG_VISIBILITY"
    }
    assert "fl.heart.example" not in diagnosis.completeness.seen
    assert "server" in diagnosis.completeness.seen


def test_a_server_that_does_not_start_is_the_culprit(tmp_path: Path) -> None:
    write(tmp_path, f"ws/fl.heart.example/{JOB}/log.txt", CONFIG_LOG)
    (diagnosis,) = replay(tmp_path / "ws").diagnoses
    assert diagnosis.matched_pattern == "CONFIG_FILE_VALIDATION_ERROR"
    assert [culprit.name for culprit in diagnosis.culprits] == ["server"]


def test_systems_side_by_side_do_not_explain_each_other(tmp_path: Path) -> None:
    write(tmp_path, f"one/server/{JOB}/log.txt", SERVER_LOG.format(job=JOB))
    write(tmp_path, f"one/clinic-b/{JOB}/log.txt", CLIENT_LOG)
    refused = (
        "2026-08-01 09:00:00,000 - ClientManager - INFO - Client clinic-a disabled. Removed 1.\n"
    )
    write(tmp_path, "two/server/log.txt", refused)
    found = {d.subject.job_id or d.subject.site: d for d in replay(tmp_path).diagnoses}
    assert found[JOB].matched_pattern == "IMPORT_ERROR"
    assert [culprit.name for culprit in found[JOB].culprits] == ["clinic-b"]


DRAFT = """
[[signal]]
id = "mine.warned"
title = "A warning on trial"
status = "draft"
sources = ["flare_log"]
phrases = ["flux capacitor drained"]
matches = ["flux capacitor drained"]
rejects = ["flux capacitor charged"]
why = "a test"
"""


def test_a_draft_row_is_counted_and_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "rows/mine.toml", DRAFT)
    line = "2026-08-01 09:00:00,100 - Trainer - ERROR - flux capacitor drained\n"
    write(tmp_path, f"ws/site-1/{JOB}/log.txt", line * 3)
    replayed = replay(tmp_path / "ws", "--catalog", tmp_path / "rows")
    assert replayed.diagnoses == ()
    assert "draft row mine.warned: would have matched 3 times" in replayed.errors
