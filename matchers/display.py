"""Foreign text made safe to show: on a terminal, in Markdown, in an excerpt.

What a reader cannot see, or what would act on the reader's screen, is shown as an escape. Nothing
is dropped: an escape keeps the evidence. JSON places need no more than the JSON encoder.
"""

import re
import unicodedata

_INVISIBLE = frozenset(
    (
        0x034F,  # combining grapheme joiner
        0x115F,  # Hangul fillers
        0x1160,
        0x17B4,  # Khmer inherent vowels
        0x17B5,
        0x2800,  # Braille blank
        0x3164,
        0xFFA0,
        0xFFFC,  # object replacement
    )
)
_VARIATION = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Anything outside this may need a look; ordinary text has only characters inside it.
_SUSPECT = re.compile(r"[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f\u4e00-\u9fff]")

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+\-.!|~&:$^=]")
_BREAK = "&#8203;"  # an entity: seen in the source, without width once rendered
_LIVE = re.compile(r"@|(?<=#)(?=\d)|(?<=:)(?=//)|(?<=[Ww][Ww][Ww])(?=\.)|(?<=[Gg][Hh]-)(?=\d)")

_SCHEME = re.compile(r"(?i)\b(h)tt(ps?)(?=:)")
_DOT = re.compile(r"(?<=[0-9A-Za-z])\.(?=[0-9A-Za-z])")
_HOST = re.compile(r"(?i)(?<=://)[^\s/]{1,255}|(?<=@)[\w.-]{1,255}|\b\d{1,3}(?:\.\d{1,3}){3}\b")


def is_hidden(character: str) -> bool:
    """Whether a character has no look of its own, or acts on what is around it."""
    code = ord(character)
    if unicodedata.category(character) in _HIDING or code in _INVISIBLE:
        return True
    return any(code in span for span in _VARIATION)


def escape_of(character: str) -> str:
    """The character as an escape: `\\x1b`, `\\u202e`, `\\U000e0041`."""
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible(text: str, *, keep: str = "") -> str:
    """The text with each control, bidi and invisible character not in `keep` as an escape."""
    if text.isascii() and text.isprintable():
        return text

    def shown(found: re.Match[str]) -> str:
        character = found[0]
        return escape_of(character) if is_hidden(character) and character not in keep else character

    return _SUSPECT.sub(shown, text)


def escape_terminal(text: str) -> str:
    """Text for one line of a terminal: nothing in it moves the cursor, colours or links."""
    return visible(text)


def escape_markdown(text: str) -> str:
    """Text for running Markdown: no link, image, mention, heading, HTML or fence is live."""
    shown = visible(text)
    pieces: list[str] = []
    at = 0
    for found in _LIVE.finditer(shown):
        pieces.append(_escape_marks(shown[at : found.end()]))
        pieces.append(_BREAK)
        at = found.end()
    pieces.append(_escape_marks(shown[at:]))
    return "".join(pieces)


def code_span(text: str) -> str:
    """Text as a Markdown code span: kept to the letter, and inert wherever code spans are.

    Bars are escaped for tables, which split cells before they look for code.
    """
    shown = visible(text).replace("|", "\\|") or " "
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def defang(text: str) -> str:
    """The text with its addresses made unclickable: `hxxps://host[.]example`, `10[.]0[.]0[.]1`."""
    return _HOST.sub(lambda found: _DOT.sub("[.]", found[0]), _SCHEME.sub(r"\1xx\2", text))


def _escape_marks(text: str) -> str:
    return _MARKDOWN.sub(lambda found: "\\" + found[0], text)
