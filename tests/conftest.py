"""Fixtures and settings that every test shares."""

import os

from hypothesis import settings

# A deadline measures the machine, not the code. In CI the examples are the same at each run: red means broken, never unlucky.
settings.register_profile("person", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "person")
