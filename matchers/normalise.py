"""One line as its reader would take it in: escapes undone, disguises taken off, work bounded.

Facts, injection 1c stages 0 and 1. `canonical` is for matching only; quotes come from the raw text.
"""

import re
import unicodedata
from typing import NamedTuple

HEAD_KEPT = 12 * 1024
TAIL_KEPT = 4 * 1024
CUT = " \u2026 "

_BACKSLASH = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " ", "a": "\x07", "e": "\x1b"}
_ENTITY = re.compile(
    r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos|nbsp|shy|zwnj));"
)
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "nbsp": " "}
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_CSI = re.compile(r"(?:\x1b\[|\x9b)([0-?]{0,64})[ -/]{0,8}([@-~])")
_OSC = re.compile(r"(?:\x1b\]|\x9d)(\d{0,4});?")
_ESCAPES = re.compile(r"\x1b[PX^_\\]?|\x07|[\x80-\x9f]")
_BLANKS = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_HEADER_INSIDE = re.compile(
    r"\n[\[(]?(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d|[IWEF]\d{4} \d\d:\d\d:\d\d|\[?(?:error|warn|info)\b)"
)
_WORD = re.compile(r"[^\W\d_]+")
_ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\u3164\u115f\u1160\uffa0")
_BIDI = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")

# Letters of other scripts that print like Latin ones (own selection from the look of the glyphs).
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0432\u043a\u043c"
    "\u043d\u0442\u0433\u0501\u051b\u051d\u04cf\u0261\u0251\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd"
    "\u03bf\u03c1\u03c4\u03c5\u03c7\u03b7\u03bc\u03c3\u0578\u057d\u0585\u0570\u0581\u0269\u0131"
    "\u0499\u0493\u0454\u04af\u03f2\u03f3\u0292\u1d0f\u1d1c\u1d20\u1d21\u1d22\ua731\u0280\u0274",
    "aeopcyxijsdhbkmhtrdqwlgaabeikvoptuxnuonsohgiizfeycjzouvwzsrn",
)


class Canonical(NamedTuple):
    """A line made readable, and what had hidden it (a closed set of flags)."""

    text: str
    spaced: str  # the same before runs of blanks were joined
    flags: frozenset[str]


def clip(text: str) -> str:
    """At most 16 KiB: the head and the tail of a longer text."""
    if len(text) <= HEAD_KEPT + TAIL_KEPT:
        return text
    return text[:HEAD_KEPT] + CUT + text[-TAIL_KEPT:]


def canonical(raw: str) -> Canonical:
    """The readable form of one line, already clipped."""
    flags: set[str] = set()
    text = raw
    for _ in range(2):  # a JSON string inside a JSON string
        if "\\" in text:
            text = _BACKSLASH.sub(_unescaped, text)
    if "&" in text and ";" in text:
        text = _ENTITY.sub(_entity, text)
    if text.count("%") >= 3:
        text = _percent(text)
    if not text.isascii() or not text.isprintable():
        text = _without_terminal(text, flags)
    if not text.isascii():
        text = _without_disguise(text, flags)
    text = text.casefold()
    if not text.isascii():
        text = _without_marks(text)
    if not text.isprintable():
        inner = text.strip("\r\n")
        if "\r" in inner.replace("\r\n", ""):
            flags.add("return")
        text = _BREAKS.sub("\n", text)
        if _HEADER_INSIDE.search(text):
            flags.add("forged-header")
    return Canonical(_BLANKS.sub(" ", text).strip(), text, frozenset(flags))


def fold_phrase(phrase: str) -> str:
    """A phrase of the catalog in the form in which `canonical` shows text."""
    text = unicodedata.normalize("NFKC", phrase).casefold()
    return " ".join(_without_marks(text).split())


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits:
        code = int(digits, 16)
        if found[2] and code > 0x7F and code not in (0x9B, 0x9D):
            return " "  # a byte of some binary value, no letter
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    character: str = found[4]
    return _PLAIN.get(character, character)


def _entity(found: re.Match[str]) -> str:
    code = int(found[1]) if found[1] else int(found[2], 16) if found[2] else -1
    if code >= 0:
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return _NAMED.get(found[3], "")


def _percent(text: str) -> str:
    if len(re.findall(r"%[0-9a-fA-F]{2}", text)) < 3:
        return text
    return _PERCENT.sub(
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text
    )


def _without_terminal(text: str, flags: set[str]) -> str:
    """Terminal sequences taken out, and what they would have done to the screen noted."""
    if "\x1b" not in text and not any("\x80" <= c <= "\x9f" or c == "\x07" for c in text):
        return text

    def csi(found: re.Match[str]) -> str:
        parameters, final = found[1].split(";"), found[2]
        if final == "m":
            shown = {p for p in parameters if len(p) == 2}
            same = any(f"3{n}" in shown and f"4{n}" in shown for n in range(8))
            if "8" in parameters or same:
                flags.add("concealed")
        elif final == "J" and found[1] in ("2", "3"):
            flags.add("erased")
        elif final in "ABCDEFGHJKfsuSTP":
            flags.add("cursor")
        return ""

    def osc(found: re.Match[str]) -> str:
        flags.add("clipboard" if found[1] == "52" else "link" if found[1] == "8" else "title")
        return " "

    return _ESCAPES.sub("", _OSC.sub(osc, _CSI.sub(csi, text)))


def _without_disguise(text: str, flags: set[str]) -> str:
    """Surrogates joined, tag letters read, invisible characters and lookalikes taken off."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if any("\U000e0020" <= c <= "\U000e007e" for c in text):
        flags.add("tags")
        text = "".join(
            chr(ord(c) - 0xE0000) if "\U000e0020" <= c <= "\U000e007e" else c for c in text
        )
    if not _BIDI.isdisjoint(text):
        flags.add("bidi")
    if sum(c in _ZERO_WIDTH for c in text) >= 3:
        flags.add("invisible")
    text = unicodedata.normalize("NFKC", text)
    shown = "".join(c for c in text if not _is_silent(c)) if not text.isascii() else text
    latin = sum(c.isascii() and c.isalpha() for c in shown)
    others = sum(not c.isascii() and c.isalpha() for c in shown)
    if others and latin >= others:
        folded = _WORD.sub(_lookalike, shown.lower())
        if folded != shown.lower():
            flags.add("lookalikes")
        return folded
    return shown


def _is_silent(c: str) -> bool:
    if c.isascii():
        return False
    return (
        c in _ZERO_WIDTH
        or unicodedata.category(c) == "Cf"
        or "\ufe00" <= c <= "\ufe0f"
        or ("\U000e0100" <= c <= "\U000e01ef")
    )


def _lookalike(found: re.Match[str]) -> str:
    word: str = found[0]
    if word.isascii() or not any(ord(c) in _LOOKALIKES for c in word):
        return word
    read = unicodedata.normalize("NFD", word).translate(_LOOKALIKES)
    plain = "".join(c for c in read if not unicodedata.combining(c))
    return plain if plain.isascii() else word


def _without_marks(text: str) -> str:
    """Accents off, so that one spelling serves a language."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))
