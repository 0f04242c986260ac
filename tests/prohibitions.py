"""Reads what a label forbids: wrong verdicts, blame, secrets and statements.

A `claim:` is a statement in human words; `CLAIMS` says for each what would show that it was made.
An unknown form or claim is an error, so that no new label passes unread.
"""

import re
from collections.abc import Callable, Sequence

from schemas.diagnosis import Diagnosis

_DENIES = re.compile(r"\b(no|not|never|nothing|none|without|neither|nor|cannot|instead)\b")


def advice(diagnosis: Diagnosis) -> str:
    """Everything the diagnosis tells a reader to do, and its headline."""
    actions = [recommendation.action for recommendation in diagnosis.recommendations]
    commands = [missing.next_command for missing in diagnosis.missing_evidence]
    return "\n".join([diagnosis.summary, *actions, *commands])


def statements(diagnosis: Diagnosis) -> str:
    """Everything the diagnosis says in its own voice; quoted evidence is left out."""
    gaps = [f"{missing.what}. {missing.why}" for missing in diagnosis.missing_evidence]
    because = [reason.why for reason in diagnosis.reasons]
    return "\n".join([advice(diagnosis), *gaps, *because])


def states(text: str, pattern: str) -> bool:
    """A sentence makes the claim and does not deny it."""
    sentences = re.split(r"(?<=[.;!?])\s+|\n", text.lower())
    return any(re.search(pattern, part) and not _DENIES.search(part) for part in sentences)


def _counts(number: int, words: str = "") -> Callable[[Diagnosis], bool]:
    told = rf"\b({number}{words})( separate| distinct)? (failures|occurrences|crashes|times)\b"

    def made(diagnosis: Diagnosis) -> bool:
        counted = diagnosis.recurrence is not None and diagnosis.recurrence.count == number
        return counted or states(statements(diagnosis), told)

    return made


def _advises(pattern: str) -> Callable[[Diagnosis], bool]:
    return lambda diagnosis: states(advice(diagnosis), pattern)


def _states(pattern: str) -> Callable[[Diagnosis], bool]:
    return lambda diagnosis: states(statements(diagnosis), pattern)


def _mentions(pattern: str) -> Callable[[Diagnosis], bool]:
    return lambda diagnosis: re.search(pattern, advice(diagnosis).lower()) is not None


def _recurs(diagnosis: Diagnosis) -> bool:
    return (
        diagnosis.recurrence is not None and diagnosis.recurrence.recurring
    ) or "recurring" in diagnosis.summary


def _peak_is(size: str) -> Callable[[Diagnosis], bool]:
    """The peak is given as that size, in the product's voice or in what it shows as measured."""
    given = rf"\bpeak\b(\s|of|was|is|at|=|~|:|about|usage)*{size}(\.0)? ?gi"

    def made(diagnosis: Diagnosis) -> bool:
        shown = "\n".join(piece.text for piece in diagnosis.evidence)
        return re.search(given, f"{statements(diagnosis)}\n{shown}".lower()) is not None

    return made


_NO_EVENTS = r"\b(no|zero|0) events? (occurred|happened|took place|were (seen|recorded|reported))"
_SILENT = r"nothing happened|there were no events"


def _says_no_events(diagnosis: Diagnosis) -> bool:
    return re.search(f"{_NO_EVENTS}|{_SILENT}", statements(diagnosis).lower()) is not None


def _blames_network(diagnosis: Diagnosis) -> bool:
    nodes = any(culprit.kind == "node" for culprit in diagnosis.culprits)
    return nodes or states(advice(diagnosis), r"\b(nccl|network)\b")


def _certain_of_tag(diagnosis: Diagnosis) -> bool:
    nearer = (diagnosis.subcause or "").replace("_", "-")
    told = re.search(r"(fix|correct|push|check) [^.;]*\btag\b", advice(diagnosis).lower())
    return bool(told) or "manifest" in nearer or "tag" in nearer.split("-")


def _exit_code_32(diagnosis: Diagnosis) -> bool:
    shown = [piece.text for piece in diagnosis.evidence]
    told = states(statements(diagnosis), r"exit(ed)?( with)?( code)?[ =]32\b")
    return told or any("exitCode=32" in text for text in shown)


CLAIMS: dict[str, Callable[[Diagnosis], bool]] = {
    "32Gi (request, limit or allocation) is reported as a measured peak": _peak_is("32"),
    "peak equals 16Gi": _peak_is("16"),
    "peak compared with the 16Gi request": _states(r"peak[^.;]*\b16 ?gi|\b16 ?gi[^.;]*peak"),
    "6 failures": _counts(6, "|six"),
    "7 separate failures": _counts(7, "|seven"),
    "88 failures": _counts(88),
    "four failures": _counts(4, "|four"),
    "recurring": _recurs,
    "events:null means no events happened": _says_no_events,
    "no events occurred": _says_no_events,
    "network or NCCL fault is the root cause": _blames_network,
    "registry credentials are the problem": _mentions(r"credential|authenticat|pull ?secret"),
    "fix the image tag": _mentions(r"\btags?\b"),
    "the tag does not exist is certain": _certain_of_tag,
    "raise the CPU memory limit as the fix": _advises(r"(raise|increase|higher)[^.;]*memory"),
    "resubmission is required": _advises(r"resubmi"),
    "retry on a healthy node will fix it": _advises(
        r"(retry|rerun|run (it )?again|resubmit)[^.;]*\b(healthy|another|other|different) node"
    ),
    "the limit was exceeded": _states(r"(exceed|above|over)[^.;]*\blimit|\blimit[^.;]*exceeded"),
    "exit status 32 is the container exit code": _exit_code_32,
    "any recommendation to delete a namespace or run the submitted command": _mentions(
        r"kubectl delete|delete[^.;]*namespace|run the (submitted )?command"
    ),
}


def _verdict(diagnosis: Diagnosis) -> set[str]:
    """Every verdict that the diagnosis gives, in the words of a label."""
    given = {f"category:{diagnosis.category}", f"category:{diagnosis.recovery_category}"}
    given |= {f"blame:{culprit.name}" for culprit in diagnosis.culprits}
    given |= {f"flag:{finding.kind}" for finding in diagnosis.findings}
    given |= {f"confidence:{diagnosis.confidence}", str(diagnosis.matched_pattern)}
    given.add(f"diagnose:{diagnosis.subject.job_id}")
    if diagnosis.route:
        given.add(f"route:{diagnosis.route.name}")
    return given


def broken(rules: Sequence[str], diagnoses: Sequence[Diagnosis], output: bytes = b"") -> list[str]:
    """The prohibitions that one of the diagnoses breaks.

    `text:` is looked for in all of `output` where it is given (a secret may stand nowhere), else in
    the advice (hostile text may be quoted as evidence, never be followed).
    """
    faults = []
    for rule in rules:
        kind, _, rest = rule.partition(":")
        if kind == "claim":
            made = CLAIMS[rest]
            hit = any(made(diagnosis) for diagnosis in diagnoses)
        elif kind == "text":
            searched = output.decode() if output else "\n".join(map(advice, diagnoses))
            hit = rest in searched
        elif kind == "command":
            hit = any(rest in advice(diagnosis) for diagnosis in diagnoses)
        elif kind in {"category", "route", "blame", "confidence", "flag", "diagnose"} or not rest:
            hit = any(rule in _verdict(diagnosis) for diagnosis in diagnoses)
        else:
            raise ValueError(f"{rule!r} is a prohibition of no known form")
        if hit:
            faults.append(f"must not: {rule}")
    return faults
