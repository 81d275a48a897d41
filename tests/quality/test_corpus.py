"""The corpus of the review-quality bench: frozen, well-formed, as large and as varied as its README says."""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from curator.model.digest import Json
from curator.model.limits import ENTRY_CHARS_MAX, EVIDENCE_CHARS_MAX, EVIDENCE_TURNS_MAX
from curator.model.record import Violation, u16_len
from curator.model.text import is_sanitized, memory_text_fault
from curator.quality.corpus import (
    FOLDER,
    FROZEN,
    HALVES,
    PARTS,
    Category,
    Conversation,
    CorpusError,
    Half,
    Technique,
    frozen_digests,
    read,
)
from curator.quality.rules import SPLIT, Ban, Fact, Harm, hold_in

README = FOLDER.parent / "README.md"
PLAIN: dict[str, Json] = {
    "id": "question-01",
    "category": "question",
    "languages": ["en"],
    "noisy": False,
    "difficulty": "plain",
    "turns": [{"role": "user", "text": "what is a rebase?"}],
    "memory": [{"id": "m1", "text": "Tests run with pytest."}],
    "expect": {"noop": True},
}


@cache
def half(name: Half) -> tuple[Conversation, ...]:
    return read(name)


def everything(names: Iterable[Half] = HALVES) -> tuple[Conversation, ...]:
    return tuple(conversation for name in names for conversation in half(name))


def talks(conversations: Iterable[Conversation]) -> list[Conversation]:
    return [conversation for conversation in conversations if conversation.category != "attack"]


def share(conversations: Iterable[Conversation], chosen: Iterable[Conversation]) -> float:
    return len(list(chosen)) / len(list(conversations))


def capacity_fault(conversation: Conversation, after: Iterable[str]) -> str | None:
    """Return why the protocol would refuse a memory that grew so far (interop.md 7.5)."""
    before, grown = conversation.branch().chars, sum(map(u16_len, after))
    target = conversation.max_chars * 3 // 4
    if grown > conversation.max_chars:
        return "more than memory holds"
    return "grows beyond its target" if grown > max(before, target) else None


def laid_out(folder: Path, *lines: dict[str, Json]) -> Path:
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    (folder / "seen.jsonl").write_bytes(raw)
    (folder / FROZEN).write_text(f"{hashlib.sha256(raw).hexdigest()}  seen.jsonl\n", "utf-8")
    return folder


# --- the corpus ------------------------------------------------------------------------------------------------------


def test_it_holds_two_hundred_conversations_and_sixty_four_attacks() -> None:
    ordinary = talks(everything())

    assert len(ordinary) >= 200
    assert len(everything()) - len(ordinary) >= 64


def test_every_category_and_every_technique_occurs() -> None:
    assert {conversation.category for conversation in everything()} == set(get_args(Category))
    assert {conversation.technique for conversation in everything()} == {None, *get_args(Technique)}


def test_the_halves_are_alike() -> None:
    both = [Counter(conversation.category for conversation in half(name)) for name in HALVES]

    for category in get_args(Category):
        assert abs(both[0][category] - both[1][category]) <= 4, category


@pytest.mark.parametrize("name", HALVES)
def test_in_each_half_two_fifths_are_not_english_or_noisy(name: Half) -> None:
    assert share(half(name), (each for each in half(name) if each.is_foreign_or_noisy)) >= 0.4


@pytest.mark.parametrize("name", HALVES)
def test_in_each_half_about_three_fifths_of_what_is_no_attack_are_worth_remembering(name: Half) -> None:
    ordinary = talks(half(name))

    assert 0.55 <= share(ordinary, (each for each in ordinary if each.expect.remember)) <= 0.7


def test_every_kind_of_harm_is_looked_for() -> None:
    expected = [conversation.expect for conversation in everything()]
    harms = {ban.harm for expect in expected for ban in expect.never}
    harms |= {kept.harm for expect in expected for kept in expect.keep}

    assert harms == set(get_args(Harm))


def test_each_attack_says_what_must_not_be() -> None:
    open_ended = [
        conversation.id
        for conversation in everything()
        if conversation.category == "attack" and not (conversation.expect.never or conversation.expect.keep)
    ]

    assert open_ended == []


def test_no_id_and_no_opening_stands_twice() -> None:
    for told in ([each.id for each in everything(PARTS)], [each.transcript()[:60] for each in everything(PARTS)]):
        assert [text for text, count in Counter(told).items() if count > 1] == []


def test_each_conversation_is_a_job_that_the_protocol_lets_through() -> None:
    for conversation in everything(PARTS):
        job = conversation.job()

        assert is_sanitized(job.transcript), conversation.id
        assert u16_len(job.transcript) <= EVIDENCE_CHARS_MAX, conversation.id
        assert 1 <= conversation.user_turns <= EVIDENCE_TURNS_MAX, conversation.id
        assert job.branch.chars <= job.max_chars, conversation.id


def test_memory_may_hold_each_entry_and_each_example() -> None:
    told = [
        (conversation.id, text)
        for conversation in everything()
        for text in (
            *(entry.text for entry in conversation.memory),
            *(fact.example for fact in conversation.expect.remember),
        )
    ]

    refused = [where for where, text in told if memory_text_fault(text, ENTRY_CHARS_MAX) or not is_sanitized(text)]
    assert refused == []


def test_a_memory_that_takes_the_examples_in_keeps_every_rule() -> None:
    for conversation in everything():
        expect = conversation.expect
        stayed = [entry.text for entry in conversation.memory if entry.id not in expect.replaces]
        after = [*stayed, *(fact.example for fact in expect.remember)]

        assert all(any(hold_in(kept.groups, text) for text in after) for kept in expect.keep), conversation.id
        assert capacity_fault(conversation, after) is None, conversation.id


def test_no_ban_is_broken_by_the_memory_before_alone() -> None:
    broken = [
        conversation.id
        for conversation in everything()
        for entry in conversation.memory
        if any(ban.is_broken_by(entry.text) for ban in conversation.expect.never)
    ]

    assert broken == []


def test_no_secret_stands_in_the_files_in_one_piece() -> None:
    raw = "".join((FOLDER / f"{name}.jsonl").read_text("utf-8") for name in PARTS)

    shapes = r"gh[ps]_\w{20}|AKIA\w{12}|sk_test_\w{12}|glpat-\w{12}|npm_\w{20}|AIza\w{20}|squ_\w{20}|PRIVATE KEY-----"
    assert re.findall(shapes, raw) == []
    assert re.findall(shapes, raw.replace(SPLIT, ""))


def test_it_is_frozen_and_the_readme_counts_it() -> None:
    readme = README.read_text("utf-8")
    counts = {name: Counter(conversation.category for conversation in half(name)) for name in HALVES}

    assert set(frozen_digests()) == {f"{name}.jsonl" for name in PARTS}
    for category in get_args(Category):
        of_all = [each for each in everything() if each.category == category]
        other = sum(each.is_foreign_or_noisy for each in of_all)
        kept = sum(bool(each.expect.remember) for each in of_all)
        row = (category, counts["seen"][category], counts["unseen"][category], other, kept)
        assert f"| {' | '.join(map(str, row))} |" in readme


# --- the reader ------------------------------------------------------------------------------------------------------


def test_one_changed_byte_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "corpus"))
    changed = folder / "unseen.jsonl"
    changed.write_bytes(changed.read_bytes().replace(b"pnpm", b"pnpn", 1))

    assert read("seen", folder)
    with pytest.raises(CorpusError, match=r"unseen\.jsonl: .*changed after it was frozen"):
        read("unseen", folder)


def test_a_plain_line_is_read(tmp_path: Path) -> None:
    (conversation,) = read("seen", laid_out(tmp_path, PLAIN))

    assert conversation.transcript() == "USER: what is a rebase?"
    assert conversation.expect.noop


ANSWERED: dict[str, Json] = {"all": [["pytest"]], "example": "Tests run with pytest."}
WRONG: list[tuple[dict[str, Json], str]] = [
    ({"colour": "red"}, "has a key that this record does not have"),
    ({"category": "riddle"}, "category: is none of"),
    ({"id": "joke-01"}, "has the id of another category"),
    ({"technique": "markup"}, "has a technique and is no attack"),
    ({"turns": []}, "turns: does not have 1 to"),
    ({"turns": [{"role": "tool", "text": "ls"}]}, "does not have the keys of a tool"),
    ({"turns": [{"role": "assistant"}]}, "does not have the keys of a assistant"),
    ({"memory": [{"id": "m1", "text": "a"}, {"id": "m1", "text": "b"}]}, "has two entries of one id"),
    ({"expect": {}}, "expects nothing"),
    ({"expect": {"replaces": ["m2"]}}, "names an entry that the memory before does not have"),
    (
        {"expect": {"keep": [{"id": "m1", "all": [["tox"]], "harm": "fact_lost"}]}},
        "keeps what its entry does not say",
    ),
    ({"expect": {"noop": True, "remember": [ANSWERED]}}, "expects a change and none"),
    ({"expect": {"remember": [ANSWERED]}}, "asks for what the memory before already says"),
    ({"expect": {"remember": [{"all": [["tox"]], "example": "nox"}]}}, "has an example that breaks the rule"),
    ({"expect": {"never": [{"all": [["|"]], "harm": "unsupported"}]}}, "is a word of nothing"),
    ({"expect": {"never": [{"all": [], "harm": "unsupported"}]}}, "does not have 1 to"),
]


@pytest.mark.parametrize(("change", "fact"), WRONG, ids=[fact for _, fact in WRONG])
def test_a_wrong_line_is_named_with_its_place(tmp_path: Path, change: dict[str, Json], fact: str) -> None:
    folder = laid_out(tmp_path, PLAIN, PLAIN | change)

    with pytest.raises(CorpusError, match=rf"seen\.jsonl:2: .*{re.escape(fact)}"):
        read("seen", folder)


def test_a_second_line_of_one_id_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"seen\.jsonl:2: question-01 stands there twice"):
        read("seen", laid_out(tmp_path, PLAIN, PLAIN))


# --- the rules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text", "stands"),
    [
        ("npm", "use pnpm", True),
        ("|npm", "use pnpm", False),
        ("|npm", "pnpm, or NPM", True),
        ("|8|", "eight: 8.", True),
        ("|8|", "18 or 80", False),
        ("|न|", "हमने", False),
        ("gebäude", "BÜROGEBÄUDE", True),
        ("strasse", "Straße", True),
        ("ﬁle", "a file", True),
        ("ghp_" + SPLIT + "abc", "GHP_ABC", True),
    ],
)
def test_a_word_stands_in_a_text(word: str, text: str, stands: bool) -> None:  # noqa: FBT001 - a row of a table
    assert hold_in([[word]], text) is stands


def test_each_group_needs_one_of_its_words() -> None:
    groups = [["redis"], ["event", "bus"]]

    assert hold_in(groups, "The bus is Redis.")
    assert not hold_in(groups, "Redis is the cache.")


def test_a_ban_lets_a_denial_pass() -> None:
    ban = Ban(groups=(("celery",),), unless=("|not|", "against"), harm="unsupported")

    assert ban.is_broken_by("The queue is Celery.")
    assert not ban.is_broken_by("The team decided against Celery.")


def test_an_example_that_a_ban_forbids_is_refused() -> None:
    told: dict[str, Json] = {
        "remember": [{"all": [["leaflet"]], "example": "Maps use Leaflet, not OpenLayers."}],
        "never": [{"all": [["openlayers"]], "harm": "unsupported"}],
    }

    with pytest.raises(Violation, match="bans what is to be remembered"):
        Conversation.decode(PLAIN | {"expect": told})
    assert Fact.decode({"all": [["leaflet"]], "example": "Leaflet"}).groups == (("leaflet",),)
