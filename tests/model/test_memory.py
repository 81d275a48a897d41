"""A branch is normalized as every reader of the protocol does it, and compared by its digest."""

import dataclasses
import json
from typing import Final

import pytest

from curator.model.digest import Json, parse
from curator.model.ids import BranchName, EntryId, RevisionId
from curator.model.memory import (
    Added,
    Branch,
    Removed,
    Review,
    Undo,
    Updated,
    branch_digest,
    changes_between,
    check_for_job,
    check_for_store,
    decode_revision,
    empty_branch,
    entry_digest,
    read_branch,
    revision_filename,
)
from curator.model.record import Violation
from tests.golden_fixtures import vectors
from tests.made_up import AT, LATER, MAIN, branch, entry, other_digest


def from_vector(text: Json, name: str = "main") -> Branch:
    assert isinstance(text, str)
    return read_branch(parse(text.encode()), BranchName(name))


def test_the_vectors_branches_have_the_vectors_digests() -> None:
    whole, empty, fork = vectors()["branchJson"], vectors()["emptyBranch"], vectors()["forkBranch"]
    assert isinstance(empty, dict)
    assert isinstance(fork, dict)

    two_entries = from_vector(whole)

    assert branch_digest(two_entries) == "deb97a2dc47d6645fc5b9389e72e0c10657fdf9c381d9235a37d121a63b3bbb9"
    assert [entry_digest(each) for each in two_entries.entries] == vectors()["entryDigests"]
    assert branch_digest(from_vector(empty["json"])) == empty["digest"]
    assert branch_digest(from_vector(fork["json"], "exp")) == fork["digest"]


def test_a_new_branch_remembers_nothing() -> None:
    digest = branch_digest(empty_branch(MAIN, "2026-01-01T00:00:00.000Z"))

    assert digest == "8c56294f480a1db152991e6f1e1175def3a3e7993fe68c2445ff4919ad1c9908"


def test_what_a_file_leaves_out_is_filled_in_and_what_is_strange_is_dropped() -> None:
    value: Json = {
        "version": 1,
        "entries": [
            {
                "id": "e",
                "text": "t",
                "createdBy": "stranger",
                "updatedBy": "assistant_tool",
                "sourceSessionId": "s",
                "future": {"by": "x"},
            }
        ],
        "parent": 7,
        "colour": "red",
    }

    read = read_branch(value, MAIN)

    assert read.encode() == {
        "version": 1,
        "name": "main",
        "createdAt": "1970-01-01T00:00:00.000Z",
        "updatedAt": "1970-01-01T00:00:00.000Z",
        "entries": [
            {
                "id": "e",
                "text": "t",
                "createdAt": "1970-01-01T00:00:00.000Z",
                "updatedAt": "1970-01-01T00:00:00.000Z",
                "sourceSessionId": "s",
                "updatedBy": "assistant_tool",
                "importance": "normal",
            }
        ],
    }


def test_an_updated_time_defaults_to_the_created_one() -> None:
    read = read_branch({"version": 1, "createdAt": "whenever", "entries": []}, MAIN)

    assert (read.created_at, read.updated_at) == ("whenever", "whenever")


def entries(*changes: dict[str, Json]) -> Json:
    told: list[Json] = []
    for number, change in enumerate(changes):
        whole: dict[str, Json] = {"id": f"e{number}", "text": "t"}
        told.append(whole | change)
    return {"version": 1, "entries": told}


def texts(*each: str) -> Json:
    changes: list[dict[str, Json]] = [{"text": text} for text in each]
    return entries(*changes)


@pytest.mark.parametrize(
    "value",
    [
        [],
        None,
        {"entries": []},
        {"version": 2, "entries": []},
        {"version": True, "entries": []},
        {"version": 1, "name": "other", "entries": []},
        {"version": 1, "name": None, "entries": []},
        {"version": 1, "entries": {}},
        {"version": 1},
        {"version": 1, "entries": [[]]},
        {"version": 1, "entries": [{"id": "e"}]},
        {"version": 1, "entries": [{"text": "t"}]},
        entries({"id": "a.b"}),
        entries({"id": "a" * 129}),
        entries({"id": ""}),
        entries({"id": "same"}, {"id": "same"}),
        entries({"text": "x" * 801}),
        entries({"text": "😀" * 400 + "a"}),
        entries({"text": None}),
        entries({"importance": "urgent"}),
        entries({"importance": None}),
        entries({"importanceAssessedAt": "someday"}),
        entries({"importanceAssessedAt": 5}),
        entries(*[{}] * 201),
        texts(*["x" * 800] * 8),
    ],
)
def test_a_branch_that_breaks_a_rule_is_refused_without_quoting_it(value: Json) -> None:
    with pytest.raises(Violation) as caught:
        read_branch(value, MAIN)

    assert "xxx" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        texts(*[""] * 200),
        entries({"text": "😀" * 400}),
        texts(*["😀" * 400] * 7, "x" * 400),
        entries({"id": "-_" + "a" * 126}),
        entries({"importanceAssessedAt": "2026-01-03"}),
        entries({"importanceAssessedAt": "Sat, 03 Jan 2026 00:00:00 GMT"}),
        entries({"importanceAssessedAt": None}),
    ],
)
def test_a_branch_at_its_bounds_is_held(value: Json) -> None:
    assert read_branch(value, MAIN).chars <= 6000


# Files that other programs were seen to leave: all of them are refused, none is mended by guessing.
@pytest.mark.parametrize(
    "raw", [b"[]", json.dumps(entries({"id": "same"}, {"id": "same"})).encode(), b'{"version":2,"entries":[]}']
)
def test_a_damaged_or_newer_branch_is_not_guessed_at(raw: bytes) -> None:
    with pytest.raises(Violation):
        read_branch(parse(raw), MAIN)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"created_at": "1970"}, "has a time that is not the protocol's"),
        ({"parent": "Upper"}, "has a parent that is not a branch name"),
        ({"entries": (entry("-e"),)}, "has an id that a job may not carry"),
        ({"entries": (entry("e", ""),)}, "is empty"),
        ({"entries": (entry("e", "a\rb"),)}, "is not sanitized"),
        ({"entries": (entry("e"), entry("e"))}, "has two entries of one id"),
        ({"entries": (dataclasses.replace(entry(), source_session_id="s"),)}, "names a session"),
        ({"entries": (dataclasses.replace(entry(), updated_at="x"),)}, "has a time not the protocol's"),
        ({"entries": tuple(entry(f"e{n}", "x" * 4000) for n in range(17))}, "holds more than 64000 characters"),
    ],
)
def test_a_job_carries_only_a_branch_that_its_readers_take(change: dict[str, object], rule: str) -> None:
    wrong = dataclasses.replace(branch(entry()), **change)  # type: ignore[arg-type]  # one field, by its name

    with pytest.raises(Violation) as caught:
        check_for_job(wrong, "job.branch")

    assert caught.value.rule == rule


def test_a_job_may_carry_wider_entries_than_the_store_holds() -> None:
    wide = branch(entry("a.b:c", "x" * 4000))

    check_for_job(wide, "job.branch")
    with pytest.raises(Violation):
        check_for_store(wide)


def test_a_sanitized_branch_names_no_session_and_no_secret() -> None:
    told = dataclasses.replace(entry("e", "password: hunter22"), source_session_id="s")

    clean = branch(told).sanitized().entries[0]

    assert (clean.text, clean.source_session_id) == ("password: [REDACTED]", None)


FIRST, SECOND, THIRD = entry("one", "1"), entry("two", "2"), entry("three", "3")


def test_a_revision_tells_removals_and_updates_in_the_old_order_then_additions_in_the_new() -> None:
    anew, born = dataclasses.replace(THIRD, text="3!"), entry("four", "4")

    changes = changes_between(branch(FIRST, SECOND, THIRD), branch(born, SECOND, anew))

    assert changes == (
        Removed(entry_id=EntryId("one"), before=FIRST, before_index=0),
        Updated(entry_id=EntryId("three"), before=THIRD, after_digest=entry_digest(anew)),
        Added(entry_id=EntryId("four"), after_digest=entry_digest(born)),
    )


REVIEW: Final = Review(
    sequence=1,
    id=RevisionId("00000000-0000-4000-8000-000000000001"),
    branch_name=MAIN,
    committed_at=AT,
    before_digest=other_digest("a"),
    after_digest=other_digest("b"),
    changes=(Added(entry_id=EntryId("e"), after_digest=other_digest("c")),),
)
UNDO: Final = Undo(
    sequence=2,
    id=RevisionId("00000000-0000-4000-8000-000000000002"),
    branch_name=MAIN,
    committed_at=LATER,
    review_revision_id=REVIEW.id,
    before_digest=other_digest("b"),
    after_digest=other_digest("a"),
)


@pytest.mark.parametrize("revision", [REVIEW, UNDO])
def test_either_kind_of_revision_is_read(revision: Review | Undo) -> None:
    assert decode_revision(revision.encode()) == revision


@pytest.mark.parametrize(
    "change",
    [{"changes": []}, {"changes": [REVIEW.changes[0].encode()] * 2}, {"sequence": 0}, {"kind": "redo"}, {"x": 1}],
)
def test_a_revision_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        decode_revision(REVIEW.encode() | change)


def test_a_revisions_name_has_its_sequence_in_twelve_digits() -> None:
    assert revision_filename(7, "abc") == "000000000007-abc.json"
