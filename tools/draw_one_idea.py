"""Draw the picture of the README (one score, one argmax), and that of examples that only print.

python tools/draw_one_idea.py        # writes one_idea.png and printed.png into docs/_static
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from separatrix import CRF, LinearSVM, LogisticRegression
from separatrix.plots import DecisionRegionDisplay, TrellisDisplay

STATIC = Path(__file__).resolve().parent.parent / "docs" / "_static"
TARGET = STATIC / "one_idea.png"
PRINTED = STATIC / "printed.png"
BLUE, ORANGE = "#0072B2", "#D55E00"
TAGGED = """
the/DET old/ADJ man/NOUN saw/VERB the/DET dog/NOUN
the/DET old/NOUN man/VERB the/DET boats/NOUN
the/DET dog/NOUN saw/VERB the/DET old/ADJ man/NOUN
"""


def two_labels(ax: Any) -> None:
    """Draw the margin of a support vector machine."""
    generator = np.random.default_rng(5)
    X = np.vstack(
        [generator.normal((-1.2, -0.8), 0.55, (30, 2)), generator.normal((1.2, 0.9), 0.55, (30, 2))]
    )
    y: Any = np.repeat([0, 1], 30)
    model = LinearSVM(C=1e3).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    x = np.array([-3.0, 3.0])
    ax.scatter(*X[y == 0].T, marker="o", color=BLUE, s=20)
    ax.scatter(*X[y == 1].T, marker="^", color=ORANGE, s=20)
    ax.plot(x, -(w[0] * x + b) / w[1], color="black")
    for side in (-1, 1):
        ax.plot(x, (side - w[0] * x - b) / w[1], color="black", linestyle="--", linewidth=0.8)
    ax.scatter(*X[model.support_].T, s=90, facecolors="none", edgecolors="black")
    ax.set(title="two labels", xlim=(-2.8, 2.8), ylim=(-2.6, 2.6), xticks=[], yticks=[])


def many_labels(ax: Any) -> None:
    """Draw the regions of softmax regression."""
    generator = np.random.default_rng(1)
    angles = 2 * np.pi * np.arange(5) / 5 + 0.3
    centers = 2.2 * np.column_stack([np.cos(angles), np.sin(angles)])
    y: Any = np.repeat(np.arange(5), 30)
    X = centers[y] + generator.normal(0, 0.5, (150, 2))
    DecisionRegionDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=ax)
    if ax.get_legend():
        ax.get_legend().remove()
    ax.set(title="many labels", xticks=[], yticks=[], xlabel="", ylabel="")


def a_chain(ax: Any) -> None:
    """Draw the trellis of a conditional random field."""
    pairs = [[token.split("/") for token in line.split()] for line in TAGGED.strip().splitlines()]
    X = [[{"word": word} for word, _ in line] for line in pairs]
    crf = CRF(C=2.0).fit(X, [[tag for _, tag in line] for line in pairs])
    sentence = [{"word": word} for word in ["the", "old", "man", "the", "boats"]]
    TrellisDisplay.from_estimator(crf, sentence, ax=ax)
    below = {"loc": "upper center", "bbox_to_anchor": (0.55, -0.2), "ncols": 2}
    ax.legend(*ax.get_legend_handles_labels(), frameon=False, fontsize="small", **below)
    ax.set(title="a chain of labels", xlabel="", ylabel="")


def printed() -> None:
    """Draw a sheet of lines: what stands for an example without a figure of its own."""
    figure = plt.figure(figsize=(4, 2.8), facecolor="#fafae2")
    ax = figure.add_axes((0.12, 0.12, 0.76, 0.76))
    generator = np.random.default_rng(0)
    for row in range(7):
        start = 0.0
        for width in generator.uniform(0.1, 0.3, 3):
            ax.barh(row, width, left=start, height=0.42, color="#4a4a4a" if start else BLUE)
            start += width + 0.06
    ax.set(xlim=(0, 1.08), ylim=(6.6, -0.6))
    ax.set_axis_off()
    figure.savefig(PRINTED, dpi=100, pil_kwargs={"optimize": True})


def main() -> None:
    """Write the pictures."""
    printed()
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for draw, ax in zip((two_labels, many_labels, a_chain), axes, strict=True):
        draw(ax)
    figure.suptitle(r"$\hat y = \arg\max_y \ \langle w, \Psi(x, y) \rangle$", fontsize=15)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET, dpi=110, pil_kwargs={"optimize": True})
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
