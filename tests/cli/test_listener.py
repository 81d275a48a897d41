"""What is told of a review: to a program, to a file, and on a terminal."""

import contextlib
import io
import json
import typing
from pathlib import Path

import pytest

from curator.cli.job_page import used
from curator.cli.listener import JsonLines, Sentences, document_of
from curator.cli.page import command
from curator.durable.layout import Layout
from curator.model import event
from curator.model.admission import Receipt
from curator.model.budget import Amount, Exposure, Limits
from curator.model.digest import Digest
from curator.model.ids import BranchName, JobId, ProjectKey, WorkerId
from curator.model.outcome import Cost, Provenance, Usage
from tests.cli.commands import environ_of, make_home, on_a_terminal

JOB = JobId("review_" + "a" * 40)
AT = "2026-01-01T00:00:00.000Z"
DIGEST = Digest("0" * 64)

PROVENANCE = Provenance(
    provider="local",
    model="some-model",
    api="openai-completions",
    started_at=AT,
    completed_at=AT,
    duration_ms=0,
    usage=Usage(
        input=900,
        output=100,
        cache_read=0,
        cache_write=0,
        total_tokens=1_000,
        cost=Cost(input=0.001, output=0.002, cache_read=0, cache_write=0, total=0.003),
    ),
)


def receipt(status: typing.Literal["applied", "noop", "stale", "rejected"], *messages: str) -> Receipt:
    return Receipt(
        proposal_id=JOB,
        job_digest=DIGEST,
        project_key=ProjectKey("b" * 24),
        branch_name=BranchName("main"),
        base_branch_digest=DIGEST,
        status=status,
        committed_at=AT,
        resulting_branch_digest=DIGEST,
        messages=messages,
        transaction_id=JOB,
        outcome_digest=DIGEST,
        binding_digest=DIGEST,
    )


EXPOSURE = Exposure(Amount(3, 300, 3_000), Amount(1, 10, 0), Amount(2, 20, 5))
EVERY: tuple[tuple[event.Event, str, str], ...] = (
    (event.Claimed(JOB, 1, ProjectKey("b" * 24), BranchName("main")), "claimed", "reviewing, attempt 1"),
    (event.Asking(JOB, 1, "local", "some-model"), "asking", "asking local/some-model"),
    (event.Rebased(JOB, 2, 1), "rebased", "judged anew"),
    (
        event.Completed(JOB, 1, PROVENANCE, receipt("noop")),
        "completed",
        "nothing new to remember (1,000 tokens, $0.0030)",
    ),
    (event.Completed(JOB, 1, PROVENANCE, receipt("stale", "Branch moved.")), "completed", "stale, memory is as it was"),
    (event.Completed(JOB, 1, PROVENANCE, receipt("rejected", "Too long.")), "completed", "Too long."),
    (event.Completed(JOB, 1, PROVENANCE, receipt("applied")), "completed", "memory has changed"),
    (event.Completed(JOB, 1, PROVENANCE, None), "completed", "was over already"),
    (event.Retrying(JOB, 1, "model_timeout", AT), "retry", "waits until 2026-01-01 00:00:00 UTC (model_timeout)"),
    (event.Retrying(JOB, 1, "interrupted", None), "retry", "given back unfinished, because the run was stopped"),
    (event.Failed(JOB, 3, "invalid_proposal"), "failed", "failed (invalid_proposal)"),
    (
        event.BudgetExhausted(JOB, 1, "local", "calls", EXPOSURE, Limits(6, 9, 9)),
        "attempt_budget_exhausted",
        "may use 6 calls a day (maxCallsPerDay in service.json). Raise it there, and they go on; or see `curator budget`.",
    ),
    (event.Recovered("expired leases", 2), "recovered", "2 expired leases."),
    (event.SetAside("x.json", "is empty"), "set_aside", "x.json was set aside: is empty"),
    (event.Stopped("job x", "conflict", "a fact", "A remedy"), "stopped", "curator: x: a fact. A remedy"),
    (event.Stopped("reviewer", "auth_unavailable", "a fact", "A remedy"), "stopped", "curator: a fact. A remedy"),
    (event.Retrying(JOB, 1, "lease_lost", None), "retry", "its lease ran out; it runs again by itself"),
    (event.Recovered("expired leases", 1), "recovered", "an earlier run left: 1 expired lease."),
    (event.Degraded("a fact", "A remedy"), "degraded", "a fact. A remedy"),
    (event.Drained(1, 1, 1, 1, 1, 2), "drained", "2 jobs left"),
    (event.Drained(0, 0, 0, 0, 0, 0, blocked_by="auth_unavailable"), "drained", "Nothing to review now."),
    (event.Drained(0, 0, 0, 0, 0, 0), "drained", "Nothing to review now."),
    (event.Serving(WorkerId("curator:made-up"), "external", 4), "serving", ""),
    (event.Leaving(1), "leaving", ""),
    (event.Idle(), "idle", ""),
)


@pytest.mark.parametrize(("told", "kind", "words"), EVERY)
def test_every_event_has_a_line_and_a_sentence(
    told: event.Event, kind: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    JsonLines().tell(told)
    line = json.loads(capsys.readouterr().out)
    Sentences(Layout(tmp_path)).tell(told)
    sentence = "".join(capsys.readouterr())

    assert line["type"] == kind
    assert words in sentence.replace(f"`{command()} ", "`curator ")
    assert sentence.count("\n") <= 2


def test_every_kind_of_event_is_tried_above() -> None:
    assert {type(told) for told, _, _ in EVERY} == set(typing.get_args(event.Event))


def test_the_protocol_s_own_fields_are_spelled_as_it_spells_them() -> None:
    over = document_of(event.BudgetExhausted(JOB, 1, "local", "calls", EXPOSURE, Limits(6, 9, 9)))

    assert document_of(event.Drained(0, 0, 1, 0, 0, 1, blocked_by="x"))["blockedBy"] == "x"
    assert document_of(event.Failed(JOB, 3, "x"))["failure"] == {"code": "x", "retryable": False}
    assert document_of(event.Retrying(JOB, 1, "x", None))["failure"] == {"code": "x", "retryable": True}
    assert document_of(event.Completed(JOB, 1, PROVENANCE, None))["provenance"] == PROVENANCE.encode()
    usage = over["usage"]
    assert isinstance(usage, dict)
    assert usage["effective"] == {"calls": 6, "tokens": 330, "costNanodollars": 3_005}


@pytest.mark.parametrize(
    ("provider", "tokens", "nano", "is_estimated", "said"),
    [
        ("local", 1_000, 3_000_000, False, "1,000 tokens, $0.0030"),
        ("local", 1_000, 0, False, "1,000 tokens, price unknown"),
        ("local", 0, 0, False, "no usage told"),
        ("local", 9_000, 0, True, "usage not told, counted as 9,000 tokens"),
        ("local", 9_000, 3_000_000, True, "usage not told, counted as 9,000 tokens and $0.0030"),
        ("offline", 0, 0, False, "no cost"),
    ],
)
def test_a_cost_is_told_as_far_as_it_is_known(
    provider: str, tokens: int, nano: int, said: str, *, is_estimated: bool
) -> None:
    assert used(provider, tokens, nano, is_estimated=is_estimated) == said


class Closed(io.StringIO):
    def write(self, text: str, /) -> int:
        del text
        raise BrokenPipeError


@pytest.mark.parametrize("make", [lambda _: JsonLines(), Sentences], ids=["lines", "sentences"])
def test_a_reader_who_went_away_never_stops_the_review(
    make: typing.Callable[[Layout], JsonLines | Sentences], tmp_path: Path
) -> None:
    listener, stream = make(Layout(tmp_path)), Closed()

    with contextlib.redirect_stdout(stream):
        for told, _, _ in EVERY:
            listener.tell(told)

    assert stream.getvalue() == ""


@pytest.mark.parametrize(("more", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_shows_the_change_in_colour_unless_that_is_not_wanted(
    tmp_path: Path, more: dict[str, str], *, is_coloured: bool
) -> None:
    home = make_home(tmp_path)
    home.enqueue("From now on, always run the linter before committing.")
    environ = environ_of(tmp_path, TERM="xterm-256color", PI_CODING_AGENT_DIR=str(home.layout.agent)) | more

    shown = on_a_terminal("review", "--once", environ=environ)

    assert "  + Always run the linter before committing." in shown
    assert ("\x1b[32m" in shown) is is_coloured
