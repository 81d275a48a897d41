"""Session files as they are found: torn, padded, huge, old, and written by two at once."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.errors import InvalidRecordError, NotFoundError
from curator.model.digest import Json
from curator.pi.session import Kind, read_session
from curator.pi.stream import LINE_BYTES_MAX, Fault
from tests.session_lines import SESSION_ID, assistant, custom, header, lines, message, user, write

TALK = (header(), user("a0000001", None, "Use make check."), assistant("a0000002", "a0000001", "Noted."))


def test_entries_are_indexed_in_order_and_fetched_again(tmp_path: Path) -> None:
    session = read_session(write(tmp_path / "s.jsonl", *TALK))

    assert (session.id, session.version, session.cwd) == (SESSION_ID, 3, "/home/user/proj-a")
    assert [(entry.id, entry.parent_id, entry.kind) for entry in session.entries] == [
        ("a0000001", None, Kind.USER),
        ("a0000002", "a0000001", Kind.ASSISTANT),
    ]
    assert list(session.contents(session.entries)) == list(TALK[1:])
    assert session.damage == ()


def test_a_session_without_a_version_is_read_as_pi_reads_it_whatever_ids_stand_in_it(tmp_path: Path) -> None:
    head: dict[str, Json] = {"type": "session", "id": SESSION_ID, "cwd": "/home/user/proj-a"}
    session = read_session(write(tmp_path / "s.jsonl", head, *TALK))

    assert [entry.parent_id for entry in session.entries] == [None, session.entries[0].id]
    assert list(session.contents(session.entries)) == list(TALK[1:])


def test_reading_changes_no_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", *TALK)
    before, times = path.read_bytes(), path.stat()
    session = read_session(path)
    list(session.contents(session.entries))
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == times.st_mtime_ns


DAMAGED = {
    "cut": (b'{"type":"message","id":"a00000', Fault.TORN_TAIL),
    "padded": (b"\0" * 1728, Fault.NUL_BYTES),
    "padded line": (b"\0" * 64 + b"\n", Fault.NUL_BYTES),
    "prose": (b"not json\n", Fault.NOT_JSON),
    "not a number": (b'{"type":"message","id":"a3","x":NaN}\n', Fault.NOT_JSON),
    "too deep": (b"[" * 100_000 + b"\n", Fault.NOT_JSON),
    "no id": (b'{"type":"message"}\n', Fault.NOT_AN_ENTRY),
    "an id that is a path": (b'{"type":"message","id":"../etc"}\n', Fault.NOT_AN_ENTRY),
}


@pytest.mark.parametrize(("tail", "fault"), DAMAGED.values(), ids=DAMAGED.keys())
def test_damage_costs_its_line_and_is_told_by_line_and_byte(tmp_path: Path, tail: bytes, fault: Fault) -> None:
    whole = lines(*TALK)
    path = tmp_path / "s.jsonl"
    path.write_bytes(whole + tail)

    session = read_session(path)

    assert [entry.id for entry in session.entries] == ["a0000001", "a0000002"]
    assert [(each.fault, each.line, each.byte) for each in session.damage] == [(fault, 4, len(whole))]


def test_a_torn_line_that_is_completed_later_is_picked_up_once(tmp_path: Path) -> None:
    third = lines(user("a0000003", "a0000002", "More."))
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(*TALK) + third[:40])
    assert len(read_session(path).entries) == 2

    path.write_bytes(lines(*TALK) + third)

    assert [entry.id for entry in read_session(path).entries] == ["a0000001", "a0000002", "a0000003"]


def test_nul_bytes_before_a_line_do_not_cost_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(*TALK[:2]) + b"\0" * 512 + lines(TALK[2]))
    session = read_session(path)
    assert len(session.entries) == 2
    assert len(list(session.contents(session.entries))) == 2


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    plain = read_session(write(tmp_path / "plain.jsonl", *TALK))
    path = tmp_path / "marked.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines(*TALK).replace(b"\n", b"\r\n"))
    marked = read_session(path)
    assert list(marked.contents(marked.entries)) == list(plain.contents(plain.entries))
    assert marked.damage == ()


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    spoken = json.dumps(user("a0000001", None, "one\u2028two\u2029three\x85four"), ensure_ascii=False)
    path.write_bytes(lines(header()) + spoken.encode() + b"\n")
    assert len(read_session(path).entries) == 1


def test_a_line_too_long_keeps_its_place_in_the_tree(tmp_path: Path) -> None:
    big = user("a0000003", "a0000002", "x" * (LINE_BYTES_MAX + 1))
    path = write(tmp_path / "s.jsonl", *TALK, big, user("a0000004", "a0000003", "After it."))

    session = read_session(path)

    assert [(each.fault, each.byte) for each in session.damage] == [(Fault.OVER_LONG, len(lines(*TALK)))]
    assert [entry.id for entry in session.branch_to()] == ["a0000001", "a0000002", "a0000003", "a0000004"]
    assert list(session.contents(session.entries[2:3])) == [{}]


@pytest.mark.parametrize(
    ("content", "is_pis"),
    [
        ("a text", True),
        ([], True),
        ([{"type": "thinking", "thinking": "x"}, {"type": "toolCall", "name": "x"}, {"type": "image"}], True),
        (None, False),
        (7, False),
        ({"type": "text", "text": "x"}, False),
        ([None], False),
        ([{"type": "text"}], False),
        ([{"type": "text", "text": "x"}, {"type": "hologram"}], False),
        ([{"type": ["text"], "text": "x"}], False),
    ],
)
def test_content_that_pi_does_not_write_is_told_and_its_entry_stays(
    tmp_path: Path, content: Json, *, is_pis: bool
) -> None:
    odd = message("a0000003", "a0000002", {"role": "assistant", "content": content})

    session = read_session(write(tmp_path / "s.jsonl", *TALK, odd))

    told = [] if is_pis else [(Fault.NOT_PIS_CONTENT, len(TALK) + 1)]
    assert [(each.fault, each.line) for each in session.damage] == told
    assert session.entries[-1].id == "a0000003"


def test_the_branches_beside_one_are_those_in_which_something_was_said(tmp_path: Path) -> None:
    session = read_session(
        write(
            tmp_path / "s.jsonl",
            *TALK,
            user("b1", "a0000002", "Said elsewhere."),
            custom("c1", "b1", "no-forgetti-review", {}),
            custom("c2", "a0000002", "no-forgetti-review", {}),
            user("d1", "a0000002", "Said last."),
        )
    )

    assert session.leaves() == ("c1", "c2", "d1")
    assert session.leaves_beside(session.branch_to()) == ("c1",)
    assert session.leaves_beside(session.branch_to("c1")) == ("d1",)


@pytest.mark.parametrize(
    "first",
    [
        b'{"type":"session","version":3,"id":"00000000-0000\n',
        b"",
        b"\0" * 64 + b"\n",
        b'{"type":"session","version":4,"id":"x"}\n',
        b'{"type":"session","version":true,"id":"x"}\n',
        b'{"type":"session","version":3}\n',
        b'{"type":"session","version":3,"id":" x"}\n',
    ],
    ids=["cut", "missing", "padded", "of a later version", "of no version", "without an id", "with a spaced id"],
)
def test_an_unreadable_header_is_refused_and_never_guessed(tmp_path: Path, first: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(first + lines(*TALK[1:]))
    with pytest.raises(InvalidRecordError) as caught:
        read_session(path)
    assert caught.value.path == path


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_session(tmp_path / "none.jsonl")
    with pytest.raises(InvalidRecordError):
        read_session(tmp_path)


def test_version_1_is_one_line_of_entries_with_the_same_ids_at_every_reading(tmp_path: Path) -> None:
    old: dict[str, Json] = {key: value for key, value in header().items() if key != "version"}
    said: dict[str, Json] = {"type": "message", "message": {"role": "user", "content": "Old style"}}
    answer: dict[str, Json] = {"type": "message", "message": {"role": "assistant", "content": []}}
    path = write(tmp_path / "s.jsonl", old, said, answer)

    first, second = read_session(path), read_session(path)

    assert first.version == 1
    assert first.entries == second.entries
    assert [entry.id for entry in first.branch_to()] == [entry.id for entry in first.entries]
    assert len(list(first.contents(first.entries))) == 2


def test_two_writers_leave_two_branches_and_the_last_written_is_the_active_one(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        *TALK,
        user("a1000003", "a0000002", "Window A: use tabs."),
        user("b1000003", "a0000002", "Window B: use spaces."),
        assistant("a1000004", "a1000003", "A: tabs it is."),
        assistant("b1000004", "b1000003", "B: spaces it is."),
    )
    session = read_session(path)
    assert session.leaves() == ("a1000004", "b1000004")
    assert [entry.id for entry in session.branch_to()] == ["a0000001", "a0000002", "b1000003", "b1000004"]
    assert [entry.id for entry in session.branch_to("a1000004")][2:] == ["a1000003", "a1000004"]
    with pytest.raises(NotFoundError):
        session.branch_to("c1000004")


def test_a_parent_that_is_not_in_the_file_ends_the_branch(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(parentSession="C:\\Users\\p.jsonl"), user("d1", "lost", "Child."))
    assert [entry.id for entry in read_session(path).branch_to()] == ["d1"]


def test_parents_in_a_circle_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(), user("a1", "a2", "one"), user("a2", "a1", "two"))
    with pytest.raises(InvalidRecordError, match="each other as parents"):
        read_session(path).branch_to()


def test_a_file_rewritten_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", *TALK)
    session = read_session(path)
    write(path, header(), user("b0000001", None, "Use make check!"), assistant("b0000002", "b0000001", "Noted."))
    with pytest.raises(InvalidRecordError, match="rewritten"):
        list(session.contents(session.entries))


def test_types_of_later_releases_are_counted_and_keep_their_place(tmp_path: Path) -> None:
    later: dict[str, Json] = {"type": "hologram", "id": "a0000003", "parentId": "a0000002"}
    odd = message("a0000005", "a0000004", "no object")
    cursor = custom("a0000004", "a0000003", "x", {})
    session = read_session(write(tmp_path / "s.jsonl", *TALK, later, cursor, odd))
    assert session.unknown == {"hologram": 1}
    assert len(session.branch_to()) == 5
    assert [entry.kind for entry in session.entries[2:]] == [Kind.OTHER, Kind.CUSTOM, Kind.OTHER]


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_no_bytes_at_all_break_the_reader(tmp_path_factory: pytest.TempPathFactory, rest: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("s") / "s.jsonl"
    path.write_bytes(lines(*TALK) + b"\n".join(rest))
    session = read_session(path)
    assert [entry.id for entry in session.entries[:2]] == ["a0000001", "a0000002"]
    list(session.contents(session.entries))
