"""The shapes of ids, and of what many records have (interop.md 1)."""

from __future__ import annotations

from typing import Final

from curator.model.digest import DIGEST_PATTERN
from curator.model.ids import (
    ATTEMPT_ID_PATTERN,
    BRANCH_NAME_PATTERN,
    DAY_PATTERN,
    ENTRY_ID_PATTERN,
    JOB_ID_PATTERN,
    SAFE_ID_PATTERN,
    WORKER_ID_PATTERN,
)
from curator.model.limits import MESSAGE_CHARS_MAX, MESSAGES_MAX
from curator.verify.shape import listing, matching, one, text

JOB_ID: Final = matching(JOB_ID_PATTERN, "a job id")
ATTEMPT_ID: Final = matching(ATTEMPT_ID_PATTERN, "an attempt id")
DIGEST: Final = matching(DIGEST_PATTERN, "a digest")
BRANCH_NAME: Final = matching(BRANCH_NAME_PATTERN, "a branch name")
PROJECT_KEY: Final = matching(r"[0-9a-f]{16,64}", "a project key")
SESSION_KEY: Final = matching(r"[0-9a-f]{32}", "a session key")
LEASE_TOKEN: Final = matching(r"[0-9a-f]{32}", "a lease token")
WORKER_ID: Final = matching(WORKER_ID_PATTERN, "a worker id")
PROVIDER: Final = matching(WORKER_ID_PATTERN, "a provider's name")
SAFE_ID: Final = matching(SAFE_ID_PATTERN, "a safe id")
ENTRY_ID: Final = matching(ENTRY_ID_PATTERN, "an entry id")
REVISION_ID: Final = matching(r"[a-f0-9-]{36}", "a revision id")
DAY: Final = matching(DAY_PATTERN, "a day")
ONE: Final = one(1)
STATUS: Final = one("applied", "noop", "stale", "rejected")
IMPORTANCE: Final = one("high", "normal", "low")
MESSAGES: Final = listing(text(0, MESSAGE_CHARS_MAX), 0, MESSAGES_MAX)
