"""What real Pi queued becomes, by one run of the real command, what real Pi had in hand when another worker had reviewed.

The two archives are the same agent folder, before the review and after its card was shown. Times, ids that were drawn
and what a prompt's own wording costs may differ; everything else may not.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.model.digest import Json
from tests.acceptance.processes import Place
from tests.cli.commands import Ran
from tests.fakes.provider import PROPOSAL, Settings, serving
from tests.golden_fixtures import real_pi

PROJECT_ROOT: Final = Path("/tmp/curator-pi/proj")  # noqa: S108 - the path is in the records' digests
KEY: Final = "60fe41c00df9c678107011e3"
JOB: Final = "review_0c4e8db691de1f693048fe6f85fdd53b9fa26e16"
PORT: Final = "35635"
USAGE: Final[Json] = {"prompt_tokens": 994, "completion_tokens": 39}
"""What the provider said in the archive."""


def answer() -> str:
    """Return the stream that the archive's worker got."""
    base: dict[str, Json] = {"id": "chatcmpl-fake-2", "created": 0, "model": "fake-1"}
    choice: Json = {"index": 0, "delta": {"role": "assistant", "content": PROPOSAL}, "finish_reason": "stop"}
    frames: list[Json] = [base | {"choices": [choice]}, base | {"choices": [], "usage": USAGE}]
    return "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames) + "data: [DONE]\n\n"


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, Ran, Layout]]:
    """The queued archive after one run, and the consumed one."""
    place = Place(tmp_path_factory.mktemp("queued"))
    agent = real_pi("queued", place.home)
    consumed = Layout(real_pi("consumed", tmp_path_factory.mktemp("consumed")))
    PROJECT_ROOT.mkdir(parents=True, exist_ok=True)
    with serving(Settings(raw=json.dumps({"sse": answer()})), place.log) as server:
        models = agent / "models.json"
        models.write_text(models.read_text("utf-8").replace(PORT, str(server.server_address[1])), "utf-8")
        yield place, place.review("--json"), consumed


def read(path: Path) -> dict[str, Json]:
    value = json.loads(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def without(value: Json, *keys: str) -> Json:
    """Return a record without what two runs cannot have in common."""
    if isinstance(value, dict):
        return {key: without(each, *keys) for key, each in value.items() if key not in keys}
    return [without(each, *keys) for each in value] if isinstance(value, list) else value


def test_one_run_with_one_request_does_it(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, ran, _ = reviewed

    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[-1] == {
        "type": "drained",
        "completed": 1,
        "failed": 0,
        "retried": 0,
        "budgetExhausted": 0,
        "interrupted": 0,
        "left": 0,
    }
    assert place.requests() == 1


def test_the_branch_holds_the_same_entry_with_the_same_facts(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, consumed = reviewed
    ours, theirs = (read(layout.root / KEY / "branches" / "main.json") for layout in (place.layout, consumed))
    drawn = ("id", "updatedAt", "importanceAssessedAt")

    assert list(ours) == list(theirs)
    assert without(ours, *drawn, "entries") == without(theirs, *drawn, "entries")
    (our,), (their,) = (entries_of(ours), entries_of(theirs))
    assert list(our) == list(their)
    assert without(our, *drawn, "createdAt") == without(their, *drawn, "createdAt")
    assert our["createdAt"] == our["updatedAt"] == our["importanceAssessedAt"] == ours["updatedAt"]
    assert len(str(our["id"])) == len(str(their["id"]))


def entries_of(branch: dict[str, Json]) -> list[dict[str, Json]]:
    entries = branch["entries"]
    assert isinstance(entries, list)
    return [entry for entry in entries if isinstance(entry, dict)]


@pytest.mark.parametrize(
    ("path", "drawn"),
    [
        (f"review-spool/outcomes/{JOB}.json", ("workerId", "leaseToken")),
        (f"review-spool/proposal-decisions/{JOB}.json", ("attemptId",)),
        (f"{KEY}/service/commit-receipts/{JOB}.json", ("revisionId", "resultingBranchDigest")),
        (f"{KEY}/review-admissions/retired/{JOB}.json", ("revisionId", "resultingBranchDigest", "requestDigest")),
    ],
)
def test_a_record_says_what_the_other_worker_said(
    path: str, drawn: tuple[str, ...], reviewed: tuple[Place, Ran, Layout]
) -> None:
    place, _, consumed = reviewed
    times = ("startedAt", "completedAt", "durationMs", "committedAt", "retiredAt")
    # The other worker adds binary fractions and says that no token went into thought; both hash into these.
    digests = ("outcomeDigest", "bindingDigest", "originalIntentDigest", "tombstoneDigest", "cost", "reasoning")
    ours, theirs = (read(layout.root / path) for layout in (place.layout, consumed))

    assert without(ours, *times, *digests, *drawn) == without(theirs, *times, *digests, *drawn)
    assert _keys(ours) | {"reasoning"} == _keys(theirs) | {"reasoning"}


def _keys(value: Json) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def test_the_checkpoint_stands_under_its_attempt(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, _ = reviewed
    (seen,) = place.attempts()

    result = read(only(place.layout.results / JOB))

    decision = read(only_decision(place.layout))
    assert result["attemptId"] == seen.id == decision["attemptId"]
    assert without(result, "kind") == without(decision, "kind")


def only_decision(layout: Layout) -> Path:
    (path,) = layout.decisions.glob("*.json")
    return path


def test_the_revision_is_a_review_from_the_same_base(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, consumed = reviewed
    paths = [only(layout.root / KEY / "revisions" / "main") for layout in (place.layout, consumed)]
    ours, theirs = map(read, paths)
    drawn = ("id", "committedAt", "afterDigest", "entryId")

    assert without(ours, *drawn) == without(theirs, *drawn)
    assert paths[0].name == f"000000000001-{ours['id']}.json"
    assert list(ours) == list(theirs)


def test_the_day_is_settled_with_the_same_tokens_and_the_same_cost(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, consumed = reviewed
    ours, theirs = (attempt_of(layout) for layout in (place.layout, consumed))
    figures = ("state", "claimAttempt", "provider", "model", "api", "chargedTokens", "chargedCostNanodollars")

    assert [ours[key] for key in figures] == [theirs[key] for key in figures]
    assert _keys(ours) | {"reasoning"} == _keys(theirs) | {"reasoning"}
    identity = read(only(place.layout.identities))
    assert (identity["id"], identity["leaseToken"]) == (ours["id"], ours["leaseToken"])
    assert list(identity) == list(read(only(consumed.identities)))


def attempt_of(layout: Layout) -> dict[str, Json]:
    providers = read(only(layout.days))["providers"]
    assert isinstance(providers, dict)
    attempts = providers["fake"]
    assert isinstance(attempts, list)
    (attempt,) = attempts
    assert isinstance(attempt, dict)
    return attempt


def test_the_heartbeats_are_what_the_extension_wants_to_see(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, consumed = reviewed
    worker, other = read(only(place.layout.workers)), read(only(consumed.workers))
    drawn = ("workerId", "pid", "startedAt", "updatedAt", "runtimeId")

    assert (worker["memoryPolicyVersion"], worker["maxMemoryChars"]) == (2, 6000)
    assert without(worker, *drawn) == without(other, *drawn)
    ours, theirs = (
        [beat for path in layout.runtimes.iterdir() if (beat := read(path))["kind"] == "worker"]
        for layout in (place.layout, consumed)
    )
    assert without(list(ours), *drawn) == without(list(theirs), *drawn)
    assert ours[0]["pid"] == worker["pid"]


def test_the_card_waits_for_pi_with_the_entry_on_it(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, _ = reviewed
    feedback = place.layout.root / KEY / "service" / "review-feedback"

    pending, ready = read(only(feedback / "pending")), read(only(feedback / "ready"))

    text = json.loads(PROPOSAL)["operations"][0]["content"]
    assert ready == {
        "version": 1,
        "jobId": JOB,
        "jobDigest": pending["jobDigest"],
        "branchName": "main",
        "requestedBy": "automatic",
        "status": "applied",
        "messages": ["Memory added."],
        "changes": [{"kind": "add", "text": text}],
    }


def test_what_belongs_to_the_extension_alone_is_untouched(reviewed: tuple[Place, Ran, Layout], tmp_path: Path) -> None:
    place, _, _ = reviewed
    before = real_pi("queued", tmp_path)
    own = [f"no-forgetti/{KEY}/{name}" for name in ("project.json", "skill-review.json", "reviews/main.json")]

    for name in ("settings.json", "auth.json", "models-store.json", "no-forgetti/service.json", *own):
        assert (place.layout.agent / name).read_bytes() == (before / name).read_bytes()
    folders = (place.layout.queued, place.layout.running, place.layout.dead_letter)
    assert [list(folder.iterdir()) for folder in folders] == [[], [], []]


def test_every_file_is_private(reviewed: tuple[Place, Ran, Layout]) -> None:
    place, _, _ = reviewed
    root = place.layout.root

    wide = [path for path in root.rglob("*") if path.lstat().st_mode & 0o077]

    assert wide == []
