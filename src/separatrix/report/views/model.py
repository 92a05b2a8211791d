"""Weights and explanations."""

from __future__ import annotations

import math

import numpy as np

from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.draw import pixels
from separatrix.report.draw.scales import range_of
from separatrix.report.draw.strips import step_bar
from separatrix.report.parts import ClassWeights, Explanation, Explanations, Weights
from separatrix.report.views.common import View, cut

__all__ = ["explanations", "weights"]

#: Groups that are open from the start; the others unfold.
MOST_OPEN = 12
MOST_GROUPS = 120
MOST_FEATURES, FEW_FEATURES = 20, 8
#: Beside a picture of all weights a few features will do.
BESIDE_PICTURE = 6
MOST_EXAMPLES = 12
MOST_STEPS = 30
LONGEST_NAME = 24


def weights(part: Weights, _: Content) -> View:
    """A table with bars per class; with many classes, fewer features each."""
    most = MOST_FEATURES if len(part.groups) <= MOST_OPEN else FEW_FEATURES
    groups, left_out = cut(part.groups, MOST_GROUPS)
    # One axis for all groups, from zero to both sides as far as there is something.
    low, high = range_of([np.zeros(1), *(np.asarray(one.values) for one in groups)])
    shown = [_group(one, most, low, high, part.odds) for one in groups]
    return {
        "open": shown[:MOST_OPEN],
        "folded": shown[MOST_OPEN:],
        "left_out": left_out,
    }


def _group(one: ClassWeights, most: int, low: float, high: float, odds: bool) -> dict[str, object]:
    """The features with the largest values of either sign, in falling order."""
    values = np.asarray(one.values, dtype=np.float64)
    most = most if one.picture is None else BESIDE_PICTURE
    keep = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
    order = keep[np.argsort(-values[keep], kind="stable")]
    cells = formats.aligned(values[order])
    with np.errstate(over="ignore"):
        ratios = np.exp(values[order])
    return {
        "label": one.label,
        "against": one.against,
        "intercept": formats.short(one.intercept),
        "has_intercept": math.isfinite(one.intercept),
        "image": None if one.picture is None else pixels.signed(one.picture),
        "left_out": len(values) - len(order),
        "rows": [
            {
                "feature": one.features[i],
                "value": cell,
                "bar": step_bar(0.0, float(values[i]), low, high),
                "odds": formats.short(float(ratio)) if odds else "",
            }
            for i, cell, ratio in zip(order, cells, ratios, strict=True)
        ],
    }


def explanations(part: Explanations, _: Content) -> View:
    """Running totals as tables."""
    shown, left_out = cut(part.examples, MOST_EXAMPLES)
    return {"examples": [_example(one) for one in shown], "left_out": left_out}


def _example(one: Explanation) -> dict[str, object]:
    # Of a long sum the last steps are shown too: they hold the result.
    steps = list(one.steps)
    left_out = max(0, len(steps) - MOST_STEPS)
    kept = list(range(len(steps)))
    if left_out:
        kept = [*range(MOST_STEPS - 1), len(steps) - 1]
    # With two or more scores the bars show how the first gains on the second.
    margins = [step.totals[0] - (step.totals[1] if len(step.totals) > 1 else 0.0) for step in steps]
    before = [0.0, *margins[:-1]]
    low, high = min([0.0, *margins]), max([0.0, *margins])
    texts = formats.aligned(
        value for step in steps for value in (*step.contributions, *step.totals)
    )
    cells = iter(texts)
    rows = [([next(cells) for _ in one.scores], [next(cells) for _ in one.scores]) for _ in steps]
    names = [formats.clip(name, LONGEST_NAME) for name in one.scores]
    single = len(names) == 1
    return {
        "example": one,
        "probability": formats.percent(one.probability),
        "has_probability": math.isfinite(one.probability),
        "right": one.truth == one.prediction,
        "score": one.scores[0] if single else "",
        "headings": ["adds", "total"]
        if single
        else [*(f"adds to {name}" for name in names), *(f"total {name}" for name in names)],
        "bars": "total" if single else " minus ".join(names[:2]),
        "steps": [
            {
                "feature": steps[i].feature,
                "value": steps[i].value,
                "contributions": rows[i][0],
                "totals": rows[i][1],
                "bar": step_bar(before[i], margins[i], low, high),
                "after_gap": left_out > 0 and i == len(steps) - 1,
            }
            for i in kept
        ],
        "left_out": left_out,
        "unknown": ", ".join(one.unknown[:40]),
    }
