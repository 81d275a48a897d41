"""Who a project is, and that it never silently becomes another one."""

import contextlib
import os
from pathlib import Path

import pytest

from curator.errors import NotFoundError, RefusedError, StorageError
from curator.model.ids import ProjectKey, project_key
from curator.pi.project import check_recorded_root, find_agent_dir, find_project


@pytest.fixture(name="tmp")
def _tmp(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.mark.parametrize(
    ("environ", "given", "expected"),
    [
        ({"HOME": "/home/u"}, None, "/home/u/.pi/agent"),
        ({"HOME": "/home/u", "PI_CODING_AGENT_DIR": ""}, None, "/home/u/.pi/agent"),
        ({"HOME": "/home/u", "PI_CODING_AGENT_DIR": "/srv/agent/"}, None, "/srv/agent"),
        ({"HOME": "/home/u", "PI_CODING_AGENT_DIR": "~/other"}, None, "/home/u/other"),
        ({"HOME": "/home/u", "PI_CODING_AGENT_DIR": "~"}, None, "/home/u"),
        ({"HOME": "/home/u", "PI_CODING_AGENT_DIR": "/srv/agent"}, "~/given", "/home/u/given"),
        ({"HOME": "/home/u"}, "/a/../b", "/b"),
    ],
)
def test_the_agent_folder_is_found_as_pi_finds_it(environ: dict[str, str], given: str | None, expected: str) -> None:
    assert find_agent_dir(environ, given) == Path(expected)


def test_a_relative_agent_folder_is_made_absolute(tmp: Path) -> None:
    with contextlib.chdir(tmp):
        assert find_agent_dir({"HOME": "/home/u", "PI_CODING_AGENT_DIR": "agent"}) == tmp / "agent"
        assert find_agent_dir({"HOME": "/home/u"}, "~else/agent") == tmp / "~else" / "agent"


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_nearest_folder_with_git_is_the_root(tmp: Path, kind: str) -> None:
    inner = tmp / "outer" / "project" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp / "outer" / ".git").mkdir()
    git = tmp / "outer" / "project" / ".git"
    git.mkdir() if kind == "folder" else git.write_text("gitdir: ../elsewhere\n")

    project = find_project(inner)

    assert project.root == tmp / "outer" / "project"
    assert project.key == project_key(str(project.root))


def test_without_git_the_folder_itself_is_the_root(tmp: Path) -> None:
    (tmp / "notes").mkdir()
    assert find_project(tmp / "notes").root == tmp / "notes"


def test_a_project_opened_through_a_link_is_the_same_project(tmp: Path) -> None:
    (tmp / "real" / ".git").mkdir(parents=True)
    (tmp / "home").symlink_to(tmp / "real")
    assert find_project(tmp / "home") == find_project(tmp / "real")


@pytest.mark.parametrize(("one", "other"), [("新聞", "暫存"), ("Проект", "Привет"), ("a-b", "a/b")])
def test_names_of_equal_shape_are_different_projects(tmp: Path, one: str, other: str) -> None:
    for name in (one, other):
        (tmp / name / ".git").mkdir(parents=True)
    assert find_project(tmp / one).key != find_project(tmp / other).key


def test_a_linked_worktree_is_a_project_of_its_own(tmp: Path) -> None:
    (tmp / "main" / ".git").mkdir(parents=True)
    (tmp / "tree").mkdir()
    (tmp / "tree" / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    assert find_project(tmp / "tree").key != find_project(tmp / "main").key


def test_a_folder_that_is_gone_is_not_guessed(tmp: Path) -> None:
    (tmp / ".git").mkdir()
    with pytest.raises(NotFoundError, match="is not there"):
        find_project(tmp / "moved-away")


def test_a_link_that_leads_to_itself_is_reported(tmp: Path) -> None:
    (tmp / "loop").symlink_to(tmp / "loop")
    with pytest.raises(StorageError):
        find_project(tmp / "loop")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_denied_is_not_absent(tmp: Path) -> None:
    (tmp / "locked" / "project").mkdir(parents=True)
    (tmp / "locked").chmod(0o000)
    try:
        with pytest.raises(StorageError):
            find_project(tmp / "locked" / "project")
    finally:
        (tmp / "locked").chmod(0o700)


def test_a_path_that_is_not_unicode_is_refused(tmp: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp) + b"/caf\xe9"))
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("this file system holds Unicode names only")
    with pytest.raises(RefusedError, match="not Unicode"):
        find_project(odd)


def test_a_recorded_root_that_stands_is_there(tmp: Path) -> None:
    assert check_recorded_root(str(tmp), project_key(str(tmp)))


def test_a_recorded_root_that_is_gone_keeps_its_key(tmp: Path) -> None:
    gone = str(tmp / "gone")
    assert not check_recorded_root(gone, project_key(gone))


def test_a_recorded_root_that_became_a_link_is_refused(tmp: Path) -> None:
    root, elsewhere = tmp / "project", tmp / "elsewhere"
    root.mkdir()
    key = find_project(root).key
    root.rename(elsewhere)
    root.symlink_to(elsewhere)

    with pytest.raises(RefusedError, match="another project") as caught:
        check_recorded_root(str(root), key)

    assert str(elsewhere) in caught.value.fact
    assert "Put the folder back" in caught.value.remedy


def test_a_record_that_contradicts_itself_is_refused(tmp: Path) -> None:
    with pytest.raises(RefusedError, match="does not belong"):
        check_recorded_root(str(tmp), ProjectKey("0" * 24))
