"""One record in one file: read strictly, published by meaning, the first one kept."""

from pathlib import Path

import pytest

from curator.durable.publish import Published
from curator.durable.records import publish_canonical, publish_first, read_record
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.digest import canonical, pretty
from curator.model.feedback import Pending
from tests.durable.volumes import Recorded
from tests.made_up import job, other_digest

PENDING = Pending(job_id=job().id, job_digest=job().digest)
OTHER = Pending(job_id=job().id, job_digest=other_digest())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


def test_a_record_is_published_as_one_canonical_line_and_read_again(path: Path) -> None:
    assert publish_canonical(Volume(), path, PENDING) is Published.CREATED

    assert path.read_text("utf-8") == canonical(PENDING.encode()) + "\n"
    assert read_record(path, Pending, 1024, private=True) == PENDING


def test_a_record_that_says_the_same_in_other_bytes_is_a_replay(path: Path) -> None:
    path.write_text(pretty(PENDING.encode()), "utf-8")

    assert publish_canonical(Volume(), path, PENDING) is Published.REPLAYED


@pytest.mark.parametrize(
    "standing", [b"{", b"[]", b"\xff", b'{"n":1e400}', b"[" * 3000 + b"]" * 3000, canonical(OTHER.encode()).encode()]
)
def test_whatever_else_stands_there_is_a_conflict(path: Path, standing: bytes) -> None:
    path.write_bytes(standing)

    with pytest.raises(ConflictError):
        publish_canonical(Volume(), path, PENDING)

    assert path.read_bytes() == standing


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (b"", "is empty"),
        (b"\0" * 64, "not JSON"),
        (b'{"version":1', "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "is not an object"),
        (b'{"version":2}', "version: is not 1"),
        (b'{"secret":"hunter22"}', "has a key that this record does not have"),
        (b" " * 1025, "is larger than 1024 bytes"),
    ],
)
def test_what_is_no_record_names_the_file_and_the_rule_and_not_the_content(path: Path, raw: bytes, fact: str) -> None:
    path.write_bytes(raw)

    with pytest.raises(InvalidRecordError) as caught:
        read_record(path, Pending, 1024)

    assert str(path) in str(caught.value)
    assert fact in caught.value.why
    assert "hunter22" not in str(caught.value)
    assert path.read_bytes() == raw


def test_the_first_record_is_kept_and_returned_flushed(path: Path) -> None:
    volume = Recorded()

    def find() -> Pending | None:
        return read_record(path, Pending, 1024)

    assert publish_first(volume, path, PENDING, find) == PENDING
    mark = len(volume.asked)
    assert publish_first(volume, path, OTHER, find) == PENDING
    assert volume.asked[mark:] == [f"flush {path.parent.name}"]


def test_a_race_for_the_first_record_is_lost_to_who_was_quicker(path: Path) -> None:
    looks: list[Published] = []

    def find() -> Pending | None:
        if not looks:
            # Between the look and the link somebody else publishes.
            looks.append(publish_canonical(Volume(), path, OTHER))
            return None
        return read_record(path, Pending, 1024)

    assert publish_first(Volume(), path, PENDING, find) == OTHER


def test_the_first_record_that_is_gone_again_is_a_conflict(path: Path) -> None:
    path.write_bytes(canonical(OTHER.encode()).encode())

    with pytest.raises(ConflictError, match="is gone"):
        publish_first(Volume(), path, PENDING, lambda: None)
