"""Crash a scenario at every point, recover twice, and ask the oracles each time.

A scenario is recorded once. From the recording come all the states that a crash may leave; each distinct one is laid out,
recovered by a fresh process exactly as the product does it (by running again), and judged. The second recovery must
change nothing. A state is known by its scenario, model, point and number, and can be laid out again from these.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
import traceback
from collections import Counter
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from curator.errors import CuratorError
from faults.case import Case
from faults.courses import Course, Moment
from faults.coverage import arrows_of
from faults.disk import LossyDisk
from faults.oracles import judge
from faults.recording import Mark, Recording
from faults.tree import differences, digest_of_tree, lay_out, read_tree
from faults.view import is_inert, look
from faults.volumes import RecordingVolume, TimedVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from curator.durable.volume import Volume
    from faults.recording import Asked
    from faults.states import State
    from faults.tree import Tree
    from faults.view import View
    from faults.world import Script

BEYOND_LEASE_MS: Final = 600_000
"""So long after the crash the next process comes: every lease of the dead one has run out."""
_LONG_MS: Final = 26 * 3_600_000
"""Longer than any back-off and into the next budget day."""
_ROUNDS_MAX: Final = 5
_COURSES_MAX: Final = 1_024
"""So many recovered trees are remembered by a stage."""

DEFECTS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a defect in curator looks like when it is not one of the failures that it expects."""

MODELS: Final = ("kill", "strict", "ordered")
"""A process crash forgets nothing; a power cut forgets by one of two models of the disk."""
LOSSY: Final = ("strict", "ordered")
"""Each of these also leaves what a process crash leaves."""

Run: TypeAlias = "Callable[[World], object]"


@dataclasses.dataclass(frozen=True, slots=True)
class Scenario:
    """One story: what is there before, and what is then done, crash by crash."""

    name: str
    script: Script
    prepare: Run
    """Done on a good disk and never crashed."""
    run: Run
    again: Run = World.review
    """What the next process does after a kill."""
    recover: Run = World.review
    """What puts right what a crash left: the product, run again."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where a state comes from; enough to make it again."""

    scenario: str
    model: str
    point: int
    number: int

    def __str__(self) -> str:
        """Return it as the command line takes it."""
        return f"{self.scenario} {self.model} {self.point} {self.number}"


@dataclasses.dataclass(frozen=True, slots=True)
class Violation:
    """A state after which a promise does not hold."""

    place: Place
    after: str
    lost: str
    breaches: tuple[str, ...]

    def __str__(self) -> str:
        """Return everything that a person needs to look into it."""
        told = "\n    ".join(self.breaches)
        return f"{self.place}\n  after: {self.after}\n  lost: {self.lost}\n    {told}"


@dataclasses.dataclass(slots=True)
class Report:
    """What was tried and what was found."""

    verbs: int = 0
    sites: Counter[str] = dataclasses.field(default_factory=Counter)
    points: int = 0
    states: Counter[str] = dataclasses.field(default_factory=Counter)
    """Distinct states judged, by model."""
    after: Counter[str] = dataclasses.field(default_factory=Counter)
    """Distinct states judged, by the call site that was asked last."""
    arrows: Counter[str] = dataclasses.field(default_factory=Counter)
    """Distinct states judged, by the arrow of the job within which the crash came."""
    seen: int = 0
    """States met, equal ones too."""
    passed_over: int = 0
    """Distinct states that were met and not judged: a sample was enough."""
    violations: list[Violation] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    def __iadd__(self, other: Report) -> Self:
        """Add up."""
        self.verbs += other.verbs
        self.sites += other.sites
        self.points += other.points
        self.states += other.states
        self.after += other.after
        self.arrows += other.arrows
        self.seen += other.seen
        self.passed_over += other.passed_over
        self.violations += other.violations
        self.seconds += other.seconds
        return self

    def figures(self) -> dict[str, int]:
        """Return what the summary of the whole campaign adds up."""
        return (
            {f"distinct states, {model}": count for model, count in self.states.items()}
            | {f"call site {site}": count for site, count in self.after.items()}
            | {f"arrow job: {arrow}": count for arrow, count in self.arrows.items()}
            | ({"distinct states passed over for a sample": self.passed_over} if self.passed_over else {})
            | {"violations": len(self.violations)}
        )

    def line(self) -> str:
        """Return the figures in one line."""
        states = ", ".join(f"{model} {count}" for model, count in sorted(self.states.items()))
        return (
            f"{self.verbs} verbs at {len(self.sites)} call sites, {self.points} points, {self.seen} states met, "
            f"{self.states.total()} distinct judged ({states}), {self.passed_over} passed over, {len(self.violations)} violations, {self.seconds:.1f} s"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class SecondLife:
    """What a dead process and the one after it asked of the disk, as one recording."""

    point: int
    """Where the first one died."""
    recording: Recording


class Stage:
    """Where one scenario is played, over and over: a scratch folder with the agent's folder and the project's in it."""

    def __init__(self, scenario: Scenario, scratch: Path) -> None:
        """Play the scenario once on a good disk, and remember it."""
        self.scenario = scenario
        self.agent = scratch / "agent"
        self.lives_on = False
        (scratch / "project").mkdir(exist_ok=True)
        self._judged: set[tuple[str, tuple[Mark, ...]]] = set()
        self._healthy: frozenset[tuple[str, tuple[Mark, ...]]] = frozenset()
        self._lives: dict[int, SecondLife] = {}
        self._courses: dict[tuple[str, int], Course] = {}
        self.recording, self._end = self._record()
        self.disk = LossyDisk(self.recording, is_inert=is_inert)
        start = look(self.recording.start)
        self._damaged = {path: start.files[path] for path in start.torn}

    def seam_breaches(self) -> list[str]:
        """Name what changed on disk past the volume, or otherwise than the recording says."""
        return differences(self.disk.whole(self.disk.points[-1]), self._after_run)

    def states(
        self, model: str, disk: LossyDisk | None = None, seed: int = 0, first: int = 0
    ) -> Iterator[tuple[Place, State]]:
        """Yield every state of a model from a point on, equal ones too."""
        disk = self.disk if disk is None else disk
        for point in disk.points[first:]:
            for number, state in enumerate(disk.of(model, point, seed)):
                yield Place(self.scenario.name, model, point, number), state

    def is_new(self, state: State, said: tuple[Mark, ...]) -> bool:
        """Tell whether a state with this knowledge is met for the first time."""
        return self._is_first((state.digest, said))

    def is_new_tree(self, tree: Tree, said: tuple[Mark, ...]) -> bool:
        """Tell the same of a tree that no recording tells of."""
        return self._is_first((digest_of_tree(tree, is_inert), said))

    def _is_first(self, key: tuple[str, tuple[Mark, ...]]) -> bool:
        if key in self._judged:
            return False
        self._judged.add(key)
        return True

    def healthy(self) -> frozenset[tuple[str, tuple[Mark, ...]]]:
        """Return every state and knowledge that the run may leave, as `mutants` compares them."""
        if not self._healthy:
            self._healthy = frozenset(
                (state.digest, self.disk.said(place.point)) for model in LOSSY for place, state in self.states(model)
            )
        return self._healthy

    def said(self, point: int, disk: LossyDisk | None = None) -> tuple[Mark, ...]:
        """Return what had been told by then, what was told before the run included."""
        return (*self.told_before, *(self.disk if disk is None else disk).said(point))

    def ending_breaches(self) -> list[str]:
        """Return what the oracles say of the healthy run, and what it left unflushed or changed past the volume."""
        end = look(self._after_run)
        told = judge(self.case(end, end, self.said(self.disk.points[-1]), is_over=False))
        return [*told, *self.disk.restless(), *self.seam_breaches()]

    def run(self, models: Iterable[str] = MODELS, *, limit: int | None = None, seed: int = 0, share: int = 1) -> Report:
        """Judge each distinct state, up to a number of violations; one new state in `share` is enough for a sample."""
        began = time.monotonic()
        report = Report(self.recording.verbs, Counter(self.recording.sites()), len(self.disk.points))
        for model in models:
            for place, state in self.states(model, seed=seed):
                report.seen += 1
                said = self.said(place.point)
                if not self.is_new(state, said) or len(self._judged) % share:
                    continue
                report.states[model] += 1
                self._count(report, self.recording.asked[: place.point])
                violation = self.judge(place, state, said)
                if violation is not None:
                    report.violations.append(violation)
                if len(report.violations) == limit:
                    return report
        report.seconds = time.monotonic() - began
        return report

    def second_lives(self) -> Iterator[SecondLife]:
        """Kill the process wherever something is not flushed yet, and record what the next one does.

        The kernel has forgotten nothing, so the next process sees names that the dead one did not flush: it must not
        build on them without a flush of its own.
        """
        loose = [(self.disk.unsettled(point), point) for point in self.disk.points]
        points = [point for (before, _), (names, point) in itertools.pairwise(loose) if names and names != before]
        for point in points:
            if point not in self._lives:
                lay_out(self.disk.whole(point), self.agent)
                clock = HandClock(self._end + BEYOND_LEASE_MS)
                volume = RecordingVolume(self.agent, clock, life=1)
                script, life = self.scenario.script, f"{self.scenario.name}/second life"
                world = World(self.agent, volume, clock, script, life, volume.mark)
                self.scenario.again(world)
                world.rest()
                asked = (*self.recording.asked[:point], *volume.recording().asked)
                self._lives[point] = SecondLife(point, Recording(self.recording.start, asked))
            yield self._lives[point]

    def run_second_lives(self, *, is_whole: bool = True, most: int | None = None) -> Report:
        """Cut the power during and after the life that followed a kill, and judge each state not met before.

        Without `is_whole` only those that lack nothing but what the killed process had written, at the last moment. Where
        there are more than `most`, so many of them, drawn the same way each time.
        """
        began = time.monotonic()
        report = Report()
        fresh = [each for life in self.second_lives() for each in self._fresh_of(life, report, is_whole=is_whole)]
        if most is not None and len(fresh) > most:
            drawn = sorted(random.Random(self.scenario.name).sample(range(len(fresh)), most))
            report.passed_over = len(fresh) - most
            fresh = [fresh[each] for each in drawn]
        for point, places in itertools.groupby(fresh, lambda each: each[0]):
            life = self._lives[point]
            disk = LossyDisk(life.recording, is_inert=is_inert)
            for _, place in places:
                state = next(itertools.islice(disk.of(place.model, place.point), place.number, None))
                report.states[f"{place.model} after a kill"] += 1
                self._count(report, life.recording.asked[: place.point])
                report.violations += self.judge_second(life, place, state, self.said(place.point, disk))
        report.seconds = time.monotonic() - began
        return report

    def _fresh_of(self, life: SecondLife, report: Report, *, is_whole: bool) -> Iterator[tuple[int, Place]]:
        """Yield where a second life may leave a state that was not met before."""
        disk = LossyDisk(life.recording, is_inert=is_inert)
        report.points += len(disk.points) - life.point - 1
        report.verbs += sum(each.mark is None for each in life.recording.asked[life.point :])
        for place, state in self._after_the_kill(life, disk) if is_whole else self._last_inherited(life, disk):
            report.seen += 1
            if self.is_new(state, self.said(place.point, disk)):
                yield life.point, place

    def _after_the_kill(self, life: SecondLife, disk: LossyDisk) -> Iterator[tuple[Place, State]]:
        for model in LOSSY:
            yield from self.states(model, disk, first=life.point + 1)

    def _last_inherited(self, life: SecondLife, disk: LossyDisk) -> Iterator[tuple[Place, State]]:
        """Yield each loss of the dead process's names alone, as late as it can come: when most was built on them."""
        met: set[tuple[int, ...]] = set()
        later: frozenset[tuple[str, int]] = frozenset()
        for point in reversed(disk.points[life.point + 1 :]):
            inherited = disk.inherited(point, life.point)
            if inherited <= later:
                continue
            later = inherited
            for number, state in enumerate(disk.strict(point)):
                if state.steps and state.steps[-1] < life.point and state.steps not in met:
                    met.add(state.steps)
                    yield Place(self.scenario.name, "strict", point, number), state

    def judge_second(self, life: SecondLife, place: Place, state: State, said: tuple[Mark, ...]) -> list[Violation]:
        """Judge a state of a second life."""
        breaches = self.breaches_after(state.tree, said, crashes=2)
        if not breaches:
            return []
        second = dataclasses.replace(place, model=f"{place.model}@{life.point}")
        last = f"a kill after {self._asked_before(life.point)}"
        return [Violation(second, last, state.lost, tuple(breaches))]

    def judge(self, place: Place, state: State, said: tuple[Mark, ...]) -> Violation | None:
        """Lay a state out, recover it twice, let everything come to its end, and ask the oracles."""
        last = self._asked_before(place.point)
        breaches = self.breaches_after(state.tree, said, crashes=1)
        return Violation(place, last, state.lost, tuple(breaches)) if breaches else None

    def case(
        self,
        now: View,
        crashed: View,
        said: tuple[Mark, ...],
        since: Iterable[Mark] = (),
        crashes: int = 1,
        *,
        is_over: bool = True,
    ) -> Case:
        """Put together what the oracles judge."""
        return Case(
            now,
            crashed,
            said,
            tuple(since),
            crashes,
            is_over=is_over,
            lives_on=self.lives_on,
            damaged=self._damaged,
            ended=self._ended,
        )

    def breaches_after(self, tree: Tree, said: tuple[Mark, ...], crashes: int) -> list[str]:
        """Lay a tree out, recover it and return every breach of a promise.

        What recovery makes of a tree does not depend on what anybody had been told: it is watched once, judged each time.
        """
        key = (digest_of_tree(tree, is_inert), crashes)
        course = self._courses.pop(key, None)
        if course is None:
            lay_out(tree, self.agent)
            course = Course(look(tree), self._course_of(crashes))
        breaches = self._breaches_in(course, said, crashes)
        if not breaches:
            # The last ones met: equal trees come at neighbouring points, before and after somebody was told something.
            self._courses[key] = course
            if len(self._courses) > _COURSES_MAX:
                self._courses.pop(next(iter(self._courses)))
        return breaches

    def breaches_of(self, tree: Tree, said: tuple[Mark, ...], crashes: int) -> list[str]:
        """Recover a tree where it stands, twice and to the end, and return every breach of a promise."""
        return self._breaches_in(Course(look(tree), self._course_of(crashes)), said, crashes)

    def _breaches_in(self, course: Course, said: tuple[Mark, ...], crashes: int) -> list[str]:
        """Judge each moment of a course, and go no further than the first breach."""
        for moment in course.moments():
            if moment.now is None:
                return list(moment.wrong)
            case = self.case(moment.now, course.crashed, said, moment.since, crashes, is_over=moment.is_over)
            breaches = [*judge(case), *moment.wrong]
            if breaches:
                return [f"{moment.name}: {each}" for each in breaches]
        return []

    def _course_of(self, crashes: int) -> Iterator[Moment]:
        """Recover what lies there, twice and to the end, moment by moment."""
        clock = HandClock(self._end + crashes * BEYOND_LEASE_MS)
        since: list[Mark] = []
        before: Tree = {}
        now: View | None = None
        for turn in ("first", "second"):
            failed = self.recover(f"{turn} recovery", clock, since)
            if failed:
                yield Moment(f"{turn} recovery", None, tuple(since), tuple(failed))
                return
            after = read_tree(self.agent)
            changes = [] if now is None else [each for each in differences(before, after) if not is_inert(each[2:])]
            now = now if now is not None and before == after else look(after)
            wrong = tuple(f"the second recovery changes {each}" for each in changes)
            yield Moment(f"{turn} recovery", now, tuple(since), wrong)
            before = after
        assert now is not None
        yield from self._to_the_end(now, since, clock)

    def recover(self, life: str, clock: HandClock, since: list[Mark], volume: Volume | None = None) -> list[str]:
        """Run the product once more over what lies there; return why that failed."""
        try:
            self.scenario.recover(self._world(life, clock, since, volume))
        except CuratorError as error:
            return [f"{life}: {type(error).__name__}: {error}"]
        except DEFECTS as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            return [f"{life}: {type(error).__name__}: {error} ({place.name}, line {place.lineno})"]
        return []

    def _to_the_end(self, now: View, since: list[Mark], clock: HandClock) -> Iterator[Moment]:
        """Let days pass until nothing waits any more, then look once more."""
        for turn in range(_ROUNDS_MAX):
            if not now.queued and not now.running:
                break
            clock.move(_LONG_MS)
            if now.mode == "shadow" and turn:
                # What was begun for the real memory waits until a person ends shadow mode.
                self._world(f"person {turn}", clock, since).configure("external")
            if turn:
                # What a call of an earlier day keeps from being asked waits until a person says what that call cost.
                self._world(f"operator {turn}", clock, since).settle_lost()
            failed = self.recover(f"day {turn + 2}", clock, since)
            if failed:
                yield Moment(f"day {turn + 2}", None, tuple(since), tuple(failed))
                return
            now = look(read_tree(self.agent))
        yield Moment("at the end", now, tuple(since), is_over=True)

    def _world(self, life: str, clock: HandClock, since: list[Mark], volume: Volume | None = None) -> World:
        disk = TimedVolume(clock) if volume is None else volume
        return World(self.agent, disk, clock, self.scenario.script, f"{self.scenario.name}/{life}", since.append)

    def _record(self) -> tuple[Recording, int]:
        lay_out({}, self.agent)
        clock = HandClock()
        name = self.scenario.name
        told: list[Mark] = []
        first = World(self.agent, TimedVolume(clock), clock, self.scenario.script, f"{name}/before", told.append)
        self.scenario.prepare(first)
        # What was told of the end of a job counts no more where the scenario took its proofs away.
        taken = {mark.subject for mark in told if mark.kind == "tampered"}
        self.told_before = tuple(mark for mark in told if mark.kind != "over" or mark.subject not in taken)
        self.begin = clock.now()
        volume = RecordingVolume(self.agent, clock)
        world = World(self.agent, volume, clock, self.scenario.script, f"{name}/run", volume.mark)
        self.scenario.run(world)
        world.rest()
        self._after_run = read_tree(self.agent)
        self._ended = look(self._after_run)
        return volume.recording(), clock.now()

    def _count(self, report: Report, asked: Sequence[Asked]) -> None:
        """Count a state for the call site and the arrow that were under way when the crash came."""
        last = next((each for each in reversed(asked) if each.mark is None), None)
        if last is not None:
            report.after[last.chain] += 1
            report.arrows.update(arrows_of(last))

    def _asked_before(self, point: int) -> str:
        before = [each for each in self.recording.asked[:point] if each.mark is None]
        return before[-1].site + f" {before[-1].path}" if before else "nothing"
