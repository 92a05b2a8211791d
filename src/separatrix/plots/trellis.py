"""A sentence with the probabilities of its labels, and the two best ways through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError
from separatrix.plots.canvas import COLORS, Display
from separatrix.structures.chain.inference import log_partition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

__all__ = ["TrellisDisplay"]


@dataclass
class TrellisDisplay(Display):
    """Marginal probabilities as heat, with the best and the second labelling as paths.

    Use `from_estimator` to make one.

    Attributes
    ----------
    words : tuple of str
        The tokens.
    labels : tuple of str
        The labels that are shown.
    marginals : ndarray of shape (n_tokens, n_labels)
        Their probabilities.
    paths : tuple of (labels, probability)
        The best labelling and the second, as numbers of `labels`; only one where there is no other.
    truth : ndarray of shape (n_tokens,) or None
        The true labels as numbers of `labels`.
    figure_, ax_, image_, lines_
        The figure, the axes, the heat and the paths, after `plot`.
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    marginals: npt.NDArray[np.float64]
    paths: tuple[tuple[npt.NDArray[np.int64], float], ...]
    truth: npt.NDArray[np.int64] | None = None
    image_: AxesImage = field(init=False, repr=False)
    lines_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        sequence: Any,
        *,
        words: Sequence[Any] | None = None,
        y: Sequence[Any] | None = None,
        constraints: Any = None,
        least: float = 0.01,
        ax: Axes | None = None,
        **image_options: Any,
    ) -> Self:
        """Draw what a fitted model thinks of one sequence.

        Parameters
        ----------
        estimator : CRF, or a pipeline that ends with one
            Fitted; it needs `predict_proba` and `predict_top`.
        sequence : sequence of tokens
            One sequence, in the form of those that the model was fitted on.
        words : sequence of str, optional
            What to write below the tokens; by default a token that is a str, its first column, its
            attribute "word", or its number.
        y : sequence of labels, optional
            The true labels, drawn as rings.
        constraints : optional
            As in `CRF.predict`.
        least : float, default=0.01
            Labels that are nowhere more probable, and on no path, are left out.
        ax : Axes, optional
            Where to draw; new axes by default.
        **image_options
            Handed to `Axes.imshow`.

        Returns
        -------
        TrellisDisplay
            The picture, with `figure_` and `ax_`.
        """
        tokens = sequence if hasattr(sequence, "shape") else list(sequence)
        n = tokens.shape[0] if hasattr(tokens, "shape") else len(tokens)
        if n == 0:
            raise DataError("the sequence has no tokens")
        model, X = _model_and_input(estimator, [tokens])
        classes = model.classes_.tolist()
        marginals = model.predict_proba(X, constraints=constraints)[0]
        found = model.predict_top(X, 2, constraints=constraints)[0]
        numbers = {label: number for number, label in enumerate(classes)}
        paths = [np.array([numbers[label] for label in path]) for path, _ in found]
        truth = None if y is None else _truth(list(y), numbers, n)
        shown = marginals.max(axis=0) > least
        for path in [*paths, *([] if truth is None else [truth])]:
            shown[path] = True
        places = np.cumsum(shown) - 1
        total = float(log_partition(model._scores(X, constraints)[2])[0])
        chances = [float(np.exp(score - total)) for _, score in found]
        names = [_word(tokens[t], t) for t in range(n)] if words is None else list(words)
        if len(names) != n:
            raise DataError(f"there are {len(names)} words for {n} tokens")
        return cls(
            tuple(str(name) for name in names),
            tuple(str(classes[number]) for number in np.flatnonzero(shown)),
            marginals[:, shown],
            tuple((places[path], chance) for path, chance in zip(paths, chances, strict=True)),
            None if truth is None else places[truth],
        ).plot(ax=ax, **image_options)

    def plot(self, ax: Axes | None = None, **image_options: Any) -> Self:
        """Draw the trellis.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **image_options
            Handed to `Axes.imshow`.

        Returns
        -------
        TrellisDisplay
            This display.
        """
        new = ax is None
        self._open(ax)
        n, k = self.marginals.shape
        if new:
            self.figure_.set_size_inches(max(4.8, 1.8 + 0.55 * n), max(2.6, 1.5 + 0.34 * k))
        options: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "aspect": "auto"}
        self.image_ = self.ax_.imshow(self.marginals.T, **(options | image_options))
        self.figure_.colorbar(self.image_, ax=self.ax_, label="probability of a label", pad=0.02)
        tokens = np.arange(n)
        self.lines_ = []
        if self.truth is not None:
            rings: dict[str, Any] = {"markersize": 13, "markerfacecolor": "none", "color": "black"}
            self.ax_.plot(tokens, self.truth, "o", label="truth", linestyle="none", **rings)
        styles: list[dict[str, Any]] = [
            {"color": COLORS[1], "marker": "o", "linewidth": 2.2, "zorder": 3},
            {"color": COLORS[2], "marker": "s", "linewidth": 1.4, "linestyle": "--", "zorder": 2},
        ]
        for name, (path, p), style in zip(("best", "second"), self.paths, styles, strict=False):
            label = f"{name}, probability {p:.2g}"
            self.lines_ += self.ax_.plot(tokens, path, label=label, markersize=5, **style)
        self.ax_.set_xticks(tokens, self.words, rotation=45, ha="right", rotation_mode="anchor")
        self.ax_.set_yticks(np.arange(k), self.labels)
        if new:
            self.figure_.legend(frameon=False, loc="outside upper center", ncols=3)
        else:
            self.ax_.legend(loc="best")
        return self


def _model_and_input(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The model at the end of a pipeline, or inside a drop-in, and its input."""
    if hasattr(estimator, "steps"):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator.steps[-1][1]
    if not hasattr(estimator, "predict_top"):
        estimator = getattr(estimator, "model_", estimator)
    for method in ("predict_proba", "predict_top"):
        if not hasattr(estimator, method):
            raise ParameterError(
                f"{type(estimator).__name__} has no {method}; a trellis shows a fitted CRF"
            )
    return estimator, X


def _truth(y: list[Any], numbers: dict[Any, int], n: int) -> npt.NDArray[np.int64]:
    if len(y) != n:
        raise DataError(f"there are {len(y)} labels for {n} tokens")
    for position, label in enumerate(y):
        if label not in numbers:
            raise DataError(f"label {label!r} of token {position} is not known to the model")
    return np.array([numbers[label] for label in y], dtype=np.int64)


def _word(token: Any, position: int) -> str:
    if isinstance(token, str):
        return token
    if isinstance(token, Mapping):
        word = token.get("word")
        return word if isinstance(word, str) else str(position)
    if isinstance(token, tuple | list) and len(token) and isinstance(token[0], str):
        return str(token[0])
    return str(position)
