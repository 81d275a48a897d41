"""What is remembered of bytes that were written is what reading them gives: a record loses and gains nothing by its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.records import MEANINGS
from curator.model.digest import parse
from curator.model.record import Record
from tests.audit.histories import History

if TYPE_CHECKING:
    from pathlib import Path


def test_each_meaning_is_what_its_bytes_say(tmp_path: Path) -> None:
    history = History(tmp_path)
    for answer in ("add", "fail", "lose", "add", "foreign", "retry"):
        history.enqueue()
        history.review(answer)
    history.enqueue()
    history.crash(45)
    history.review()
    history.undo()
    history.enqueue()
    history.hold()

    kinds = set()
    for kind, raw, meaning in MEANINGS.known():
        if isinstance(kind, type):
            assert issubclass(kind, Record)
            said: object = kind.decode(parse(raw))
        else:
            assert isinstance(kind, tuple)
            said = kind[0](parse(raw), *kind[1:])
        assert said == meaning
        kinds.add(type(meaning).__name__)
    due = {"Branch", "Queued", "Running", "Finished", "ProviderResult", "Intent", "Completion", "Tombstone", "Receipt"}
    assert due <= kinds
