"""Whether a catalog proves itself: samples, duplicates, dead phrases, advice that is safe.

`loading.load` refuses what cannot be used; `lint` refuses what should not be trusted. All faults
at once, each with file, line and row.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from matchers.automaton import fold
from matchers.catalog import Catalog, CatalogSample, Commands, Pattern, Signal
from matchers.commands import problems
from matchers.injection import lint_injection
from matchers.loading import BUILTIN, INJECTION, SECRETS, load_usable
from matchers.redact import lint_secrets
from matchers.rows import CatalogError, Fault, Place
from matchers.rules import Rules
from schemas.entry import Entry, SourceName, Where


def lint_folders(folders: Sequence[Path] = ()) -> list[Fault]:
    """Everything that speaks against the built-in catalog with these folders over it.

    Rows that cannot even be used are named with the rest; the others are still proven.
    """
    catalog, unusable = load_usable(folders)
    found = unusable + lint(catalog)
    try:
        Rules.load(folders)
    except CatalogError as error:
        found += error.faults
    for name, check in ((SECRETS, lint_secrets), (INJECTION, lint_injection)):
        own = [folder / name for folder in folders if (folder / name).is_file()]
        for path in (None, *own):
            file = str(path) if path else f"{BUILTIN}/{name}"
            remedy = "correct the sample, or the row"
            found += [Fault(file=file, what=what, remedy=remedy) for what in check(path)]
    return sorted(set(found))


def lint(catalog: Catalog) -> list[Fault]:
    """Everything that speaks against trusting the rows of a catalog, by file and line."""
    rules = Rules.of(catalog)
    found: list[Fault] = []
    for signal in catalog.signals.values():
        place = catalog.places["signal", signal.id]
        found += _unproven(signal, place)
        found += _samples(signal, place, rules)
        found += _dead_phrases(signal, place)
    found += _duplicates(catalog)
    found += _patterns(catalog)
    found += _advice(catalog)
    return sorted(set(found))


def sample_entries(signal: Signal, sample: str | CatalogSample) -> Iterator[Entry]:
    """A sample as entries, one for each source it may come from.

    What the sample leaves open is as the row asks, so that a rejected sample is rejected for what
    it does say.
    """
    given = CatalogSample(text=sample) if isinstance(sample, str) else sample
    sources: list[SourceName] = [s for s in signal.sources if given.source in ("", s)]
    for source in sources:
        kind = given.object or next(iter(signal.objects), "")
        yield Entry(
            fact="log" if source == "flare_log" else "event",
            source=source,
            where=Where(pod="sample") if kind == "Pod" else Where(kind=kind),
            merge="line",
            record_id="sample",
            first_ms=0,
            last_ms=0,
            text=given.text,
            reason=given.reason or next(iter(signal.reasons), ""),
            level=given.level or next(iter(signal.levels), ""),
            logger=given.logger or next(iter(signal.loggers), ""),
            attrs={**signal.attrs, **given.attrs},
        )


def is_found(signal: Signal, sample: str | CatalogSample, rules: Rules) -> bool | None:
    """Whether the rules see the signal in the sample; None: they differ between its sources."""
    answers = {
        any(match.signal.id == signal.id for match in rules.match(entry))
        for entry in sample_entries(signal, sample)
    }
    return answers.pop() if len(answers) == 1 else (None if answers else False)


def bare_phrases(signal: Signal) -> list[str]:
    """Phrases that stand in none of the texts that the row must match."""
    texts = [fold(m if isinstance(m, str) else m.text) for m in signal.matches]
    return [p for p in signal.phrases if not any(fold(p) in text for text in texts)]


def _samples(signal: Signal, place: Place, rules: Rules) -> Iterator[Fault]:
    for sample in signal.matches:
        if not is_found(signal, sample, rules):
            remedy = "correct the sample, or the phrases and conditions of the row"
            yield place.fault(f"does not match its sample {_shown(sample)}", remedy)
    for sample in signal.rejects:
        if is_found(signal, sample, rules) is not False:
            remedy = "narrow the row (phrases, regex, unless), or correct the sample"
            yield place.fault(f"matches what it must reject: {_shown(sample)}", remedy)


def _unproven(signal: Signal, place: Place) -> Iterator[Fault]:
    for field, value in (("matches", signal.matches), ("rejects", signal.rejects)):
        if not value:
            remedy = "add a real sample, as a producer writes it"
            yield place.fault(f"{field} is empty", remedy)
    if not signal.why.strip():
        yield place.fault("why is empty", "say where the text comes from and what it means")


def _dead_phrases(signal: Signal, place: Place) -> Iterator[Fault]:
    folded = [fold(phrase) for phrase in signal.phrases]
    for i, phrase in enumerate(folded):
        shorter = next(
            (p for j, p in enumerate(folded) if j != i and p in phrase and (p != phrase or j < i)),
            None,
        )
        if shorter is not None:
            what = f"phrase {signal.phrases[i]!r} is dead: {shorter!r} is always found first"
            yield place.fault(what, "remove one of the two")
        ruled_out = next((text for text in signal.unless if fold(text) in phrase), None)
        if ruled_out is not None:
            what = f"phrase {signal.phrases[i]!r} is dead: it holds {ruled_out!r} of `unless`"
            yield place.fault(what, "remove one of the two")


def _duplicates(catalog: Catalog) -> Iterator[Fault]:
    seen: dict[tuple[object, ...], str] = {}
    for signal in catalog.signals.values():
        for source in signal.sources:
            key = (source, *_condition(signal))
            other = seen.setdefault(key, signal.id)
            if other != signal.id:
                what = f"asks for the same as signal {other} in {source}"
                remedy = "merge the two rows, or tell them apart"
                yield catalog.places["signal", signal.id].fault(what, remedy)
                break


def _condition(signal: Signal) -> tuple[object, ...]:
    lists = (signal.reasons, signal.levels, signal.loggers, signal.objects)
    return (
        frozenset(map(fold, signal.phrases)),
        *map(frozenset, lists),
        signal.regex,
        frozenset(map(fold, signal.unless)),
        frozenset(signal.attrs.items()),
    )


def _patterns(catalog: Catalog) -> Iterator[Fault]:
    ranks: dict[int, str] = {}
    for pattern in catalog.patterns.values():
        place = catalog.places["pattern", pattern.name]
        other = ranks.setdefault(pattern.rank, pattern.name)
        if other != pattern.name:
            remedy = "give each pattern a rank of its own: the lower one decides"
            yield place.fault(f"rank {pattern.rank} is that of {other} too", remedy)
        yield from _modes(pattern, place)


def _modes(pattern: Pattern, place: Place) -> Iterator[Fault]:
    commands = {
        "simulation": pattern.command.simulation,
        "poc_production": pattern.command.poc_production,
    }
    for mode, command in commands.items():
        if command and mode not in pattern.modes:
            what = f"a command for {mode}, where it is never diagnosed"
            yield place.fault(what, "remove the command, or add the mode")
        if not command and mode in pattern.modes:
            what = f"no command for {mode}"
            yield place.fault(what, "add the next bounded, read-only command")


def _advice(catalog: Catalog) -> Iterator[Fault]:
    """Actions say something, and every command is one that may be run without a thought."""
    for kind, rows in _advising(catalog).items():
        for name, (why, action, command) in rows.items():
            place = catalog.places[kind, name]
            if not why.strip():
                yield place.fault("why is empty", "say what the row rests on")
            if not action.strip():
                yield place.fault("action is empty", "say what to do next, in one sentence")
            for field in ("simulation", "poc_production", "kubernetes"):
                text = getattr(command, field)
                if text:
                    for what, remedy in problems(text, simulation=field == "simulation"):
                        yield place.fault(what, remedy)


def _advising(catalog: Catalog) -> Mapping[str, Mapping[str, tuple[str, str, Commands]]]:
    none = Commands()
    return {
        "pattern": {p.name: (p.why, p.action, p.command) for p in catalog.patterns.values()},
        "category": {c.name: (c.why, c.action, c.command) for c in catalog.categories.values()},
        "route": {r.name: (r.why, r.action, none) for r in catalog.routes.values()},
    }


def _shown(sample: str | CatalogSample) -> str:
    """The sample as one short line."""
    if isinstance(sample, str):
        return repr(sample[:120])
    set_fields = {f: getattr(sample, f) for f in sample.__struct_fields__ if getattr(sample, f)}
    return ", ".join(f"{name}={str(value)[:120]!r}" for name, value in set_fields.items())
