"""Another worker of the protocol: it claims, accounts, decides, admits and finishes by code of its own (interop.md).

Written from the specification alone; it shares nothing with curator but the files. It is as small as a healthy path
allows: its answers propose nothing, so an admission ends noop or stale and changes no branch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Fields = dict[str, Any]  # type: ignore[explicit-any]  # plain JSON, as a stranger reads it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(value: object) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def iso(ms: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


class OtherWorker:
    """One process of it, at one moment."""

    def __init__(self, agent: Path, now_ms: int, provider: str = "fixture-provider") -> None:
        self.root = agent / "no-forgetti"
        self.spool = self.root / "review-spool"
        self.now_ms = now_ms
        self.provider = provider
        self.calls = 0

    def claim(self, lease_ms: int = 300_000) -> Fields | None:
        """Recover, then take the first job in the order of ids."""
        with self._lock(self.spool / ".spool.lock"):
            self._recover()
            for path in sorted((self.spool / "queued").glob("review_*.json")):
                queued = json.loads(path.read_bytes())
                assert set(queued) <= {"version", "job", "nextAttempt", "availableAt"}
                if queued.get("availableAt", "") > iso(self.now_ms):
                    continue
                running = {
                    "version": 1,
                    "job": queued["job"],
                    "attempt": queued["nextAttempt"],
                    "workerId": "other:1",
                    "leaseToken": uuid.uuid4().hex,
                    "claimedAt": iso(self.now_ms),
                    "leaseUntil": iso(self.now_ms + lease_ms),
                }
                self._replace(self.spool / "running" / path.name, compact(running))
                path.unlink()
                return running
        return None

    def finish_one(self) -> str | None:
        """Carry one job from its claim to its outcome, with a call only where no decision stands."""
        running = self.claim()
        if running is None:
            return None
        job = running["job"]
        path = self.spool / "proposal-decisions" / f"{job['id']}.json"
        outcome = json.loads(path.read_bytes())["outcome"] if path.exists() else self._call(running)
        self._admit(job, outcome)
        record = {key: running[key] for key in ("version", "attempt", "workerId", "leaseToken")} | {"outcome": outcome}
        with self._lock(self.spool / ".spool.lock"):
            assert (self.spool / "running" / f"{job['id']}.json").exists()
            self._replace(self.spool / "outcomes" / f"{job['id']}.json", compact(record))
            (self.spool / "running" / f"{job['id']}.json").unlink()
        return str(job["id"])

    def _recover(self) -> None:
        for path in sorted((self.spool / "running").glob("review_*.json")):
            running = json.loads(path.read_bytes())
            if (self.spool / "outcomes" / path.name).exists():
                path.unlink()
            elif running["leaseUntil"] <= iso(self.now_ms):
                queued = {"version": 1, "job": running["job"], "nextAttempt": running["attempt"] + 1}
                self._replace(self.spool / "queued" / path.name, compact(queued))
                path.unlink()

    def _call(self, running: Fields) -> Fields:
        """Reserve, dispatch, be answered that nothing is worth remembering, checkpoint, elect, settle."""
        job, now = running["job"], iso(self.now_ms)
        of = f"{job['digest']}\n{running['attempt']}\n{running['leaseToken']}"
        attempt = f"review_attempt_{hashlib.sha256(of.encode()).hexdigest()[:40]}"
        day = now[:10]
        facts: Fields = {
            "jobId": job["id"],
            "jobDigest": job["digest"],
            "claimAttempt": running["attempt"],
            "leaseToken": running["leaseToken"],
        }
        hold = {"reservedAt": now, "holdTokens": 400, "holdCostNanodollars": 50_000_000}
        identity = {"version": 1, "id": attempt, "day": day, "provider": self.provider, **facts, **hold}
        self._create(self.spool / "accounting" / "identities" / attempt, compact(identity) + "\n")
        sent = {"id": attempt, **facts, "provider": self.provider, "state": "dispatched", **hold, "dispatchedAt": now}
        self._account(day, sent)
        self.calls += 1
        provenance = {
            "provider": self.provider,
            "model": "fixture-reviewer",
            "api": "fixture-api",
            "startedAt": now,
            "completedAt": now,
            "durationMs": 0,
            "usage": {
                "input": 120,
                "output": 40,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": 160,
                "cost": {"input": 0.0011, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.0031},
            },
        }
        outcome = {
            "version": 1,
            "jobId": job["id"],
            "jobDigest": job["digest"],
            "status": "completed",
            "completedAt": now,
            "operations": [],
            "provenance": provenance,
        }
        proposal = digest({"version": 1, "jobId": job["id"], "jobDigest": job["digest"], "operations": []})
        result = {"version": 1, "attemptId": attempt, "proposalDigest": proposal, "job": job, "outcome": outcome}
        checkpoint = result | {"kind": "review-provider-result"}
        self._create(self.spool / "provider-results" / job["id"] / f"{attempt}.json", canonical(checkpoint) + "\n")
        decision = result | {"kind": "review-proposal-decision"}
        self._create(self.spool / "proposal-decisions" / f"{job['id']}.json", canonical(decision) + "\n")
        charged = {"chargedTokens": 160, "chargedCostNanodollars": 3_100_000}
        self._account(day, sent | {"state": "settled", "settledAt": now, **charged, "provenance": provenance})
        return outcome

    def _account(self, day: str, attempt: Fields) -> None:
        path = self.spool / "accounting" / "days" / day
        with self._lock(self.spool / "accounting" / ".lock"):
            fresh: Fields = {"version": 1, "day": day, "providers": {}}
            file: Fields = json.loads(path.read_bytes()) if path.exists() else fresh
            kept = [each for each in file["providers"].get(self.provider, []) if each["id"] != attempt["id"]]
            file["providers"][self.provider] = [*kept, attempt]
            self._replace(path, compact(file) + "\n")

    def _admit(self, job: Fields, outcome: Fields) -> None:
        """Commit an outcome that changes nothing: by a receipt and a tombstone, or find that it was committed."""
        assert outcome["operations"] == [], "this worker changes no branch"
        project = self.root / job["projectKey"]
        receipt = project / "service" / "commit-receipts" / f"{job['id']}.json"
        if receipt.exists():
            return
        with self._lock(project / ".lock"):
            branch = json.loads((project / "branches" / f"{job['branch']['name']}.json").read_bytes())
            stands, now = digest(branch), iso(self.now_ms)
            binding = {
                "transactionId": job["id"],
                "jobDigest": job["digest"],
                "projectKey": job["projectKey"],
                "branchName": job["branch"]["name"],
                "baseBranchDigest": job["baseBranchDigest"],
            }
            bound = digest({"transactionVersion": 1, **binding, "outcomeDigest": digest(outcome)})
            request = {
                "transactionId": job["id"],
                "branchName": binding["branchName"],
                "expectedBranchDigest": job["baseBranchDigest"],
                "bindingDigest": bound,
            }
            ended: Fields = {
                "status": "noop" if stands == job["baseBranchDigest"] else "stale",
                "committedAt": now,
                "resultingBranchDigest": stands,
                "messages": [],
            }
            intent = {
                "version": 1,
                "kind": "review-admission",
                **request,
                "requestDigest": digest(request | {"operations": []}),
                **ended,
                "afterBranch": branch,
            }
            proof = {"version": 1, "proposalId": job["id"], **binding, **ended, "transactionVersion": 1}
            self._create(receipt, canonical(proof | {"outcomeDigest": digest(outcome), "bindingDigest": bound}) + "\n")
            tombstone = {key: each for key, each in intent.items() if key != "afterBranch"} | {
                "kind": "review-admission-retired",
                "originalIntentDigest": digest(intent),
                "retiredAt": now,
            }
            path = project / "review-admissions" / "retired" / f"{job['id']}.json"
            self._create(path, pretty(tombstone | {"tombstoneDigest": digest(tombstone)}))

    @contextlib.contextmanager
    def _lock(self, path: Path) -> Iterator[None]:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, f"{os.getpid()}:{uuid.uuid4()}\n{self.now_ms}\n".encode())
        os.close(descriptor)
        try:
            yield
        finally:
            path.unlink()

    def _create(self, path: Path, text: str) -> None:
        assert not path.exists()
        self._replace(path, text)

    def _replace(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        staged = path.with_name(f"{path.name}.{os.getpid()}.{uuid.uuid4()}.tmp")
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, text.encode())
        os.close(descriptor)
        staged.rename(path)
