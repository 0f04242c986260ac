"""What lint finds in a catalog, and what it leaves in peace."""

from pathlib import Path

import pytest

from matchers.commands import fill, problems
from matchers.lint import lint, lint_folders
from matchers.loading import load

SIGNAL = {
    "id": '"gpu.lost"',
    "title": '"A GPU left the bus"',
    "sources": '["k8s_event", "flare_log"]',
    "phrases": '["fallen off the bus"]',
    "matches": '["GPU 0 has Fallen off the bus"]',
    "rejects": '["the bus left"]',
    "why": '"Driver message."',
}
PATTERN = {
    "name": '"P"',
    "title": '"t"',
    "recovery_category": '"UNKNOWN"',
    "modes": '["simulation", "poc_production"]',
    "rank": "1",
    "action": '"Look at the site."',
    "why": '"w"',
    "owner": '"o"',
    "direct": '["gpu.lost"]',
    "command.simulation": '"tail -n 200 {workspace}/log.txt"',
    "command.poc_production": '"nvflare job logs {job} --site {site} --tail 200 --format json"',
}


def row(kind: str, fields: dict[str, str], **changed: str | None) -> str:
    """One TOML row; None takes a field out, `command_x` stands for `command.x`."""
    values: dict[str, str | None] = {**fields}
    for name, value in changed.items():
        values[name.replace("command_", "command.")] = value
    lines = [f"{name} = {value}" for name, value in values.items() if value is not None]
    return "\n".join((f"[[{kind}]]", *lines, ""))


def faults(folder: Path, text: str) -> list[str]:
    """What lint says about a catalog of one file."""
    (folder / "rows.toml").write_text(text)
    return [str(fault) for fault in lint(load(builtin=folder))]


def signal(**changed: str | None) -> str:
    return row("signal", SIGNAL, **changed)


def pattern(**changed: str | None) -> str:
    return row("pattern", PATTERN, **changed)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(signal() + pattern(), id="in-order"),
        pytest.param(
            signal(
                reasons='["Xid"]',
                matches='[{ text = "fallen off the bus", source = "flare_log" }]',
            ),
            id="a-sample-is-as-the-row-asks-where-it-is-silent",
        ),
        pytest.param(
            signal(sources='["pod_status"]', phrases=None, reasons='["Error"]',
                   attrs="{ exit_code = 137 }", rejects="[{ attrs = { exit_code = 1 } }]"),
            id="rejected-by-its-attrs",
        ),
        pytest.param(
            signal(rejects='[{ text = "fallen off the bus", source = "pod_status" }]'),
            id="rejected-by-its-source",
        ),
        pytest.param(
            signal() + signal(id='"gpu.lost_log"', levels='["ERROR"]'), id="told-apart-by-level"
        ),
        pytest.param(
            signal(sources='["k8s_event"]') + signal(id='"b.c"', sources='["flare_log"]'),
            id="told-apart-by-source",
        ),
    ],
)  # fmt: skip
def test_nothing_to_say(text: str, tmp_path: Path) -> None:
    assert faults(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            signal(matches='["Xid 79"]'), "does not match its sample 'Xid 79'", id="match"
        ),
        pytest.param(
            signal(rejects='["Fallen off the bus schedule"]'), "must reject: 'Fallen", id="reject"
        ),
        pytest.param(signal(matches="[]"), "matches is empty", id="no-matches"),
        pytest.param(signal(rejects="[]"), "rejects is empty", id="no-rejects"),
        pytest.param(signal(why='" "'), "why is empty", id="no-why"),
        pytest.param(
            signal(status='"draft"', rejects="[]"), "rejects is empty", id="drafts-prove-too"
        ),
        pytest.param(
            signal(phrases='["Off The Bus", "fallen off the bus"]'),
            "phrase 'fallen off the bus' is dead: 'off the bus' is always found first",
            id="shadowed-phrase",
        ),
        pytest.param(
            signal(phrases='["off the bus", "OFF the bus"]'),
            "phrase 'OFF the bus' is dead",
            id="phrase-twice",
        ),
        pytest.param(
            signal(phrases='["fallen off the bus", "bus simulated"]', unless='["Simulated"]'),
            "it holds 'Simulated' of `unless`",
            id="phrase-ruled-out",
        ),
        pytest.param(
            signal() + signal(id='"b.c"', sources='["flare_log"]'),
            "signal b.c: asks for the same as signal gpu.lost in flare_log",
            id="duplicate",
        ),
        pytest.param(
            signal() + pattern() + pattern(name='"Q"'),
            "pattern Q: rank 1 is that of P too",
            id="equal-ranks",
        ),
        pytest.param(signal() + pattern(why='""'), "pattern P: why is empty", id="pattern-why"),
        pytest.param(signal() + pattern(action='""'), "action is empty", id="pattern-action"),
        pytest.param(
            signal() + pattern(command_simulation=None),
            "no command for simulation",
            id="no-command",
        ),
        pytest.param(
            signal() + pattern(modes='["simulation"]'),
            "a command for poc_production, where it is never diagnosed",
            id="command-for-no-mode",
        ),
        pytest.param(
            signal() + pattern(command_simulation='"nvflare job meta {job}"'),
            "asks a running system",
            id="simulation-has-no-server",
        ),
    ],
)
def test_fault(text: str, said: str, tmp_path: Path) -> None:
    found = faults(tmp_path, text)
    assert any(said in fault for fault in found), found


def test_all_faults_at_once_with_file_and_line(tmp_path: Path) -> None:
    text = signal(matches='["x"]', rejects="[]") + signal(id='"b.c"', why='""')
    found = faults(tmp_path, text)
    assert len(found) == 4
    assert all(f.startswith("built-in/rows.toml:1:") for f in found[:2])
    assert all(f.startswith("built-in/rows.toml:9:") for f in found[2:])


@pytest.mark.parametrize(
    "command",
    [
        "nvflare job logs {job} --site {site} --tail 200 --format json",
        "nvflare job logs {job} --site all --since {since} --max-bytes 200000 --format json",
        "nvflare system status client {site} --format json",
        "kubectl describe pod {pod} -n {namespace}",
        "kubectl get events -n {namespace} --field-selector involvedObject.name={pod}",
        "kubectl logs {pod} -n {namespace} --previous --tail=200",
        "kubectl get secret regcred -n {namespace}",
        'journalctl -k --since "{since}" --no-pager -n 50',
        "tail -n 200 {workspace}/{site}/log.txt",
        "openssl x509 -noout -dates -in {workspace}/startup/client.crt",
    ],
)
def test_a_command_that_only_reads(command: str) -> None:
    assert list(problems(command)) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param("nvflare job logs {job} --site {site}", "is not bounded", id="whole-log"),
        pytest.param("nvflare job abort {job}", "not known to be read-only", id="changes-a-job"),
        pytest.param("kubectl delete pod {pod}", "not known to be read-only", id="deletes"),
        pytest.param("kubectl logs {pod} -n {namespace}", "is not bounded", id="whole-pod-log"),
        pytest.param("kubectl logs {pod} --tail 5 -f", "never ends", id="follows"),
        pytest.param("kubectl get pods -A", "every namespace", id="scans"),
        pytest.param("kubectl get pods -w", "never ends", id="watches"),
        pytest.param("kubectl get secret a -o yaml", "prints a secret", id="prints-a-secret"),
        pytest.param("kubectl get secrets/a -oyaml", "prints a secret", id="prints-a-secret-glued"),
        pytest.param("openssl x509 -noout -in a/client.key", "private key", id="reads-a-key"),
        pytest.param("journalctl -k -n 50", "add --no-pager", id="waits-in-a-pager"),
        pytest.param("tail -n 5 a | sh", "holds '|'", id="pipe"),
        pytest.param("tail -n 5 a; reboot", "holds ';'", id="two-commands"),
        pytest.param("tail -n 5 a > b", "holds '>'", id="writes"),
        pytest.param("tail -n 5 $(b)", "holds '$'", id="substitution"),
        pytest.param("tail -n 5 'a", "No closing quotation", id="open-quote"),
        pytest.param("cat a", "not known to be read-only", id="unbounded"),
        pytest.param("ls -laR /", "walks whole folders", id="recursive"),
        pytest.param("", "not known to be read-only", id="empty"),
        pytest.param("kubectl describe pod {pot}", "no field {pot}", id="unknown-field"),
        pytest.param("kubectl describe pod {pod", "braces", id="open-brace"),
    ],
)
def test_a_command_that_must_not_be_recommended(command: str, said: str) -> None:
    found = [f"{what}; {remedy}" for what, remedy in problems(command)]
    assert any(said in problem for problem in found), found


def test_a_simulation_is_asked_by_its_files() -> None:
    assert list(problems("nvflare agent inspect source {workspace}", simulation=True)) == []
    assert list(problems("nvflare system status", simulation=True)) != []


@pytest.mark.parametrize(
    ("name", "filled"),
    [
        pytest.param("worker-0", "kubectl describe pod worker-0", id="plain"),
        pytest.param("", "kubectl describe pod <pod>", id="not-known"),
        pytest.param("a; reboot", "kubectl describe pod <pod>", id="a-second-command"),
        pytest.param("$(reboot)", "kubectl describe pod <pod>", id="a-substitution"),
        pytest.param("--all", "kubectl describe pod <pod>", id="an-option"),
        pytest.param("../../etc", "kubectl describe pod <pod>", id="another-folder"),
        pytest.param("{node}", "kubectl describe pod <pod>", id="another-field"),
        pytest.param("a\nb", "kubectl describe pod <pod>", id="a-line-break"),
    ],
)
def test_fill_takes_plain_names_only(name: str, filled: str) -> None:
    assert fill("kubectl describe pod {pod}", {"pod": name}) == filled


def test_rows_that_cannot_be_used_do_not_hide_what_is_wrong_with_the_others(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        """
[[signal]]
id = "mine.unusable"
title = "A regex that is none"
sources = ["flare_log"]
phrases = ["frobnicated"]
regex = "(?=x)"
matches = ["it frobnicated"]
rejects = ["it frobnicates"]
why = "a test"

[[signal]]
id = "mine.unproven"
title = "A sample that does not match"
sources = ["flare_log"]
phrases = ["wibbled"]
matches = ["it wobbled"]
rejects = ["it wobbles"]
why = "a test"
"""
    )
    rows = {fault.row for fault in lint_folders([tmp_path])}
    assert rows == {"signal mine.unusable", "signal mine.unproven"}
