"""Reports in a real browser: silent, alone, every picture seen, nothing wider than the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from separatrix.report import write
from tests.browser.conftest import WIDTHS, Browser
from tests.unit.report import contents

PAGES = {
    "digits": contents.digits,
    "spam": contents.spam,
    "regression": contents.regression,
    "sentences": contents.sentences,
    "unbroken": contents.unbroken,
    "enormous": contents.enormous,
    "minimal": contents.minimal,
}

UNFOLD = 'document.querySelectorAll("details").forEach(one => one.open = true)'

# Pictures of no size, and images that did not load.
UNSEEN = """
    const unseen = [];
    for (const one of document.querySelectorAll("svg, img")) {
        const box = one.getBoundingClientRect();
        const style = getComputedStyle(one);
        if (box.width < 4 || box.height < 4 || style.visibility !== "visible" ||
            Number(style.opacity) === 0 || (one.tagName === "IMG" && one.naturalWidth === 0))
            unseen.push(`${one.getAttribute("class")} ${box.width} x ${box.height}`);
    }
    return unseen;
"""

# Letters that are cut off by the frame of their picture, and ticks that touch each other.
BAD_LETTERS = """
    const bad = [];
    for (const picture of document.querySelectorAll("svg.chart, svg.heat")) {
        const frame = picture.getBoundingClientRect();
        let last = null;
        for (const text of picture.querySelectorAll("text")) {
            const box = text.getBoundingClientRect();
            if (box.left < frame.left - 2 || box.right > frame.right + 2 ||
                box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
                bad.push(`cut off: ${text.textContent}`);
            if (picture.matches(".chart") && text.matches(".tick")) {
                if (last && Math.abs(last.top - box.top) < 2 && box.left < last.right)
                    bad.push(`touching: ${text.textContent}`);
                last = box;
            }
        }
    }
    return bad;
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return a function from the name of a page to its address; each is written once."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def written(name: str) -> str:
        path = folder / f"{name}.html"
        write(PAGES[name](), path)
        return path.as_uri()

    return written


@pytest.mark.parametrize("name", PAGES)
def test_a_report_is_silent_and_alone(
    browser: Browser, address: Callable[[str], str], name: str
) -> None:
    browser.open(address(name), width=768)
    browser.run(UNFOLD)
    browser.page.emulate_media(color_scheme="dark")
    assert browser.run("return document.querySelectorAll('svg').length") >= 2
    assert browser.console() == []
    asked = [url for url in browser.requests() if not url.startswith("data:")]
    assert asked == [address(name)]


@pytest.mark.parametrize("name", [name for name in PAGES if name != "enormous"])
def test_a_report_fits_with_any_letters(
    lettered: Browser, address: Callable[[str], str], name: str
) -> None:
    lettered.open(address(name), width=WIDTHS[0])
    lettered.run(UNFOLD)
    assert lettered.misfits(UNSEEN, BAD_LETTERS) == {}


def test_an_enormous_report_fits(
    browsers: Callable[[str], Browser], address: Callable[[str], str]
) -> None:
    browser = browsers("wide")
    browser.open(address("enormous"), width=WIDTHS[0])
    browser.run(UNFOLD)
    assert browser.misfits(UNSEEN, BAD_LETTERS, widths=(380, 1280)) == {}


@pytest.mark.parametrize("name", ["digits", "regression"])
def test_letters_of_charts_can_be_read_at_every_width(
    browser: Browser, address: Callable[[str], str], name: str
) -> None:
    browser.open(address(name), width=WIDTHS[0])
    for width in WIDTHS:
        browser.resize(width)
        heights = browser.run(
            'return [...document.querySelectorAll("svg.chart text")]'
            ".map(one => one.getBoundingClientRect().height)"
        )
        # The box of a line of text is higher than its letters by about a third.
        assert heights
        assert min(heights) >= 11
        assert max(heights) <= 26


def test_markup_in_the_data_does_nothing(browser: Browser, address: Callable[[str], str]) -> None:
    browser.open(address("spam"), width=768)
    assert browser.run("return document.querySelectorAll('script').length") == 0
    title = browser.run("return document.title")
    assert title == contents.spam().title


def test_a_script_would_be_refused(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "attacked.html"
    write(contents.minimal(), path)
    page = path.read_text(encoding="utf-8")
    path.write_text(
        page.replace("</body>", "<script>document.title='broken'</script></body>"), encoding="utf-8"
    )
    browser.open(path.as_uri(), width=768)
    assert browser.run("return document.title") == "iris"
    assert any("Content Security Policy" in line for line in browser.console())


def test_dark_is_dark_and_paper_is_white(browser: Browser, address: Callable[[str], str]) -> None:
    def paper(scheme: str, medium: str) -> str:
        browser.open(address("digits"), width=768, scheme=scheme, medium=medium)
        color: str = browser.run("return getComputedStyle(document.body).backgroundColor")
        return color

    assert paper("light", "screen") == "rgb(255, 255, 255)"
    assert paper("dark", "screen") == "rgb(20, 23, 28)"
    assert paper("dark", "print") == "rgb(255, 255, 255)"


def test_on_paper_tables_are_whole(browser: Browser, address: Callable[[str], str]) -> None:
    browser.open(address("digits"), width=760, medium="print")
    cut_off = browser.run(
        """
        return [...document.querySelectorAll(".scroll")].filter(one => one.offsetParent)
            .filter(one => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > 760)
            .map(one => one.getAttribute("aria-label"));
        """
    )
    assert cut_off == []
    browser.open(address("digits"), width=768)
    pdf = browser.page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")


def test_the_keyboard_reaches_tables_that_scroll(
    browser: Browser, address: Callable[[str], str]
) -> None:
    browser.open(address("digits"), width=380)
    unreachable = browser.run(
        """
        return [...document.querySelectorAll("*")]
            .filter(one => getComputedStyle(one).overflowX === "auto")
            .filter(one => one.scrollWidth > one.clientWidth && one.tabIndex < 0)
            .map(one => one.className);
        """
    )
    assert unreachable == []
