"""`/memory undo` of real Pi takes a promotion back, whole: to the extension it is a review like any other.

The extension is on no registry: a checkout of it is named by CURATOR_NO_FORGETTI, and without one this skips.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.cli.commands import Home, make_home
from tests.fakes.pis import EACH_PI
from tests.session_lines import assistant, header, user, write

EXTENSION: Final = Path(os.environ.get("CURATOR_NO_FORGETTI", "")) / "src" / "index.ts"
pytestmark = pytest.mark.skipif(
    not EXTENSION.is_file(), reason="no checkout of the No Forgetti extension: name it with CURATOR_NO_FORGETTI"
)


def told(home: Home, pi: str, command: str) -> str:
    """Give real Pi, with the extension, a command of the extension; say yes to what it asks, and return what it says."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home.path),
        "PI_CODING_AGENT_DIR": str(home.layout.agent),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
    }
    with subprocess.Popen(
        [pi, "--mode", "rpc", "-e", str(EXTENSION)],
        env=environ,
        cwd=home.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        assert child.stdin is not None
        child.stdin.write(json.dumps({"id": "1", "type": "prompt", "message": command}) + "\n")
        child.stdin.flush()
        try:
            for event in events(child):
                if event.get("method") in ("confirm", "select"):
                    answer = {"type": "extension_ui_response", "id": event["id"], "confirmed": True}
                    child.stdin.write(json.dumps(answer) + "\n")
                    child.stdin.flush()
                if event.get("method") == "notify":
                    return str(event["message"])
        finally:
            child.stdin.close()
    return "nothing"


def events(child: subprocess.Popen[str]) -> Iterator[dict[str, object]]:
    assert child.stdout is not None
    for line in child.stdout:
        value = json.loads(line)
        if value.get("type") == "extension_ui_request":
            yield value


@pytest.mark.parametrize("pi", EACH_PI)
def test_an_undo_in_pi_takes_a_promotion_back(tmp_path: Path, pi: str) -> None:
    home = make_home(tmp_path)
    home.enqueue("Remember: never commit on Fridays.")
    home.review()
    folder = home.layout.agent / "sessions" / "--shop--"
    folder.mkdir(parents=True)
    said = (user("u", None, "Always run the tests with pytest -n 2."), assistant("a", "u", "Yes."))
    write(folder / "old.jsonl", header(cwd=str(home.project)), *said)
    plan_id = str(home.run("backfill", "plan", "--json").document["id"])
    assert home.run("backfill", "run", plan_id).status == 0
    assert home.run("backfill", "promote", plan_id, "--yes").status == 0
    assert "pytest -n 2" in home.run("memory", "show").out

    answer = told(home, pi, "/memory undo")

    assert "undone" in answer
    shown = home.run("memory", "show").out
    assert "pytest -n 2" not in shown
    assert "commit on Fridays" in shown
    assert home.run("verify").status == 0
    assert home.run("backfill", "status", plan_id, "--json").document["rolledBack"] == 1
