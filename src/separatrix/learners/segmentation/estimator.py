"""Semantic segmentation: a label for every pixel of an image."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from separatrix.data import FeatureGraphs
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.learners.segmentation.nodes import Nodes, as_graphs, make_nodes
from separatrix.learners.segmentation.pixels import (
    FEATURES,
    enlarged,
    read_images,
    read_label_images,
    shrunk,
)
from separatrix.learners.structured import CRF, StructuredPerceptron, StructuredSVM
from separatrix.results import Solution
from separatrix.structures import Graph, Grid
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    number_of_threads,
    refuse_dask,
)

__all__ = ["Segmenter"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_LEARNERS = {"crf": CRF, "svm": StructuredSVM, "perceptron": StructuredPerceptron}
#: Change of a message, a difference of log-probabilities, that is worth a warning.
_CHANGE = 0.1
#: Sweeps of a prediction by those of a pass of learning.
_MORE = 4


@contextmanager
def _no_word_of_messages() -> Iterator[None]:
    """Messages that did not settle are judged by how much they still change, see `_sums`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "belief propagation", ConvergenceWarning)
        yield


@dataclass(eq=False, repr=False)
class Segmenter(BaseEstimator):  # type: ignore[misc]
    """A label for every pixel, neighbors of like color tending to the same one.

    Pixels (or superpixels) are the nodes of a grid (or graph) whose features are color, position
    and texture; edges have weights for equal labels, by direction and by how alike the colors of
    the two ends are. With learner="crf" the model is p(y | x) = exp(h(x, y)) / Z(x), with log Z
    and marginals by belief propagation.

    Parameters
    ----------
    units : {"pixels", "superpixels"}
        What the nodes are. Superpixels (SLIC) need scikit-image, the extra "images".
    learner : {"crf", "svm", "perceptron"}
        Likelihood, margin by the number of wrong nodes, or averaged perceptron.
    neighborhood : {0, 4, 8}
        Neighbors of a pixel; 0: every node on its own, which is softmax regression. Superpixels
        have those they touch as neighbors, unless it is 0.
    contrast : bool
        Whether equal labels have weights by contrast too.
    pairs : {"potts", "associative", "symmetric", "full"}
        Which pairs of labels have weights of their own.
    features : sequence of {"color", "position", "texture"}
        Features of a node; see `separatrix.learners.segmentation.pixel_features`.
    max_side : int or None
        Images whose longer side is longer are shrunk to it before, and labels are enlarged after.
    n_segments : int
        Superpixels of an image, about.
    loss : {"likelihood", "pseudo"}
        Of the CRF: by belief propagation, or the pseudo-likelihood, which needs no inference but
        trusts neighbors too much.
    inference : {"tree_reweighted", "loopy", "auto", "junction", "forest"}
        How maxima and sums over labellings are found. Objects are large, so that neighbors learn to
        pull strongly; beliefs of plain belief propagation then all lean to one side, those of
        tree-reweighted messages, whose loss is convex, do not.
    max_sweeps : int
        Sweeps of messages over an image at most, in every pass of learning; messages go on where
        the pass before left them. Predictions, which begin anew, have four times as many. Messages
        need not settle to the last digit: a warning comes where log-odds still change by a tenth.
    C : float
        Weight of the losses of all nodes; the perceptron has none.
    tol : float, optional
        Stopping tolerance; that of the learner by default.
    max_iter : int, optional
        The most passes; those of the learner by default.
    random_state : int, RandomState instance or None
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    n_channels_in_ : int
        Channels of the images.
    mean_, scale_ : arrays of shape (n_features,)
        By which features are standardized.
    learner_ : CRF, StructuredSVM or StructuredPerceptron
        The fitted learner on graphs.
    message_change_ : float
        Largest change of a message in the last sweep over the training images; zero where inference
        is exact.
    solution_ : Solution
        How its solver ended.

    References
    ----------
    Domke (2013), Learning graphical model parameters with approximate marginal inference.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> truth = np.zeros((12, 12), dtype=int)
    >>> truth[3:9, 3:9] = 1
    >>> images = [truth + random.normal(0, 0.4, truth.shape) for _ in range(4)]
    >>> model = Segmenter(features=["color"], max_iter=30).fit(images[:3], [truth] * 3)
    >>> model.predict(images[3:])[0].shape
    (12, 12)
    >>> bool(model.score(images[3:], [truth]) > 0.9)
    True
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "pictures"
    #: The kind of its output, for model files.
    __sx_task__: ClassVar[str] = "label_images"
    #: Fitted attributes that a model file keeps.
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "n_channels_in_",
        "mean_",
        "scale_",
        "learner_",
        "message_change_",
    )

    classes_: npt.NDArray[Any] = field(init=False)
    n_channels_in_: int = field(init=False)
    mean_: Floats = field(init=False)
    scale_: Floats = field(init=False)
    learner_: Any = field(init=False)
    message_change_: float = field(init=False)

    units: str = "pixels"
    learner: str = "crf"
    _: KW_ONLY
    neighborhood: int = 4
    contrast: bool = True
    pairs: str = "potts"
    features: Any = FEATURES
    max_side: int | None = None
    n_segments: int = 300
    loss: str = "likelihood"
    inference: str = "tree_reweighted"
    max_sweeps: int = 25
    C: float = 1.0
    tol: float | None = None
    max_iter: int | None = None
    random_state: Any = None
    n_jobs: int | None = None

    # -- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of n arrays of shape (height, width) or (height, width, channels)
            Images of any sizes. Whole numbers are divided by the largest of their type.
        y : sequence of n arrays of shape (height, width)
            A label for every pixel.
        sample_weight : array-like of shape (n,), optional
            Weights of the images.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        check_given(self, y)
        pictures = read_images(X)
        self.n_channels_in_ = pictures[0].shape[2]
        truth = read_label_images(y, pictures)
        self.classes_ = np.unique(np.concatenate([one.ravel() for one in truth]))
        if len(self.classes_) < 2:
            raise DataError(
                f"all pixels have the label {self.classes_[0]!r}: nothing to tell apart"
            )
        nodes = [self._nodes(image) for image in pictures]
        rows = np.concatenate([one.features for one in nodes])
        self.mean_, deviation = rows.mean(axis=0), rows.std(axis=0)
        self.scale_ = np.where(deviation > 0, deviation, 1.0)
        codes = [self._node_labels(one, label) for one, label in zip(nodes, truth, strict=True)]
        graphs = self._graphs(nodes)
        if self._is_grid:
            codes = [code.reshape(one.shape) for code, one in zip(codes, nodes, strict=True)]
        with _no_word_of_messages():
            self.learner_ = self._make().fit(graphs, codes, sample_weight=sample_weight)
        self.message_change_ = 0.0
        if self.learner == "crf" and self.loss == "likelihood":
            self.message_change_ = self._sums(graphs)[1]
        return self

    def _check_parameters(self) -> None:
        check_choice("units", self.units, ("pixels", "superpixels"))
        check_choice("learner", self.learner, tuple(_LEARNERS))
        check_choice("neighborhood", self.neighborhood, (0, 4, 8))
        check_positive(C=self.C, n_segments=self.n_segments)
        if self.max_side is not None:
            check_positive(max_side=self.max_side)
        if isinstance(self.features, str):
            raise ParameterError(f"features must be a list of {', '.join(FEATURES)}")

    @property
    def _is_grid(self) -> bool:
        return self.units == "pixels" and self.neighborhood > 0

    def _make(self) -> Any:
        shared: dict[str, Any] = {
            "pairs": self.pairs,
            "inference": self.inference,
            "max_sweeps": self.max_sweeps,
        }
        structure: Any = Graph(**shared)
        if not self.neighborhood:
            structure = Graph(pairs=self.pairs, inference="forest")
        elif self._is_grid:
            structure = Grid(neighborhood=self.neighborhood, **shared)
        given = {"tol": self.tol, "max_iter": self.max_iter, "random_state": self.random_state}
        if self.learner != "perceptron":
            given["C"] = self.C
        if self.learner == "crf":
            given["loss"] = self.loss
        learner = _LEARNERS[self.learner](structure=structure, n_jobs=self.n_jobs)
        known = learner.get_params()
        return learner.set_params(
            **{name: value for name, value in given.items() if value is not None and name in known}
        )

    def _nodes(self, image: Floats) -> Nodes:
        n_segments = self.n_segments if self.units == "superpixels" else None
        return make_nodes(image, tuple(self.features), self.max_side, n_segments)

    def _node_labels(self, nodes: Nodes, label: npt.NDArray[Any]) -> Integers:
        """The label that most pixels of a node have, as a number of `classes_`."""
        shares = (label[..., None] == self.classes_).astype(np.float64)
        # The mean over the pixels that a shrunk one stands for, as for the image itself.
        return np.asarray(nodes.means(shrunk(shares, nodes.shape)).argmax(axis=1), dtype=np.int64)

    def _graphs(self, nodes: list[Nodes]) -> FeatureGraphs:
        matrix = np.concatenate([one.features for one in nodes])
        matrix = (matrix - self.mean_) / self.scale_
        grid = self.units == "pixels"
        return as_graphs(nodes, matrix, self.neighborhood, grid, self.contrast)

    @property
    def solution_(self) -> Solution:
        """How the solver ended."""
        solution: Solution = self.learner_.solution_
        return solution

    # -- predicting --------------------------------------------------------------------------

    def _sums(self, X: FeatureGraphs) -> tuple[list[Floats], float]:
        """Marginals of the nodes of every image, and how far messages are from settled."""
        graph = replace(self.learner_.features_, max_sweeps=_MORE * self.max_sweeps)
        n_threads = number_of_threads(self.n_jobs)
        scores = graph.scores(self.learner_.coef_, X, n_threads)
        found = graph.log_sum_exp(scores, warn=False, n_threads=n_threads)
        convergence = getattr(found, "convergence", None)
        change = 0.0 if convergence is None else float(convergence.residual.max(initial=0.0))
        if change > _CHANGE:
            warnings.warn(
                f"messages still change by {change:.2g} after {graph.max_sweeps} sweeps over an "
                "image; raise max_sweeps, or lower C",
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.split(found.nodes, X.graphs.node_offsets[1:-1]), change

    def _read(self, images: Any) -> tuple[list[Floats], list[Nodes]]:
        check_is_fitted(self)
        pictures = read_images(images)
        if pictures[0].shape[2] != self.n_channels_in_:
            raise DataError(
                f"images have {pictures[0].shape[2]} channels, the model was fitted on "
                f"{self.n_channels_in_}"
            )
        return pictures, [self._nodes(image) for image in pictures]

    def predict_proba(self, X: Any) -> list[Floats]:
        """Probabilities of the labels of every pixel, arrays of shape (height, width, K).

        They are the marginals of the nodes, enlarged where images were shrunk.
        """
        if self.learner != "crf":
            raise AttributeError(f"learner {self.learner!r} has no probabilities; take 'crf'")
        pictures, nodes = self._read(X)
        found, _ = self._sums(self._graphs(nodes))
        return [
            enlarged(one.painted(share), image.shape[:2])
            for image, one, share in zip(pictures, nodes, found, strict=True)
        ]

    def predict(self, X: Any) -> list[npt.NDArray[Any]]:
        """A label for every pixel, arrays of shape (height, width).

        Of the CRF the most probable label of every pixel, else the best labelling of the nodes.
        """
        if self.learner == "crf":
            return [self.classes_[share.argmax(axis=2)] for share in self.predict_proba(X)]
        pictures, nodes = self._read(X)
        found = []
        best = self.learner_.predict(self._graphs(nodes))
        for image, one, labels in zip(pictures, nodes, best, strict=True):
            shares = np.eye(len(self.classes_))[np.asarray(labels).ravel()]
            found.append(self.classes_[enlarged(one.painted(shares), image.shape[:2]).argmax(2)])
        return found

    def score(self, X: Any, y: Any) -> float:
        """Share of the pixels that are labeled right."""
        truth = read_label_images(y, read_images(X))
        predictions = self.predict(X)
        right = sum(int((a == b).sum()) for a, b in zip(truth, predictions, strict=True))
        return right / sum(one.size for one in truth)
