"""`curator budget`: what calls cost, one by one and in all, and a person's word on the ones without an end."""

import csv
import io
import json
from pathlib import Path
from typing import Final

import pytest

from curator.durable.volume import Volume
from curator.model.attempt import Reserved, Unknown, dispatched_from, settled_from, unknown_from
from curator.model.digest import Digest, Json, digest_of_text
from curator.model.ids import Day, JobId, LeaseToken, attempt_id
from curator.store.attempts import AttemptStore
from tests.cli.commands import Home, make_home
from tests.made_up import provenance

DAY: Final = Day("2026-01-03")
AT: Final = "2026-01-03T12:00:00.000Z"
REQUEST: Final = (Digest("1" * 64), "m", "a")
WHY: Final = "It is not on the bill."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def reserved(number: int, provider: str = "offline", day: Day = DAY) -> Reserved:
    digest, token = digest_of_text(f"job {number}"), LeaseToken(f"{number:032x}")
    return Reserved(
        id=attempt_id(digest, 1, token),
        day=day,
        provider=provider,
        job_id=JobId(f"review_{number:040x}"),
        job_digest=digest,
        claim_attempt=1,
        lease_token=token,
        reserved_at=f"{day}T12:00:00.000Z",
        hold_tokens=400,
        hold_cost_nanousd=50_000_000,
        origin="curator",
    )


def lost(home: Home, number: int, provider: str = "offline") -> Unknown:
    store = AttemptStore(Volume(), home.layout)
    sent = dispatched_from(reserved(number, provider), AT, REQUEST)
    unknown = unknown_from(sent, AT)
    for step in (reserved(number, provider), sent, unknown):
        store.advance(step)
    return unknown


def paid(home: Home, number: int, provider: str = "offline") -> None:
    store = AttemptStore(Volume(), home.layout)
    sent = dispatched_from(reserved(number, provider), AT, REQUEST)
    for step in (reserved(number, provider), sent, settled_from(sent, AT, provenance())):
        store.advance(step)


def listed(value: Json) -> list[dict[str, Json]]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


def test_a_fresh_home_has_a_budget_and_no_calls(home: Home) -> None:
    assert "offline today: 0 calls spent, of 100 calls" in home.run("budget").out
    assert home.run("budget", "attempts", "--unresolved").out == "Every call has its end.\n"
    assert "No call on " in home.run("budget", "attempts").out
    assert home.run("budget", "show", "--day", DAY).out == f"Nobody was asked on {DAY}.\n"


def test_what_has_no_end_is_shown_beside_today_until_it_is_settled(home: Home) -> None:
    unknown = lost(home, 1)
    paid(home, 2)

    plain, told = home.run("budget").out, home.run("budget", "--json").document
    status = home.run("status").out

    line = "1 call of earlier days without an end count too, at most 400 tokens, $0.0500"
    assert line in plain
    assert line in status
    assert "0 spent, 0 held, 0 unknown, 1 of earlier days of 100" in plain
    (budget,) = listed(told["budgets"])
    assert budget["earlier"] == {
        "actual": {"calls": 0, "tokens": 0, "costNanodollars": 0},
        "held": {"calls": 0, "tokens": 0, "costNanodollars": 0},
        "unknown": {"calls": 1, "tokens": 400, "costNanodollars": 50_000_000},
    }
    assert told["unresolved"] == "charge"

    ran = home.run("budget", "reconcile", unknown.id, "--not-billed", "--reason", WHY)

    assert (ran.status, ran.err) == (0, "")
    assert f"{unknown.id} of {DAY}: not billed." in ran.out
    assert "earlier days" not in home.run("budget").out
    assert f"offline on {DAY}: 1 call, no cost spent\n" in home.run("budget", "show", "--day", DAY).out


def test_what_another_provider_lost_is_shown_too_though_nothing_limits_it(home: Home) -> None:
    lost(home, 1, "elsewhere")

    plain = home.run("budget").out

    assert "elsewhere today: 0 calls spent\n  1 call of earlier days without an end count too" in plain


def test_a_bill_is_said_in_tokens_and_dollars(home: Home) -> None:
    unknown = lost(home, 1)

    ran = home.run("budget", "reconcile", unknown.id, "--actual", "1234,0.0567", "--reason", WHY, "--json")

    (said,) = listed(ran.document["reconciled"])
    assert said == {
        "attemptId": unknown.id,
        "day": DAY,
        "provider": "offline",
        "isNew": True,
        "charged": {"calls": 1, "tokens": 1234, "costNanodollars": 56_700_000},
    }
    again = home.run("budget", "reconcile", unknown.id, "--actual", "1234,0.0567", "--reason", "Again.")
    assert (again.status, again.out) == (0, f"{unknown.id} of {DAY}: 1,234 tokens, $0.0567, as was said before.\n")
    other = home.run("budget", "reconcile", unknown.id, "--not-billed", "--reason", WHY)
    assert other.status == 65
    assert "settled already, as billed 1234 tokens and 56700000 nano-dollars" in other.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--not-billed"], "needs a reason"),
        (["--not-billed", "--reason", "  "], "needs a reason"),
        (["--not-billed", "--reason", "x" * 501], "longer than 500"),
        (["--reason", WHY], "say what it cost"),
        (["--not-billed", "--actual", "1,1", "--reason", WHY], "say two things"),
        (["--all", "--not-billed", "--reason", WHY], "say which attempt, or --all --before DAY"),
        (["--before", DAY, "--not-billed", "--reason", WHY], "say which attempt"),
        *(
            (["--actual", bill, "--reason", WHY], "--actual is not tokens and dollars")
            for bill in ("", "12", "1,2,3", "-1,1", "1,-1", "1.5,1", "1,NaN", "1,inf", "1,1000001", "x,1", "1,x", "٣,1")
        ),
        (["--actual", "1000000001,0", "--reason", WHY], "more than 1,000,000,000 tokens"),
    ],
)
def test_half_a_word_is_a_wrong_command_line_and_changes_nothing(home: Home, more: list[str], words: str) -> None:
    unknown = lost(home, 1)

    ran = home.run("budget", "reconcile", unknown.id, *more)

    assert ran.status == 2
    assert words in ran.err
    assert not list(home.layout.attempts.rglob("*.3.json"))


def test_all_of_the_days_before_one_take_one_command(home: Home) -> None:
    ids = [lost(home, number).id for number in (1, 2, 3)]

    none = home.run("budget", "reconcile", "--all", "--before", DAY, "--reason", WHY)
    ran = home.run("budget", "reconcile", "--all", "--before", "2026-01-04", "--reason", WHY)

    assert none.out == "No call before that day is without an end.\n"
    assert sorted(line.split()[0] for line in ran.out.splitlines()) == sorted(ids)
    assert ran.out.count("400 tokens, $0.0500.") == 3
    told = home.run("budget", "attempts", "--day", DAY, "--json").document
    assert {each["source"] for each in listed(told["attempts"])} == {"operator"}
    assert {each["reason"] for each in listed(told["attempts"])} == {WHY}
    bill = home.run("budget", "reconcile", "--all", "--before", DAY, "--actual", "1,1", "--reason", WHY)
    assert (bill.status, "--actual is the bill of one call" in bill.err) == (2, True)


def test_the_calls_are_listed_one_by_one(home: Home) -> None:
    unknown = lost(home, 1)
    paid(home, 2)

    day, open_ = home.run("budget", "attempts", "--day", DAY).out, home.run("budget", "attempts", "--unresolved").out

    assert (
        f"{unknown.id}  2026-01-03 12:00:00 UTC  unknown, offline, review_00000000, at most 400 tokens, $0.0500" in day
    )
    assert "settled, offline" in day
    assert unknown.id in open_
    assert "settled" not in open_
    assert "curator budget reconcile ATTEMPT" in open_
    wrong = home.run("budget", "attempts", "--unresolved", "--day", DAY)
    assert wrong.status == 2


def test_an_export_has_a_row_for_each_call_and_adds_up_to_what_is_shown(home: Home) -> None:
    settled = [lost(home, number) for number in (1, 2)]
    paid(home, 3, "elsewhere")
    home.run("budget", "reconcile", settled[0].id, "--actual", "90,0.01", "--reason", 'on "the" bill, line 3')

    plain, told = home.run("budget", "export").out, home.run("budget", "export", "--json").document

    rows = list(csv.DictReader(io.StringIO(plain)))
    assert home.run("budget", "export", "--csv").out == plain
    assert len(rows) == len(listed(told["attempts"])) == 3
    by_state = {row["state"]: row for row in rows}
    assert by_state["corrected"] | {"attemptId": "", "jobId": ""} == {
        "day": DAY,
        "attemptId": "",
        "provider": "offline",
        "model": "m",
        "jobId": "",
        "reservedAt": AT,
        "state": "corrected",
        "column": "actual",
        "calls": "1",
        "tokens": "90",
        "costNanodollars": "10000000",
        "isEstimated": "False",
        "source": "operator",
        "reason": 'on "the" bill, line 3',
        "errand": "",
    }
    assert (by_state["unknown"]["column"], by_state["settled"]["tokens"]) == ("unknown", "160")
    assert home.run("budget", "export", "--since", "2026-01-04").out.count("\n") == 1
    assert home.run("budget", "export", "--until", "2026-01-02").out.count("\n") == 1
    assert home.run("budget", "export", "--csv", "--json").status == 2


@pytest.mark.parametrize("day", ["2026-1-3", "2026-02-30", "today", "20260103", "2026-01-03T00:00"])
def test_a_day_that_is_none_is_a_wrong_command_line(home: Home, day: str) -> None:
    ran = home.run("budget", "show", "--day", day)

    assert (ran.status, "--day takes a UTC day, as 2026-01-31" in ran.err) == (2, True)


def test_a_damaged_record_is_named_where_it_hides_what_a_day_cost(home: Home) -> None:
    unknown = lost(home, 1)
    path = next(home.layout.attempts.rglob(f"{unknown.id}.0.json"))
    path.write_bytes(b"{")

    assert f"Attention: {path}" in home.run("budget").out
    assert str(path) in str(home.run("budget", "--json").document["faults"])


def test_what_is_shown_is_proved_from_the_files_or_the_file_is_named(home: Home) -> None:
    lost(home, 1)
    paid(home, 2)

    proved, told = home.run("budget", "prove"), home.run("budget", "prove", "--json")

    assert (proved.status, proved.out) == (0, "2 calls of 1 day come to what is shown.\n")
    assert (told.status, told.document) == (0, {"calls": 2, "days": 1, "differences": []})

    path = next(path for path in home.layout.attempts.rglob("*.2.json") if b"settled" in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"chargedTokens":160', b'"chargedTokens":159'))
    proved, told = home.run("budget", "prove"), home.run("budget", "prove", "--json")

    assert (proved.status, told.status) == (67, 67)
    name = str(path.relative_to(home.layout.agent))
    assert f"{name} offline, actual: it charges 159 tokens, and the calls come to 160\n" in proved.out
    assert "attempts/2026-01-03 offline, actual: shown are 159 tokens, and the calls come to 160\n" in proved.out
    assert proved.out.endswith("2 calls of 1 day: 2 figures differ.\n")
    assert listed(told.document["differences"])[0]["path"] == name


def test_a_limit_below_one_call_is_told_wherever_the_configuration_is_looked_at(home: Home) -> None:
    model: Json = {"id": "m", "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}}
    block: Json = {"baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKey": "k", "models": [model]}
    models = home.layout.agent / "models.json"
    models.write_text(json.dumps({"providers": {"local": block}}), "utf-8")
    models.chmod(0o600)
    home.service(mode="shadow", reviewer={"provider": "local", "model": "m", "maxTokensPerDay": 5_000})
    fact = "more than the day's limit of tokens: it would never be asked"

    assert fact in home.run("config", "check").out
    assert fact in home.run("doctor").out
    refused = home.run("authority", "external")

    assert refused.status == 65
    assert fact in refused.out
    assert json.loads(home.layout.service_json.read_text("utf-8"))["mode"] == "shadow"
