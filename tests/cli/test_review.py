"""`curator review --once` as a person and as a program meet it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from curator.cli.page import command
from curator.cli.review import SignalStop
from curator.model.digest import Json
from curator.model.ids import JobId
from tests.cli.commands import CURATOR, Home, assert_refused, environ_of, make_home, run
from tests.fakes.provider import Settings, serving
from tests.workflow.shops import HandClock

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def local_model(home: Home, port: int) -> None:
    model: dict[str, Json] = {"id": "some-model", "api": "openai-completions"}
    block: Json = {"baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "made-up-key", "models": [model]}
    (home.layout.agent / "models.json").write_text(json.dumps({"providers": {"local": block}}), "utf-8")
    home.service(reviewer={"provider": "local", "model": "some-model"})


def test_a_missing_configuration_is_refused_and_the_remedy_named(tmp_path: Path) -> None:
    agent = tmp_path / "agent"

    ran = run("review", "--once", "--agent-dir", agent, cwd=tmp_path, environ=environ_of(tmp_path))

    assert_refused(ran, 78, agent / "no-forgetti" / "service.json", "curator config init")
    assert not agent.exists()


def test_an_empty_queue_is_no_failure(home: Home) -> None:
    ran = home.run("review", "--once")

    assert (ran.status, ran.out, ran.err) == (0, "Nothing to review now.\n", "")


def test_a_program_reads_json_lines(home: Home) -> None:
    job_id = home.enqueue(WISH)

    ran = home.run("review", "--once", "--json", "--worker-id", "made-up")

    assert (ran.status, ran.err) == (0, "")
    kinds = [line["type"] for line in ran.lines]
    assert [kind for kind in kinds if kind != "idle"] == ["claimed", "asking", "completed", "drained"]
    claimed, completed, drained = ran.lines[0], ran.lines[2], ran.lines[-1]
    assert (claimed["jobId"], claimed["attempt"]) == (job_id, 1)
    provenance, admission = completed["provenance"], completed["admission"]
    assert isinstance(provenance, dict)
    assert isinstance(admission, dict)
    assert (provenance["provider"], admission["status"]) == ("offline", "applied")
    wanted = {"completed": 1, "failed": 0, "retried": 0, "budgetExhausted": 0, "interrupted": 0}
    assert {key: drained[key] for key in wanted} == wanted


def test_a_person_reads_sentences_and_the_change(home: Home) -> None:
    home.enqueue(WISH)

    ran = home.run("review", "--once")

    assert ran.status == 0
    assert "memory has changed" in ran.out
    assert "  + Always run the linter before committing." in ran.out
    assert str(home.layout.root) in ran.out
    assert "\x1b" not in ran.out


def test_what_is_known_already_is_nothing_new(home: Home) -> None:
    home.enqueue(WISH)
    home.review()
    home.enqueue(WISH, name="again.jsonl")

    assert "nothing new to remember" in home.run("review", "--once").out


def test_a_limit_leaves_the_rest_and_says_so(home: Home) -> None:
    home.enqueue(WISH)
    home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")

    first = home.run("review", "--once", "--limit", "1")
    second = home.run("review", "--once", "--limit", "1", "--json")

    assert "1 job left:\n  1 waits for the next review.\n" in first.out
    assert second.lines[-1]["left"] == 0


def test_in_embedded_mode_nothing_is_claimed(home: Home) -> None:
    home.enqueue(WISH)
    home.service(mode="embedded")

    plain, lines = home.run("review", "--once"), home.run("review", "--once", "--json")

    assert plain.status == lines.status == 0
    assert "curator config init --mode external --force" in plain.err
    assert "1 job left:\n  1 waits for another mode: it is embedded" in plain.out
    assert [line["type"] for line in lines.lines] == ["stopped", "drained"]
    assert lines.lines[-1]["left"] == 1
    assert len(list(home.layout.queued.glob("*.json"))) == 1


def test_in_shadow_mode_memory_stays_and_the_shadow_is_shown(home: Home) -> None:
    home.enqueue(WISH)
    home.service(mode="shadow")
    branch = next(home.layout.root.glob("*/branches/main.json"))
    before = branch.read_bytes()

    ran = home.run("review", "--once")

    assert "memory would have changed (shadow) (no cost)." in ran.out
    assert "  + Always run the linter before committing." in ran.out
    assert str(home.layout.shadow) in ran.out
    assert branch.read_bytes() == before
    assert "shadow  Always run the linter" in home.run("authority", "compare").out


def test_a_live_foreign_worker_is_named(home: Home) -> None:
    now = subprocess.run(["date", "-u", "+%Y-%m-%dT%H:%M:%S.000Z"], capture_output=True, check=True, encoding="utf-8")
    beat: dict[str, Json] = {
        "version": 1,
        "workerId": "host:1",
        "pid": os.getpid(),
        "startedAt": now.stdout.strip(),
        "updatedAt": now.stdout.strip(),
        "state": "idle",
    }
    path = home.layout.worker_beat("host:1")
    path.parent.mkdir(mode=0o700)
    path.write_text(json.dumps(beat), "utf-8")

    ran = home.run("review", "--once")

    assert_refused(ran, 75, "host:1", str(os.getpid()), "Stop it first")


@pytest.mark.parametrize(
    ("reviewer", "code"),
    [({"provider": "local", "model": "another"}, "model_not_found"), ({"provider": "x", "model": "y"}, "model_")],
)
def test_an_unknown_model_puts_the_job_back(home: Home, reviewer: Json, code: str) -> None:
    home.enqueue(WISH)
    local_model(home, 9)
    home.service(reviewer=reviewer)

    ran = home.run("review", "--once", "--json")

    assert ran.status == 78
    assert ran.lines[-1]["blockedBy"] == "model_not_found"
    retry = next(line for line in ran.lines if line["type"] == "retry")
    failure = retry["failure"]
    assert isinstance(failure, dict)
    assert str(failure["code"]).startswith(code)
    assert failure["retryable"] is True
    assert ran.lines[-1]["left"] == 1


def test_a_spent_budget_names_limit_figure_and_key_and_how_to_go_on(home: Home) -> None:
    home.service(reviewer={"provider": "offline", "model": "rules-1", "maxCallsPerDay": 1})
    for number in range(3):
        home.enqueue(f"We decided that part {number} is stored in UTC.", name=f"{number}.jsonl")

    ran = home.run("review", "--once")

    assert ran.status == 0
    assert (
        "offline has used 1 call, no cost, as it counts today, and may use 1 call a day (maxCallsPerDay in" in ran.out
    )
    assert "Done: 1 completed, 1 over budget. 2 jobs left:\n  " in ran.out
    assert (
        "the day's calls are used up (maxCallsPerDay in service.json). Raise it there, and they go on; or see `"
        in ran.out
    )
    home.service(reviewer={"provider": "offline", "model": "rules-1"})
    assert home.run("jobs", "retry", "--all").status == 0
    assert "Done: 2 completed.\n" in home.run("review", "--once").out


def test_a_missing_key_is_the_reason_of_every_job_that_is_left(home: Home) -> None:
    for number in range(2):
        home.enqueue(WISH, name=f"{number}.jsonl")
    local_model(home, 9)
    models = home.layout.agent / "models.json"
    models.write_text(models.read_text("utf-8").replace("made-up-key", "$MADE_UP_KEY"), "utf-8")

    ran = home.run("review", "--once")

    assert ran.status == 78
    assert "(auth_unavailable). See `" in ran.out
    assert "1 waits for configuration (auth_unavailable), tried again at " in ran.out
    assert "config check`, and once that is mended `" in ran.out
    assert ran.err.count("\n") == 1
    assert "reviewer:" not in ran.err


def test_a_failure_is_explained_where_the_retry_points_to(home: Home) -> None:
    job_id = home.enqueue(WISH)
    with serving(Settings(review="http500")) as server:
        local_model(home, server.server_address[1])

        ran = home.run("review", "--once")
    shown, told = home.run("jobs", "show", job_id).out, home.run("jobs", "show", job_id, "--json").document

    assert f"(provider_error). See `{command()} jobs show {job_id[:15]}`." in ran.out
    assert "failure:     provider_error: the provider answered with status 500\n" in shown
    assert "meaning:     The provider could not be reached, refused the request" in shown
    assert ", settled, provider_error, local, " in shown
    assert "waits for:   its retry at " in shown
    assert told["failure"] == {"code": "provider_error", "message": "the provider answered with status 500"}
    reason = told["waitsFor"]
    assert isinstance(reason, dict)
    assert (reason["cause"], reason["code"]) == ("retry", "provider_error")


def test_a_wrong_worker_id_is_a_usage_error(home: Home) -> None:
    assert_refused(home.run("review", "--once", "--worker-id", "no spaces"), 2, "worker id")


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_call_ends_the_run_and_keeps_the_job(home: Home, signal_: signal.Signals) -> None:
    home.enqueue(WISH)
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    with socket.create_server(("127.0.0.1", 0)) as mute, contextlib.ExitStack() as connections:
        local_model(home, mute.getsockname()[1])
        with subprocess.Popen(
            [*CURATOR, "review", "--once", "--json"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as command:
            assert command.stdout is not None
            assert command.stderr is not None
            for line in command.stdout:
                if json.loads(line)["type"] == "asking":
                    connections.enter_context(mute.accept()[0])
                    command.send_signal(signal_)
            said = command.stderr.read()

    assert command.returncode == 130, said
    assert b"Traceback" not in said
    spool = (home.layout.queued, home.layout.running)
    assert sum(len(list(folder.glob("*.json"))) for folder in spool) == 1


def test_an_echo_of_a_signal_is_not_a_second_one() -> None:
    clock = HandClock(0)
    before = signal.getsignal(signal.SIGINT)

    with SignalStop(clock) as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()

        clock.at = 501
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) == before


def test_old_evidence_goes_only_where_the_run_maintains(home: Home) -> None:
    job_id = home.enqueue("From now on, always run the linter before committing.")
    home.review()
    decision = home.layout.decision(JobId(job_id))
    long_ago = time.time() - 30 * 86_400
    for card in home.layout.root.glob("*/service/review-feedback/*/*.json"):
        card.unlink()  # Pi has shown it
    for path in home.layout.root.rglob("review_*"):
        os.utime(path, (long_ago, long_ago))

    assert home.run("review", "--once").status == 0
    assert decision.exists()
    ran = home.run("review", "--once", "--maintain", "--json")

    assert (ran.status, ran.lines[-1]["type"]) == (0, "drained")
    assert not decision.exists()
    assert home.run("memory", "show").out.count("linter") == 1
