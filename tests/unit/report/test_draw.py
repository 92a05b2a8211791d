"""Drawings: places, ticks, pixels, colors."""

from __future__ import annotations

import base64
import io
import re
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.report.draw import pixels
from separatrix.report.draw.chart import MOST_CORNERS, Mark, Series, chart
from separatrix.report.draw.elements import element
from separatrix.report.draw.heat import heat_map, shade
from separatrix.report.draw.scales import linear_scale, log_scale
from separatrix.report.draw.strips import bar, histogram, interval, step_bar

FINITE = st.floats(-1e9, 1e9, allow_nan=False)


@given(FINITE, FINITE)
def test_a_linear_axis_holds_its_range_and_its_ticks(first, second):
    low, high = sorted((first, second))
    scale = linear_scale(low, high, 10.0, 110.0)
    assert scale.low <= low <= high <= scale.high
    assert 10 - 1e-6 <= scale(low) <= scale(high) <= 110 + 1e-6
    places = [scale(at) for at, _ in scale.ticks]
    assert all(10 - 1e-6 <= place <= 110 + 1e-6 for place in places)
    if high - low > 1e-6 * max(abs(low), abs(high), 1e-3):
        assert 2 <= len(places) <= 8
        labels = [label for _, label in scale.ticks]
        assert len(set(labels)) == len(labels)


@given(st.floats(1e-8, 1e8), st.floats(1.0, 1e8))
def test_a_logarithmic_axis_holds_its_range_and_its_ticks(low, ratio):
    high = low * ratio
    scale = log_scale(low, high, 0.0, 100.0)
    assert -1e-6 <= scale(low) <= scale(high) <= 100 + 1e-6
    assert 2 <= len(scale.ticks) <= 9
    assert all(-1e-3 <= scale(at) <= 100.001 for at, _ in scale.ticks)
    assert not scale.holds(0.0)


def test_percentages_end_at_a_hundred():
    scale = linear_scale(90.0, 100.0, 0.0, 1.0, limits=(0.0, 100.0))
    assert scale.high == 100.0
    assert scale.low < 90.0


def test_a_line_goes_through_its_points_and_stops_where_one_is_missing():
    y = np.array([0.0, 1.0, np.nan, 1.0, 0.0])
    drawing = chart("a line", [Series("s", np.arange(5.0), y)], x_title="x", y_title="y")
    path = re.search(r'<path d="([^"]+)" class="line s1"', drawing)[1]
    assert path.count("M") == 2
    assert path.count("L") == 2
    assert drawing.count("<circle") == 4
    assert "s: 1 at 3" in drawing
    heights = [float(part.split()[1]) for part in re.split("[ML]", path)[1:]]
    assert heights[0] == heights[3] > heights[1] == heights[2]


def test_long_lines_are_thinned_out_to_their_ends():
    x = np.arange(10_000.0)
    drawing = chart("a line", [Series("s", x, x)], x_title="x", y_title="y")
    path = re.search(r'<path d="([^"]+)" class="line s1"', drawing)[1]
    assert path.count("L") == MOST_CORNERS - 1
    assert "<circle" not in drawing


def test_texts_of_drawings_are_escaped():
    bad = '<script>"&'
    drawing = chart(
        bad, [Series(bad, np.arange(2.0), np.arange(2.0))], x_title=bad, y_title=bad,
        marks=[Mark(1.0, bad)],
    )  # fmt: skip
    drawing += heat_map(bad, [bad, "b"], np.eye(2), row_title=bad, column_title=bad)
    assert "<script" not in drawing
    assert drawing.count("&lt;script&gt;") >= 8
    assert element("rect", title='"') == '<rect title="&quot;"/>'


def test_names_of_a_heat_map_lie_inside_of_the_picture():
    names = ["a", "a very long name indeed", "b"]
    for counts in (np.eye(3), 10**7 * np.ones((3, 3))):
        drawing = heat_map("m", names, counts, row_title="truth", column_title="prediction")
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawing)[1])
        cells = re.findall(r'<rect[^>]* x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing)
        assert len(cells) == 9
        assert max(float(x) + float(w) for x, w in cells) <= width


@pytest.mark.parametrize(
    ("share", "width"), [(0.5, 50.0), (0.0, 0.0), (2.0, 100.0), (-1.0, 0.0), (np.nan, 0.0)]
)
def test_a_bar_is_as_long_as_its_share(share, width):
    assert float(re.findall(r'width="([\d.]+)"', bar(share))[1]) == width


def test_a_step_lies_between_its_totals():
    drawing = step_bar(-1.0, 2.0, -2.0, 2.0)
    x, width = re.search(
        r'x="([\d.]+)" width="([\d.]+)" height="8" class="fill plus"', drawing
    ).groups()
    assert (float(x), float(width)) == (25.0, 75.0)
    assert 'class="fill minus"' in step_bar(2.0, -1.0, -2.0, 2.0)


def test_a_score_outside_of_the_axis_is_an_arrow():
    assert "<path" in interval(0.1, 0.01, 0.9, 1.0, "s1")
    assert "<path" not in interval(0.95, 0.01, 0.9, 1.0, "s1")


def test_a_histogram_has_a_column_per_count():
    heights = re.findall(r'height="([\d.]+)" class="fill', histogram((1, 2, 0, 4)))
    assert [float(height) for height in heights] == [6.0, 12.0, 24.0]


def test_pixels_come_back_from_the_picture():
    image = pytest.importorskip("PIL.Image")
    values = np.array([[0.0, 8.0], [16.0, 16.0], [4.0, 0.0]])
    head, _, data = pixels.ink(values).partition(",")
    assert head == "data:image/png;base64"
    decoded = np.asarray(image.open(io.BytesIO(base64.b64decode(data))))
    assert decoded.shape == (3, 2, 4)
    np.testing.assert_allclose(decoded[:, :, 3], 255 * values / 16, atol=255 / 31)
    signed = pixels.signed(np.array([[-2.0, 1.0]]))
    decoded = np.asarray(image.open(io.BytesIO(base64.b64decode(signed.partition(",")[2]))))
    assert decoded[0, 0].tolist() == [*pixels.MINUS, 255]
    assert decoded[0, 1, :3].tolist() == [*pixels.PLUS]


def test_large_images_are_thinned_out():
    small = len(pixels.ink(np.random.default_rng(0).random((2000, 1000))))
    assert small < 5000
    pixels.ink(np.full((3, 3), np.nan))  # no ink at all


def _palettes() -> list[dict[str, str]]:
    style = resources.files("separatrix.report").joinpath("templates/style.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.S)
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks]


def _luminance(color: str) -> float:
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", _palettes(), ids=["light", "dark"])
def test_colors_can_be_told_from_their_ground(palette):
    """Contrasts of WCAG 2.2, level AA: 4.5 for text, 3 for drawings."""
    for ground in ("paper", "panel", "wash"):
        for name in ("ink", "quiet", "accent"):
            assert _contrast(palette[name], palette[ground]) >= 4.5, (name, ground)
    for name, ground in (("bad", "bad-wash"), ("bad", "paper"), ("good", "good-wash")):
        assert _contrast(palette[name], palette[ground]) >= 4.5, (name, ground)
    for name in ("s0", "s1", "s2", "s3", "s4", "s5", "s6", "muted", "plus", "minus"):
        assert _contrast(palette[name], palette["paper"]) >= 3, name


@pytest.mark.parametrize("palette", _palettes(), ids=["light", "dark"])
@pytest.mark.parametrize(("name", "css"), [("s1", "right"), ("s2", "wrong")])
def test_counts_can_be_read_on_squares_of_every_strength(palette, name, css):
    letters = {"weak": palette["ink"], "middle": "#14171c", "strong": palette["paper"]}

    def mixed(strength: float) -> str:
        pairs = [(palette[name][i : i + 2], palette["paper"][i : i + 2]) for i in (1, 3, 5)]
        return "#" + "".join(
            f"{round(strength * int(over, 16) + (1 - strength) * int(under, 16)):02x}"
            for over, under in pairs
        )

    contrasts = {s: _contrast(mixed(s), letters[shade(s, css)]) for s in np.linspace(0.1, 1.0, 91)}
    assert min(contrasts.values()) >= 3.6, contrasts


def test_both_palettes_name_the_same_colors():
    light, dark = _palettes()
    assert light.keys() == dark.keys()
