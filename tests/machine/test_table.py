"""A machine steps only along its arrows, and draws itself."""

import enum

import pytest

from curator.machine.table import IllegalTransitionError, Machine, Transition


class Light(enum.StrEnum):
    RED = "red"
    GREEN = "dark-green"
    OFF = "off"


LIGHT = Machine(
    name="light",
    entry="install",
    initial=Light.RED,
    transitions=(
        Transition(Light.RED, "go", Light.GREEN, "it is their turn"),
        Transition(Light.GREEN, "break", Light.OFF, "nobody mends it"),
    ),
    orphaned={Light.GREEN: "break"},
)


def test_a_step_follows_its_arrow() -> None:
    assert LIGHT.step(Light.RED, "go") is Light.GREEN
    assert LIGHT.allows(Light.RED, "go")


@pytest.mark.parametrize(("source", "verb"), [(Light.RED, "break"), (Light.OFF, "go"), (Light.RED, "")])
def test_a_step_that_no_arrow_has_is_a_defect(source: Light, verb: str) -> None:
    assert not LIGHT.allows(source, verb)
    with pytest.raises(IllegalTransitionError, match=f"light: no {verb} from {source}"):
        LIGHT.step(source, verb)


def test_a_machine_draws_itself_with_its_ends() -> None:
    assert LIGHT.diagram().splitlines() == [
        "stateDiagram-v2",
        "    [*] --> red: install",
        "    red --> dark_green: go",
        "    dark_green --> off: break",
        "    off --> [*]",
    ]
