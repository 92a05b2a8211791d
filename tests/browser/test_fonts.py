"""The letters that the other tests rely on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Browser
from tests.browser.fonts import LETTERS, STRETCH

PAGE = """
<p><span id="text" style="font-family: system-ui, Arial, sans-serif">Letters, 0.123 %</span></p>
<p><code id="code">code</code></p>
"""


def width(browser: Browser) -> float:
    browser.page.set_content(PAGE)
    box = browser.page.locator("#text").bounding_box()
    return float(box["width"])


@pytest.mark.parametrize("name", LETTERS)
def test_a_browser_draws_with_the_letters_that_it_was_given(
    browsers: Callable[[str], Browser], name: str
) -> None:
    browser = browsers(name)
    browser.page.set_content(PAGE)
    assert browser.fonts("#text") == {LETTERS[name].sans}
    assert browser.fonts("#code") == {LETTERS[name].mono}


def test_letters_differ_in_width(browsers: Callable[[str], Browser]) -> None:
    narrow, usual, wide = (width(browsers(name)) for name in ("liberation", "dejavu", "wide"))
    assert narrow < 0.95 * usual
    # Letters begin at whole pixels.
    assert wide == pytest.approx(STRETCH * usual, rel=0.05)


def test_text_is_enlarged_as_a_reader_would(browser: Browser) -> None:
    browser.page.set_content(PAGE)
    browser.resize(640, 32)
    assert browser.run("return getComputedStyle(document.documentElement).fontSize") == "32px"
    assert browser.run("return matchMedia('(max-width: 20rem)').matches")
    browser.resize(640)
    assert browser.run("return getComputedStyle(document.documentElement).fontSize") == "16px"
