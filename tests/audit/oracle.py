"""What the shadow should hold, worked out from the files by code of its own: plain JSON, plain globs, no record of ours."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlalchemy import select

from curator.audit.schema import DERIVED, FACTS, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

Fields: TypeAlias = dict[str, Any]  # type: ignore[explicit-any]  # raw JSON, looked at as a person would
Line: TypeAlias = tuple[tuple[str, str | int | None], ...]
Tables: TypeAlias = dict[str, list[Line]]

SOURCE: Final = "source"
UNITS: Final = ("calls", "tokens", "cost_nanousd")


def rows_in(connection: Connection) -> Tables:
    """Every row of the shadow; a fact's source is told by its place, for the numbers are nobody's business."""
    sources = {
        number: f"{folder}/{name}"
        for number, folder, name in connection.execute(select(SOURCES.c.id, SOURCES.c.folder, SOURCES.c.name))
    }
    found: Tables = {}
    for table in (*FACTS, *DERIVED):
        rows = [dict(row._mapping) for row in connection.execute(select(table))]  # noqa: SLF001 - the library's public word
        for row in rows:
            if "source_id" in row:
                row[SOURCE] = sources[row.pop("source_id")]
        found[table.name] = sorted((_line(row) for row in rows), key=str)
    return found


def rows_of(root: Path) -> Tables:
    """Every row that the files under `no-forgetti` call for."""
    found: dict[str, list[Fields]] = {table.name: [] for table in (*FACTS, *DERIVED)}
    for table, source, values in _facts(root):
        found[table].append({SOURCE: source} | values)
    _derive(found)
    columns = {table.name: [column.name for column in table.columns] for table in (*FACTS, *DERIVED)}
    tables: Tables = {}
    for name, rows in found.items():
        whole = [{column: row.get(column) for column in columns[name] if column != "source_id"} for row in rows]
        for row, given in zip(whole, rows, strict=True):
            assert set(given) <= set(row) | {SOURCE}, set(given) - set(row)
            if SOURCE in given:
                row[SOURCE] = given[SOURCE]
        tables[name] = sorted(map(_line, whole), key=str)
    return tables


def _line(row: Fields) -> Line:
    return tuple(sorted(row.items()))


def _facts(root: Path) -> Iterator[tuple[str, str, Fields]]:
    spool, own = root / "review-spool", root / "curator"
    yield from _spool(root, spool, own)
    yield from _set_aside(root, spool, own)
    yield from _over(root, own)
    yield from _journal(root, own / "attempts")
    yield from _evidence(root, spool, own)
    for source, it in _records(root, root / "review-workers", "*.json"):
        values = _some(it, "workerId", "pid", "startedAt", "updatedAt", "state")
        yield "runs", source, values | {"job_id": it.get("jobId")}
    for authority, home in (("external", root), ("shadow", own / "shadow")):
        for project in sorted(home.glob("[0-9a-f]" * 24)):
            yield from _project(root, project, {"authority": authority, "project_key": project.name})
            yield from _admissions(root, project, {"authority": authority, "project_key": project.name})
            yield from _feedback(root, project) if authority == "external" else ()


def _spool(root: Path, spool: Path, own: Path) -> Iterator[tuple[str, str, Fields]]:
    for place, folder in (("queued", spool / "queued"), ("held", own / "held"), ("running", spool / "running")):
        for source, it in _records(root, folder, "review_*.json"):
            claims = it["attempt"] if place == "running" else it["nextAttempt"] - 1
            at, until = it.get("claimedAt", it.get("availableAt")), it.get("leaseUntil")
            size = len(it["job"]["transcript"].encode("utf-16-le")) // 2
            rest = {"claims": claims, "worker_id": it.get("workerId"), "at": at, "until": until}
            yield "spool", source, {"place": place, "transcript_chars": size} | _frontier(it["job"]) | rest
    for source, it in _records(root, spool / "outcomes", "review_*.json"):
        said = it["outcome"]
        values = {
            "place": "outcomes",
            "job_id": said["jobId"],
            "job_digest": said["jobDigest"],
            "claims": it["attempt"],
        }
        values |= {"worker_id": it["workerId"], "at": said["completedAt"], "status": said["status"]}
        provenance = said.get("provenance", {})
        values |= {"provider": provenance.get("provider"), "model": provenance.get("model")}
        yield "spool", source, values | {"failure_code": said.get("error", {}).get("code")}


def _set_aside(root: Path, spool: Path, own: Path) -> Iterator[tuple[str, str, Fields]]:
    for folder in (spool / "dead-letter", own / "quarantine"):
        for path in sorted(folder.glob("*.bad")):
            match = re.fullmatch(r"(review_[0-9a-f]{40})\.json\.(\d+)(\.[0-9a-f-]{36})?\.bad", path.name)
            assert match is not None
            values = {"place": folder.name, "job_id": match[1], "moved_ms": int(match[2]), "bytes": path.stat().st_size}
            yield "quarantine", f"{_place(root, folder)}/*.bad/{path.name}", values


def _over(root: Path, own: Path) -> Iterator[tuple[str, str, Fields]]:
    for source, it in _records(root, own / "jobs", "review_*.json"):
        yield "acceptances", source, _some(it, "jobId", "jobDigest", "authority", "acceptedAt")
    for source, it in _records(root, own / "finished", "*/review_*.json"):
        yield "closings", source, _closing(it)
        quotes = {span["entryId"]: span["digest"] for span in reversed(it["spans"])}
        for entry in it["entryIds"]:
            yield "closed_entries", source, {"job_id": it["jobId"], "entry_id": entry, "span_digest": quotes.get(entry)}


def _evidence(root: Path, spool: Path, own: Path) -> Iterator[tuple[str, str, Fields]]:
    for source, it in _records(root, own / "bases", "*/*.json"):
        entries = it["branch"]["entries"]
        chars = sum(len(entry["text"].encode("utf-16-le")) // 2 for entry in entries)
        values = _some(it, "jobId", "jobDigest") | {"branch_digest": it["baseBranchDigest"], "chars": chars}
        yield "bases", source, values | {"entries": len(entries)}
    for source, it in _records(root, spool / "proposal-decisions", "review_*.json"):
        said = it["outcome"]
        values = _frontier(it["job"]) | _some(it, "attemptId", "proposalDigest") | _some(said, "completedAt")
        values |= _some(said["provenance"], "provider", "model", "durationMs")
        yield "decisions", source, values | {"operations": len(said["operations"])}
    for source, it in _records(root, own / "evidence", "*/*.json"):
        for span in it["spans"]:
            place: Fields = {"operation": span["operation"], "start_at": span["start"], "end_at": span["end"]}
            yield "spans", source, _some(it, "jobId", "attemptId") | place | {"digest": span["digest"]}


def _closing(it: Fields) -> Fields:
    values = _some(
        it, "jobId", "jobDigest", "projectKey", "sessionKey", "branchName", "authority", "status", "finishedAt"
    )
    for key in ("throughEntryId", "generation", "failureCode", "provider", "model", "elected", "revisionId"):
        values[_snake(key)] = it.get(key)
    sums = {"tokens": sum(each["tokens"] for each in it["attempts"]), "attempts": len(it["attempts"])}
    return (
        values | sums | {"cost_nanousd": sum(x["costNanousd"] for x in it["attempts"]), "entries": len(it["entryIds"])}
    )


def _journal(root: Path, attempts: Path) -> Iterator[tuple[str, str, Fields]]:
    for day in sorted({path.name[:10] for path in attempts.glob("*")}):
        closed = attempts / f"{day}.closed.json"
        past: set[str] = set()
        steps: dict[str, dict[int, Fields]] = defaultdict(dict)
        whole: Fields | None = None
        if closed.exists():
            whole = json.loads(closed.read_bytes())
            for row in whole["attempts"]:
                attempt, state, *figures, provider, job = row.split(" ")
                past.add(attempt)
                calls, tokens, cost = map(int, figures)
                values: Fields = {"attempt_id": attempt, "day": day, "provider": provider, "is_estimated": 0}
                values |= {"job_id": None if job == "-" else job, "is_corrected": int(state == "corrected")}
                values |= {"state": "cancelled" if state == "cancelled" else "settled"}
                amounts = {f"actual_{unit}": amount for unit, amount in zip(UNITS, (calls, tokens, cost), strict=True)}
                yield "attempts", f"{_place(root, closed)}/day", values | _columns() | amounts
            for unknown in whole["unresolved"]:
                steps[unknown["id"]][2] = unknown
        for path in sorted((attempts / day).glob("??/review_attempt_*.json")):
            record = json.loads(path.read_bytes())
            steps[record["id"]][int(path.name[-6])] = record
        for attempt, known in steps.items():
            if attempt not in past:
                shard = f"{_place(root, attempts)}/{day}/{attempt[15:17]}/{attempt}"
                yield "attempts", f"{_place(root, closed)}/day" if whole else shard, _attempt(known)
        carries = list(whole["legacy"]) if whole else []
        for it in carries:
            values = _columns() | {f"unknown_{unit}": it[_camel(unit)] for unit in UNITS}
            yield "carries", f"{_place(root, closed)}/day", _some(it, "day", "provider") | values
        for source, it in () if whole else _records(root, attempts / day, "legacy.*.json"):
            values = _columns() | {f"unknown_{unit}": it[_camel(unit)] for unit in UNITS}
            yield "carries", source, _some(it, "day", "provider") | values


def _attempt(known: dict[int, Fields]) -> Fields:
    last, correction = known[max(n for n in known if n < 3)], known.get(3)
    values = {"attempt_id": last["id"], "claim": last["claimAttempt"]}
    values |= _some(last, "day", "provider", "jobDigest", "origin", "reservedAt", "holdTokens", "holdCostNanousd")
    for key in ("jobId", "baseBranchDigest", "model", "api", "dispatchedAt"):
        values[_snake(key)] = last.get(key)
    ends = [last.get(f"{state}At") for state in ("settled", "unknown", "cancelled")]
    values["ended_at"] = next((end for end in ends if end is not None), None)
    values["duration_ms"] = last.get("provenance", {}).get("durationMs")
    values |= {"is_estimated": int(last.get("isEstimated", False)), "is_corrected": int(correction is not None)}
    values |= {"corrected_by": None if correction is None else correction["source"]}
    values["state"] = last["state"] if correction is None else "settled"
    charged = correction or last
    held = {"calls": 1, "tokens": last["holdTokens"], "cost_nanousd": last["holdCostNanousd"]}
    column, amount = {
        "reserved": ("held", held),
        "dispatched": ("held", held),
        "unknown": ("unknown", held),
        "cancelled": ("actual", dict.fromkeys(UNITS, 0)),
        "settled": ("actual", {"calls": 1, **{unit: charged.get(_camel(f"charged_{unit}"), 0) for unit in UNITS[1:]}}),
    }[values["state"]]
    if correction is not None and not correction["isBilled"]:
        amount = dict.fromkeys(UNITS, 0)
    return values | _columns() | {f"{column}_{unit}": amount[unit] for unit in UNITS}


def _project(root: Path, project: Path, whose: Fields) -> Iterator[tuple[str, str, Fields]]:
    for source, it in _records(root, project / "branches", "*.json"):
        values = {"branch_name": it["name"], "entries": len(it["entries"]), "updated_at": it["updatedAt"]}
        values["chars"] = sum(len(entry["text"].encode("utf-16-le")) // 2 for entry in it["entries"])
        yield "branches", source, whose | values | {"digest": _digest(it)}
    for source, it in _records(root, project / "revisions", "*/*.json"):
        changes = it.get("changes", [])
        values = _some(it, "branchName", "sequence", "kind", "committedAt", "beforeDigest", "afterDigest")
        values |= {"revision_id": it["id"], "undone_id": it.get("reviewRevisionId"), "changes": len(changes)}
        yield "revisions", source, whose | values
        for change in changes:
            before = change.get("before")
            values = {"revision_id": it["id"], "entry_id": change["entryId"], "kind": change["kind"]}
            values |= {
                "before_digest": None if before is None else _digest(before),
                "after_digest": change.get("afterDigest"),
            }
            values["before_chars"] = None if before is None else len(before["text"].encode("utf-16-le")) // 2
            yield "changes", source, values


def _admissions(root: Path, project: Path, whose: Fields) -> Iterator[tuple[str, str, Fields]]:
    parts = (("intent", "*.intent.json"), ("completion", "*.complete.json"), ("tombstone", "retired/*.json"))
    for part, pattern in parts:
        for source, it in _records(root, project / "review-admissions", pattern):
            values = {"part": part, "job_id": it["transactionId"]}
            values["intent_digest"] = it.get("intentDigest", it.get("originalIntentDigest"))
            if part != "completion":
                values |= _some(it, "branchName", "status", "committedAt")
                values |= {
                    "expected_digest": it["expectedBranchDigest"],
                    "resulting_digest": it["resultingBranchDigest"],
                }
                values["revision_id"] = it.get("revisionId", it.get("revision", {}).get("record", {}).get("id"))
            yield "admissions", source, whose | values
    for source, it in _records(root, project / "service/commit-receipts", "*.json"):
        values = _some(it, "jobDigest", "branchName", "status", "committedAt") | {"job_id": it["proposalId"]}
        values |= {"base_digest": it["baseBranchDigest"], "resulting_digest": it["resultingBranchDigest"]}
        yield "receipts", source, whose | values | {"revision_id": it.get("revisionId")}


def _feedback(root: Path, project: Path) -> Iterator[tuple[str, str, Fields]]:
    for kind in ("pending", "ready"):
        for source, it in _records(root, project / "service/review-feedback" / kind, "*.json"):
            values = {"project_key": project.name, "kind": kind, "status": it.get("status")}
            values |= {"requested_by": it.get("requestedBy"), "queued_at": it.get("queuedAt")}
            changes = len(it["changes"]) if "changes" in it else None
            yield "feedback", source, _some(it, "jobId", "jobDigest") | values | {"changes": changes}


def _derive(found: dict[str, list[Fields]]) -> None:
    by_place: dict[str, dict[str, Fields]] = defaultdict(dict)
    for row in found["spool"]:
        by_place[row["place"]][row["job_id"]] = row
    closings, accepted, decided = (
        {row["job_id"]: row for row in found[name]} for name in ("closings", "acceptances", "decisions")
    )
    for job in {row["job_id"] for row in (*found["spool"], *found["closings"])}:
        closing, outcome = closings.get(job), by_place["outcomes"].get(job)
        running, held, queued = (by_place[place].get(job) for place in ("running", "held", "queued"))
        tellers = [each for each in (closing, running, held, queued, outcome, decided.get(job)) if each is not None]
        acceptance = accepted.get(job, {})

        def first(key: str, *rows: Fields | None) -> str | int | None:
            return next((row[key] for row in rows if row is not None and row.get(key) is not None), None)

        is_over = closing is not None or outcome is not None
        state = "finished" if is_over else "running" if running else "held" if held else "queued"
        found["jobs"].append(
            {key: first(key, *tellers) for key in ("project_key", "session_key", "branch_name")}
            | {"job_id": job, "job_digest": first("job_digest", *tellers[:5], acceptance), "state": state}
            | {"authority": first("authority", closing, acceptance), "status": first("status", closing, outcome)}
            | {"failure_code": first("failure_code", closing, outcome), "accepted_at": acceptance.get("accepted_at")}
            | {"available_at": None if queued is None else queued["at"]}
            | {"finished_at": closing["finished_at"] if closing else None if outcome is None else outcome["at"]}
            | {"claims": first("claims", outcome, running, held, queued), "entries": first("entries", closing)}
            | {"worker_id": first("worker_id", outcome, running)}
            | {key: first(key, outcome, closing) for key in ("provider", "model")}
        )
    frontier = ("job_id", "project_key", "session_key", "branch_name", "through_entry_id", "generation")
    known = [row for name in ("spool", "decisions", "closings") for row in found[name] if row.get("through_entry_id")]
    found["generations"] = [dict(each) for each in {tuple((key, row.get(key)) for key in frontier) for row in known}]
    sums: dict[tuple[str, str], Fields] = defaultdict(_columns)
    for row in (*found["attempts"], *found["carries"]):
        total = sums[row["day"], row["provider"]]
        for name in total:
            total[name] += row[name]
    found["budgets"] = [{"day": day, "provider": provider} | total for (day, provider), total in sums.items()]


def _columns() -> Fields:
    return {f"{certainty}_{unit}": 0 for certainty in ("actual", "held", "unknown") for unit in UNITS}


def _frontier(job: Fields) -> Fields:
    values = _some(job, "projectKey", "sessionKey", "throughEntryId") | {"generation": job.get("generation")}
    return values | {"job_id": job["id"], "job_digest": job["digest"], "branch_name": job["branch"]["name"]}


def _records(root: Path, folder: Path, pattern: str) -> Iterator[tuple[str, Fields]]:
    for path in sorted(folder.glob(pattern)):
        # A torn record says nothing.
        with contextlib.suppress(json.JSONDecodeError):
            yield _place(root, path), json.loads(path.read_bytes())


def _place(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _some(it: Fields, *keys: str) -> Fields:
    return {_snake(key): it[key] for key in keys}


def _snake(key: str) -> str:
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", key)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _digest(value: Fields) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
