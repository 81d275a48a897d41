"""The demo's two folders: a private agent folder with the offline reviewer, and a project with a session to review.

They stay where they are, so that a second run shows what curator does with what it has seen already: nothing.

INVARIANT  Nothing outside the demo's own folder is touched: no real agent folder, no real project.
"""

from __future__ import annotations

import dataclasses
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.durable.layout import Layout
from curator.durable.publish import ensure_directory, publish
from curator.errors import InvalidRecordError
from curator.model.digest import compact, parse
from curator.workflow.settings_files import OFFLINE_PROVIDER, find_service, profile_of, service_of, write_service

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.durable.volume import Volume

_SESSION: Final = "data/demo-session.jsonl"
_REMEDY: Final = "Give another folder with --keep"


@dataclasses.dataclass(frozen=True, slots=True)
class Demo:
    """Where the demo lies."""

    folder: Path

    @property
    def layout(self) -> Layout:
        """Its own agent folder, so that no real one is touched."""
        return Layout(self.folder / "agent")

    @property
    def project(self) -> Path:
        """The project that the session speaks of."""
        return self.folder / "shop"

    @property
    def session(self) -> Path:
        """The session, as Pi would have left it."""
        return self.folder / "session.jsonl"


def demo_folder(environ: Mapping[str, str]) -> Path:
    """Return where the demo lies unless told otherwise: curator/demo in the person's data folder."""
    home = environ.get("HOME") or str(Path.home())
    chosen = environ.get("XDG_DATA_HOME", "")
    # The rule of that variable: a relative path is to be ignored.
    base = Path(chosen) if chosen.startswith("/") else Path(home) / ".local" / "share"
    return base / "curator" / "demo"


def lay_out(volume: Volume, folder: Path) -> Demo:
    """Make what the demo needs, where it is missing. Raises `InvalidRecordError` for a folder of another purpose."""
    demo = Demo(folder)
    own = {demo.layout.agent.name, demo.project.name, demo.session.name}
    if folder.is_dir() and any(each.name not in own and each.suffix != ".tmp" for each in folder.iterdir()):
        raise InvalidRecordError(folder, "holds something else than a demo", remedy=_REMEDY)
    ensure_directory(volume, folder)
    # Pi takes the nearest folder with a .git for the project: without one here, a repository around it would be that.
    ensure_directory(volume, demo.project / ".git")
    if not demo.session.exists():
        publish(volume, demo.session, _session_of(demo.project))
    if find_service(demo.layout) is None:
        write_service(volume, demo.layout, service_of("external", profile_of(OFFLINE_PROVIDER), None))
    return demo


def _session_of(project: Path) -> bytes:
    """Return the bundled session, said to have been held in `project`."""
    head, _, rest = (resources.files("curator") / _SESSION).read_bytes().partition(b"\n")
    header = parse(head)
    assert isinstance(header, dict)
    return compact(header | {"cwd": str(project)}).encode() + b"\n" + rest
