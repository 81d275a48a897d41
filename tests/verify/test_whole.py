"""What the checker finds in whole folders, in golden ones, and in each with one thing wrong."""

from __future__ import annotations

import json
import os
import tarfile
import tracemalloc
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.errors import NotFoundError
from curator.model.digest import digest_of_text
from curator.verify.finding import Severity
from curator.verify.whole import verify
from tests.golden_fixtures import GOLDEN, PROJECT_ROOT, golden, real_pi
from tests.kit import START_MS, HandClock, ScriptedReviewer, World, adding
from tests.verify.damage import Damage
from tests.verify.damaged_checkpoints import CHECKPOINTS
from tests.verify.damaged_journal import ACCOUNTING, JOURNAL
from tests.verify.damaged_memory import MEMORY
from tests.verify.damaged_spool import SPOOL
from tests.verify.scene import QUOTED, SECRET, Scene, change, copy_of, find, scene

ALL: Final = (*SPOOL, *JOURNAL, *ACCOUNTING, *CHECKPOINTS, *MEMORY)
NOT_TO_BE_SHOWN: Final = (QUOTED, SECRET, "Run the checks", "Written by hand", "Tag each", "Name the ticket")
with tarfile.open(GOLDEN / "fixtures.tar.gz") as _packed:
    SCENARIOS: Final = sorted({name.split("/")[0] for name in _packed.getnames()})
_DAY: Final = "2026-01-03"


@pytest.fixture(autouse=True)
def project_root() -> None:
    """The fixtures' project is one fixed path, which must be there."""
    PROJECT_ROOT.mkdir(exist_ok=True)


def state_of(root: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything that a write would change."""
    found = {}
    for path in sorted([root, *root.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mtime_ns, status.st_mode, status.st_ino, content)
    return found


def test_a_whole_folder_has_no_finding() -> None:
    assert list(verify(Layout(scene().agent), lambda _: None)) == []


def test_every_record_is_looked_at() -> None:
    looked: list[Path] = []

    list(verify(Layout(scene().agent), looked.append))

    records = {path for path in scene().layout.root.rglob("*") if path.is_file()}
    without_rules = {scene().layout.attempts_lock}
    assert records - set(looked) == without_rules


@pytest.mark.parametrize("damage", ALL, ids=lambda damage: damage.name.replace(" ", "-"))
def test_one_thing_wrong_is_found(damage: Damage, tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    damage.plant(mine)

    found = list(verify(mine.layout, lambda _: None))

    assert any(damage.fact in each.fact and each.severity is Severity.ERROR for each in found), found
    assert not any(word in each.fact for each in found for word in NOT_TO_BE_SHOWN)


def test_many_different_things_can_be_found() -> None:
    assert len(ALL) >= 40
    assert len({damage.name for damage in ALL}) == len(ALL)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_golden_state_has_no_error_before_its_recovery_nor_after(name: str, tmp_path: Path) -> None:
    agent = golden(name, tmp_path)

    before = find(agent)
    world = World(agent, HandClock(START_MS + 3_600_000))
    world.open(ScriptedReviewer(adding("Recovered-run fact."), clock=world.clock)).review_once()

    assert (before, find(agent)) == ([], [])


@pytest.mark.parametrize("moment", ["queued", "consumed"])
def test_what_real_pi_left_has_no_error(moment: str, tmp_path: Path) -> None:
    assert find(real_pi(moment, tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("f-intent-no-branch", "is begun"),
        ("g3-completion-no-feedback", "is complete"),
        ("o1-claim-crash-both", "stands in running too"),
        ("o3-finish-crash-both", "stands in outcomes too"),
    ],
)
def test_a_state_in_between_is_named_as_one(name: str, fact: str, tmp_path: Path) -> None:
    found = find(golden(name, tmp_path), Severity.PENDING)

    assert any(fact in each.fact for each in found)


def test_nothing_is_changed(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    ALL[0].plant(mine)
    before = state_of(mine.agent)

    assert find(mine.agent) != []

    assert state_of(mine.agent) == before


@pytest.mark.parametrize(
    "place",
    ["review-spool/queued/note.txt", "review-spool/outcomes/x", "curator/jobs/x", "x", "curator/later/x"],
)
def test_a_name_that_is_passed_over_is_a_stray_and_no_error(place: str, tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    path = mine.layout.root / place
    path.parent.mkdir(exist_ok=True, mode=0o700)
    path.write_text("x")

    assert find(mine.agent) == []
    assert len(find(mine.agent, Severity.STRAY)) == 1


def test_a_staged_leftover_is_a_stray(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    (mine.layout.days / f"{_DAY}.12.01234567-0123-0123-0123-0123456789ab.tmp").write_text("x")
    (mine.layout.decisions / ".01234567-0123-0123-0123-0123456789ab.tmp").write_text("x")

    assert (find(mine.agent), len(find(mine.agent, Severity.STRAY))) == ([], 2)


def test_a_foreground_write_after_a_revision_is_no_finding(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    branch = mine.layout.project(mine.key).branches / "main.json"
    change(branch, updatedAt="2026-01-09T00:00:00.000Z", entries=[])

    assert list(verify(mine.layout, lambda _: None)) == []


def test_an_error_that_is_gone_at_the_second_look_is_none(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    path = mine.layout.queued / mine.name("queued")
    whole = path.read_text("utf-8")
    path.write_text("{", "utf-8")

    def mend(looked: Path) -> None:
        """Let a writer finish while the record is first looked at."""
        if looked == path:
            path.write_text(whole, "utf-8")

    assert [each for each in verify(mine.layout, mend) if each.severity is Severity.ERROR] == []


def test_a_folder_without_state_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        list(verify(Layout(tmp_path), lambda _: None))


def many_attempts(agent: Path, count: int) -> None:
    """Write a journal by hand, without a flush."""
    day = Layout(agent).attempts / _DAY
    for number in range(count):
        job_digest, token = digest_of_text(f"job {number}"), f"{number:032x}"
        identity = f"review_attempt_{digest_of_text(f'{job_digest}{chr(10)}1{chr(10)}{token}')[:40]}"
        facts = {"version": 1, "kind": "curator-attempt", "id": identity, "day": _DAY, "provider": "p"}
        facts |= {"jobId": f"review_{number:040x}", "jobDigest": job_digest, "claimAttempt": 1, "leaseToken": token}
        facts |= {"reservedAt": f"{_DAY}T00:00:00.000Z", "holdTokens": 1, "holdCostNanousd": 1, "origin": "curator"}
        folder = day / identity.removeprefix("review_attempt_")[:2]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        steps: dict[int, dict[str, object]] = {
            0: {"state": "reserved"},
            1: {"state": "cancelled", "cancelledAt": f"{_DAY}T00:00:00.000Z"},
        }
        for step, more in steps.items():
            path = folder / f"{identity}.{step}.json"
            path.write_text(json.dumps(facts | more))
            path.chmod(0o600)
    for folder in (agent, agent / "no-forgetti", Layout(agent).own, Layout(agent).attempts, day):
        os.chmod(folder, 0o700)  # noqa: PTH101 - laid out by hand


def peak_of_verifying(agent: Path) -> int:
    """Return the most bytes that were held while a healthy folder was checked."""
    tracemalloc.start()
    found = next(verify(Layout(agent), lambda _: None), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is None
    return peak


def test_memory_does_not_grow_with_the_journal(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    many_attempts(few, 300)
    many_attempts(many, 3_000)
    peak_of_verifying(few)

    grown = peak_of_verifying(many) - peak_of_verifying(few)

    # An attempt's two records, kept, would take more than four thousand bytes; its names take a few hundred. The
    # interpreter's own table of names may grow in between, by a few megabytes at once.
    assert grown < 2_700 * 2_000


def test_a_scene_of_ones_own_is_apart(tmp_path: Path) -> None:
    mine: Scene = copy_of(scene(), tmp_path)

    assert mine.step("applied", 0).is_relative_to(tmp_path)
    assert mine.step("applied", 0).is_file()
