"""Inputs as the user names them -> the files to read, in a stated order, each with its label.

Inputs are read in the order given. In a folder: first the folder's own files, then its subfolders,
both by name, except that rotated logs come oldest first (`log.txt.2`, `log.txt.1`, `log.txt`) and
error logs (`error_log.txt`, `log_error.txt`) last, because they repeat what the log said. No file
is read twice. Symbolic links inside a folder, hidden names, devices, sockets and files that hold
keys or certificates are never opened; each is counted as passed over.

A label is a path that may be shown and tells site and job: the folder given and what is below it,
or, for a file given alone, at most its last four parts. The rest of the machine's path stays
unknown.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

STDIN = "-"
LABEL_PARTS = 4
MAX_FOLDERS = 64  # how deep
_SECRET_SUFFIXES = (".key", ".pem", ".crt", ".cer", ".csr", ".pfx", ".p12", ".jks", ".kubeconfig")
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_ROTATED = re.compile(r"(?P<name>.+)\.(?P<age>[0-9]{1,4})(?:\.gz)?\Z")
_ERROR_LOGS = frozenset({"error_log.txt", "log_error.txt"})


class Found(Struct, frozen=True, kw_only=True):
    """One file to read. `given`: the user named it, so it is read whatever its name says.

    `loose`: no folder that was given says whose file it is, so its own folder may mean nothing.
    """

    path: str
    label: str
    given: bool
    loose: bool = False
    size: int = 0


class Unread(Struct, frozen=True, kw_only=True):
    """An input, or a part of one, that could not be read, and what to do about it."""

    label: str
    why: str


class Walk:
    """All files of some inputs. `unread` could not be opened, `passed_over` was left out."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.files: list[Found] = []
        self.unread: list[Unread] = []
        self.passed_over: list[Unread] = []
        self._seen: set[tuple[int, int]] = set()
        for given, root in zip(inputs, _roots(inputs), strict=True):
            self._add_input(given, root)

    def _add_input(self, given: str, root: Path) -> None:
        if given == STDIN:
            self.files.append(Found(path=STDIN, label="stdin", given=True))
            return
        label = _label(Path(given), root)
        try:
            status = os.stat(given)
        except OSError as error:
            self.unread.append(Unread(label=given, why=in_words(error)))
            return
        if stat.S_ISDIR(status.st_mode):
            self._add_folder(given, root, depth=0)
        elif stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode):
            found = Found(path=given, label=label, given=True, loose=True, size=status.st_size)
            self._add_file(found, status)
        else:
            why = "a device or socket; give a file, a folder or - for standard input"
            self.unread.append(Unread(label=given, why=why))

    def _add_file(self, found: Found, status: os.stat_result) -> None:
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return
        self._seen.add(identity)
        self.files.append(found)

    def _add_folder(self, folder: str, root: Path, *, depth: int) -> None:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=_order)
        except OSError as error:
            self.unread.append(Unread(label=_label(Path(folder), root), why=in_words(error)))
            return
        for entry in found:
            why = _not_opened(entry)
            if why:
                self.passed_over.append(Unread(label=_label(Path(entry.path), root), why=why))
            elif entry.is_dir(follow_symlinks=False):
                if depth < MAX_FOLDERS:
                    self._add_folder(entry.path, root, depth=depth + 1)
                else:
                    label = _label(Path(entry.path), root)
                    self.unread.append(
                        Unread(label=label, why=f"deeper than {MAX_FOLDERS} folders")
                    )
            else:
                self._add_entry(entry, root, loose=depth == 0)

    def _add_entry(self, entry: "os.DirEntry[str]", root: Path, *, loose: bool) -> None:
        label = _label(Path(entry.path), root)
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.unread.append(Unread(label=label, why=in_words(error)))
            return
        size = status.st_size
        found = Found(path=entry.path, label=label, given=False, loose=loose, size=size)
        self._add_file(found, status)


def _not_opened(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        return "a symbolic link; give its target as an input of its own"
    if entry.name.startswith("."):
        return "hidden"
    if entry.is_dir(follow_symlinks=False):
        return "holds no records" if entry.name in _SKIPPED_FOLDERS else ""
    if not entry.is_file(follow_symlinks=False):
        return "a device, pipe or socket"
    if entry.name.lower().endswith(_SECRET_SUFFIXES):
        return "a key or certificate, never opened"
    return ""


def _order(entry: "os.DirEntry[str]") -> tuple[bool, bool, str, int]:
    is_folder = entry.is_dir(follow_symlinks=False)
    rotated = _ROTATED.match(entry.name)
    name, age = (rotated["name"], int(rotated["age"])) if rotated else (entry.name, 0)
    return is_folder, name in _ERROR_LOGS, name, -age


def _roots(inputs: Sequence[str]) -> Iterator[Path]:
    """The folder that labels start at, per input.

    Folders and files given together share the folder above all of them, so that `ws/site-1/log.txt`
    and `ws/server/log.txt` are seen as one workspace; unless they are far apart.
    """
    paths = [Path(os.path.abspath(given)) for given in inputs if given != STDIN]
    common = Path(os.path.commonpath(paths)) if len(paths) > 1 else None
    if common is not None and not common.is_dir():
        common = common.parent
    for given in inputs:
        path = Path(os.path.abspath(given))
        if common is not None and given != STDIN and _depth(path, common) < LABEL_PARTS:
            yield _named(common)
        elif path.is_dir():
            yield _named(path)
        else:
            yield path.parents[min(LABEL_PARTS, len(path.parents)) - 1]


def _depth(path: Path, folder: Path) -> int:
    return len(path.relative_to(folder).parts)


def _named(folder: Path) -> Path:
    """The folder above the first one shown; the one above a job's folder names the site."""
    shown = folder
    while _UUID.match(shown.name) and shown.parent != shown:
        shown = shown.parent
    return shown.parent


def _label(path: Path, root: Path) -> str:
    """The shown part of a path; bytes that are no UTF-8 are replaced."""
    shown = Path(os.path.abspath(path)).relative_to(root).as_posix()
    return os.fsencode(shown).decode(errors="replace")


def in_words(error: OSError) -> str:
    """Why the system refused, as an end of a sentence."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    if isinstance(error, PermissionError):
        return "permission denied"
    return (error.strerror or type(error).__name__).lower()
