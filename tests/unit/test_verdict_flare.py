"""The verdict over FLARE jobs and sites: a named row for each rule of seed 004 and the facts.

Observations are made by hand: what a line says is the catalog's business, what it means is here.
"""

import random
from typing import Any, NamedTuple

import pytest

from engine.verdict.common import Context, Verdict
from engine.verdict.flare import judge_job, judge_site
from matchers.rules import Rules
from schemas.diagnosis import Subject
from schemas.entry import Merge, Where
from schemas.observation import Observation, Sample

RULES = Rules.load()
JOB = "11111111-2222-4333-8444-555555555555"
START = 1_700_000_000_000
A, B, SERVER = "alpha", "beta", "server"
FACTS = ("job.meta", "job.deploy", "job.schedule", "job.submit", "job.report", "site.logs")


def seen(
    signal: str,
    site: str = "",
    at: int = 0,
    *,
    text: str = "",
    reason: str = "",
    job: str = JOB,
    until: int | None = None,
    workspace: str = "",
    suspicious: bool = False,
    **attrs: str | int,
) -> Observation:
    """One observation `at` seconds after the start."""
    first = START + at * 1000
    merge: Merge = "state" if signal in FACTS else "line"
    return Observation(
        signal=signal,
        where=Where(site=site, job=job, federation="f", workspace=workspace),
        merge=merge,
        first_ms=first,
        last_ms=first if until is None else START + until * 1000,
        reason=reason,
        attrs={"mode": "poc_production", **attrs},
        samples=(Sample(record_id=f"{signal}@{site}+{at}", time_ms=first, text=text or signal),),
        suspicious=suspicious,
    )


def meta(status: str, at: int = 900) -> Observation:
    return seen("job.meta", "", at, reason=status)


FAILED = meta("FINISHED:EXECUTION_EXCEPTION")
COMPLETED = meta("FINISHED:COMPLETED")
ABORTED = meta("FINISHED:ABORTED")


def present(*sites: str) -> list[Observation]:
    return [seen("stream.seen", site) for site in sites]


def raised(site: str, at: int, **attrs: str | int) -> Observation:
    told: dict[str, Any] = {
        "owner": "user",
        "exception": "KeyError",
        "user_file": f"/w/{site}/custom/fit.py",
        "user_function": "step",
        "user_line": 7,
    }
    return seen("flare.user_exception", site, at, **{**told, **attrs})


def refused(site: str, at: int) -> Observation:
    return seen("echo.bad_result", SERVER, at, about=site, code="EXECUTION_EXCEPTION", peer=site)


def accepted(site: str, at: int) -> Observation:
    return seen("progress.result_accepted", SERVER, at, peer=site, peer_rc="OK")


def judge(observations: list[Observation], **context: Any) -> Verdict | None:
    newest = max((item.last_ms for item in observations), default=START)
    settings: dict[str, Any] = {"as_of_ms": newest, "final": True, **context}
    subject = Subject(kind="job", federation="f", job_id=JOB)
    return judge_job(observations, Context(subject=subject, rules=RULES, **settings))


class Case(NamedTuple):
    """Observations, and the verdict: pattern, culprits, confidence."""

    name: str
    observations: list[Observation]
    pattern: str | None
    culprits: tuple[str, ...] = ()
    confidence: str = "high"


TIMEOUT = seen("flare.task_timeout", SERVER, 60)
NOT_ANSWERING = seen("flare.site_not_answering", SERVER, 61, about=B)
TRANSFER_TIMEOUT = seen("flare.transfer_timeout", A, 100)
GONE = seen("flare.peer_gone", A, 100)


def counter(at: int, *values: int) -> Observation:
    """A counter that was seen with these values, a second apart."""
    first = START + at * 1000
    return Observation(
        signal="progress.transfer_growing",
        where=Where(site=A, job=JOB, federation="f"),
        merge="line",
        first_ms=first,
        last_ms=first + 1000 * (len(values) - 1),
        count=len(values),
        samples=tuple(
            Sample(record_id=f"c{i}", time_ms=first + 1000 * i, text=f"bytes_done={value}")
            for i, value in enumerate(values)
        ),
    )


CASES = [
    Case("1 nothing wrong", [*present(SERVER, A), accepted(A, 5), COMPLETED], None),
    Case("1 noise of a healthy end", [seen("echo.stream_noise", SERVER, 9), COMPLETED], None),
    Case(
        "1 what is handled is cancelled by the update that follows",
        [seen("flare.cuda_oom", A, 3), accepted(A, 9), FAILED, raised(B, 20), refused(B, 21)],
        "USER_CODE_EXCEPTION",
        (B,),
    ),
    Case(
        "1 a success of another site cancels nothing",
        [seen("flare.cuda_oom", A, 3), accepted(B, 9), FAILED],
        "CUDA_OOM",
        (A,),
    ),
    Case(
        "1 an unconfirmed traceback of a completed job", [raised(A, 3), COMPLETED], None
    ),
    Case(
        "1 a confirmed failure of a completed job",
        [raised(A, 3), seen("echo.task_failed", A, 4), accepted(B, 9), COMPLETED],
        "USER_CODE_EXCEPTION",
        (A,),
    ),
    Case(
        "1 unanswered: a completed job whose site never delivered",
        [seen("flare.import_error", A, 3), accepted(B, 9), TIMEOUT, COMPLETED],
        "IMPORT_ERROR",
        (A,),
    ),
    Case(
        "8 a site's import error before the server's timeout",
        [seen("flare.import_error", B, 5), TIMEOUT, NOT_ANSWERING, FAILED],
        "IMPORT_ERROR",
        (B,),
    ),
    Case(
        "8 inside a config error",
        [seen("flare.import_error", A, 5), seen("flare.config_invalid", A, 5), FAILED],
        "IMPORT_ERROR",
        (A,),
    ),
    Case(
        "6 not an infrastructure error although RC 104 says so",
        [
            seen("flare.component_not_authorized", A, 5),
            seen("flare.component_not_authorized", B, 6),
            seen("echo.job_failure_reported", SERVER, 7, about=A, code="infrastructure error"),
            meta("FINISHED:ABNORMAL"),
        ],
        "COMPONENT_NOT_AUTHORIZED",
        (A, B),
    ),
    Case(
        "10 the specific error before user code",
        [raised(A, 5), seen("flare.cuda_oom", A, 5), refused(A, 6), FAILED],
        "CUDA_OOM",
        (A,),
    ),
    Case(
        "11 a personal path before any path",
        [seen("flare.missing_path", A, 5), seen("flare.personal_path", A, 5), FAILED],
        "ABSOLUTE_DATA_PATH",
        (A,),
    ),
    Case(
        "12 each site on its own",
        [seen("flare.missing_path", A, 5), seen("flare.missing_path", B, 6), FAILED],
        "DATA_PATH_NOT_FOUND",
        (A, B),
    ),
    Case(
        "12 FLARE's own files are no data",
        [seen("flare.missing_path", A, 5, owner="flare"), FAILED],
        "UNKNOWN",
        (),
        "low",
    ),
    Case(
        "13 until the end",
        [seen("flare.dot6", A, 5, until=50), FAILED],
        "DATUM_OBJECT_TYPE_6",
        (A,),
    ),
    Case(
        "13 any later success makes it transient",
        [seen("flare.dot6", A, 5), seen("progress.task_received", B, 9), FAILED],
        "UNKNOWN",
        (),
        "low",
    ),
    Case(
        "13 on the way back only an accepted update counts",
        [seen("flare.dot6_result", A, 5), seen("progress.task_received", A, 9), FAILED],
        "DATUM_OBJECT_TYPE_6",
        (A,),
    ),
    Case(
        "14 the abort of the others is an echo",
        [raised(A, 5), refused(A, 6), raised(B, 8, echo=1, owner="flare"), FAILED],
        "USER_CODE_EXCEPTION",
        (A,),
    ),
    Case(
        "14 a site before the server",
        [raised(A, 5), seen("flare.import_error", SERVER, 9), refused(A, 6), FAILED],
        "USER_CODE_EXCEPTION",
        (A,),
    ),
    Case(
        "15 unexplained",
        [seen("flare.exit_neg9", A, 5), refused(A, 6), FAILED],
        "PROCESS_EXIT_NEG9",
        (A,),
        "medium",
    ),
    Case(
        "15 the host says memory",
        [seen("flare.exit_neg9", A, 5), seen("flare.host_oom", A, 4, job=""), FAILED],
        "PROCESS_EXIT_NEG9",
        (A,),
    ),
    Case(
        "15 ended on purpose",
        [seen("cleanup.abort_command", A, 3), seen("flare.exit_neg9", A, 5), ABORTED],
        "UNKNOWN",
        (),
        "low",
    ),
    Case(
        "15 clean-up elsewhere explains nothing",
        [seen("cleanup.abort_command", B, 3), seen("flare.exit_neg9", A, 5), FAILED],
        "PROCESS_EXIT_NEG9",
        (A,),
        "medium",
    ),
    Case(
        "15 clean-up long before explains nothing",
        [seen("cleanup.own_kill", A, 3), seen("flare.exit_neg9", A, 700), FAILED],
        "PROCESS_EXIT_NEG9",
        (A,),
        "medium",
    ),
    Case(
        "15 a traceback after the exit is its consequence",
        [seen("flare.exit_neg9", A, 5), raised(A, 6), FAILED],
        "PROCESS_EXIT_NEG9",
        (A,),
        "medium",
    ),
    Case(
        "15 the record says aborted",
        [seen("cleanup.abort_command", B, 3), seen("flare.exit_neg9", SERVER, 5), ABORTED],
        "UNKNOWN",
        (),
        "low",
    ),
    Case(
        "15 aborted only after the kill",
        [seen("flare.exit_neg9", A, 5), seen("cleanup.abort_command", B, 300), ABORTED],
        "PROCESS_EXIT_NEG9",
        (A,),
        "medium",
    ),
    Case("15 an operator's abort", [seen("cleanup.abort_command", A, 3), ABORTED], None),
    Case(
        "15 a log that stops, RC 101",
        [seen("flare.worker_exit", A, 9, rc=101), FAILED],
        "UNKNOWN",
        (),
        "low",
    ),
    Case(
        "16 progress after the time limit",
        [TRANSFER_TIMEOUT, counter(110, 10, 20), FAILED],
        "TRANSFER_PROGRESS_TIMEOUT",
    ),
    Case("16 a frozen counter", [TRANSFER_TIMEOUT, counter(110, 10, 10), FAILED],
         "PEER_GONE_OR_TIMEOUT", (A,)),
    Case("16 growth long before", [TRANSFER_TIMEOUT, counter(-900, 10, 20), FAILED],
         "PEER_GONE_OR_TIMEOUT", (A,)),
    Case(
        "16 a finished download does not revive a dead peer",
        [GONE, seen("progress.transfer_done", A, 99), FAILED],
        "PEER_GONE_OR_TIMEOUT",
        (A,),
    ),
    Case(
        "17 liveness before the timeout",
        [seen("flare.site_lost", SERVER, 50, about=B), TIMEOUT, *present(B), FAILED],
        "PEER_GONE_OR_TIMEOUT",
        (B,),
    ),
    Case(
        "17 only the server speaks",
        [seen("flare.site_lost", SERVER, 50, about=B), FAILED],
        "PEER_GONE_OR_TIMEOUT",
        (B,),
        "medium",
    ),
    Case(
        "17 everybody lost the server",
        [
            seen("flare.target_unreachable", A, 50, target=SERVER),
            seen("flare.target_unreachable", B, 50, target=SERVER),
            FAILED,
        ],
        "PEER_GONE_OR_TIMEOUT",
        (SERVER,),
        "medium",
    ),
    Case(
        "18 the awaited site is named",
        [TIMEOUT, NOT_ANSWERING, *present(SERVER, B), FAILED],
        "ROUND_TIMEOUT",
        (B,),
    ),
    Case(
        "18 its log is not there",
        [TIMEOUT, NOT_ANSWERING, *present(SERVER), FAILED],
        "ROUND_TIMEOUT",
        (B,),
        "medium",
    ),
    Case(
        "18 the awaited site is the one without results, the job completed",
        [
            seen("progress.expected_sites", SERVER, 1, sites=f"['{A}', '{B}']"),
            seen("progress.result_received", SERVER, 30, about=A),
            TIMEOUT,
            *present(B),
            COMPLETED,
        ],
        "ROUND_TIMEOUT",
        (B,),
    ),
    Case(
        "19 denied logs before the server's timeout",
        [
            TIMEOUT,
            seen("site.logs", B, reason="unavailable"),
            seen("site.logs", SERVER, reason="truncated"),
            FAILED,
        ],
        "PARTIAL_LOG_VISIBILITY",
        (),
        "low",
    ),
    Case(
        "19 sites that an answer for all leaves out",
        [
            refused(A, 5),
            seen("site.logs", SERVER, reason="available"),
            seen("job.deploy", A),
            seen("job.deploy", B),
            FAILED,
        ],
        "PARTIAL_LOG_VISIBILITY",
        (),
        "low",
    ),
    Case(
        "19 a log that was never streamed",
        [
            seen("echo.log_stream_broken", SERVER, 5, about=B),
            seen("echo.run_aborted", SERVER, 6),
            FAILED,
        ],
        "PARTIAL_LOG_VISIBILITY",
        (),
        "low",
    ),
    Case("20 only the end is known", [FAILED], "UNKNOWN", (), "low"),
    Case("20 running", [seen("progress.round_started", SERVER, 3), meta("RUNNING")], None),
    Case("20 somebody reports", [seen("job.report", text="it failed")], "UNKNOWN", (), "low"),
    Case(
        "7 the scheduler alone",
        [seen("flare.resources_short", SERVER, 3), meta("SUBMITTED")],
        "RESOURCE_EXCEEDS_HOST_CAPACITY",
        (),
        "medium",
    ),
    Case(
        "7 busy, then scheduled",
        [
            seen("flare.resources_short", "", 3),
            seen("progress.task_received", A, 9),
            raised(A, 10),
            FAILED,
        ],
        "USER_CODE_EXCEPTION",
        (A,),
    ),
    Case(
        "3 a blocked job takes the cause of its sites",
        [
            seen("flare.sites_short", SERVER, 30),
            meta("SUBMITTED"),
            seen("flare.site_disabled", SERVER, 3, job="", about=B),
            seen("flare.client_quit", B, 5, job=""),
        ],
        "SITE_AUTHORIZATION_FAILURE",
        (B,),
    ),
    Case(
        "3 refused in the deploy detail",
        [seen("flare.not_permitted", B), meta("FINISHED:FAILED_TO_RUN")],
        "SITE_AUTHORIZATION_FAILURE",
        (B,),
    ),
    Case(
        "2 dates before the trust that fails with them",
        [
            seen("flare.sites_short", SERVER, 30),
            seen("flare.cert_expired", B, 3, job=""),
            seen("flare.auth_rejected", B, 3, job=""),
        ],
        "STARTUP_KIT_EXPIRED",
        (B,),
    ),
    Case(
        "cut off: the evidence's log is not whole",
        [seen("flare.cuda_oom", A, 5), seen("site.logs", A, reason="truncated"), FAILED],
        "CUDA_OOM",
        (A,),
        "medium",
    ),
    Case(
        "suspicious text is no evidence",
        [seen("flare.cuda_oom", A, 5, suspicious=True), raised(A, 6), refused(A, 7), FAILED],
        "USER_CODE_EXCEPTION",
        (A,),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_rules(case: Case) -> None:
    verdict = judge(case.observations)
    if case.pattern is None:
        assert verdict is None
        return
    assert verdict is not None
    assert verdict.matched_pattern == case.pattern
    assert tuple(culprit.name for culprit in verdict.culprits) == case.culprits
    assert verdict.confidence == case.confidence
    assert verdict.recovery_category == RULES.patterns[case.pattern].recovery_category
    assert verdict.recommendations[0].action == RULES.patterns[case.pattern].action
    assert verdict.confidence == "high" or verdict.missing_evidence
    assert verdict.summary.startswith(case.pattern)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_order_does_not_matter(case: Case) -> None:
    shuffled = list(case.observations)
    random.Random(case.name).shuffle(shuffled)
    newest = max(item.last_ms for item in case.observations)
    assert judge(shuffled, as_of_ms=newest) == judge(case.observations, as_of_ms=newest)


def injected(site: str, at: int = 5) -> Observation:
    return seen(
        "log.suspicious", site, at, text="run this", suspicious=True,
        families="run-this", rules="download-and-run", score=6,
    )  # fmt: skip


def test_injected_text_of_a_healthy_job_blames_nobody() -> None:
    verdict = judge([injected(A), accepted(A, 9), COMPLETED])
    assert verdict is not None
    assert verdict.matched_pattern == "SUSPICIOUS_LOG_CONTENT"
    assert verdict.culprits == ()
    assert [finding.kind for finding in verdict.findings] == ["SUSPICIOUS_LOG_CONTENT"]


def test_injected_text_of_a_failed_job_names_its_source_at_most() -> None:
    verdict = judge([injected(A), FAILED])
    assert verdict is not None
    assert (verdict.matched_pattern, verdict.confidence) == ("SUSPICIOUS_LOG_CONTENT", "low")
    assert [culprit.name for culprit in verdict.culprits] == [A]


def test_injected_text_beside_a_cause_changes_neither_cause_nor_confidence() -> None:
    with_text = judge([injected(B), raised(A, 6), refused(A, 7), FAILED])
    without = judge([raised(A, 6), refused(A, 7), FAILED])
    assert with_text is not None
    assert without is not None
    assert with_text.matched_pattern == without.matched_pattern
    assert with_text.confidence == without.confidence
    assert with_text.culprits == without.culprits
    assert {finding.kind for finding in with_text.findings} == {"SUSPICIOUS_LOG_CONTENT"}


@pytest.mark.parametrize(
    ("signal", "gone"),
    [
        ("flare.peer_gone", "PEER_GONE_OR_TIMEOUT"),
        ("flare.task_timeout", "ROUND_TIMEOUT"),
        ("flare.auth_rejected", "AUTH_FAILURE"),
        ("flare.deployment_failed", "INFRASTRUCTURE_DEPLOYMENT_FAILURE"),
    ],
)
def test_patterns_of_production_do_not_exist_in_a_simulation(signal: str, gone: str) -> None:
    workspace = f"/sim/{JOB}"
    own = [
        seen("stream.seen", A, 0, job="", workspace=workspace, mode="simulation"),
        seen(signal, A, 5, job="", workspace=workspace, mode="simulation"),
        seen("echo.run_aborted", SERVER, 9, job="", workspace=workspace, mode="simulation"),
    ]
    verdict = judge(own)
    assert verdict is not None
    assert verdict.mode == "simulation"
    assert verdict.matched_pattern == "UNKNOWN"
    assert gone in {rival.rule for rival in verdict.rivals}
    assert all("nvflare job" not in m.next_command for m in verdict.missing_evidence)


def test_a_driver_that_fails_is_nobodys_fault_and_simulation_only() -> None:
    broken = seen("flare.driver_exception", "local", 5, job="", workspace=f"/s/{JOB}",
                  mode="simulation", owner="driver", exception="TypeError")  # fmt: skip
    verdict = judge([broken])
    assert verdict is not None
    assert verdict.matched_pattern == "SIMULATION_CONFIG_ERROR"
    assert verdict.culprits == ()


def test_nothing_names_the_mode() -> None:
    report = seen("job.report", text="it failed again")
    report.attrs.pop("mode")
    verdict = judge([report])
    assert verdict is not None
    assert (verdict.mode, verdict.confidence) == ("ambiguous", "low")
    assert "MODE_AMBIGUOUS" in {finding.kind for finding in verdict.findings}


def test_stall_needs_the_set_time() -> None:
    started = [seen("progress.round_started", SERVER, 0), meta("RUNNING", 1)]
    assert judge(started, as_of_ms=START + 60_000, stall_ms=120_000) is None
    verdict = judge(started, as_of_ms=START + 200_000, stall_ms=120_000)
    assert verdict is not None
    assert (verdict.matched_pattern, verdict.subcause) == ("UNKNOWN", "stalled")


def test_the_summary_names_site_file_and_function() -> None:
    verdict = judge([raised(A, 6), refused(A, 7), FAILED])
    assert verdict is not None
    for part in ("USER_CODE_EXCEPTION", A, "KeyError", "fit.py", "step", "line 7"):
        assert part in verdict.summary


def test_hostile_names_stay_out_of_commands_and_short() -> None:
    name = "x; rm -rf /" + "y" * 5000
    verdict = judge([seen("flare.exit_neg9", name, 5, exception=name), FAILED])
    assert verdict is not None
    assert len(verdict.summary) <= 400
    assert all("rm -rf" not in item.next_command for item in verdict.missing_evidence)


# ---------------------------------------------------------------- sites


def judge_at(site: str, observations: list[Observation]) -> Verdict | None:
    newest = max(item.last_ms for item in observations)
    subject = Subject(kind="site", federation="f", site=site)
    context = Context(subject=subject, as_of_ms=newest, rules=RULES, final=True)
    return judge_site(observations, context)


def outside(signal: str, site: str, at: int = 0, **attrs: Any) -> Observation:
    return seen(signal, site, at, job="", **attrs)


HANDSHAKE = outside("flare.handshake_expired", SERVER, 5)
JOINED_A = outside("progress.client_joined", SERVER, 6, about=A)

SITES = [
    # name, site, observations, pattern, culprits, confidence
    ("own console", A, [outside("flare.kit_tampered", A, 3)], "AUTH_FAILURE", (A,), "high"),
    ("another's trouble", B, [outside("flare.kit_tampered", A, 3)], None, (), ""),
    ("recovered", A, [outside("flare.auth_rejected", A, 3), JOINED_A], None, (), ""),
    ("handshake of the only one that knocks", B,
     [HANDSHAKE, JOINED_A, outside("flare.connect_retry", B, 5),
      outside("flare.connect_retry", A, 4)], "STARTUP_KIT_EXPIRED", (B,), "medium"),
    ("handshake that two could have caused", SERVER,
     [HANDSHAKE, outside("flare.connect_retry", B, 5), outside("flare.connect_retry", A, 4)],
     "STARTUP_KIT_EXPIRED", (), "medium"),
    ("handshake at another time", SERVER,
     [HANDSHAKE, JOINED_A, outside("flare.connect_retry", B, 500)],
     "STARTUP_KIT_EXPIRED", (), "medium"),
    ("the server does not take the blame of a site", SERVER,
     [HANDSHAKE, JOINED_A, outside("flare.connect_retry", B, 5)], None, (), ""),
    ("a site without records of its own", SERVER,
     [outside("flare.site_disabled", SERVER, 3, about="gamma")],
     "SITE_AUTHORIZATION_FAILURE", ("gamma",), "medium"),
    ("a server that is down", SERVER,
     [outside("flare.deployment_failed", SERVER, 3), outside("flare.connect_failed", A, 9)],
     "INFRASTRUCTURE_DEPLOYMENT_FAILURE", (SERVER,), "high"),
    ("who cannot reach a server that is down", A,
     [outside("flare.deployment_failed", SERVER, 3), outside("flare.connect_failed", A, 9)],
     None, (), ""),
    ("cannot get in, nobody knows why", A,
     [outside("flare.connect_failed", A, 9)], "PEER_GONE_OR_TIMEOUT", (A,), "medium"),
    ("retries alone", A, [outside("flare.connect_retry", A, 9)], None, (), ""),
    ("started, never registered", B,
     [outside("progress.server_started", SERVER, 1), JOINED_A, outside("stream.seen", B, 2)],
     "UNKNOWN", (), "low"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "site", "observations", "pattern", "culprits", "confidence"),
    SITES,
    ids=[row[0] for row in SITES],
)
def test_sites(
    name: str,
    site: str,
    observations: list[Observation],
    pattern: str | None,
    culprits: tuple[str, ...],
    confidence: str,
) -> None:
    verdict = judge_at(site, observations)
    if pattern is None:
        assert verdict is None
        return
    assert verdict is not None
    assert verdict.matched_pattern == pattern
    assert tuple(culprit.name for culprit in verdict.culprits) == culprits
    assert verdict.confidence == confidence


def test_a_start_loop_is_one_incident() -> None:
    verdict = judge_at(A, [seen("flare.kit_tampered", A, 3, job="", until=300)])
    assert verdict is not None
    assert verdict.recurrence is not None
    assert (verdict.recurrence.count, verdict.recurrence.recurring) == (1, False)
