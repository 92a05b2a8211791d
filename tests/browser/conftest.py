"""Chromium without a window, driven through Selenium.

Where there is no browser these tests are skipped, except in CI (``CI=true``), where they fail.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

LONGEST_LOAD = 30
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # root in a container has no namespaces of its own
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--no-first-run",
)


def absent(what: str) -> NoReturn:
    """Skip, or fail in CI."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"browser: {what}; CI must have one", pytrace=False)
    pytest.skip(f"browser: {what}")


@dataclass
class Browser:
    """One window whose width, colors and medium can be set."""

    driver: Any

    def command(self, name: str, **parameters: Any) -> Any:
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, url: str, *, width: int, scheme: str = "light", medium: str = "") -> None:
        """Open a page in a window of this width that prefers these colors."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self.command(
            "Emulation.setEmulatedMedia",
            media=medium,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        # From an empty page, so that what is asked afterwards is asked of the new one.
        self.driver.get("about:blank")
        self.console()
        self.requests()
        self.driver.get(url)
        end = time.monotonic() + LONGEST_LOAD
        while self.run("return document.readyState") != "complete":
            if time.monotonic() > end:
                pytest.fail(f"{url} is not loaded after {LONGEST_LOAD} s")
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """Run a function body in the page and return what it returns."""
        return self.driver.execute_script(script)

    def console(self) -> list[str]:
        """What the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        entries = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        messages = [entry["message"] for entry in entries]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver_program = shutil.which("chromedriver")
    if program is None or driver_program is None:
        absent("chromium or chromedriver is not here (apt-get install chromium chromium-driver)")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        absent("selenium is not here (pip install selenium)")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_program))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
