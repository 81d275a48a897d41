"""Every expected failure, typed by what the caller may do next.

An error states the fact, then the remedy. It names a path, an id or a digest; it never carries evidence, memory text or
a credential. Whatever is not a `CuratorError` is a defect and is allowed to surface as one.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar


class CuratorError(Exception):
    """An expected failure: one line on stderr and an exit status of its own."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 1
    remedy: str = "See `curator status`"

    def __init__(self, fact: str, *, remedy: str | None = None) -> None:
        """Keep the fact; `remedy` replaces the class's own advice where the place of failure knows better."""
        super().__init__(fact)
        self.fact = fact
        if remedy is not None:
            self.remedy = remedy

    def __str__(self) -> str:
        """Return the fact and the remedy as one line."""
        return f"{self.fact}. {self.remedy}".replace("\n", " ")


class UsageError(CuratorError):
    """The command line asks for something that cannot be. Nothing was done."""

    code = "usage"
    exit_status = 2
    remedy = "See `curator --help`"


class InvalidRecordError(CuratorError):
    """One file does not hold what its name promises. It was left as it is; set that one record aside."""

    code = "invalid_record"
    exit_status = 65
    remedy = "The file was kept; mend it, or move it away, and run again"

    def __init__(self, path: Path, fact: str, *, remedy: str | None = None) -> None:
        """Name the file and what is wrong with it, never the value."""
        super().__init__(f"{path}: {fact}", remedy=remedy)
        self.path = path
        self.why = fact


class ConflictError(CuratorError):
    """An immutable path already holds other bytes. Nothing was written; fail closed."""

    code = "conflict"
    exit_status = 65
    remedy = "Nothing was changed; see `curator status`"

    def __init__(self, path: Path, fact: str = "already holds other content") -> None:
        """Name the immutable path."""
        super().__init__(f"{path}: {fact}")
        self.path = path


class UnmatchedStateError(CuratorError):
    """What stands on disk matches no row of the admission table. That job stops; nothing was written."""

    code = "unmatched_state"
    exit_status = 65
    remedy = "Nothing was changed; see `curator jobs show` for that job"


class RefusedError(CuratorError):
    """A rule forbids the step, for good. Nothing was changed."""

    code = "refused"
    exit_status = 65
    remedy = "Nothing was changed"


class NotFoundError(CuratorError):
    """The named thing is not there."""

    code = "not_found"
    exit_status = 66
    remedy = "See `curator jobs list`"


class ConfigError(CuratorError):
    """A configuration is missing or wrong. Mend it and run again; no job was touched."""

    code = "config"
    exit_status = 78
    remedy = "Run `curator config check`"


class UnsupportedStorageError(CuratorError):
    """The folder's filesystem lacks something that correctness needs."""

    code = "unsupported_storage"
    exit_status = 78
    remedy = "Move the agent folder to a local disk"


class ReviewerSetupError(CuratorError):
    """The reviewer cannot be asked: model or credential is missing. Nothing was sent; the job waits."""

    exit_status = 78
    remedy = "Run `curator config check`"

    def __init__(self, code: str, fact: str, *, remedy: str | None = None) -> None:
        """Carry the protocol's failure code: auth_unavailable, model_not_found or model_registry_invalid."""
        super().__init__(fact, remedy=remedy)
        self.setup_code = code


class BusyError(CuratorError):
    """A lock is held by someone alive, or another worker owns the queue. Try again later."""

    code = "busy"
    exit_status = 75
    remedy = "Try again in a moment"


class LeaseLostError(CuratorError):
    """The claim is no longer ours: its lease ran out or its token changed. Stop writing for that job."""

    code = "lease_lost"
    exit_status = 75
    remedy = "The job runs again by itself"


class StorageError(CuratorError):
    """The disk refused: full, read-only, denied or failing. Nothing half-written is visible."""

    code = "storage"
    exit_status = 74
    remedy = "Free space or mend the disk, then run again; nothing accepted is lost"

    def __init__(self, path: Path, error: OSError) -> None:
        """Name the path and the system's own word for the failure."""
        denied = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        remedy = (
            "Check who owns it and what its mode allows, then run again; nothing accepted is lost" if denied else None
        )
        super().__init__(f"{path}: {error.strerror or type(error).__name__}", remedy=remedy)
        self.path = path
        self.errno = error.errno
