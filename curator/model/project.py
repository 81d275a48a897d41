"""Which folder a memory belongs to (interop.md 8.1), and what a person decided about it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from curator.model.ids import PROJECT_KEY_PATTERN, AnIso, AProjectKey, ProjectKey
from curator.model.record import Record, Text, Violation

if TYPE_CHECKING:
    from curator.model.digest import Json

Wish: TypeAlias = Literal["active", "paused", "excluded"]
Begun: TypeAlias = Literal["link", "purge"]


@dataclasses.dataclass(frozen=True, slots=True)
class Project:
    """A project's root and its key. Other keys of the file are another writer's, and tolerated."""

    root: str
    key: ProjectKey

    def encode(self, now: str) -> dict[str, Json]:
        """Return the record as the extension would create it."""
        return {
            "version": 1,
            "projectRoot": self.root,
            "projectKey": self.key,
            "createdAt": now,
            "updatedAt": now,
        }


def read_project(value: Json) -> Project:
    """Read project.json, or raise `Violation`."""
    if not isinstance(value, dict):
        raise Violation("project", "is not an object")
    root, key = value.get("projectRoot"), value.get("projectKey")
    if not isinstance(root, str) or not root.startswith("/"):
        raise Violation("project.projectRoot", "is not an absolute path")
    if not isinstance(key, str) or not PROJECT_KEY_PATTERN.fullmatch(key):
        raise Violation("project.projectKey", "is not a project key")
    return Project(root, ProjectKey(key))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Record):
    """Ours: what a person decided about a project. The latest word alone counts, so the file is replaced."""

    version: Literal[1] = 1
    kind: Literal["curator-project"] = "curator-project"
    project_key: AProjectKey
    wish: Wish
    changed_at: AnIso
    project_root: Annotated[str, Text(1, 4_096)] | None = None
    """Where the folder was; not kept of a project that was purged."""
    begun: Begun | None = None
    """What has begun with this project and is not over; running the same command again finishes it."""
    linked_to: AProjectKey | None = None
    """Where its memory went on, after its folder was renamed or moved."""
    linked_from: AProjectKey | None = None
    purged_at: AnIso | None = None

    @property
    def is_resting(self) -> bool:
        """Whether the project's jobs wait."""
        return self.wish != "active" or self.begun is not None or self.linked_to is not None
