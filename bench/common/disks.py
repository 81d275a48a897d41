"""The disks that are measured: one folder of the machine's, and an ext4 image with a journal where that can be had."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.common.figures import Figure

_IMAGE_BYTES: Final = 3 << 30
_BYTES: Final = b"x" * 16_384
_TOOLS: Final = ("mkfs.ext4", "losetup", "mount", "umount")


@dataclasses.dataclass(frozen=True, slots=True)
class Disk:
    """A folder to measure in, and what to call its disk."""

    name: str
    folder: Path


@contextlib.contextmanager
def plain(on: Path | None) -> Iterator[Disk]:
    """Give a fresh folder on the disk of `on`, or where temporary files go."""
    with tempfile.TemporaryDirectory(prefix="curator-bench-", dir=on) as folder:
        yield Disk("disk", Path(folder).resolve())


@contextlib.contextmanager
def journaled(on: Path | None) -> Iterator[Disk | str]:
    """Give a fresh ext4 with a journal in an image on that disk, or say why there is none."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        yield "no journaled image: " + (f"{', '.join(missing)} not found" if missing else "only root can mount one")
        return
    with plain(on) as disk:
        try:
            loop = _attach(disk.folder / "image")
        except subprocess.CalledProcessError as error:
            yield f"no journaled image: {error.stderr.strip()}"
            return
        try:
            yield Disk("journaled image", disk.folder / "mounted")
        finally:
            _run("umount", "--lazy", str(disk.folder / "mounted"))
            _run("losetup", "--detach", loop)


def _attach(image: Path) -> str:
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    _run("mkfs.ext4", "-q", "-F", "-N", "400000", str(image))
    loop = _run("losetup", "--find", "--show", str(image))
    mounted = image.with_name("mounted")
    mounted.mkdir()
    try:
        _run("mount", loop, str(mounted))
    except subprocess.CalledProcessError:
        _run("losetup", "--detach", loop)
        raise
    return loop


def _run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def flush_figures(disk: Disk, *, seconds: float = 1.0) -> list[Figure]:
    """Return what this disk does now: whole durable files (16 KB and their folder), one at a time and sixteen."""
    one = _durable_files(disk.folder, threads=1, seconds=seconds)
    sixteen = _durable_files(disk.folder, threads=16, seconds=seconds)
    return [
        Figure(f"{disk.name}: bare durable file, 1 thread, p50", statistics.median(one) * 1000, "ms"),
        Figure(f"{disk.name}: bare durable files, 1 thread", len(one) / seconds, "/s"),
        Figure(f"{disk.name}: bare durable files, 16 threads", len(sixteen) / seconds, "/s"),
    ]


def _durable_files(folder: Path, *, threads: int, seconds: float) -> list[float]:
    taken: list[float] = []
    until = time.monotonic() + seconds

    def write_on(place: Path) -> None:
        count = 0
        while (started := time.monotonic()) < until or not count:
            durable_file(place / str(count), _BYTES)
            taken.append(time.monotonic() - started)
            count += 1

    with tempfile.TemporaryDirectory(dir=folder) as root:
        places = [Path(root, str(number)) for number in range(threads)]
        workers = [threading.Thread(target=write_on, args=(place,)) for place in places]
        for place, worker in zip(places, workers, strict=True):
            place.mkdir()
            worker.start()
        for worker in workers:
            worker.join()
    return taken


def durable_file(path: Path, data: bytes) -> None:
    """Write a file, flush it, give it its name by a link, flush the folder: the least that durability costs."""
    staged = path.with_suffix(".tmp")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.link(staged, path)
    staged.unlink()
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Flush a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
