"""What goes into a report is what it shows; nothing from the data becomes markup."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys
from html import escape

import numpy as np
import pytest

from separatrix.errors import MissingPackageError, ParameterError
from separatrix.explanation import Explanation
from separatrix.metrics import Metric
from separatrix.report import Content, DataSummary, LeaderboardRow, parts, render, write
from separatrix.report.parts import Part
from tests.unit.report import contents
from tests.unit.report.pages import Page

ALL = [
    contents.minimal,
    contents.digits,
    contents.spam,
    contents.regression,
    contents.sentences,
    contents.enormous,
]
MOST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def digits() -> Page:
    return Page(render(contents.digits()))


@pytest.fixture(scope="module")
def spam() -> Page:
    return Page(render(contents.spam()))


@pytest.fixture(scope="module")
def regression() -> Page:
    return Page(render(contents.regression()))


@pytest.mark.parametrize("make", ALL)
def test_every_page_is_whole_small_and_alone(make):
    html = render(make())
    page = Page(html)  # raises where tags do not match
    assert len(html.encode("utf-8")) < MOST_BYTES
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "iframe", "object", "embed", "form", "base"}
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href", "xlink:href", "action"):
                assert value is not None
                assert value.startswith(("#", "data:image/png;base64,", "data:,")), value
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize("make", ALL[:-1])
def test_equal_contents_give_equal_pages(make):
    assert render(make()) == render(make())


@pytest.mark.parametrize("make", ALL)
def test_every_picture_is_named_or_hidden_and_every_table_has_headings(make):
    page = Page(render(make()))
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or (
                attributes.get("role") == "img" and attributes.get("aria-label")
            )
        if tag == "img":
            assert attributes["alt"]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for tag, a in page.tags if tag == "a" and a.get("href")}
    assert targets <= set(ids)


def test_nothing_of_the_program_leaks_into_the_page():
    for make in ALL:
        html = render(make())
        for word in ("nan", "None", "built-in method", "object at 0x", "Undefined", "np.float"):
            assert not re.search(rf"\b{re.escape(word)}\b", html), word


def test_the_head_comes_first(digits):
    content = contents.digits()
    text = digits.text
    order = [content.verdict, content.summary[0], "Test accuracy", "Leaderboard"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert content.title in text
    assert "97.22 % 95 % interval 95.01 to 98.49 %" in re.sub(r"%95", "% 95", text)
    assert "1 serious" in text
    assert content.command in text
    assert text.count(content.date) == 2
    for part in (*content.versions[0], content.data.fingerprint, content.data.task_reason):
        assert part in text


def test_the_leaderboard_shows_every_row_in_order(digits):
    content = contents.digits()
    rows = digits.tables["Leaderboard"][1:]
    assert len(rows) == len(content.leaderboard)
    for shown, row in zip(rows, content.leaderboard, strict=True):
        assert shown[1].startswith(row.learner)
        assert shown[2].startswith(f"{100 * row.held_out:.2f}")
        assert shown[4] == (row.setting or "–")
        assert shown[5] == f"{row.seconds:.3f}"
        assert shown[6] == f"{row.passes:.0f}"
        gap = "–" if math.isnan(row.gap) else f"{row.gap:.1e}".replace("-", "−")
        assert shown[7] == gap
        assert shown[8] == row.solver
        assert row.note in shown[1]
        assert row.summary in shown[1]
    assert "champion" in rows[0][1]
    assert "runner-up" in rows[1][1]
    assert [row[1] for row in rows if "baseline" in row[1]] == [row[1] for row in rows[-2:]]


def test_columns_that_nobody_fills_are_left_out():
    heads = Page(render(contents.minimal())).tables["Leaderboard"][0]
    assert heads[:3] == ["#", "learner", "held-out accuracy, %"]
    assert not {"seconds", "passes", "relative gap", "solver"} & set(heads)


def test_the_test_set(digits):
    assert digits.row("Test scores", "logistic_regression")[1:] == [
        "97.22", "95.01", "98.49", "0.113", "0.972",
    ]  # fmt: skip
    assert digits.row("Test scores", "linear_svm")[1:] == ["96.94", "94.66", "98.28", "–", "0.969"]
    assert "61 % champion better" in digits.text
    assert "20 % practically the same" in digits.text
    assert "19 % runner-up better" in digits.text
    assert "360 rows" in digits.text


def test_curves(digits):
    numbers = digits.tables["Numbers of logistic_regression"]
    assert numbers[0] == ["C", "held-out", "train"]
    assert numbers[3] == ["0.1", "97.21", "98.90"]
    assert "Chosen: C = 0.1, 97.21 % held-out, 98.90 % train." in digits.text
    assert "Chosen: 7 passes, 95.62 % held-out." in digits.text
    learning = digits.tables["Numbers of the learning curve"]
    assert ["logistic_regression", "1,078", "97.21"] in learning
    assert "more data would help" in digits.text


def test_classes(digits):
    content = contents.digits()
    confusion = next(part for part in content.parts if isinstance(part, parts.Confusion))
    assert digits.row("Most confused pairs", "8")[:4] == ["8", "1", "2", "6.1"]
    n_pairs = int((confusion.counts > 0).sum()) - 10
    assert len(digits.tables["Most confused pairs"]) == 1 + n_pairs
    assert f"8 of {confusion.counts.sum()} test rows are wrong (2.4 %)" in digits.text
    classes = next(part for part in content.parts if isinstance(part, parts.PerClass))
    for one in (*classes.classes, *classes.averages):
        shown = [cell for cell in digits.row("Scores per class", one.label) if cell]
        wanted = [f"{100 * value:.1f}" for value in (one.precision, one.recall, one.f1)]
        assert shown == [one.label, *wanted, str(one.support)]
    # Every square of the heat map carries its count.
    tips = re.findall(r"<title>(\d) (?:right|taken for (\d)): (\d+)</title>", render(content))
    drawn = {(int(a), int(b or a)): int(n) for a, b, n in tips}
    places = zip(*np.nonzero(confusion.counts), strict=True)
    assert drawn == {(int(i), int(j)): int(confusion.counts[i, j]) for i, j in places}


def test_mistakes_and_calibration(digits, spam):
    assert digits.sections["mistakes"].replace("\u202f", " ").count("98.1 %") == 1
    images = [a for tag, a in digits.tags if tag == "img" and "signed" not in (a["class"] or "")]
    assert len(images) == 4
    assert digits.row("Calibration errors", "before")[1:] == ["5.12", "0.1603"]
    assert digits.row("Calibration errors", "after")[1:] == ["1.13", "0.1132"]
    assert "call 0800 now & <b>win</b>" in spam.text


def test_weights_and_explanations(spam):
    assert "log odds ratio" in spam.text
    weights = " ".join(spam.sections["weights"].split())
    assert "free 4.10 60.3" in weights
    assert "home −3.00 0.0498" in weights
    rows = spam.tables["Running total"]  # of the last example
    assert [row[:4] for row in rows[1:]] == [
        ["intercept", "", "−3.00", "−3.00"],
        ["free", "1", "4.00", "1.00"],
        ["money", "1", "2.00", "3.00"],
    ]
    assert "Predicted spam, 95.3 % sure" in spam.text


def test_efforts_profile_and_findings(digits, spam):
    assert digits.row("Time of each learner", "sparse_logistic")[1] == "6.031"
    assert "12.4 s of a budget of 1 min" in digits.text
    assert digits.row("Columns", "pixel_0_1")[-2] == "0 to 8, median 0"
    assert "not used constant" in digits.row("Columns", "pixel_0_0")[-1]
    assert digits.row("Classes", "9")[1:3] == ["183", "10.3"]
    assert spam.row("Classes", "ham")[1:3] == ["4,827", "86.6"]
    warnings = digits.sections["warnings"]
    assert warnings.index("leak suspect") < warnings.index("duplicates")  # serious ones first


def test_regression(regression):
    assert regression.row("Scores of the regression", "Root")[1] == "0.6217 km"
    assert regression.row("Scores of the regression", "Log")[1] == "−0.9313 nats"
    coverage = regression.tables["Coverage of the intervals"]
    assert [row[:2] for row in coverage[1:]] == [["50", "51.7"], ["80", "81.0"], ["95", "94.3"]]
    assert "lower is better" in regression.text
    assert "0.612 km" in regression.text
    assert "99.8 %" in regression.text


def test_costs(spam):
    assert spam.row("Costs", "ham")[1:] == ["10", "0", "0.2"]


def test_markup_in_the_data_stays_text():
    html = render(contents.spam())
    assert "<script" not in html
    assert "<b>" not in html.replace("<b>", "", html.count("</span><b>"))
    assert escape("<script>") in html
    # Also inside of drawings, where labels are written without the template engine.
    drawings = re.findall(r"<svg.*?</svg>", html, re.S)
    assert any("&lt;script&gt;" in drawing for drawing in drawings)
    assert "\x00" not in html
    html.encode("utf-8")  # no half pairs


def test_many_classes_show_the_most_confused_pairs():
    content = contents.enormous()
    html = render(content)
    page = Page(html)
    assert "105 classes, so the most confused pairs are shown" in page.text
    assert 'class="heat"' not in html
    confusion = next(part for part in content.parts if isinstance(part, parts.Confusion))
    wrong = confusion.counts - np.diag(np.diag(confusion.counts))
    shown = [int(row[2]) for row in page.tables["Most confused pairs"][1:]]
    assert shown == sorted(wrong.ravel().tolist(), reverse=True)[: len(shown)]
    assert f"{(wrong > 0).sum() - len(shown):,} more pairs left out" in page.text


def test_sections_stand_in_the_order_of_the_table_whatever_the_order_of_the_parts():
    content = contents.digits()
    turned = dataclasses.replace(content, parts=tuple(reversed(content.parts)))
    assert render(turned) == render(content)
    shown = list(Page(render(content)).sections)
    places = [part.section.place for part in content.sections()]
    assert shown == [part.section.name for part in content.sections()]
    assert places == sorted(set(places))


def test_sequences():
    page = Page(render(contents.sentences()))
    worst = page.sections["sentences"]
    assert "9 of 20 test sequences have a wrong label (45.0" in worst
    assert "test sequence 7, 4 of 6 tokens wrong, probability of the true labels e^-12.5" in worst
    assert "with a true label that the champion does not know" in worst
    assert "<b>bold</b>" in worst  # as text
    assert "120 more tokens left out" in worst
    assert "all chunks" in page.sections["chunks"]
    assert "chunks" in page.sections["chunks"]
    assert "of 203 test tokens are wrong" in page.sections["confusion"]
    assert "opened once" in page.sections["test"]
    assert "20 sequences" in page.sections["test"]
    for name in ("leaderboard", "test", "repeat", "profile"):
        assert "rows" not in page.sections[name]


def test_each_part_can_stand_alone():
    kinds = set()
    for make in ALL[1:]:
        content = make()
        for part in content.parts:
            kinds.add(type(part))
            page = Page(render(dataclasses.replace(content, parts=(part,))))
            assert len(page.sections) == 3
    shown = {one for one in vars(parts).values() if hasattr(one, "section") and one is not Part}
    assert kinds == shown


def test_empty_parts_are_shown_without_an_error():
    empty = (
        parts.TestReport((), 0),
        parts.TrainingCurves(()),
        parts.LearningCurves(()),
        parts.Confusion((), np.zeros((0, 0))),
        parts.PerClass(()),
        parts.PerChunk(()),
        parts.Sentences((), 0, 0),
        parts.Mistakes((), 0, 0),
        parts.Calibration(()),
        parts.Costs((), (), np.zeros((0, 0))),
        parts.Weights("l", ()),
        parts.Explanations((parts.Explained(Explanation(np.array([]), ("a",), np.zeros((1, 1)))),)),
        parts.Efforts(()),
        parts.Profile(0),
        parts.Findings((), ("leaks",)),
        parts.RegressionReport(math.nan),
    )
    page = Page(render(Content("t", "v", DataSummary("d", "t"), (), parts=empty)))
    assert "Nothing was found." in page.text
    assert "No learner ran." in page.text
    assert len(page.sections) == len(empty) + 2


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_dashes_and_do_not_break_pictures(bad):
    array = np.array([bad, 0.5, bad])
    given = (
        parts.TestReport((parts.TestScore("a", "champion", bad),), 3),
        parts.TrainingCurves((parts.TrainingCurve("a", "C", array, array, array, bad, True),)),
        parts.LearningCurves((parts.LearningCurve("a", array, array, array, array),)),
        parts.Calibration((parts.Reliability("r", array, array, array, bad),)),
        parts.Weights("a", (parts.ClassWeights("c", ("x", "y", "z"), array),)),
        parts.RegressionReport(
            bad,
            band=parts.Band(array, array, array, array),
            residuals=parts.Residuals(array, array),
        ),
    )
    html = render(
        Content("t", "v", DataSummary("d", "t"), (LeaderboardRow("a", "", bad),), parts=given)
    )
    drawings = "".join(re.findall(r"<svg.*?</svg>", html, re.S))
    assert not re.search(r"\b(nan|inf)\b", drawings)


def test_lower_is_better_puts_the_best_at_the_left():
    rows = tuple(LeaderboardRow(f"l{i}", "", 1.0 + i) for i in range(3))
    metric = Metric("rmse", "RMSE", False)
    html = render(Content("t", "v", DataSummary("d", "t"), rows, metric))
    strips = re.findall(r'class="strip">(.*?)</svg>', html, re.S)
    places = [float(re.search(r'x="([\d.]+)" width="2"', one)[1]) for one in strips]
    assert places == sorted(places)
    assert places[0] < 10


def test_a_new_picture_needs_nothing_but_its_class():
    class Balance(Part):
        section = parts.Section("balance", "Balance", 75)
        template = "<p>{{ view.words }} of {{ content.title }}</p>"

        def view(self, content):
            return {"words": "<both> sides"}

    page = render(dataclasses.replace(contents.digits(), parts=(Balance(),)))
    assert "<p>&lt;both&gt; sides of" in page
    assert '<h2 id="balance-title">Balance</h2>' in page


def test_two_parts_of_a_kind_and_one_without_a_section_are_errors():
    content = contents.minimal()
    with pytest.raises(ParameterError, match="needs a section and a template: Part"):
        dataclasses.replace(content, parts=(Part(),))
    twice = (parts.Profile(1), parts.Profile(2))
    with pytest.raises(ParameterError, match="Profile"):
        dataclasses.replace(content, parts=twice)


def test_arrays_that_disagree_are_errors():
    with pytest.raises(ParameterError, match="x has 2, held_out has 3"):
        parts.TrainingCurve("a", "C", np.zeros(2), np.zeros(3))
    with pytest.raises(ParameterError, match=r"shape \(2, 2\), got \(3, 3\)"):
        parts.Confusion(("a", "b"), np.zeros((3, 3)))
    with pytest.raises(ParameterError, match="2 labels and 1 actions"):
        parts.Costs(("a", "b"), ("a",), np.zeros((2, 2)))


def test_write_replaces_the_file_as_a_whole(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    broken = dataclasses.replace(contents.minimal(), leaderboard=None)
    with pytest.raises(TypeError):
        write(broken, path)
    assert path.read_text(encoding="utf-8") == "old"
    write(contents.spam(), path)
    assert path.read_text(encoding="utf-8") == render(contents.spam())
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_without_jinja2_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from separatrix.report import render, Content, DataSummary\n"
        "render(Content('t', 'v', DataSummary('d', 't'), ()))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.returncode == 1
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith(MissingPackageError.__module__)
    assert "pip install 'separatrix[report]'" in last


def test_importing_the_package_does_not_import_jinja2():
    code = "import separatrix.report, sys; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
