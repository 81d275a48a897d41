"""What the cases of the table share: their inputs, and short ways to lay them down and to look at what came of them."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from curator.model.digest import Json
from curator.model.job import Job
from tests.acceptance.processes import Place
from tests.cli.commands import Ran

INPUTS: Final = Path(__file__).with_name("inputs")
"""The files of the reports, by id; all that looks like a secret in them is made up."""


def raw(name: str) -> bytes:
    """Return an input as it is: `A-019/fenced.txt`."""
    return (INPUTS / name).read_bytes()


def text(name: str) -> str:
    """Return an input as text, its line ends untouched."""
    return raw(name).decode("utf-8")


@dataclasses.dataclass(frozen=True, slots=True)
class Sessions:
    """A place whose project is asked to remember sessions."""

    place: Place
    project: Path

    def lay(self, name: str, content: bytes | None = None) -> Path:
        """Put a session where Pi keeps them: an input, or other content."""
        folder = self.place.layout.agent / "sessions" / "--home-user-proj-a--"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / Path(name).name
        path.write_bytes(raw(name) if content is None else content)
        return path

    def enqueue(self, path: Path, *more: str) -> Ran:
        """Run `curator enqueue` on a session."""
        return self.place.run("enqueue", "--session", str(path), "--project", str(self.project), *more)

    def queued(self) -> list[Job]:
        """Return the jobs that wait, in no order."""
        return [record.job for record in self.place.shop().stores.spool.queued()]

    def transcript(self) -> str:
        """Return the evidence of the one job that waits."""
        (job,) = self.queued()
        return job.transcript


def sessions(tmp_path: Path) -> Sessions:
    """Make such a place: the offline reviewer, external mode."""
    place = Place(tmp_path)
    place.configure()
    project = tmp_path / "project"
    project.mkdir()
    return Sessions(place, project)


def remember(place: Place, name: str, branch: Mapping[str, Json] | None = None) -> tuple[str, Path]:
    """Make a project that remembers the three entries of the reports, or another branch; return its key and file."""
    key = place.project(name)
    path = place.layout.project(key).branches / "main.json"
    path.write_text(json.dumps(branch, ensure_ascii=False) if branch else text("branch_main.json"), "utf-8")
    return key, path


def needs(program: str) -> bool:
    """Say whether a program is missing here."""
    return shutil.which(program) is None
