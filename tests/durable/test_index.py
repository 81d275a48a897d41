"""What did not change is not read again; what may have changed within one tick of the clock is."""

import os
import time
from pathlib import Path

import pytest

from curator.durable.index import FolderIndex, Listing
from curator.durable.read import read_bounded
from curator.errors import InvalidRecordError, StorageError

HOUR_AGO_NS = time.time_ns() - 3_600_000_000_000
AHEAD_NS = time.time_ns() + 3_600_000_000_000
"""A time that is never far enough behind the look at it: what a coarse tick is for real."""


class Reader:
    """Reads a file's bytes as its record, and counts."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.failing: set[str] = set()

    def __call__(self, path: Path) -> bytes | None:
        self.read.append(path.name)
        if path.name in self.failing:
            raise StorageError(path, OSError(5, "Input/output error"))
        return read_bounded(path, 100)


@pytest.fixture
def reader() -> Reader:
    return Reader()


def put(folder: Path, name: str, data: bytes = b"1", at_ns: int = HOUR_AGO_NS) -> None:
    """Write a file, and leave it and its folder with a chosen time."""
    (folder / name).write_bytes(data)
    os.utime(folder / name, ns=(at_ns, at_ns))
    os.utime(folder, ns=(at_ns, at_ns))


def records(index: FolderIndex[bytes]) -> dict[str, bytes | None]:
    return {name: each.record for name, each in index.refresh().items()}


def test_a_folders_json_records_are_read_in_the_order_of_their_names(tmp_path: Path, reader: Reader) -> None:
    for name in ("b.json", "a.json", "note.txt", "a.json.1.tmp"):
        put(tmp_path, name, name.encode())

    assert list(records(FolderIndex(tmp_path, 10, reader)).items()) == [("a.json", b"a.json"), ("b.json", b"b.json")]


def test_a_folder_that_is_not_there_is_empty_until_it_is(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path / "later", 10, reader)

    assert records(index) == {}
    (tmp_path / "later").mkdir()
    put(tmp_path / "later", "a.json")
    assert records(index) == {"a.json": b"1"}


def test_what_did_not_change_is_not_read_again(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json")
    put(tmp_path, "b.json")
    records(index)
    put(tmp_path, "c.json", at_ns=HOUR_AGO_NS + 1)

    assert sorted(records(index)) == ["a.json", "b.json", "c.json"]
    assert sorted(records(index)) == ["a.json", "b.json", "c.json"]
    assert reader.read == ["a.json", "b.json", "c.json"]


def test_a_record_that_was_replaced_is_read_anew(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json", b"1")
    records(index)
    put(tmp_path, "staged", b"2")
    (tmp_path / "staged").rename(tmp_path / "a.json")

    assert records(index) == {"a.json": b"2"}


def test_a_record_that_is_gone_is_gone(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json")
    before = index.refresh()
    (tmp_path / "a.json").unlink()

    assert records(index) == {}
    assert list(before) == ["a.json"], "what was returned before stays as it was"


def test_a_second_file_within_the_tick_of_the_first_is_seen(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json", at_ns=AHEAD_NS)
    records(index)
    put(tmp_path, "b.json", at_ns=AHEAD_NS)

    assert sorted(records(index)) == ["a.json", "b.json"]


def test_a_second_content_within_the_tick_of_the_first_is_seen_though_size_and_inode_are_the_same(
    tmp_path: Path, reader: Reader
) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json", b"1", at_ns=AHEAD_NS)
    records(index)
    put(tmp_path, "a.json", b"2", at_ns=AHEAD_NS)

    assert records(index) == {"a.json": b"2"}


def test_a_record_that_cannot_be_read_costs_itself_and_is_looked_at_until_it_is_mended(
    tmp_path: Path, reader: Reader
) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json", b"")
    put(tmp_path, "b.json")

    fault = index.refresh()["a.json"].fault
    assert isinstance(fault, InvalidRecordError)
    assert fault.why == "is empty"
    assert records(index)["b.json"] == b"1"

    (tmp_path / "a.json").write_bytes(b"mended in place")
    os.utime(tmp_path, ns=(HOUR_AGO_NS, HOUR_AGO_NS))
    assert records(index) == {"a.json": b"mended in place", "b.json": b"1"}


def test_a_look_that_the_disk_cut_off_is_no_look(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path, 10, reader)
    put(tmp_path, "a.json")
    put(tmp_path, "b.json")
    reader.failing = {"b.json"}
    with pytest.raises(StorageError):
        index.refresh()
    reader.failing = set()

    assert sorted(records(index)) == ["a.json", "b.json"]


def test_a_folder_with_too_many_names_is_refused_each_time(tmp_path: Path, reader: Reader) -> None:
    index = FolderIndex(tmp_path, 1, reader)
    put(tmp_path, "a.json")
    put(tmp_path, "b.json")

    for _ in range(2):
        with pytest.raises(InvalidRecordError, match="holds more than 1 names"):
            index.refresh()


def test_a_listing_holds_only_once_it_was_done(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    os.utime(tmp_path, ns=(HOUR_AGO_NS, HOUR_AGO_NS))

    assert not listing.is_current()
    assert not listing.is_current()
    listing.done()
    assert listing.is_current()
    os.utime(tmp_path, ns=(HOUR_AGO_NS + 1, HOUR_AGO_NS + 1))
    assert not listing.is_current()


def test_a_listing_of_a_moment_ago_is_not_trusted(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    os.utime(tmp_path, ns=(AHEAD_NS, AHEAD_NS))
    listing.is_current()
    listing.done()

    assert not listing.is_current()
