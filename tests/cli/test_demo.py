"""`curator demo`: a whole review in an empty home."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import assert_refused, environ_of, run


def test_an_empty_home_sees_memory_grow_once(tmp_path: Path) -> None:
    environ = environ_of(tmp_path)

    first, second = (run("demo", cwd=tmp_path, environ=environ) for _ in range(2))

    folder = tmp_path / ".local" / "share" / "curator" / "demo"
    assert (first.status, first.err) == (0, "")
    assert first.out.count("\n  + ") == 4
    assert str(folder) in first.out
    assert "curator config init" in first.out
    assert (second.status, second.err) == (0, "")
    assert "\n  + " not in second.out
    assert "nothing new" in second.out
    assert not (tmp_path / ".pi").exists()


def test_a_program_reads_one_document(tmp_path: Path) -> None:
    told = run("demo", "--json", cwd=tmp_path, environ=environ_of(tmp_path)).document

    assert (told["completed"], told["failed"], told["left"]) == (1, 0, 0)
    assert isinstance(told["entries"], list)
    assert len(told["entries"]) == 4


def test_the_next_commands_work_from_where_the_person_is(tmp_path: Path) -> None:
    ran = run("demo", cwd=tmp_path, environ={**environ_of(tmp_path), "PATH": "/nowhere"})

    (line,) = [line for line in ran.out.splitlines() if " config init " in line]
    words = line.split(" config init ")[0].split()
    assert Path(words[0]).is_absolute()
    checked = subprocess.run(
        [*words, "config", "init"], env=environ_of(tmp_path), cwd=tmp_path, capture_output=True, check=False
    )
    assert checked.returncode == 0


@pytest.mark.parametrize(
    ("value", "base"), [("{home}/data", "data"), ("relative", ".local/share"), ("", ".local/share")]
)
def test_the_data_folder_of_the_person_is_honoured(tmp_path: Path, value: str, base: str) -> None:
    chosen = value.format(home=tmp_path)

    ran = run("demo", cwd=tmp_path, environ=environ_of(tmp_path, XDG_DATA_HOME=chosen))

    assert ran.status == 0
    assert (tmp_path / base / "curator" / "demo" / "session.jsonl").is_file()


def test_another_folder_may_be_named_and_a_foreign_one_is_refused(tmp_path: Path) -> None:
    ran = run("demo", "--keep", "here", cwd=tmp_path, environ=environ_of(tmp_path))
    assert ran.status == 0
    assert (tmp_path / "here" / "session.jsonl").is_file()

    foreign = tmp_path / "notes"
    foreign.mkdir()
    (foreign / "diary.txt").touch()
    assert_refused(run("demo", "--keep", foreign, cwd=tmp_path, environ=environ_of(tmp_path)), 65, foreign, "--keep")
    assert [path.name for path in foreign.iterdir()] == ["diary.txt"]


def test_the_demo_s_session_can_be_enqueued_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    environ = environ_of(tmp_path)
    run("demo", "--keep", folder, cwd=tmp_path, environ=environ)

    ran = run(
        *("enqueue", "--session", folder / "session.jsonl", "--agent-dir", folder / "agent", "--json"),
        cwd=tmp_path,
        environ=environ,
    )

    assert ran.document["result"] == "duplicate"
    assert ran.document["projectRoot"] == str(folder / "shop")


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    taken = tmp_path / ".local"
    taken.touch()

    ran = run("demo", cwd=tmp_path, environ=environ_of(tmp_path))

    assert ran.status in (65, 74)
    assert ran.err.startswith(f"curator: {taken}")
