"""`curator review --once` as a real process against a provider over real HTTP: what each failure costs, and what it shows."""

import dataclasses
import json
import signal
from pathlib import Path
from typing import Final

import pytest

from curator.model.budget import Exposure
from curator.workflow.retry import CONFIGURATION_CODES
from tests.acceptance.processes import KEY, WISH, Place, arguments_of, ended, provided, wait_until
from tests.cli.commands import Ran
from tests.fakes.provider import PROPOSAL, Settings
from tests.foreign import foreground_add

COUNT: Final = 20
FACTS: Final = PROPOSAL.replace("Run the", "Fact {n}: run the")
EVIDENCE: Final = "made-up-canary-of-the-evidence"
ANSWER: Final = "made-up-canary-of-the-answer"
ERROR: Final = "made-up-canary-of-the-provider"


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """What one failure mode must come to."""

    mode: str
    ending: str
    """Where the job stands, or how it ended."""
    code: str
    """The code of the retry or failure; of a job that is over, the status of its receipt."""
    state: str = "settled"
    charged: str = "usage"
    """What the attempt counts: its usage, its hold, or nothing."""


CASES: Final = (
    Case("ok", "applied", "applied"),
    Case("fenced", "applied", "applied"),
    Case("nousage", "applied", "applied", charged="hold"),
    Case("noop", "noop", "noop"),
    Case("http429", "queued", "rate_limited", charged="nothing"),
    Case("http500", "queued", "provider_error", charged="nothing"),
    Case("http401", "queued", "auth_unavailable", charged="nothing"),
    Case("http400", "provider_error", "provider_error", charged="nothing"),
    Case("malformed", "queued", "invalid_model_output"),
    Case("invalidop", "queued", "invalid_model_output"),
    Case("toolong", "queued", "invalid_proposal"),
    Case("length", "queued", "output_truncated"),
    Case("toolcall", "queued", "unexpected_tool_use"),
    Case("empty", "queued", "empty_model_output"),
    Case("truncated", "queued", "provider_error", "unknown", "hold"),
    Case("reset", "queued", "provider_error", "unknown", "hold"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mode)
def test_each_failure_costs_one_request_and_is_accounted(case: Case, tmp_path: Path) -> None:
    proposal = json.dumps({"operations": [{"action": "add", "content": f"Say {ANSWER}.", "importance": "high"}]})
    with provided(tmp_path, Settings(review=case.mode, proposal=proposal)) as (place, _):
        key = place.project()
        job = place.enqueue(key, transcript=f"USER: We say {EVIDENCE} here.")

        ran = place.review("--json")

        # Want of configuration has a status of its own.
        assert (ran.status, ran.err) == (78 if case.code in CONFIGURATION_CODES else 0, "")
        assert place.requests() == 1
        assert place.ending(job) == case.ending
        (seen,) = place.attempts()
        hold = Exposure() if case.charged == "nothing" else seen.exposure
        assert seen.state.value == case.state
        assert seen.exposure.total == dataclasses.replace(hold.total, calls=1)
        assert (seen.exposure.total.tokens == seen.latest.hold_tokens) is (case.charged == "hold")
        line = ran.lines[-3]
        told = line.get("failure", line.get("admission"))
        assert isinstance(told, dict)
        assert case.code == told.get("code", told.get("status"))
        assert (line["type"], ran.lines[-1]["left"]) == _told(case)
        assert_nothing_leaks(place, ran)

        again = place.review("--json")

        assert (again.status, again.err) == (0, "")
        assert place.requests() == 1, "what waits or is over costs nothing more"
        cards = {"applied", "noop", "provider_error"}
        assert len(place.cards(key)) == (case.ending in cards)


def _told(case: Case) -> tuple[str, int]:
    if case.ending == "queued":
        return ("retry", 1)
    return ("failed" if case.ending == case.code == "provider_error" else "completed", 0)


@pytest.mark.parametrize("status", [401, 500])
def test_no_text_of_the_provider_is_kept_or_shown(status: int, tmp_path: Path) -> None:
    body = {"error": {"message": f"{ERROR}: bad key {KEY}", "type": ERROR, "code": ERROR}}
    raw = json.dumps({"status": status, "body": body, "headers": {"x-request-id": ERROR}})
    with provided(tmp_path, Settings(raw=raw)) as (place, _):
        place.enqueue(place.project(), transcript=f"USER: We say {EVIDENCE} here.")

        plain = place.review()

        assert plain.status == (78 if status == 401 else 0)
        assert_nothing_leaks(place, plain)


def test_a_command_that_asks_shows_neither_key_nor_prompt_to_the_machine(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="hang")) as (place, _):
        place.enqueue(place.project(), transcript=f"USER: We say {EVIDENCE} here.")
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)

        shown = arguments_of(command.pid)

        command.kill()
        assert_nothing_leaks(place, ended(command))
        assert not [secret for secret in (KEY, EVIDENCE) if secret.encode() in shown]


def test_twenty_jobs_of_one_branch_state_are_all_applied_with_twenty_requests(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(proposal=FACTS)) as (place, _):
        key = place.project()
        jobs = [place.enqueue(key, f"entry-{number:04d}", f"USER: fact {number}") for number in range(COUNT)]

        ran = place.review("--json")

        assert (ran.status, ran.err) == (0, "")
        assert ran.lines[-1]["completed"] == COUNT
        assert place.requests() == COUNT
        assert {place.ending(job) for job in jobs} == {"applied"}
        assert place.states() == {"settled": COUNT}
        assert len(set(place.texts(key))) == COUNT
        assert sorted(place.cards(key)) == sorted(job.id for job in jobs)


def test_a_foreground_write_during_a_call_survives_and_costs_one_request_more(tmp_path: Path) -> None:
    modes = ",".join(["ok"] * 4 + ["slow", "ok"])
    with provided(tmp_path, Settings(review=modes, proposal=FACTS, slow_s=0.1)) as (place, _):
        key = place.project()
        jobs = [place.enqueue(key, f"entry-{number:04d}", f"USER: fact {number}") for number in range(COUNT)]
        command = place.start("review", "--once", "--json")
        wait_until(lambda: place.requests() == 5)

        foreground_add(place.layout.project(key).root, "Written by hand.")

        ran = ended(command)
        assert (ran.status, ran.err) == (0, "")
        assert place.requests() == COUNT + 1
        assert [line["superseded"] for line in ran.lines if line["type"] == "rebased"] == [1]
        assert {place.ending(job) for job in jobs} == {"applied"}
        texts = place.texts(key)
        assert "Written by hand." in texts
        assert len(texts) == COUNT + 1
        cards = place.cards(key)
        assert sorted(cards) == sorted(job.id for job in jobs)
        assert all(len(card.changes) == 1 for card in cards.values())
        assert "Written by hand." not in json.dumps([card.encode() for card in cards.values()])


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
def test_a_wish_to_stop_in_mid_call_gives_the_claim_back_and_the_next_run_finishes(
    wish: signal.Signals, tmp_path: Path
) -> None:
    with provided(tmp_path, Settings(review="hang,ok")) as (place, _):
        key = place.project()
        job = place.enqueue(key)
        command = place.start("review", "--once", "--json")
        wait_until(lambda: place.requests() == 1)

        command.send_signal(wish)

        ran = ended(command)
        assert (ran.status, ran.err) == (130, "")
        assert (ran.lines[-1]["interrupted"], ran.lines[-1]["left"]) == (1, 1)
        assert (place.ending(job), place.states()) == ("queued", {"unknown": 1})
        assert place.review().status == 0
        assert (place.ending(job), place.requests()) == ("applied", 2)
        assert place.states() == {"unknown": 1, "settled": 1}
        assert list(place.cards(key)) == [job.id]


def test_a_kill_in_mid_call_leaves_the_claim_to_its_lease_and_the_money_counted(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="hang,ok")) as (place, _):
        job = place.enqueue(place.project())
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)

        command.kill()
        ended(command)

        ran = place.review("--json")
        assert (ran.status, ran.err) == (0, "")
        assert (place.ending(job), place.requests()) == ("running", 1)
        assert place.states() == {"dispatched": 1}, "its lease lives, so nobody may say yet what became of it"


def test_three_failures_end_a_job_with_a_card_and_the_rest_goes_on(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="malformed,malformed,malformed,ok")) as (place, _):
        key = place.project()
        job = place.enqueue(key)
        for _ in range(2):
            assert place.review().status == 0
            place.let_go_on(job)

        ran = place.review()

        assert ran.status == 0
        assert place.ending(job) == "invalid_model_output"
        assert (place.requests(), place.states()) == (3, {"settled": 3})
        assert [card.status for card in place.cards(key).values()] == ["failed"]
        later = place.enqueue(key, "entry-2")
        place.review()
        assert place.ending(later) == "applied"


def test_a_key_that_is_refused_never_ends_a_job(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="http401,http401,http401,ok")) as (place, _):
        job = place.enqueue(place.project())
        for _ in range(3):
            assert place.review().status == 78
            assert place.ending(job) == "queued"
            place.let_go_on(job)

        assert place.review().status == 0

        assert (place.ending(job), place.requests()) == ("applied", 4)


def test_an_account_that_is_refused_is_not_asked_for_the_next_job(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="http401")) as (place, _):
        key, other = place.project(), place.project("other")
        jobs = [place.enqueue(key), place.enqueue(other)]

        ran = place.review()

        assert ran.status == 78
        assert place.requests() == 1
        assert [place.ending(job) for job in jobs] == ["queued", "queued"]


def test_a_spent_budget_leaves_the_rest_for_tomorrow_and_says_so(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(proposal=FACTS)) as (place, _):
        place.configure(provider="fake", maxCallsPerDay=2)
        key = place.project()
        for number in range(4):
            place.enqueue(key, f"entry-{number}", f"USER: fact {number}")

        ran = place.review("--json")

        assert (ran.status, ran.err) == (0, "")
        assert (place.requests(), place.states()) == (2, {"settled": 2})
        assert ran.lines[-3]["type"] == "attempt_budget_exhausted"
        assert ran.lines[-1] == _drained(completed=2, budgetExhausted=1, left=2)
        assert place.review("--json").lines[-1]["left"] == 2
        assert place.requests() == 2


def test_a_limit_of_jobs_is_kept_and_the_rest_left(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(proposal=FACTS)) as (place, _):
        key = place.project()
        for number in range(3):
            place.enqueue(key, f"entry-{number}", f"USER: fact {number}")

        ran = place.review("--json", "--limit", "2")

        assert ran.lines[-1] == _drained(completed=2, left=1)
        assert place.requests() == 2


def test_a_short_back_off_is_waited_for_when_asked(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="http429,ok")) as (place, _):
        job = place.enqueue(place.project())

        ran = place.review("--json", "--wait")

        assert [line["type"] for line in ran.lines if line["type"] in ("retry", "completed")] == ["retry", "completed"]
        assert (place.ending(job), place.requests()) == ("applied", 2)


def test_a_wait_ends_early_when_a_stop_is_wished_for(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="http429", retry_after="100")) as (place, _):
        job = place.enqueue(place.project())
        command = place.start("review", "--once", "--wait", "--json")
        assert command.stdout is not None
        for line in command.stdout:
            if json.loads(line)["type"] == "retry":
                break

        command.send_signal(signal.SIGTERM)

        assert ended(command).status == 130
        assert (place.ending(job), place.requests()) == ("queued", 1)


def test_the_lines_of_a_program_are_those_of_the_protocol(tmp_path: Path) -> None:
    with provided(tmp_path) as (place, _):
        job = place.enqueue(place.project())

        lines = place.review("--json").lines

        by_type = {str(line["type"]): set(line) for line in lines}
        assert by_type["claimed"] >= {"jobId", "attempt"}
        assert by_type["completed"] >= {"jobId", "attempt", "provenance", "admission"}
        counts = {"completed", "failed", "retried", "budgetExhausted", "interrupted"}
        assert by_type["drained"] >= counts
        assert lines[-1]["type"] == "drained"
        assert {line["jobId"] for line in lines if "jobId" in line} == {job.id}


def _drained(**counts: int) -> dict[str, object]:
    zero = dict.fromkeys(("completed", "failed", "retried", "budgetExhausted", "interrupted", "left"), 0)
    return {"type": "drained", **zero, **counts}


def assert_nothing_leaks(place: Place, ran: Ran) -> None:
    """Look for what is secret where it must not be: what was printed, and every record that is about work, not evidence."""
    layout = place.layout
    folders = (layout.workers, layout.runtimes, layout.attempts, layout.finished, layout.jobs, layout.accounting)
    places = {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}
    shown = {Path("stdout"): ran.out.encode(), Path("stderr"): ran.err.encode(), **places}
    secrets = (EVIDENCE, ANSWER, ERROR, KEY, WISH)
    assert places
    assert [(path, secret) for path, raw in shown.items() for secret in secrets if secret.encode() in raw] == []
    everywhere = place.tree()
    del everywhere[str(layout.agent / "models.json")]
    assert [path for path, raw in everywhere.items() for secret in (KEY, ERROR) if secret.encode() in raw] == []
