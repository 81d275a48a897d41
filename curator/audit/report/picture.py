"""The one door to the library that draws: a Vega-Lite specification in, elements of an SVG out.

The library is optional. It draws on our side, so the page needs no script; a page made without it shows the figures alone.

INVARIANT  Of what it draws only known shapes with known attributes are taken over: no script, no link, no style. Colours
           are the page's own, by name, so that they follow light and dark.
"""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import fromstring

from curator.audit.report.markup import Element, checked, element

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element as Drawn

    from curator.model.digest import Json

MISSING: Final = "pip install 'pi-curator[report]'"
"""What brings the library."""

_VERSION: Final = "6.4"
_SHAPES: Final = frozenset({"g", "path", "line", "rect", "circle", "text"})
_KEPT: Final = frozenset(
    {
        *("d", "x", "y", "x1", "x2", "y1", "y2", "r", "cx", "cy", "width", "height", "transform"),
        *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity"),
        *("text-anchor", "font-size", "font-weight"),
    }
)
_SAYS_NOTHING: Final = {"opacity": "1", "stroke-width": "0", "transform": "translate(0,0)", "font-weight": "normal"}
_BLACK: Final = frozenset({"#000", "#000000", "black"})


def can_draw() -> bool:
    """Tell whether the library is there, without loading it."""
    return find_spec("vl_convert") is not None


def draw(spec: Mapping[str, Json], name: str, title: str, told: str) -> Element:
    """Return a picture that a screen reader reads as its title and what it tells. The library has to be there.

    `name` is one that no other picture of the page has.
    """
    import vl_convert  # noqa: PLC0415 - heavy, and optional

    drawn = fromstring(vl_convert.vegalite_to_svg(json.dumps(spec), vl_version=_VERSION, allowed_base_urls=[]))  # noqa: S314 - as above
    shapes = tuple(shape for child in drawn if (shape := _shape(child)) is not None)
    titles = (element("title", title, id=f"{name}-title"), element("desc", told, id=f"{name}-told"))
    box = {"viewBox": drawn.attrib["viewBox"], "width": drawn.attrib["width"], "height": drawn.attrib["height"]}
    labels = {"role": "img", "aria-labelledby": f"{name}-title {name}-told"}
    return checked("svg", {**box, **labels, "class": name.rpartition("-")[2]}, (*titles, *shapes))


def _shape(drawn: Drawn) -> Element | None:
    tag = drawn.tag.rpartition("}")[2]
    if tag not in _SHAPES or drawn.get("display") == "none":
        return None
    kept = {key: value for key, value in drawn.attrib.items() if key in _KEPT and _SAYS_NOTHING.get(key) != value}
    children: list[Element | str] = []
    # What a mark is called is shown where a pointer rests on it; the axes are told by the picture's own words.
    if drawn.get("role") == "graphics-symbol" and (label := drawn.get("aria-label")) and tag != "g":
        children.append(element("title", label))
    if drawn.text and drawn.text.strip():
        children.append(drawn.text)
    children += [shape for child in drawn if (shape := _shape(child)) is not None]
    if not _is_seen(tag, kept, children):
        return None
    return checked(tag, {key: _coloured(value) for key, value in kept.items()}, tuple(children))


def _is_seen(tag: str, kept: Mapping[str, str], children: list[Element | str]) -> bool:
    match tag:
        case "g" | "text":
            return bool(children)
        case "path":
            is_painted = kept.get("fill", "none") != "none" or kept.get("stroke", "none") != "none"
            return bool(kept.get("d")) and is_painted
        case _:
            return True


def _coloured(value: str) -> str:
    return "currentColor" if value in _BLACK else re.sub(r"\s+", " ", value)
