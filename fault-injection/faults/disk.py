"""A disk that forgets what was not flushed: every tree that a power cut may leave of a recorded run.

Two models. In *strict* POSIX each name and each file's bytes are on their own: a name is durable when its folder is
flushed, bytes when their file is, and until then a name shows any of its values since, whatever its neighbours show. Only
a rename keeps its promise: the old name is not gone before the new one stands; both may stand. A lost folder takes its
content along. In an *ordered* journal the names change in the order asked, any flush makes all earlier changes durable,
and a file whose bytes were not flushed may be empty.

Names that no reader looks at (what is staged) and names that are never flushed by design are *inert*: they are shown
together, all old or all new, because one by one they would multiply the states and prove nothing more.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import re
from typing import TYPE_CHECKING, Final

from faults.recording import Recording, Verb
from faults.tree import Node, is_lock, is_staged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from faults.recording import Asked, Mark
    from faults.tree import Tree

_ROOT: Final = 0
STATES_MAX: Final = 96
"""How many combinations of one point are all tried; above it each single deviation is, and a seeded sample."""

_LAZY: Final = re.compile(
    r"/(?:(?:queued|running)/review_[0-9a-f]{40}|review-admissions/review_[0-9a-f]{40}\.complete)\.json$"
)
"""Names whose removal is never flushed by design."""
_LOOSE_MAX: Final = 3
"""How many files without flushed bytes are cut one by one; more are cut alike."""


class NotExpressibleError(Exception):
    """The altered recording asks for something that cannot be done in that order."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Slot:
    """One name in one folder. The folder is an inode, so that a name means the same wherever the folder goes."""

    folder: int
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class _Change:
    """A slot shows something else from this step on."""

    step: int
    inode: int | None
    needs: _Slot | None = None
    """The slot that must have reached this step too: a rename's old name is not gone before the new one stands."""


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """A tree that a crash may leave, and what was lost to make it."""

    tree: Tree
    lost: str
    steps: tuple[int, ...] = ()
    """The steps whose changes of names were lost."""


class LossyDisk:
    """One recording, compiled to inodes and slots. A point `k` is the moment before the `k`-th thing asked."""

    def __init__(
        self, recording: Recording, *, is_inert: Callable[[str], bool] = is_staged, states_max: int = STATES_MAX
    ) -> None:
        """Compile. Raises `NotExpressibleError` where the order is impossible."""
        self._asked = recording.asked
        self._is_inert = is_inert
        self._states_max = states_max
        self._files: dict[int, Node] = {_ROOT: Node(None)}
        self._flushed: dict[int, int] = {}
        """From which step on a file's bytes are durable."""
        self._touches: dict[int, list[tuple[int, int]]] = {}
        self._start: dict[_Slot, int] = {}
        self._changes: dict[_Slot, list[_Change]] = {}
        self._folder_flushes: dict[int, list[int]] = {}
        self._flushes: list[int] = []
        self._names_asked: list[int] = []
        """The steps that changed names: the journal's order."""
        self._inert: set[_Slot] = set()
        self._paths: dict[_Slot, str] = {}
        for path in sorted(recording.start):
            self._place(path, recording.start[path])
        self._now = dict(self._start)
        for step, asked in enumerate(self._asked):
            self._compile(step, asked)

    @property
    def points(self) -> range:
        """Every moment at which the power may go, the last one after everything."""
        return range(len(self._asked) + 1)

    def said(self, point: int) -> tuple[Mark, ...]:
        """Return what had been told to somebody by then."""
        return tuple(each.mark for each in self._asked[:point] if each.mark is not None)

    def restless(self) -> list[str]:
        """Name what a power cut could take back although the step that wrote it was over.

        A name that was removed lazily is not one: if it comes back, the end of its job is known beside it.
        """
        steps = [step for step, asked in enumerate(self._asked) if asked.mark is not None and asked.mark.kind == "rest"]
        found: list[str] = []
        for step in steps:
            stands = self.whole(step + 1)
            found += [name for name in self.unsettled(step + 1) if name in stands or not _LAZY.search(name)]
        return found

    def whole(self, point: int) -> Tree:
        """Return the tree that a process crash leaves: the kernel forgets nothing."""
        names = {slot: self._value(slot, changes, point) for slot, changes in self._changes.items()}
        return self._grow(names, {}, point)

    def of(self, model: str, point: int, seed: int = 0) -> Iterator[State]:
        """Yield what a model allows at a point: `kill`, `strict` or `ordered`."""
        match model:
            case "kill":
                yield State(self.whole(point), "nothing")
            case "strict":
                yield from self.strict(point, seed)
            case "ordered":
                yield from self.ordered(point)
            case _:
                message = f"no model of a disk is called {model}"
                raise LookupError(message)

    def strict(self, point: int, seed: int = 0) -> Iterator[State]:
        """Yield the trees that strict POSIX allows at a point."""
        options = self._options(point)
        within = self._within_reach(options)
        free = {
            slot: steps
            for slot, steps in options.items()
            if len(steps) > 1 and slot not in self._inert and slot.folder in within
        }
        slots = list(free)
        for combination in _combinations([free[slot] for slot in slots], self._states_max, seed * 100_003 + point):
            chosen = {slot: steps[-1] for slot, steps in options.items()} | dict(zip(slots, combination, strict=True))
            for inert in (0, -1):
                chosen |= {slot: steps[inert] for slot, steps in options.items() if slot in self._inert}
                if self._keeps_renames(chosen):
                    yield from self._with_bytes(chosen, point, ("whole", "half", "empty"))
                if all(len(steps) == 1 for slot, steps in options.items() if slot in self._inert):
                    break

    def ordered(self, point: int) -> Iterator[State]:
        """Yield the trees that an ordered journal allows at a point."""
        last = max((step for step in self._flushes if step < point), default=-1)
        pending = [step for step in self._names_asked if last < step < point]
        for reached in [last, *pending]:
            chosen = {slot: self._step_at(changes, reached + 1) for slot, changes in self._changes.items()}
            yield from self._with_bytes(chosen, point, ("whole", "empty"))

    def unsettled(self, point: int) -> tuple[str, ...]:
        """Name what a power cut could still take back at a point, inert names apart."""
        options = self._options(point)
        within = self._within_reach(options)
        told = [self._paths[slot] for slot, steps in options.items() if len(steps) > 1 and slot.folder in within]
        shown = [(slot, self._value(slot, changes, point)) for slot, changes in self._changes.items()]
        told += [
            f"the bytes of {self._paths[slot]}"
            for slot, inode in shown
            if inode is not None and not self._has_bytes(inode, point) and slot not in self._inert
        ]
        inert = {self._paths[slot] for slot in self._inert}
        return tuple(sorted(set(told) - inert))

    def inherited(self, point: int, before: int) -> frozenset[tuple[str, int]]:
        """Return the changes of names from before a step that a power cut could still take back at a point."""
        return frozenset(
            (self._paths[slot], change.step)
            for slot, steps in self._options(point).items()
            for change in self._changes[slot]
            if steps[0] < change.step < before and slot not in self._inert
        )

    def shape(self, point: int) -> dict[str, tuple[tuple[Node | None, bool], ...]]:
        """Return what each name that changed may show at a point, inert ones apart; equal shapes have equal states."""
        return {
            self._paths[slot]: tuple(self._shown(slot, step, point) for step in steps)
            for slot, steps in self._options(point).items()
            if slot not in self._inert
        }

    def _shown(self, slot: _Slot, step: int, point: int) -> tuple[Node | None, bool]:
        inode = self._value_at(slot, step)
        return (None, True) if inode is None else (self._node(inode, point), self._has_bytes(inode, point))

    def _node(self, inode: int, point: int) -> Node:
        node = self._files[inode]
        touched = [mtime_ns for step, mtime_ns in self._touches.get(inode, ()) if step < point]
        return dataclasses.replace(node, mtime_ns=touched[-1]) if touched else node

    # --- compiling ---------------------------------------------------------------------------------------------------

    def _place(self, path: str, node: Node) -> None:
        inode = self._new(node)
        self._flushed[inode] = -1
        slot = self._slot(path, self._start)
        self._start[slot] = inode

    def _new(self, node: Node) -> int:
        inode = len(self._files)
        self._files[inode] = node
        return inode

    def _slot(self, path: str, names: Mapping[_Slot, int]) -> _Slot:
        folder = _ROOT
        *above, name = path.split("/")
        for part in above:
            inside = names.get(_Slot(folder, part))
            if inside is None:
                message = f"{path}: nothing made its folder through the volume"
                raise NotExpressibleError(message)
            folder = inside
        slot = _Slot(folder, name)
        self._paths[slot] = path
        if self._is_inert(path):
            self._inert.add(slot)
        return slot

    def _compile(self, step: int, asked: Asked) -> None:
        if not asked.is_done or is_lock(asked.path):
            return
        match asked.verb:
            case Verb.STAGE:
                self._stage(step, asked)
            case Verb.LINK:
                self._show(step, self._free(asked.path), self._standing(asked.source))
            case Verb.RENAME:
                inode = self._standing(asked.source)
                target = self._slot(asked.path, self._now)
                self._show(step, target, inode)
                self._show(step, self._slot(asked.source, self._now), None, needs=target)
            case Verb.UNLINK | Verb.RMDIR:
                self._standing(asked.path)
                self._show(step, self._slot(asked.path, self._now), None)
            case Verb.MKDIR:
                slot = self._free(asked.path)
                inode = self._new(Node(None))
                self._flushed[inode] = step
                self._show(step, slot, inode)
            case Verb.SYNC:
                folder = self._standing(asked.path) if asked.path else _ROOT
                self._folder_flushes.setdefault(folder, []).append(step)
                self._flushes.append(step)
            case Verb.TOUCH | Verb.KEEP_TIME:
                # A time is not worth a state of its own: it is taken as durable at once, like a mode.
                self._touches.setdefault(self._standing(asked.path), []).append((step, asked.mtime_ns))
            case Verb.RESTRICT | Verb.MARK:
                return

    def _stage(self, step: int, asked: Asked) -> None:
        inode = self._new(Node(asked.content, asked.mtime_ns))
        if asked.is_flushed:
            self._flushed[inode] = step
            self._flushes.append(step)
        self._show(step, self._slot(asked.path, self._now), inode)

    def _free(self, path: str) -> _Slot:
        slot = self._slot(path, self._now)
        if slot in self._now:
            message = f"{path}: something stands there already"
            raise NotExpressibleError(message)
        return slot

    def _standing(self, path: str) -> int:
        inode = self._now.get(self._slot(path, self._now))
        if inode is None:
            message = f"{path}: nothing stands there yet"
            raise NotExpressibleError(message)
        return inode

    def _show(self, step: int, slot: _Slot, inode: int | None, needs: _Slot | None = None) -> None:
        self._changes.setdefault(slot, []).append(_Change(step, inode, needs))
        if not self._names_asked or self._names_asked[-1] != step:
            self._names_asked.append(step)
        if inode is None:
            self._now.pop(slot, None)
        else:
            self._now[slot] = inode

    # --- what may be left --------------------------------------------------------------------------------------------

    def _options(self, point: int) -> dict[_Slot, list[int]]:
        """Return, for each slot that changed, the steps whose value it may show: from the durable one to the last."""
        options: dict[_Slot, list[int]] = {}
        for slot, changes in self._changes.items():
            steps = [-1, *(change.step for change in changes if change.step < point)]
            flushed = max((step for step in self._folder_flushes.get(slot.folder, ()) if step < point), default=-1)
            durable = max(step for step in steps if step <= flushed) if flushed >= 0 else -1
            options[slot] = [step for step in steps if step >= durable]
        return options

    def _within_reach(self, options: Mapping[_Slot, list[int]]) -> set[int]:
        """Return the folders to which some choice of names leads: one that is gone for good takes its content along."""
        inside: dict[int, set[int]] = {}
        for slot, inode in self._start.items():
            if slot not in options:
                inside.setdefault(slot.folder, set()).add(inode)
        for slot, steps in options.items():
            shown = {self._value_at(slot, step) for step in steps}
            inside.setdefault(slot.folder, set()).update(inode for inode in shown if inode is not None)
        reached, pending = {_ROOT}, [_ROOT]
        while pending:
            for inode in inside.get(pending.pop(), set()) - reached:
                reached.add(inode)
                pending.append(inode)
        return reached

    def _keeps_renames(self, chosen: Mapping[_Slot, int]) -> bool:
        for slot, step in chosen.items():
            for change in self._changes[slot]:
                if change.needs is not None and change.step <= step and chosen[change.needs] < change.step:
                    return False
        return True

    def _with_bytes(self, chosen: Mapping[_Slot, int], point: int, kinds: tuple[str, ...]) -> Iterator[State]:
        names = {slot: self._value_at(slot, step) for slot, step in chosen.items()}
        unflushed = {
            slot: inode for slot, inode in names.items() if inode is not None and not self._has_bytes(inode, point)
        }
        seen = {inode for slot, inode in unflushed.items() if slot not in self._inert}
        inert, loose = set(unflushed.values()) - seen, sorted(seen)
        gone = {
            self._paths[slot]: change.step
            for slot, step in chosen.items()
            for change in self._changes[slot]
            if step < change.step < point and slot not in self._inert
        }
        lost = ", ".join(f"{path} of step {step}" for path, step in gone.items())
        together = [(kind,) * len(loose) for kind in kinds]
        for cuts in itertools.product(kinds, repeat=len(loose)) if len(loose) <= _LOOSE_MAX else together:
            for inert_cut in (kinds[0], kinds[-1]):
                cut = dict(zip(loose, cuts, strict=True)) | dict.fromkeys(inert, inert_cut)
                torn = ", ".join(
                    f"bytes of {self._path_of(inode, unflushed)}: {how}" for inode, how in cut.items() if how != "whole"
                )
                told = "; ".join(filter(None, (lost, torn))) or "nothing"
                yield State(self._grow(names, cut, point), told, tuple(sorted(gone.values())))
                if not inert:
                    break

    def _path_of(self, inode: int, names: Mapping[_Slot, int]) -> str:
        return next(self._paths[slot] for slot, shown in names.items() if shown == inode)

    def _has_bytes(self, inode: int, point: int) -> bool:
        return self._flushed.get(inode, point) < point

    def _value(self, slot: _Slot, changes: Iterable[_Change], point: int) -> int | None:
        return self._value_at(slot, self._step_at(changes, point))

    def _step_at(self, changes: Iterable[_Change], point: int) -> int:
        return max((change.step for change in changes if change.step < point), default=-1)

    def _value_at(self, slot: _Slot, step: int) -> int | None:
        if step < 0:
            return self._start.get(slot)
        return next(change.inode for change in self._changes[slot] if change.step == step)

    def _grow(self, names: Mapping[_Slot, int | None], cut: Mapping[int, str], point: int) -> Tree:
        """Return the tree that hangs from the root when each slot shows its chosen value."""
        inside: dict[int, list[tuple[str, int]]] = {}
        for slot, inode in self._start.items():
            if slot not in names:
                inside.setdefault(slot.folder, []).append((slot.name, inode))
        for slot, shown in names.items():
            if shown is not None:
                inside.setdefault(slot.folder, []).append((slot.name, shown))
        tree: dict[str, Node] = {}
        pending = [("", _ROOT)]
        while pending:
            above, folder = pending.pop()
            for name, inode in inside.get(folder, ()):
                node, path = self._node(inode, point), f"{above}{name}"
                tree[path] = _cut(node, cut.get(inode, "whole"))
                if node.is_folder:
                    pending.append((f"{path}/", inode))
        return tree


def _cut(node: Node, how: str) -> Node:
    if node.content is None or how == "whole":
        return node
    kept = len(node.content) // 2 if how == "half" else 0
    return Node(node.content[:kept], node.mtime_ns)


def _combinations(options: list[list[int]], states_max: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield every choice of one from each, or, where they are too many, the extremes, each deviation and a sample."""
    total = 1
    for each in options:
        total *= len(each)
    if total <= states_max:
        yield from itertools.product(*options)
        return
    newest, oldest = tuple(each[-1] for each in options), tuple(each[0] for each in options)
    yield from (newest, oldest)
    for index, each in enumerate(options):
        for value in each:
            yield (*newest[:index], value, *newest[index + 1 :])
            yield (*oldest[:index], value, *oldest[index + 1 :])
    rng = random.Random(seed)
    for _ in range(states_max):
        yield tuple(rng.choice(each) for each in options)
