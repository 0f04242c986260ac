"""The command as its user meets it: output, exit codes, selectors, messages."""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from schemas.codec import decode
from schemas.diagnosis import Diagnosis
from streams.cli import replay as replay_module
from streams.cli.main import main
from streams.inputs import Reader
from streams.settings import SettingsError, load_settings, parse_span, parse_time

HERE, ELSEWHERE = "cluster-here", "cluster-elsewhere"
OLD, NEW, RUNNING, FINE = (f"0000000{n}-0000-4000-8000-000000000000" for n in range(4))
JOB = "0b0c7f6e-5c3f-4a53-9a53-1d3a4f5b6c7d"


def workload(
    workload_id: str, at: str, phase: str, message: str = "", **more: str
) -> dict[str, Any]:
    return {
        "id": workload_id,
        "name": "sft",
        "clusterId": HERE,
        "projectName": "nlp",
        "namespace": "runai-nlp",
        "createdAt": "2026-05-12T01:00:00Z",
        "phase": phase,
        "phaseMessage": message,
        "phaseUpdatedAt": at,
        "updatedAt": at,
        "k8sPhase": phase,
        "conditions": [],
        "events": [],
        **more,
    }


def killed(workload_id: str, at: str) -> dict[str, Any]:
    """A failed workload whose pod was killed for its memory."""
    found = workload(workload_id, at, "Failed", "Container main was OOM killed")
    event = {
        "createdAt": at,
        "id": f"event-{workload_id}",
        "type": "Warning",
        "clusterId": HERE,
        "reason": "OOMKilled",
        "message": "Container main was OOM killed",
        "source": "kubelet",
        "involvedObject": {"uid": workload_id, "kind": "Pod", "name": "sft-0", "namespace": "x"},
    }
    return {**found, "events": [event]}


WORKLOADS = {
    "workloads": [
        killed(OLD, "2026-05-12T02:00:00Z"),
        killed(NEW, "2026-05-12T05:00:00Z"),
        workload(RUNNING, "2026-05-12T06:00:00Z", "Running"),
        workload(FINE, "2026-05-12T07:00:00Z", "Completed", name="embed", projectName="data"),
    ]
}
LOG = f"""2026-05-12 09:00:01,120 - ClientRunner - INFO - [identity=site-1, run={JOB}] - started
2026-05-12 09:00:02,120 - TaskScriptRunner - ERROR - Traceback (most recent call last):
  File "/opt/ws/site-1/{JOB}/app_site-1/custom/train.py", line 3, in <module>
    import monai
ModuleNotFoundError: No module named 'monai'
"""


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "workloads.json"
    path.write_bytes(orjson.dumps(WORKLOADS, option=orjson.OPT_INDENT_2))
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws" / "site-1" / JOB
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text(LOG)
    return tmp_path / "ws"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CATALOG", "CLUSTER", "FEDERATION", "LOOKBACK", "STALL", "SETTINGS"):
        monkeypatch.delenv(f"CAUSESTREAM_{name}", raising=False)


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def diagnosed(*arguments: str | Path, stdin: bytes | None = None) -> list[Diagnosis]:
    result = run("replay", *arguments, "--format", "jsonl", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return [decode(line.encode(), Diagnosis) for line in result.stdout.splitlines()]


def verdict(diagnosis: Diagnosis) -> str | None:
    if diagnosis.route is not None:
        return f"route:{diagnosis.route.name}"
    return diagnosis.category or diagnosis.matched_pattern


# --- output ------------------------------------------------------------------------------------


def test_jsonl_is_one_diagnosis_a_line_and_nothing_else(records: Path) -> None:
    found = diagnosed(records)
    assert [item.subject.workload_id for item in found] == [OLD, NEW]
    assert {verdict(item) for item in found} == {"OOM_KILLED"}


def test_the_same_from_a_file_from_gzip_and_from_standard_input(records: Path) -> None:
    data = records.read_bytes()
    packed = records.with_suffix(".gz")
    packed.write_bytes(gzip.compress(data))
    outputs = {
        run("replay", records, "--format", "jsonl").stdout,
        run("replay", packed, "--format", "jsonl").stdout,
        run("replay", "-", "--format", "jsonl", stdin=data).stdout,
    }
    assert len(outputs) == 1


def test_a_table_row_is_one_line_in_a_pipe(records: Path) -> None:
    lines = run("replay", records).stdout.splitlines()
    assert lines[0].split()[:2] == ["Subject", "Verdict"]
    assert len(lines) == 3
    assert lines[1].startswith("nlp/sft  OOM_KILLED")


def test_markdown_has_the_verdict_on_line_one(workspace: Path) -> None:
    text = run("replay", workspace, "--format", "markdown").stdout
    assert text.startswith("Pattern: IMPORT_ERROR\n\nJob: ")


def test_out_replaces_the_file_and_leaves_stdout_empty(records: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    out.write_text("old")
    result = run("replay", records, "--format", "jsonl", "--out", out)
    assert result.stdout == ""
    assert len(out.read_text().splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.jsonl", "workloads.json"]


def test_all_revisions_come_in_order(records: Path) -> None:
    found = diagnosed(records, "--all-revisions")
    numbers = [item.revision for item in found if item.subject.workload_id == NEW]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 1


def test_the_count_of_what_was_read_goes_to_stderr(records: Path) -> None:
    assert "2 diagnoses" in run("replay", records).stderr


def test_nothing_found_is_said(workspace: Path) -> None:
    (workspace / "site-1" / JOB / "log.txt").write_text(LOG.splitlines()[0])
    result = run("replay", workspace)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing was found to diagnose" in result.stderr


def test_what_a_log_says_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "site-1" / "log.txt"
    path.parent.mkdir()
    path.write_text(LOG.replace("'monai'", "'mo\x1b[2Jn\u202eai'"))
    for shape in ("table", "markdown", "jsonl"):
        text = run("replay", path, "--format", shape).stdout
        assert "\x1b" not in text
        assert "\u202e" not in text


# --- exit codes --------------------------------------------------------------------------------


def test_exit_1_only_when_asked_and_only_for_failures(records: Path, tmp_path: Path) -> None:
    assert run("replay", records).exit_code == 0
    assert run("replay", records, "--exit-code").exit_code == 1
    fine = tmp_path / "fine.json"
    fine.write_bytes(orjson.dumps(WORKLOADS["workloads"][3]))
    assert run("replay", fine, "--exit-code").exit_code == 0
    assert run("replay", fine, "--workload", FINE, "--exit-code").exit_code == 0


def test_exit_3_names_what_could_not_be_read_and_does_the_rest(records: Path) -> None:
    result = run("replay", records, records.parent / "absent", "--exit-code")
    assert result.exit_code == 3
    assert "absent: there is no such file or folder" in result.stderr
    assert result.stdout.count("OOM_KILLED") == 2


def test_a_broken_record_is_a_dead_letter(records: Path, tmp_path: Path) -> None:
    broken = tmp_path / "dump.jsonl"
    broken.write_bytes(b'{"topic":"runai-phases","value":{"id":"x",\n')
    result = run("replay", records, broken)
    assert result.exit_code == 3
    assert "dead letters, not_json: 1" in result.stderr


def test_a_tombstone_is_no_loss(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(b'{"topic":"runai-phases","key":"k","value":null,"partition":0,"offset":0}\n')
    assert run("replay", dump).exit_code == 0


def test_interrupted_it_says_what_is_known(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Reader):
        def read(self) -> Iterator[Any]:
            yield from super().read()
            raise KeyboardInterrupt

    monkeypatch.setattr(replay_module, "Reader", Interrupted)
    result = run("replay", records)
    assert result.exit_code == 130
    assert result.stdout.count("OOM_KILLED") == 2
    assert "interrupted" in result.stderr


# --- selectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(["--workload", NEW], (NEW, "OOM_KILLED"), id="by-id"),
        pytest.param(
            ["--workload", RUNNING], (RUNNING, "route:running-no-symptom"), id="a-route-too"
        ),
        pytest.param(["--workload", FINE], (FINE, "route:completed"), id="completed"),
        pytest.param(
            ["--workload", "sft", "--project", "nlp", "--intent", "terminal"],
            (NEW, "OOM_KILLED"),
            id="newest-that-ended",
        ),
        pytest.param(
            ["--workload", "sft", "--project", "nlp"], (NEW, "OOM_KILLED"), id="no-intent"
        ),
        pytest.param(
            ["--workload", "sft", "--project", "nlp", "--as-of", "2026-05-12T03:00:00Z"],
            (OLD, "OOM_KILLED"),
            id="as-of",
        ),
        pytest.param(
            ["--workload", NEW, "--cluster", ELSEWHERE], (NEW, "route:cluster-mismatch"), id="wrong"
        ),
        pytest.param(["--workload", NEW, "--cluster", HERE], (NEW, "OOM_KILLED"), id="right"),
    ],
)
def test_a_named_workload_gets_one_answer(
    records: Path, options: Sequence[str], expected: tuple[str, str]
) -> None:
    (answer,) = diagnosed(records, *options)
    assert (answer.subject.workload_id, verdict(answer)) == expected
    if expected[1] == "route:cluster-mismatch":
        assert answer.evidence[0].text == f"clusterId={HERE}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(["--workload", "sft"], "add --project", id="name-without-project"),
        pytest.param(["--workload", "sft", "--project", "x"], "it is in nlp", id="wrong-project"),
        pytest.param(["--workload", "absent"], "the records name embed, sft", id="unknown"),
        pytest.param(
            ["--workload", "sft", "--project", "nlp", "--intent", "active"],
            "name one by its id",
            id="nothing-confirmed",
        ),
        pytest.param(["--job", JOB], "the records name none", id="unknown-job"),
        pytest.param(["--intent", "active"], "add --workload", id="intent-alone"),
        pytest.param(["--lookback", "soon"], "as in 24h", id="span"),
        pytest.param(["--as-of", "now"], "2026-03-12T10:00:00Z", id="time"),
        pytest.param(["--catalog", "/absent"], "does not exist", id="catalog"),
    ],
)
def test_a_usage_error_says_what_to_write(
    records: Path, options: Sequence[str], words: str
) -> None:
    result = run("replay", records, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_a_cluster_or_project_narrows_what_is_shown(records: Path) -> None:
    assert len(diagnosed(records, "--cluster", HERE, "--project", "nlp")) == 2
    assert diagnosed(records, "--cluster", ELSEWHERE) == []
    assert diagnosed(records, "--project", "data") == []


def test_a_named_job_gets_an_answer(workspace: Path) -> None:
    (answer,) = diagnosed(workspace, "--job", JOB)
    assert verdict(answer) == "IMPORT_ERROR"
    (workspace / "site-1" / JOB / "log.txt").write_text(LOG.splitlines()[0])
    (answer,) = diagnosed(workspace, "--job", JOB)
    assert verdict(answer) == "route:running-no-symptom"


# --- compare, report, explain ------------------------------------------------------------------


def test_comparing_with_the_same_rules_changes_nothing(records: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    result = run("replay", records, "--compare", other, "--format", "jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "gained 0, lost 0, changed 0" in result.stderr


def test_a_report_is_found_by_what_its_subject_is_called(records: Path, workspace: Path) -> None:
    inputs = (records, workspace)
    by_job = run("report", JOB, *inputs)
    assert by_job.stdout.startswith("Pattern: IMPORT_ERROR\n")
    found = diagnosed(*inputs)
    by_id = run("report", found[0].id, *inputs)
    assert by_id.stdout.startswith("Category: OOM_KILLED\n")
    assert run("report", NEW, *inputs).stdout.startswith("Category: OOM_KILLED\n")


def test_an_ambiguous_or_unknown_name_offers_the_others(records: Path) -> None:
    several = run("report", "nlp/sft", records)
    assert several.exit_code == 2
    assert "2 diagnoses are called 'nlp/sft'; name one by its id" in several.stderr
    unknown = run("report", "absent", records)
    assert unknown.exit_code == 2
    assert unknown.stderr.count("nlp/sft") == 2


def test_explain_names_rules_rivals_and_numbered_evidence(workspace: Path) -> None:
    text = run("explain", workspace, "--subject", JOB).stdout
    assert text.startswith("IMPORT_ERROR (")
    assert text.index("\nWhy:\n") < text.index("\nWhy not:\n") < text.index("\nEvidence:\n")
    assert "  [1] 2026-05-12 09:00:02 " in text
    assert "ModuleNotFoundError: No module named 'monai'\n" in text


def test_the_version_names_matcher_and_rules() -> None:
    text = run("--version").stdout
    assert "matcher pyahocorasick " in text
    assert "catalog " in text


def test_help_offers_only_what_works() -> None:
    text = run("--help").stdout
    for verb in ("replay", "report", "explain", "catalog"):
        assert f"  {verb} " in text
    for later in ("worker", "produce", "tail", "topics"):
        assert later not in text


# --- settings ----------------------------------------------------------------------------------


def test_a_setting_holds_until_an_option_says_otherwise(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAUSESTREAM_LOOKBACK", "1h")
    (answer,) = diagnosed(records, "--workload", NEW)
    assert answer.recurrence is not None
    assert answer.recurrence.lookback_s == 3_600
    (answer,) = diagnosed(records, "--workload", NEW, "--lookback", "7d")
    assert answer.recurrence is not None
    assert answer.recurrence.lookback_s == 7 * 86_400


def test_variables_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('lookback = "2h"\nstall = "5m"\n')
    settings = load_settings({"CAUSESTREAM_SETTINGS": str(file), "CAUSESTREAM_STALL": "6m"})
    assert (settings.lookback_ms, settings.stall_ms) == (7_200_000, 360_000)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        pytest.param({"CAUSESTREAM_LOOKBACK": "long"}, "CAUSESTREAM_LOOKBACK: 'long'", id="span"),
        pytest.param({"CAUSESTREAM_SETTINGS": "/absent"}, "can't be read", id="file"),
        pytest.param({"CAUSESTREAM_CATALOG": "/absent"}, "no folder '/absent'", id="folder"),
    ],
)
def test_a_wrong_setting_is_one_line(environment: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("500ms", 500), ("30s", 30_000), ("24h", 86_400_000), ("7d", 604_800_000)],
)
def test_spans(text: str, milliseconds: int) -> None:
    assert parse_span(text) == milliseconds


@pytest.mark.parametrize("text", ["", "24", "h", "0h", "-1h", "1.5h", "1 week"])
def test_no_spans(text: str) -> None:
    with pytest.raises(ValueError, match="as in 24h"):
        parse_span(text)


@pytest.mark.parametrize(
    "text", ["2026-05-12T00:00:00Z", "2026-05-12 00:00:00", "2026-05-12", "1778544000"]
)
def test_times(text: str) -> None:
    assert parse_time(text) == 1_778_544_000_000
