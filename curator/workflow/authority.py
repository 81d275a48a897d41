"""Who owns review: embedded, shadow or external; and how the shadow compares with what really happened."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.durable.read import list_names
from curator.model.ids import BRANCH_NAME_PATTERN, PROJECT_KEY_PATTERN, BranchName, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX

if TYPE_CHECKING:
    from curator.model.memory import Branch
    from curator.model.settings import Mode
    from curator.workflow.shop import Shop

MEANING: Final[dict[Mode, str]] = {
    "embedded": "Pi's extension reviews by itself; curator claims nothing",
    "shadow": "Pi's extension reviews; curator reviews beside it into a store of its own and changes no memory",
    "external": "curator reviews, and changes memory",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """One branch of one project: the texts that only one side remembers."""

    key: ProjectKey
    root: str
    branch: BranchName
    only_real: tuple[str, ...]
    only_shadow: tuple[str, ...]
    shared: int


def compare(shop: Shop) -> tuple[Difference, ...]:
    """Compare every shadow branch with the real one. Reads both, changes neither."""
    found: list[Difference] = []
    for name in list_names(shop.layout.shadow, DIRECTORY_NAMES_MAX):
        if not PROJECT_KEY_PATTERN.fullmatch(name):
            continue
        key = ProjectKey(name)
        shadow, real = shop.memory(key, "shadow"), shop.memory(key, "external")
        project = real.project()
        for file in list_names(shadow.layout.branches, DIRECTORY_NAMES_MAX):
            branch = BranchName(file.removesuffix(".json"))
            if file.endswith(".json") and BRANCH_NAME_PATTERN.fullmatch(branch):
                root = "" if project is None else project.root
                found.append(_difference(key, root, branch, real.branch(branch), shadow.branch(branch)))
    return tuple(found)


def _difference(key: ProjectKey, root: str, name: BranchName, real: Branch | None, shadow: Branch | None) -> Difference:
    ours = [] if shadow is None else [entry.text for entry in shadow.entries]
    theirs = [] if real is None else [entry.text for entry in real.entries]
    return Difference(
        key=key,
        root=root,
        branch=name,
        only_real=tuple(text for text in theirs if text not in ours),
        only_shadow=tuple(text for text in ours if text not in theirs),
        shared=sum(text in ours for text in theirs),
    )
