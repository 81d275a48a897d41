"""What must hold of a backfill's files after any crash, its recovery, and its person's running it again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from faults.trajectory_oracles import look_at_trajectory, walks_of
from faults.view import HOME, fields_of, list_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.case import Case
    from faults.view import Fields, View

_PLANS: Final = rf"{HOME}/curator/backfill/plan_[0-9a-f]{{16}}"
_ANSWER: Final = re.compile(rf"{_PLANS}/answers/(\d{{6}})\.\d+\.json")
_STAGED: Final = re.compile(rf"{_PLANS}/staged/(\d{{6}})\.json")
_SAME: Final = re.compile(rf"{_PLANS}/(?:plan\.json|windows\.json|staged/.+)")


def what_was_staged_stays(case: Case) -> Iterator[str]:
    """Once it was told, a proposal stands, until its plan is cancelled."""
    if case.told("cancelled"):
        return
    for view, told in ((case.crashed, case.told_before("staged")), (case.now, case.told("staged"))):
        staged = {str(int(found[1])) for path in view.files if (found := _STAGED.fullmatch(path))}
        yield from (f"window {window} was staged, and is lost" for window in set(told) - staged)
    for view, told in ((case.crashed, case.told_before("planned")), (case.now, case.told("planned"))):
        for plan in told:
            if f"{HOME}/curator/backfill/{plan}/plan.json" not in view.files:
                yield f"{plan} was told, and is lost"


def a_settled_call_has_its_answer(case: Case) -> Iterator[str]:
    """A call of a plan is settled only when its answer is durable: or it would be paid for again."""
    if case.told("cancelled"):
        return
    for view in (case.crashed, case.now):
        answered = set(_answers(view))
        for attempt, state in _calls(view).items():
            if state in ("settled", "corrected") and attempt not in answered:
                yield f"{attempt} is settled, and its answer is nowhere"


def no_answered_call_is_repeated(case: Case) -> Iterator[str]:
    """Each crash loses the answer of one call at most, and whatever was answered is asked for no more."""
    if case.told("cancelled"):
        return
    answered = _answers(case.now)
    lost = [each for each, state in _calls(case.now).items() if state != "cancelled" and each not in answered]
    if len(lost) > case.crashes:
        yield f"{len(lost)} calls have no answer, after {case.crashes} crashes"
    if case.ended is not None and len(answered) > len(_answers(case.ended)):
        yield "more was asked and answered than where nobody was cut off"
    for path, content in case.crashed.files.items():
        if _ANSWER.fullmatch(path) and case.now.files.get(path) != content:
            yield f"{path} is not the answer any more that stood there"


def a_shadow_changes_no_memory(case: Case) -> Iterator[str]:
    """Until somebody promotes, no branch has anything of a proposal."""
    if case.told("promoting") or not case.told("planned"):
        return
    for project in case.now.projects:
        if project.intents or project.receipts or any(project.revisions.values()):
            yield "memory was changed by a plan that nobody promoted"


def a_rerun_ends_the_same(case: Case) -> Iterator[str]:
    """Whoever was cut off and runs it again has the same proposals, byte for byte, and the same memory."""
    if not case.is_over or case.ended is None or not any(map(_SAME.fullmatch, case.ended.files)):
        return
    for path in sorted({*filter(_SAME.fullmatch, case.ended.files), *filter(_SAME.fullmatch, case.now.files)}):
        if case.now.files.get(path) != case.ended.files.get(path):
            yield f"{path} is not what it is where nobody was cut off"
    for what, look in (("covered", _covered), ("memory", _memory)):
        if look(case.now) != look(case.ended):
            yield f"{what} is {look(case.now)}, and where nobody was cut off {look(case.ended)}"


def a_promotion_is_put_down_first(case: Case) -> Iterator[str]:
    """Before anything of a promotion stands, its record does, and the branch as it was: or nobody could take it back."""
    for view in (case.crashed, case.now):
        for (job, _), result in view.results.items():
            if is_promotion(view, job):
                plan, _, number = text_of(fields_of(result.get("job")), "throughEntryId").partition(".")
                for folder in ("promotions", "snapshots"):
                    path = f"{HOME}/curator/backfill/{plan}/{folder}/{int(number):06}.json"
                    if path not in view.files:
                        yield f"{job} is promoted, and {path} is not there"


def is_promotion(view: View, job: str) -> bool:
    """Tell whether a job stands for a promotion: nobody asked a provider for it, and the spool never had it."""
    told = [fields_of(each.get("outcome")) for (of, _), each in view.results.items() if of == job]
    return any(text_of(fields_of(each.get("provenance")), "api") == "promote" for each in told)


def _answers(view: View) -> dict[str, Fields]:
    found = (fields_of(json.loads(content)) for path, content in view.files.items() if _ANSWER.fullmatch(path))
    return {text_of(each, "attemptId"): each for each in found}


def _calls(view: View) -> dict[str, str]:
    """Return the plans' calls, by how the journal has them."""
    return {
        attempt: text_of(steps[max(steps)], "state")
        for attempt, steps in view.attempts.items()
        if any(text_of(step, "origin") == "backfill" for step in steps.values())
    }


def _covered(view: View) -> dict[str, str]:
    return {name: walk[-1] for name, walk in walks_of(look_at_trajectory(view)).items()}


def _memory(view: View) -> list[tuple[str, str, str]]:
    return [
        (name, text_of(fields_of(entry), "id"), text_of(fields_of(entry), "text"))
        for project in view.projects
        for name, branch in sorted(project.branches.items())
        for entry in list_of(branch.get("entries"))
    ]


BACKFILL_ORACLES: Final = (
    what_was_staged_stays,
    a_settled_call_has_its_answer,
    no_answered_call_is_repeated,
    a_shadow_changes_no_memory,
    a_promotion_is_put_down_first,
    a_rerun_ends_the_same,
)
