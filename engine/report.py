"""A diagnosis for people: as a Markdown report, as one line, as the cells of a table row. Pure.

The report has the output shape of the two documents that define the diagnosis (seeds 000 and 004):
the verdict on line one, the subject, evidence with quantities and sources, history, recommendation,
what is missing with the command that would get it. Foreign text appears only as inert code spans.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from engine.inert import code_block, name, prose
from matchers.display import code_span, escape_terminal
from schemas.diagnosis import (
    Completeness,
    Diagnosis,
    Echo,
    Evidence,
    EvidenceSource,
    Finding,
    Missing,
    Recurrence,
    Subject,
)

MODES = {
    "simulation": "simulation",
    "poc_production": "POC/production",
    "ambiguous": "ambiguous, simulation or POC/production",
}
TABLE_COLUMNS = ("Subject", "Verdict", "Sure", "How often", "Who acts", "When (UTC)", "Summary")


def verdict_of(diagnosis: Diagnosis) -> str:
    """The one word of a diagnosis: its category, its pattern or its route."""
    if diagnosis.route is not None:
        return diagnosis.route.name
    return diagnosis.category or diagnosis.matched_pattern or "UNKNOWN"


def is_failure(diagnosis: Diagnosis) -> bool:
    """Whether a failure was diagnosed: no route, nothing withdrawn, no bare finding."""
    withdrawn = diagnosis.state in ("withdrawn", "superseded")
    return diagnosis.route is None and not withdrawn and verdict_of(diagnosis) != _SUSPICIOUS


_SUSPICIOUS = "SUSPICIOUS_LOG_CONTENT"


def subject_words(subject: Subject) -> str:
    """A short name of a subject, for one line. Not escaped."""
    if subject.kind == "job":
        return f"job {subject.job_name or subject.job_id or 'without an id'}"
    if subject.kind == "site":
        return f"site {subject.site}" if subject.site != "server" else "server"
    name = subject.workload_name or subject.workload_id
    home = subject.project or subject.namespace
    return f"{home}/{name}" if home and name else name or home


def often(recurrence: Recurrence | None) -> str:
    """How often: `3× in 7 days`, `once`, or nothing."""
    if recurrence is None or recurrence.count == 0:
        return ""
    if recurrence.count == 1 and not recurrence.at_least:
        return "once"
    least = "≥" if recurrence.at_least else ""
    return f"{least}{recurrence.count}× in {span(recurrence.lookback_s)}"


def one_line(diagnosis: Diagnosis) -> str:
    """The diagnosis as one line that is safe on a terminal."""
    words = [
        verdict_of(diagnosis),
        f"({diagnosis.confidence})" if diagnosis.route is None else "(no failure)",
        f"{subject_words(diagnosis.subject)}:",
        diagnosis.summary,
    ]
    count = often(diagnosis.recurrence)
    return escape_terminal(" ".join(words) + (f" [{count}]" if count else ""))


def table_cells(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The cells under `TABLE_COLUMNS`, safe on a terminal."""
    owner = diagnosis.recovery_owner if diagnosis.route is None else ""
    owner = owner.partition(" (")[0].partition(";")[0]  # the detail is for the report
    cells = (
        subject_words(diagnosis.subject),
        verdict_of(diagnosis) if diagnosis.route is None else f"→ {diagnosis.route.name}",
        diagnosis.confidence,
        often(diagnosis.recurrence),
        owner,
        moment(diagnosis.event_time_ms)[:16],
        diagnosis.summary.removeprefix(verdict_of(diagnosis)).lstrip(": "),
    )
    return tuple(escape_terminal(cell) for cell in cells)


def markdown(diagnosis: Diagnosis) -> str:
    """The whole report; ends with a line end."""
    blocks = [
        _headline(diagnosis),
        _subject_line(diagnosis),
        _mode_line(diagnosis),
        _standing(diagnosis),
        prose(diagnosis.summary),
        _section("Evidence", list(dict.fromkeys(map(_evidence, diagnosis.evidence))) or ["none"]),
        _history(diagnosis.recurrence),
        _section("Recommendation", _actions(diagnosis)),
        _section("Missing", [_missing(item) for item in diagnosis.missing_evidence]),
        _section("Findings", [_finding(item) for item in diagnosis.findings]),
        _section("Echoes of the first failure", [_echo(item) for item in diagnosis.echoes]),
        _section("View", list(_view(diagnosis.completeness))),
        _footer(diagnosis),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _headline(diagnosis: Diagnosis) -> str:
    if diagnosis.route is not None:
        return f"Route: {verdict_of(diagnosis)}"
    return f"{'Pattern' if diagnosis.matched_pattern else 'Category'}: {verdict_of(diagnosis)}"


def _subject_line(diagnosis: Diagnosis) -> str:
    subject, status = diagnosis.subject, diagnosis.phase_or_status or "not known"
    if subject.kind == "job":
        called = f"{name(subject.job_id)} ({name(subject.job_name)})" if subject.job_name else ""
        parts = [f"Job: {called or name(subject.job_id)}", f"Status: {name(status)}"]
    elif subject.kind == "site":
        parts = [f"Site: {name(subject.site)}", f"Status: {name(status)}"]
    else:
        label = {"workload": "Workload", "owner": "Owner", "pod": "Pod"}[subject.kind]
        parts = [f"{label}: {name(subject.workload_name or subject.workload_id)}"]
        parts.append(f"Phase: {name(status)}")
        for title, value in (("Project", subject.project), ("Namespace", subject.namespace)):
            parts += [f"{title}: {name(value)}"] if value else []
            if value and title == "Project":
                break
        parts += [f"Cluster: {name(subject.cluster_id)}"] if subject.cluster_id else []
    parts += [f"Federation: {name(subject.federation)}"] if subject.federation else []
    return " | ".join(parts)


def _mode_line(diagnosis: Diagnosis) -> str:
    if diagnosis.mode is None:
        return ""
    sources = {_place(item.source) or item.source.tool for item in diagnosis.evidence} - {""}
    read = _names(sorted(sources)) or "none"
    return f"Runtime mode: {MODES[diagnosis.mode]} | Evidence sources: {read}"


def _standing(diagnosis: Diagnosis) -> str:
    parts = [f"Confidence: {diagnosis.confidence}"]
    if diagnosis.recovery_category:
        parts.append(f"Recovery category: {diagnosis.recovery_category}")
    if diagnosis.subcause:
        parts.append(f"Nearer cause: {name(diagnosis.subcause)}")
    if diagnosis.recovery_owner and diagnosis.route is None:
        parts.append(f"Who acts: {prose(diagnosis.recovery_owner)}")
    if diagnosis.culprits:
        failed = ", ".join(f"{item.kind} {name(item.name)}" for item in diagnosis.culprits)
        parts.append(f"Failed first: {failed}")
    return " | ".join(parts)


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"{title}:", "", *(f"- {line}" for line in lines)]) if lines else ""


def _evidence(item: Evidence) -> str:
    place = f"{name(_place(item.source))}: " if _place(item.source) else ""
    times = f"{item.count} times, " if item.count > 1 else ""
    when = moment(item.first_ms)
    if item.last_ms != item.first_ms:
        when += f" to {moment(item.last_ms)}"
    about = f"({times}{when}; source: {_origin(item.source)})"
    if "\n" in item.text:
        return f"{place}{about}\n{code_block(item.text, indent='  ')}"
    shown = code_span(item.text) if item.text else f"signal {name(item.signal)}"
    return f"{place}{shown} {about}"


def _place(source: EvidenceSource) -> str:
    """Site and process, or pod and container: who says it."""
    if source.site:
        return f"{source.site}/{source.process}" if source.process else source.site
    return f"{source.pod}/{source.container}" if source.container else source.pod


def _origin(source: EvidenceSource) -> str:
    tool = f"{name(source.tool)}, " if source.tool else ""
    if source.file:
        return f"{tool}{name(source.file)} at byte {source.offset}"
    if source.topic:
        return f"{tool}{source.topic} {source.partition}/{source.offset}"
    return tool.rstrip(", ") or "not named"


def _history(recurrence: Recurrence | None) -> str:
    if recurrence is None:
        return ""
    window, count = span(recurrence.lookback_s), recurrence.count
    if count == 0:
        return f"History: no {recurrence.category} failure in the last {window}."
    least = "at least " if recurrence.at_least else ""
    failures = f"{least}{count} {recurrence.category} {'failure' if count == 1 else 'failures'}"
    kind = "recurring" if recurrence.recurring else "one-off"
    when = moment(recurrence.first_ms)
    if recurrence.last_ms != recurrence.first_ms:
        when += f" to {moment(recurrence.last_ms)}"
    return f"History: {failures} in the last {window}, {kind} ({when})."


def _actions(diagnosis: Diagnosis) -> list[str]:
    lines = [
        prose(item.action)
        if item.owner in ("", diagnosis.recovery_owner)  # who acts was said already
        else f"{prose(item.owner)}: {prose(item.action)}"
        for item in diagnosis.recommendations
    ]
    if diagnosis.route is not None:
        lines.insert(0, prose(diagnosis.route.reason))
    return lines


def _missing(item: Missing) -> str:
    command = f" Next: {code_span(item.next_command)}" if item.next_command else ""
    return f"{prose(item.what)}: {prose(item.why)}{command}"


def _finding(item: Finding) -> str:
    families = f" ({', '.join(item.families)})" if item.families else ""
    where = f" at {name(item.where)}" if item.where else ""
    times = f", {item.count} times" if item.count > 1 else ""
    quote = f"; untrusted text: {code_span(item.excerpt)}" if item.excerpt else ""
    return f"{item.kind}{families}{where}{times}{quote}"


def _echo(item: Echo) -> str:
    said = f" {code_span(item.text)}" if item.text else ""
    return f"{name(item.where)}: {name(item.signal)}{said} ({moment(item.time_ms)})"


def _view(view: Completeness) -> Iterator[str]:
    unseen = [who for who in view.expected if who not in view.seen]
    if view.expected:
        yield f"seen {len(view.expected) - len(unseen)} of {len(view.expected)} expected"
    if unseen:
        yield f"not seen: {_names(unseen)}"
    if view.truncated:
        yield f"truncated: {_names(view.truncated)}"
    yield from (f"limit: {prose(limit)}" for limit in view.limits)


def _footer(diagnosis: Diagnosis) -> str:
    about = f"Diagnosis {name(diagnosis.id)}, revision {diagnosis.revision}, {diagnosis.state}"
    return f"{about}; catalog {name(diagnosis.catalog_digest)}"


def _names(values: Iterable[str]) -> str:
    return ", ".join(name(value) for value in values)


def moment(time_ms: int) -> str:
    """A time in UTC, to the second; `?` where none is known."""
    if time_ms <= 0:
        return "?"
    return datetime.fromtimestamp(time_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def span(seconds: int) -> str:
    """A span in the largest unit that fits: `24 h`, `7 days`, `90 min`."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds % size == 0 and seconds // size > (1 if unit == "days" else 0):
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
