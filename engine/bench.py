"""The cells of one application of the engine: read once, changed in the open, written together."""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from engine import state
from engine.state import Cell
from matchers.merge import identity, join
from schemas.codec import decode, encode
from schemas.observation import Observation, is_context

Read = Callable[[bytes], bytes | None]


class Bench:
    """Copy-on-write view of the cells that one message of `signals` touches."""

    def __init__(self, read: Read, source: str, offset: int) -> None:
        self._read = read
        self._source = source
        self._offset = offset
        self._cells: dict[str, Cell] = {}
        self._changed: set[str] = set()

    def get(self, key: str) -> Cell:
        """The cell as it is now; an empty one where nothing is stored."""
        cell = self._cells.get(key)
        if cell is None:
            data = self._read(key.encode())
            cell = decode(data, Cell) if data else Cell()
            self._cells[key] = cell
        return cell

    def put(self, key: str, cell: Cell) -> None:
        """Replace a cell; unchanged content is not written."""
        if cell != self._cells.get(key):
            self._cells[key] = cell
            self._changed.add(key)

    def merge(self, key: str, observations: Iterable[Observation]) -> bool:
        """Join observations into a cell; whether that changed it."""
        cell = self.get(key)
        if cell.covers(self._source, self._offset):
            return False
        known = {identity(item): item for item in cell.observations}
        for item in observations:
            same = known.get(identity(item))
            known[identity(item)] = item if same is None else join(same, item)
        kept, limits = bounded(known)
        changed = replace(cell, observations=kept, limits=tuple(sorted({*cell.limits, *limits})))
        self.put(key, changed)
        return changed is not cell

    def link(self, key: str, name: str, *values: str, keep: int = state.LINKS_KEPT) -> bool:
        """Add values to a cell's named set of links; whether any was new."""
        cell = self.get(key)
        known = cell.links.get(name, ())
        new = sorted({*known, *filter(None, values)})
        if len(new) == len(known):
            return False
        kept = fitting(new[:keep])
        limits = cell.limits
        if len(kept) < len(new):
            limits = tuple(sorted({*limits, f"{name}: no more than {keep} are followed"}))
        self.put(key, replace(cell, links={**cell.links, name: kept}, limits=limits))
        return kept != known

    def unlink(self, key: str, name: str, *values: str) -> None:
        """Take values out of a cell's named set of links."""
        cell = self.get(key)
        left = tuple(item for item in cell.links.get(name, ()) if item not in values)
        self.put(key, replace(cell, links={**cell.links, name: left}))

    def watch(self, key: str, subject_key: str) -> None:
        """Have a subject judged again whenever a cell changes."""
        cell = self.get(key)
        if subject_key not in cell.watchers:
            watchers = sorted({*cell.watchers, subject_key})[: state.WATCHERS_KEPT]
            self.put(key, replace(cell, watchers=fitting(watchers)))

    def touch(self, key: str) -> None:
        """Write a cell although its content is the same: its position is news."""
        self._cells[key] = self.get(key)
        self._changed.add(key)

    def writes(self) -> dict[bytes, bytes]:
        """What is to be stored: every changed cell, with the position it now contains."""
        return {key.encode(): self._encoded(key) for key in sorted(self._changed)}

    def _encoded(self, key: str) -> bytes:
        cell = self._cells[key]
        if self._source:  # else nothing of `signals` was applied: the input has ended
            cell = replace(cell, source=self._source, offset=self._offset)
        data = encode(cell)
        over = len(data) + len(key.encode()) - state.CELL_BYTES
        if over <= 0:
            return data
        known = {identity(item): item for item in cell.observations}
        room = max(0, len(encode(cell.observations)) - over)
        kept, limits = bounded(known, room)
        limits = sorted({*cell.limits, *limits})
        return encode(replace(cell, observations=kept, limits=tuple(limits)))


def fitting(values: Sequence[str]) -> tuple[str, ...]:
    """As many of the first values as fit into the bytes that one list may take."""
    room, kept = state.LINK_BYTES, list[str]()
    for value in values:
        room -= len(encode(value)) + 1
        if room < 0:
            break
        kept.append(value)
    return tuple(kept)


def bounded(
    known: dict[tuple[str | bool, ...], Observation],
    room: int = state.CELL_BYTES,
) -> tuple[tuple[Observation, ...], list[str]]:
    """The observations a cell keeps, and which bounds bit.

    Per signal the earliest and the latest are kept: causes are early, the present state is late.
    """
    limits: list[str] = []
    by_signal: dict[str, list[tuple[str | bool, ...]]] = {}
    for key in sorted(known):
        by_signal.setdefault(known[key].signal, []).append(key)
    for signal, keys in by_signal.items():
        if len(keys) > state.OBSERVATIONS_PER_SIGNAL:
            limits.append(
                f"{signal}: only {state.OBSERVATIONS_PER_SIGNAL} places or times are kept"
            )
            for key in _middle(keys, known, state.OBSERVATIONS_PER_SIGNAL):
                del known[key]
    if len(known) > state.OBSERVATIONS_KEPT:
        limits.append(f"only {state.OBSERVATIONS_KEPT} observations are kept")
        for key in _middle(sorted(known), known, state.OBSERVATIONS_KEPT):
            del known[key]
    kept = tuple(known[key] for key in sorted(known))
    if len(encode(kept)) > room:
        limits.append("the cell is full: one sample of each thing is kept, and less of its context")
        known = {key: replace(item, samples=item.samples[:1]) for key, item in known.items()}
        kept = tuple(known[key] for key in sorted(known))
    while kept and len(encode(kept)) > room:
        context = [key for key in sorted(known) if is_context(known[key].signal)]
        droppable = context or sorted(known)
        for key in _middle(droppable, known, len(droppable) * 3 // 4):
            del known[key]
        kept = tuple(known[key] for key in sorted(known))
    return kept, limits


def _middle(
    keys: list[tuple[str | bool, ...]],
    known: dict[tuple[str | bool, ...], Observation],
    keep: int,
) -> list[tuple[str | bool, ...]]:
    by_time = sorted(keys, key=lambda key: (known[key].first_ms, key))
    early = keep // 2
    return by_time[early : len(by_time) - (keep - early)]
