"""What every test of the campaign shares: a scratch folder in memory, and whether there is time for everything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.campaign import Stage
from faults.scenarios import SCENARIOS
from faults.tree import scratch

LONG = "CURATOR_FAULTS"
"""Set to `long` in the environment, it turns the samples into the whole."""


@pytest.fixture
def stage_folder() -> Iterator[Path]:
    folder = scratch()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def stages() -> Iterator[list[Stage]]:
    """Every story, recorded."""
    folders = [scratch() for _ in SCENARIOS]
    yield [Stage(scenario, folder) for scenario, folder in zip(SCENARIOS.values(), folders, strict=True)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def is_long() -> bool:
    return os.environ.get(LONG) == "long"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the whole the time that it takes."""
    if os.environ.get(LONG) == "long":
        for item in items:
            if "fault-injection" in item.path.parts:
                item.add_marker(pytest.mark.timeout(7_200))
