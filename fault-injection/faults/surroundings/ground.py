"""A disk of its own under an agent folder, in a mount namespace that one process keeps and others enter.

When the keeper ends, however it ends, the kernel takes its mounts and loop devices away; nobody outside sees them. What is
on the disk is looked at through the keeper's own root in /proc.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.cli.commands import CURATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.surroundings.watched import Watch
    from tests.acceptance.processes import Place

_READY: Final = "mounted\n"


@dataclasses.dataclass(frozen=True, slots=True)
class Ground:
    """A place whose agent folder lies on a disk of its own."""

    watch: Watch
    keeper: int

    @property
    def place(self) -> Place:
        """The place as those see it who do not stand on that disk."""
        return self.watch.place

    @property
    def inside(self) -> Place:
        """The place as those see it who stand on that disk: for looking, not for making projects."""
        return dataclasses.replace(self.place, home=Path(f"/proc/{self.keeper}/root{self.place.home}"))

    def start(self, *arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start a command of curator there, `before` being what runs it."""
        command = [*self._enter(), *before, *CURATOR, *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.place.environ(), cwd=self.place.home, stdout=pipe, stderr=pipe)

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script there, in the agent's folder, to its end."""
        lines = f"cd {shlex.quote(str(self.place.layout.agent))} && {{ {script}\n}}"
        environ = {**os.environ, "PATH": os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"}
        command = [*self._enter(), "sh", "-c", lines]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    def refuses(self) -> str:
        """Return what the disk says to somebody who writes a file there, or nothing where it takes one."""
        return self.shell("dd if=/dev/zero of=proof bs=4k count=1 status=none && rm proof").stderr

    def mend(self) -> None:
        """Unmount a disk of ext4, check it as at a start of the machine, and mount it again: only what it holds is there."""
        disk = self.place.home / "under" / "disk"
        # The check says 1 or 2 where it has mended something.
        mended = self.shell(
            f"cd / && umount {self.place.layout.agent} && {{ e2fsck -fy {disk}; [ $? -le 2 ]; }} &&"
            f" mount -t ext4 -o loop {disk} {self.place.layout.agent}"
        )
        assert mended.returncode == 0, mended.stdout + mended.stderr
        self.watch.begin_anew(self.inside.layout.agent)

    def _enter(self) -> tuple[str, ...]:
        return ("nsenter", f"--mount=/proc/{self.keeper}/ns/mnt", f"--wd={self.place.home}")


TMPFS: Final = "mount -t tmpfs -o mode=700,{options} none $AGENT"
"""A disk in memory, by its options."""
EXT4: Final = """
    mkdir $HOME_OF/under && mount -t tmpfs -o size={room} none $HOME_OF/under
    truncate -s 32M $HOME_OF/under/disk && mkfs.ext4 -q {features} $HOME_OF/under/disk
    mount -t ext4 -o loop,{options} $HOME_OF/under/disk $AGENT && rmdir $AGENT/lost+found && chmod 700 $AGENT
"""
"""A real filesystem in a sparse file, on a disk in memory that has only so much room for it."""


@contextlib.contextmanager
def ground(watch: Watch, mount: str) -> Iterator[Ground]:
    """Put the agent folder, with what is in it, on a disk that `mount` mounts, while the block runs."""
    place = watch.place
    script = f"""
        set -e; export PATH=$PATH:/usr/sbin:/sbin; mv $AGENT $HOME_OF/kept; mkdir $AGENT
        {mount}
        cp -a $HOME_OF/kept/. $AGENT; sync -f $AGENT; echo mounted; exec cat
    """
    environ = {**os.environ, "AGENT": str(place.layout.agent), "HOME_OF": str(place.home)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        ["unshare", "-m", "sh", "-c", script], env=environ, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as keeper:
        try:
            assert keeper.stdout is not None
            assert keeper.stderr is not None
            assert keeper.stdout.readline() == _READY, keeper.stderr.read()
            yield Ground(watch, keeper.pid)
        finally:
            keeper.kill()
