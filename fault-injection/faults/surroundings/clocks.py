"""A real process whose clock jumps while it runs: libfaketime, told anew by a file; its monotonic time stays the true one."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

_ENVIRON: Final = {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def why_no_jump() -> str:
    """Say why no clock can jump here, or nothing where one can."""
    return "" if shutil.which("faketime") else "faketime is not installed"


@dataclasses.dataclass(frozen=True, slots=True)
class JumpingClock:
    """The clock of the processes that have its environment."""

    file: Path

    def set(self, offset_ms: int) -> None:
        """Let the clock stand so far from the true one, from its next look on."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{offset_ms / 1000:+.3f}\n", "ascii")
        new.replace(self.file)

    def environ(self) -> dict[str, str]:
        """Return what makes a process go by this clock."""
        script = 'printf %s "$LD_PRELOAD"'
        shown = subprocess.run(
            ["faketime", "-m", "-f", "+0s", "sh", "-c", script],
            env=os.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return {**_ENVIRON, "LD_PRELOAD": shown.stdout, "FAKETIME_TIMESTAMP_FILE": str(self.file)}
