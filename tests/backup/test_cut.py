"""A cut is one moment, whatever its writers did between the first look and the lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curator.backup.cut import cut
from curator.durable.lock import protocol_domain
from curator.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Copying:
    """Remembers what was copied, and lets a writer work before the second look."""

    def __init__(self, root: Path, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.root = root
        self.lock = root.parent / ".lock"
        self.meanwhile = meanwhile
        self.copied: dict[str, str] = {}
        self.adds: list[tuple[str, bool]] = []
        """Each copying, and whether the lock was held."""
        self._looks = 0

    def files(self) -> Iterator[Path]:
        self._looks += 1
        if self._looks == 2:
            self.meanwhile()
        return iter(sorted(self.root.iterdir()))

    def add(self, path: Path) -> None:
        self.adds.append((path.name, self.lock.exists()))
        self.copied[path.name] = path.read_text()

    def drop(self, path: Path) -> None:
        self.copied.pop(path.name)

    def run(self) -> list[str]:
        found = cut(self.files, protocol_domain("test", self.lock), self.add, self.drop)
        return [path.name for path in found]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / name).write_text(f"old {name}")
    return folder


def replace(path: Path, text: str) -> None:
    staged = path.with_name("staged")
    staged.write_text(text)
    staged.rename(path)


def test_what_nobody_touched_is_copied_as_it_stands(root: Path) -> None:
    copying = Copying(root)

    assert copying.run() == ["a", "b", "c"]
    assert copying.copied == {"a": "old a", "b": "old b", "c": "old c"}
    assert not copying.lock.exists()


def test_what_was_replaced_meanwhile_is_copied_again_under_the_lock(root: Path) -> None:
    copying = Copying(root, lambda: replace(root / "b", "new b"))

    copying.run()

    assert copying.copied["b"] == "new b"
    assert ("b", True) in copying.adds


def test_a_replacement_of_the_same_size_is_seen(root: Path) -> None:
    copying = Copying(root, lambda: replace(root / "b", "odd b"))

    copying.run()

    assert copying.copied["b"] == "odd b"


def test_what_moved_meanwhile_stands_in_one_place(root: Path) -> None:
    copying = Copying(root, lambda: (root / "a").rename(root / "moved"))

    assert copying.run() == ["b", "c", "moved"]
    assert copying.copied == {"moved": "old a", "b": "old b", "c": "old c"}


def test_what_is_gone_meanwhile_is_dropped(root: Path) -> None:
    copying = Copying(root, (root / "c").unlink)

    assert copying.run() == ["a", "b"]
    assert set(copying.copied) == {"a", "b"}


def test_what_is_old_is_copied_once_and_without_the_lock(root: Path) -> None:
    ages = {path.name: path.lstat().st_ctime_ns for path in root.iterdir()}
    # A file's own clock cannot be set back, so the test waits for it by writing until it has moved on.
    probe = root.parent / "probe"
    while True:
        probe.write_text("x")
        if probe.lstat().st_ctime_ns - max(ages.values()) > 100_000_000:
            break
    copying = Copying(root)

    copying.run()

    assert copying.adds == [("a", False), ("b", False), ("c", False)]


def test_a_lock_that_is_held_is_said(root: Path) -> None:
    copying = Copying(root)
    copying.lock.write_text(f"1:{'0' * 8}-0000-0000-0000-{'0' * 12}\n0\n")

    with pytest.raises(BusyError):
        copying.run()
