"""Foreign names, sentences and texts for Markdown: readable where that is safe, else inert."""

import re

from matchers.display import code_span, escape_markdown, visible

_PLAIN = re.compile(r"(?!(?i:gh)-)[A-Za-z0-9]+(?:[-_/][A-Za-z0-9]+|:[A-Z][A-Z0-9_]*)*")
_WORD = re.compile(
    r"(?P<before>[(\"']*)(?P<core>.*?)(?P<after>[)\"'%.,;:?]*)",
    re.DOTALL,
)
_PLAIN_CORE = re.compile(
    r"(?!(?i:gh)-)[A-Za-z0-9]+(?:[-/'’][A-Za-z0-9]+|_[A-Za-z0-9]+)*|[0-9]+\.[0-9]+"
)


def name(text: str) -> str:
    """A foreign name for Markdown: as it is when nothing in it can be live, else as a code span."""
    return text if _PLAIN.fullmatch(text) else code_span(text)


def code_block(text: str, *, indent: str = "") -> str:
    """Lines as a fenced block that nothing in them can end, each line to the letter."""
    lines = visible(text.rstrip("\n"), keep="\n").split("\n")
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(f"{indent}{line}" for line in (fence, *lines, fence))


def prose(text: str) -> str:
    """A sentence for Markdown: plain words stay readable, all others become inert."""
    shown = " ".join(_inert(word) for word in text.split(" "))
    return f"\\{shown}" if shown[:1] in "+-" else shown


def _inert(word: str) -> str:
    parts = _WORD.fullmatch(word)
    core = parts["core"] if parts else ""
    if parts is None or not core or not any(character.isalnum() for character in core):
        return word if not word else escape_markdown(word)
    shown = core if _PLAIN_CORE.fullmatch(core) else code_span(core)
    return f"{parts['before']}{shown}{parts['after']}"
