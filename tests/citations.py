"""Reads what a label says must be cited: `OOMKilled@runai-phases|runai-history`.

    demand     = what "@" topic ["|" topic ...] ["(" pod ")"]
    what       = key "=" value ["(" detail ")"]   exitCode=137, reason=OOMKilled(init unpack)
               | "peak~" size | "no-samples"      a measurement, or that there is none
               | "claimName" | "clusterId"        the field is quoted with its value
               | words ["(" detail ")"]           BackOff(spec.initContainers{git-sync})

It holds when one piece of evidence from one of the topics (and of the pod) shows it.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from schemas.diagnosis import Diagnosis, Evidence

_DEMAND = re.compile(r"(?P<what>.+)@(?P<topics>[a-z0-9|-]+)(\((?P<pod>[^()]+)\))?")
_WHAT = re.compile(r"(?P<name>[^()]+?)(\((?P<detail>[^()]+)\))?")
_MEMBER_OF_POD = re.compile(r"task_memcg=pod")
_INIT = re.compile(r"init (?P<container>\S+)")


class Demand(Struct, frozen=True, kw_only=True):
    """One parsed `must_cite`."""

    name: str
    detail: str
    topics: tuple[str, ...]
    pod: str


def parse_demand(text: str) -> Demand:
    """Turn the label's words into a demand; a form that is not known is an error."""
    found = _DEMAND.fullmatch(text)
    what = _WHAT.fullmatch(found["what"]) if found else None
    if found is None or what is None:
        raise ValueError(f"{text!r} is no citation; write what@topic or what@topic(pod)")
    return Demand(
        name=what["name"],
        detail=what["detail"] or "",
        topics=tuple(found["topics"].split("|")),
        pod=found["pod"] or "",
    )


def uncited(demands: Iterable[str], diagnosis: Diagnosis, pods: dict[str, str]) -> list[str]:
    """The demands that no evidence of the diagnosis meets."""
    faults = []
    for text in demands:
        demand = parse_demand(text)
        if not any(_meets(piece, demand, diagnosis, pods) for piece in diagnosis.evidence):
            faults.append(f"not cited: {text}")
    return faults


def _meets(piece: Evidence, demand: Demand, diagnosis: Diagnosis, pods: dict[str, str]) -> bool:
    if piece.source.topic not in demand.topics:
        return False
    if demand.pod and piece.source.pod != demand.pod:
        return False
    details = _details(piece, demand.detail, diagnosis, pods)
    return details and shows(piece.text, demand.name)


def shows(text: str, name: str) -> bool:
    """The text of a piece of evidence shows what the label names."""
    key, equals, value = name.partition("=")
    if equals:
        return re.search(rf"(?<!\w){re.escape(key)}={re.escape(value)}(?!\w)", text) is not None
    if name.startswith("peak~"):
        size = re.escape(name.removeprefix("peak~"))
        return re.search(rf"\bpeak\b\D*(?<![\d.]){size}(?!\w)", text) is not None
    if name == "no-samples":
        return "no samples" in text.lower()
    if name == "clusterId":
        return "clusterId=" in text or bool(re.search(r"cluster\W+[0-9a-f-]{36}", text))
    if name == "claimName":
        return re.search(r"claimName=[\w-]+", text) is not None
    return says(text, name)


def _details(piece: Evidence, detail: str, diagnosis: Diagnosis, pods: dict[str, str]) -> bool:
    if not detail:
        return True
    if _MEMBER_OF_POD.fullmatch(detail):
        flat = piece.text.replace("_", "-")
        return "task-memcg=" in flat and any(uid in flat for uid in pods)
    init = _INIT.fullmatch(detail)
    if init:  # the report has to say that it was the init container
        told = f"{piece.text} {diagnosis.summary}".lower()
        return piece.source.container == init["container"] and "init" in told
    return says(piece.text, detail)


def says(text: str, words: str) -> bool:
    """The text has the words literally, or all of them in this order."""
    folded = text.lower()
    if words.lower() in folded:
        return True
    ordered = r"\b.*?\b".join(re.escape(word) for word in words.lower().split())
    return re.search(rf"\b{ordered}\b", folded, re.DOTALL) is not None
