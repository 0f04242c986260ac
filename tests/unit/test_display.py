"""Foreign text that is shown: inert on a terminal and in Markdown, with nothing hidden."""

import pytest

from matchers.display import code_span, defang, escape_markdown, escape_terminal, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain text, 100 %", "plain text, 100 %", id="plain"),
        pytest.param("größer, 日本, ночь", "größer, 日本, ночь", id="letters-of-other-scripts"),
        pytest.param("a\tb\r\nc", "a\\tb\\r\\nc", id="breaks"),
        pytest.param("\x1b[8mhidden\x1b[0m", "\\x1b[8mhidden\\x1b[0m", id="conceal"),
        pytest.param("\x9b2Jx", "\\x9b2Jx", id="eight-bit-control"),
        pytest.param("abc\u202edef", "abc\\u202edef", id="bidi-override"),
        pytest.param("pass\u200bword\u00ad", "pass\\u200bword\\xad", id="invisible"),
        pytest.param("x\U000e0041", "x\\U000e0041", id="tag-letter"),
        pytest.param("a\u2028b", "a\\u2028b", id="line-separator"),
        pytest.param("\ud800", "\\ud800", id="lone-surrogate"),
        pytest.param("a\ufe0fb", "a\\ufe0fb", id="variation-selector"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert escape_terminal(text) == shown


def test_visible_keeps_what_is_asked_for() -> None:
    assert visible("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("# head", "\\# head", id="heading"),
        pytest.param("[a](b)", "\\[a\\]\\(b\\)", id="link"),
        pytest.param("![a](b)", "\\!\\[a\\]\\(b\\)", id="image"),
        pytest.param("```x", "\\`\\`\\`x", id="fence"),
        pytest.param("<img>", "\\<img\\>", id="html"),
        pytest.param("a | b", "a \\| b", id="table"),
        pytest.param("@team", "@&#8203;team", id="mention"),
        pytest.param("fixes #12", "fixes \\#&#8203;12", id="issue"),
        pytest.param("http://a", "http\\:&#8203;//a", id="bare-address"),
        pytest.param("www.a", "www&#8203;\\.a", id="bare-host"),
        pytest.param("1. x", "1\\. x", id="list"),
        pytest.param("a\nb", "a\\\\nb", id="break"),
    ],
)
def test_markdown(text: str, written: str) -> None:
    assert escape_markdown(text) == written


@pytest.mark.parametrize(
    ("text", "span"),
    [
        pytest.param("a b", "`a b`", id="plain"),
        pytest.param("a`b", "``a`b``", id="one-tick"),
        pytest.param("``", "``` `` ```", id="only-ticks"),
        pytest.param(" a", "`  a `", id="leading-blank"),
        pytest.param("a|b", "`a\\|b`", id="bar"),
        pytest.param("", "`   `", id="empty"),
    ],
)
def test_code_span(text: str, span: str) -> None:
    assert code_span(text) == span


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        pytest.param("https://a.b.example/x.py", "hxxps://a[.]b[.]example/x.py", id="address"),
        pytest.param("HTTP://a.example", "HxxP://a[.]example", id="upper-case"),
        pytest.param("10.0.0.1:80", "10[.]0[.]0[.]1:80", id="ip"),
        pytest.param("mail a@b.example", "mail a@b[.]example", id="mail"),
        pytest.param("torch.load failed", "torch.load failed", id="no-address"),
    ],
)
def test_defang(text: str, harmless: str) -> None:
    assert defang(text) == harmless
