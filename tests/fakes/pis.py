"""The real Pis to test with: those that CURATOR_PI names, separated as on PATH, else the one on PATH."""

import os
import shutil
from typing import Final

import pytest

PIS: Final = tuple(
    path for path in os.environ.get("CURATOR_PI", shutil.which("pi") or "").split(os.pathsep) if shutil.which(path)
)
WHY: Final = "no Pi: install @earendil-works/pi-coding-agent, or name it with CURATOR_PI"
EACH_PI: Final = [pytest.param(pi, id=f"pi{number}") for number, pi in enumerate(PIS, 1)] or [
    pytest.param("", marks=pytest.mark.skip(reason=WHY), id="none")
]
