"""`python -m curator.machine` prints what the README shows."""

import subprocess
import sys

from curator.machine.__main__ import diagrams


def test_the_command_prints_the_diagrams_and_the_table() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "curator.machine"], check=True, capture_output=True, text=True
    ).stdout

    assert printed == diagrams()
    assert printed.count("stateDiagram-v2") == 3
    assert "[*] --> reserved: reserve" in printed
    assert "[*] --> queued: enqueue" in printed
    assert "[*] --> pending: index" in printed
    assert "| remove intent, then completion | yes | yes |" in printed
