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

import bisect
import dataclasses
import itertools
import random
import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from faults.recording import Recording, Verb
from faults.states import State
from faults.tree import Node, digest_of_tree, is_lock, is_staged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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


class _Slot(NamedTuple):
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


_Shape: TypeAlias = "tuple[tuple[int | None, ...], tuple[tuple[int, str], ...], int]"
"""What each name shows, which bytes are cut, and how many times were set: equal shapes of one disk are equal trees."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Moment:
    """One point, and what each name shows there at last."""

    point: int
    newest: Mapping[_Slot, int]
    shown: tuple[int | None, ...]
    """By number of the slot, inert ones left out."""
    loose: frozenset[int]
    """Files whose bytes are not flushed."""
    touches: int


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
        self._prepare()

    @property
    def points(self) -> range:
        """Every moment at which the power may go, the last one after everything."""
        return range(len(self._asked) + 1)

    def said(self, point: int) -> tuple[Mark, ...]:
        """Return what had been told to somebody by then."""
        return self._said[point]

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
        return self._grow(self._newest(point), {}, point)

    def of(self, model: str, point: int, seed: int = 0) -> Iterator[State]:
        """Yield what a model allows at a point: `kill`, `strict` or `ordered`."""
        match model:
            case "kill":
                yield self._state(self._moment(point), {}, {}, ())
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
        several = {slot: steps for slot, steps in options.items() if len(steps) > 1}
        inert = {slot: steps for slot, steps in several.items() if slot in self._inert}
        free = {slot: steps for slot, steps in several.items() if slot not in inert and slot.folder in within}
        renames = [each for each in self._renames if each[0] in several or each[2] in several]
        moment = self._moment(point)
        for combination in _combinations([*free.values()], self._states_max, seed * 100_003 + point):
            chosen = dict(zip(free, combination, strict=True))
            for last in (0, -1) if inert else (-1,):
                older = chosen | {slot: steps[last] for slot, steps in inert.items()}
                if _keeps_renames(renames, older, moment):
                    yield from self._with_bytes(moment, older, ("whole", "half", "empty"))

    def ordered(self, point: int) -> Iterator[State]:
        """Yield the trees that an ordered journal allows at a point."""
        last = max((step for step in self._flushes if step < point), default=-1)
        pending = [step for step in self._names_asked if last < step < point]
        moment = self._moment(point)
        slots = [slot for step in pending for slot in self._slots_at[step]]
        for reached in [last, *pending]:
            older = {slot: self._step_at(slot, reached + 1) for slot in slots}
            yield from self._with_bytes(moment, older, ("whole", "empty"))

    def digests(self, model: str, point: int) -> frozenset[str]:
        """Return the digests of what a model allows at a point, inert names apart."""
        known = self._of_points.get((model, point))
        if known is None:
            known = self._of_points[model, point] = frozenset(state.digest for state in self.of(model, point))
        return known

    def unsettled(self, point: int) -> tuple[str, ...]:
        """Name what a power cut could still take back at a point, inert names apart."""
        options = self._options(point)
        within = self._within_reach(options)
        told = [self._paths[slot] for slot, steps in options.items() if len(steps) > 1 and slot.folder in within]
        shown = [(slot, self._values[slot][step]) for slot, step in self._newest(point).items()]
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
        for slot, steps in self._steps.items():
            flushes = self._folder_flushes.get(slot.folder, ())
            flushed = bisect.bisect_left(flushes, point)
            durable = bisect.bisect_right(steps, flushes[flushed - 1]) - 1 if flushed else 0
            options[slot] = steps[durable : bisect.bisect_left(steps, point)]
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

    def _prepare(self) -> None:
        """Note what every point asks for, once everything is compiled."""
        self._said: list[tuple[Mark, ...]] = [()]
        for asked in self._asked:
            self._said.append(self._said[-1] if asked.mark is None else (*self._said[-1], asked.mark))
        self._values = {
            slot: {-1: self._start.get(slot)} | {change.step: change.inode for change in reversed(changes)}
            for slot, changes in self._changes.items()
        }
        self._steps = {slot: [-1, *(change.step for change in changes)] for slot, changes in self._changes.items()}
        self._slots_at: dict[int, list[_Slot]] = {}
        for slot, changes in self._changes.items():
            for change in changes:
                self._slots_at.setdefault(change.step, []).append(slot)
        self._numbers = {slot: number for number, slot in enumerate(self._changes)}
        self._renames = [
            (slot, change.step, change.needs)
            for slot, changes in self._changes.items()
            for change in changes
            if change.needs is not None
        ]
        self._touched = sorted(step for touches in self._touches.values() for step, _ in touches)
        self._last: _Moment | None = None
        self._digests: dict[_Shape, str] = {}
        self._of_points: dict[tuple[str, int], frozenset[str]] = {}

    def _newest(self, point: int) -> dict[_Slot, int]:
        return {slot: self._step_at(slot, point) for slot in self._steps}

    def _moment(self, point: int) -> _Moment:
        if self._last is not None and self._last.point == point:
            return self._last
        newest = self._newest(point)
        shown = tuple(None if slot in self._inert else self._values[slot][step] for slot, step in newest.items())
        loose = frozenset(inode for inode in self._files if not self._has_bytes(inode, point))
        self._last = _Moment(point, newest, shown, loose, bisect.bisect_left(self._touched, point))
        return self._last

    def _with_bytes(self, moment: _Moment, older: Mapping[_Slot, int], kinds: tuple[str, ...]) -> Iterator[State]:
        if not moment.loose:
            yield self._state(moment, older, {}, ())
            return
        names = {slot: self._values[slot][step] for slot, step in {**moment.newest, **older}.items()}
        unflushed = {slot: inode for slot, inode in names.items() if inode is not None and inode in moment.loose}
        seen = {inode for slot, inode in unflushed.items() if slot not in self._inert}
        inert, loose = set(unflushed.values()) - seen, sorted(seen)
        together = [(kind,) * len(loose) for kind in kinds]
        for cuts in itertools.product(kinds, repeat=len(loose)) if len(loose) <= _LOOSE_MAX else together:
            for inert_cut in (kinds[0], kinds[-1]):
                cut = dict(zip(loose, cuts, strict=True)) | dict.fromkeys(inert, inert_cut)
                torn = [
                    f"bytes of {self._path_of(inode, unflushed)}: {how}" for inode, how in cut.items() if how != "whole"
                ]
                yield self._state(moment, older, cut, torn, loose)
                if not inert:
                    break

    def _state(
        self,
        moment: _Moment,
        older: Mapping[_Slot, int],
        cut: Mapping[int, str],
        torn: Sequence[str],
        loose: Iterable[int] = (),
    ) -> State:
        """Return a state in which some slots show what they showed earlier, and some files are cut."""

        def grow() -> Tree:
            return self._grow({**moment.newest, **older}, cut, moment.point)

        def digest() -> str:
            shown = list(moment.shown)
            for slot, step in older.items():
                if slot not in self._inert:
                    shown[self._numbers[slot]] = self._values[slot][step]
            shape = (tuple(shown), tuple((inode, cut[inode]) for inode in loose), moment.touches)
            known = self._digests.get(shape)
            if known is None:
                known = self._digests[shape] = digest_of_tree(grow(), self._is_inert)
            return known

        return State(grow, digest, lambda: self._gone(moment, older), torn)

    def _gone(self, moment: _Moment, older: Mapping[_Slot, int]) -> dict[str, int]:
        return {
            self._paths[slot]: change.step
            for slot, step in {**moment.newest, **older}.items()
            for change in self._changes[slot]
            if step < change.step < moment.point and slot not in self._inert
        }

    def _path_of(self, inode: int, names: Mapping[_Slot, int]) -> str:
        return next(self._paths[slot] for slot, shown in names.items() if shown == inode)

    def _has_bytes(self, inode: int, point: int) -> bool:
        return self._flushed.get(inode, point) < point

    def _step_at(self, slot: _Slot, point: int) -> int:
        steps = self._steps[slot]
        return steps[bisect.bisect_left(steps, point) - 1]

    def _value_at(self, slot: _Slot, step: int) -> int | None:
        return self._values[slot][step]

    def _grow(self, chosen: Mapping[_Slot, int], cut: Mapping[int, str], point: int) -> Tree:
        """Return the tree that hangs from the root when each slot shows what it did from its chosen step on."""
        inside: dict[int, list[tuple[str, int]]] = {}
        for slot, inode in self._start.items():
            if slot not in chosen:
                inside.setdefault(slot.folder, []).append((slot.name, inode))
        for slot, step in chosen.items():
            shown = self._values[slot][step]
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


def _keeps_renames(renames: Iterable[tuple[_Slot, int, _Slot]], older: Mapping[_Slot, int], moment: _Moment) -> bool:
    """Tell whether no old name is gone before the new one stands."""
    newest = moment.newest
    return not any(
        step <= older.get(slot, newest[slot]) and older.get(needs, newest[needs]) < step
        for slot, step, needs in renames
    )


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
