"""Text in a log that tries to instruct its reader: found, named by family, quoted harmlessly.

Facts, injection 1c. A rule needs several kinds of words near each other; what the words are is data
(`injection.toml`). A finding says that a line is suspicious, never what to do about its content.
What is not promised: orders without any of the words, made-up ciphers, more than two lines.
"""

import re
from pathlib import Path

import re2
from msgspec import Struct
from msgspec.structs import replace

from matchers.automaton import fold
from matchers.display import defang, visible
from matchers.lines import Line, Met, Slots
from matchers.normalise import Canonical, canonical, clip
from matchers.redact import Redactor
from matchers.slots import FAMILIES, Lexicon, Rule, read_lexicon
from matchers.views import views
from matchers.waking import anchors, needs_look

THRESHOLD = 5
EXCERPT_KEPT = 200
PAIR_KEPT = 1024

_CARRIERS = {  # what hides text from one reader and not from another, and how much that says
    "concealed": 5,
    "clipboard": 5,
    "tags": 5,
    "title": 3,
    "bidi": 3,
    "invisible": 3,
    "lookalikes": 3,
    "erased": 3,
    "link": 2,
    "cursor": 1,
    "return": 1,
    "forged-header": 1,
}
_TELLING = "verdict|steer|run|privileged|cancel|status_claim|order"
"""Words that, where somebody took pains to hide a text, say why."""

_HEADER = re.compile(
    r"""(?:\d{4}-\d\d-\d\d[ T][\d:.,]{8,16}Z?(?: - [\w.]{1,120}){0,2} - [A-Za-z]{4,8} - """
    r"""(?:\[[^\]\n]{0,400}\]:? ?(?:- )?)?|\[rank\d{1,5}\]:(?:[IWEF]\d{4} [\d:.]{8,16} )? ?"""
    r"""|[IWEF]\d{4} [\d:.]{8,16} {1,8}\d{1,8} [\w./-]{1,80}:\d{1,6}\] """
    r"""|(?:Normal|Warning) {1,8}\w{1,40} {1,8}\w{1,12} (?:\(x\d{1,6} over \w{1,12}\))? {1,8}"""
    r"""[\w-]{1,40} {2,8}|\d{2,4}[-/]\d\d[-/]\d\d[ T][\d:.,]{8,16}Z? \|? ?[A-Z]{4,8} """
    r"""[\w.$ |-]{0,80}[:|-] )"""
)
_WORDS = re.compile(r"[\w' ]{2,}")


class Suspicion(Struct, frozen=True, kw_only=True):
    """Why a line is suspicious.

    `excerpt` is redacted, its addresses are defanged, its control characters escaped, and it is at
    most 200 characters long. `notes` say how it had to be read.
    """

    families: tuple[str, ...]
    rules: tuple[str, ...]
    score: int
    excerpt: str
    notes: tuple[str, ...] = ()


class _Judged(Struct, frozen=True):
    """What one reading of a line met."""

    score: int
    rules: tuple[Rule, ...]
    text: str
    start: int
    note: str
    telling: bool = False  # no rule is met, but words of verdicts or orders are there


class Detector:
    """Finds text that instructs its reader. Immutable once built.

    `anchors`: a plain ASCII line in which none of them occurs, ASCII case ignored, and for which
    `needs_look` is false, holds no finding.
    """

    def __init__(self, lexicon: Lexicon, redactor: Redactor) -> None:
        self._rules = tuple(lexicon.rules)
        self._slots = Slots(lexicon.slots, lexicon.rules)
        self._redactor = redactor
        self._quiet = [
            (frozenset(row.families), _template(t)) for row in lexicon.quiet for t in row.templates
        ]
        self.anchors = anchors(lexicon)

    @classmethod
    def load(cls, path: Path | None = None, *, redactor: Redactor | None = None) -> "Detector":
        """The detector of a catalog file, the built-in one by default. Raises `CatalogError`."""
        return cls(read_lexicon(path), redactor or Redactor.load())

    def inspect(
        self, text: str, *, source: str = "flare_log", context: str = ""
    ) -> Suspicion | None:
        """Why `text` is suspicious, or None. `context`: "user" for text that only users write."""
        raw = clip(text)
        form = canonical(_apart(raw))
        judged = self._judge(form.text, "", 1 if context == "user" else 0)
        carrier = _carrier(form)
        best = _hidden(judged, carrier)
        if best.score < THRESHOLD:
            for other in self._other_readings(raw, form):
                other = _hidden(other, carrier)
                if other.score > best.score:
                    best = other
        families = {rule.family for rule in best.rules}
        if best.score < THRESHOLD or (families and self._is_quiet(form.text, families)):
            return None
        return self._suspicion(raw, form, best, carrier)

    def inspect_pair(
        self, previous: str, text: str, *, source: str = "flare_log"
    ) -> Suspicion | None:
        """Why two neighbouring lines are suspicious together, when neither is alone."""
        first = canonical(message_of(previous)[:PAIR_KEPT]).text
        second = canonical(message_of(text)[:PAIR_KEPT]).text
        if not (self._has_slot(first) and self._has_slot(second)):
            return None
        joined = f"{first} {second}"
        best = self._judge(joined, "", 0, across=len(first))
        if best.score <= THRESHOLD:  # neighbours by chance need more than one line does
            return None
        form = Canonical(joined, joined, frozenset())
        return self._suspicion(joined, form, replace(best, note="two lines"), {})

    def _has_slot(self, text: str) -> bool:
        line = self._slots.line(text)
        return any(line.hits(need) for rule in self._rules for need in rule.needs)

    def _judge(
        self, text: str, note: str, added: int, *, unspaced: bool = False, across: int = 0
    ) -> _Judged:
        line = self._slots.line(text, unspaced=unspaced)
        met = [m for m in line.rules() if m.rule.strong or not note]
        if across:
            met = [m for m in met if m.start < across < m.end]
        if not met:
            return _Judged(0, (), text, 0, note, telling=bool(line.hits(_TELLING)))
        return _Judged(*_scored(met, line, added), text, min(m.start for m in met), note)

    def _other_readings(self, raw: str, form: Canonical) -> list[_Judged]:
        readings: list[_Judged] = []
        for view in views(raw, form):
            text = view.text if view.name != "decoded" else canonical(clip(view.text)).text
            judged = self._judge(text, view.name, view.added, unspaced=view.unspaced)
            if judged.rules:
                readings.append(judged)
        return readings

    def _is_quiet(self, text: str, families: set[str]) -> bool:
        """Whether the whole message is one that an ordinary tool writes."""
        message = message_of(text)
        return any(
            families <= allowed and (template.fullmatch(message) or template.fullmatch(text))
            for allowed, template in self._quiet
        )

    def _suspicion(
        self, raw: str, form: Canonical, best: _Judged, carrier: dict[str, int]
    ) -> Suspicion:
        families = {rule.family for rule in best.rules}
        if sum(carrier.values()) >= 2:
            families.add("hidden-carrier")
        notes = [*sorted(carrier)]
        if best.note:
            notes.append(f"read as {best.note}")
        plain = not best.note and not any(weight >= 3 for weight in carrier.values())
        shown = raw if plain or best.note in ("names", "words") else best.text or raw
        return Suspicion(
            families=tuple(name for name in FAMILIES if name in families),
            rules=tuple(rule.id for rule in best.rules) or tuple(sorted(carrier)),
            score=best.score,
            excerpt=self._excerpt(shown, best.text[best.start : best.start + 16]),
            notes=tuple(notes),
        )

    def _excerpt(self, text: str, wanted: str) -> str:
        """A harmless quotation of at most 200 characters around `wanted`."""
        shown = visible(defang(self._redactor.redact(text)))
        if len(shown) <= EXCERPT_KEPT:
            return shown
        words = _WORDS.match(wanted.partition("http")[0])
        at = max(0, fold(shown).find(words[0])) if words else 0
        start = max(0, min(at - 40, len(shown) - EXCERPT_KEPT + 2))
        end = start + EXCERPT_KEPT - 2
        return f"{'…' if start else ''}{shown[start:end]}{'…' if end < len(shown) else ''}"


def message_of(text: str) -> str:
    """A line without the header that a logger put before its message."""
    found = _HEADER.match(text)
    return text[found.end() :] if found else text


def _apart(text: str) -> str:
    """A line with its logger's header on a line of its own: orders can begin behind it."""
    found = _HEADER.match(text)
    return f"{text[: found.end()]}\n{text[found.end() :]}" if found else text


def _scored(met: list[Met], line: Line, added: int) -> tuple[int, tuple[Rule, ...]]:
    rules = tuple(m.rule for m in met)
    score = max(rule.score for rule in rules) + added
    if line.hits("pressure"):
        score += 1
    if len({rule.family for rule in rules}) > 1 or len(rules) > 2:
        score += 2
    return score, rules


def _carrier(form: Canonical) -> dict[str, int]:
    return {flag: _CARRIERS[flag] for flag in form.flags if flag in _CARRIERS}


def _hidden(judged: _Judged, carrier: dict[str, int]) -> _Judged:
    """Concealment is intent: it adds to what was met, and weighs by itself."""
    weight = max(carrier.values(), default=0)
    if not weight:
        return judged
    if judged.score:
        return _Judged(judged.score + 2, judged.rules, judged.text, judged.start, judged.note)
    return _Judged(weight + 2 * judged.telling, (), judged.text, 0, judged.note)


def _template(template: str) -> "re2._Regexp[str]":
    pattern = re2.escape(template.casefold()).replace(r"\{\*\}", r"[^\n]{0,400}")
    return re2.compile(pattern.replace(r"\{\}", r"\S{1,160}"))


def lint_injection(path: Path | None = None) -> list[str]:
    """What the catalog's own samples disprove: nothing, for a catalog that may be used."""
    lexicon = read_lexicon(path)
    detector = Detector(lexicon, Redactor.load())
    faults: list[str] = []
    for rule in lexicon.rules:
        for sample in rule.matches:
            found = detector.inspect(sample)
            if found is None or rule.id not in found.rules:
                rules = found.rules if found else "nothing"
                faults.append(f"rule {rule.id}: {sample!r} shows {rules}")
        faults += [
            f"rule {rule.id}: {sample!r} is flagged"
            for sample in rule.rejects
            if detector.inspect(sample) is not None
        ]
    for row in lexicon.quiet:
        faults += [f"quiet {row.tool}: no template" for _ in range(not row.templates)]
    return faults


__all__ = ["Detector", "Suspicion", "lint_injection", "message_of", "needs_look"]
