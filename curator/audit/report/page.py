"""The whole page: one file that asks nobody for anything, and runs nothing.

INVARIANT  Its policy, which stands in it, lets a browser load nothing and run nothing but what `Live` brings, and take
           the one stylesheet by its digest. So even a defect in what is built here could not reach out.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from curator import __version__
from curator.audit.report import sections
from curator.audit.report.figure import Figure, Table, figure, table
from curator.audit.report.markup import Element, Node, element, link, render
from curator.audit.report.picture import MISSING
from curator.audit.report.tales import tale
from curator.audit.report.words import counted, dollars, moment, span
from curator.model.times import day_of, iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from curator.audit.questions import Scope
    from curator.audit.report.figures import Aside, Figures
    from curator.audit.report.stories import Story

_ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#2a6fb0"/>'
    '<path d="M4 11V8m4 3V4m4 7V6" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>'
)
_TITLES: Final = {
    "spending": "Spend",
    "asking": "Calls",
    "ending": "Outcomes",
    "waiting": "Queue",
    "remembering": "Memory",
    "telling": "Timeline",
    "set-aside": "Set aside",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """All that the page tells, as it stood at a moment."""

    now: int
    scope: Scope
    figures: Figures
    stories: Sequence[Story]
    stories_of: int
    roots: Mapping[str, str | None]
    can_draw: bool


def page(report: Report, *, is_live: bool = False) -> str:
    """Return the page as HTML; a live one asks its server whether it is still the newest."""
    css = _shipped("page.css")
    script = _shipped("live.js") if is_live else None
    head = Element("head", (), tuple(_head(css, script)))
    body = element("body", link("main", "Skip to the figures"), _banner(report), _main(report), _foot(report))
    return f"<!DOCTYPE html>\n{render(element('html', head, body, lang='en'))}\n"


def policy(css: str, script: str | None) -> str:
    """Return what a browser may do with the page."""
    parts = [
        "default-src 'none'",
        f"style-src '{_digest(css)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if script is not None:
        parts += [f"script-src '{_digest(script)}'", "connect-src 'self'"]
    return "; ".join(parts)


def served_policy() -> str:
    """Return the policy of a live page as its server says it: there it may also forbid to be framed."""
    return f"{policy(_shipped('page.css'), _shipped('live.js'))}; frame-ancestors 'none'"


def _head(css: str, script: str | None) -> Iterator[Node]:
    """Build the one part that holds a stylesheet and links: both are ours, and no text of anybody's is in them."""
    yield Element("meta", (("charset", "utf-8"),), ())
    yield Element("meta", (("http-equiv", "Content-Security-Policy"), ("content", policy(css, script))), ())
    yield Element("meta", (("name", "viewport"), ("content", "width=device-width, initial-scale=1")), ())
    yield Element("meta", (("name", "referrer"), ("content", "no-referrer")), ())
    yield Element("meta", (("name", "color-scheme"), ("content", "light dark")), ())
    yield element("title", "curator report")
    yield Element("link", (("rel", "icon"), ("href", f"data:image/svg+xml,{quote(_ICON)}")), ())
    yield Element("style", (), (css,))
    if script is not None:
        yield Element("script", (("type", "module"),), (script,))


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _shipped(name: str) -> str:
    return (files("curator.audit.report") / name).read_text("utf-8")


def _banner(report: Report) -> Element:
    scope = report.scope
    whose = "all projects" if scope.project_key is None else report.roots.get(scope.project_key) or scope.project_key
    since = "" if scope.since is None else f", since {scope.since}"
    links = [element("li", link(name, title)) for name, title in _sections(report)]
    return element(
        "header",
        element("h1", "curator"),
        element(
            "p",
            "What happened: ",
            element("b", whose),
            since,
            ". As of ",
            moment(iso(report.now)),
            ".",
            class_="told",
            id="as-of",
        ),
        element("nav", element("ul", *links), aria_label="Sections"),
    )


def _main(report: Report) -> Element:
    today, figures = day_of(report.now), report.figures
    shown: dict[str, Iterable[Node]] = {
        "spending": _figures(report, sections.spend(figures, today)),
        "asking": _figures(report, sections.calls(figures), sections.latency(figures)),
        "ending": _figures(report, sections.outcomes(figures, today), sections.failures(figures)),
        "waiting": _figures(report, sections.queue(figures, report.now)),
        "remembering": _figures(report, sections.memory(figures, report.roots)),
        "telling": _tales(report),
        "set-aside": _aside(figures),
    }
    parts = [
        element(
            "section", element("h2", title, id=f"{name}-title"), *shown[name], id=name, aria_labelledby=f"{name}-title"
        )
        for name, title in _sections(report)
    ]
    missing = (
        None
        if report.can_draw
        else element("p", "Pictures are drawn where the library for them is: ", element("code", MISSING), class_="note")
    )
    return element("main", _tiles(report), missing, *parts, id="main", tabindex=-1)


def _sections(report: Report) -> list[tuple[str, str]]:
    """Return what is shown: what was set aside is not known by project."""
    return [(name, title) for name, title in _TITLES.items() if name != "set-aside" or report.scope.project_key is None]


def _figures(report: Report, *shown: Figure) -> list[Node]:
    return [figure(each, is_drawn=report.can_draw) for each in shown]


def _tiles(report: Report) -> Element:
    figures, spent = report.figures, report.figures.spent
    ended = sum(sum(counts.values()) for counts in figures.outcomes.values())
    applied = sum(counts.get("applied", 0) for counts in figures.outcomes.values())
    open_cost = spent.held.cost_nanousd + spent.unknown.cost_nanousd
    open_calls = spent.held.calls + spent.unknown.calls
    without = (
        f"and up to {dollars(open_cost)} in {counted(open_calls, 'call')} without an end"
        if open_calls
        else "every call has its end"
    )
    oldest = f"the oldest for {span(report.now - figures.waiting[0].since_ms)}" if figures.waiting else "nothing waits"
    entries = sum(each.entries for each in figures.memories)
    aside = figures.aside_of + figures.unreadable_of
    tiles = [
        ("Jobs ended", f"{ended:,}", f"{applied:,} changed memory"),
        ("Spent", dollars(spent.actual.cost_nanousd), without),
        ("Not over", f"{len(figures.waiting):,}", oldest),
        ("Entries", f"{entries:,}", f"in {counted(figures.memories_of, 'memory', 'memories')}"),
    ]
    if report.scope.project_key is None:
        tiles.append(("Set aside", f"{aside:,}", "see below" if aside else "nothing is amiss"))
    items = [
        element("div", element("dt", name), element("dd", element("b", value), element("span", note)))
        for name, value, note in tiles
    ]
    return element("dl", *items, class_="tiles")


def _tales(report: Report) -> list[Node]:
    if not report.stories:
        return [element("p", "No review has changed a memory yet.", class_="told")]
    told = "Each revision with its changes, the latest first, from the files as they lie."
    tales: list[Node] = [tale(story, report.roots, is_open=at == 0) for at, story in enumerate(report.stories)]
    left = report.stories_of - len(report.stories)
    if left > 0:
        tales.append(
            element(
                "p",
                f"{counted(left, 'memory', 'memories')} more that changed earlier: curator report --project FOLDER",
                class_="more",
            )
        )
    return [element("p", told, class_="told"), *tales]


def _aside(figures: Figures) -> list[Node]:
    if not figures.aside and not figures.unreadable:
        return [element("p", "Nothing was set aside, and every record can be read.", class_="told")]
    parts: list[Node] = [element("p", "One bad record costs one record. What helps: curator doctor.", class_="told")]
    if figures.aside:
        rows = [
            [
                each.name,
                each.place,
                _job(each),
                moment("" if each.moved_ms is None else iso(each.moved_ms)),
                f"{each.bytes or 0:,}",
            ]
            for each in figures.aside
        ]
        more = _more(figures.aside_of - len(rows), "set aside")
        parts += [
            element("h3", "Moved away, and kept"),
            table(Table(["record ", "place ", "job ", "moved ", "bytes"], rows, more), "Records that were set aside"),
        ]
    if figures.unreadable:
        rows = [[each.name, each.place, each.why or ""] for each in figures.unreadable]
        more = _more(figures.unreadable_of - len(rows), "unreadable")
        parts += [
            element("h3", "Cannot be read where they stand"),
            table(Table(["record ", "folder ", "why "], rows, more), "Records that cannot be read"),
        ]
    return parts


def _job(aside: Aside) -> str:
    return "" if aside.job_id is None else aside.job_id[:15]


def _more(left: int, what: str) -> str | None:
    return f"{left:,} more {what}: curator doctor" if left > 0 else None


def _foot(report: Report) -> Element:
    worker = report.figures.worker
    sign: list[Node] = (
        [] if worker is None else ["A worker last gave a sign of life at ", moment(worker[1]), f", {worker[0]}. "]
    )
    return element(
        "footer", element("p", *sign, f"Written by curator {__version__} from the files of the agent folder.")
    )
