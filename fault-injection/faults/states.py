"""A state that a crash may leave: most are met before, so nothing of one is worked out until somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faults.tree import Tree


class State:
    """A tree that a crash may leave, and what was lost to make it. Most are met before: so a tree is grown when asked for."""

    __slots__ = ("_digest", "_gone", "_grow", "_torn")

    def __init__(
        self,
        grow: Callable[[], Tree],
        digest: Callable[[], str],
        gone: Callable[[], Mapping[str, int]],
        torn: Sequence[str],
    ) -> None:
        """Know how to grow; `gone` tells the names lost, with the steps that had asked for them."""
        self._grow, self._digest, self._gone, self._torn = grow, digest, gone, torn

    @property
    def tree(self) -> Tree:
        """Grow the tree."""
        return self._grow()

    @property
    def digest(self) -> str:
        """The digest of the tree, inert names apart."""
        return self._digest()

    @property
    def lost(self) -> str:
        """What was lost, as a person reads it."""
        names = ", ".join(f"{path} of step {step}" for path, step in self._gone().items())
        return "; ".join(filter(None, (names, ", ".join(self._torn)))) or "nothing"

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps whose changes of names were lost."""
        return tuple(sorted(self._gone().values()))
