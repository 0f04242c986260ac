"""What the automaton and the rules must agree with, written without any index."""

from collections.abc import Iterable, Sequence

from matchers.catalog import Signal
from schemas.entry import Entry


def lower_ascii(text: str) -> str:
    """Letter by letter, ASCII only."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def spans(phrases: Iterable[tuple[str, int]], text: str) -> set[tuple[int, int, int]]:
    """Every (start, end, owner): each phrase at each position of the text."""
    folded = lower_ascii(text)
    return {
        (start, start + len(phrase), owner)
        for phrase, owner in phrases
        for start in range(len(text))
        if folded.startswith(lower_ascii(phrase), start)
    }


def owners_by_text(phrases: Iterable[tuple[str, int]], texts: Sequence[str]) -> dict[int, set[int]]:
    """The owners found in each text alone; quiet texts are left out."""
    known = list(phrases)
    found = {i: {owner for _, _, owner in spans(known, text)} for i, text in enumerate(texts)}
    return {i: owners for i, owners in found.items() if owners}


def matching(signals: Iterable[Signal], entry: Entry) -> list[str]:
    """Ids of the signals (without a regex) that an entry reveals: every row asked, one by one."""
    text = lower_ascii(entry.text)
    kind = entry.where.kind or ("Pod" if entry.where.pod else "")
    return [
        signal.id
        for signal in signals
        if entry.source in signal.sources
        and (not signal.reasons or entry.reason in signal.reasons)
        and (not signal.levels or entry.level in signal.levels)
        and (not signal.loggers or any(entry.logger.endswith(name) for name in signal.loggers))
        and (not signal.objects or kind in signal.objects)
        and all(entry.attrs.get(name) == value for name, value in signal.attrs.items())
        and (not signal.phrases or any(lower_ascii(p) in text for p in signal.phrases))
        and not any(lower_ascii(p) in text for p in signal.unless)
    ]
