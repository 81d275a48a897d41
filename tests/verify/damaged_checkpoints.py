"""Single corruptions of results, decisions, evidence, bases, acceptances and closing records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.digest import digest_of
from curator.model.ids import AttemptId
from tests.verify.damage import ZERO, Damage, decision, drop, rename
from tests.verify.scene import Scene, change, put, read, seal, write

if TYPE_CHECKING:
    from pathlib import Path


def _evidence(scene: Scene) -> Path:
    return scene.layout.evidence_of(scene.jobs["applied"], AttemptId(scene.attempts["applied"].name))


def _other_decision(scene: Scene) -> None:
    """Elect the answer of a job that differs in one number, with every digest in the record right."""
    record = read(decision(scene))
    job, outcome = record["job"], record["outcome"]
    assert isinstance(job, dict)
    assert isinstance(outcome, dict)
    identity = job["id"]
    job = seal({key: item for key, item in job.items() if key != "id"} | {"maxChars": 5999}, "digest")
    outcome |= {"jobDigest": job["digest"]}
    proposal = digest_of({"version": 1} | {key: outcome[key] for key in ("jobId", "jobDigest", "operations")})
    record |= {"job": job | {"id": identity}, "outcome": outcome, "proposalDigest": proposal}
    write(decision(scene), record)


CHECKPOINTS: Final = (
    Damage(
        "a result of another job",
        "digest that is not its content's",
        lambda s: put(s.result("applied"), "job", "digest", value=ZERO),
    ),
    Damage(
        "a result under another attempt",
        "than its name says",
        lambda s: rename(s.result("failed"), f"review_attempt_{'0' * 40}.json"),
    ),
    Damage("another proposal digest", "proposal digest", lambda s: change(decision(s), proposalDigest=ZERO)),
    Damage(
        "a decision of another attempt",
        "than its name says",
        lambda s: rename(decision(s)),
    ),
    Damage(
        "a decision of other words",
        "than its attempt's result",
        _other_decision,
    ),
    Damage(
        "a stray beside results",
        "stops the other worker",
        lambda s: (s.layout.results / s.jobs["applied"] / "x").write_text("x"),
    ),
    Damage(
        "a span elsewhere",
        "other words than were quoted",
        lambda s: put(_evidence(s), "spans", 0, "start", value=0),
    ),
    Damage(
        "a span outside",
        "outside its transcript",
        lambda s: put(_evidence(s), "spans", 0, "end", value=9999),
    ),
    Damage(
        "a span of no operation",
        "an operation that its result does not have",
        lambda s: put(_evidence(s), "spans", 0, "operation", value=3),
    ),
    Damage("evidence of another job", "of another job than its result", lambda s: change(_evidence(s), jobDigest=ZERO)),
    Damage(
        "evidence under another job",
        "holds another attempt than its name says",
        lambda s: rename(_evidence(s), _evidence(s).name.replace(s.jobs["applied"], f"review_{'0' * 40}")),
    ),
    Damage(
        "a base renamed",
        "holds another base",
        lambda s: rename(next((s.layout.bases / s.jobs["rebased"]).iterdir()), f"{ZERO}.json"),
    ),
    Damage(
        "a base of another job",
        "than was accepted",
        lambda s: change(next((s.layout.bases / s.jobs["rebased"]).iterdir()), jobDigest=ZERO),
    ),
    Damage(
        "an acceptance of another job",
        "of another job",
        lambda s: change(s.layout.jobs / s.name("applied"), jobDigest=ZERO),
    ),
    Damage(
        "an acceptance of another authority",
        "names another authority",
        lambda s: change(s.layout.jobs / s.name("applied"), authority="shadow"),
    ),
    Damage(
        "a closing record renamed",
        "than its name says",
        lambda s: rename(s.closing("applied")),
    ),
    Damage(
        "a closing record of another end",
        "another status than the receipt",
        lambda s: change(s.closing("applied"), status="noop"),
    ),
    Damage(
        "a closing record that failed",
        "another status than the outcome",
        lambda s: change(s.closing("applied"), status="failed"),
    ),
    Damage(
        "a closing record of another code",
        "another failureCode",
        lambda s: change(s.closing("failed"), failureCode="x"),
    ),
    Damage(
        "a closing record of a cheaper attempt",
        "at another price",
        lambda s: put(s.closing("applied"), "attempts", 0, "tokens", value=1),
    ),
    Damage(
        "a closing record of a lost attempt",
        "the journal does not know",
        lambda s: drop(s, "failed", 0, 1, 2),
    ),
    Damage(
        "a closing record of other entries",
        "names other entries",
        lambda s: change(s.closing("applied"), entryIds=[], spans=[]),
    ),
    Damage(
        "a closing record of another turn",
        "has another throughEntryId",
        lambda s: change(s.closing("applied"), throughEntryId="x"),
    ),
    Damage(
        "a closing record of another generation",
        "has another generation",
        lambda s: change(s.closing("applied"), generation=7),
    ),
    Damage(
        "a closing record of another attempt",
        "has another elected",
        lambda s: change(s.closing("applied"), elected=f"review_attempt_{'0' * 40}"),
    ),
    Damage(
        "a closing record of another revision",
        "has another revisionId",
        lambda s: change(s.closing("applied"), revisionId="0" * 36),
    ),
    Damage(
        "a closing record with a quote of nothing",
        "has a quote for an entry",
        lambda s: change(s.closing("applied"), spans=[{"entryId": "other", "digest": "0" * 64}]),
    ),
)
