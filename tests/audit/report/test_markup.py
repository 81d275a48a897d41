"""Text is text, whatever it says; what is no plain element or attribute is a defect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.audit.report.markup import Element, checked, cleaned, element, link, render
from tests.audit.report.made import HOSTILE
from tests.audit.report.outline import Outline

TEXTS = st.text() | st.text(alphabet="<>&\"'/=!-[]scriptle \u202e\x00")


@given(TEXTS, TEXTS)
def test_a_text_stays_one_text_and_an_attribute_one_attribute(text: str, label: str) -> None:
    shown = Outline(render(element("p", text, element("b", "end"), aria_label=label)))

    assert [tag for tag, _ in shown.elements] == ["p", "b"]
    assert shown.all("p") == [{"aria-label": cleaned(label)}]
    assert shown.text == f"{cleaned(text)}end"
    assert shown.open == []


def test_what_steers_a_line_or_a_terminal_is_shown_as_such() -> None:
    assert cleaned("a\u202eb\x1bc\x00d\u2066e\ud800f\n\t") == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\n\t"


def test_an_attribute_that_is_none_is_left_out_and_names_are_spelled() -> None:
    assert render(element("td", "x", class_="n", hidden=None, tabindex=0)) == '<td class="n" tabindex="0">x</td>'
    assert render(link("memory", "Memory")) == '<a href="#memory">Memory</a>'
    assert Outline(render(link(HOSTILE, HOSTILE))).all("a") == [{"href": f"#{cleaned(HOSTILE)}"}]


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("script", {}),
        ("style", {}),
        ("p", {"onclick": "x"}),
        ("p", {"ONLOAD": "x"}),
        ("a", {"href": "javascript:x"}),
        ("p", {"style": "x"}),
        ("p onclick=x", {}),
        ("p", {"x y": "z"}),
        ("p", {"": "z"}),
    ],
)
def test_what_could_be_more_than_text_is_refused(name: str, attributes: dict[str, str]) -> None:
    with pytest.raises(AssertionError):
        checked(name, attributes)


def test_a_void_element_has_no_end() -> None:
    assert render(Element("meta", (("charset", "utf-8"),), ())) == '<meta charset="utf-8">'
