"""Every bound, with its reason. Characters are UTF-16 code units, as the protocol counts, unless a name says bytes."""

from __future__ import annotations

from typing import Final

INT_MAX: Final = 2**53 - 1
"""The largest integer that a JavaScript reader keeps exactly."""

# Evidence: the privacy boundary of the protocol (interop.md 4.2).
EVIDENCE_TURNS_MAX: Final = 12
EVIDENCE_CHARS_MAX: Final = 32_000

# Trajectories: ours.
NODE_CHARS_MAX: Final = 64_000
"""Twice what a review may see at once: what is longer is a pasted file, of which the beginning tells enough."""
SESSION_FILES_MAX: Final = 100_000
"""Fifty sessions a day for five years; to read how each begins takes some ten seconds."""
NODE_BATCH_BYTES: Final = 1_048_576
"""Some thousand nodes: few enough to hold several of them, and enough that handing them on costs little."""
LEAVES_MAX: Final = 10_000
"""Of one session: nobody branches so often, and a file may be hostile."""
CURSORS_MAX: Final = 10_000
"""Of one session, each of another place: likewise."""
TIPS_MAX: Final = 256
"""So many branches of one session may go on without reading it anew."""
NODE_LINE_BYTES_MAX: Final = 393_216
"""A node's canonical line: its text with every character escaped, and its ids."""

# Plans of old sessions.
PLAN_INPUTS_MAX: Final = 20_000
PLAN_WINDOWS_MAX: Final = 10_000
"""Of one plan: at a minute each a week of calls."""
PLAN_BYTES_MAX: Final = 33_554_432
"""A plan of as many files, and as many that it leaves out."""
PLAN_WINDOWS_BYTES_MAX: Final = 16_777_216

# A trajectory's ledger.
SEGMENT_BYTES_MAX: Final = 500_000
"""Of lines in one file of the ledger, before it is packed: one is read whole to show one node, and packs below the bound
of what is published."""
MERGED_AT_ONCE: Final = 8
"""So many files of one size become one: few enough that a push that has to do it is not slow, enough that few do."""
COVERED_AT_ONCE_MAX: Final = 4_096
SOURCE_LEAVES_MAX: Final = 4_096
"""Ends of one session file; Pi has one, and one more for each time that somebody went back in it."""
SOURCE_BYTES_MAX: Final = 4_194_304
"""How far one session file was read: two lists of ends at their longest."""
WAITING_MAX: Final = 1_024
"""Deltas whose beginning nobody has sent yet: whoever sends so many will not send it."""
WAITING_MS: Final = 2_592_000_000
"""How long they wait: who has not opened the session in 30 days sends it anew when it is opened."""
DELTA_BYTES_MAX: Final = 8_388_608
"""One turn with the files that its tools returned. More is a snapshot, or several deltas."""
DELTA_ENTRIES_MAX: Final = 1_024
DELTA_OVERLAP_MAX: Final = 64
"""So much may be sent again by whoever is not sure; who sends more begins at the root each time."""
INBOX_MAX: Final = 4_096
INBOX_AT_ONCE_MAX: Final = 64
"""Of one round: the rest waits for the next, and a job that comes meanwhile does not."""
FOUND_MAX: Final = 200
"""Of one search."""

# Memory (interop.md 4.1, 7.5, 8.3).
ENTRY_CHARS_READ_MAX: Final = 4_000
"""A job may carry such an entry; nothing of ours creates one."""
ENTRY_CHARS_MAX: Final = 800
JOB_ENTRIES_MAX: Final = 512
JOB_CHARS_MAX: Final = 64_000
BRANCH_ENTRIES_MAX: Final = 200
MEMORY_CHARS_MAX: Final = 6_000
MEMORY_POLICY_VERSION: Final = 2
GENERATION_MAX: Final = 10_000

# Proposals (interop.md 4.4, 8.5, W18: the store is narrower than the wire).
OPERATIONS_MAX: Final = 4
MERGE_IDS_MIN: Final = 2
MERGE_IDS_WIRE_MAX: Final = 16
MERGE_IDS_MAX: Final = 8
REVISION_CHANGES_MAX: Final = 32
MESSAGES_MAX: Final = 32
MESSAGE_CHARS_MAX: Final = 4_096
FAILURE_MESSAGE_CHARS_MAX: Final = 2_000

# Whole files, in bytes (interop.md 1).
JOB_BYTES_MAX: Final = 131_072
QUEUED_BYTES_MAX: Final = 132_096
RUNNING_BYTES_MAX: Final = 135_168
OUTCOME_BYTES_MAX: Final = 16_384
OUTCOME_RECORD_BYTES_MAX: Final = 17_408
DEAD_LETTER_BYTES_MAX: Final = 133_120
DAY_BYTES_MAX: Final = 16_777_216
IDENTITY_BYTES_MAX: Final = 4_096
CHECKPOINT_BYTES_MAX: Final = 196_608
PROJECT_FILE_BYTES_MAX: Final = 262_144
JOB_ROOM_BYTES: Final = 1_048_576
"""What a job may still write once it is paid for: two checkpoints, intent, branch and revision at their widest."""
PUBLISHED_BYTES_MAX: Final = 2 * PROJECT_FILE_BYTES_MAX
"""No immutable record is larger: the widest is a base, a whole branch and a little more."""
PENDING_BYTES_MAX: Final = 1_024
READY_BYTES_MAX: Final = 65_536
WORKER_BYTES_MAX: Final = 16_384
RUNTIME_BYTES_MAX: Final = 8_192
SERVICE_JSON_BYTES_MAX: Final = 65_536
CURATOR_TOML_BYTES_MAX: Final = 65_536
LEGACY_BUDGET_BYTES_MAX: Final = 4_096
JOURNAL_BYTES_MAX: Final = 16_384
"""One record of our attempt journal; the widest holds one normalized provenance."""
CLOSED_DAY_BYTES_MAX: Final = 67_108_864
"""A day's attempts in one file: 100,000 of them settled, or a tenth as many that nobody knows the end of."""
CLOSING_BYTES_MAX: Final = 32_768
AUDIT_BYTES_MAX: Final = 1_073_741_824
"""The audit's database: some two million finished jobs."""
AUDIT_WAIT_MS: Final = 5_000
"""How long a question waits for whoever folds."""
AUDIT_ROWS_MAX: Final = 10_000
AUDIT_SQL_MS_MAX: Final = 10_000
"""Of one statement that a person thought out."""
REPORT_DAYS_MAX: Final = 90
"""As many bars as a wide page shows apart; of the days before only how many there are is told."""
REPORT_ROWS_MAX: Final = 100
"""Of one table of the page: more is a question for `curator audit`."""
REPORT_CALLS_MAX: Final = 20_000
"""The latest of which a median is taken."""
REPORT_PROJECTS_MAX: Final = 12
"""Whose history a page of all projects tells: those that changed last."""
REPORT_REVISIONS_MAX: Final = 200
"""Of one branch, where the page is about its project; of each of several a tenth."""
LOCK_BYTES_MAX: Final = 256

# How many (interop.md 1).
SPOOL_NAMES_MAX: Final = 10_000
QUEUED_MAX: Final = 9_000
"""Below the extension's own bound, so that its session start never fails."""
OUTCOMES_KEPT_MAX: Final = 500
DIRECTORY_NAMES_MAX: Final = 20_000
INTENTS_MAX: Final = 256
PENDING_MAX: Final = 1_024
DAY_ATTEMPTS_MAX: Final = 20_000
CLOSED_DAY_ATTEMPTS_MAX: Final = 200_000
RETIRED_AT_ONCE_MAX: Final = 1_000
"""Of one kind in one round of maintenance: what is left waits for the next, and the service goes on meanwhile."""
RUNTIMES_MAX: Final = 4_096

# Time, in milliseconds (interop.md 3, 4.5, 4.6, 7.1, 11).
LOCK_WAIT_MS: Final = 5_000
LOCK_STALE_MS: Final = 30_000
LOCK_BREAKER_STALE_MS: Final = 1_000
LEASE_MS: Final = 300_000
LEASE_MS_MAX: Final = 86_400_000
RETRY_BASE_MS: Final = 5_000
RETRY_CONFIG_BASE_MS: Final = 60_000
EQUAL_FAILURES_MAX: Final = 10
"""So many jobs that fail alike in a row are nobody's bad luck any more: the queue pauses."""
RETRY_MS_MAX: Final = 3_600_000
RETRY_CONFIG_MS_MAX: Final = 300_000
"""What somebody has to mend is looked at again so soon after: it costs no call, and every job waits for that look."""
MODEL_TIMEOUT_MS: Final = 300_000
HEARTBEAT_MS: Final = 10_000
WORKER_FRESH_MS: Final = 30_000
WORKER_WORKING_FRESH_MS: Final = 360_000
PROOF_MS: Final = 604_800_000
"""How long receipts, tombstones and acceptances stay: Pi drops a waiting card after as long (interop.md 10)."""
BEAT_MS: Final = 86_400_000
"""How long a heartbeat stays after its process."""
STAGED_LEFTOVER_MS: Final = 3_600_000
"""A staged file older than this belongs to a dead writer: no write takes an hour."""

# Attempts.
ATTEMPTS_MAX: Final = 3
SUPERSEDED_MAX: Final = 2
"""After two results whose base moved away the third is elected as it is, and admission says stale."""
OUTPUT_TOKENS_MAX: Final = 2_048
HOLD_OVERHEAD_TOKENS: Final = 4_096

ANSWER_BYTES_MAX: Final = 262_144
"""More than this from a model is not an answer: four operations fit in a fiftieth of it."""

CONCURRENCY_MAX: Final = 64
"""More threads than this wait for each other's flushes."""
SERVICE_POLL_MS: Final = 15_000
MAINTENANCE_MS_MIN: Final = 60_000
MAINTENANCE_MS_MAX: Final = 3_600_000
