"""The labelled cases of `tests/cases`: records, the question asked about them, the label."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct, field

CASES = Path(__file__).parent / "cases"
_SITE = re.compile(r"server|site-\d+")


class Case(Struct, frozen=True, kw_only=True):
    """One file of `tests/cases`, as it stands there."""

    id: str
    family: str
    records: list[dict[str, Any]]
    expect: dict[str, Any]
    request: dict[str, str] = field(default_factory=dict)
    lookback: str = "24h"
    as_of: str = ""

    @property
    def options(self) -> list[str]:
        """The options of `causestream replay` that ask what the case asks."""
        if self.family == "flare":
            return []
        chosen = ["--cluster", self.request["cluster_id"], "--lookback", self.lookback]
        chosen += ["--as-of", self.as_of]
        chosen += ["--workload", self.request.get("workload_id") or self.request["workload_name"]]
        if "project" in self.request:
            chosen += ["--project", self.request["project"]]
        if "intent" in self.request:
            chosen += ["--intent", self.request["intent"].split("-")[0]]
        return chosen

    @property
    def jobs(self) -> list[str]:
        """The job that is asked about: the ids that records are keyed by and the label allows."""
        barred = {text.removeprefix("diagnose:") for text in self.expect["must_not"]}
        keys = {str(record["key"]) for record in self.records if record.get("key")}
        return sorted(key for key in keys if not _SITE.fullmatch(key) and key not in barred)

    @property
    def pods(self) -> dict[str, str]:
        """Pod uid to pod name, from the pod records."""
        values = [r["value"] for r in self.records if r["topic"] == "runai-pods"]
        return {value["id"]: value["name"] for value in values}


@cache
def load_cases(family: str) -> tuple[Case, ...]:
    """All cases of one family, by file name."""
    found = []
    for path in sorted((CASES / family).glob("*.json")):
        data = orjson.loads(path.read_bytes())
        known = {name: data[name] for name in Case.__struct_fields__ if name in data}
        found.append(Case(**known, family=family))
    return tuple(found)
