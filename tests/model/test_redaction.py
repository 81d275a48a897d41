"""None missed, none falsely taken: redaction against a corpus of made-up secrets and of harmless look-alikes."""

from __future__ import annotations

import base64
import importlib
import json
import pkgutil
import time

import detect_secrets.plugins
import pytest
from detect_secrets.plugins.base import BasePlugin
from hypothesis import given
from hypothesis import strategies as st

from curator.model.redaction import contains_secret, find_secrets, redact
from tests.model.harmless_corpus import harmless, stand_ins
from tests.model.secret_corpus import PRIVATE, Dressed, Secret, dressings, secrets

SECRETS = secrets()
EVERY_SECRET = pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.kind.replace(" ", "-"))


def as_written(dressed: Dressed) -> list[str]:
    """Return the pieces as they stand in the text, perhaps escaped."""
    written = [piece if piece in dressed.text else json.dumps(piece)[1:-1] for piece in dressed.pieces]
    assert all(piece in dressed.text for piece in written), dressed.name
    return written


def uncovered(dressed: Dressed) -> list[str]:
    """Return the pieces of which a character lies outside every span."""
    spans = find_secrets(dressed.text)
    missed = []
    for piece in as_written(dressed):
        at = dressed.text.find(piece)
        while at >= 0:
            if not any(span.start <= at and at + len(piece) <= span.end for span in spans):
                missed.append(piece)
            at = dressed.text.find(piece, at + 1)
    return missed


def test_the_corpus_is_as_large_as_it_promises() -> None:
    assert len({secret.kind for secret in SECRETS}) == len(SECRETS) >= 60
    assert all(len({dressed.text for dressed in dressings(secret)}) >= 12 for secret in SECRETS)
    assert len({*harmless(), *stand_ins()}) >= 500


@EVERY_SECRET
def test_no_secret_is_missed_however_it_is_dressed(secret: Secret) -> None:
    assert [dressed.name for dressed in dressings(secret) if uncovered(dressed)] == []


@EVERY_SECRET
def test_no_piece_of_a_secret_is_left_and_redacting_again_changes_nothing(secret: Secret) -> None:
    for dressed in dressings(secret):
        once = redact(dressed.text)

        assert "[REDACTED " in once
        assert not any(piece in once for piece in as_written(dressed)), dressed.name
        assert redact(once) == once
        assert not contains_secret(once)


def test_nothing_harmless_is_taken() -> None:
    assert [text for text in (*harmless(), *stand_ins()) if find_secrets(text)] == []


def oracle() -> list[BasePlugin]:
    """Return every detector of a named kind: all but those of entropy and of keywords."""
    plugins: list[BasePlugin] = []
    for module in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        if module.name in {"base", "keyword", "high_entropy_strings"}:
            continue
        for member in vars(importlib.import_module(f"detect_secrets.plugins.{module.name}")).values():
            is_detector = isinstance(member, type) and issubclass(member, BasePlugin) and not member.__abstractmethods__
            if is_detector and member.__module__.endswith(module.name):
                plugins.append(member())
    return plugins


def test_what_the_named_detectors_of_another_scanner_find_is_found() -> None:
    detectors = oracle()
    texts = [dressed.text for secret in SECRETS for dressed in dressings(secret)]
    found: set[str] = set()

    survivors = []
    for text in texts:
        rest = redact(text)
        for detector in detectors:
            for line in text.splitlines():
                for secret in detector.analyze_string(line):
                    found.add(type(detector).__name__)
                    if secret in rest:
                        survivors.append((type(detector).__name__, line))

    assert survivors == []
    assert len(detectors) >= 20
    assert {type(detector).__name__ for detector in detectors} - found == {"IPPublicDetector"}


PEM = f"-----BEGIN RSA {PRIVATE}-----"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("DB_PASSWORD=hunter2222 next", "DB_PASSWORD=[REDACTED PASSWORD] next"),
        ('{"password": "hunter22", "n": 1}', '{"password": "[REDACTED PASSWORD]", "n": 1}'),
        ("DB_PASSWORD='FAKE pass word 123'", "DB_PASSWORD='[REDACTED PASSWORD]'"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [REDACTED AUTHORIZATION]"),
        ("postgres://app:" + "s3cretw0rd@db.invalid/app", "postgres://app:[REDACTED URL PASSWORD]@db.invalid/app"),
        ("see " + "AKIA" + "QWERTYUIOPASDFGH.", "see [REDACTED AWS ACCESS KEY]."),
        (f"{PEM}\nMIIEpAIBAAKCAQEA0123456789abcdef\n\nand on", "[REDACTED PRIVATE KEY]\n\nand on"),
        (f"a {PEM} line begins it", "a [REDACTED PRIVATE KEY] line begins it"),
        ("caf\u00e9 e\u0301 \ud800 \U0001f600", "caf\u00e9 e\u0301 \ud800 \U0001f600"),
    ],
)
def test_a_secret_is_replaced_by_its_kind_and_all_else_stays(text: str, wanted: str) -> None:
    assert redact(text) == wanted


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("gh" + "p_" + "Ab1" * 12, "GITHUB TOKEN"),
        ("xo" + "xb-000000000000-FAKEFAKEFAKE", "SLACK TOKEN"),
        ("AI" + "zaFAKE0FAKE0FAKE0FAKE0FAKE0FAKE0FAKE", "GOOGLE API KEY"),
        ("sk-" + "ant-api03-FAKE0FAKE0FAKE0FAKE0", "ANTHROPIC KEY"),
        ("sk" + "_live_FAKE0FAKE0FAKE0FAKE", "STRIPE KEY"),
        ("eyJhbGciOiJub25lIn0" + ".eyJmYWtlIjoidHJ1ZSJ9." + "RkFLRUZBS0VGQUtFRkFLRQ", "JWT"),
        (PEM, "PRIVATE KEY"),
    ],
)
def test_a_span_names_the_kind_and_the_place_and_not_the_value(text: str, kind: str) -> None:
    spans = find_secrets(f"\U0001f600 {text} end")

    assert [(span.kind, span.start, span.end) for span in spans] == [(kind, 2, 2 + len(text))]
    assert text not in repr(spans)


def test_a_private_key_pairs_with_its_own_end_and_swallows_no_text_between_two() -> None:
    whole = f"{PEM}\nabc\n-----END RSA {PRIVATE}-----"

    assert redact(f"{whole} and {PEM} alone, then {whole}.") == (
        "[REDACTED PRIVATE KEY] and [REDACTED PRIVATE KEY] alone, then [REDACTED PRIVATE KEY]."
    )


PIECES = st.sampled_from(
    (
        *(
            "password",
            "secret",
            "token",
            "api_key",
            "=",
            ": ",
            '"',
            "'",
            "\\",
            "\\n",
            "\n",
            "%3D",
            "&quot;",
            "[REDACTED",
        ),
        *(
            " PASSWORD]",
            "${",
            "}",
            "hunter22",
            "Authorization: ",
            "Bearer ",
            "://",
            "a:b1c2d3@",
            "x",
            "9",
            " ",
            "?",
            "&",
        ),
        *(
            "gh" + "p_",
            "Ab1" * 12,
            "s" + "k-",
            PEM,
            PEM.replace("BEGIN", "END"),
            "AKIA",
            "QWERTY0123456789",
            "\ud800",
            "e\u0301",
        ),
    )
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=14).map("".join))


@given(TEXTS)
def test_redacting_rests_whatever_the_text(text: str) -> None:
    once = redact(text)

    assert redact(once) == once
    assert (once == text) == (not contains_secret(text))


@given(TEXTS)
def test_spans_lie_apart_in_order_and_inside_the_text(text: str) -> None:
    ends = [edge for span in find_secrets(text) for edge in (span.start, span.end)]

    assert ends == sorted(ends)
    assert all(span.start < span.end <= len(text) for span in find_secrets(text))


LONG = 300_000
BENIGN = "The quick brown fox passes the lazy dog; its author said: read the next token, then run make.\n"
"""Prose with words at which redaction looks twice: what has none of them is not even searched."""


def seconds(unit: str) -> float:
    """Return how long a long text of the repeated unit takes."""
    text = (unit * (LONG // len(unit) + 1))[:LONG]
    begun = time.perf_counter()
    find_secrets(text)
    return time.perf_counter() - begun


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "pwd=${",
            'token=\\"',
            'pass="',
            "token is ",
            "api key ",
            "pass='pass\"",
            "password:" + " " * 40,
            "x\n",
            "A_KEY=",
        ),
        *(
            "authorization: ",
            "cookie: a=b",
            "machine login password ",
            "credential=",
            "?token=",
            "://",
            "://a:b@",
            "bearer ",
        ),
        *(
            "eyJ",
            "eyJ.",
            f"-----BEGIN {PRIVATE}-----",
            f"-----END {PRIVATE}-----",
            "-",
            "s" + "k-",
            "\\",
            '"',
            'a"\n"',
            " ",
        ),
        *(
            base64.b64encode(bytes(range(256))).decode(),
            "0123456789abcdef",
            "%41",
            "<password>",
            "a",
            "\ud800",
            "curl -u a:b ",
        ),
    ],
    ids=ascii,
)
def test_a_long_text_of_anything_takes_at_most_a_few_times_as_long_as_of_prose(unit: str) -> None:
    assert seconds(unit) < 120 * seconds(BENIGN) + 0.3
