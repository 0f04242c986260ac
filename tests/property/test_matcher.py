"""Laws of matching: the one pass over everything finds what a search for each phrase finds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from matchers.automaton import SEPARATOR, Automaton, fold
from matchers.catalog import Catalog, Signal
from matchers.injection import Detector
from matchers.redact import Redactor
from matchers.rules import Rules
from matchers.slots import Lexicon
from schemas.entry import Entry, SourceName, Where
from tests.oracles import naive_match

# Few letters, so that phrases overlap, nest and repeat; some change length when lower-cased by
# Unicode's rules, some lie outside the BMP, one is a lone surrogate.
LETTERS = st.sampled_from("aAbB Kſ\u0130\u212aßé\U0001f600\ud800\n")
PHRASES = st.lists(
    st.tuples(st.text(LETTERS, min_size=1, max_size=4), st.integers(0, 5)), max_size=8
)
TEXTS = st.lists(st.text(st.one_of(LETTERS, st.just(SEPARATOR)), max_size=20), max_size=8)

SOURCES: tuple[SourceName, ...] = ("k8s_event", "flare_log")
REDACTOR = Redactor.load()
DETECTOR = Detector(Lexicon(slots=[], rules=[], quiet=[]), REDACTOR)  # nothing to build each time
WORDS = st.text(st.sampled_from("abA "), min_size=1, max_size=3)


@given(PHRASES, st.text(LETTERS, max_size=40))
def test_hits_agree_with_naive_search(phrases: list[tuple[str, int]], text: str) -> None:
    found = {(h.start, h.end, owner) for h in Automaton(phrases).hits(text) for owner in h.owners}
    assert found == naive_match.spans(phrases, text)


@given(PHRASES, TEXTS)
def test_a_batch_is_each_text_alone(phrases: list[tuple[str, int]], texts: list[str]) -> None:
    found = Automaton(phrases).hits_by_text(texts)
    assert found == naive_match.owners_by_text(phrases, texts)


@given(PHRASES, st.text(max_size=40))
def test_spans_fit_the_original(phrases: list[tuple[str, int]], text: str) -> None:
    known = {fold(phrase) for phrase, _ in phrases}
    for hit in Automaton(phrases).hits(text):
        assert fold(text[hit.start : hit.end]) in known


@given(st.text())
def test_folding_changes_ascii_letters_and_nothing_else(text: str) -> None:
    assert fold(text) == naive_match.lower_ascii(text)
    assert len(fold(text)) == len(text)


@st.composite
def signals(draw: st.DrawFn) -> list[Signal]:
    """A few rows that ask for overlapping things."""
    rows = []
    for number in range(draw(st.integers(0, 6))):
        phrases = draw(st.lists(WORDS.filter(str.strip), max_size=3))
        reasons = draw(st.lists(st.sampled_from(["Failed", "BackOff"]), max_size=2))
        rows.append(
            Signal(
                id=f"row.{number}",
                title="",
                sources=draw(st.lists(st.sampled_from(SOURCES), min_size=1, unique=True)),
                phrases=phrases,
                reasons=reasons if phrases or reasons else ["Failed"],
                unless=draw(st.lists(WORDS.filter(str.strip), max_size=1)),
                levels=draw(st.lists(st.sampled_from(["ERROR", "INFO"]), max_size=1)),
                loggers=draw(st.lists(st.sampled_from(["Cell", "ll"]), max_size=1)),
                objects=draw(st.lists(st.sampled_from(["Pod", "Node"]), max_size=1)),
                attrs=draw(st.dictionaries(st.just("code"), st.integers(0, 1), max_size=1)),
                matches=[],
                rejects=[],
                why="",
            )
        )
    return rows


ENTRIES = st.builds(
    Entry,
    fact=st.just("event"),
    source=st.sampled_from(SOURCES),
    where=st.builds(
        Where, kind=st.sampled_from(["", "Node"]), pod=st.sampled_from(["", "worker-0"])
    ),
    merge=st.just("event"),
    record_id=st.just("r"),
    first_ms=st.just(0),
    last_ms=st.just(0),
    text=st.text(st.sampled_from("abAB \n"), max_size=10),
    reason=st.sampled_from(["", "Failed", "BackOff"]),
    level=st.sampled_from(["", "ERROR", "INFO"]),
    logger=st.sampled_from(["", "Cell", "f3.Cell"]),
    attrs=st.dictionaries(st.just("code"), st.integers(0, 1), max_size=1),
)


@settings(max_examples=200)
@given(signals(), st.lists(ENTRIES, max_size=5))
def test_rules_agree_with_asking_every_row(rows: list[Signal], entries: list[Entry]) -> None:
    rules = Rules(catalog(rows), DETECTOR, REDACTOR)
    for entry in entries:
        assert [m.signal.id for m in rules.match(entry)] == naive_match.matching(rows, entry)


@given(signals(), ENTRIES)
def test_a_match_changes_no_entry(rows: list[Signal], entry: Entry) -> None:
    rules = Rules(catalog(rows), DETECTOR, REDACTOR)
    first = rules.match(entry)
    assert rules.match(entry) == first
    for match in first:
        assert match.where == entry.where
        assert match.attrs == entry.attrs


def catalog(rows: list[Signal]) -> Catalog:
    """Rows as a catalog of signals only."""
    return Catalog(
        signals={row.id: row for row in rows},
        patterns={},
        categories={},
        exit_codes={},
        routes={},
        places={},
        digest="",
    )
