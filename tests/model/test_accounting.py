"""The protocol's day files and identities, read to the key."""

import json
from pathlib import Path
from typing import Final

import pytest

from curator.model.accounting import DayFile, Identity, LegacyBudget
from curator.model.digest import Digest, Json, compact, digest_of, parse
from curator.model.ids import LeaseToken, attempt_id
from curator.model.record import Violation
from tests.golden_fixtures import golden, vectors

IDENTITY: Final[dict[str, Json]] = {
    "version": 1,
    "id": "review_attempt_9c01d751dac2084828b4e7b61c08eb770beea5f1",
    "day": "2026-01-03",
    "provider": "fixture-provider",
    "jobDigest": "a" * 64,
    "claimAttempt": 1,
    "leaseToken": "0123456789abcdef0123456789abcdef",
    "reservedAt": "2026-01-03T00:00:00.000Z",
    "holdTokens": 400,
    "holdCostNanodollars": 50000000,
}


def test_an_identity_may_leave_out_its_job() -> None:
    assert Identity.decode(IDENTITY).encode() == IDENTITY


@pytest.mark.parametrize(
    "change", [{"claimAttempt": 2}, {"holdTokens": 0}, {"holdCostNanodollars": -1}, {"provider": "a b"}, {"state": "x"}]
)
def test_an_identity_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Identity.decode(IDENTITY | change)


def day(tmp_path: Path) -> dict[str, Json]:
    path = golden("q", tmp_path) / "no-forgetti" / "review-spool" / "accounting" / "days" / "2026-01-03"
    value = json.loads(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def first_of(value: dict[str, Json]) -> dict[str, Json]:
    """Return the first attempt of a day, to be changed in place."""
    providers = value["providers"]
    assert isinstance(providers, dict)
    attempts = providers["fixture-provider"]
    assert isinstance(attempts, list)
    first = attempts[0]
    assert isinstance(first, dict)
    return first


def test_a_day_is_read_as_it_was_written(tmp_path: Path) -> None:
    value = day(tmp_path)

    assert DayFile.decode(value).encode() == value


def test_a_day_is_written_as_its_one_tree_would_be(tmp_path: Path) -> None:
    value = day(tmp_path)
    providers, first = value["providers"], first_of(value)
    assert isinstance(providers, dict)
    others: list[Json] = [first | {"id": attempt_id(Digest("b" * 64), 1, LeaseToken("0" * 32)), "jobDigest": "b" * 64}]
    assert isinstance(others[0], dict)
    others[0] |= {"leaseToken": "0" * 32, "claimAttempt": 1, "provider": "another"}
    carry: Json = {"sourceDigest": "c" * 64, "importedAt": "2026-01-03T00:00:00.000Z"}
    assert isinstance(carry, dict)
    carry |= {"calls": 1, "tokens": 2, "costNanodollars": 3}
    wider: Json = {**providers, "another": others, "nobody": []}
    mores: list[dict[str, Json]] = [{}, {"providers": {}}, {"providers": wider}]
    lasts: list[dict[str, Json]] = [{}, {"legacyCarry": {"another": carry}}]
    for more in mores:
        for last in lasts:
            file = DayFile.decode(value | more | last)

            assert file.line() == f"{compact(file.encode())}\n".encode()
            assert DayFile.decode(parse(file.line())) == file


@pytest.mark.parametrize(
    "change",
    [
        {"state": "cancelled"},
        {"provider": "other"},
        {"requestDigest": "0" * 64, "model": None},
        {"chargedTokens": None},
        {"canceledAt": "2026-01-03T00:00:00.000Z"},
    ],
)
def test_a_day_with_one_wrong_attempt_is_refused(tmp_path: Path, change: dict[str, Json]) -> None:
    value = day(tmp_path)
    first_of(value).update(change)

    with pytest.raises(Violation):
        DayFile.decode(value)


def test_a_request_is_named_whole_or_not_at_all(tmp_path: Path) -> None:
    value = day(tmp_path)
    first = first_of(value)
    for key in ("requestDigest", "model", "api"):
        first.pop(key, None)

    assert DayFile.decode(value).day == "2026-01-03"
    first["model"] = "m"
    with pytest.raises(Violation, match="names its request in part"):
        DayFile.decode(value)


def test_an_attempt_stands_once_in_a_day(tmp_path: Path) -> None:
    value = day(tmp_path)
    providers = value["providers"]
    assert isinstance(providers, dict)
    providers["fixture-provider"] = [first_of(value), first_of(value)]

    with pytest.raises(Violation, match="holds an attempt twice"):
        DayFile.decode(value)


def test_a_legacy_budget_has_the_vectors_digest() -> None:
    vector = vectors()["legacySource"]
    assert isinstance(vector, dict)
    value = json.loads(str(vector["canonical"]))

    assert digest_of(LegacyBudget.decode(value).encode()) == vector["sha256"]
