"""Phrases in one pass: edges that a table shows better than a property."""

import pytest

from matchers.automaton import SEPARATOR, TEXTS_JOINED, Automaton, fold


@pytest.mark.parametrize(
    ("phrases", "text", "found"),
    [
        pytest.param(["oom"], "OOMKilled", [("OOM", (0,))], id="any-case"),
        pytest.param(
            ["abcd", "bc"], "xabcdx", [("bc", (1,)), ("abcd", (0,))], id="a-phrase-in-a-phrase"
        ),
        pytest.param(["ab", "ba"], "aba", [("ab", (0,)), ("ba", (1,))], id="overlapping"),
        pytest.param(["aa"], "aaa", [("aa", (0,)), ("aa", (0,))], id="overlapping-itself"),
        pytest.param(["xid", "XID"], "Xid 79", [("Xid", (0, 1))], id="two-owners-of-one-phrase"),
        pytest.param(["k"], "\u212a", [], id="kelvin-sign-is-no-k"),
        pytest.param(["lost"], "\u0130\u0130 LOST", [("LOST", (0,))], id="after-letters-that-grow"),
        pytest.param(["ß"], "ß SS", [("ß", (0,))], id="sharp-s-is-not-ss"),
        pytest.param(
            ["\U0001f525 fire"], "\U0001f525 FIRE", [("\U0001f525 FIRE", (0,))], id="emoji"
        ),
        pytest.param([], "anything", [], id="no-phrases"),
        pytest.param(["a"], "", [], id="no-text"),
    ],
)
def test_hits(phrases: list[str], text: str, found: list[tuple[str, tuple[int, ...]]]) -> None:
    automaton = Automaton((phrase, owner) for owner, phrase in enumerate(phrases))
    assert [(text[hit.start : hit.end], hit.owners) for hit in automaton.hits(text)] == found


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        pytest.param([], {}, id="no-texts"),
        pytest.param(["quiet", "", "still quiet"], {}, id="quiet-texts-are-absent"),
        pytest.param(["lost node", "x", "node lost"], {0: {0, 1}, 2: {0, 1}}, id="its-own-index"),
        pytest.param(["no", "de", "lo", "st"], {}, id="never-across-two-texts"),
        pytest.param(["", "", "lost"], {2: {0}}, id="after-empty-texts"),
        pytest.param(["a\x00lost", "b"], {0: {0}}, id="a-text-may-hold-the-separator"),
        pytest.param(["lost", "lost"], {0: {0}, 1: {0}}, id="equal-texts-count-each"),
        pytest.param(["\u0130" * 9 + "lost", "b"], {0: {0}}, id="letters-that-would-grow"),
    ],
)
def test_hits_by_text(texts: list[str], found: dict[int, set[int]]) -> None:
    assert Automaton([("lost", 0), ("node", 1)]).hits_by_text(texts) == found


def test_a_batch_larger_than_one_buffer() -> None:
    texts = ["quiet"] * (2 * TEXTS_JOINED) + ["lost"]
    texts[TEXTS_JOINED - 1] = texts[TEXTS_JOINED] = "node"
    found = Automaton([("lost", 0), ("node", 1)]).hits_by_text(texts)
    assert found == {TEXTS_JOINED - 1: {1}, TEXTS_JOINED: {1}, 2 * TEXTS_JOINED: {0}}


@pytest.mark.parametrize("phrase", ["", f"a{SEPARATOR}b"])
def test_a_phrase_that_cannot_be_searched_is_refused(phrase: str) -> None:
    with pytest.raises(ValueError, match="phrase"):
        Automaton([(phrase, 0)])


def test_fold_keeps_the_length_of_any_text() -> None:
    text = "".join(map(chr, range(0x250))) + "\u0130\u1e9e\ud800\U0001f525"
    assert len(fold(text)) == len(text)
    assert fold("ÀÉ") == "ÀÉ"
