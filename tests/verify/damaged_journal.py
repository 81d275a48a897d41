"""Single corruptions of the attempt journal and of the protocol's accounting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.verify.damage import TOKEN, ZERO, Damage, copy, drop, rename
from tests.verify.scene import Scene, change, inner, put, read, repeat_first, write

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.digest import Json


def _identity(scene: Scene) -> Path:
    return scene.layout.identities / scene.attempts["applied"].name


def _in_day(scene: Scene, **fields: Json) -> None:
    """Change the first job's attempt in its day."""
    day = read(scene.day)
    attempts = inner(day, "providers", "fixture-provider")
    assert isinstance(attempts, list)
    mine = [each for each in attempts if inner(each, "id") == scene.attempts["applied"].name]
    assert isinstance(mine[0], dict)
    mine[0].update(fields)
    write(scene.day, day)


def _cancel_in_day(scene: Scene) -> None:
    """Say in a day that an attempt never left, which was answered."""
    day = read(scene.day)
    attempts = inner(day, "providers", "fixture-provider")
    assert isinstance(attempts, list)
    index = [inner(each, "id") for each in attempts].index(scene.attempts["applied"].name)
    identity = read(_identity(scene))
    kept = {key: item for key, item in identity.items() if key not in ("version", "day")}
    attempts[index] = kept | {"state": "canceled", "canceledAt": identity["reservedAt"]}
    write(scene.day, day)


def _cancelled(scene: Scene) -> None:
    """Say of an attempt that was answered that it never left."""
    reserved = read(scene.step("applied", 0))
    write(scene.step("applied", 1), reserved | {"state": "cancelled", "cancelledAt": reserved["reservedAt"]})
    scene.step("applied", 2).unlink()


def _corrected(scene: Scene) -> None:
    charged: dict[str, Json] = {"state": "corrected", "isBilled": True, "chargedTokens": 1, "chargedCostNanousd": 1}
    said: dict[str, Json] = {"correctedAt": "2026-01-03T01:00:00.000Z", "source": "operator"}
    write(scene.step("applied", 3), read(scene.step("applied", 0)) | charged | said)


def _lose_base(scene: Scene) -> None:
    for step in (0, 1):
        change(scene.step("running", step), baseBranchDigest=ZERO)


def _copied(scene: Scene, day: str) -> None:
    path = scene.step("running", 0)
    copy(path, scene.layout.attempts / day / path.parent.name / path.name)


def _copied_aside(scene: Scene) -> None:
    path = scene.step("running", 0)
    copy(path, path.parent.with_name("00" if path.parent.name != "00" else "11") / path.name)


JOURNAL: Final = (
    Damage("no reservation", "has no reservation", lambda s: s.step("applied", 0).unlink()),
    Damage("no dispatch", "was never dispatched", lambda s: s.step("applied", 1).unlink()),
    Damage(
        "no settlement, only its correction", "of which nothing else stands", lambda s: s.step("deferred", 2).unlink()
    ),
    Damage(
        "a settled one reserved",
        "its result tells that it was sent",
        lambda s: drop(s, "applied", 1, 2),
    ),
    Damage("an answered one cancelled", "its result tells that it was sent", _cancelled),
    Damage("another hold in a later step", "in holdTokens", lambda s: change(s.step("applied", 1), holdTokens=1)),
    Damage(
        "another job in a later step",
        "id that is not its claim's",
        lambda s: change(s.step("applied", 2), jobDigest=ZERO),
    ),
    Damage("another token", "id that is not its claim's", lambda s: change(s.step("running", 0), leaseToken=TOKEN)),
    Damage(
        "another model in the settlement",
        "differs from its dispatch in model",
        lambda s: change(s.step("applied", 2), model="x"),
    ),
    Damage(
        "a cheaper charge",
        "something else than it was charged for",
        lambda s: change(s.step("applied", 2), chargedTokens=1),
    ),
    Damage("a day of another year", "holds another attempt", lambda s: change(s.step("running", 0), day="2025-01-03")),
    Damage(
        "a step under another name",
        "state: is none of",
        lambda s: rename(s.step("running", 1), f"{s.attempts['running'].name}.2.json"),
    ),
    Damage("an attempt on two days", "stands under 2026-01-02 too", lambda s: _copied(s, "2026-01-02")),
    Damage("an attempt in another's folder", "in another attempt's folder", _copied_aside),
    Damage(
        "a reservation of another day",
        "another day than it was reserved on",
        lambda s: change(s.step("running", 0), reservedAt="2026-01-02T00:00:00.000Z"),
    ),
    Damage("a settled one corrected", "was not unknown", _corrected),
    Damage(
        "another usage than the result's",
        "than its result's",
        lambda s: put(s.step("applied", 2), "provenance", "durationMs", value=1),
    ),
    Damage(
        "a spent call without a journal",
        "journal does not know",
        lambda s: drop(s, "applied", 0, 1, 2),
    ),
    Damage(
        "a lost base",
        "names a base that is not there",
        _lose_base,
    ),
    Damage("a journal file for everybody", "0644", lambda s: s.step("applied", 0).chmod(0o644)),
    Damage(
        "a legacy carry of another day",
        "another day than its folder",
        lambda s: change(next((s.layout.attempts / "2026-01-02").iterdir()), day="2026-01-01"),
    ),
)
ACCOUNTING: Final = (
    Damage("a day under another name", "another day than its name", lambda s: rename(s.day, "2026-01-04")),
    Damage(
        "a stranger among the days", "stops the other worker", lambda s: (s.layout.days / ".DS_Store").write_text("x")
    ),
    Damage("a day's charge", "something else than its usage", lambda s: _in_day(s, chargedTokens=1)),
    Damage("a day's hold", "another holdTokens", lambda s: _in_day(s, holdTokens=1)),
    Damage("an identity lost", "whose identity is not there", lambda s: _identity(s).unlink()),
    Damage("an identity changed", "another holdTokens than the journal", lambda s: change(_identity(s), holdTokens=1)),
    Damage("an attempt twice in a day", "twice", lambda s: repeat_first(s.day, "providers", "fixture-provider")),
    Damage("a settled one given back in the day", "as cancelled, and the journal as settled", _cancel_in_day),
    Damage("a day for everybody", "its readers want 0600", lambda s: s.day.chmod(0o640)),
    Damage("a budget file of words", "is not a number", lambda s: change(s.layout.legacy_budget, costUsd="x")),
)
