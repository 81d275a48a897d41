"""Planted bugs, a verb at a time: at each call site a verb is dropped, done twice, or done in another folder.

The bug is a volume, handed in while a story runs from its start: at every call from one site it does otherwise. A mutant
is killed by a run that fails, tells or leaves something else than the healthy one; where both end alike, by a name that
is not durable at rest, or by a state that only the mutant's crashes can leave and after which an oracle finds a breach.
A dropped flush is no mutant of this kind: `mutants` has those.
"""

from __future__ import annotations

import itertools
import re
import uuid
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from curator.errors import CuratorError
from faults.campaign import DEFECTS, Place
from faults.disk import LossyDisk, NotExpressibleError
from faults.mutants import Mutant, Verdict
from faults.recording import Recording, Verb, chain_of, stack_here
from faults.tree import digest_of_tree, is_staged, lay_out, read_tree
from faults.view import is_inert
from faults.volumes import RecordingVolume, TimedVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from curator.model.ports import Clock
    from faults.campaign import Stage
    from faults.recording import Mark
    from faults.states import State

T = TypeVar("T")

DROP, TWICE, ELSEWHERE = "dropped", "done twice", "in another folder"
KINDS: Final = (DROP, TWICE, ELSEWHERE)
_MODELS: Final = ("kill", "strict")
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_DAYS: Final = 2
"""Time for whatever is swept once a day."""
_HOURS: Final = _DAYS + 258
"""And for the shards, of which each has an hour of its own."""
_OF_A_JOB: Final = re.compile(r"/(?:bases|provider-results)/review_[0-9a-f]{40}/")
"""Folders of one job each: they go with its evidence, and whatever stands in them."""
_VERBS_MAX: Final = 2_000
"""No healthy story asks for so many: a run that does will not come to its end."""


class EndlessError(Exception):
    """The bug keeps the run from ever coming to its end."""


class WrongVolume(RecordingVolume):
    """A whole disk, recorded, on which one call site does otherwise."""

    def __init__(self, root: Path, clock: Clock, mutant: Mutant) -> None:
        """Do otherwise wherever `mutant` says."""
        super().__init__(root, clock)
        self._mutant = mutant
        self.planted = 0
        """How often the site was met."""
        self._left = _VERBS_MAX

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        do = partial(super().stage, data=data, hidden=hidden, flush=flush)
        return self._do(Verb.STAGE, path, do, path.parent / f".{uuid.uuid4()}.tmp")

    def link(self, staged: Path, path: Path) -> None:
        self._do(Verb.LINK, path, partial(super().link, staged), None)

    def rename(self, source: Path, target: Path) -> None:
        self._do(Verb.RENAME, target, partial(super().rename, source), None)

    def unlink(self, path: Path) -> bool:
        return self._do(Verb.UNLINK, path, super().unlink, dropped=True)

    def sync_directory(self, path: Path) -> None:
        self._do(Verb.SYNC, path, super().sync_directory, None)

    def make_directory(self, path: Path) -> bool:
        return self._do(Verb.MKDIR, path, super().make_directory, dropped=True)

    def remove_directory(self, path: Path) -> bool:
        return self._do(Verb.RMDIR, path, super().remove_directory, dropped=True)

    def restrict(self, path: Path, mode: int) -> None:
        self._do(Verb.RESTRICT, path, partial(super().restrict, mode=mode), None)

    def touch(self, path: Path) -> None:
        self._do(Verb.TOUCH, path, super().touch, None)

    def keep_time(self, path: Path, mtime_ns: int) -> None:
        self._do(Verb.KEEP_TIME, path, partial(super().keep_time, mtime_ns=mtime_ns), None)

    def _do(self, verb: Verb, path: Path, do: Callable[[Path], T], dropped: T) -> T:
        """Do a verb as the mutant would have it; `dropped` is what a caller hears of one that was not done."""
        kind = self._kind(verb, path)
        if kind == DROP:
            return dropped
        if kind == TWICE:
            do(path)
        if kind == ELSEWHERE:
            path = self._next_to(path) if verb is Verb.SYNC else self._beside(path)
        return do(path)

    def _kind(self, verb: Verb, path: Path) -> str:
        """Return what is to be done otherwise with this call, or nothing."""
        self._left -= 1
        if not self._left:
            raise EndlessError
        stack = stack_here()
        is_it = stack and self._mutant.where == f"{verb.value} in {chain_of(stack)}"
        if not is_it or not path.is_relative_to(self._root):
            return ""
        self.planted += 1
        return self._mutant.kind

    def _beside(self, path: Path) -> Path:
        return self._next_to(path.parent) / path.name

    def _next_to(self, folder: Path) -> Path:
        """Return the folder that stands after this one among its neighbours, or else the one above it, or one within."""
        if folder != self._root:
            beside = sorted(each for each in folder.parent.iterdir() if each.is_dir() and each != folder)
            later = [each for each in beside if each.name > folder.name]
            return (later or beside or [folder.parent])[0]
        return min((each for each in folder.iterdir() if each.is_dir()), default=folder)


def verb_mutants_of(stages: Iterable[Stage]) -> dict[Mutant, list[Stage]]:
    """Return every mutant, in a fixed order, with the stories that meet its call site, short ones first."""
    found: dict[Mutant, list[Stage]] = {}
    for stage in stages:
        sites = {(each.verb, each.site) for each in stage.recording.asked if each.mark is None and each.stack}
        for verb, site in sites:
            for kind in KINDS:
                if kind != DROP or verb is not Verb.SYNC:
                    found.setdefault(Mutant(kind, site), []).append(stage)
    return {
        mutant: sorted(found[mutant], key=lambda stage: len(stage.recording.asked)) for mutant in sorted(found, key=str)
    }


def try_verb_mutant(
    mutant: Mutant, stages: Sequence[Stage], *, stages_max: int = 6, crashed_max: int = 2, states_max: int = 100
) -> Verdict:
    """Look for a story that kills a mutant: by its end in some, then by the states that a crash of it leaves in fewer."""
    alike: list[tuple[Stage, LossyDisk]] = []
    # A flush elsewhere changes no end: only what a crash then loses gives it away.
    crashed_max = stages_max if mutant.kind == ELSEWHERE and mutant.where.startswith(Verb.SYNC) else crashed_max
    for stage in stages[:stages_max]:
        recording, wrong = play(stage, mutant)
        if wrong:
            return Verdict(mutant, f"{stage.scenario.name}: {wrong}", 0)
        if len(alike) == crashed_max or _effects(recording) == _effects(stage.recording):
            continue
        try:
            alike.append((stage, LossyDisk(recording, is_inert=is_inert)))
        except NotExpressibleError as error:
            return Verdict(mutant, f"{stage.scenario.name}: {error}", 0)
    judged = 0
    for stage, disk in alike:
        restless = disk.restless()
        if restless:
            return Verdict(mutant, f"{stage.scenario.name}: at rest {restless[0]} may be lost", judged)
        for place, state in itertools.islice(_new_states(stage, disk), states_max):
            judged += 1
            violation = stage.judge(place, state, stage.said(place.point, disk))
            if violation is not None:
                return Verdict(mutant, f"{place}: {violation.breaches[0]}", judged)
    return Verdict(mutant, "", judged)


def play(stage: Stage, mutant: Mutant) -> tuple[Recording, str]:
    """Play a story with the bug in it; return what it asked, and what gives the bug away at its end."""
    lay_out(stage.recording.start, stage.agent)
    clock = HandClock(stage.begin)
    volume = WrongVolume(stage.agent, clock, mutant)
    world = World(stage.agent, volume, clock, stage.scenario.script, f"{stage.scenario.name}/run", volume.mark)
    try:
        stage.scenario.run(world)
        world.rest()
    except EndlessError:
        return volume.recording(), "the run does not end"
    except CuratorError as error:
        return volume.recording(), f"the run failed: {error.code}"
    except DEFECTS as defect:
        return volume.recording(), f"the run failed: {type(defect).__name__}"
    return volume.recording(), _otherwise(stage, volume, clock)


def _otherwise(stage: Stage, volume: WrongVolume, clock: HandClock) -> str:
    """Say how the end of a run differs from the healthy one's, or nothing."""
    recording = volume.recording()
    if not volume.planted:
        return "the run no longer comes there"
    told, due = _marks(recording), _marks(stage.recording)
    if told != due:
        return f"it tells {len(told)} things otherwise than {len(due)}"
    end, healthy = read_tree(stage.agent), stage.disk.whole(stage.disk.points[-1])
    for path in sorted({*end, *healthy}):
        if not is_inert(path) and digest_of_tree({path: end[path]} if path in end else {}) != digest_of_tree(
            {path: healthy[path]} if path in healthy else {}
        ):
            return f"{path} is otherwise in the end"
    if any(is_staged(path) for path in end):
        litter = _litter_after_days(stage, clock)
        if litter:
            return f"{litter[0]} is never swept"
    return ""


def _litter_after_days(stage: Stage, clock: HandClock) -> list[str]:
    """Let the product go on over what lies there, and name what is staged and stays."""
    scenario, litter = stage.scenario, list[str]()
    for hour in range(_HOURS):
        if hour > _DAYS and not litter:
            break
        clock.move(_HOUR_MS if hour > _DAYS else _DAY_MS)
        life = f"{scenario.name}/hour {hour}"
        try:
            World(stage.agent, TimedVolume(clock), clock, scenario.script, life, lambda _: None).maintain()
        except CuratorError as error:
            return [f"{life}: {error.code}"]
        if hour >= _DAYS:
            litter = [path for path in read_tree(stage.agent) if is_staged(path) and not _OF_A_JOB.search(path)]
    return litter


def _effects(recording: Recording) -> list[tuple[Verb, str, str, bytes, bool, Mark | None]]:
    """Return what was changed, flushed and told, in order; what changed nothing, and a flush flushed at once again, apart."""
    done = [
        (each.verb, each.path, each.source, each.content, each.is_flushed, each.mark)
        for each in recording.asked
        if each.is_done
    ]
    again = [each[0] is Verb.SYNC and each == before for before, each in itertools.pairwise(done)]
    return [each for each, is_again in zip(done, [False, *again], strict=True) if not is_again]


def _marks(recording: Recording) -> list[Mark]:
    return [each.mark for each in recording.asked if each.mark is not None]


def _new_states(stage: Stage, disk: LossyDisk) -> Iterator[tuple[Place, State]]:
    """Yield the states that a crash of the altered run may leave and no crash of the healthy one."""
    met: set[tuple[str, tuple[Mark, ...]]] = set()
    for model in _MODELS:
        for place, state in stage.states(model, disk):
            key = (state.digest, disk.said(place.point))
            if key not in met and key not in stage.healthy():
                met.add(key)
                yield place, state
