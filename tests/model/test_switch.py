"""A person's change of who may change memory is kept with its reason, and a reason with nothing that may not be kept."""

import pytest

from curator.model.digest import Json
from curator.model.record import Violation
from curator.model.switch import Switch

SWITCH: dict[str, Json] = {
    "version": 1,
    "kind": "curator-authority",
    "before": "shadow",
    "after": "external",
    "switchedAt": "2026-01-03T00:00:00.000Z",
    "closedGates": ["doctor"],
}


def test_a_switch_is_read_as_it_was_written() -> None:
    for value in (SWITCH, SWITCH | {"reason": "The shadow was read by hand"}):
        assert Switch.decode(value).encode() == value


@pytest.mark.parametrize("reason", ["", " ", "one\x00two", "a\u200bb"])
def test_a_reason_that_is_blank_or_may_not_be_kept_is_refused(reason: str) -> None:
    with pytest.raises(Violation):
        Switch.decode(SWITCH | {"reason": reason})
