"""Lines of FLARE's logs, of all its versions, and of what it runs on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.sources.flare import is_header, job_in, plain, read_line, read_text
from schemas.sources.shippers import Line

AT, AT_MS = "2026-03-01 08:00:00,250", 1772352000250
CTX = "[identity=site-1, run=simulate_job, peer=server, peer_rc=OK]"
JOB = "5b2f3d1c-0a4e-4c59-9f6e-7d1a2b3c4d5e"


@pytest.mark.parametrize(
    ("text", "level", "logger", "identity", "message"),
    [
        pytest.param(
            f"{AT} - FedAvg - INFO - {CTX} - Round 1 started.",
            "INFO",
            "FedAvg",
            "site-1",
            "Round 1 started.",
            id="since-2.6",
        ),
        pytest.param(
            f"{AT} - FedAvg - INFO - {CTX}: Round 1 started.",
            "INFO",
            "FedAvg",
            "site-1",
            "Round 1 started.",
            id="to-2.5",
        ),
        pytest.param(
            f"{AT} - FedAvg - ERROR - a - b - c", "ERROR", "FedAvg", "", "a - b - c", id="no-ctx"
        ),
        pytest.param(
            f"{AT} - nvflare.fuel.f3.sfm.conn_manager - INFO - up",
            "INFO",
            "conn_manager",
            "",
            "up",
            id="long-logger",
        ),
        pytest.param(f"{AT} - WARNING - slow", "WARNING", "", "", "slow", id="concise-console"),
        pytest.param(f"{AT} - odd line", "", "", "", "odd line", id="no-level"),
        pytest.param(
            f"\x1b[31m{AT} - A - ERROR - red\x1b[0m", "ERROR", "A", "", "red", id="colours"
        ),
        pytest.param(
            f"{AT} - A - INFO - [[1 2] - x", "INFO", "A", "", "[[1 2] - x", id="brackets-no-ctx"
        ),
        pytest.param(
            f"{AT} - A - INFO - [run=3]: ABORT", "INFO", "A", "", "ABORT", id="ctx-without-identity"
        ),
    ],
)
def test_text_records(text: str, level: str, logger: str, identity: str, message: str) -> None:
    found = read_line(Line(text=text + "\n"))
    assert found.header
    assert (found.level, found.logger, found.identity) == (level, logger, identity)
    assert (found.text, found.time_ms, found.stamp) == (message, AT_MS, AT)


def test_json_record() -> None:
    flare = {
        "asctime": AT,
        "name": "FedAvg",
        "fullName": "nvflare.x.FedAvg",
        "levelname": "ERROR",
        "fl_ctx": CTX,
        "message": "lost",
    }
    found = read_line(Line(text="lost", flare=flare))
    assert found == read_text(f"{AT} - FedAvg - ERROR - {CTX} - lost")


@pytest.mark.parametrize(
    ("text", "level", "logger", "time_ms"),
    [
        pytest.param(
            "E0301 08:00:00.250000 14087 add_port.cc:83] Failed",
            "ERROR",
            "add_port.cc",
            0,
            id="glog",
        ),
        pytest.param("[81234.678901] Out of memory: Killed", "", "kernel", 0, id="kernel"),
        pytest.param(
            'time="2026-03-01T08:00:00.25Z" level=warn msg="no \\"x\\""',
            "WARNING",
            "",
            AT_MS,
            id="logfmt",
        ),
    ],
)
def test_other_records(text: str, level: str, logger: str, time_ms: int) -> None:
    found = read_text(text)
    assert (found.header, found.level, found.logger, found.time_ms) == (
        True,
        level,
        logger,
        time_ms,
    )
    assert found.text == text


@pytest.mark.parametrize(
    "text",
    ["", "  File", "KeyError: 'x'", "2026-03-01 08:00:00 - no ms", "[12] x", "time=now", "Info: x"],
)
def test_lines_that_begin_nothing(text: str) -> None:
    assert not is_header(text)
    assert read_text(text).text == text


@pytest.mark.parametrize(
    ("text", "job"),
    [
        (f"run ({JOB}): child worker process finished with RC 1", JOB),
        (f"Job: {JOB} child process exit with return code 1", JOB),
        (f"Failing job {JOB} due to reported failure from site-1", JOB),
        (f"Launch job_id: {JOB}", JOB),
        (f"no connection to child server.{JOB}", JOB),
        (f"Verified SJ of dead-job: job_id='{JOB}'", JOB),
        (f'  File "/fl/site-1/{JOB}/app_site-1/custom/t.py", line 1', JOB),
        (f"got task assignment: name=train, id={JOB}", ""),
        (f"joined. Sent token: {JOB}.", ""),
        (f"download ref={JOB} done", ""),
        ("job", ""),
    ],
)
def test_jobs_in_messages(text: str, job: str) -> None:
    assert job_in(text) == job


@given(st.text(alphabet="\x1b[];0m-, 2026:IWE=identytsrun.]\r\n\"'", max_size=200))
def test_any_text_is_a_line(text: str) -> None:
    assert read_line(Line(text=text)).text is not None
    assert "\n" not in plain(text)[-1:]


def test_linear_on_long_lines() -> None:
    for piece in ("\x1b[", "[identity=", 'time="', f"{AT} - ", "job ", "\x1b]"):
        read_line(Line(text=piece * 50_000))
        job_in(piece * 50_000)
