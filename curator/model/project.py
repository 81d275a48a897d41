"""Which folder a memory belongs to (interop.md 8.1)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.record import Violation

if TYPE_CHECKING:
    from curator.model.digest import Json


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
