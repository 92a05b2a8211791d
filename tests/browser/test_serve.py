"""The pages of the service, used as a person would use them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import CRF, LogisticRegression, TableEncoder, Templates, save
from separatrix.tasks.inputs import Inputs
from tests.browser.conftest import WIDTHS, Browser
from tests.unit.serve.served import make_models, service

#: A word without a place to break.
WORD = "incomprehensibility_of_counterrevolutionaries_0123456789"
NAMES = (
    *("mail", "people", "sugar", "digits", "iris", "tagger", "chunker", "crf", "svm", "wide"),
    WORD,
)
#: One for each kind of page, and the one of long words.
KINDS = ("mail", "sugar", "digits", "tagger", "wide", WORD)
# Each width and each color once: colors do not move anything.
LOOKS = [(1280, "dark"), (380, "light")]

# Things to operate that have no name for those who do not see them.
UNNAMED = """
    return [...document.querySelectorAll("input, select, textarea, button, a, canvas, svg")]
        .filter(one => one.getClientRects().length)
        .filter(one => !(one.labels && one.labels.length) && !one.textContent.trim() &&
            !one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby"))
        .map(one => one.outerHTML);
"""

# Text whose contrast with what is behind it is below 4.5.
FAINT = """
    const channels = color => color.match(/[\\d.]+/g).map(Number);
    const light = color => {
        const [r, g, b] = channels(color).slice(0, 3).map(c => c / 255)
            .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = one => {
        for (; one; one = one.parentElement) {
            const color = getComputedStyle(one).backgroundColor;
            if (color.startsWith("rgb") && (channels(color)[3] ?? 1) === 1) return color;
            if (!color.startsWith("rgb")) return null;  // mixed: a tint of a word or a cell
        }
        return getComputedStyle(document.body).backgroundColor;
    };
    const faint = [];
    for (const one of document.body.querySelectorAll("*")) {
        const own = [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        if (!own || !one.getClientRects().length) continue;
        const below = behind(one);
        if (below === null) continue;
        const [a, b] = [light(getComputedStyle(one).color), light(below)].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(one.outerHTML.slice(0, 120));
    }
    return faint;
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("pages")
    paths = make_models(folder)
    paths[WORD] = save_long_words(folder / f"{WORD}.sx")
    with service(*(paths[name] for name in NAMES)) as (_, port):
        yield f"http://127.0.0.1:{port}"


def save_long_words(path: Path) -> Path:
    """A model whose columns, values and classes have long names, on large numbers."""
    numbers = np.arange(20) * 1e11 / 7
    values = np.array([f"{WORD}_a", f"{WORD}_b"] * 10, dtype=object)
    table = {f"{WORD}_number": numbers, f"{WORD}_value": values}
    labels = np.where(np.arange(20) < 9, f"low_{WORD}", f"high_{WORD}")
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, labels)
    inputs = Inputs("table", tuple(table))
    save(model, path, training={"task": "binary"}, inputs=inputs)
    return path


def visit(browser: Browser, address: str, name: str, width: int = 1280, scheme: str = "light"):
    browser.open(f"{address}/?model={name}", width=width, scheme=scheme)
    browser.page.wait_for_selector("html[data-ready]")
    return browser.page


def settled(browser: Browser, tries: int = 1):
    """Wait until the answer is there and the try is remembered."""
    browser.wait(
        f"document.querySelectorAll('#history li').length === {tries} &&"
        "!document.querySelector('.stale')"
    )


def fill(page, name):
    """Something to predict, as a person would give it."""
    if name in ("mail", "svm"):
        page.get_by_label("Text", exact=True).fill("Win a FREE prize: money!\nSee you at lunch.")
    elif name == "tagger":
        page.get_by_label("Sentence").fill("the quick dog saw a quiet man in the snow")
    elif name == "chunker":
        page.get_by_label("Tokens").fill("the D\nquick A\ndog N\nsaw V\na D\nman N")
    elif name == "crf":
        page.get_by_label("Tokens").fill("word:the\nword:dog\nword:saw")
    elif name == "wide":
        page.get_by_label("64 numbers").fill(", ".join(["0", "3.5"] * 32))
    elif name == "digits":
        draw(page, [(0.35, 0.3), (0.5, 0.2), (0.65, 0.3), (0.6, 0.45), (0.33, 0.78), (0.7, 0.78)])


def draw(page, points):
    box = page.locator("#pad").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=5)
    page.mouse.up()


def answered(browser, address, name, width=1280, scheme="light"):
    """Open a page, predict something, and unfold all that is folded."""
    page = visit(browser, address, name, width, scheme)
    fill(page, name)
    # More than one try where the machine is slow to draw: what is half drawn is predicted as well.
    browser.wait("document.querySelector('#history li') && !document.querySelector('.stale')")
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    return page


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_silent_and_has_names(browser, address, name):
    page = answered(browser, address, name)
    for width, scheme in LOOKS:
        browser.resize(width)
        page.emulate_media(color_scheme=scheme)
        browser.keep(f"serve-{name}-{width}-{scheme}")
        assert browser.run(UNNAMED) == []
        assert browser.run(FAINT) == []
        paper = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]
    assert browser.console() == []
    assert {url.startswith((address, "data:")) for url in browser.requests()} == {True}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_page_fits_with_any_letters(lettered, address, name):
    answered(lettered, address, name, WIDTHS[0])
    assert lettered.misfits() == {}


def test_a_text_is_colored_as_one_writes(browser, address):
    page = visit(browser, address, "mail")
    field = page.get_by_label("Text", exact=True)
    field.press_sequentially("Free money, see you at lunch", delay=5)
    settled(browser)
    marks = {mark.inner_text(): mark for mark in page.locator("#words mark").all()}
    ham = page.locator("#verdict strong").inner_text() == "ham"
    assert ("against" if ham else "for") in marks["Free"].get_attribute("class")
    assert ("for" if ham else "against") in marks["lunch"].get_attribute("class")
    assert page.locator("#words").inner_text() == "Free money, see you at lunch"
    legend = page.locator("#legend")
    assert "speaks for spam" in legend.inner_text()
    assert "speaks for ham" in legend.inner_text()
    shares = page.locator(".bars").first.locator("tr").all_inner_texts()
    assert len(shares) == 2
    assert all("%" in row for row in shares)
    assert page.locator("#verdict").get_attribute("aria-live") == "polite"
    # Markup in the text is text; letters outside the BMP keep the places right.
    field.fill("😀 free <b>money</b>")
    settled(browser, 2)
    assert page.locator("#words").inner_text() == "😀 free <b>money</b>"
    assert page.locator("#words b").count() == 0
    assert "free" in page.locator("#words mark").all_inner_texts()
    field.fill("")
    browser.wait("document.querySelectorAll('#words mark').length === 0")
    assert "Nothing predicted yet" in page.locator("#verdict").inner_text()
    assert browser.console() == []


def test_last_tries_come_back(browser, address):
    page = visit(browser, address, "mail")
    field = page.get_by_label("Text", exact=True)
    for number, text in enumerate(["free money", "see you at lunch"], start=1):
        field.fill(text)
        settled(browser, number)
    tries = page.locator("#history button")
    assert [one.split("\n") for one in tries.all_inner_texts()] == [
        ["see you at lunch", "ham"],
        ["free money", "spam"],
    ]
    tries.nth(1).click()
    browser.wait("document.querySelector('#verdict strong').innerText === 'spam'")
    assert field.input_value() == "free money"
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#history button").count() == 0
    stored = "return [localStorage.length, sessionStorage.length, document.cookie]"
    assert browser.run(stored) == [0, 0, ""]


def test_a_form_answers_to_changes(browser, address):
    page = visit(browser, address, "people")
    settled(browser)
    page.get_by_label("city").select_option("Rome")
    page.get_by_label("member").select_option("no")
    page.get_by_label("age", exact=True).fill("70")
    settled(browser, 2)
    assert page.locator("#verdict strong").inner_text() == "late"
    terms = page.locator(".terms tr").all_inner_texts()
    rome = next(row for row in terms if row.startswith("city=Rome"))
    assert "+" in rome
    page.get_by_label("age", exact=True).fill("")  # missing
    settled(browser, 3)
    assert "–, Rome" in page.locator("#history button").first.inner_text()
    page.locator("#history button").nth(1).click()
    browser.wait("document.querySelector('.field input').value === '70'")
    assert browser.console() == []


def test_what_if_by_keyboard(browser, address):
    page = visit(browser, address, "people")
    settled(browser)
    page.get_by_label("Column").select_option("age")
    slider = page.get_by_label("Its value")
    slider.focus()
    page.wait_for_selector("#whatif-chart polyline")
    before = page.locator("#whatif-chart .here").get_attribute("x1")
    page.keyboard.press("End")
    browser.wait(f"document.querySelector('#whatif-chart .here').getAttribute('x1') !== '{before}'")
    highest = float(slider.input_value())
    assert float(page.get_by_label("age", exact=True).input_value()) == highest > 90
    settled(browser, 2)
    assert page.locator("#verdict strong").inner_text() == "late"
    page.keyboard.press("Home")
    settled(browser, 3)
    assert page.locator("#verdict strong").inner_text() == "on time"
    assert "while age changes" in page.locator("#whatif-caption").inner_text()
    assert page.locator("#whatif-chart polyline").count() == 2


def test_a_quantity_has_an_interval(browser, address):
    page = visit(browser, address, "sugar")
    settled(browser)
    assert 100 < float(page.locator("#verdict strong").inner_text()) < 200
    assert "95 % interval" in page.locator("#verdict").inner_text()
    page.wait_for_selector("#whatif-chart .band")


def test_a_sentence_with_marginals_and_the_second_best(browser, address):
    page = visit(browser, address, "tagger")
    fill(page, "tagger")
    settled(browser)
    rows = page.locator(".heat tbody tr")
    assert rows.count() == 10
    first = rows.first.inner_text().split("\t")
    assert first[:3] == ["the", "D", "same"]
    assert sum(float(cell.removesuffix(" %")) for cell in first[3:]) == pytest.approx(100, abs=3)
    assert page.locator(".heat td.other").count() >= 1
    told = page.locator("#verdict").inner_text()
    assert "Best labelling" in told
    assert "Second best" in told
    assert page.locator(".tags li").first.inner_text().split() == ["the", "D"]


def test_chunks_stand_on_the_color_of_their_type(browser, tmp_path):
    sentences = [["Ms", "Ito", "Lee", "left", "Oslo"], ["Mr", "Bo", "met", "Ms", "Lee"]] * 5
    tags = [["O", "B-PER", "I-PER", "O", "B-LOC"], ["O", "B-PER", "O", "O", "B-PER"]] * 5
    model = make_pipeline(Templates("word[-1..1]"), CRF(C=10.0)).fit(sentences, tags)
    save(model, tmp_path / "names.sx")
    with service(tmp_path / "names.sx") as (_, port):
        page = visit(browser, f"http://127.0.0.1:{port}", "names")
        page.get_by_label("Sentence").fill(" ".join(sentences[0]))
        settled(browser)
        marks = page.locator(".spans .span")
        assert [text.split()[:3] for text in marks.all_inner_texts()] == [
            ["Ito", "Lee", "PER"], ["Oslo", "LOC", marks.nth(1).inner_text().split()[2]],
        ]  # fmt: skip
        colors = [
            marks.nth(at).evaluate("one => getComputedStyle(one).backgroundColor") for at in (0, 1)
        ]
        assert colors[0] != colors[1]
        # A long sentence scrolls inside its boxes; the page does not grow with it.
        page.get_by_label("Sentence").fill(" ".join(sentences[0] * 400))
        settled(browser, 2)
        assert page.locator(".heat tbody tr").count() == 2000
        assert page.locator(".spans .span").count() == 800
        for box in (".spans", ".scroll.tall"):
            inner, outer = page.locator(box).evaluate("one => [one.scrollHeight, one.clientHeight]")
            assert inner > 2 * outer
        assert page.evaluate("document.documentElement.scrollHeight") < 4000
        page.locator(".scroll.tall").evaluate("one => one.scrollTo(0, 1e6)")
        last, bottom = (
            page.locator(place).bounding_box()
            for place in (".heat tbody tr:last-child", ".scroll.tall")
        )
        assert last["y"] + last["height"] <= bottom["y"] + bottom["height"] + 2
        assert browser.console() == []


def test_a_digit_is_drawn(browser, address):
    page = visit(browser, address, "digits")
    fill(page, "digits")
    settled(browser)
    assert page.locator("#verdict strong").inner_text() == "2"
    assert page.locator("#heat-box").is_visible()
    page.get_by_role("button", name="Clear").click()
    browser.wait("document.querySelector('#verdict').innerText.includes('Nothing')")
    draw(page, [(0.52, 0.1), (0.5, 0.9)])
    settled(browser, 2)
    assert page.locator("#verdict strong").inner_text() == "1"
    page.locator("#history button").nth(1).click()
    browser.wait("document.querySelector('#verdict strong')?.innerText === '2'")
    assert browser.console() == []


def test_a_digit_is_drawn_by_keyboard(browser, address):
    page = visit(browser, address, "digits", width=380)
    page.locator("#pad").focus()
    for _ in range(10):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowLeft")  # with the pen up
    settled(browser)
    assert page.locator("#verdict strong").inner_text() == "1"
    page.keyboard.press("Delete")
    browser.wait("document.querySelector('#verdict').innerText.includes('Nothing')")


def test_the_keyboard_alone_is_enough(browser, address):
    page = visit(browser, address, "mail")
    page.keyboard.press("Tab")
    assert "Skip" in browser.run("return document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert browser.run("return document.activeElement.id") == "text"
    page.keyboard.type("free money")
    page.keyboard.press("Control+Enter")
    settled(browser)
    assert page.locator("#verdict strong").inner_text() == "spam"
    for _ in range(12):
        page.keyboard.press("Tab")
        if browser.run("return document.activeElement.closest('#history') !== null"):
            break
    else:
        pytest.fail("the keyboard does not reach the last tries")


def test_what_is_wrong_is_told(browser, address):
    page = visit(browser, address, "chunker")
    page.get_by_label("Tokens").fill("the D\nquick")
    page.wait_for_selector("#problem:not([hidden])")
    assert "rows[0][1]" in page.locator("#problem").inner_text()
    assert page.locator("#problem").get_attribute("role") == "alert"
    page.get_by_label("Tokens").fill("the D\nquick A")
    settled(browser)
    assert page.locator("#problem").is_hidden()


def test_models_are_reached_from_each_other(browser, address):
    page = visit(browser, address, "mail")
    page.get_by_role("navigation", name="Models").get_by_role("link", name="tagger").click()
    page.wait_for_selector("#sentence")
    assert page.locator("a[aria-current=page]").inner_text() == "tagger"
    assert page.title().startswith("tagger")


def test_a_browser_is_asked_for_the_token(browser, address, tmp_path):
    paths = make_models(tmp_path)
    token = "a-token-of-some-length"
    with service(paths["mail"], environment={"SEPARATRIX_TOKEN": token}) as (_, port):
        url = f"http://127.0.0.1:{port}"
        other = browser.page.context.browser.new_context(
            http_credentials={"username": "any", "password": token}
        )
        try:
            page = other.new_page()
            page.goto(url)
            page.wait_for_selector("html[data-ready]")
            page.get_by_label("Text", exact=True).fill("free money")
            page.wait_for_selector("#verdict strong")
        finally:
            other.close()
        assert browser.page.request.get(url).status == 401
