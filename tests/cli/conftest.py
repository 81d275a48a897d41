"""The command line shows moments by the clock on the wall, so every test here has one wall: UTC."""

import os
import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _wall_in_utc() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()
