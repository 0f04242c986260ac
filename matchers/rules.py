"""A catalog made ready to match: compiled once, immutable, the same on every machine."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from matchers.automaton import Automaton, fold
from matchers.catalog import Catalog, Category, ExitCode, Pattern, RouteRow, Signal
from matchers.confirm import NOTHING, Found, Regex, relocated
from matchers.injection import Detector
from matchers.loading import INJECTION, SECRETS, load
from matchers.redact import Redactor
from matchers.rows import CatalogError, Fault
from matchers.secrets import read_secrets
from matchers.slots import read_lexicon
from schemas.entry import Entry, Value, Where

ANCHOR = -1
"""Owner, in `Rules.log_automaton`, of the phrases that may turn out to be injected text."""

T = TypeVar("T", bound=Struct)


class Match(Struct, frozen=True, kw_only=True):
    """A signal that an entry reveals.

    `attrs` are the entry's own with the regex's groups over them, `where` the place the text speaks
    about. `start` and `end` are the first phrase in the entry's text (0, 0: found by its reason).
    """

    signal: Signal
    attrs: Mapping[str, Value]
    where: Where
    start: int = 0
    end: int = 0

    @property
    def is_draft(self) -> bool:
        """A draft row is counted, never published."""
        return self.signal.status == "draft"


class Rules:
    """Everything that turns entries into signals, and signals into verdicts. Immutable.

    `automaton` holds every phrase of every signal, its owners are positions in the catalog;
    `log_automaton` those that a FLARE log line can show, with the anchors of `detector`.
    """

    def __init__(self, catalog: Catalog, detector: Detector, redactor: Redactor) -> None:
        self.catalog = catalog
        self.detector = detector
        self.redactor = redactor
        self.digest = catalog.digest
        self.signals: Mapping[str, Signal] = catalog.signals
        by_rank = sorted(catalog.patterns.items(), key=lambda item: (item[1].rank, item[0]))
        self.patterns: Mapping[str, Pattern] = MappingProxyType(dict(by_rank))
        self.categories: Mapping[str, Category] = catalog.categories
        self.exit_codes: Mapping[int, ExitCode] = catalog.exit_codes
        self.routes: Mapping[str, RouteRow] = catalog.routes
        self._rows = tuple(_Row(signal) for signal in catalog.signals.values())
        phrases = [(p, i) for i, row in enumerate(self._rows) for p in row.signal.phrases]
        self.automaton = Automaton(phrases)
        in_logs = [(p, i) for p, i in phrases if "flare_log" in self._rows[i].signal.sources]
        self.log_automaton = Automaton([*in_logs, *((p, ANCHOR) for p in detector.anchors)])
        self._by_reason = _by_reason(self._rows)

    @classmethod
    def load(cls, folders: Sequence[Path] = ()) -> "Rules":
        """The built-in rules with the user's folders over them. Raises `CatalogError`.

        The built-in ones are made once per process: they ship with the code and cannot change.
        """
        return _compiled(folders) if folders else _builtin_rules()

    @classmethod
    def of(cls, catalog: Catalog) -> "Rules":
        """A catalog's rules with the built-in detector and redactor."""
        return cls(catalog, *_builtin())

    def match(self, entry: Entry) -> list[Match]:
        """Every signal that `entry` reveals, in catalog order; draft rows too."""
        spans = self._spans(entry.text)
        candidates = {
            *self._by_reason.get((entry.source, entry.reason), ()),
            *(owner for owner in spans if not self._rows[owner].signal.reasons),
        }
        if not candidates:
            return []
        folded = fold(entry.text)
        matches: list[Match] = []
        for owner in sorted(candidates):
            row = self._rows[owner]
            if row.signal.phrases and owner not in spans:
                continue
            if not row.allows(entry):
                continue
            match = row.matched(entry, folded, spans.get(owner, (0, 0)))
            if match is not None:
                matches.append(match)
        return matches

    def matches_text(self, text: str, sources: Set[str] = frozenset()) -> list[Signal]:
        """The signals whose words are in `text`, whatever else their rows ask of an entry.

        For trying phrases out: a bare line has no reason, level or object. `sources` narrows it to
        signals of these sources.
        """
        folded, found = fold(text), []
        for owner in sorted(self._spans(text)):
            row = self._rows[owner]
            if sources and sources.isdisjoint(row.signal.sources):
                continue
            if not row.is_ruled_out(folded) and row.groups(text) is not None:
                found.append(row.signal)
        return found

    def _spans(self, text: str) -> dict[int, tuple[int, int]]:
        """For each signal with a phrase in `text`: where its first phrase stands."""
        spans: dict[int, tuple[int, int]] = {}
        for start, end, owners in self.automaton.hits(text):
            for owner in owners:
                spans.setdefault(owner, (start, end))
        return spans


class _Row:
    """One signal, compiled."""

    __slots__ = ("_regex", "_unless", "signal")

    def __init__(self, signal: Signal) -> None:
        self.signal = signal
        self._regex = Regex(signal.regex) if signal.regex else None
        self._unless = tuple(fold(text) for text in signal.unless)

    def allows(self, entry: Entry) -> bool:
        """Everything but the text is as the row asks."""
        signal = self.signal
        return (
            entry.source in signal.sources
            and (not signal.levels or entry.level in signal.levels)
            and (not signal.loggers or entry.logger.endswith(tuple(signal.loggers)))
            and (not signal.objects or object_kind(entry.where) in signal.objects)
            and all(entry.attrs.get(name) == value for name, value in signal.attrs.items())
        )

    def is_ruled_out(self, folded: str) -> bool:
        """The text says what the row must not see."""
        return any(text in folded for text in self._unless)

    def groups(self, text: str) -> Found | None:
        """What the regex names: attrs and place; None when it does not match."""
        return NOTHING if self._regex is None else self._regex.confirm(text)

    def matched(self, entry: Entry, folded: str, span: tuple[int, int]) -> Match | None:
        """The entry as a match of this row, when its text confirms it."""
        if self.is_ruled_out(folded):
            return None
        found = self.groups(entry.text)
        if found is None:
            return None
        attrs, place = found
        return Match(
            signal=self.signal,
            attrs={**entry.attrs, **attrs} if attrs else entry.attrs,
            where=relocated(entry.where, place) if place else entry.where,
            start=span[0],
            end=span[1],
        )


def object_kind(where: Where) -> str:
    """The kind of the Kubernetes object an entry is about; a pod's place has no `kind`."""
    return where.kind or ("Pod" if where.pod else "")


@cache
def _builtin_rules() -> Rules:
    return _compiled(())


def _compiled(folders: Sequence[Path]) -> Rules:
    """The rules of these folders over the built-in ones; the faults of all files at once."""
    faults: list[Fault] = []

    def attempt(read: Callable[[], T]) -> T | None:
        try:
            return read()
        except CatalogError as error:
            faults.extend(error.faults)
            return None

    catalog = attempt(lambda: load(folders))
    secrets = attempt(lambda: _layered(read_secrets, folders, SECRETS))
    lexicon = attempt(lambda: _layered(read_lexicon, folders, INJECTION))
    if catalog is None or secrets is None or lexicon is None:
        raise CatalogError(faults)
    redactor = Redactor(secrets)
    return Rules(catalog, Detector(lexicon, redactor), redactor)


@cache
def _builtin() -> tuple[Detector, Redactor]:
    redactor = Redactor.load()
    return Detector.load(redactor=redactor), redactor


def _layered(read: Callable[[Path | None], T], folders: Sequence[Path], name: str) -> T:
    """The built-in rows of a file of its own shape, and those that the user's folders add."""
    rows = read(None)
    for folder in folders:
        if (folder / name).is_file():
            more = read(folder / name)
            rows = replace(
                rows,
                **{
                    field: getattr(rows, field) + getattr(more, field)
                    for field in rows.__struct_fields__
                },
            )
    return rows


def _by_reason(rows: Sequence[_Row]) -> dict[tuple[str, str], tuple[int, ...]]:
    found: dict[tuple[str, str], list[int]] = {}
    for owner, row in enumerate(rows):
        for source in row.signal.sources:
            for reason in row.signal.reasons:
                found.setdefault((source, reason), []).append(owner)
    return {key: tuple(owners) for key, owners in found.items()}
