"""Paths of log files: which site, job, process and workspace they belong to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.sources.folders import Place, is_flare_file, place

JOB = "5b2f3d1c-0a4e-4c59-9f6e-7d1a2b3c4d5e"


def at(
    site: str = "", job: str = "", process: str = "", workspace: str = "", mode: str = ""
) -> Place:
    return Place(site=site, job=job, process=process, workspace=workspace, mode=mode)


POC, SIM = "poc_production", "simulation"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("/srv/fl/server/log.txt", at("server", "", "SP", "/srv/fl"), id="parent"),
        pytest.param(
            f"/srv/fl/site-1/{JOB}/log.txt", at("site-1", JOB, "CJ", "/srv/fl", POC), id="job"
        ),
        pytest.param(
            f"/srv/fl/server/{JOB}/error_log.txt",
            at("server", JOB, "SJ", "/srv/fl", POC),
            id="server-job",
        ),
        pytest.param(
            "/p/prod_00/berlin/log.txt", at("berlin", "", "CP", "/p/prod_00", POC), id="any-name"
        ),
        pytest.param(
            f"/p/prod_00/berlin/{JOB}/log.txt.3",
            at("berlin", JOB, "CJ", "/p/prod_00", POC),
            id="rotated",
        ),
        pytest.param(
            "site-1/abc123/log.txt", at("site-1", "abc123", "CJ", "", POC), id="job-is-no-uuid"
        ),
        pytest.param("site-1/log.txt", at("site-1", "", "CP"), id="relative"),
        pytest.param("./site-1/log.txt.gz", at("site-1", "", "CP"), id="dot-and-gz"),
        pytest.param("../site-1/log.txt", at("site-1", "", "CP", ".."), id="dot-dot"),
        pytest.param("/srv/fl/berlin/log.txt", at("berlin", "", "CP", "/srv/fl"), id="any-site"),
        pytest.param(
            f"C:\\fl\\site-2\\{JOB}\\log.txt", at("site-2", JOB, "CJ", "C:/fl", POC), id="windows"
        ),
        pytest.param(
            "/srv/fl/site-1/poc_console.log",
            at("site-1", "", "console", "/srv/fl"),
            id="console",
        ),
        pytest.param("/srv/fl/server/kern.log", at("server", "", "SP", "/srv/fl"), id="other-file"),
        pytest.param(
            "/w/simulation/heart/site-1/log.txt",
            at("site-1", "", "", "/w/simulation/heart", SIM),
            id="simulator",
        ),
        pytest.param(
            f"/w/simulation/{JOB}/site-1/log.txt",
            at("site-1", JOB, "", f"/w/simulation/{JOB}", SIM),
            id="simulator-uuid",
        ),
        pytest.param(
            "/w/heart/server/simulate_job/log.txt",
            at("server", "", "", "/w/heart", SIM),
            id="simulate_job",
        ),
        pytest.param(
            "/w/heart/ams/simulate_job/app_ams/custom/train.py",
            at("ams", "", "", "/w/heart", SIM),
            id="app-folder",
        ),
        pytest.param(
            "ws/simulate_job/app_site-2/log.txt",
            at("site-2", "", "", "ws", SIM),
            id="simulator-before-2.5",
        ),
        pytest.param(
            "/w/simulation/heart/stderr.txt",
            at("", "", "console", "/w/simulation/heart", SIM),
            id="driver",
        ),
        pytest.param(
            f"/w/simulation/{JOB}/local/job.stderr.txt",
            at("", JOB, "console", f"/w/simulation/{JOB}", SIM),
            id="driver-uuid",
        ),
        pytest.param(
            f"dl/{JOB}/workspace/log.txt", at("server", JOB, "SJ", f"dl/{JOB}", POC), id="download"
        ),
        pytest.param("log.txt", at(), id="alone"),
        pytest.param("/log.txt", at(), id="alone-at-root"),
        pytest.param("/var/log/kern.log", at(), id="system-log"),
        pytest.param("C:\\log.txt", at(), id="drive-only"),
        pytest.param(f"/var/log/pods/ns_p_{JOB}/c/0.log", at(), id="container-log"),
        pytest.param("", at(), id="empty"),
        pytest.param("a/" * 2000, at(), id="too-long"),
    ],
)
def test_place(path: str, expected: Place) -> None:
    found = place(path)
    assert (found.site, found.job, found.process, found.workspace, found.mode) == (
        expected.site,
        expected.job,
        expected.process,
        expected.workspace,
        expected.mode,
    )


@pytest.mark.parametrize(
    ("file", "written"),
    [("log.txt", True), ("LOG.TXT.12", True), ("log.json.gz", True), ("con.log", False)],
)
def test_files_that_flare_writes(file: str, written: bool) -> None:
    assert is_flare_file(file) is written


@given(st.text(alphabet="/\\.:abcsite-1_é\x00" + JOB, max_size=80))
def test_any_text_is_a_path(path: str) -> None:
    found = place(path)
    assert "/" not in found.site
    assert "/" not in found.job
