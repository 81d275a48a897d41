"""One figure of the page: a heading, a picture in two widths, its key, a sentence, and the same figures as a table.

The table is what a screen reader, a copy or a page without pictures has; it is folded away where there is a picture.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.audit.report.charts import NARROW, WIDE
from curator.audit.report.markup import Element, Node, element
from curator.audit.report.picture import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curator.audit.report.charts import Kind
    from curator.model.digest import Json


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """Rows under their heads; a head that ends with a space stands over text, any other over figures."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Node]]
    more: str | None = None
    """What is left out of it, in words."""


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """What is shown and told."""

    name: str
    title: str
    told: str
    table: Table
    key: Sequence[Kind] = ()
    spec: Callable[[int], Mapping[str, Json]] | None = None
    """The picture for a width; None where there is nothing to draw."""


def figure(shown: Figure, *, is_drawn: bool) -> Element:
    """Return the figure; one that is not drawn has its table alone."""
    drawn = _pictures(shown, shown.spec) if is_drawn and shown.spec is not None and shown.table.rows else []
    parts: list[Node] = [element("h3", shown.title, id=f"{shown.name}-head"), element("p", shown.told, class_="told")]
    if drawn:
        parts += [*_key(shown.key), element("div", *drawn, class_="picture")]
    if shown.table.rows:
        parts.append(_folded(shown.table, shown.title) if drawn else table(shown.table, shown.title))
    return element("figure", *parts, id=shown.name, aria_labelledby=f"{shown.name}-head")


def table(shown: Table, label: str) -> Element:
    """Return a table that scrolls where it is wider than the page, and can be reached by keyboard to do so."""
    heads = [element("th", head.strip(), scope="col", class_=_class(head)) for head in shown.heads]
    rows = [
        element(
            "tr",
            *(
                element("th", cell, scope="row", class_=_class(head))
                if at == 0
                else element("td", cell, class_=_class(head))
                for at, (head, cell) in enumerate(zip(shown.heads, row, strict=True))
            ),
        )
        for row in shown.rows
    ]
    caption = element("caption", label, class_="unseen")
    whole = element("table", caption, element("thead", element("tr", *heads)), element("tbody", *rows))
    more = None if shown.more is None else element("p", shown.more, class_="more")
    scrolled = element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=f"{label}, figures")
    return element("div", scrolled, more)


def _class(head: str) -> str | None:
    return None if head.endswith(" ") else "n"


def _folded(shown: Table, label: str) -> Element:
    return element(
        "details", element("summary", "Figures", element("span", f" of {label}", class_="unseen")), table(shown, label)
    )


def _pictures(shown: Figure, spec: Callable[[int], Mapping[str, Json]]) -> list[Element]:
    widths = {"wide": WIDE, "narrow": NARROW}
    return [draw(spec(width), f"{shown.name}-{name}", shown.title, shown.told) for name, width in widths.items()]


def _key(kinds: Sequence[Kind]) -> list[Element]:
    if not kinds:
        return []
    items = [
        element("li", element("span", class_=f"swatch {kind.colour}", aria_hidden="true"), kind.label) for kind in kinds
    ]
    return [element("ul", *items, class_="key")]
