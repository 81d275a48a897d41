"""What recovery makes of a tree, moment by moment."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.recording import Mark
    from faults.view import View


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """What stands after one step of recovery."""

    name: str
    now: View | None
    """Nothing where the step failed: then `wrong` says how."""
    since: tuple[Mark, ...]
    """What the recoveries told so far."""
    wrong: tuple[str, ...] = ()
    is_over: bool = False


class Course:
    """What becomes of one tree, moment by moment: recovered as far as somebody asks, remembered for whoever asks again."""

    def __init__(self, crashed: View, coming: Iterator[Moment]) -> None:
        """Start from what the crash left."""
        self.crashed = crashed
        self._met: list[Moment] = []
        self._coming = coming

    def moments(self) -> Iterator[Moment]:
        """Yield what was met, then go on."""
        yield from self._met
        for moment in self._coming:
            self._met.append(moment)
            yield moment
