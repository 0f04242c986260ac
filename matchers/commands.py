"""Whether a recommended command is safe to paste: one command, read-only, and bounded.

Advice is read by people and by programs that may run it at once. So a command must not change
anything, show no credential, end by itself and print a bounded amount (facts, flare section 4).
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import NamedTuple

FIELDS = (
    "job",
    "site",
    "workspace",
    "since",
    "pod",
    "namespace",
    "node",
    "workload_id",
    "project",
    "container",
)
"""What a command may leave open: the subject fills it in."""

_SHELL = "|;&<>()`$\\\n\r*?!#"
_FOLLOWS = {"-f", "-F", "--follow", "-w", "--watch", "--watch-only"}


_PLAIN = re.compile(r"[A-Za-z0-9_.:/@=+-]{1,253}")


class _Verb(NamedTuple):
    """A command that only reads: its first words, and one option of each group that bounds it."""

    words: tuple[str, ...]
    bounds: tuple[tuple[str, ...], ...] = ()


_VERBS = tuple(
    _Verb(tuple(words.split()), bounds)
    for words, bounds in (
        ("nvflare job logs", (("--tail", "--since", "--max-bytes"),)),
        ("nvflare job meta", ()),
        ("nvflare job list", ()),
        ("nvflare job stats", ()),
        ("nvflare system status", ()),
        ("nvflare system resources", ()),
        ("nvflare system version", ()),
        ("nvflare agent inspect", ()),
        ("nvflare preflight-check", ()),
        ("kubectl get", ()),
        ("kubectl describe", ()),
        ("kubectl top", ()),
        ("kubectl version", ()),
        ("kubectl cluster-info", ()),
        ("kubectl auth can-i", ()),
        ("kubectl logs", (("--tail", "--since", "--since-time", "--limit-bytes"),)),
        ("docker logs", (("--tail", "-n", "--since"),)),
        ("docker ps", ()),
        ("docker port", ()),
        ("helm status", ()),
        ("helm list", ()),
        ("helm history", ()),
        ("runai describe", ()),
        ("runai list", ()),
        ("runai workload describe", ()),
        ("runai workload list", ()),
        ("journalctl", (("-n", "--lines"), ("--no-pager",))),
        ("tail", (("-n", "-c"),)),
        ("head", (("-n", "-c"),)),
        ("grep", (("-m", "--max-count"),)),
        ("openssl x509", (("-noout",),)),
        ("ls", ()),
        ("stat", ()),
        ("df", ()),
        ("free", ()),
        ("nvidia-smi", ()),
        ("list_workloads", ()),
        ("get_workload_status", ()),
        ("get_workload_spec", ()),
        ("get_workload_pods", ()),
        ("get_workload_history", (("limit",),)),
        ("get_workload_metrics", ()),
    )
)


def problems(command: str, *, simulation: bool = False) -> Iterator[tuple[str, str]]:
    """Everything that speaks against a command: what, and what to do about it."""
    yield from _open_fields(command)
    forbidden = sorted({char for char in command if char in _SHELL})
    if forbidden:
        remedy = "write one plain command, without a shell's signs"
        yield f"command {command!r} holds {' '.join(map(repr, forbidden))}", remedy
        return
    try:
        words = shlex.split(command)
    except ValueError as error:
        yield f"command {command!r}: {error}", "close every quote"
        return
    if simulation and words[:1] == ["nvflare"] and words[1:2] in (["job"], ["system"]):
        remedy = "a simulation has no server to ask: read its files"
        yield f"simulation command {command!r} asks a running system", remedy
    verb = _verb(words)
    if verb is None:
        remedy = f"use one of: {', '.join(sorted(' '.join(v.words) for v in _VERBS))}"
        yield f"command {command!r} is not known to be read-only", remedy
        return
    yield from _unbounded(command, words, verb)
    yield from _revealing(command, words)


def fill(command: str, values: Mapping[str, str]) -> str:
    """The command with its fields filled from the subject.

    Names come from records, so they are foreign: one that is missing, or that a shell could read as
    more than a word, or a program as an option, stays open as `<field>`.
    """
    parts: list[str] = []
    for literal, name, _, _ in Formatter().parse(command):
        parts.append(literal)
        if name is not None:
            value = values.get(name, "")
            plain = _PLAIN.fullmatch(value) and value[0] != "-" and ".." not in value
            parts.append(value if plain else f"<{name}>")
    return "".join(parts)


def _verb(words: list[str]) -> _Verb | None:
    return next((v for v in _VERBS if tuple(words[: len(v.words)]) == v.words), None)


def _unbounded(command: str, words: list[str], verb: _Verb) -> Iterator[tuple[str, str]]:
    options = {word.split("=", 1)[0] for word in words[len(verb.words) :]}
    for group in verb.bounds:
        if options.isdisjoint(group):
            yield f"command {command!r} is not bounded", f"add {' or '.join(group)}"
    if options & _FOLLOWS:
        yield f"command {command!r} never ends", "do not follow or watch"
    if words[0] == "kubectl" and options & {"-A", "--all-namespaces"}:
        yield f"command {command!r} scans every namespace", "name one with -n"
    if words[0] in ("ls", "grep") and any(_is_recursive(word) for word in words[1:]):
        yield f"command {command!r} walks whole folders", "name one file or folder"


def _is_recursive(word: str) -> bool:
    if word.startswith("--"):
        return word in ("--recursive", "--dereference-recursive")
    return word.startswith("-") and ("R" in word or "r" in word)


def _revealing(command: str, words: list[str]) -> Iterator[tuple[str, str]]:
    """A command must show no credential: neither a key file nor a secret's values."""
    if any(word.endswith((".key", ".pfx", ".p12", "id_rsa", ".pem")) for word in words):
        yield f"command {command!r} reads a private key", "read the public certificate only"
    kinds = {word.split("/", 1)[0].lower() for word in words}
    names_secret = words[0] == "kubectl" and kinds & {"secret", "secrets"}
    if names_secret and any(word.startswith(("-o", "--output")) for word in words):
        yield f"command {command!r} prints a secret", "ask only whether it exists: no -o"


def _open_fields(command: str) -> Iterator[tuple[str, str]]:
    try:
        fields = [name for _, name, _, _ in Formatter().parse(command) if name is not None]
    except ValueError as error:
        yield f"command {command!r}: {error}", "braces only around a field's name"
        return
    for name in fields:
        if name not in FIELDS:
            known = ", ".join(f"{{{field}}}" for field in FIELDS)
            yield f"command {command!r}: no field {{{name}}}", f"use {known}"
