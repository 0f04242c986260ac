"""Credentials taken out of text before it leaves scan: `[REDACTED:kind]`, the rest to the letter.

Rules: facts "Redaction" 1-5. Digests, UUIDs, commit and trace ids, certificates and the names of
secrets stay readable: nothing is taken for its randomness alone. A secret that is cut into two
records is redacted in each half only as far as the half shows it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from matchers import credentials
from matchers.automaton import Automaton, Hit
from matchers.credentials import Span
from matchers.secrets import Command, Key, Secrets, Shape, read_secrets

ROUNDS = 4
"""Redacted text is redacted again until it stays the same; text that never does is given up."""

TOKEN = re.compile(r"\[REDACTED:[a-z0-9_]{1,32}\]")

_ALPHABETS = {
    "upper": re.compile(r"[A-Z0-9]*+"),
    "word": re.compile(r"[A-Za-z0-9_]*+"),
    "url": re.compile(r"[A-Za-z0-9_-]*+"),
    "base64": re.compile(r"[A-Za-z0-9+/=_-]*+"),
    "query": re.compile(r"[A-Za-z0-9%+/=_.~-]*+"),
    "path": re.compile(r"[A-Za-z0-9/_-]*+"),
    "dotted": re.compile(r"[A-Za-z0-9_.-]*+"),
}

Finder = Callable[[str, int, int], Iterable[tuple[int, int, str]]]


class Redacted(Struct, frozen=True, kw_only=True):
    """A text without its secrets, and how many of each kind were in it."""

    text: str
    counts: Mapping[str, int]


class Redactor:
    """Finds credentials by their place and shape. Immutable once built."""

    def __init__(self, secrets: Secrets) -> None:
        never = frozenset(word for row in secrets.never for word in row.words)
        phrases: list[tuple[str, int]] = []
        finders: list[Finder] = []

        def watch(words: Iterable[str], finder: Finder) -> None:
            phrases.extend((word, len(finders)) for word in words)
            finders.append(finder)

        for shape in secrets.shapes:
            watch(shape.prefixes, _of_shape(shape))
        for key in secrets.keys:
            watch(key.names, _of_key(key, never))
        for command in secrets.commands:
            watch(command.programs, _of_command(command, never))
        watch(["://"], _one("url_password", lambda t, _, end: credentials.userinfo(t, end)))
        watch(
            ["authorization"],
            _one("authorization", lambda t, _, end: credentials.authorization(t, end, never)),
        )
        watch(["bearer "], _one("bearer", lambda t, _, end: credentials.bearer(t, end)))
        watch(["private key-----", "key block-----"], _key_blocks)
        watch(["eyj"], _one("jwt", lambda t, start, _: credentials.web_token(t, start)))
        watch(["cookie"], _cookies)
        watch(
            ["login", "authenticate", "connect"],
            _one("password", lambda t, _, end: credentials.login_call(t, end, never)),
        )
        watch(['"kind":"secret"', '"kind": "secret"', "kind: secret"], _secret_object)
        self._finders = tuple(finders)
        self._automaton = Automaton(phrases)

    @classmethod
    def load(cls, path: Path | None = None) -> "Redactor":
        """The redactor of a catalog file, the built-in one by default. Raises `CatalogError`."""
        return cls(read_secrets(path))

    def redact(self, text: str) -> str:
        """The text without its credentials. Redacting it again changes nothing."""
        return self.counted(text).text

    def counted(self, text: str) -> Redacted:
        """The text without its credentials, and how many of each kind were taken out."""
        counts: Counter[str] = Counter()
        for _ in range(ROUNDS):
            spans = self._spans(text)
            if not spans:
                return Redacted(text=text, counts=counts)
            counts.update(kind for _, _, kind in spans)
            text = _replaced(text, spans)
        return Redacted(text="[REDACTED:unsettled]", counts=counts)

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where secrets stand: sorted, apart from each other, never inside a replacement."""
        found: list[tuple[int, int, str]] = []
        covered = 0  # hits inside what one finder has taken are not asked again: linear work
        for start, end, owners in self._hits(text):
            if end <= covered:
                continue
            for owner in owners:
                for span in self._finders[owner](text, start, end):
                    found.append(span)
                    covered = max(covered, span[1])
        if not found:
            return []
        return _merged(found, [match.span() for match in TOKEN.finditer(text)])

    def _hits(self, text: str) -> Iterator[Hit]:
        return self._automaton.hits(text)


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, kind in spans:
        pieces += (text[at:start], f"[REDACTED:{kind}]")
        at = end
    return "".join((*pieces, text[at:]))


def _merged(found: list[tuple[int, int, str]], tokens: list[Span]) -> list[tuple[int, int, str]]:
    """Overlapping spans as one, grown over replacements they cut; replaced ones left out."""
    whole = set(tokens)
    wanted = [span for span in found if (span[0], span[1]) not in whole]
    merged: list[tuple[int, int, str]] = []
    at = 0
    for start, end, kind in sorted(wanted, key=lambda span: (span[0], -span[1])):
        while at < len(tokens) and tokens[at][1] <= start:
            at += 1
        for first, last in tokens[at:]:
            if first >= end:
                break
            start, end = min(start, first), max(end, last)
        if merged and start < merged[-1][1]:
            before = merged[-1]
            merged[-1] = (before[0], max(before[1], end), before[2])
        else:
            merged.append((start, end, kind))
    return [span for span in merged if (span[0], span[1]) not in whole]


def _one(kind: str, find: Callable[[str, int, int], Span | None]) -> Finder:
    def finder(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
        span = find(text, start, end)
        return [(*span, kind)] if span else []

    return finder


def _of_shape(shape: Shape) -> Finder:
    alphabet = _ALPHABETS[shape.alphabet]

    def find(text: str, start: int, end: int) -> Span | None:
        if text[start:end] not in shape.prefixes:
            return None  # the pass ignores case, issuers do not
        before = text[start - 1 : start]
        if shape.word_start and (before.isalnum() or before == "_"):
            return None
        found = alphabet.match(text, end)
        last = found.end() if found else end
        body = text[end:last]
        if len(body) < shape.min or (shape.mixed and not _is_mixed(body)):
            return None
        return (end if shape.keep_prefix else start), last

    return _one(shape.kind, find)


def _is_mixed(body: str) -> bool:
    if any(map(str.isdigit, body)) or (body != body.lower() and body != body.upper()):
        return True
    return "_" not in body and "-" not in body  # names of this length are made of words


def _of_key(key: Key, never: frozenset[str]) -> Finder:
    return _one(key.kind, lambda t, start, end: credentials.assigned(t, start, end, key, never))


def _of_command(row: Command, never: frozenset[str]) -> Finder:
    def find(text: str, start: int, end: int) -> Span | None:
        if text[start - 1 : start].isalnum():
            return None
        return credentials.argument(text, end, row, never)

    return _one(row.kind, find)


def _key_blocks(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    if text.rfind("-----BEGIN", max(0, start - 64), start) < 0:
        return []
    span = credentials.key_block(text, end)
    return [(*span, "private_key")] if span else []


def _cookies(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    return [(*span, "cookie") for span in credentials.cookies(text, end)]


def _secret_object(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    if text[end : end + 1].isalnum():  # SecretList, SecretStore
        return []
    return [(*span, "k8s_secret") for span in credentials.secret_object(text, start)]


def lint_secrets(path: Path | None = None) -> list[str]:
    """What the catalog's own samples disprove: nothing, for a catalog that may be used."""
    secrets = read_secrets(path)
    redactor = Redactor(secrets)
    faults: list[str] = []
    for name, matches, rejects in secrets.proofs():
        faults += [f"{name}: not redacted: {m!r}" for m in matches if redactor.redact(m) == m]
        faults += [
            f"{name}: {redactor.redact(r)!r} instead of {r!r}"
            for r in rejects
            if redactor.redact(r) != r
        ]
    return faults
