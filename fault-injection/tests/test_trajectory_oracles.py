"""Each oracle of a trajectory finds the damage that it is there for."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator

import pytest
from faults.campaign import Stage
from faults.oracles import judge
from faults.recording import Mark
from faults.scenarios import SCENARIOS
from faults.trajectory_oracles import TRAJECTORY_ORACLES
from faults.tree import Node, Tree, scratch
from faults.view import Fields, look

Damage = Callable[[dict[str, Node]], None]
NAMES = tuple(name for name in SCENARIOS if name.startswith("trajectory-"))


@pytest.fixture(scope="module")
def stages() -> Iterator[dict[str, Stage]]:
    folders = {name: scratch() for name in NAMES}
    yield {name: Stage(SCENARIOS[name], folder) for name, folder in folders.items()}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)


def ending(stage: Stage) -> Tree:
    return stage.disk.whole(stage.disk.points[-1])


def those(tree: dict[str, Node], pattern: str) -> list[str]:
    return [path for path in sorted(tree) if re.search(pattern, path)]


def remove(pattern: str) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        del tree[those(tree, pattern)[0]]

    return damage


def tear(pattern: str) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        path = those(tree, pattern)[0]
        tree[path] = Node((tree[path].content or b"")[:20])

    return damage


def rewrite(folder: str, change: Callable[[list[Fields]], None]) -> Damage:
    """Change the lines of a folder, and pack them under the name that is right for them."""

    def damage(tree: dict[str, Node]) -> None:
        lines: list[Fields] = []
        place = ""
        for path in those(tree, rf"/trajectory/[0-9a-f]+/{folder}/.+\.z$"):
            content = tree.pop(path).content or b""
            lines += [json.loads(line) for line in zlib.decompress(content).splitlines()]
            place = path.rpartition("/")[0]
        change(lines)
        text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        tree[f"{place}/{hashlib.sha256(text).hexdigest()}.z"] = Node(zlib.compress(text))

    return damage


def drop_first(lines: list[Fields]) -> None:
    del lines[0]


def drop_last(lines: list[Fields]) -> None:
    del lines[-1]


def say_otherwise(lines: list[Fields]) -> None:
    lines[0]["text"] = "USER: something else"


def go_back(lines: list[Fields]) -> None:
    lines.append(lines[0] | {"number": 1_000, "state": "leased", "digests": lines[0]["digests"]})
    lines.append(lines[0] | {"number": 1_001, "state": "leased"})


def bring_back(stage: Stage) -> Damage:
    """Put the segments back as they stood before anything was forgotten or erased."""

    def damage(tree: dict[str, Node]) -> None:
        tree.update({path: node for path, node in stage.recording.start.items() if "/segments" in path})

    return damage


CASES: tuple[tuple[str, str, Damage | None], ...] = (
    ("a_line_is_what_its_name_says", "trajectory-taken", tear(r"/segments/.+\.z$")),
    ("a_line_is_what_its_name_says", "trajectory-taken", rewrite("segments", say_otherwise)),
    ("a_node_has_its_ancestors", "trajectory-taken", rewrite("segments", drop_first)),
    ("what_was_taken_stays", "trajectory-taken", rewrite("segments", drop_last)),
    ("what_was_forgotten_is_gone", "trajectory-forgotten", None),
    ("what_was_forgotten_is_gone", "trajectory-forgotten", rewrite("forgotten", drop_first)),
    ("what_was_settled_is_kept", "trajectory-settled", remove(r"/settled/.+\.z$")),
    ("what_was_settled_is_kept", "trajectory-settled", remove(r"/sources/.+\.json$")),
    ("what_was_settled_is_kept", "trajectory-settled", rewrite("segments", drop_last)),
    ("coverage_walks_along_the_table", "trajectory-covered", rewrite("coverage", drop_first)),
    ("coverage_walks_along_the_table", "trajectory-covered", rewrite("coverage", go_back)),
    ("what_was_handed_over_is_not_lost", "trajectory-handed-over", rewrite("segments", drop_last)),
    ("what_was_handed_over_is_not_lost", "trajectory-handed-over", remove(r"/refused/.+\.why\.json$")),
    ("what_was_handed_over_is_not_lost", "trajectory-handed-over", rewrite("settled", drop_last)),
    ("what_was_erased_is_gone", "trajectory-erased", None),
)
"""Which oracle finds which damage; None brings back what went."""


@pytest.mark.parametrize(
    ("oracle", "scenario", "damage"), CASES, ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(CASES)]
)
def test_an_oracle_finds_its_damage(
    stages: dict[str, Stage], oracle: str, scenario: str, damage: Damage | None
) -> None:
    stage = stages[scenario]
    damaged = dict(ending(stage))
    (damage or bring_back(stage))(damaged)
    view = look(damaged)

    found = judge(stage.case(view, view, stage.said(stage.disk.points[-1])))

    assert any(breach.startswith(oracle) for breach in found), found


@pytest.mark.parametrize("scenario", NAMES)
def test_no_oracle_accuses_the_healthy(stages: dict[str, Stage], scenario: str) -> None:
    stage = stages[scenario]
    healthy = look(ending(stage))

    assert judge(stage.case(healthy, healthy, stage.said(stage.disk.points[-1]))) == []


def test_what_nobody_wanted_forgotten_is_missed(stages: dict[str, Stage]) -> None:
    stage = stages["trajectory-forgotten"]
    view = look(ending(stage))
    said = tuple(mark for mark in stage.said(stage.disk.points[-1]) if mark.kind != "forgetting")

    assert any(each.startswith("a_tombstone_is_wanted") for each in judge(stage.case(view, view, said)))


def test_a_beginning_that_nobody_asks_for_is_missed(stages: dict[str, Stage]) -> None:
    stage = stages["trajectory-handed-over"]
    point, state = next(
        (place.point, state)
        for place, state in stage.states("kill")
        if any("/wanted/" in path and path.endswith(".json") for path in state.tree)
    )
    asked = look(state.tree)
    unasked = look({path: node for path, node in state.tree.items() if "/wanted/" not in path})

    said = (*stage.said(point), Mark("rest"))
    assert judge(stage.case(asked, asked, said, is_over=False)) == []
    assert judge(stage.case(unasked, asked, said, is_over=False)) != []


def test_every_oracle_has_damage_that_it_finds() -> None:
    assert {oracle for oracle, _, _ in CASES} | {"a_tombstone_is_wanted"} == {
        each.__name__ for each in TRAJECTORY_ORACLES
    }
