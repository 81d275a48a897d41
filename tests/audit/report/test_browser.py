"""The page in a real browser: it complains of nothing, asks for nothing, and can be read by whoever comes to it."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from curator.audit.report.markup import cleaned
from curator.audit.report.page import page
from tests.audit.report.browser import PROGRAM, WHY, Browser
from tests.audit.report.made import HOSTILE, report, story, told
from tests.audit.report.test_serve import running

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(PROGRAM is None, reason=WHY)

AXE: Final = os.environ.get("CURATOR_AXE", "")
PNG: Final = b"\x89PNG\r\n\x1a\n"

CONTRASTS: Final = """(() => {
  const style = getComputedStyle(document.documentElement);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (name) => {
    canvas.fillStyle = style.getPropertyValue("--" + name).trim();
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return (pairs) => pairs.map(([one, other]) => {
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  });
})()"""
WORDS: Final = [
    *((ink, ground) for ink in ("ink", "soft", "accent", "bad", "held") for ground in ("page", "card")),
    *(("ink", ground) for ground in ("added", "added-mark", "removed", "removed-mark")),
    ("soft", "added"),
    ("soft", "removed"),
]
MARKS: Final = [(mark, "card") for mark in ("actual", "held", "unknown", "idle", "good", "bad", "target", "limit")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page(report()), "utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_it_complains_of_nothing_asks_for_nothing_and_fits(
    browser: Browser, url: str, tmp_path: Path, width: int, *, is_dark: bool
) -> None:
    browser.events.clear()

    browser.show(url, width=width, is_dark=is_dark)

    assert browser.complaints == []
    assert browser.asked_for == [url]
    assert browser.run("document.documentElement.scrollWidth") == width
    assert (
        browser.run(
            "[...document.querySelectorAll('svg')].filter((each) => each.checkVisibility()).map((each) => each.classList[0])"
        )
        == ["wide" if width > 640 else "narrow"] * 6
    )
    assert browser.run("document.title") == "curator report"
    assert browser.run("document.querySelectorAll('script, img, iframe, object').length") == 0
    assert cleaned(HOSTILE) in str(browser.run("document.body.textContent"))
    browser.picture(tmp_path / "seen.png")
    assert (tmp_path / "seen.png").read_bytes()[:8] == PNG


def test_the_policy_stands_by_itself_where_markup_got_in(browser: Browser, tmp_path: Path) -> None:
    """What the page is built of lets none in; here it is put there by hand."""
    planted = (
        "<script>window.ran = 1</script><img src='http://127.0.0.1:9/x'><p style='color: red' onclick='window.ran = 1'>"
    )
    path = tmp_path / "planted.html"
    path.write_text(page(report()).replace("</main>", f"{planted}</main>"), "utf-8")
    browser.events.clear()

    browser.show(path.as_uri())

    assert browser.run("document.querySelector('main > p[onclick]').click() ?? window.ran ?? 'nothing'") == "nothing"
    assert len(browser.complaints) == 4
    assert browser.refused == ["csp"]


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_words_and_marks_stand_out_from_what_is_behind_them(browser: Browser, url: str, *, is_dark: bool) -> None:
    browser.show(url, is_dark=is_dark)

    for pairs, least in ((WORDS, 4.5), (MARKS, 3.0)):
        listed = ", ".join(f"['{one}', '{other}']" for one, other in pairs)
        found = browser.run(f"({CONTRASTS})([{listed}])")
        assert isinstance(found, list)
        assert {
            pair: ratio
            for pair, ratio in zip(pairs, found, strict=True)
            if not isinstance(ratio, float) or ratio < least
        } == {}


def test_everything_can_be_reached_and_opened_by_keyboard(browser: Browser, url: str) -> None:
    browser.show(url)
    wanted = browser.run(
        "[...document.querySelectorAll('a, summary, [tabindex=\"0\"]')].filter((each) => each.checkVisibility()).length"
    )
    assert isinstance(wanted, int)
    where = "document.activeElement.outerHTML.slice(0, 120)"
    visited = []
    for _ in range(wanted):
        browser.press("Tab")
        assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        visited.append(browser.run(where))

    assert len(visited) == wanted
    assert visited[0] == '<a href="#main">Skip to the figures</a>'
    assert browser.run("document.activeElement.matches(':focus-visible')") is True
    browser.run("document.querySelector('#spend summary').focus()")
    browser.press("Enter")
    assert browser.run("document.querySelector('#spend details').open") is True


def test_a_screen_reader_is_told_what_each_picture_shows(browser: Browser, url: str) -> None:
    browser.show(url)
    told = browser.ask("Accessibility.getFullAXTree")["nodes"]
    assert isinstance(told, list)
    named = []
    for node in told:
        assert isinstance(node, dict)
        role, name = node.get("role"), node.get("name")
        if isinstance(role, dict) and role.get("value") in ("image", "img") and isinstance(name, dict):
            named.append(str(name["value"]))

    assert len(named) == 6
    assert named[0].startswith("Spend by UTC day, in dollars $0.0155 actual, $0.0040 held and $0.0040 unknown")


@pytest.mark.skipif(not AXE, reason="no axe-core: npm install axe-core, and name axe.min.js in CURATOR_AXE")
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_the_rules_of_accessibility_are_kept(browser: Browser, url: str, *, is_dark: bool) -> None:
    browser.show(url, is_dark=is_dark)
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    browser.run(Path(AXE).read_text("utf-8") + "\n;0")

    found = browser.run(
        "axe.run().then((all) => all.violations.map((each) => [each.id, each.nodes.map((node) => node.html.slice(0, 200))]))"
    )

    assert found == []


def test_a_served_page_becomes_the_newest_and_leaves_the_reader_where_they_are(browser: Browser) -> None:
    with running() as served:
        browser.events.clear()
        browser.show(served.server.url)
        browser.run("document.querySelectorAll('.tale')[1].open = true")
        browser.run("document.querySelectorAll('.tale summary')[1].focus()")
        changed = "new Promise((done) => new MutationObserver(() => done(1)).observe(document.querySelector('header'), { childList: true }))"
        browser.run(f"window.changed = {changed}; 0")
        newer = (story(told("brand-new")), *served.told.report.stories[1:])
        served.told.report = dataclasses.replace(served.told.report, stories=newer)

        browser.run("document.dispatchEvent(new Event('visibilitychange')); window.changed")

        assert "brand-new" in str(browser.run("document.body.textContent"))
        assert browser.run("[...document.querySelectorAll('.tale')].map((each) => each.open)") == [True, True]
        assert browser.run("document.activeElement === document.querySelectorAll('.tale summary')[1]") is True
        assert browser.complaints == []
        assert set(browser.asked_for) == {served.server.url}
