"""A diagnosis for people: what the report says, in which order, and that nothing in it is live."""

import re

import pytest
from msgspec.structs import replace

from engine.inert import prose
from engine.report import (
    TABLE_COLUMNS,
    is_failure,
    markdown,
    moment,
    one_line,
    span,
    subject_words,
    table_cells,
    verdict_of,
)
from schemas.diagnosis import (
    Because,
    Completeness,
    Culprit,
    Diagnosis,
    Echo,
    Evidence,
    EvidenceSource,
    Finding,
    Missing,
    Recommendation,
    Recurrence,
    Route,
    Subject,
)

HOSTILE = (
    "\x1b[2J<script>@all</script> [x](http://evil.example) | `a` ``` \u202e#1 www.evil.example"
)


def evidence(text: str = "OOMKilled: killed", **source: object) -> Evidence:
    return Evidence(
        id="e1",
        signal="pod.oom_killed",
        text=text,
        source=EvidenceSource(**{"topic": "runai-pods", "record_id": "e1", **source}),  # type: ignore[arg-type]
        first_ms=1_778_572_800_000,
        last_ms=1_778_572_860_000,
        count=3,
    )


WORKLOAD = Diagnosis(
    schema="diagnosis/1",
    id="0123456789abcdef0123",
    revision=2,
    state="settled",
    family="runai",
    mode=None,
    subject=Subject(kind="workload", workload_id="w-1", workload_name="sft", project="nlp"),
    phase_or_status="Failed",
    event_time_ms=1_778_572_800_000,
    culprits=(Culprit(kind="pod", name="sft-0-0"),),
    category="OOM_KILLED",
    matched_pattern=None,
    recovery_category=None,
    subcause=None,
    recovery_owner="user",
    route=None,
    confidence="medium",
    summary="Container main of sft-0-0 was killed at its limit of 32Gi.",
    reasons=(Because(rule="oom", verdict="OOM_KILLED", why="direct", evidence=("e1",)),),
    rivals=(),
    evidence=(evidence(tool="get_workload_pods", pod="sft-0-0", container="main", offset=7),),
    missing_evidence=(
        Missing(
            what="memory samples", why="no peak was seen", next_command="kubectl top pod sft-0-0"
        ),
    ),
    findings=(),
    recurrence=Recurrence(
        category="OOM_KILLED",
        count=3,
        recurring=True,
        lookback_s=7 * 86_400,
        first_ms=1_778_400_000_000,
        last_ms=1_778_572_800_000,
    ),
    completeness=Completeness(expected=("a", "b"), seen=("a",), truncated=("b",)),
    recommendations=(Recommendation(owner="user", action="Raise the limit."),),
    echoes=(),
    catalog_digest="abc",
)
JOB = replace(
    WORKLOAD,
    family="flare",
    mode="poc_production",
    subject=Subject(kind="job", federation="default", job_id="j-1", job_name="unet"),
    phase_or_status="FINISHED:EXECUTION_EXCEPTION",
    category=None,
    matched_pattern="IMPORT_ERROR",
    recovery_category="FIXABLE_BY_CODE",
    culprits=(Culprit(kind="site", name="site-2"),),
    evidence=(
        evidence(
            "Traceback:\n  File x\nModuleNotFoundError: y",
            site="site-2",
            process="CJ",
            file="ws/site-2/log.txt",
        ),
    ),
    echoes=(
        Echo(where="server", signal="flare.bad_result", text="bad", time_ms=1_778_572_801_000),
    ),
)
ROUTED = replace(
    WORKLOAD,
    category=None,
    route=Route(name="preempted", reason="A more important workload took the resources."),
    recurrence=None,
)


@pytest.mark.parametrize(
    ("diagnosis", "line"),
    [
        pytest.param(WORKLOAD, "Category: OOM_KILLED", id="runai"),
        pytest.param(JOB, "Pattern: IMPORT_ERROR", id="flare"),
        pytest.param(ROUTED, "Route: preempted", id="route"),
    ],
)
def test_the_verdict_stands_alone_on_line_one(diagnosis: Diagnosis, line: str) -> None:
    assert markdown(diagnosis).splitlines()[:2] == [line, ""]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("Workload: sft | Phase: Failed | Project: nlp", id="subject"),
        pytest.param("Failed first: pod sft-0-0", id="culprit"),
        pytest.param("`OOMKilled: killed` (3 times, 2026-05-12 08:00:00 to", id="evidence"),
        pytest.param("source: get_workload_pods, runai-pods 0/7)", id="source"),
        pytest.param("3 OOM_KILLED failures in the last 7 days, recurring", id="history"),
        pytest.param("- Raise the limit.", id="recommendation"),
        pytest.param("- memory samples: no peak was seen Next: `kubectl top", id="missing"),
        pytest.param("seen 1 of 2 expected", id="completeness"),
        pytest.param("truncated: b", id="truncated"),
    ],
)
def test_a_workload_report_says(words: str) -> None:
    assert words in markdown(WORKLOAD)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("Job: j-1 (unet) | Status: FINISHED:EXECUTION_EXCEPTION", id="status"),
        pytest.param("Runtime mode: POC/production | Evidence sources: site-2/CJ", id="mode"),
        pytest.param("Confidence: medium | Recovery category: FIXABLE_BY_CODE", id="confidence"),
        pytest.param("- site-2/CJ: (3 times", id="site-and-process"),
        pytest.param("  ModuleNotFoundError: y\n  ```", id="traceback-as-a-block"),
        pytest.param("`ws/site-2/log.txt` at byte 0", id="file"),
        pytest.param("- server: `flare.bad_result` `bad`", id="echo"),
    ],
)
def test_a_job_report_says(words: str) -> None:
    assert words in markdown(JOB)


def test_a_route_says_why_and_blames_no_owner() -> None:
    text = markdown(ROUTED)
    assert "took the resources." in text
    assert "Who acts" not in text


def test_one_occurrence_is_one_off() -> None:
    once = WORKLOAD.recurrence and replace(WORKLOAD.recurrence, count=1, recurring=False)
    assert "1 OOM_KILLED failure in the last 7 days, one-off" in markdown(
        replace(WORKLOAD, recurrence=once)
    )


def hostile() -> Diagnosis:
    return replace(
        JOB,
        summary=HOSTILE,
        phase_or_status=HOSTILE,
        subject=Subject(kind="job", federation=HOSTILE, job_id=HOSTILE, job_name=HOSTILE),
        culprits=(Culprit(kind="site", name=HOSTILE),),
        evidence=(evidence(HOSTILE, site=HOSTILE), evidence(HOSTILE + "\n```\n# x", file=HOSTILE)),
        findings=(Finding(kind="SUSPICIOUS_LOG_CONTENT", where=HOSTILE, excerpt=HOSTILE),),
        missing_evidence=(Missing(what=HOSTILE, why=HOSTILE, next_command=HOSTILE),),
        echoes=(Echo(where=HOSTILE, signal=HOSTILE, text=HOSTILE, time_ms=0),),
        completeness=Completeness(expected=(HOSTILE,), truncated=(HOSTILE,), limits=(HOSTILE,)),
    )


def test_nothing_foreign_is_live_in_a_report() -> None:
    text = markdown(hostile())
    assert "\x1b" not in text
    assert "\u202e" not in text
    live = _outside_code(text)
    for mark in ("<script", "](", "@all", "www.evil", "http://", "#1"):
        assert mark not in live, mark


def _outside_code(text: str) -> str:
    """The report without its fenced blocks and code spans: what a renderer would interpret."""
    kept, fence = [], ""
    for line in text.splitlines():
        run = re.match(r"\s*(`{3,})\s*$", line)
        if fence:
            fence = "" if run and len(run[1]) >= len(fence) else fence
        elif run:
            fence = run[1]
        else:
            kept.append(line)
    assert not fence, "every block is closed"
    return re.sub(r"(?<![`\\])(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", "\n".join(kept))


def test_nothing_foreign_acts_on_a_terminal() -> None:
    for text in (one_line(hostile()), *table_cells(hostile())):
        assert text.isprintable(), text


def test_one_line_names_verdict_subject_and_count() -> None:
    assert one_line(WORKLOAD) == (
        "OOM_KILLED (medium) nlp/sft: Container main of sft-0-0 was killed at its limit of 32Gi. "
        "[3× in 7 days]"
    )


def test_a_row_has_a_cell_per_column() -> None:
    cells = dict(zip(TABLE_COLUMNS, table_cells(WORKLOAD), strict=True))
    assert cells["Subject"] == "nlp/sft"
    assert cells["How often"] == "3× in 7 days"
    assert table_cells(ROUTED)[1] == "→ preempted"


@pytest.mark.parametrize(
    ("diagnosis", "failed"),
    [
        pytest.param(WORKLOAD, True, id="category"),
        pytest.param(ROUTED, False, id="route"),
        pytest.param(replace(WORKLOAD, state="withdrawn"), False, id="withdrawn"),
        pytest.param(
            replace(JOB, matched_pattern="SUSPICIOUS_LOG_CONTENT"), False, id="bare-finding"
        ),
    ],
)
def test_what_counts_as_a_failure(diagnosis: Diagnosis, failed: bool) -> None:
    assert is_failure(diagnosis) is failed


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        pytest.param(Subject(kind="workload", workload_id="w"), "w", id="id-only"),
        pytest.param(
            Subject(kind="owner", namespace="data", workload_name="Job/x"), "data/Job/x", id="owner"
        ),
        pytest.param(Subject(kind="job", job_id="j"), "job j", id="job"),
        pytest.param(Subject(kind="site", site="site-1"), "site site-1", id="site"),
        pytest.param(Subject(kind="site", site="server"), "server", id="server"),
    ],
)
def test_a_subject_has_a_short_name(subject: Subject, words: str) -> None:
    assert subject_words(subject) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("at its limit of 32Gi, twice.", "at its limit of 32Gi, twice.", id="plain"),
        pytest.param("in /data/x.csv, line 3", "in `/data/x.csv`, line 3", id="path"),
        pytest.param("see http://a.example/b", "see `http://a.example/b`", id="address"),
        pytest.param("- not a list", "\\- not a list", id="dash"),
        pytest.param("ask @root now", "ask `@root` now", id="mention"),
    ],
)
def test_prose_stays_readable(text: str, shown: str) -> None:
    assert prose(text) == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(86_400, "24 h"), (604_800, "7 days"), (5_400, "90 min"), (3_600, "1 h"), (61, "61 s")],
)
def test_spans_in_words(seconds: int, words: str) -> None:
    assert span(seconds) == words


def test_unknown_times_are_said() -> None:
    assert (moment(0), moment(1_778_572_800_999)) == ("?", "2026-05-12 08:00:00")


def test_the_verdict_is_one_word() -> None:
    assert [verdict_of(d) for d in (WORKLOAD, JOB, ROUTED)] == [
        "OOM_KILLED",
        "IMPORT_ERROR",
        "preempted",
    ]
