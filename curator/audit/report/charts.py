"""The shapes of the page's pictures, as Vega-Lite specifications: values, no drawing.

Colours are names that the page's stylesheet gives a value, one for light and one for dark.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.audit.report.markup import cleaned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator.model.digest import Json

WIDE: Final = 910
NARROW: Final = 330
WHOLE: Final = ",d"
"""How d3 writes whole numbers on an axis."""
_ROW: Final = 34
_TALL: Final = 220
_LOW: Final = 170
_LABELS: Final = {WIDE: 10, NARROW: 4}
_NAME_WIDTH: Final = {WIDE: 230, NARROW: 100}
_LETTER: Final = 7.5
"""Of the widest of the fonts that a system may show labels in; the library measures with a narrower one."""
_WIDER: Final = 1.25
_AMOUNT_WIDTH: Final = 48
_DAY: Final = "utcFormat(utcParse(datum.label, '%Y-%m-%d'), '%-d %b')"
_LINE: Final = "var(--line)"
_SOFT: Final = "var(--soft)"
_APART: Final[dict[str, Json]] = {"stroke": "var(--card)", "strokeWidth": 1}
"""So that parts are told apart where their colours are not."""
_AXIS: Final[dict[str, Json]] = {
    "domainColor": _LINE,
    "gridColor": _LINE,
    "tickColor": _LINE,
    "labelColor": _SOFT,
    "titleColor": _SOFT,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 8,
    "labelPadding": 5,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One of the kinds that a picture tells apart, and its colour's name."""

    name: str
    colour: str
    label: str


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    """One part of a bar: where it stands, of which kind, how long it is, and what is said where a pointer rests."""

    at: str
    kind: str
    length: float
    told: str


def by_day(
    bars: Sequence[Bar], days: Sequence[str], kinds: Sequence[Kind], axis: str, width: int
) -> Mapping[str, Json]:
    """Draw a stacked bar a day, over all of `days`; `axis` is a format of d3."""
    every = max(1, -(-len(days) // _LABELS[width]))
    shown: list[Json] = [*reversed(days[::-1][::every])]
    bottom: dict[str, Json] = {"labelExpr": _DAY, "values": shown, "labelAngle": 0, "title": None, "grid": False}
    domain: list[Json] = [*days]
    scale: dict[str, Json] = {"domain": domain, "paddingInner": 0.25}
    return _chart(
        width,
        _TALL if width == WIDE else _LOW,
        bars,
        kinds,
        {"type": "bar", "cornerRadiusEnd": 2, **_APART},
        {
            "x": {"field": "at", "type": "ordinal", "scale": scale, "axis": bottom},
            "y": {
                "field": "length",
                "type": "quantitative",
                "axis": _lengths(axis, 5) | {"minExtent": _AMOUNT_WIDTH},
            },
            **_coloured(kinds),
        },
    )


def by_name(
    bars: Sequence[Bar], names: Sequence[str], kinds: Sequence[Kind], axis: str, width: int
) -> Mapping[str, Json]:
    """Draw a stacked bar a name, lying, in the order of `names`."""
    return _chart(
        width,
        _ROW * len(names),
        bars,
        kinds,
        {"type": "bar", "cornerRadiusEnd": 2, "height": 16, **_APART},
        {"y": _names(names, width), "x": _across(axis, width), **_coloured(kinds)},
    )


def spans_by_name(
    spans: Sequence[tuple[str, float, float, str]], title: str, axis: str, width: int
) -> Mapping[str, Json]:
    """Draw from a first to a second value a name, the first marked with a dot and the second with a tick."""
    names = [name for name, _, _, _ in spans]
    values: list[Json] = [
        {"at": cleaned(name), "low": low, "high": high, "told": cleaned(told)} for name, low, high, told in spans
    ]
    y, x = _names(names, width), _across(axis, width, field="low", title=title)
    told: dict[str, Json] = {"description": {"field": "told"}}
    high: dict[str, Json] = {"field": "high", "type": "quantitative"}
    layers: list[Json] = [
        {
            "mark": {"type": "bar", "height": 6, "color": "var(--span)"},
            "encoding": {"y": y, "x": x, "x2": {"field": "high"}, **told},
        },
        {
            "mark": {"type": "tick", "thickness": 3, "size": 18, "color": "var(--unknown)"},
            "encoding": {"y": y, "x": high, **told},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1, "color": "var(--actual)"},
            "encoding": {"y": y, "x": x, **told},
        },
    ]
    return {**_frame(width, _ROW * len(names)), "data": {"values": values}, "layer": layers}


def against(
    bars: Sequence[Bar], names: Sequence[str], kinds: Sequence[Kind], lines: Mapping[str, int], width: int
) -> Mapping[str, Json]:
    """Draw a bar a name, and a line across all of them at each of some lengths; each line's key is its colour."""
    inner = by_name(bars, names, kinds, WHOLE, width)
    layers: list[Json] = [{"mark": inner["mark"], "encoding": inner["encoding"]}]
    for colour, at in lines.items():
        mark: dict[str, Json] = {"type": "rule", "color": f"var(--{colour})", "strokeWidth": 2, "strokeDash": [4, 3]}
        layers.append({"mark": mark, "encoding": {"x": {"datum": at, "type": "quantitative"}}})
    return {**_frame(width, _ROW * len(names)), "data": inner["data"], "layer": layers}


def _names(names: Sequence[str], width: int) -> dict[str, Json]:
    order: list[Json] = [cleaned(name) for name in names]
    limit = _NAME_WIDTH[width]
    extent = min(limit * _WIDER, max(map(len, names)) * _LETTER)
    axis: dict[str, Json] = {"title": None, "labelLimit": limit, "minExtent": extent, "domain": False, "ticks": False}
    return {"field": "at", "type": "nominal", "sort": order, "scale": {"domain": order}, "axis": axis}


def _across(axis: str, width: int, *, field: str = "length", title: str | None = None) -> dict[str, Json]:
    shown = _lengths(axis, 8 if width == WIDE else 4) | {"title": title}
    return {"field": field, "type": "quantitative", "axis": shown}


def _lengths(axis: str, count: int) -> dict[str, Json]:
    shown: dict[str, Json] = {"format": axis, "tickCount": count, "title": None, "domain": False, "ticks": False}
    return shown | {"tickMinStep": 1} if axis == WHOLE else shown


def _coloured(kinds: Sequence[Kind]) -> dict[str, Json]:
    domain: list[Json] = [kind.name for kind in kinds]
    colours: list[Json] = [f"var(--{kind.colour})" for kind in kinds]
    scale: dict[str, Json] = {"domain": domain, "range": colours}
    return {
        "color": {"field": "kind", "type": "nominal", "scale": scale, "legend": None},
        "order": {"field": "order", "type": "quantitative"},
        "description": {"field": "told"},
    }


def _chart(
    width: int,
    height: int,
    bars: Sequence[Bar],
    kinds: Sequence[Kind],
    mark: dict[str, Json],
    encoding: dict[str, Json],
) -> Mapping[str, Json]:
    order = {kind.name: place for place, kind in enumerate(kinds)}
    values: list[Json] = [
        {
            "at": cleaned(bar.at),
            "kind": bar.kind,
            "order": order[bar.kind],
            "length": bar.length,
            "told": cleaned(bar.told),
        }
        for bar in bars
    ]
    return {**_frame(width, height), "data": {"values": values}, "mark": mark, "encoding": encoding}


def _frame(width: int, height: int) -> dict[str, Json]:
    return {
        "width": width,
        "height": height,
        "background": None,
        "autosize": {"type": "fit", "contains": "padding"}
        if height >= _LOW
        else {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 0, "right": 8, "top": 6, "bottom": 0},
        "config": {"view": {"stroke": None}, "axis": _AXIS, "aria": True},
    }
