"""Every id has one shape and one derivation."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.digest import Digest, Json
from curator.model.ids import (
    ATTEMPT_ID_PATTERN,
    BRANCH_NAME_PATTERN,
    DAY_PATTERN,
    ENTRY_ID_PATTERN,
    JOB_ID_PATTERN,
    SAFE_ID_PATTERN,
    WORKER_ID_PATTERN,
    LeaseToken,
    attempt_id,
    file_key,
    job_id,
    project_key,
    session_key,
)
from tests.golden_fixtures import vectors

TOKEN = LeaseToken("0123456789abcdef0123456789abcdef")


def pairs(name: str) -> list[tuple[str, str]]:
    rows = vectors()[name]
    assert isinstance(rows, list)
    return [(str(row[0]), str(row[1])) for row in rows if isinstance(row, list)]


@pytest.mark.parametrize(("root", "key"), pairs("projectKeys"))
def test_a_projects_key_is_that_of_its_root(root: str, key: str) -> None:
    assert project_key(root.rstrip("/")) == key


@pytest.mark.parametrize(("session_id", "key"), pairs("sessionKeys"))
def test_a_sessions_key_is_that_of_its_id(session_id: str, key: str) -> None:
    assert session_key(session_id) == key


def test_an_attempts_id_comes_from_digest_number_and_token() -> None:
    digest = Digest("e77bf3a94247b067aff3f7c418a90d3d32691f3c51556f8f82de4ea96e5ae958")

    assert attempt_id(Digest("a" * 64), 1, TOKEN) == "review_attempt_9c01d751dac2084828b4e7b61c08eb770beea5f1"
    assert attempt_id(digest, 1, TOKEN) == "review_attempt_c1b9da23202e0d3ce222e8b7d6a6db8ca8510ff9"
    assert attempt_id(digest, 2, TOKEN) == "review_attempt_eb30383fce9d24001ef21f373079c89a9a3e2268"


@pytest.mark.parametrize(
    ("generation", "expected"),
    [
        (None, "review_8de59ce995d4cc8a60a3dc233ef3970a2eaaef06"),
        (1, "review_17b9a846aa886fbc77a30a5a2903343ab5a6deee"),
        (2, "review_66782f091ed114dd7260488448add4651fa24126"),
    ],
)
def test_a_jobs_id_is_that_of_its_frontier_and_generation(generation: int | None, expected: str) -> None:
    identity: dict[str, Json] = {
        "version": 1,
        "kind": "memory-review",
        "projectKey": "826cdcf0ee7b9e3ad811eb46",
        "sessionKey": "abe633f3a47a2758174eabe9160daf36",
        "branchName": "main",
        "throughEntryId": "entry-9",
    }
    if generation is not None:
        identity["generation"] = generation

    assert job_id(identity) == expected


def test_a_heartbeats_file_is_named_after_who_beats() -> None:
    assert file_key("host:123") == "f65015ab01017794ea1db036"
    assert file_key("worker:host:123") == "fa6f1d05ce2c59ce24e2ba1e"


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (JOB_ID_PATTERN, "review_" + "0a" * 20, "review_" + "0A" * 20),
        (ATTEMPT_ID_PATTERN, "review_attempt_" + "0a" * 20, "review_" + "0a" * 20),
        (WORKER_ID_PATTERN, "host:123", ":123"),
        (SAFE_ID_PATTERN, "a" + "-" * 255, "a" * 257),
        (ENTRY_ID_PATTERN, "-_" + "a" * 126, "a.b"),
        (BRANCH_NAME_PATTERN, "a" + "-" * 63, "A"),
        (DAY_PATTERN, "2026-01-03", "2026-1-3"),
    ],
)
def test_an_id_has_its_shape_from_end_to_end(pattern: object, good: str, bad: str) -> None:
    assert isinstance(pattern, re.Pattern)
    assert pattern.fullmatch(good)
    assert not pattern.fullmatch(bad)
    assert not pattern.fullmatch(good + "\n")
    assert not pattern.fullmatch("../" + good)


@given(st.text())
def test_any_text_names_a_file_of_24_hex_digits(identity: str) -> None:
    assert len(file_key(identity)) == 24
    assert set(file_key(identity)) <= set("0123456789abcdef")
