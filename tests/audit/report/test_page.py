"""The whole page: hostile records are text in it, it is bounded and says so, and it can do nothing."""

import dataclasses
import time

import pytest

from curator.audit.questions import Scope
from curator.audit.report.charts import WIDE
from curator.audit.report.figures import Amounts, Figures, Spent
from curator.audit.report.markup import cleaned, render
from curator.audit.report.page import page, policy
from curator.audit.report.picture import draw
from curator.audit.report.sections import spend
from curator.audit.report.stories import Changed, Story
from curator.audit.report.tales import tale
from tests.audit.report.made import HOSTILE, KEY, report, story, told, without_pictures
from tests.audit.report.outline import Outline


@pytest.fixture(scope="module")
def shown() -> Outline:
    return Outline(page(report()))


def test_hostile_records_are_text_and_no_element_or_attribute_of_theirs_stands(shown: Outline) -> None:
    assert shown.text.count(cleaned(HOSTILE)) >= 20
    assert shown.all("script") == shown.all("img") == []
    assert shown.open == []
    for tag, attributes in shown.elements:
        assert not [key for key in attributes if key.startswith("on") or key == "style"], tag
        assert all(
            each.startswith(("#", "data:image/svg+xml,")) for key, each in attributes.items() if key in ("href", "src")
        )


def test_its_policy_lets_nothing_be_loaded_or_run(shown: Outline) -> None:
    (said,) = [each["content"] for each in shown.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]

    parts = dict(part.split(" ", 1) for part in said.split("; "))
    assert parts["default-src"] == "'none'"
    assert parts["style-src"].startswith("'sha256-")
    assert set(parts) == {"default-src", "style-src", "img-src", "base-uri", "form-action"}
    assert "script-src" in policy("", "")


def test_every_name_that_something_refers_to_stands_once(shown: Outline) -> None:
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    referred = [each["href"][1:] for each in shown.all("a")]
    for _, attributes in shown.elements:
        referred += attributes.get("aria-labelledby", "").split()

    assert len(ids) == len(set(ids))
    assert set(referred) <= set(ids)


def test_each_picture_has_its_figures_as_a_table_and_both_widths(shown: Outline) -> None:
    pictures = [attributes["class"] for attributes in shown.all("svg")]

    assert pictures == ["wide", "narrow"] * 6
    assert len(shown.all("figure")) == 7
    assert all(
        each == {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": each["aria-label"]}
        for each in shown.all("div")
        if each.get("class") == "scroll"
    )
    for words in ("$0.0155", "4.0 s", "curator audit spend --csv", "2 d", "104 %", "2 earlier days more", "median"):
        assert words in shown.text, words


def test_what_is_left_out_is_counted(shown: Outline) -> None:
    assert "7 earlier revisions more" in shown.text
    assert "18 memories more that changed earlier" in shown.text
    assert "38 smaller memories more" in shown.text
    assert "298 more set aside" in shown.text


def test_without_the_library_the_figures_stand_alone_and_that_is_said() -> None:
    shown = Outline(page(without_pictures()))

    assert shown.all("svg") == []
    assert len(shown.all("details")) == len(report().stories)
    assert "pip install 'pi-curator[report]'" in shown.text
    assert "$0.0155" in shown.text


def test_a_page_of_nothing_says_so_and_draws_nothing() -> None:
    nothing = Figures((), 0, report().figures.spent, (), {}, (), (), (), (), 0, (), 0, (), 0, None)
    empty = dataclasses.replace(report(), figures=nothing, stories=(), stories_of=0, roots={})

    shown = Outline(page(empty))

    assert shown.all("svg") == []
    for words in (
        "No call was made yet.",
        "No model was asked yet.",
        "No job is over yet.",
        "Nothing waits.",
        "Nothing is remembered yet.",
    ):
        assert words in shown.text


def test_what_was_set_aside_is_not_told_of_one_project() -> None:
    shown = Outline(page(dataclasses.replace(without_pictures(), scope=Scope(project_key=KEY))))

    assert "set-aside" not in [attributes.get("id") for attributes in shown.all("section")]
    assert "dead-letter" not in shown.text


def test_a_live_page_runs_its_one_script_and_the_file_none() -> None:
    live = Outline(page(without_pictures("plain"), is_live=True))

    assert live.all("script") == [{"type": "module"}]
    (said,) = [each["content"] for each in live.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert "script-src 'sha256-" in said
    assert "connect-src 'self'" in said


def diff(one: Story) -> Outline:
    return Outline(render(tale(one, {KEY: None}, is_open=True)))


def test_a_change_is_shown_as_a_diff_in_which_the_changed_words_stand_out() -> None:
    marked = diff(story(told("linking")))

    assert [tag for tag, _ in marked.elements if tag in ("ins", "del")] == ["ins", "del", "ins", "del", "del"]
    assert marked.text.count("(text not kept)") == 1
    assert len(marked.all("mark")) == 2
    assert "weighed anew" in marked.text
    assert "high" in marked.text


def test_a_memory_that_cannot_be_read_costs_its_own_story() -> None:
    shown = diff(story(fault="its history is damaged", of=4))

    assert "It cannot be told: its history is damaged." in shown.text
    assert "more" not in shown.text


@pytest.mark.parametrize(("nano", "label"), [(12_000_000, "$0.012"), (3_000_000_000, "$3.00"), (90_000_000_000, "$80")])
def test_money_on_an_axis_is_as_exact_as_what_is_drawn(nano: int, label: str) -> None:
    day, long_ago = "2026-01-10", "2024-01-10"
    days = ((long_ago, Spent(Amounts(1, 1, 10**14))), (day, Spent(Amounts(1, 1, nano))))

    shown = spend(dataclasses.replace(report().figures, days=days), day)

    assert shown.spec is not None
    drawn = Outline(render(draw(shown.spec(WIDE), "x-wide", "t", "d")))
    assert label in drawn.texts
    assert "2024" not in shown.told
    assert shown.told.endswith("the picture shows 2025-10-13 to 2026-01-10.")


def test_words_without_end_cost_no_time_and_are_shown_as_they_are() -> None:
    words = " ".join("ab"[at % 3 % 2] for at in range(2_000))
    one = Changed("replace", words, f"{words} c", "normal")
    began = time.process_time()

    shown = diff(story(dataclasses.replace(told("x"), changes=(one,) * 32)))

    assert time.process_time() - began < 1
    assert shown.all("mark") == []
    assert shown.text.count(f"{words} c") == 32
