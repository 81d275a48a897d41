"""Play a scenario on real ext4, cut the power of its device at every flush, and recover what it then holds.

The scenario runs in a process of its own, so that the locks that it leaves are those of a dead one. Recovery runs where
the image is mounted, by the product's own code, twice and to the end, and the campaign's oracles judge it.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from curator.errors import CuratorError
from faults.block.log import OVER, READY, START, Image, images, line_of, mark_of, read_log
from faults.block.mounts import Loop, make_ext4, mount, mounted, shut_down, sync_filesystem, unmount
from faults.block.planted import PLANTS
from faults.block.watched import CountingRecorder, WatchedStage
from faults.campaign import LOSSY, Place, Report, Violation
from faults.model.trace import replay
from faults.tree import Node, differences, digest_of_tree, is_lock, read_tree
from faults.view import is_inert
from faults.volumes import TimedVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator.model.ports import Clock
    from faults.block.planted import Plant
    from faults.campaign import Scenario
    from faults.recording import Mark
    from faults.tree import Tree

_SIZE: Final = 10 << 20
_DEAD_S: Final = 60
"""So old is a lock when somebody comes back after a power cut: older than the protocol's 30 seconds."""
_PATIENCE_S: Final = 20


class BlockStage:
    """Where one scenario is played: a private folder in memory, a device in it, and where that is mounted."""

    def __init__(self, scenario: Scenario, room: Path) -> None:
        """Play the scenario once on a good disk, to know what it tells and where it ends."""
        self._room = room
        self._world = room / "world"
        self._world.mkdir()
        self._first = room / "first"
        make_ext4(self._first, _SIZE)
        self._stage = WatchedStage(scenario, self._world)
        self._whole = self._stage.disk.whole(self._stage.disk.points[-1])
        self._foretold = {_names_and_bytes(state.tree) for model in LOSSY for _, state in self._stage.states(model)}
        for each in self._world.iterdir():
            shutil.rmtree(each)

    # --- the recorder ------------------------------------------------------------------------------------------------

    def record(self, log: Path, plant: str = "nothing") -> None:
        """Play the scenario above the recorder, and leave what reached the device in `log`."""
        fuse = self._room / "fuse"
        fuse.mkdir()
        with recording(fuse, self._first, log):
            marks = os.open(fuse / "mark", os.O_WRONLY)
            try:
                self._play_above(fuse / "disk", marks, plant)
            finally:
                os.close(marks)

    def _play_above(self, file: Path, marks: int, plant: str) -> None:
        loop = Loop(file)
        try:
            with mounted(loop.path, self._world):
                died = in_a_process(lambda: self._play(lambda mark: _write(marks, mark), PLANTS[plant]))
                assert died == 0, "the scenario failed: its own words are above"
                _write(marks, OVER)
                changed = differences(self._whole, read_tree(self._world / "agent"))
                strange = [each for each in changed if not is_inert(each[2:])]
                assert strange == [], f"the scenario went otherwise than on the good disk: {strange}"
        finally:
            loop.close()

    def _play(self, tell: Callable[[Mark], None], plant: Plant) -> None:
        clock, name = HandClock(), self._stage.scenario.name
        (self._world / "project").mkdir()
        agent = self._world / "agent"
        agent.mkdir(0o700)
        before = World(agent, TimedVolume(clock), clock, self._stage.scenario.script, f"{name}/before", _tell_nobody)
        self._stage.scenario.prepare(before)
        sync_filesystem(self._world)
        tell(START)
        disk = plant(agent, clock)

        def tell_both(mark: Mark) -> None:
            disk.mark(mark)
            tell(mark)

        world = World(agent, disk, clock, self._stage.scenario.script, f"{name}/run", tell_both)
        try:
            self._stage.scenario.run(world)
            world.rest()
        finally:
            # Whether it came to its end or its filesystem did.
            refusal = replay(disk.recording()).refusal if self._stage.is_modelled else None
            assert refusal is None, f"the model does not allow the run: {refusal}"

    # --- the images --------------------------------------------------------------------------------------------------

    def cut_everywhere(
        self, log: Path, *, subsets: int, seed: int, every: int = 1, limit: int | None = None, is_planted: bool = False
    ) -> Report:
        """Cut the power at each flush, and judge what each image comes to, up to a number of violations.

        An image is mounted and read, whatever it holds; what is equal to one that was judged is not recovered again.
        What no model of a disk tells of is a violation too, unless a bug was planted.
        """
        began, report = time.monotonic(), Report(self._stage.recording.verbs)
        disk = self._room / "disk"
        with disk.open("w+b", buffering=0) as file:
            file.truncate(_SIZE)
            loop = Loop(disk)
            try:
                for image in self._chosen(log, subsets, seed, every):
                    report.points = image.flush + 1
                    report.seen += 1
                    _fill(file.fileno(), image)
                    loop.forget()
                    self._judge(loop, image, report, is_planted=is_planted)
                    if len(report.violations) == limit:
                        break
            finally:
                loop.close()
        report.seconds = time.monotonic() - began
        return report

    def _chosen(self, log: Path, subsets: int, seed: int, every: int) -> Iterator[Image]:
        for image in images(self._first.read_bytes(), read_log(log), subsets=subsets, seed=seed):
            if (image.flush + seed) % every == 0:
                yield image

    def _judge(self, loop: Loop, image: Image, report: Report, *, is_planted: bool) -> None:
        try:
            mount(loop.path, self._world, "ext4")
        except OSError as error:
            self._breach(report, image, [f"the image cannot be mounted: {error}"])
            return
        try:
            said = (*self._stage.told_before, *image.said)
            tree = read_tree(self._world / "agent")
            if self._stage.is_new_tree(tree, said):
                report.states["ext4"] += 1
                is_foretold = is_planted or _names_and_bytes(tree) in self._foretold
                strange = [] if is_foretold else ["ext4 leaves what no model tells of"]
                self._breach(report, image, strange + self._recover(tree, said))
        finally:
            unmount(self._world)

    def _breach(self, report: Report, image: Image, breaches: list[str]) -> None:
        if breaches:
            place = Place(self._stage.scenario.name, "block", image.flush, image.number)
            last = str(image.said[-1]) if image.said else "the start"
            report.violations.append(Violation(place, last, image.lost(), tuple(breaches)))

    def _recover(self, tree: Tree, said: tuple[Mark, ...]) -> list[str]:
        then = time.time() - _DEAD_S
        for path in (self._world / "agent").rglob("*"):
            if is_lock(path.name) and path.is_file():
                os.utime(path, (then, then))
        breaches = self._stage.breaches_of(tree, said, crashes=1)
        return [*breaches, *self._stage.refusal()]

    # --- a filesystem that ends --------------------------------------------------------------------------------------

    def end_everywhere(self, how: int, *, first: int = 1, every: int = 1) -> Report:
        """Shut the filesystem down in mid-run, at a primitive of every so many, and judge what a new mount brings back."""
        began, report, survive = time.monotonic(), Report(self._stage.recording.verbs), first
        self._stage.lives_on = True
        while self._end_once(how, survive, report):
            survive += every
        self._stage.lives_on = False
        report.seconds = time.monotonic() - began
        return report

    def _end_once(self, how: int, survive: int, report: Report) -> bool:
        """End it at one primitive; tell whether the run came so far."""
        file, told = self._room / "ending", self._room / "told"
        shutil.copyfile(self._first, file)
        told.write_bytes(b"")
        loop = Loop(file)
        try:
            with mounted(loop.path, self._world):
                ending = in_a_process(lambda: self._play_to_the_end(told, how, survive))
            if ending == Ending.NEVER_CAME:
                return False
            report.points += 1
            report.seen += 1
            with mounted(loop.path, self._world):
                self._judge_ended(
                    told, Ending(ending), Place(self._stage.scenario.name, "shutdown", survive, how), report
                )
        finally:
            loop.close()
        return True

    def _play_to_the_end(self, told: Path, how: int, survive: int) -> int:
        """Play above a filesystem that ends, and tell in the exit status what became of the process."""
        marks = os.open(told, os.O_WRONLY | os.O_APPEND)
        volumes: list[EndingVolume] = []

        def give(agent: Path, clock: Clock) -> EndingVolume:
            volumes.append(EndingVolume(agent, clock, self._world, how, survive))
            return volumes[0]

        try:
            self._play(lambda mark: _write(marks, mark, b"\n"), give)
        except CuratorError:
            return Ending.REFUSED
        return Ending.WENT_ON if volumes[0].has_ended else Ending.NEVER_CAME

    def _judge_ended(self, told: Path, ending: Ending, place: Place, report: Report) -> None:
        marks = [mark_of(line) for line in told.read_bytes().splitlines()]
        assert marks[0] == START, "the run had not begun"
        said = (*self._stage.told_before, *marks[1:])
        tree = read_tree(self._world / "agent")
        report.states[ending.name.lower()] += 1
        breaches = self._recover(tree, said)
        if breaches:
            report.violations.append(Violation(place, str(marks[-1]), ending.name.lower(), tuple(breaches)))


class Ending(enum.IntEnum):
    """What became of a process whose filesystem ended; the number is its exit status."""

    NEVER_CAME = 0
    REFUSED = 10
    WENT_ON = 11


class EndingVolume(CountingRecorder):
    """A volume whose filesystem is shut down before one primitive, and which then goes on asking."""

    def __init__(self, agent: Path, clock: Clock, folder: Path, how: int, survive: int) -> None:
        """Shut down the filesystem of `folder` when more than `survive` primitives are asked for."""
        super().__init__(agent, clock)
        self._folder = folder
        self._how = how
        self._survive = survive
        self.has_ended = False

    def before(self, path: Path | None) -> None:
        del path
        if self.count > self._survive and not self.has_ended:
            self.has_ended = True
            shut_down(self._folder, self._how)
            self._prove()

    def _prove(self) -> None:
        """Show that nothing can be written any more."""
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            (self._folder / "proof").write_bytes(b"")


def in_a_process(run: Callable[[], int | None]) -> int:
    """Run in a child, which ends without tidying up, and return its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = run() or 0
        finally:
            if sys.exc_info()[0] is not None:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@contextlib.contextmanager
def recording(mountpoint: Path, first: Path, log: Path) -> Iterator[Path]:
    """Have the recorder's files at `mountpoint` while the block runs; its log is whole afterwards."""
    program = [sys.executable, "-m", "faults.block.recorder", str(mountpoint), str(first), str(log)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "FUSE_LIBRARY_NAME": "fuse3"}
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as recorder:
        try:
            assert recorder.stdout is not None
            assert recorder.stdout.readline() == READY, "the recorder ended; its own words are above"
            yield mountpoint
            unmount(mountpoint)
            assert recorder.wait(_PATIENCE_S) == 0
        finally:
            if recorder.poll() is None:
                recorder.kill()
                unmount(mountpoint)


def _write(descriptor: int, mark: Mark, ending: bytes = b"") -> None:
    os.write(descriptor, line_of(mark) + ending)


def _tell_nobody(mark: Mark) -> None:
    del mark


def _names_and_bytes(tree: Tree) -> str:
    """Return a digest without times: those are set after a file is flushed, and no promise rests on them."""
    return digest_of_tree({path: Node(node.content) for path, node in tree.items()}, is_inert)


def _fill(descriptor: int, image: Image) -> None:
    os.pwrite(descriptor, image.durable, 0)
    for offset, content in image.kept:
        os.pwrite(descriptor, content, offset)
