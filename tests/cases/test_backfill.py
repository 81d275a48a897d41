"""Cases A-001 to A-014 and A-066 as a plan meets them: a folder of old sessions that are torn, huge, forked, odd or our own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from curator.pi.sessions import folder_name
from tests.cases.scene import Sessions, raw, sessions
from tests.cli.commands import CURATOR, environ_of
from tests.session_lines import assistant, header, lines, message, user

if TYPE_CHECKING:
    from curator.model.digest import Json
    from tests.cli.commands import Ran

ADDRESS_SPACE_KB: Final = 524_288
MEGABYTE: Final = 1 << 20
MEGABYTES: Final = 700 if os.environ.get("CURATOR_FAULTS") == "long" else 40
"""As in the report with time, else enough to be no small file."""


@pytest.fixture
def scene(tmp_path: Path) -> Sessions:
    return sessions(tmp_path)


def lay(scene: Sessions, *names: str, **contents: bytes) -> list[Path]:
    """Put sessions where Pi keeps those of the project, as if they had been begun there."""
    folder = scene.place.layout.agent / "sessions" / folder_name(str(scene.project))
    folder.mkdir(parents=True, exist_ok=True)
    here = str(scene.project).encode()
    found = {Path(name).name: raw(name).replace(b"/home/user/proj-a", here) for name in names}
    found |= {f"{name}.jsonl": content for name, content in contents.items()}
    for name, content in found.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in found]


def plan(scene: Sessions, *options: str) -> Ran:
    return scene.place.run("backfill", "plan", "--project", str(scene.project), *options)


def planned(scene: Sessions, *options: str) -> dict[str, Json]:
    ran = plan(scene, "--json", *options)
    assert ran.status == 0, ran.err
    return ran.document


def inputs(document: dict[str, Json]) -> dict[str, dict[str, Json]]:
    """The files that are read, by name."""
    found = document["inputs"]
    assert isinstance(found, list)
    return {Path(str(each["path"])).name: each for each in found if isinstance(each, dict)}


def run(scene: Sessions, document: dict[str, Json]) -> dict[str, Json]:
    ran = scene.place.run("backfill", "run", str(document["id"]), "--json")
    assert ran.status == 0, ran.err
    return ran.document


def test_a_001_a_huge_session_is_planned_and_run_in_little_memory_and_its_line_is_counted(scene: Sessions) -> None:
    (path,) = lay(scene, huge=b"")
    with path.open("wb") as file:
        head = header(cwd=str(scene.project))
        file.write(lines(head, user("u1", None, "Always use make check for tests."), assistant("a1", "u1", "Noted.")))
        for number in range(MEGABYTES * 7 // 10):
            file.write(
                lines(message(f"x{number}", "a1", {"role": "toolResult", "content": "filler " * (MEGABYTE // 7)}))
            )
        file.write(b'{"type":"message","id":"big","parentId":"a1","message":{"role":"user","content":"')
        file.write(b"filler " * (60 * MEGABYTE // 7))
        file.write(b'"}}\n')
        for number in range(MEGABYTES * 3 // 10):
            file.write(
                lines(message(f"y{number}", "a1", {"role": "toolResult", "content": "filler " * (MEGABYTE // 7)}))
            )
        file.write(lines(user("u2", "a1", "And always run the linter."), assistant("a2", "u2", "Yes.")))
    environ = environ_of(scene.place.home, PI_CODING_AGENT_DIR=str(scene.place.layout.agent))

    def limited(*arguments: str) -> dict[str, Json]:
        script = f'ulimit -v {ADDRESS_SPACE_KB} && exec "$@"'
        argv = ["sh", "-c", script, "sh", *CURATOR, "backfill", *arguments, "--json"]
        ran = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False, timeout=600)
        assert ran.returncode == 0, ran.stderr + ran.stdout
        document: dict[str, Json] = json.loads(ran.stdout)
        return document

    document = limited("plan", "--project", str(scene.project))
    told = limited("run", str(document["id"]))

    assert inputs(document)["huge.jsonl"]["damaged"] == 1
    assert (told["state"], told["failed"]) == ("done", 0)
    promoted = scene.place.run("backfill", "promote", str(document["id"]), "--yes").out
    assert "make check" in promoted
    assert "run the linter" in promoted
    assert "make check" in scene.place.run("memory", "show", "--project", str(scene.project)).out
    assert scene.place.run("verify").status == 0


def test_a_004_a_session_with_a_torn_header_is_listed_with_its_size_and_given_to_nobody(scene: Sessions) -> None:
    path, _ = lay(scene, "A-004/bad_header.jsonl", "A-008/no_usage.jsonl")

    document, shown = planned(scene), plan(scene).out

    assert list(inputs(document)) == ["no_usage.jsonl"]
    size = path.stat().st_size
    assert document["leftOut"] == [{"path": str(path), "size": size, "reason": "quarantined: header unreadable"}]
    assert f"left out: {path}, {size} B: quarantined: header unreadable" in shown


def test_a_006_what_forks_share_is_planned_and_asked_about_once(scene: Sessions) -> None:
    lay(scene, *(f"A-006/{name}.jsonl" for name in ("parent", "fork1", "fork2")))

    document = planned(scene)
    told = run(scene, document)
    again = run(scene, document)

    shelf = scene.place.layout.own / "backfill" / str(document["id"])
    windows = json.loads((shelf / "windows.json").read_text("utf-8"))["windows"]
    forecast = document["forecast"]
    assert isinstance(forecast, dict)
    # The prefix and three tails: four turns, however many files hold them.
    assert (forecast["turns"], sum(each["turns"] for each in windows)) == (4, 4)
    assert told["calls"] == len(windows)
    assert again["calls"] == told["calls"]


def test_a_007_a_fork_whose_parent_is_not_there_is_read_and_said_to_be_one(scene: Sessions) -> None:
    lay(scene, "A-007/orphan_parent.jsonl", "A-007/win_parent.jsonl")

    document = planned(scene)

    assert {name: each["origin"] for name, each in inputs(document).items()} == {
        "orphan_parent.jsonl": "parent unavailable",
        "win_parent.jsonl": "parent unavailable",
    }
    assert plan(scene).out.count("parent unavailable") == 2
    assert run(scene, document)["state"] == "done"


def test_a_008_usage_that_nobody_told_is_unknown_and_not_nothing(scene: Sessions) -> None:
    lay(scene, "A-008/no_usage.jsonl")

    document = planned(scene)

    assert inputs(document)["no_usage.jsonl"]["usageUnknown"] == 3
    assert "usage unknown in 3 answers" in plan(scene).out
    assert run(scene, document)["state"] == "done"


def test_a_014_times_that_cannot_be_are_named_and_bound_no_day(scene: Sessions) -> None:
    lay(scene, "A-014/times.jsonl")

    document = planned(scene, "--since", "2026-01-01", "--until", "2026-12-31")
    found = inputs(document)["times.jsonl"]

    dates = found["dates"]
    assert isinstance(dates, dict)
    assert dates["in the future"] == 1
    assert dates["before there was Pi"] == 1
    assert "1 time in the future" in plan(scene).out
    assert run(scene, document)["state"] == "done"


def test_a_066_own_reviews_are_left_out_and_counted(scene: Sessions) -> None:
    lay(scene, "A-066/own_review.jsonl", "A-008/no_usage.jsonl")

    document = planned(scene)

    forecast = document["forecast"]
    assert isinstance(forecast, dict)
    assert forecast["ownReviews"] == 1
    assert list(inputs(document)) == ["no_usage.jsonl"]
    assert "1 session of reviewers" in plan(scene).out


def test_a_002_a_003_damage_costs_its_line_and_is_listed(scene: Sessions) -> None:
    lay(scene, "A-002/torn_tail.jsonl", "A-003/nul_mid.jsonl", "A-003/nul_tail.jsonl")

    document = planned(scene)

    assert {name: each["damaged"] for name, each in inputs(document).items()} == {
        "torn_tail.jsonl": 1,
        "nul_mid.jsonl": 1,
        "nul_tail.jsonl": 1,
    }
    assert plan(scene).out.count("damaged: ") == 3
    assert run(scene, document)["state"] == "done"
