"""What every test of the campaign shares: a scratch folder in memory, gone afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.tree import scratch


@pytest.fixture
def stage_folder() -> Iterator[Path]:
    folder = scratch()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
