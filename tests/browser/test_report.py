"""Reports in a real browser: silent, alone, every picture seen, nothing wider than the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from separatrix.report import Content, write
from tests.browser.conftest import Browser
from tests.unit.report import contents

# Each width and each color once: colors do not move anything.
LOOKS = [(380, "light"), (768, "dark"), (1600, "light")]
PAGES = {
    "digits": contents.digits,
    "spam": contents.spam,
    "regression": contents.regression,
    "sentences": contents.sentences,
    "enormous": contents.enormous,
    "minimal": contents.minimal,
}

# Pictures of no size, and images that did not load; all that is folded is unfolded first.
UNSEEN = """
    document.querySelectorAll("details").forEach(one => one.open = true);
    const unseen = [];
    for (const one of document.querySelectorAll("svg, img")) {
        const box = one.getBoundingClientRect();
        const style = getComputedStyle(one);
        if (box.width < 4 || box.height < 4 || style.visibility !== "visible" ||
            Number(style.opacity) === 0 || (one.tagName === "IMG" && one.naturalWidth === 0))
            unseen.push(`${one.getAttribute("class")} ${box.width} x ${box.height}`);
    }
    return [document.querySelectorAll("svg").length, unseen];
"""

# Elements that reach beyond the page and do not lie in a frame that scrolls.
TOO_WIDE = """
    const width = document.documentElement.clientWidth, found = [];
    for (const one of document.body.querySelectorAll("*")) {
        const box = one.getBoundingClientRect();
        const hidden = one.closest(".scroll, .skip, .sr, details:not([open])");
        if (!hidden && (box.right > width + 0.5 || box.left < -0.5))
            found.push(`${one.tagName} ${one.getAttribute("class")} ${box.left} to ${box.right}`);
    }
    const page = document.scrollingElement;
    return [page.scrollWidth, page.clientWidth, found];
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


@pytest.fixture(scope="session")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("reports")
    return {name: _written(make, folder / f"{name}.html") for name, make in PAGES.items()}


def _written(make: Callable[[], Content], path: Path) -> str:
    write(make(), path)
    return path.as_uri()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_report_is_silent_alone_and_fits(
    browser: Browser, addresses: dict[str, str], name: str, width: int, scheme: str
) -> None:
    address = addresses[name]
    browser.open(address, width=width, scheme=scheme)
    assert browser.console() == []
    asked = [url for url in browser.requests() if not url.startswith("data:")]
    assert asked == [address]

    n_pictures, unseen = browser.run(UNSEEN)
    assert n_pictures >= 2
    assert unseen == []
    page_width, window_width, too_wide = browser.run(TOO_WIDE)
    assert window_width == width
    assert page_width <= window_width
    assert too_wide == []
    assert browser.run(BAD_LETTERS) == []
    assert browser.console() == []


def test_letters_of_charts_can_be_read_at_every_width(
    browser: Browser, addresses: dict[str, str]
) -> None:
    for width in (380, 600, 768, 1024, 1280, 1600):
        for name in ("digits", "regression"):
            browser.open(addresses[name], width=width)
            heights = browser.run(
                'return [...document.querySelectorAll("svg.chart text")]'
                ".map(one => one.getBoundingClientRect().height)"
            )
            # The box of a line of text is higher than its letters by about a third.
            assert heights
            assert min(heights) >= 11
            assert max(heights) <= 26


def test_markup_in_the_data_does_nothing(browser: Browser, addresses: dict[str, str]) -> None:
    browser.open(addresses["spam"], width=768)
    assert browser.run("return document.querySelectorAll('script').length") == 0
    title = browser.run("return document.title")
    assert title == contents.spam().title


def test_a_script_would_be_refused(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "attacked.html"
    write(contents.minimal(), path)
    page = path.read_text(encoding="utf-8")
    path.write_text(page.replace("</body>", "<script>document.title='broken'</script></body>"))
    browser.open(path.as_uri(), width=768)
    assert browser.run("return document.title") == "iris"
    assert any("Content Security Policy" in line for line in browser.console())


def test_dark_is_dark_and_paper_is_white(browser: Browser, addresses: dict[str, str]) -> None:
    def paper(scheme: str, medium: str) -> str:
        browser.open(addresses["digits"], width=768, scheme=scheme, medium=medium)
        color: str = browser.run("return getComputedStyle(document.body).backgroundColor")
        return color

    assert paper("light", "screen") == "rgb(255, 255, 255)"
    assert paper("dark", "screen") == "rgb(20, 23, 28)"
    assert paper("dark", "print") == "rgb(255, 255, 255)"


def test_on_paper_tables_are_whole(browser: Browser, addresses: dict[str, str]) -> None:
    browser.open(addresses["digits"], width=760, medium="print")
    cut_off = browser.run(
        """
        return [...document.querySelectorAll(".scroll")].filter(one => one.offsetParent)
            .filter(one => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > 760)
            .map(one => one.getAttribute("aria-label"));
        """
    )
    assert cut_off == []
    browser.open(addresses["digits"], width=768)
    pdf = browser.page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")


def test_the_keyboard_reaches_tables_that_scroll(
    browser: Browser, addresses: dict[str, str]
) -> None:
    browser.open(addresses["digits"], width=380)
    unreachable = browser.run(
        """
        return [...document.querySelectorAll("*")]
            .filter(one => getComputedStyle(one).overflowX === "auto")
            .filter(one => one.scrollWidth > one.clientWidth && one.tabIndex < 0)
            .map(one => one.className);
        """
    )
    assert unreachable == []
