"""Who changes memory is changed by a record first, and then by the configuration."""

import json
from pathlib import Path

import pytest

from curator.errors import ConfigError, UsageError
from curator.model.settings import Mode
from curator.workflow.settings_files import read_service
from curator.workflow.switching import switch
from tests.durable.volumes import Crash, Mortal
from tests.kit import ScriptedReviewer, World, adding


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "agent")
    made.configure("shadow", maxCallsPerDay=7)
    return made


def reviewer(world: World) -> ScriptedReviewer:
    return ScriptedReviewer(adding("A fact."), clock=world.clock)


@pytest.mark.parametrize("mode", ["embedded", "external"])
def test_a_change_is_recorded_with_what_spoke_against_it_and_why(world: World, mode: Mode) -> None:
    app = world.open(reviewer(world))

    switch(app.shop, mode, ("shadow",), "The old worker is broken.")

    service = read_service(app.layout)
    assert service.mode == mode
    assert service.reviewer is not None
    assert service.reviewer.max_calls_per_day == 7
    (path,) = app.layout.switches.iterdir()
    told = json.loads(path.read_text("utf-8"))
    assert (told["before"], told["after"], told["closedGates"]) == ("shadow", mode, ["shadow"])
    assert told["reason"] == "The old worker is broken."
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "reason",
    [" ", "x" * 501, "it is \x1b[31mred", "the key is ghp_" + "a1B2" * 9, "password: correct-horse-battery"],
)
def test_a_reason_that_may_not_be_kept_is_refused_and_nothing_is_changed(world: World, reason: str) -> None:
    app = world.open(reviewer(world))

    with pytest.raises(UsageError) as refused:
        switch(app.shop, "embedded", (), reason)

    assert reason.strip() == "" or reason not in str(refused.value)
    assert read_service(app.layout).mode == "shadow"
    assert not app.layout.switches.exists()


def test_external_mode_needs_a_reviewer(world: World) -> None:
    path = world.agent / "no-forgetti" / "service.json"
    path.write_text('{"version":1,"mode":"embedded"}', "utf-8")
    app = world.open(reviewer(world))

    with pytest.raises(ConfigError, match="names no reviewer"):
        switch(app.shop, "external", (), None)


def test_a_crash_leaves_the_old_mode_or_the_new_one_with_its_record(world: World) -> None:
    survive = 0
    while survive < 60:
        volume = Mortal(survive)
        try:
            shop = world.open(reviewer(world), volume=volume).shop
            switch(shop, "external", (), None)
        except Crash:
            survive += 1
            layout = world.open(reviewer(world)).layout
            if read_service(layout).mode == "external":
                assert any(layout.switches.iterdir())
                world.configure("shadow")
        else:
            break

    assert 10 < survive < 60
    assert read_service(world.open(reviewer(world)).layout).mode == "external"
