"""Reading a session into nodes: what each entry leaves, what damage costs, and how reading goes on."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from curator.errors import InvalidRecordError, NotFoundError
from curator.model.digest import Digest, Json
from curator.model.limits import NODE_CHARS_MAX
from curator.model.record import u16_len
from curator.model.times import ms_of
from curator.model.trajectory import make_node
from curator.pi.stream import Fault
from curator.tracks.trajectory.facts import DateQuality, Ended
from curator.tracks.trajectory.reading import Batch, index_file
from tests.session_lines import assistant, custom, header, lines, message, tool_result, user, write
from tests.tracks.trajectory.readings import NOW, Read, read

INPUTS: Final = Path(__file__).parents[2] / "cases" / "inputs"
MEGABYTE: Final = 1 << 20


def case(name: str) -> Read:
    return read(INPUTS / f"{name}.jsonl")


def test_each_entry_leaves_what_a_review_may_see_of_it(tmp_path: Path) -> None:
    call: Json = {"type": "toolCall", "name": "bash", "arguments": {"command": "cat secret-plan"}}
    thinking: Json = {"type": "thinking", "thinking": "never told"}
    text: Json = {"type": "text", "text": "On it."}
    skill: Json = {"names": ["release"]}
    path = write(
        tmp_path / "s.jsonl",
        header(),
        user("u1", None, "Use make check."),
        assistant("a1", "u1", [thinking, text, call]),
        tool_result("t1", "a1", "bash", is_error=True),
        message("b1", "t1", {"role": "bashExecution", "command": "rm -rf x", "output": "never told"}),
        {"type": "compaction", "id": "c1", "parentId": "b1", "summary": "What was said."},
        custom("k1", "c1", "no-forgetti-project-skill-use", skill),
        custom("o1", "k1", "no-forgetti-active", {"memory": "never told"}),
        {"type": "custom_message", "id": "m1", "parentId": "o1", "customType": "no-forgetti", "content": "never told"},
        {"type": "branch_summary", "id": "s1", "parentId": "m1", "summary": "never told"},
        message("y1", "s1", {"role": "system", "content": "", "sections": {"project-memory": "never told"}}),
        assistant("a2", "y1", [thinking]),
    )

    nodes, ended = read(path)

    assert [(node.role, node.text) for node in nodes] == [
        ("user", "USER: Use make check."),
        ("assistant", "ASSISTANT: On it.\n[tool call: bash]"),
        ("tool", "TOOL bash: failed"),
        ("other", ""),
        ("summary", "[Prior conversation summary]\nWhat was said."),
        ("skills", "PROJECT SKILLS INVOKED: release"),
        *[("other", "")] * 4,
        ("assistant", ""),
    ]
    at = "2026-05-04T10:00:01.000Z"
    assert nodes[1] == make_node(nodes[0].digest, nodes[1].entry_id, at, "assistant", nodes[1].text)
    assert ended.facts.injected == 2
    assert {role: count for role, count in ended.facts.roles.items() if count} == {
        "user": 1,
        "assistant": 2,
        "tool": 1,
        "summary": 1,
        "skills": 1,
        "other": 5,
    }


def test_secrets_and_what_is_too_long_do_not_reach_a_node(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    long = "\U0001f600 word " * NODE_CHARS_MAX
    said = (
        user("u1", None, f"the key is {secret}"),
        assistant("a1", "u1", long),
        tool_result("t1", "a1", f"{secret} x"),
    )

    nodes, _ = read(write(tmp_path / "s.jsonl", header(), *said))

    assert nodes[0].text == "USER: the key is [REDACTED GITHUB TOKEN]"
    assert nodes[1].text.endswith("[Turn content truncated]")
    assert NODE_CHARS_MAX - 200 < u16_len(nodes[1].text) <= NODE_CHARS_MAX
    assert nodes[2].text == "TOOL [REDACTED GITHUB TOKEN] x: completed"


# --- going on --------------------------------------------------------------------------------------------------------

TALK: Final = (user("u1", None, "Use make check."), assistant("a1", "u1", "Noted."))
MORE: Final = (user("u2", "a1", "And lint."), assistant("a2", "u2", "Yes."))


def test_reading_goes_on_where_it_ended_and_reads_nothing_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(), *TALK)
    first = read(path)
    write(path, header(), *TALK, *MORE)

    again = read(path, resume=first.ended.progress)

    assert [node.entry_id for node in again.nodes] == ["u2", "a2"]
    assert again.ended.facts.lines == 2
    assert not again.ended.is_whole
    assert [*first.nodes, *again.nodes] == read(path).nodes
    assert read(path, resume=again.ended.progress).nodes == []


def test_reading_goes_on_after_a_bookmark(tmp_path: Path) -> None:
    mark: dict[str, Json] = {"type": "label", "id": "l1", "parentId": "a1", "targetId": "u1", "label": "here"}
    path = write(tmp_path / "s.jsonl", header(), *TALK, mark)
    first = read(path)
    write(path, header(), *TALK, mark, user("u2", "l1", "And lint."))

    again = read(path, resume=first.ended.progress)

    assert (again.ended.is_whole, [node.entry_id for node in again.nodes]) == (False, ["u2"])
    assert again.nodes[0].parent == first.named("a1").digest


def test_a_branch_out_of_an_older_entry_has_the_file_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(), *TALK, *MORE)
    first = read(path)
    write(path, header(), *TALK, *MORE, user("u3", "a1", "Or not."))

    again = read(path, resume=first.ended.progress)

    assert again.ended.is_whole
    assert again.path_to("u3") == ["u1", "a1", "u3"]


@pytest.mark.parametrize("change", ["other header", "other tail", "shorter"])
def test_a_file_that_was_written_anew_is_read_anew(change: str, tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(), *TALK)
    progress = read(path).ended.progress
    other = {
        "other header": (header(cwd="/elsewhere"), *TALK),
        "other tail": (header(), TALK[0], MORE[1]),
        "shorter": (header(),),
    }
    write(path, *other[change])

    again = read(path, resume=progress)

    assert again.ended.is_whole
    assert again.nodes == read(path).nodes


def test_a_torn_tail_is_told_and_taken_once_when_it_is_whole(tmp_path: Path) -> None:
    whole = lines(header(), *TALK)
    path = tmp_path / "s.jsonl"
    path.write_bytes(whole[:-10])
    begun = whole.rindex(b"\n", 0, -1) + 1

    first = read(path)
    path.write_bytes(whole)
    second = read(path, resume=first.ended.progress)

    assert [(each.fault, each.line, each.byte) for each in first.ended.facts.damage] == [(Fault.TORN_TAIL, 3, begun)]
    assert (first.ended.progress.byte, first.ended.progress.line) == (begun, 2)
    assert ([node.entry_id for node in second.nodes], second.ended.facts.damage) == (["a1"], ())


def test_a_last_line_without_an_end_is_taken_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(header(), *TALK)[:-1])
    first = read(path)
    path.write_bytes(lines(header(), *TALK, *MORE))

    second = read(path, resume=first.ended.progress)

    assert [node.entry_id for node in first.nodes] == ["u1", "a1"]
    assert [node.entry_id for node in second.nodes] == ["a1", "u2", "a2"]
    assert second.nodes[0] == first.nodes[1]


def test_a_file_that_grows_is_the_same_file_up_to_where_it_was_read(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(), *TALK)
    then = read(path, is_digested=True)
    write(path, header(), *TALK, *MORE)

    now = read(path, until=then.ended.size, is_digested=True)

    assert (now.nodes, now.ended.content_digest, now.ended.progress) == (
        then.nodes,
        then.ended.content_digest,
        then.ended.progress,
    )
    assert read(path, is_digested=True).ended.content_digest != then.ended.content_digest


def test_a_file_that_is_replaced_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", header(), *TALK, *[user(f"x{n}", "a1", "filler " * 9_000) for n in range(40)])
    events = index_file(str(path), NOW)
    assert isinstance(next(events), Batch)
    write(tmp_path / "other.jsonl", header(), *TALK).replace(path)

    with pytest.raises(InvalidRecordError, match="was written anew while it was read"):
        list(events)


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read(tmp_path / "none.jsonl")
    with pytest.raises(InvalidRecordError, match="first line is not the header"):
        case("A-004/bad_header")


def test_what_reading_gives_and_takes_can_be_sent_to_another_process() -> None:
    events = list(index_file(str(INPUTS / "A-006" / "parent.jsonl"), NOW))

    assert pickle.loads(pickle.dumps(events)) == events  # noqa: S301 - our own bytes


# --- the cases -------------------------------------------------------------------------------------------------------


def test_a_001_a_line_of_a_hundred_megabytes_costs_that_line_and_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    before = lines(header(), *TALK)
    with path.open("wb") as file:
        file.write(before)
        file.write(b'{"type":"message","id":"big","parentId":"a1","message":{"role":"user","content":"')
        for _ in range(100):
            file.write(b"filler. " * (MEGABYTE // 8))
        file.write(b'"}}\n' + lines(user("u2", "big", "And run the linter.")))
    script = (
        "import sys; from curator.tracks.trajectory.reading import index_file;"
        f"*_, ended = index_file({str(path)!r}, 0);"
        "print(ended.facts.damage, sum(ended.facts.roles.values()))"
    )
    bounded = f'ulimit -v 393216 && exec "{sys.executable}" -c "$1"'

    ran = subprocess.run(["sh", "-c", bounded, "sh", script], capture_output=True, text=True, timeout=60, check=False)

    assert ran.returncode == 0, ran.stderr
    assert f"OVER_LONG: 'the line is too long'>, line=4, byte={len(before)})" in ran.stdout
    assert ran.stdout.endswith(" 4\n")
    assert read(path).path_to("u2") == ["u1", "a1", "big", "u2"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [("A-002/torn_tail", Fault.TORN_TAIL), ("A-003/nul_mid", Fault.NUL_BYTES), ("A-003/nul_tail", Fault.NUL_BYTES)],
)
def test_a_002_and_a_003_damage_costs_its_line(name: str, fault: Fault) -> None:
    content = (INPUTS / f"{name}.jsonl").read_bytes()
    nodes, ended = case(name)

    (damage,) = ended.facts.damage
    start = content.index(b"\0") if fault is Fault.NUL_BYTES else content.rindex(b"\n") + 1
    assert (damage.fault, damage.byte, damage.line) == (fault, start, content[:start].count(b"\n") + 1)
    assert [node.entry_id for node in nodes] == ["a0000001", "a0000002"]
    assert (INPUTS / f"{name}.jsonl").read_bytes() == content


def test_a_005_a_byte_order_mark_and_crlf_change_no_digest(tmp_path: Path) -> None:
    marked = (INPUTS / "A-005/bom_crlf.jsonl").read_bytes()
    path = tmp_path / "plain.jsonl"
    path.write_bytes(marked.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n"))

    assert marked != path.read_bytes()
    assert case("A-005/bom_crlf").nodes == read(path).nodes
    assert not any(mark in node.text for node in read(path).nodes for mark in "\r\ufeff")


def test_a_006_what_forks_share_is_one_chain_of_nodes() -> None:
    parent, one, two = (case(f"A-006/{name}") for name in ("parent", "fork1", "fork2"))

    every = [{node.digest for node in each.nodes} for each in (parent, one, two)]
    assert len(every[0] & every[1] & every[2]) == 2
    assert len(every[0] | every[1] | every[2]) == sum(len(each) - 2 for each in every) + 2


@pytest.mark.parametrize("name", ["orphan_parent", "win_parent"])
def test_a_007_a_session_whose_parent_file_is_gone_is_read_whole(name: str) -> None:
    nodes, ended = case(f"A-007/{name}")

    assert nodes[0].parent is None
    assert (len(nodes), ended.facts.missing_parents, ended.facts.damage) == (2, 0, ())
    assert ended.facts.head.parent is not None


def test_a_008_usage_that_is_not_told_is_unknown_and_not_nothing() -> None:
    facts = case("A-008/no_usage").ended.facts

    assert (facts.usage_known, facts.usage_unknown, facts.tokens) == (0, 3, 0)


def test_a_009_and_a_010_odd_content_gives_what_is_text_and_is_counted() -> None:
    odd, null = case("A-009/odd_content"), case("A-010/null_args")

    assert "USER: plain string content" in [node.text for node in odd.nodes]
    assert {each.fault for each in odd.ended.facts.damage} == {Fault.NOT_PIS_CONTENT}
    assert null.ended.facts.damage == ()
    assert not any("null" in node.text or "{" in node.text for node in null.nodes)


def test_a_011_entries_without_ids_are_a_chain_with_the_same_ids_each_time() -> None:
    first, second = case("A-011/v1"), case("A-011/v1")

    assert first.ended.facts.head.version == 1
    assert first.nodes == second.nodes
    assert [node.parent for node in first.nodes] == [None, *[node.digest for node in first.nodes[:-1]]]


def test_a_012_what_two_writers_wrote_stays_apart() -> None:
    nodes, ended = case("A-012/two_writers")

    assert len(ended.leaves) == 2
    paths = [Read(nodes, ended).path_to(tip.entry_id) for tip in ended.leaves]
    shared = set(paths[0]) & set(paths[1])
    assert shared == set(paths[0][: len(shared)]) == set(paths[1][: len(shared)])
    assert len(paths[0]) + len(paths[1]) - len(shared) == len(nodes)


def test_a_013_half_a_character_becomes_the_replacement_character() -> None:
    nodes, ended = case("A-013/lone_surrogate")

    assert any("\ufffd" in node.text for node in nodes)
    assert ended.facts.damage == ()
    assert all(node.line.encode() for node in nodes)


def test_a_014_odd_times_are_counted_by_how_odd_and_never_the_latest() -> None:
    nodes, ended = case("A-014/times")

    assert [node.at for node in nodes] == [
        "2031-01-02T00:00:00.000Z",
        "1970-01-01T00:00:00.000Z",
        None,
        None,
        None,
        None,
    ]
    assert {quality: count for quality, count in ended.facts.dates.items() if count} == {
        DateQuality.FUTURE: 1,
        DateQuality.ANCIENT: 1,
        DateQuality.ODD: 3,
        DateQuality.MISSING: 1,
    }
    assert (ended.facts.first_ms, ended.facts.last_ms) == (None, None)


# --- what is told of a file ------------------------------------------------------------------------------------------


def test_times_out_of_order_are_counted_and_kept(tmp_path: Path) -> None:
    said = [
        dict(user(f"u{n}", None, "x"), timestamp=f"2026-05-0{day}T00:00:00.000Z") for n, day in enumerate((3, 1, 2))
    ]

    facts = read(write(tmp_path / "s.jsonl", header(), *said)).ended.facts

    assert facts.disorder == 1
    assert (facts.first_ms, facts.last_ms) == (ms_of("2026-05-01T00:00:00.000Z"), ms_of("2026-05-03T00:00:00.000Z"))


def test_cursors_of_the_extension_are_told_with_the_node_that_they_reached(tmp_path: Path) -> None:
    key = "0123456789abcdef01234567"
    told: Json = {"projectKey": key, "name": "main", "throughEntryId": "a1"}
    gone: Json = {"projectKey": key, "name": "main", "throughEntryId": "zz"}
    odd: Json = {"projectKey": "../x", "name": "main", "throughEntryId": "a1"}
    marks = [custom(f"c{n}", "a1", "no-forgetti-review", each) for n, each in enumerate((told, gone, odd))]

    nodes, ended = read(write(tmp_path / "s.jsonl", header(), *TALK, *marks))

    assert [(cursor.project_key, cursor.branch, cursor.through) for cursor in ended.facts.cursors] == [
        (key, "main", nodes[1].digest),
        (key, "main", None),
    ]


def test_what_this_release_does_not_know_is_counted_by_name_and_keeps_its_place(tmp_path: Path) -> None:
    strange: tuple[dict[str, Json], ...] = (
        {"type": "something_new", "id": "n1", "parentId": "a1"},
        message("n2", "n1", {"role": "oracle", "content": "x"}),
        {"type": "odd \ud800 name", "id": "n3", "parentId": "n2"},
        user("u2", "n3", "And lint."),
    )

    got = read(write(tmp_path / "s.jsonl", header(), *TALK, *strange))

    assert got.ended.facts.unknown == {"something_new": 1, "role oracle": 1, "(no usable name)": 1}
    assert got.path_to("u2") == ["u1", "a1", "n1", "n2", "n3", "u2"]


def test_entries_that_name_each_other_end_at_one_of_them(tmp_path: Path) -> None:
    said = (user("u1", "a1", "round"), assistant("a1", "u1", "and round"), user("u2", "u2", "by itself"))

    got = read(write(tmp_path / "s.jsonl", header(), *said))

    assert got.path_to("a1") == ["u1", "a1"]
    assert (got.named("u2").parent, got.ended.facts.missing_parents) == (None, 2)


def test_more_entries_than_stay_in_memory_find_their_parents(tmp_path: Path) -> None:
    count = 40_000
    path = tmp_path / "s.jsonl"
    talk = (user(f"u{n}", f"u{n - 1}" if n else None, "x") for n in range(count))
    path.write_bytes(lines(header(), *talk, user("late", "u3", "back to the beginning"), user("lost", "nowhere", "?")))
    *batches, ended = index_file(str(path), NOW)
    parents: dict[Digest, Digest | None] = {}
    for batch in batches:
        assert isinstance(batch, Batch)
        parents.update(zip(batch.digests, batch.parents, strict=True))

    chain = list(parents)
    assert parents[chain[-2]] == chain[3]
    assert parents[chain[-1]] is None
    assert isinstance(ended, Ended)
    assert ended.facts.missing_parents == 1
    assert [tip.entry_id for tip in ended.leaves] == [f"u{count - 1}", "late", "lost"]
