"""Single corruptions of memory, its history, its admissions and its mailbox, and of the small records beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.digest import digest_of, pretty
from tests.verify.damage import ZERO, Damage, copy, project, ready, receipt, rename, tombstone
from tests.verify.scene import MAIN, Scene, change, put, read, repeat_first, seal, write

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.digest import Json


def _sealed(path: Path, **fields: Json) -> None:
    write(path, seal(read(path) | fields, "tombstoneDigest"))


def _other_receipt(scene: Scene) -> None:
    """Let a receipt prove another outcome, with its binding right."""
    record = read(receipt(scene)) | {"outcomeDigest": ZERO}
    keys = ("transactionId", "jobDigest", "projectKey", "branchName", "baseBranchDigest", "outcomeDigest")
    record["bindingDigest"] = digest_of({"transactionVersion": 1} | {key: record[key] for key in keys})
    write(receipt(scene), record)


def _intent_again(scene: Scene, **fields: Json) -> None:
    """Put an intent of a retired job where its own stood, with every digest in it right."""
    stone, first = read(tombstone(scene)), scene.revisions()[0]
    branch = read(project(scene, "branches", "main.json"))
    left = ("revisionId", "originalIntentDigest", "retiredAt", "tombstoneDigest")
    intent = {key: item for key, item in stone.items() if key not in left} | {"kind": "review-admission"}
    intent |= {"afterBranch": branch, "resultingBranchDigest": digest_of(branch)}
    record = read(first) | {"afterDigest": intent["resultingBranchDigest"]}
    intent["revision"] = {"filename": first.name, "content": pretty(record), "record": record}
    write(
        project(scene, "review-admissions", f"{scene.jobs['applied']}.intent.json"),
        seal(intent | fields, "intentDigest"),
    )


def _begun_elsewhere(scene: Scene) -> None:
    _intent_again(scene)
    tombstone(scene).unlink()
    receipt(scene).unlink()
    change(project(scene, "branches", "main.json"), updatedAt="2026-01-04")


def _completed_nothing(scene: Scene) -> None:
    job = scene.jobs["queued"]
    record: Json = {"version": 1, "kind": "review-admission-complete", "transactionId": job, "intentDigest": ZERO}
    write(project(scene, "review-admissions", f"{job}.complete.json"), record)


def _card_of_nothing(scene: Scene) -> None:
    job, mailbox = scene.jobs["queued"], scene.layout.project(scene.other)
    waits = read(mailbox.pending / f"{job}.json")
    card: dict[str, Json] = {"version": 1, "jobId": job, "jobDigest": waits["jobDigest"], "branchName": MAIN}
    mailbox.ready.mkdir(mode=0o700)
    more: dict[str, Json] = {"status": "noop", "messages": [], "changes": [], "requestedBy": "manual"}
    write(mailbox.ready / f"{job}.json", card | more)


def _move_revision(scene: Scene, index: int, sequence: int) -> None:
    path = scene.revisions()[index]
    change(path, sequence=sequence)
    rename(path, f"{sequence:012d}{path.name[12:]}")


MEMORY: Final = (
    Damage(
        "a project's root",
        "does not lead to its key",
        lambda s: change(project(s, "project.json"), projectRoot="/elsewhere"),
    ),
    Damage(
        "a project's key",
        "another project than its folder",
        lambda s: change(project(s, "project.json"), projectKey="0" * 24),
    ),
    Damage(
        "a branch under another name",
        "another branch than its name",
        lambda s: change(project(s, "branches", "main.json"), name="other"),
    ),
    Damage(
        "a branch with an entry twice",
        "two entries of one id",
        lambda s: repeat_first(project(s, "branches", "main.json"), "entries"),
    ),
    Damage(
        "a branch lost",
        "history of a branch that is not there",
        lambda s: project(s, "branches", "main.json").unlink(),
    ),
    Damage("a revision lost", "belongs", lambda s: s.revisions()[1].unlink()),
    Damage("the first revision lost", "names a revision that is not there", lambda s: s.revisions()[0].unlink()),
    Damage(
        "a revision twice",
        "than its name says",
        lambda s: copy(s.revisions()[4], s.revisions()[4].with_name(f"000000000009{s.revisions()[4].name[12:]}")),
    ),
    Damage("a revision of another number", "than its name says", lambda s: change(s.revisions()[0], sequence=9)),
    Damage("a revision moved", "stands where revision 5 belongs", lambda s: _move_revision(s, 4, 7)),
    Damage("a revision that leads elsewhere", "leads elsewhere", lambda s: change(s.revisions()[0], afterDigest=ZERO)),
    Damage("a revision that began elsewhere", "began elsewhere", lambda s: change(s.revisions()[0], beforeDigest=ZERO)),
    Damage(
        "an undo of nothing", "was no review before it", lambda s: change(s.revisions()[3], reviewRevisionId="0" * 36)
    ),
    Damage(
        "a former state that never was",
        "did not leave it",
        lambda s: put(s.revisions()[1], "changes", 0, "before", "importance", value="low"),
    ),
    Damage("a receipt's binding", "binding digest that is not", lambda s: change(receipt(s), baseBranchDigest=ZERO)),
    Damage(
        "a receipt of other words, sealed",
        "something else than the job's",
        _other_receipt,
    ),
    Damage("a receipt renamed", "than its name says", lambda s: rename(receipt(s))),
    Damage("a receipt lost", "has lost its receipt", lambda s: receipt(s).unlink()),
    Damage(
        "a receipt of another moment",
        "another committedAt",
        lambda s: change(receipt(s, "noop"), committedAt="2026-01-04T00:00:00.000Z"),
    ),
    Damage("a tombstone's digest", "digest that is not its content's", lambda s: change(tombstone(s), status="noop")),
    Damage(
        "a tombstone of another request, sealed",
        "than the job's decision",
        lambda s: _sealed(tombstone(s), requestDigest=ZERO),
    ),
    Damage(
        "a tombstone of another revision, sealed",
        "names a revision that is not there",
        lambda s: _sealed(tombstone(s), revisionId="0" * 36),
    ),
    Damage("an intent beside another's tombstone", "than the one that was retired", _intent_again),
    Damage("an intent that memory left", "neither where it began", _begun_elsewhere),
    Damage(
        "an intent of another revision",
        "name or text is not its record's",
        lambda s: _intent_again(s, revision={"filename": "x", "content": "x", "record": read(s.revisions()[0])}),
    ),
    Damage("a completion of nothing", "of which nothing stands", _completed_nothing),
    Damage("a card of another end", "than the receipt", lambda s: change(ready(s), status="stale", changes=[])),
    Damage(
        "a card that failed", "its outcome that it did not", lambda s: change(ready(s), status="failed", changes=[])
    ),
    Damage("a card of another job", "than is waited for", lambda s: change(ready(s, "noop"), jobDigest=ZERO)),
    Damage("a card of nothing", "of which nothing stands", _card_of_nothing),
    Damage("a card for everybody", "its readers want 0600", lambda s: ready(s).chmod(0o644)),
    Damage("memory for everybody", "may be read by others", lambda s: project(s, "branches", "main.json").chmod(0o644)),
    Damage("a folder for everybody", "that others may enter", lambda s: project(s, "branches").chmod(0o755)),
    Damage(
        "the shadow's receipt lost",
        "has lost its receipt",
        lambda s: (s.layout.shadow_project(s.shadowed).receipts / s.name("shadow")).unlink(),
    ),
    Damage(
        "a heartbeat under another name",
        "than its name says",
        lambda s: rename(next(s.layout.workers.iterdir()), f"{'0' * 24}.json"),
    ),
    Damage("a configuration of no mode", "mode: is none", lambda s: change(s.layout.service_json, mode="x")),
)
