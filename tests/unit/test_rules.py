"""What one entry reveals: every condition of a row, its groups, and the place they name."""

from pathlib import Path
from typing import Any

import pytest

from matchers.confirm import Regex, RegexError, relocated
from matchers.loading import load
from matchers.rows import CatalogError
from matchers.rules import ANCHOR, Rules
from schemas.entry import Entry, SourceName, Where

CATALOG = """
[[signal]]
id = "gpu.lost"
title = "A GPU left the bus"
sources = ["k8s_event", "flare_log"]
phrases = ["fallen off the bus", "xid 79"]
unless = ["simulated"]
matches = ["GPU has fallen off the bus"]
rejects = ["simulated: GPU has fallen off the bus"]
why = "Driver message."

[[signal]]
id = "image.pull"
title = "An image was not pulled"
sources = ["k8s_event"]
reasons = ["Failed", "ErrImagePull"]
phrases = ["pull image"]
objects = ["Pod"]
matches = ["Failed to pull image x"]
rejects = ["Failed to start"]
why = "Kubelet template."

[[signal]]
id = "node.not_ready"
title = "A node stopped answering"
sources = ["k8s_event"]
reasons = ["NodeNotReady"]
matches = ["any"]
rejects = [{ reason = "NodeReady" }]
why = "Node controller."

[[signal]]
id = "job.site_died"
title = "The server says that a site's process ended"
sources = ["flare_log"]
phrases = ["process of"]
regex = 'process of (?P<site>\\S+) for (?P<job>\\S+) ended: rc (?P<exit_code>-?\\d+) (?P<how>.*)'
levels = ["ERROR"]
loggers = ["JobRunner"]
status = "draft"
matches = ["process of site-1 for j ended: rc -9 killed"]
rejects = ["process of nothing"]
why = "Server template."

[[signal]]
id = "pod.exit"
title = "A pod ended in an exit code"
sources = ["pod_status"]
reasons = ["Error"]
attrs = { exit_code = 137 }
matches = ["x"]
rejects = [{ attrs = { exit_code = 1 } }]
why = "Kubelet."
"""


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    (tmp_path / "rows.toml").write_text(CATALOG)
    return Rules.of(load(builtin=tmp_path))


def entry(source: SourceName, text: str = "", **given: Any) -> Entry:
    """An entry with what a test cares about."""
    fixed: dict[str, Any] = {
        "fact": "event",
        "where": Where(),
        "merge": "event",
        "record_id": "r1",
        "first_ms": 1,
        "last_ms": 1,
    }
    return Entry(source=source, text=text, **(fixed | given))


def found(rules: Rules, one: Entry) -> list[str]:
    """The ids of what the rules see, in their order."""
    return [match.signal.id for match in rules.match(one)]


POD = Where(pod="worker-0", pod_uid="u1")
LOG: dict[str, Any] = {"level": "ERROR", "logger": "JobRunner", "fact": "log", "merge": "line"}
DIED = "process of site-1 for 4f ended: rc -9 killed"


@pytest.mark.parametrize(
    ("one", "ids"),
    [
        pytest.param(entry("k8s_event", "Xid 79"), ["gpu.lost"], id="phrase-in-any-case"),
        pytest.param(entry("pod_status", "xid 79"), [], id="another-source"),
        pytest.param(entry("k8s_event", "SIMULATED xid 79"), [], id="unless-in-any-case"),
        pytest.param(
            entry("k8s_event", "pull image x", reason="Failed", where=POD),
            ["image.pull"],
            id="reason-and-phrase",
        ),
        pytest.param(
            entry("k8s_event", "pull image x", reason="Other", where=POD), [], id="another-reason"
        ),
        pytest.param(
            entry("k8s_event", "start", reason="Failed", where=POD), [], id="reason-without-phrase"
        ),
        pytest.param(
            entry("k8s_event", "pull image x", reason="Failed", where=Where(kind="Job", name="j")),
            [],
            id="another-kind-of-object",
        ),
        pytest.param(
            entry("k8s_event", reason="NodeNotReady"), ["node.not_ready"], id="reason-alone"
        ),
        pytest.param(
            entry("k8s_event", "xid 79", reason="NodeNotReady"),
            ["gpu.lost", "node.not_ready"],
            id="two-signals-in-catalog-order",
        ),
        pytest.param(entry("flare_log", DIED, **LOG), ["job.site_died"], id="level-and-logger"),
        pytest.param(
            entry("flare_log", DIED, **LOG | {"logger": "app.JobRunner"}),
            ["job.site_died"],
            id="a-logger-by-its-end",
        ),
        pytest.param(entry("flare_log", DIED, **LOG | {"level": "INFO"}), [], id="another-level"),
        pytest.param(entry("flare_log", DIED, **LOG | {"logger": "Cell"}), [], id="another-logger"),
        pytest.param(
            entry("flare_log", "process of elimination", **LOG), [], id="regex-does-not-confirm"
        ),
        pytest.param(
            entry("pod_status", reason="Error", attrs={"exit_code": 137}), ["pod.exit"], id="attrs"
        ),
        pytest.param(
            entry("pod_status", reason="Error", attrs={"exit_code": 1}), [], id="other-attrs"
        ),
        pytest.param(
            entry("k8s_event", "\ud800 process of \udfff xid 79"), ["gpu.lost"], id="surrogates"
        ),
        pytest.param(entry("k8s_event"), [], id="empty"),
    ],
)
def test_match(rules: Rules, one: Entry, ids: list[str]) -> None:
    assert found(rules, one) == ids


def test_groups_become_attrs_and_place(rules: Rules) -> None:
    where = Where(federation="f", site="server", workspace="/ws", file="log.txt")
    (match,) = rules.match(entry("flare_log", DIED, where=where, attrs={"run": "r"}, **LOG))
    assert match.where == Where(
        federation="f", site="site-1", job="4f", workspace="/ws", file="log.txt"
    )
    assert match.attrs == {"run": "r", "exit_code": -9, "how": "killed"}
    assert DIED[match.start : match.end] == "process of"
    assert match.is_draft


def test_another_pod_has_another_uid() -> None:
    match = Regex("pod (?P<pod>[a-z0-9-]+)").confirm("pod worker-1 is gone")
    assert match is not None
    where = Where(namespace="n", pod="worker-0", pod_uid="u", container="c", node="n1")
    assert relocated(where, match.place) == Where(namespace="n", pod="worker-1", node="n1")
    assert relocated(where, {"pod": "worker-0"}) is where


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        pytest.param("exit_code", "137", 137, id="ends-in-code"),
        pytest.param("rc", "-9", -9, id="negative"),
        pytest.param("round", "3", 3, id="round"),
        pytest.param("image", "3", "3", id="digits-in-a-name-stay-text"),
        pytest.param("exit_code", "9" * 30, "9" * 30, id="too-long-for-a-number"),
        pytest.param("exit_code", "\u0663", "\u0663", id="other-digits-stay-text"),
        pytest.param("how", "x" * 999, "x" * 256, id="cut"),
    ],
)
def test_group_values(name: str, text: str, value: str | int) -> None:
    found = Regex(f"^(?P<{name}>.+)$").confirm(text)
    assert found is not None
    assert found.attrs == {name: value}


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        pytest.param("a(?=b)", "lookahead", id="lookahead"),
        pytest.param("a(?!b)", "unless", id="negative-lookahead"),
        pytest.param("(?<=a)b", "lookbehind", id="lookbehind"),
        pytest.param("(?P<a>x)(?P=a)", "back references", id="named-back-reference"),
        pytest.param(r"(a)\1", "back references", id="back-reference"),
        pytest.param(r"a\Z", "\\z", id="end-of-text"),
        pytest.param("(", "RE2", id="syntax"),
    ],
)
def test_regex_that_is_not_linear_is_refused(pattern: str, advice: str) -> None:
    with pytest.raises(RegexError) as caught:
        Regex(pattern)
    assert advice in caught.value.remedy


def test_words_alone_ask_no_reason(rules: Rules) -> None:
    text = f"{DIED}, pull image, xid 79"
    ids = [signal.id for signal in rules.matches_text(text)]
    assert ids == ["gpu.lost", "image.pull", "job.site_died"]
    ids = [signal.id for signal in rules.matches_text(text, {"flare_log"})]
    assert ids == ["gpu.lost", "job.site_died"]


def test_log_lines_wake_up_for_log_phrases_and_anchors_only(rules: Rules) -> None:
    anchor = max(rules.detector.anchors, key=len)
    found = rules.log_automaton.hits_by_text(["7", anchor.upper(), "xid 79", "pull image"])
    gpu_lost = list(rules.signals).index("gpu.lost")
    assert ANCHOR in found[1]
    assert gpu_lost in found[2]
    assert [i for i, owners in found.items() if owners - {ANCHOR}] == [2]


def test_a_folder_of_ones_own_adds_credentials(tmp_path: Path) -> None:
    row = """[[shape]]
kind = "own_token"
prefixes = ["widget-"]
alphabet = "word"
min = 12
why = "Ours."
matches = ["widget-a1b2c3d4e5f6g7h8"]
rejects = ["widget-maker"]
"""
    (tmp_path / "secrets.toml").write_text(row)
    redact = Rules.load([tmp_path]).redactor.redact
    assert "a1b2c3d4" not in redact("sent widget-a1b2c3d4e5f6g7h8 to the queue")
    assert "AbCdEf" not in redact("login with hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345")


def test_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[[signal]]\nid = 'a.b'\n")
    (tmp_path / "secrets.toml").write_text("[[shape]]\ntypo = 1\n")
    with pytest.raises(CatalogError) as caught:
        Rules.load([tmp_path])
    files = {Path(fault.file).name for fault in caught.value.faults}
    assert files == {"own.toml", "secrets.toml"}


def test_a_long_hostile_text_is_linear(rules: Rules) -> None:
    text = "process of " * 50_000
    assert found(rules, entry("flare_log", text, **LOG)) == []
