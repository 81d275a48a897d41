"""The service's fold: a process of its own that ends, so that the service grows by nothing and waits for nothing.

The library that the database needs takes half a second and 30 MB to load. A process that lives for months and reviews a
few jobs an hour should not carry that.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from curator.model.event import Stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.durable.layout import Layout
    from curator.model.ports import Listener

_NEEDED: Final = (
    *("PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "TMPDIR", "HOME"),
    *("PGPASSFILE", "PGSERVICEFILE", "PGSSLROOTCERT", "PGSSLMODE"),
)
"""No provider's key is handed on: the child asks no model anything."""
_END_S: Final = 5.0
_SAID_CHARS_MAX: Final = 500
BUSY: Final = 75
"""Somebody else folds: what they leave is folded the next time."""


class FoldingChild:
    """At most one child at a time; what it said is told when the next is asked for, or at the end."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Start children with what they need of this environment."""
        self.environ: Final = {name: environ[name] for name in _NEEDED if name in environ}
        self._child: subprocess.Popen[bytes] | None = None

    def start(self, layout: Layout, listener: Listener) -> None:
        """Begin a fold, unless one is under way. Raises nothing: a fold that cannot begin is told."""
        if not self.collect(listener):
            return
        command = (sys.executable, "-P", "-m", "curator.audit", str(layout.agent))
        try:
            self._child = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours
                command,
                env=self.environ,
                cwd=layout.own,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                # A terminal's Ctrl-C is the service's to answer.
                start_new_session=True,
            )
        except OSError as error:
            _tell(listener, f"no process could be started: {error.strerror}")

    def collect(self, listener: Listener) -> bool:
        """Take in a child that has ended, and tell what it complained of; tell whether none is under way."""
        child = self._child
        if child is None:
            return True
        if child.poll() is None:
            return False
        self._child = None
        said = _said(child)
        if child.returncode not in (0, BUSY) or said:
            _tell(listener, said or f"it ended with {child.returncode}")
        return True

    def stop(self) -> None:
        """End what is under way: a fold that did not end was never begun."""
        child = self._child
        if child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        try:
            child.wait(_END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._child = None
        _said(child)


def _said(child: subprocess.Popen[bytes]) -> str:
    assert child.stderr is not None, "it was asked for"
    with child.stderr as pipe:
        os.set_blocking(pipe.fileno(), False)
        raw = pipe.read() or b""
    return " ".join(raw.decode("utf-8", "replace").split())[-_SAID_CHARS_MAX:]


def _tell(listener: Listener, fact: str) -> None:
    remedy = "No job depends on it; the next question folds again, and `curator audit rebuild` begins anew"
    listener.tell(Stopped("audit", "audit", fact, remedy))
