"""Every labelled case, through the command: what its label asks for and what it forbids."""

from collections.abc import Sequence
from functools import cache
from tempfile import NamedTemporaryFile
from typing import Any

import pytest

from schemas.codec import encode
from schemas.diagnosis import Diagnosis
from tests.citations import uncited
from tests.gaps import unnamed
from tests.labels import Case, load_cases
from tests.prohibitions import broken
from tests.replaying import Replayed, as_lines, replay
from tests.taxonomy import RECOVERY

SUSPICIOUS = "SUSPICIOUS_LOG_CONTENT"


def cases(family: str) -> list[Any]:
    return [pytest.param(case, id=case.id) for case in load_cases(family)]


@cache
def ask(family: str, name: str) -> Replayed:
    """Replay the case's records with the question that it asks."""
    (case,) = (case for case in load_cases(family) if case.id == name)
    with NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(as_lines(case.records))
        file.flush()
        return replay(file.name, *case.options)


def answer(case: Case) -> Replayed:
    replayed = ask(case.family, case.id)
    assert replayed.exit_code == 0, replayed.errors
    return replayed


def explained(faults: list[str], diagnoses: Sequence[Diagnosis]) -> str:
    return "\n".join(["; ".join(faults), *(encode(d).decode() for d in diagnoses)])


@pytest.mark.parametrize("case", cases("runai"))
def test_runai_case(case: Case) -> None:
    replayed = answer(case)
    assert len(replayed.diagnoses) == 1, "one named workload gets one answer"
    diagnosis = replayed.diagnoses[0]
    rules = case.expect["must_not"]
    texts = [rule for rule in rules if rule.startswith("text:")]
    faults = [
        *_subject(case, diagnosis),
        *_verdict(case, diagnosis),
        *_recurrence(case, diagnosis),
        *_details(case, diagnosis),
        *uncited(case.expect["must_cite"], diagnosis, case.pods),
        *unnamed(case.expect.get("must_state_missing", []), diagnosis),
        *broken([rule for rule in rules if rule not in texts], [diagnosis]),
        *broken(texts, [diagnosis], replayed.output),
    ]
    assert not faults, explained(faults, [diagnosis])


@pytest.mark.parametrize("case", cases("flare"))
def test_flare_case(case: Case) -> None:
    diagnoses = answer(case).diagnoses
    rules = case.expect["must_not"]
    general = [rule for rule in rules if ":" not in rule or rule.startswith("diagnose:")]
    faults = broken(general, diagnoses)
    diagnosis = _asked_about(case, diagnoses)
    if diagnosis is None:
        if not _may_be_silent(case):
            faults.append("nothing was diagnosed")
    else:
        faults += [
            *_pattern(case, diagnosis),
            *_blame(case, diagnosis),
            *_findings(case, diagnosis),
            *broken([rule for rule in rules if rule not in general], [diagnosis]),
        ]
    assert not faults, explained(faults, diagnoses)


def _subject(case: Case, diagnosis: Diagnosis) -> list[str]:
    selected = case.expect.get("selected_workload_id") or case.request.get("workload_id")
    if diagnosis.subject.workload_id != selected:
        return [f"workload {diagnosis.subject.workload_id}, asked about {selected}"]
    return []


def _verdict(case: Case, diagnosis: Diagnosis) -> list[str]:
    expect = case.expect
    named = expect.get("category") or f"route:{expect['route']}"
    accepted = {named, *expect.get("accept", [])}
    given = f"route:{diagnosis.route.name}" if diagnosis.route else diagnosis.category
    return [] if given in accepted else [f"verdict {given}, one of {sorted(accepted)} is right"]


def _recurrence(case: Case, diagnosis: Diagnosis) -> list[str]:
    expected = case.expect["recurrence"]
    counts = {expected["count"], *case.expect.get("accept_counts", [])}
    found = diagnosis.recurrence
    count = found.count if found else 0
    recurring = found.recurring if found else False
    if diagnosis.route and "category" in case.expect:
        return []  # an accepted route instead of a category counts nothing
    faults = [] if count in counts else [f"count {count}, one of {sorted(counts)} is right"]
    if recurring != (count >= 2):
        faults.append(f"recurring {recurring} at count {count}")
    return faults


def _details(case: Case, diagnosis: Diagnosis) -> list[str]:
    faults = []
    subcause = case.expect.get("subcause")
    if subcause and (diagnosis.subcause or "").replace("_", "-") != subcause:
        faults.append(f"subcause {diagnosis.subcause}, {subcause} is right")
    root = case.expect.get("root_pod")
    pods = {culprit.name for culprit in diagnosis.culprits if culprit.kind == "pod"}
    if root and pods != {root}:
        faults.append(f"root {sorted(pods)}, {root} failed first")
    return faults


def _asked_about(case: Case, diagnoses: Sequence[Diagnosis]) -> Diagnosis | None:
    """The diagnosis of the case's job, or of its site where there is no job.

    A simulation has no id of its own, so the only job of the run is meant.
    """
    if case.jobs:
        jobs = [d for d in diagnoses if d.subject.kind == "job"]
        named = [d for d in jobs if d.subject.job_id in case.jobs]
        if not named and case.expect["mode"] == "simulation":
            named = jobs
        assert len(named) <= 1, [d.subject for d in named]
        return named[0] if named else None
    blamed = _names(case.expect["blamed_site"])
    sites = [d for d in diagnoses if d.subject.site in blamed]
    assert len(sites) <= 1, [d.subject for d in sites]
    return sites[0] if sites else None


def _may_be_silent(case: Case) -> bool:
    patterns = [case.expect["matched_pattern"], *case.expect.get("accept_patterns", [])]
    return None in patterns and not case.expect["also_flagged"]


def _pattern(case: Case, diagnosis: Diagnosis) -> list[str]:
    expect, faults = case.expect, []
    given = diagnosis.matched_pattern
    accepted = {expect["matched_pattern"], *expect.get("accept_patterns", [])}
    if given not in accepted:
        faults.append(f"pattern {given}, one of {sorted(map(str, accepted))} is right")
    if given is not None and diagnosis.recovery_category != RECOVERY[given]:
        faults.append(f"recovery {diagnosis.recovery_category} is not that of the row {given}")
    if given == expect["matched_pattern"]:
        sure = {expect["confidence"], *expect.get("accept_confidence", [])}
        if expect["confidence"] and diagnosis.confidence not in sure:
            faults.append(f"confidence {diagnosis.confidence}, {sorted(sure)} is right")
    if diagnosis.mode != expect["mode"]:
        faults.append(f"mode {diagnosis.mode}, {expect['mode']} is right")
    return faults


def _names(blamed: str | list[str] | None) -> frozenset[str]:
    return frozenset([blamed] if isinstance(blamed, str) else blamed or [])


def _blame(case: Case, diagnosis: Diagnosis) -> list[str]:
    accepted = [case.expect["blamed_site"], *case.expect.get("accept_blamed", [])]
    given = frozenset(c.name for c in diagnosis.culprits if c.kind in {"site", "server"})
    if given not in {_names(blamed) for blamed in accepted}:
        return [f"blamed {sorted(given)}, one of {accepted} is right"]
    return []


def _findings(case: Case, diagnosis: Diagnosis) -> list[str]:
    kinds = {finding.kind for finding in diagnosis.findings}
    missing = set(case.expect["also_flagged"]) - kinds
    return [f"finding {kind} is not there" for kind in sorted(missing)]


@pytest.mark.parametrize("case", [*cases("runai"), *cases("flare")])
def test_every_diagnosis_keeps_its_promises(case: Case) -> None:
    for diagnosis in answer(case).diagnoses:
        verdicts = (diagnosis.category, diagnosis.matched_pattern, diagnosis.route)
        assert sum(verdict is not None for verdict in verdicts) == 1, verdicts
        assert diagnosis.recommendations, "somebody is told what to do next"
        ids = [piece.id for piece in diagnosis.evidence]
        assert len(set(ids)) == len(ids)
        for because in (*diagnosis.reasons, *diagnosis.rivals):
            assert set(because.evidence) <= set(ids), because
        for finding in diagnosis.findings:
            assert len(finding.excerpt) <= 200
        for piece in diagnosis.evidence:
            assert 0 < len(piece.text) <= 512
            assert piece.first_ms <= piece.last_ms
            assert piece.count >= 1
        if diagnosis.confidence != "high" and diagnosis.route is None:
            named = [missing for missing in diagnosis.missing_evidence if missing.what]
            assert named, "below high, the missing evidence is named"
            assert any(missing.next_command for missing in named), named
