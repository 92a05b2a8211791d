"""Debian's Chromium without a window, driven through Playwright, with fonts of the tests' choice.

Where there is no browser, or not the fonts, these tests are skipped, except in CI (``CI=true``),
where they fail. Pictures of the pages are kept in build/screenshots.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.browser.fonts import LETTERS

LONGEST_WAIT = 120  # seconds: a loaded machine is not a failure
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # root in a container has no namespaces of its own
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--no-first-run",
)
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
WIDTHS = (320, 380, 600, 768, 1024, 1280, 1600)
#: Sizes of text in px that a reader may have asked the browser for: the usual one, and twice that.
#: Lengths in rem and em follow, and so do the bounds of media queries in these units.
TEXT_SIZES = (16, 32)

# What reaches beyond the window and does not lie in a frame that scrolls, and what is cut off.
MISFITS = """
    const width = document.documentElement.clientWidth, found = [];
    const page = document.scrollingElement.scrollWidth;
    if (page > width) found.push(`the page is ${page} px wide`);
    const told = one => `${one.tagName.toLowerCase()}.${one.getAttribute("class") ?? ""}`;
    const scrolls = one => {
        for (; one && one !== document.body; one = one.parentElement)
            if (["auto", "scroll"].includes(getComputedStyle(one).overflowX)) return true;
        return false;
    };
    const hidden = ".skip, .sr, details:not([open]) > :not(summary), mjx-assistive-mml";
    const seen = one => one.checkVisibility({visibilityProperty: true}) && !one.closest(hidden);
    for (const one of document.body.querySelectorAll("*:not(svg :not(text))")) {
        const box = one.getBoundingClientRect();
        if ((box.right > width + 0.5 || box.left < -0.5) && box.width &&
            seen(one) && !scrolls(one))
            found.push(`${told(one)} from ${box.left} to ${box.right}`);
        // A field of a form scrolls as one writes.
        if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1 && seen(one) &&
            !one.matches("input")) {
            const style = getComputedStyle(one);
            if (["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis")
                found.push(`${told(one)} cuts off ${one.scrollWidth} px at ${one.clientWidth}`);
        }
    }
    return found.slice(0, 8);
"""


def absent(what: str) -> NoReturn:
    """Skip, or fail in CI."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"browser: {what}; CI must have one", pytrace=False)
    pytest.skip(f"browser: {what}")


class Browser:
    """One window whose width, colors and medium can be set."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.set_default_timeout(1000 * LONGEST_WAIT)
        self._console: list[str] = []
        self._requests: list[str] = []
        page.on("console", lambda message: self._console.append(message.text))
        page.on("pageerror", lambda error: self._console.append(str(error)))
        page.on("request", lambda request: self._requests.append(request.url))

    @cached_property
    def _tools(self) -> Any:
        """What the page itself has no words for; only where asked for: it keeps pages on screen."""
        return self.page.context.new_cdp_session(self.page)

    def open(self, url: str, *, width: int, scheme: str = "light", medium: str = "screen") -> None:
        """Open a page in a window of this width that prefers these colors."""
        if medium == "print" and "_tools" in vars(self):
            self._tools.detach()
            del self._tools
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media=medium, color_scheme=scheme)
        # From an empty page, so that what is asked afterwards is asked of the new one.
        self.page.goto("about:blank")
        self.console()
        self.requests()
        self.page.goto(url)

    def resize(self, width: int, text_size: int = TEXT_SIZES[0]) -> None:
        """Give the window another width, and text another size, while the page is open."""
        self.page.set_viewport_size({"width": width, "height": 900})
        sizes = {"standard": text_size, "fixed": text_size * 13 // 16}
        self._tools.send("Page.setFontSizes", {"fontSizes": sizes})

    def misfits(self, *scripts: str, widths: Sequence[int] = WIDTHS) -> dict[str, list[str]]:
        """What does not fit, of the page that is open, at every width with text of every size.

        `scripts` are further function bodies that return lists of faults.
        """
        found = {}
        for text_size in TEXT_SIZES:
            for width in widths:
                self.resize(width, text_size)
                faults = [fault for script in (MISFITS, *scripts) for fault in self.run(script)]
                if faults:  # the first ones tell enough
                    found[f"{width} px, text of {text_size} px"] = faults[:8]
        self.resize(widths[0])
        return found

    def fonts(self, selector: str) -> set[str]:
        """Families of the fonts that an element is drawn with."""
        # Not for longer: while they are on, a page that is told to be paper stays a screen.
        for domain in ("DOM", "CSS"):
            self._tools.send(f"{domain}.enable")
        root = self._tools.send("DOM.getDocument")["root"]["nodeId"]
        node = self._tools.send("DOM.querySelector", {"nodeId": root, "selector": selector})
        drawn = self._tools.send("CSS.getPlatformFontsForNode", node)
        for domain in ("CSS", "DOM"):
            self._tools.send(f"{domain}.disable")
        return {font["familyName"] for font in drawn["fonts"]}

    def run(self, script: str) -> Any:
        """Run a function body in the page and return what it returns."""
        return self.page.evaluate(f"() => {{ {script} }}")

    def wait(self, condition: str) -> None:
        """Wait until an expression holds; asked from outside, which the page's policy allows."""
        end = time.monotonic() + LONGEST_WAIT
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > end:
                pytest.fail(f"not within {LONGEST_WAIT} s: {condition}")
            self.page.wait_for_timeout(20)

    def console(self) -> list[str]:
        """What the console said since the last call."""
        self.page.evaluate("0")  # what is under way arrives first
        said, self._console = self._console, []
        return said

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        asked, self._requests = self._requests, []
        return asked

    def keep(self, name: str) -> None:
        """Keep a picture of the whole page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


# Not for the whole session: while Playwright runs, asyncio cannot begin another loop.
@pytest.fixture(scope="package")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Browser]]:
    """Return a function from a set of letters to the browser that has them, started once."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        absent("chromium is not here (apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not here (pip install playwright)")
    with sync_playwright() as playwright, ExitStack() as started:

        @cache
        def start(name: str) -> Browser:
            letters = LETTERS[name]
            if letters.missing:
                absent(f"{letters.missing[0]} is not here (apt-get install {letters.packages})")
            configuration = letters.configure(tmp_path_factory.mktemp(name))
            chromium = playwright.chromium.launch(
                executable_path=program,
                args=list(FLAGS),
                env={**os.environ, "FONTCONFIG_FILE": str(configuration)},
            )
            started.callback(chromium.close)
            return Browser(chromium.new_page())

        yield start


@pytest.fixture(scope="package")
def browser(browsers: Callable[[str], Browser]) -> Browser:
    """Chromium with the letters of DejaVu."""
    return browsers("dejavu")


@pytest.fixture(params=LETTERS)
def lettered(browsers: Callable[[str], Browser], request: pytest.FixtureRequest) -> Browser:
    """Chromium with each set of letters in turn."""
    return browsers(request.param)
