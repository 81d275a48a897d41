"""Which processes are Pi's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curator.doctor.live import is_pi, live_pi


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pi"], True),
        (["/usr/local/bin/pi", "--continue"], True),
        (["node", "/usr/lib/node_modules/.bin/pi"], True),
        (["/usr/bin/node", "/opt/pi", "-p", "hello"], True),
        (["python", "pi"], False),
        (["vim", "pi"], False),
        (["node", "server.js", "pi"], False),
        ([], False),
    ],
)
def test_a_process_is_known_by_its_title_or_by_the_program_that_it_runs(words: list[str], *, told: bool) -> None:
    assert is_pi(words) is told


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell by ps, without a folder")
def test_a_running_one_is_found_with_its_folder(tmp_path: Path) -> None:
    program = tmp_path / "pi"
    program.symlink_to("/bin/cat")
    pipe = subprocess.PIPE
    with subprocess.Popen([program], stdin=pipe, stdout=pipe, cwd=tmp_path, bufsize=0) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"up\n")
        assert running.stdout.read(3) == b"up\n"
        found = {each.pid: each.folder for each in live_pi()}
        running.stdin.close()

    assert found[running.pid] == tmp_path
    assert os.getpid() not in found
