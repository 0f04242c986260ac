"""What one would write first: every phrase in one automaton, called once per line.

    python -m bench.perline PHRASES FILE

Matches and counts; parses, redacts and decides nothing.
"""

import sys
from pathlib import Path

import ahocorasick


def count(phrases: list[str], path: Path) -> int:
    """How many lines hold a phrase."""
    automaton = ahocorasick.Automaton()
    for phrase in phrases:
        automaton.add_word(phrase, phrase)
    automaton.make_automaton()
    hits = 0
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if next(automaton.iter(line.lower()), None) is not None:
                hits += 1
    return hits


if __name__ == "__main__":
    listed = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    sys.stdout.write(f"{count(listed, Path(sys.argv[2]))}\n")
