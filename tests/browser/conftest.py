"""Debian's Chromium without a window, driven through Playwright.

Where there is no browser these tests are skipped, except in CI (``CI=true``), where they fail.
Pictures of the pages are kept in build/screenshots.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

LONGEST_WAIT = 30
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


def absent(what: str) -> NoReturn:
    """Skip, or fail in CI."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"browser: {what}; CI must have one", pytrace=False)
    pytest.skip(f"browser: {what}")


class Browser:
    """One window whose width, colors and medium can be set."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self._console: list[str] = []
        self._requests: list[str] = []
        page.on("console", lambda message: self._console.append(message.text))
        page.on("pageerror", lambda error: self._console.append(str(error)))
        page.on("request", lambda request: self._requests.append(request.url))

    def open(self, url: str, *, width: int, scheme: str = "light", medium: str = "screen") -> None:
        """Open a page in a window of this width that prefers these colors."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media=medium, color_scheme=scheme)
        # From an empty page, so that what is asked afterwards is asked of the new one.
        self.page.goto("about:blank")
        self.console()
        self.requests()
        self.page.goto(url)

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
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        absent("chromium is not here (apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not here (pip install playwright)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield Browser(chromium.new_page())
        finally:
            chromium.close()
