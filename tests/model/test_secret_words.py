"""Hints spare a search and never a finding: what is found with them is what is found when everything is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.redaction import (
    _UNESCAPED,
    _UNWRAPPED,
    _across_wraps,
    _merged,
    _View,
    find_secrets,
)
from curator.model.secret_fields import Found, assigned
from curator.model.secret_kinds import KINDS, compiled
from curator.model.secret_lines import key_blocks, lines
from curator.model.secret_words import _PLAIN, _REMEMBERED, HIDDEN, LINE, TELLING_NAME, TOKEN, WRAPPED, traits
from tests.model.harmless_corpus import harmless, stand_ins
from tests.model.secret_corpus import Secret, dressings, secrets

SECRETS = secrets()
PLAIN = [
    "Use make check.",
    "\n",
    " ",
    "\n- ",
    "the tests",
    "v1.2",
    "src/a/b.py",
    "`x`",
    "\u212aey",
    "\u0130",
    "\u00a0",
    "::",
]
ANCHORS = sorted({anchor for kind in KINDS for anchor in kind.anchors})


def everything(text: str) -> Iterator[Found]:
    yield from key_blocks(text)
    for kind in KINDS:
        for match in compiled(kind).finditer(text):
            group = match.lastindex or 0
            if kind.judge(match.group(group)):
                yield Found(kind.name, match.start(group), match.end(group))
    yield from lines(text)
    yield from assigned(text)


def places(text: str) -> list[tuple[int, int]]:
    """Return where secrets stand, looked for without any hint."""
    unescaped, unwrapped = _View.of(text, _UNESCAPED), _View.of(text, _UNWRAPPED)
    found = [*everything(text), *(unescaped.origin(each) for each in everything(unescaped.text))]
    found += [unwrapped.origin(each) for each in _across_wraps(unwrapped)]
    return [(span.start, span.end) for span in _merged(found)]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.kind.replace(" ", "-"))
def test_hints_lose_no_secret_of_the_corpus(secret: Secret) -> None:
    for dressed in dressings(secret):
        assert [(span.start, span.end) for span in find_secrets(dressed.text)] == places(dressed.text), dressed.name


def test_hints_find_nothing_more_in_what_is_harmless() -> None:
    for text in (*harmless(), *stand_ins()):
        assert [(span.start, span.end) for span in find_secrets(text)] == places(text)


PIECES = st.one_of(
    st.sampled_from([dressed.text for secret in SECRETS for dressed in islice(dressings(secret), 6)]),
    st.sampled_from([*PLAIN, *ANCHORS]),
    st.text(max_size=8),
)


@given(st.lists(PIECES, max_size=6), st.sampled_from(["", " ", "\n", "\r\n  "]))
def test_hints_lose_nothing_whatever_the_text(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)

    assert [(span.start, span.end) for span in find_secrets(text)] == places(text)


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("Use make check for the tests, as `README.md` says: 3 of 4 (v1.2).\n- never on Fridays", 0),
        ("the next token is a comma", TELLING_NAME),
        ("an author of basic things", LINE),
        ("prefix sk-aaaaaaaaaaaaaaaaaaaa", TOKEN),
        ("a %3D b", HIDDEN),
        ('"first" +\n"second"', HIDDEN),
        ("one line\nabc123def and more", WRAPPED),
    ],
)
def test_hints_tell_what_a_text_may_hold(text: str, hints: int) -> None:
    assert traits(text) == hints
    assert traits(text) == hints, "what is remembered says the same"


def test_a_word_that_is_remembered_has_no_secrets_digits() -> None:
    traits("the pass phrase hunter2hunter2 and correct horse")

    remembered = {*_PLAIN, *_REMEMBERED}
    assert "correct" in remembered
    assert not [word for word in remembered if len(word) > 6 and re.search("[0-9]", word)]
