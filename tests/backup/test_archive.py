"""A backup file: whole or refused, whatever was done to it."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from curator.backup.archive import Member, Writer, check, files_of
from curator.errors import InvalidRecordError
from tests.backup.backups import NOW

if TYPE_CHECKING:
    from pathlib import Path


def member(name: str, text: str = "x") -> Member:
    return Member(f"no-forgetti/{name}", text.encode(), 1_767_398_400_123_000_000)


def written(path: Path, *sections: tuple[Member | str, ...]) -> Path:
    """Write a backup; a name in a section drops what had it."""
    with path.open("wb") as out:
        writer = Writer(out, NOW)
        for section in sections:
            for each in section:
                if isinstance(each, str):
                    writer.drop(f"no-forgetti/{each}")
                else:
                    writer.add(each)
            writer.end_section()
        writer.finish()
    return path


def held(path: Path) -> list[tuple[str, bytes]]:
    contents = check(path, lambda _: None)
    return [(each.name, each.data) for each in files_of(path, contents)]


def plain_tar(path: Path, *infos: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        for info, data in infos:
            packed.addfile(info, io.BytesIO(data))
    return path


def test_what_was_added_comes_back_in_order_with_its_time(tmp_path: Path) -> None:
    path = written(tmp_path / "b", (member("a", "1"), member("b", "2")), (member("c/d", "3"),))

    contents = check(path, lambda _: None)
    found = list(files_of(path, contents))

    assert [(each.name, each.data) for each in found] == [
        ("no-forgetti/a", b"1"),
        ("no-forgetti/b", b"2"),
        ("no-forgetti/c/d", b"3"),
    ]
    assert (contents.files, contents.made_at) == (3, "2026-01-03T01:00:00.000Z")
    assert abs(found[0].mtime_ns - 1_767_398_400_123_000_000) < 1_000_000


def test_within_a_section_the_last_of_a_name_counts(tmp_path: Path) -> None:
    path = written(tmp_path / "b", (member("a", "old"), member("b"), member("a", "new")))

    assert held(path) == [("no-forgetti/b", b"x"), ("no-forgetti/a", b"new")]


def test_what_a_section_dropped_does_not_come_back(tmp_path: Path) -> None:
    path = written(tmp_path / "b", (member("a"), member("b"), "a"))

    assert held(path) == [("no-forgetti/b", b"x")]


def test_an_empty_backup_is_whole(tmp_path: Path) -> None:
    assert held(written(tmp_path / "b")) == []


def test_what_comes_back_is_a_tar_that_any_tool_reads(tmp_path: Path) -> None:
    path = written(tmp_path / "b", (member("a", "1"),))

    with tarfile.open(path) as packed:
        assert packed.getnames() == ["backup.json", "no-forgetti/a", "manifest/000000", "seal.json"]
        manifest = packed.extractfile("manifest/000000")
        assert manifest is not None
        assert manifest.read().decode().split("  ")[1] == "no-forgetti/a\n"


def test_a_backup_that_was_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "b", (member("a", "1" * 3_000), member("b")), (member("c"),)).read_bytes()

    for length in range(0, len(whole) - 1, 7):
        (tmp_path / "short").write_bytes(whole[:length])
        with pytest.raises(InvalidRecordError):
            check(tmp_path / "short", lambda _: None)


def test_a_backup_that_was_cut_short_before_it_was_packed_is_refused(tmp_path: Path) -> None:
    whole = gzip.decompress(written(tmp_path / "b", (member("a"), member("b")), (member("c"),)).read_bytes())

    for length in range(0, whole.rindex(b"seal.json") + 1, 512):
        (tmp_path / "short").write_bytes(gzip.compress(whole[:length]))
        with pytest.raises(InvalidRecordError):
            check(tmp_path / "short", lambda _: None)


@pytest.mark.parametrize("word", [b"word of a record", b"no-forgetti/a", b"  no-forgetti/b", b'"files":3'])
def test_one_changed_byte_is_refused(word: bytes, tmp_path: Path) -> None:
    sections = ((member("a", "word of a record"), member("b")), (member("c"),))
    whole = gzip.decompress(written(tmp_path / "b", *sections).read_bytes())
    assert word in whole

    at = whole.index(word) + len(word) - 1
    (tmp_path / "other").write_bytes(gzip.compress(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]))

    with pytest.raises(InvalidRecordError):
        check(tmp_path / "other", lambda _: None)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "no-forgetti/../x", "no-forgetti", "elsewhere/x", "no-forgetti//x", "no-forgetti/./x"]
)
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "b", (Member(name, b"x", 0),))

    with pytest.raises(InvalidRecordError):
        check(path, lambda _: None)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_what_is_no_file_is_refused(kind: bytes, tmp_path: Path) -> None:
    info = tarfile.TarInfo("no-forgetti/x")
    info.type, info.linkname = kind, "/etc/passwd"

    with pytest.raises(InvalidRecordError):
        check(plain_tar(tmp_path / "b", (info, b"")), lambda _: None)


@pytest.mark.parametrize(
    "content",
    [b"", b"text", gzip.compress(b"text"), gzip.compress(b"\0" * 10_240)],
    ids=["empty", "text", "packed text", "packed nothing"],
)
def test_what_is_no_backup_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(content)

    with pytest.raises(InvalidRecordError):
        check(tmp_path / "b", lambda _: None)


def test_another_tar_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("backup.json")
    info.size = 2

    with pytest.raises(InvalidRecordError):
        check(plain_tar(tmp_path / "b", (info, b"{}")), lambda _: None)
