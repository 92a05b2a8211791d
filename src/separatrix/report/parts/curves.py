"""Overtraining and learning curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separatrix.report import formats
from separatrix.report.draw.chart import Mark, Series, chart
from separatrix.report.parts.part import (
    NAN,
    Array,
    Part,
    Section,
    Swatch,
    View,
    check_lengths,
    cut,
    limits,
)

if TYPE_CHECKING:
    from separatrix.report.content import Content

MOST_CURVES = 12
#: Rows of the table of numbers below a picture.
MOST_NUMBERS = 60
#: From this ratio of the largest to the smallest number of rows on, the axis is logarithmic.
WIDE = 8


@dataclass(frozen=True, eq=False)
class TrainingCurve:
    """Train and held-out score of one learner against passes or C.

    Attributes
    ----------
    learner : str
        Name.
    axis : str
        What x is: "passes", "C".
    x, train, held_out : ndarray of shape (m,)
        Settings in rising order and the scores at each; train may be None.
    chosen : float
        The chosen setting.
    logarithmic : bool
        Whether x is drawn on a logarithmic scale.
    settled : ndarray of bool of shape (m,) or None
        Where the fit was not cut short; None: everywhere. Scores of the others are marked.
    """

    learner: str
    axis: str
    x: Array
    held_out: Array
    train: Array | None = None
    chosen: float = NAN
    logarithmic: bool = False
    settled: Array | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "x", "held_out", "train", "settled")


@dataclass(frozen=True)
class TrainingCurves(Part):
    """Overtraining: one picture per learner, the champion first."""

    section = Section("training", "Overtraining", 50)
    template = """\
<p class="lead">Where the train score still rises while the held-out score falls, a learner learns its {{ content.data.unit }}s by heart. The chosen setting is the best one on the held-out {{ content.data.unit }}s.</p>
{{ m.legend(view.legend) }}
<div class="multiples">
  {% for one in view.figures %}
  <figure>
    <h3>{{ one.title | clip(60) }}</h3>
    {{ one.drawing }}
    {% if one.caption %}<figcaption>{{ one.caption }}</figcaption>{% endif %}
    {{ m.numbers("Numbers of " ~ one.title, one.headings, one.numbers) }}
  </figure>
  {% endfor %}
</div>
{{ m.left_out(view.left_out, "learners") }}
"""

    curves: tuple[TrainingCurve, ...]

    def view(self, content: Content) -> View:
        """One picture per learner."""
        curves, left_out = cut(self.curves, MOST_CURVES)
        has_train = any(curve.train is not None for curve in self.curves)
        legend = [Swatch("held-out", "s1"), *([Swatch("train", "s2", True)] if has_train else [])]
        return {
            "figures": [_training_figure(curve, content) for curve in curves],
            "legend": legend,
            "left_out": left_out,
        }


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Held-out score of one learner against the number of train rows.

    Attributes
    ----------
    learner : str
        Name.
    n_rows, score : ndarray of shape (m,)
        Train rows, rising, and the held-out score with them.
    low, high : ndarray of shape (m,) or None
        Ends of a band around the score.
    train : ndarray of shape (m,) or None
        Score on the rows trained on.
    """

    learner: str
    n_rows: Array
    score: Array
    low: Array | None = None
    high: Array | None = None
    train: Array | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "n_rows", "score", "low", "high", "train")


@dataclass(frozen=True)
class LearningCurves(Part):
    """Learning curves of some learners in one picture, and what they say."""

    section = Section("learning", "Learning curve", 60)
    template = """\
<p class="lead">{{ (part.message or "A curve that still rises at its right end says that more " ~ content.data.unit ~ "s would help.") | sentence }}</p>
<figure class="single">
  {{ m.legend(view.legend) }}
  {{ view.drawing }}
  {{ m.numbers("Numbers of the learning curve", view.headings, view.numbers) }}
</figure>
{{ m.left_out(view.left_out, "learners") }}
"""

    curves: tuple[LearningCurve, ...]
    message: str = ""

    def view(self, content: Content) -> View:
        """Some learners in one picture."""
        metric = content.metric
        curves, left_out = cut(self.curves, 6)
        series, swatches = [], []
        for index, curve in enumerate(curves, start=1):
            css = f"s{index}"
            series.append(
                Series(
                    curve.learner,
                    curve.n_rows,
                    formats.scaled_array(curve.score, metric),
                    None if curve.low is None else formats.scaled_array(curve.low, metric),
                    None if curve.high is None else formats.scaled_array(curve.high, metric),
                    css=css,
                )
            )
            swatches.append(Swatch(f"{curve.learner}, held-out", css))
            if curve.train is not None:
                train = formats.scaled_array(curve.train, metric)
                series.append(
                    Series(f"{curve.learner}, train", curve.n_rows, train, css=css, dashed=True)
                )
                swatches.append(Swatch(f"{curve.learner}, train", css, True))
        sizes = [float(n) for curve in curves for n in curve.n_rows if n > 0]
        return {
            "drawing": chart(
                f"Held-out {metric.title} against the number of train {content.data.unit}s",
                series,
                x_title=f"train {content.data.unit}s",
                y_title=formats.heading(metric),
                logarithmic=bool(sizes) and max(sizes) >= WIDE * min(sizes),
                limits=limits(metric),
            ),
            "legend": swatches,
            "left_out": left_out,
            "headings": [
                "learner",
                f"train {content.data.unit}s",
                f"held-out {formats.heading(metric)}",
            ],
            "numbers": [
                [curve.learner, formats.count(n), formats.score(float(value), metric, unit=False)]
                for curve in curves
                for n, value in zip(curve.n_rows, curve.score, strict=True)
            ][:MOST_NUMBERS],
        }


def _training_figure(curve: TrainingCurve, content: Content) -> dict[str, object]:
    metric = content.metric
    series = [Series("held-out", curve.x, formats.scaled_array(curve.held_out, metric))]
    if curve.train is not None:
        train = formats.scaled_array(curve.train, metric)
        series.append(Series("train", curve.x, train, css="s2", dashed=True))
    marks = [Mark(curve.chosen, "chosen")] if math.isfinite(curve.chosen) else []
    drawing = chart(
        f"{curve.learner}: train and held-out {metric.title} against {curve.axis}",
        series,
        x_title=curve.axis,
        y_title=formats.heading(metric),
        logarithmic=curve.logarithmic,
        marks=marks,
        limits=limits(metric),
    )
    return {
        "title": curve.learner,
        "drawing": drawing,
        "caption": _training_caption(curve, content),
        "headings": [curve.axis, *(one.name for one in series)],
        "numbers": [
            [
                formats.setting(float(x)) + ("" if _settled(curve, i) else " *"),
                *(formats.decimal(float(one.y[i]), metric.decimals) for one in series),
            ]
            for i, x in enumerate(curve.x[:MOST_NUMBERS])
        ],
    }


def _settled(curve: TrainingCurve, at: int) -> bool:
    return curve.settled is None or bool(curve.settled[at])


def _training_caption(curve: TrainingCurve, content: Content) -> str:
    """What was chosen, what came of it, and which scores may still change."""
    words = _choice(curve, content)
    cut = [x for i, x in enumerate(curve.x) if not _settled(curve, i)]
    if cut:
        named = ", ".join(formats.setting(float(x)) for x in cut[:MOST_NUMBERS])
        words += f" The fit was cut short at {curve.axis} = {named} (*): its score may change."
    return words.strip()


def _choice(curve: TrainingCurve, content: Content) -> str:
    if not math.isfinite(curve.chosen) or not len(curve.x):
        return ""
    at = int(np.argmin(np.abs(np.asarray(curve.x, dtype=np.float64) - curve.chosen)))
    setting = formats.setting(curve.chosen)
    chosen = f"{setting} {curve.axis}" if curve.axis == "passes" else f"{curve.axis} = {setting}"
    held_out = formats.score(float(curve.held_out[at]), content.metric)
    text = f"Chosen: {chosen}, {held_out} held-out"
    if curve.train is not None:
        text += f", {formats.score(float(curve.train[at]), content.metric)} train"
    return text + "."
