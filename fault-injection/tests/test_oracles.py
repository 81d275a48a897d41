"""Each oracle finds the damage that it is there for: a healthy tree is damaged by hand, and judged."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator

import pytest
from faults.backfill_oracles import BACKFILL_ORACLES
from faults.campaign import Stage
from faults.case import Case
from faults.oracles import ORACLES, judge
from faults.recording import Mark
from faults.scenarios import SCENARIOS
from faults.trajectory_oracles import TRAJECTORY_ORACLES
from faults.tree import Node, Tree, scratch
from faults.view import Fields, look

Damage = Callable[[dict[str, Node]], None]


@pytest.fixture(scope="module")
def stages() -> Iterator[dict[str, Stage]]:
    names = (
        "applied",
        "base",
        "shadow",
        "failed",
        "undone",
        "set-aside",
        "mended",
        "rebased",
        "maintained",
        "reconciled",
    )
    folders = {name: scratch() for name in names}
    yield {name: Stage(SCENARIOS[name], folder) for name, folder in folders.items()}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)


def ending(stage: Stage) -> Tree:
    return stage.disk.whole(stage.disk.points[-1])


def one(tree: dict[str, Node], pattern: str) -> str:
    return next(path for path in sorted(tree) if re.search(pattern, path))


def remove(pattern: str) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        del tree[one(tree, pattern)]

    return damage


def edit(pattern: str, change: Callable[[Fields], None]) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        path = one(tree, pattern)
        record = json.loads(tree[path].content or b"{}")
        change(record)
        tree[path] = Node(json.dumps(record).encode())

    return damage


def copy(pattern: str, old: str, new: str) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        path = one(tree, pattern)
        tree[re.sub(old, new, path)] = tree[path]

    return damage


def both(first: Damage, second: Damage) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        first(tree)
        second(tree)

    return damage


def tear(pattern: str) -> Damage:
    def damage(tree: dict[str, Node]) -> None:
        path = one(tree, pattern)
        tree[path] = Node((tree[path].content or b"")[:20])

    return damage


def remember_twice(branch: Fields) -> None:
    entries = branch["entries"]
    assert isinstance(entries, list)
    last = entries[-1]
    assert isinstance(last, dict)
    entries.append(last | {"id": "another"})


CASES: tuple[tuple[str, str, Damage], ...] = (
    ("no_record_is_torn", "applied", tear(r"commit-receipts/")),
    (
        "what_was_accepted_is_eligible_or_over",
        "applied",
        both(remove(r"/outcomes/.+\.json"), remove(r"/finished/.+\.json")),
    ),
    ("a_job_stands_in_one_place", "applied", copy(r"/outcomes/.+\.json", "/outcomes/", "/queued/")),
    ("what_was_said_to_be_over_is_over", "applied", remove(r"/outcomes/.+\.json")),
    ("a_request_was_dispatched_first", "applied", remove(r"\.1\.json")),
    (
        "a_request_was_dispatched_first",
        "applied",
        edit(r"\.1\.json", lambda step: step.update(state="cancelled")),
    ),
    (
        "dispatches_are_requests",
        "applied",
        both(
            copy(r"\.1\.json", r"review_attempt_(..)....", r"review_attempt_\g<1>0000"),
            copy(r"\.1\.json", r"review_attempt_(..)....", r"review_attempt_\g<1>1111"),
        ),
    ),
    ("an_attempt_is_proved_step_by_step", "applied", remove(r"provider-results/.+\.json")),
    ("an_attempt_is_proved_step_by_step", "base", remove(r"curator/bases/.+\.json")),
    ("a_claim_comes_first", "applied", edit(r"\.2\.json", lambda step: step.update(claimAttempt=2_000_000))),
    ("a_failed_job_keeps_its_evidence", "failed", remove(r"provider-results/.+\.json")),
    ("the_projection_follows", "applied", remove(r"accounting/identities/")),
    ("the_projection_follows", "applied", remove(r"\.2\.json")),
    ("an_attempt_only_goes_on", "applied", remove(r"\.2\.json")),
    ("an_attempt_only_goes_on", "applied", remove(r"\.0\.json")),
    ("attempts_come_to_rest", "applied", remove(r"\.2\.json")),
    (
        "immutable_paths_keep_their_bytes",
        "applied",
        edit(r"provider-results/.+\.json", lambda result: result.update(more=1)),
    ),
    ("immutable_paths_keep_their_bytes", "applied", remove(r"curator/jobs/.+\.json")),
    ("a_decision_is_of_a_kept_result", "applied", remove(r"provider-results/.+\.json")),
    ("a_proposal_has_its_evidence", "applied", remove(r"curator/evidence/.+\.json")),
    ("a_receipt_matches_the_history", "applied", remove(r"/revisions/.+\.json")),
    ("a_completed_job_has_its_receipt", "applied", remove(r"commit-receipts/")),
    ("history_has_no_gap", "applied", copy(r"/revisions/.+\.json", r"000000000001", r"000000000002")),
    ("history_has_no_gap", "applied", edit(r"branches/main\.json", lambda branch: branch.update(entries=[]))),
    ("a_proposal_takes_effect_once", "applied", edit(r"branches/main\.json", remember_twice)),
    (
        "a_proposal_takes_effect_once",
        "applied",
        both(remove(r"commit-receipts/"), remove(r"review-admissions/retired/.+\.json")),
    ),
    ("memory_survives", "rebased", edit(r"branches/main\.json", lambda branch: branch.update(entries=[]))),
    ("who_waits_gets_one_card", "applied", remove(r"review-feedback/ready/.+\.json")),
    ("who_waits_is_not_forgotten", "applied", remove(r"review-feedback/pending/.+\.json")),
    ("who_waits_gets_one_card", "applied", edit(r"feedback/ready/.+\.json", lambda card: card.update(status="noop"))),
    (
        "the_shadow_changes_nothing_real",
        "shadow",
        copy(r"shadow/.+/commit-receipts/.+\.json", r"curator/shadow/", ""),
    ),
    ("what_was_set_aside_is_kept", "set-aside", remove(r"dead-letter/.+")),
    (
        "only_a_person_holds_a_job",
        "applied",
        copy(r"review-spool/outcomes/.+\.json", r"review-spool/outcomes/", "curator/held/"),
    ),
    (
        "a_folder_of_the_spool_holds_its_own_kind",
        "applied",
        copy(r"review-spool/outcomes/.+\.json", r"/outcomes/", "/dead-letter/"),
    ),
    ("a_closed_day_costs_what_it_cost", "maintained", edit(r"\.closed\.json", lambda day: day.update(unresolved=[]))),
    ("a_closed_day_costs_what_it_cost", "maintained", edit(r"\.closed\.json", lambda day: day.update(attempts=[]))),
    ("a_persons_word_on_a_call_stays", "reconciled", remove(r"\.3\.json")),
    ("an_attempt_only_goes_on", "maintained", remove(r"\.closed\.json")),
    ("immutable_paths_keep_their_bytes", "maintained", remove(r"curator/finished/.+\.json")),
    ("what_is_removed_leaves_no_orphan", "applied", remove(r"provider-results/.+\.json")),
    ("what_is_removed_leaves_no_orphan", "applied", both(remove(r"/outcomes/.+\.json"), remove(r"/finished/.+\.json"))),
)


@pytest.mark.parametrize(
    ("oracle", "scenario", "damage"), CASES, ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)]
)
def test_an_oracle_finds_the_damage_that_it_is_for(
    stages: dict[str, Stage], oracle: str, scenario: str, damage: Damage
) -> None:
    stage = stages[scenario]
    healthy = ending(stage)
    damaged = dict(healthy)
    damage(damaged)

    found = judge(stage.case(look(damaged), look(healthy), stage.said(stage.disk.points[-1])))

    assert oracle in {breach.partition(":")[0] for breach in found}


@pytest.mark.parametrize(
    "scenario",
    ["applied", "base", "shadow", "failed", "undone", "set-aside", "mended", "rebased", "maintained", "reconciled"],
)
def test_no_oracle_accuses_the_healthy(stages: dict[str, Stage], scenario: str) -> None:
    stage = stages[scenario]
    healthy = look(ending(stage))

    assert judge(stage.case(healthy, healthy, stage.said(stage.disk.points[-1]))) == []


def test_what_pi_may_not_meet_is_looked_for_in_what_the_crash_left(stages: dict[str, Stage]) -> None:
    stage = stages["applied"]
    healthy = ending(stage)
    damaged = dict(healthy)
    remove(r"commit-receipts/")(damaged)

    found = judge(stage.case(look(healthy), look(damaged), stage.said(stage.disk.points[-1])))

    assert any(breach.startswith("what_pi_meets_is_in_order") for breach in found)


def test_an_intent_is_followed_to_its_own_end(stages: dict[str, Stage]) -> None:
    stage = stages["applied"]
    begun = next(
        state.tree
        for _, state in stage.states("kill")
        if any(re.search(r"\.intent\.json$", path) for path in state.tree)
    )
    lost = {path: node for path, node in begun.items() if not re.search(r"\.intent\.json$", path)}

    found = judge(stage.case(look(lost), look(begun), ()))

    assert any(breach.startswith("an_intent_rolls_forward_to_its_own_end") for breach in found)


def test_another_job_under_the_same_id_does_not_say_what_an_attempt_judged(stages: dict[str, Stage]) -> None:
    stage = stages["base"]
    beside = dict(ending(stage))
    name = re.search(r"bases/(review_[0-9a-f]{40})/([0-9a-f]{64})\.json", one(beside, r"curator/bases/.+\.json"))
    assert name is not None
    result = json.loads(beside[one(beside, rf"provider-results/{name[1]}/.+\.json")].content or b"{}")
    other = result["job"] | {"digest": "0" * 64, "baseBranchDigest": name[2]}
    held = {"version": 1, "job": other, "nextAttempt": 1}
    beside[f"no-forgetti/curator/held/{name[1]}.json"] = Node(json.dumps(held).encode())
    lost = {path: node for path, node in beside.items() if name[0] not in path}

    found = [judge(stage.case(look(tree), look(tree), stage.said(stage.disk.points[-1]))) for tree in (beside, lost)]

    accused = [any("an_attempt_is_proved_step_by_step" in each for each in breaches) for breaches in found]
    assert accused == [False, True]


def test_every_oracle_has_damage_that_it_finds() -> None:
    elsewhere = {"what_pi_meets_is_in_order", "an_intent_rolls_forward_to_its_own_end"}
    elsewhere |= {oracle.__name__ for oracle in (*TRAJECTORY_ORACLES, *BACKFILL_ORACLES)}

    assert {oracle for oracle, _, _ in CASES} | elsewhere == {oracle.__name__ for oracle in ORACLES}


def test_a_lost_acknowledgement_is_told_apart_from_what_nobody_was_told() -> None:
    nothing = look({})
    said = (Mark("accepted", "review_" + "0" * 40),)

    assert judge(Case(nothing, nothing, (), (), crashes=1)) == []
    assert judge(Case(nothing, nothing, said, (), crashes=1)) != []
