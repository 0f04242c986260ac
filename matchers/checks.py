"""What must hold before a catalog can be used at all; `lint` asks for more than this."""

from collections.abc import Iterable, Iterator, Sequence, Set

from matchers.automaton import SEPARATOR
from matchers.catalog import FACTS, Catalog, CatalogSample, Pattern, Signal
from matchers.confirm import Regex, RegexError
from matchers.rows import Fault, Place

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "Normal", "Warning")
STATUSES = ("draft", "stable")
MODES = ("simulation", "poc_production")
BLAMES = ("site", "peer", "nobody")
READINGS = ("success", "application", "unresolved", "consequence")
RECOVERY_CATEGORIES = (
    "FIXABLE_BY_CODE",
    "FIXABLE_BY_CONFIG",
    "ENVIRONMENT_FAILURE",
    "RETRYABLE",
    "UNKNOWN",
)


def faults(catalog: Catalog, faulty: Set[str] = frozenset()) -> list[Fault]:
    """Everything in the catalog that would make it say something else than it means.

    `faulty` are signals that could not be read and have their own faults: naming them is none.
    """
    found: list[Fault] = []
    for signal in catalog.signals.values():
        found += _signal(signal, catalog.places["signal", signal.id])
    known = FACTS | catalog.signals.keys() | faulty
    for pattern in catalog.patterns.values():
        place = catalog.places["pattern", pattern.name]
        found += _pattern(pattern, place)
        for field, names in _named_by(pattern):
            found += _unknown(place, field, names, known)
    for category in catalog.categories.values():
        place = catalog.places["category", category.name]
        found += _unknown(place, "signals", category.signals, known)
        for subcause in category.subcauses:
            found += _unknown(place, f"subcause {subcause.name!r}", subcause.signals, known)
    for route in catalog.routes.values():
        found += _unknown(catalog.places["route", route.name], "signals", route.signals, known)
    for code in catalog.exit_codes.values():
        place = catalog.places["exit_code", str(code.code)]
        found += _closed(place, "reading", [code.reading], READINGS)
    return found


def _signal(signal: Signal, place: Place) -> Iterator[Fault]:
    if not signal.phrases and not signal.reasons:
        remedy = "a row is found by its literal phrases or by its entry's reason: give it one"
        yield place.fault("neither phrases nor reasons", remedy)
    if not signal.sources:
        yield place.fault("no sources", "name the sources whose entries can show it")
    for field, texts in (("phrases", signal.phrases), ("unless", signal.unless)):
        for text in texts:
            if not text.strip() or SEPARATOR in text:
                remedy = "write a literal piece of the text, without NUL characters"
                yield place.fault(f"{field}: {text!r} is nothing to search for", remedy)
    if signal.regex:
        try:
            Regex(signal.regex)
        except RegexError as error:
            yield place.fault(error.what, error.remedy)
    yield from _closed(place, "levels", signal.levels, LEVELS)
    yield from _closed(place, "status", [signal.status], STATUSES)
    for sample in signal.matches:
        if isinstance(sample, CatalogSample) and sample.source:
            yield from _closed(place, "a sample's source", [sample.source], signal.sources)


def _pattern(pattern: Pattern, place: Place) -> Iterator[Fault]:
    yield from _closed(place, "modes", pattern.modes, MODES)
    yield from _closed(place, "blames", [pattern.blames], BLAMES)
    yield from _closed(place, "status", [pattern.status], STATUSES)
    yield from _closed(place, "recovery_category", [pattern.recovery_category], RECOVERY_CATEGORIES)


def _named_by(pattern: Pattern) -> Iterator[tuple[str, Sequence[str]]]:
    yield "direct", pattern.direct
    yield "supporting", pattern.supporting
    for names in pattern.needs:
        yield "needs", names
    yield "cancelled_by", pattern.cancelled_by
    yield "explained_by", pattern.explained_by
    yield "not_with", pattern.not_with
    yield "indirect", pattern.indirect
    for field, table in (
        ("needs_for", pattern.needs_for),
        ("cancelled_only_by", pattern.cancelled_only_by),
    ):
        yield field, list(table)
        for names in table.values():
            yield field, names


def _unknown(
    place: Place, field: str, names: Iterable[str], known: Iterable[str]
) -> Iterator[Fault]:
    for name in names:
        if name not in known:
            remedy = "correct the name, or add the signal"
            yield place.fault(f"{field}: no signal {name!r}", remedy)


def _closed(
    place: Place, field: str, values: Iterable[str], allowed: Sequence[str]
) -> Iterator[Fault]:
    for value in values:
        if value not in allowed:
            yield place.fault(f"{field}: {value!r} is not known", f"use {', '.join(allowed)}")
