"""The little languages of the labels, held against rows that must pass and rows that must not."""

import pytest

from tests.citations import parse_demand, says, shows
from tests.labels import load_cases
from tests.prohibitions import CLAIMS, states


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        pytest.param("exitCode=137 reason=Error: x", "exitCode=137", True, id="value"),
        pytest.param("exitCode=137 reason=Error", "exitCode=1", False, id="no-prefix-of-a-value"),
        pytest.param("k8sPhase=Failed", "phase=Failed", False, id="no-suffix-of-a-key"),
        pytest.param("request=32Gi limit=96Gi", "limit=32Gi", False, id="other-key"),
        pytest.param("memory peak 47.6Gi of 12 samples", "peak~47.6Gi", True, id="peak"),
        pytest.param("memory peak 147.6Gi", "peak~47.6Gi", False, id="peak-is-another"),
        pytest.param("memory: no samples", "no-samples", True, id="no-samples"),
        pytest.param("12 samples", "no-samples", False, id="samples"),
        pytest.param("NVRM: Xid (PCI:0000:c1:00): 79, pid=1", "Xid 79", True, id="words-in-order"),
        pytest.param("Xid 31", "Xid 79", False, id="another-word"),
        pytest.param("claimName=data", "claimName", True, id="field-with-value"),
        pytest.param("claimName", "claimName", False, id="field-without-value"),
    ],
)
def test_evidence_shows(text: str, name: str, shown: bool) -> None:
    assert shows(text, name) is shown


def test_a_demand_names_what_where_and_whose() -> None:
    demand = parse_demand("BackOff(spec.initContainers{x})@k8s-events|runai-phases(pod-1)")
    assert (demand.name, demand.detail) == ("BackOff", "spec.initContainers{x}")
    assert (demand.topics, demand.pod) == (("k8s-events", "runai-phases"), "pod-1")


@pytest.mark.parametrize("text", ["", "OOMKilled", "@topic", "a@b@"])
def test_what_is_no_citation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="citation"):
        parse_demand(text)


def test_words_in_another_order_do_not_count() -> None:
    assert says("found: it was not", "not found") is False


@pytest.mark.parametrize(
    ("text", "made"),
    [
        pytest.param("Raise the memory limit.", True, id="said"),
        pytest.param("Do not raise the memory limit.", False, id="denied"),
        pytest.param("Do not wait. Raise the memory limit.", True, id="denied-elsewhere"),
    ],
)
def test_a_denied_claim_is_not_made(text: str, made: bool) -> None:
    assert states(text, "raise[^.]*memory") is made


def test_every_label_is_readable() -> None:
    for case in load_cases("runai"):
        for text in case.expect["must_cite"]:
            parse_demand(text)
        claims = [r.removeprefix("claim:") for r in case.expect["must_not"] if r[:6] == "claim:"]
        assert set(claims) <= set(CLAIMS)
