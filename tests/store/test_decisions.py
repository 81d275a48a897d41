"""Results are checkpoints, a decision is one for ever, and both are found durable."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.decision import Evidence, Span
from curator.model.digest import canonical, pretty
from curator.model.ids import JobId
from curator.model.proposal import Add
from curator.model.record import Violation
from curator.store.decisions import DecisionShelf, DecisionStore
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.golden_fixtures import golden
from tests.made_up import attempt_of, completed, failed, job, other_digest, result

OTHER: Final = result(job(), completed(job(), Add(content="Say it otherwise.", importance="low")), claim=2)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


@pytest.fixture
def store(layout: Layout) -> DecisionStore:
    return DecisionStore(Volume(), layout)


def test_a_result_is_a_canonical_line_under_its_job_and_attempt(store: DecisionStore, layout: Layout) -> None:
    store.record_result(result(job()))

    path = layout.result(job().id, attempt_of(job()))
    assert path.read_text("utf-8") == canonical(result(job()).encode()) + "\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert store.result(job().id, attempt_of(job())) == result(job())
    assert list(layout.decision_locks.iterdir()) == []


def test_a_result_is_recorded_once(store: DecisionStore) -> None:
    store.record_result(result(job()))
    store.record_result(result(job()))

    with pytest.raises(ConflictError):
        store.record_result(result(job(), failed(job())))
    assert store.results(job().id) == (result(job()),)


def test_a_result_that_says_the_same_in_other_bytes_is_the_same(store: DecisionStore, layout: Layout) -> None:
    store.record_result(result(job()))
    layout.result(job().id, attempt_of(job())).write_text(pretty(result(job()).encode()), "utf-8")

    store.record_result(result(job()))

    assert store.results(job().id) == (result(job()),)


def test_all_results_of_a_job_are_found_and_strange_names_passed_over(store: DecisionStore, layout: Layout) -> None:
    store.record_result(result(job()))
    store.record_result(result(job(), failed(job()), claim=2))
    (layout.results / job().id / ".DS_Store").write_bytes(b"x")

    assert {each.attempt_id for each in store.results(job().id)} == {attempt_of(job(), 1), attempt_of(job(), 2)}
    assert store.results(job("another").id) == ()


def test_who_elects_first_has_elected(store: DecisionStore, layout: Layout) -> None:
    assert not store.is_elected(job().id)
    first = store.elect(result(job()))

    assert first.outcome == completed(job())
    assert store.elect(OTHER) == first
    assert DecisionStore(Volume(), layout).find(job().id) == first
    assert store.is_elected(job().id)


def test_a_failed_result_elects_nothing(store: DecisionStore, layout: Layout) -> None:
    with pytest.raises(Violation):
        store.elect(result(job(), failed(job())))

    assert not layout.decision(job().id).exists()


ELECTOR: Final = """
import sys
from pathlib import Path
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.proposal import Add
from curator.store.decisions import DecisionStore
from tests.made_up import completed, job, result
said = completed(job(), Add(content=sys.argv[2], importance="low"))
print(DecisionStore(Volume(), Layout(Path(sys.argv[1]))).elect(result(job(), said)).proposal_digest)
"""


def test_two_processes_elect_one_decision(tmp_path: Path) -> None:
    electors = [
        subprocess.Popen(
            [sys.executable, "-c", ELECTOR, str(tmp_path), text],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for text in ("One.", "Two.")
    ]
    told = {elector.communicate()[0] for elector in electors}

    assert len(told) == 1
    assert len(told.pop().strip()) == 64


@pytest.mark.parametrize("survive", range(11))
def test_an_election_that_dies_at_any_verb_elects_at_most_once(tmp_path: Path, survive: int) -> None:
    layout = Layout(tmp_path)
    with pytest.raises(Crash):
        DecisionStore(Mortal(survive), layout).elect(result(job()))
    for left in layout.decision_locks.glob("*.lock"):
        left.unlink()  # what its owner's death and half a minute would do
    survivor = DecisionStore(Volume(), layout)
    standing = survivor.find(job().id)

    assert survivor.elect(OTHER) == (standing or survivor.find(job().id))


@pytest.mark.parametrize("find", ["decision", "result", "results", "elected"])
def test_what_is_found_is_flushed_first_for_its_writer_may_have_died_before_it_did(layout: Layout, find: str) -> None:
    DecisionStore(Volume(), layout).record_result(result(job()))
    DecisionStore(Volume(), layout).elect(result(job()))
    volume = Recorded()
    store = DecisionStore(volume, layout)

    if find == "decision":
        store.find(job().id)
    elif find == "elected":
        store.elect(OTHER)
    elif find == "result":
        store.result(job().id, attempt_of(job()))
    else:
        store.results(job().id)

    flushed = "flush proposal-decisions" if find in {"decision", "elected"} else f"flush {job().id}"
    assert volume.asked[-1] == flushed


def test_a_look_shows_what_stands_as_the_store_finds_it(store: DecisionStore, layout: Layout) -> None:
    shelf = DecisionShelf(layout)
    assert (shelf.read(job().id), shelf.read_results(job().id)) == (None, ())

    store.record_result(result(job()))
    store.elect(result(job()))

    assert shelf.is_elected(job().id)
    assert shelf.read(job().id) == store.find(job().id)
    assert shelf.read_results(job().id) == store.results(job().id) == (result(job()),)


@pytest.mark.parametrize("mode", [0o644, 0o400])
def test_what_others_may_read_or_nobody_may_write_is_refused(store: DecisionStore, layout: Layout, mode: int) -> None:
    store.record_result(result(job()))
    store.elect(result(job()))
    layout.decision(job().id).chmod(mode)
    layout.result(job().id, attempt_of(job())).chmod(mode)

    with pytest.raises(InvalidRecordError, match=f"has mode {mode:04o}, not 0600"):
        store.find(job().id)
    with pytest.raises(InvalidRecordError, match=f"has mode {mode:04o}, not 0600"):
        store.results(job().id)


def test_a_record_under_anothers_name_is_refused_and_kept(store: DecisionStore, layout: Layout) -> None:
    store.elect(result(job()))
    store.record_result(result(job()))
    stranger = job("another").id
    layout.decision(job().id).rename(layout.decision(stranger))
    layout.result(job().id, attempt_of(job())).rename(layout.result(job().id, attempt_of(job(), 2)))

    with pytest.raises(InvalidRecordError, match="holds another job than its name says"):
        store.find(stranger)
    with pytest.raises(InvalidRecordError, match="holds another attempt than its name says"):
        store.results(job().id)
    assert layout.decision(stranger).exists()


def test_evidence_is_kept_beside_a_result(store: DecisionStore) -> None:
    span = Span(operation=0, start=0, end=4, digest=other_digest())
    evidence = Evidence(job_id=job().id, job_digest=job().digest, attempt_id=attempt_of(job()), spans=(span,))

    store.record_evidence(evidence)
    store.record_evidence(evidence)

    assert store.evidence(job().id, attempt_of(job())) == evidence
    assert store.evidence(job().id, attempt_of(job(), 2)) is None


def test_evidence_costs_two_flushes_once_its_shard_has_something_in_it(layout: Layout) -> None:
    volume = Recorded()
    store = DecisionStore(volume, layout)
    first, second = (
        Evidence(job_id=job().id, job_digest=job().digest, attempt_id=attempt_of(job(), claim), spans=())
        for claim in (1, 2)
    )
    shard, path = layout.evidence_shard(job().id).name, layout.evidence_of(job().id, second.attempt_id)
    store.record_evidence(first)
    made = len(volume.asked)

    store.record_evidence(second)

    assert volume.asked[made:] == [f"stage {path.name}", f"link {path.name}", "unlink staged", f"flush {shard}"]
    assert f"flush {layout.evidence.name}" in volume.asked[:made]


@pytest.mark.parametrize("scenario", ["e", "f", "h", "k"])
def test_the_protocols_own_decisions_are_found(tmp_path: Path, scenario: str) -> None:
    layout = Layout(golden(scenario, tmp_path))
    job_id = JobId(next(layout.decisions.glob("*.json")).stem)
    store = DecisionStore(Volume(), layout)

    decision = store.find(job_id)

    assert decision is not None
    assert [each.attempt_id for each in store.results(job_id)] == [decision.attempt_id]
    assert store.elect(store.results(job_id)[0]) == decision
