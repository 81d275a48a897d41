"""Which sessions are a project's: the header decides, and what is left out is counted."""

import os
from pathlib import Path

import pytest

from curator.errors import RefusedError
from curator.pi.project import Project, find_project
from curator.pi.sessions import Doubt, Found, Origin, find_sessions, find_sessions_root, folder_name
from tests.session_lines import assistant, header, lines, user

TALK = (user("u1", None, "Use make check."), assistant("a1", "u1", "Noted."))


class Scene:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "sessions"
        self.place = folder / "proj"
        (self.place / ".git").mkdir(parents=True)
        self.project: Project = find_project(self.place)
        self.count = 0

    def lay(
        self, cwd: Path | str | None, *, folder: str | None = None, first: bytes | None = None, **more: str
    ) -> Path:
        """Lay a session into the folder in which Pi would have put it, or into another."""
        self.count += 1
        path = self.root / (folder if folder is not None else folder_name(str(cwd))) / f"{self.count}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = lines(header(cwd=str(cwd) if cwd is not None else None, **more)) if first is None else first
        path.write_bytes(head + lines(*TALK))
        return path

    def find(self, *moved_from: str) -> Found:
        return find_sessions(self.root, self.project, moved_from)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def paths(found: Found) -> list[Path]:
    return [each.path for each in found.sessions]


def test_pi_names_two_folders_alike_and_the_header_tells_them_apart(scene: Scene, tmp_path: Path) -> None:
    other = tmp_path / "a" / "b"
    (other / ".git").mkdir(parents=True)
    (tmp_path / "a-b").mkdir()
    ours = scene.lay(scene.place)
    scene.lay(other, folder=folder_name(str(scene.place)))

    found = scene.find()

    assert folder_name(str(other)) == folder_name(str(tmp_path / "a-b"))
    assert paths(found) == [ours]
    assert found.other_projects == 1


def test_a_session_below_the_root_is_the_projects_unless_a_project_lies_between(scene: Scene) -> None:
    (scene.place / "src").mkdir()
    (scene.place / "vendored" / ".git").mkdir(parents=True)
    below = scene.lay(scene.place / "src")
    scene.lay(scene.place / "vendored")

    found = scene.find()

    assert paths(found) == [below]
    assert found.other_projects == 1


def test_sessions_of_a_place_that_the_project_moved_from_are_taken_when_that_is_told(scene: Scene) -> None:
    (scene.place / "src").mkdir()
    old, below = scene.lay("/gone/old"), scene.lay("/gone/old/src")
    strange = scene.lay("/gone/old/never-there")

    assert paths(scene.find()) == []
    found = scene.find("/gone/old")
    assert sorted(paths(found)) == sorted([old, below])
    assert [(each.path, each.doubt) for each in found.quarantined] == [(strange, Doubt.FOLDER_GONE)]


def test_a_folder_in_the_project_that_is_gone_is_not_guessed(scene: Scene) -> None:
    path = scene.lay(scene.place / "deleted")

    found = scene.find()

    assert paths(found) == []
    assert [(each.path, each.doubt) for each in found.quarantined] == [(path, Doubt.FOLDER_GONE)]


def test_an_unreadable_header_is_listed_in_the_projects_folder_and_counted_elsewhere(scene: Scene) -> None:
    near = scene.lay(scene.place, first=b'{"type":"session","version":3,"id":"x","cw\n')
    scene.lay("/somewhere/else", first=b"\0\0\0\n")
    flat = scene.lay(None, folder="", first=b"{}\n")

    found = scene.find()

    assert [(each.path, each.size, each.doubt) for each in found.quarantined] == [
        (path, path.stat().st_size, Doubt.HEADER) for path in (flat, near)
    ]
    assert found.quarantined_elsewhere == 1
    assert paths(found) == []


def test_a_header_without_a_folder_is_given_to_nobody(scene: Scene) -> None:
    path = scene.lay(None, folder=folder_name(str(scene.place)))

    assert [(each.path, each.doubt) for each in scene.find().quarantined] == [(path, Doubt.NO_FOLDER)]


@pytest.mark.parametrize("cwd", ["relative/place", "/nul\0byte", "C:\\proj"])
def test_a_folder_that_is_none_of_ours_is_another_projects(cwd: str, scene: Scene) -> None:
    scene.lay(cwd, folder="odd")

    assert (paths(scene.find()), scene.find().other_projects) == ([], 1)


@pytest.mark.parametrize(
    "asked",
    [
        "Review job review_" + "0" * 40 + ", up to entry e1, memory branch main.\n\n# Task",
        "Review the entire completed Pi conversation above for durable project memory, including resumed history.",
        "Review the completed conversation above for durable project memory. Return JSON with operations.",
        "Review one bounded completed Pi conversation window for one reusable project-skill change.",
    ],
)
def test_what_a_reviewer_was_asked_is_left_out_with_a_count(asked: str, scene: Scene) -> None:
    path = scene.lay(scene.place)
    path.write_bytes(lines(header(cwd=str(scene.place)), user("u1", None, asked), TALK[1]))
    quoting = scene.lay(scene.place)
    quoting.write_bytes(lines(header(cwd=str(scene.place)), *TALK, user("u2", "a1", asked)))

    found = scene.find()

    assert found.own_reviews == 1
    assert paths(found) == [quoting], "a person may quote it later on"


def test_links_are_not_followed_and_loops_end(scene: Scene, tmp_path: Path) -> None:
    kept = scene.lay(scene.place)
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(kept.read_bytes())
    (scene.root / "link.jsonl").symlink_to(outside)
    (scene.root / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    (scene.root / "again").symlink_to(kept.parent)
    (scene.root / "loop").symlink_to(scene.root)

    found = scene.find()

    assert paths(found) == [kept]
    assert found.links == 4


def test_sessions_behind_a_linked_root_are_found_once(scene: Scene, tmp_path: Path) -> None:
    kept = scene.lay(scene.place)
    (tmp_path / "link").symlink_to(scene.root)

    found = find_sessions(tmp_path / "link", scene.project)

    assert paths(found) == [kept]


def test_a_fork_says_whether_its_parent_is_there_and_nothing_outside_is_looked_at(scene: Scene, tmp_path: Path) -> None:
    parent = scene.lay(scene.place)
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(parent.read_bytes())
    linked = scene.root / "linked.jsonl"
    linked.symlink_to(outside)
    for told in (
        str(parent),
        str(parent.with_name("gone.jsonl")),
        str(outside),
        str(linked),
        f"{scene.root}/../outside.jsonl",
        "C:\\Users\\user\\.pi\\agent\\sessions\\p.jsonl",
        "nul\0byte",
    ):
        scene.lay(scene.place, parentSession=told)

    origins = [each.origin for each in scene.find().sessions]

    assert sorted(origins) == sorted([Origin.NONE, Origin.AVAILABLE, *[Origin.UNAVAILABLE] * 6])


def test_no_folder_means_no_sessions_and_a_pipe_is_none(scene: Scene) -> None:
    assert scene.find() == Found((), ())
    scene.root.mkdir()
    os.mkfifo(scene.root / "pipe.jsonl")
    (scene.root / "note.txt").write_text("no session", "utf-8")

    assert scene.find() == Found((), ())


def test_more_files_than_are_looked_through_are_refused(scene: Scene) -> None:
    scene.lay(scene.place)
    scene.lay(scene.place)

    with pytest.raises(RefusedError, match="more than 1 sessions"):
        find_sessions(scene.root, scene.project, files_max=1)


@pytest.mark.parametrize(
    ("environ", "setting", "place"),
    [
        ({}, None, "/agent/sessions"),
        ({"PI_CODING_AGENT_SESSION_DIR": "/elsewhere"}, "/other", "/elsewhere"),
        ({"HOME": "/home/user"}, "~/talk", "/home/user/talk"),
        ({"HOME": "/home/user"}, 7, "/agent/sessions"),
    ],
)
def test_the_place_of_sessions_is_pis_own(environ: dict[str, str], setting: str | int | None, place: str) -> None:
    assert find_sessions_root(environ, Path("/agent"), setting) == Path(place)
