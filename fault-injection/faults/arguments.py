"""Mutants that may live, each with its reason. Whoever adds one argues it here, in a sentence that can be wrong.

A mutant that can leave no state which the healthy run cannot is equivalent by that proof and needs no argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from faults.mutants import DROP_BYTES, DROP_NAMES, SWAP

if TYPE_CHECKING:
    from faults.mutants import Mutant

_HEARTBEAT: Final = (
    "a heartbeat promises nothing: the next one says it anew, and a stale one only shows a worker offline"
)
_SEED: Final = "a shadow that is lost is copied anew before anything changes it: `admit` flushes the branch first"
_LEGACY: Final = "the budget file is never deleted, so what was counted from it and lost is counted again at each start"
_COMES_BACK: Final = "a name that comes back is met again by the next recovery, which drops it again"
_REPAIRED: Final = "whoever waits without a card is answered by the mailbox's repair at the next start"
_WITH_ITS_FOLDER: Final = "the folder's own name goes next, and whatever stands in it with that"
_EMPTY: Final = "an empty folder says nothing, and is made again by whoever needs it"

ARGUED: Final[tuple[tuple[str, str, str], ...]] = (
    # What is dropped or swapped, a part of where, and why it may live.
    (DROP_BYTES, "store/heartbeats.py", _HEARTBEAT),
    (DROP_NAMES, "store/heartbeats.py", _HEARTBEAT),
    (SWAP, "HeartbeatStore", _HEARTBEAT),
    (SWAP, "Beating", _HEARTBEAT),
    (DROP_BYTES, "durable/probe.py", "the probe's files are removed again, whatever became of them"),
    (DROP_NAMES, "ProjectStore.seed", _SEED),
    (DROP_NAMES, "ProjectStore.initialise", "a shadow's project record says what the real one says, and is made again"),
    (DROP_NAMES, "publish_legacy", _LEGACY),
    (
        DROP_NAMES,
        "ProjectStore.flush_branches",
        "a branch that goes back costs the call that judged it: `admit` flushes what it finds, and begins from that",
    ),
    (DROP_NAMES, "ensure_passing_directory", _EMPTY),
    (
        DROP_NAMES,
        "_create < durable/publish.py:ensure_directory < store/decisions.py:DecisionStore.record_result",
        "the folder of locks is made next, and the flush of its parent settles both",
    ),
    (DROP_NAMES, "ensure_directory < store/spool/recovery.py", _EMPTY),
    (DROP_NAMES, "ensure_directory < store/spool/moves.py:Spool.hold", "`prepare` flushes the same name at each start"),
    (DROP_NAMES, "ensure_directory < store/spool/moves.py:Spool.prepare", "its callers flush it before a job goes in"),
    (DROP_NAMES, "store/spool/recovery.py:_drop", _COMES_BACK),
    (SWAP, "store/spool/recovery.py:_drop", _COMES_BACK),
    (SWAP, "store/spool/recovery.py:_move_aside: unlink <> sync_directory", _COMES_BACK),
    (DROP_NAMES, "store/spool/retention.py:_forget", "what comes back is old, and is let go again the next time"),
    (SWAP, "store/spool/retention.py:_forget", "what comes back is old, and is let go again the next time"),
    (DROP_NAMES, "AttemptStore.advance", "for a loser whose winner died between link and flush: it takes two at once"),
    (DROP_NAMES, "store/attempts/closing.py", "a closed day that is lost is closed again from its parts"),
    (SWAP, "App.review_once: recover <> drain", "in these stories recovery and drain touch different jobs"),
    (SWAP, "DecisionStore.record_result: ensure_", _EMPTY),
    (
        SWAP,
        "decide: take_base <> DecisionStore.elect",
        "what is elected was judged on a base published before its call",
    ),
    (SWAP, "drain: try_take <> take_turn", "what a claim does last is to remove a staged name, which nobody reads"),
    (SWAP, "decide: take_base <> Spool.reclaim", "both only come before the reservation, and neither needs the other"),
    (SWAP, "_review: open_memory <> decide", _SEED),
    (SWAP, "ProjectStore._take: replace <> ensure_directory", _EMPTY),
    (
        SWAP,
        "ProjectStore.restore: replace <> publish",
        "an undo is two writes by the protocol, and neither order is whole",
    ),
    (SWAP, "Spool._move: keep_time <> link", "a cut between them costs a job its place in the queue, nothing else"),
    (SWAP, "answer_over: answer <> Spool.retire", _REPAIRED),
    (SWAP, "close_failed: answer_failed <> Spool.retire", _REPAIRED),
    (SWAP, "close_failed: FinishedStore.close <> answer_failed", "both only need the outcome, which stands before"),
    (SWAP, "cancel_job: Spool.release <> accept", "both only come before the claim, and neither needs the other"),
    (SWAP, "maintain: recover <> apart", "recovery's parts concern different folders"),
    (SWAP, "recover: recover <> apart", "recovery's parts concern different folders"),
    (SWAP, "replay_job: Mailbox.register <> Spool.enqueue", "the command had not said that the job was accepted"),
    (SWAP, "retire_evidence", "evidence goes only when nothing asks for it any more, in whatever order"),
    (
        DROP_NAMES,
        "Inbox._set_aside",
        "setting the file itself aside flushes the same folder next, before the inbox lets go",
    ),
    (DROP_NAMES, "store/trajectory_erasure.py:_clear", _WITH_ITS_FOLDER),
    (SWAP, "store/trajectory_erasure.py:_clear", _WITH_ITS_FOLDER),
    (
        SWAP,
        "Growth._append: Growth._add <> settle",
        "a checkpoint may stand before its node, which the inbox still has",
    ),
    (
        SWAP,
        "Inbox.receive: Ledger.append <> Inbox._ask",
        "both come before the inbox lets go, and neither needs the other",
    ),
    (SWAP, "forget: _cleanse <> _cleanse_waiting", "both come after the tombstone, and neither needs the other"),
)


def argument_for(mutant: Mutant) -> str:
    """Return why a mutant may live, or nothing."""
    for kind, where, why in ARGUED:
        if kind == mutant.kind and where in mutant.where:
            return why
    return ""


_RESTS: Final = (
    "no text is known whose sanitizing does not rest at once; the question is for one that is found some day"
)
_GATES_ASK: Final = "the rules take their words from sanitized evidence, and the gates ask again"
_TABLES: Final = "only a wrong table can lead elsewhere, and each of those is planted as one of its own"
_ASKED_AGAIN: Final = "what is proposed is asked for secrets again"
SPARE_GUARDS: Final = {
    "admission/apply.py unknown_entry: no is_sanitized(entry_id)": (
        "an id has no character that sanitizing takes, and the next question knows every token that it knows"
    ),
    "pi/evidence.py _cut: no is_sanitized(shortened)": _RESTS,
    "model/feedback.py shown_changes: no sanitize(f'{entry.importance}: {entry.text}')": (
        "what it joins is sanitized already, and a word before it makes no secret"
    ),
    "reviewer/providers/offline.py prepare: no redact(brief.job.transcript)": (
        "the rules read the brief; of this prompt only a digest is kept"
    ),
    "reviewer/rules/proposal.py is_fit: no contains_secret(text)": _ASKED_AGAIN,
    "reviewer/rules/proposal.py is_fit: no is_sanitized(text)": _GATES_ASK,
    "reviewer/rules/proposal.py _replace: no is_sanitized(text)": _GATES_ASK,
    "reviewer/rules/standing.py _tells_secret: no contains_secret(message.text)": _ASKED_AGAIN,
    "reviewer/rules/standing.py _topic: no contains_secret(text)": _ASKED_AGAIN,
    "store/attempts/journal.py _prove_arrow: no refusal if leads_to is not stands": _TABLES,
    "store/attempts/journal.py advance: no _prove_arrow(record)": _TABLES,
    "workflow/attempt.py _failed: no sanitize(message)": (
        "a message is in words of our own, and what it takes from elsewhere was asked for what may not be kept"
    ),
    "workflow/admission.py roll_forward: no refusal if done is None": "then the next question fails on it, and the job rests",
}
"""Guards that may be taken away unnoticed, by their names."""
