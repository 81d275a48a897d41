"""What the library draws is taken over shape by shape; a label is text there too."""

import subprocess
import sys

from curator.audit.report.charts import NARROW, WHOLE, WIDE, Bar, Kind, against, by_day, by_name, spans_by_name
from curator.audit.report.markup import cleaned, render
from curator.audit.report.picture import can_draw, draw
from tests.audit.report.made import HOSTILE
from tests.audit.report.outline import Outline

KINDS = [Kind("a", "actual", "A"), Kind("b", "held", "B")]
BARS = [Bar("2026-01-03", "a", 3, "three"), Bar("2026-01-03", "b", 1, HOSTILE), Bar("2026-01-04", "a", 2, "two")]
SHAPES = {"svg", "title", "desc", "g", "path", "line", "rect", "circle", "text"}


def test_a_picture_is_named_told_and_coloured_by_the_page() -> None:
    drawn = Outline(
        render(draw(by_day(BARS, ["2026-01-03", "2026-01-04"], KINDS, WHOLE, WIDE), "x-wide", "A title", HOSTILE))
    )

    (whole,) = drawn.all("svg")
    assert (whole["role"], whole["class"], whole["aria-labelledby"]) == ("img", "wide", "x-wide-title x-wide-told")
    assert {tag for tag, _ in drawn.elements} <= SHAPES
    assert cleaned(HOSTILE) in drawn.text
    assert {"3 Jan", "4 Jan", "three", "two"} <= set(drawn.texts)
    fills = {attributes["fill"] for _, attributes in drawn.elements if "fill" in attributes}
    assert fills == {"none", "var(--actual)", "var(--held)", "var(--soft)"}


def test_names_of_models_and_folders_are_text_in_every_shape() -> None:
    names = [HOSTILE, "plain"]
    bars = [Bar(name, "a", 3, name) for name in names]
    for width in (WIDE, NARROW):
        for spec in (
            by_name(bars, names, KINDS, WHOLE, width),
            against(bars, names, KINDS, {"target": 4, "limit": 6}, width),
            spans_by_name([(name, 0.5, 2.0, name) for name in names], "seconds", ",~f", width),
        ):
            drawn = Outline(render(draw(spec, "x-wide", "t", "d")))

            assert {tag for tag, _ in drawn.elements} <= SHAPES
            assert not [key for _, attributes in drawn.elements for key in attributes if key.startswith("on")]
            assert cleaned(HOSTILE) in drawn.text


def test_whether_the_library_is_there_is_told_without_loading_it() -> None:
    script = (
        "import sys\nfrom curator.audit.report.picture import can_draw\nprint(can_draw(), 'vl_convert' in sys.modules)"
    )
    without = f"import sys\nsys.modules['vl_convert'] = None\n{script}"

    told = [subprocess.check_output([sys.executable, "-c", each], encoding="utf-8") for each in (script, without)]

    assert can_draw()
    assert told == ["True False\n", "False True\n"]
