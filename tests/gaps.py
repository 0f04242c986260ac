"""Reads what a label says must be named as missing."""

import re

from schemas.diagnosis import Diagnosis, Missing

# Each inner tuple: one of these must be there.
GAPS: dict[str, tuple[str, ...]] = {
    "observed memory peak": (r"\bpeak\b", r"memory"),
    "cause of the SIGKILL": (r"sigkill|\b137\b|killed",),
    "exit code": (r"exit codes?\b",),
    "history": (r"history",),
    "kind-specific spec": (r"\bspec\b|specification",),
    "pods": (r"\bpods?\b",),
    "requested resources": (r"resources|request(s|ed)?\b.*\blimits?\b",),
    "status events (fetch failed)": (r"\bevents?\b", r"fetch|could not be read|not answered"),
    "who or what stopped the workload": (r"\bstop(ped|s)?\b",),
}


def unnamed(gaps: list[str], diagnosis: Diagnosis) -> list[str]:
    """The gaps that the diagnosis does not name. A gap that is not in the table is an error."""
    told = [_words(missing) for missing in diagnosis.missing_evidence]
    return [
        f"gap not named: {gap}"
        for gap in gaps
        if not any(all(re.search(need, text) for need in GAPS[gap]) for text in told)
    ]


def _words(missing: Missing) -> str:
    return f"{missing.what} {missing.why}".lower()
