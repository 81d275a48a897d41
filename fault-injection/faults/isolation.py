"""Whose files a job touches: the kernel is asked, over whole runs, and every path is laid to a project or to nobody.

A job is carried by one thread from the moment when that thread gives it its running name to the removal of that name; so
whatever that thread names to the kernel in between, it names for that job. The order of the queue, recovery and
maintenance look at everybody's files, and do so outside such a span.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final

from tests.acceptance.processes import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from curator.model.job import Job

STRACE: Final = ("strace", "-f", "-qq", "-y", "-s", "0", "--seccomp-bpf", "-e", "trace=%file", "-o")
"""Every call that names a path, of all threads and children, into the file that is named next."""
_LINE: Final = re.compile(r"(\d+) +(\w+)\((.*)")
_PATH: Final = re.compile(r'(?:(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"([^"]*)"')
_JOB: Final = re.compile(r"review_[0-9a-f]{40}")
_RUNNING: Final = re.compile(r".*/review-spool/running/(review_[0-9a-f]{40})\.json")
_GIVES: Final = re.compile(r"rename.*|link(at)?")
_TAKES: Final = re.compile(r"unlink(at)?")


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """What one thread named to the kernel while it carried one job."""

    job: str
    thread: int
    first: int
    """The line of the log at which it began."""
    paths: dict[str, int] = dataclasses.field(default_factory=dict)
    """Each path, and the last line at which it was named."""

    @property
    def last(self) -> int:
        """The line of the log at which it ended."""
        return max(self.paths.values(), default=self.first)

    def overlaps(self, other: Span) -> bool:
        """Tell whether both jobs were under way at one time."""
        return self.first < other.last and other.first < self.last


@dataclasses.dataclass(frozen=True, slots=True)
class Owners:
    """Whose is what: of a path under the agent folder or under a project's own folder."""

    place: Place
    projects: Mapping[str, Path]
    """The folder that each project's memory is about, by its key."""
    jobs: Mapping[str, Job]

    def of(self, path: str) -> set[str]:
        """Return the projects that a path belongs to; none where it is everybody's.

        A project owns its store, that of shadow mode, what a person decided about it, the folder that it is about, and
        whatever has the id of one of its jobs in its name or in that of a folder above.
        """
        parts = [part for each in path.split("/") for part in (each, each.removesuffix(".json"))]
        found = {key for key in self.projects if key in parts}
        found |= {key for key, root in self.projects.items() if f"{path}/".startswith(f"{root}/")}
        named = {job for part in parts for job in _JOB.findall(part)}
        return found | {str(self.jobs[job].project_key) for job in named if job in self.jobs}


def spans(log: Path) -> list[Span]:
    """Return what each thread named for each job, in the order of their beginnings."""
    found: list[Span] = []
    under_way: dict[int, Span] = {}
    for number, (thread, call, paths) in enumerate(_calls(log)):
        running = _RUNNING.fullmatch(paths[-1]) if paths else None
        if running is not None and _GIVES.fullmatch(call):
            carried = under_way.get(thread)
            if carried is None or carried.job != running[1]:
                under_way[thread] = Span(running[1], thread, number)
                found.append(under_way[thread])
        carried = under_way.get(thread)
        if carried is not None:
            carried.paths.update(dict.fromkeys(paths, number))
            if running is not None and _TAKES.fullmatch(call):
                del under_way[thread]
    return found


def trespasses(found: list[Span], owners: Owners) -> list[str]:
    """Say where a job of one project named a path of another."""
    return [
        f"{span.job} of {owners.jobs[span.job].project_key} touched what is of {' and '.join(sorted(others))}: {path}"
        for span in found
        for path in span.paths
        if (others := owners.of(path) - {str(owners.jobs[span.job].project_key)})
    ]


def _calls(log: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield thread, call and the paths that it names; what a call came to does not matter, it was asked for."""
    for line in log.read_text("utf-8", "replace").splitlines():
        found = _LINE.match(line)
        if found is not None:
            paths = [_absolute(folder, path) for folder, path in _PATH.findall(found[3])]
            yield int(found[1]), found[2], paths


def _absolute(folder: str, path: str) -> str:
    return path if path.startswith("/") or not folder else f"{folder}/{path}"
