"""Overtraining and learning curves."""

from __future__ import annotations

import math

import numpy as np

from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.draw.chart import Mark, Series, chart
from separatrix.report.parts import LearningCurves, TrainingCurve, TrainingCurves
from separatrix.report.views.common import Swatch, View, cut, limits

__all__ = ["learning", "training"]

MOST_CURVES = 12
#: Rows of the table of numbers below a picture.
MOST_NUMBERS = 60
#: From this ratio of the largest to the smallest number of rows on, the axis is logarithmic.
WIDE = 8


def training(part: TrainingCurves, content: Content) -> View:
    """One picture per learner."""
    curves, left_out = cut(part.curves, MOST_CURVES)
    has_train = any(curve.train is not None for curve in part.curves)
    legend = [Swatch("held-out", "s1"), *([Swatch("train", "s2", True)] if has_train else [])]
    return {
        "figures": [_training_figure(curve, content) for curve in curves],
        "legend": legend,
        "left_out": left_out,
    }


def _training_figure(curve: TrainingCurve, content: Content) -> dict[str, object]:
    metric = content.metric
    series = [Series("held-out", curve.x, formats.scaled_array(curve.held_out, metric))]
    if curve.train is not None:
        train = formats.scaled_array(curve.train, metric)
        series.append(Series("train", curve.x, train, css="s2", dashed=True))
    marks = [Mark(curve.chosen, "chosen")] if math.isfinite(curve.chosen) else []
    drawing = chart(
        f"{curve.learner}: train and held-out {metric.name} against {curve.axis}",
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
                *(formats.decimal(float(one.y[i]), metric.digits) for one in series),
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


def learning(part: LearningCurves, content: Content) -> View:
    """Some learners in one picture."""
    metric = content.metric
    curves, left_out = cut(part.curves, 6)
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
            f"Held-out {metric.name} against the number of train {content.data.unit}s",
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
