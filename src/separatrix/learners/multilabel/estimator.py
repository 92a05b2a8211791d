"""Sets of labels for every row, with weights for labels that occur together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.explanation import Explanation
from separatrix.learners.multilabel.decisions import best_f1_sets, drawn_f1_tables, f1_tables
from separatrix.learners.multilabel.targets import (
    Form,
    LabelSetTarget,
    encode_sets,
    given_back,
    read_sets,
    row_weights,
)
from separatrix.learners.structured import CRF, StructuredPerceptron, StructuredSVM
from separatrix.results import Solution
from separatrix.structures import LabelSet
from separatrix.structures.label_set.complete import all_sets
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    named_classes,
    refuse_dask,
    validate_X,
)

__all__ = ["DECISIONS", "MultiLabel"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_LEARNERS = {"crf": CRF, "svm": StructuredSVM, "perceptron": StructuredPerceptron}
#: What a prediction is to be best for.
DECISIONS = ("subset", "hamming", "f1")
#: Labels up to which all sets are counted for F1, and probabilities of sets that are held at once.
_COUNTED, _AT_ONCE = 14, 1 << 22
#: Draws that stand for all sets of more labels.
_DRAWS = 1000


def _has_marginals(model: MultiLabel) -> bool:
    if model.learner == "crf":
        return True
    raise AttributeError(f"learner {model.learner!r} has no probabilities; take learner='crf'")


def _is_online(model: MultiLabel) -> bool:
    if model.learner == "perceptron":
        return True
    raise AttributeError(f"learner {model.learner!r} learns from all rows at once, not in parts")


@dataclass(eq=False, repr=False)
class MultiLabel(LabelSetTarget, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Several labels for every row, some of which tend to occur together.

    The score of a set y in {0, 1}^L is h(x, y) = sum_l y_l (<w_l, x> + b_l) + sum_{(l, m)} v_lm
    y_l y_m over the edges of a graph of the labels. The conditional random field has
    p(y | x) = exp(h(x, y)) / Z(x) and minimizes 1/2 |(w, v)|^2 + C sum_i -log p(y_i | x_i); the
    support vector machine and the perceptron need the best set alone. Without edges the labels are
    independent logistic regressions.

    Parameters
    ----------
    learner : {"crf", "svm", "perceptron"}
        Likelihood, margin by the number of wrong labels, or averaged perceptron.
    edges : {"tree", "full"} or list of pairs of labels
        "tree": the spanning tree of the largest mutual information (Chow and Liu 1968); "full":
        every pair; a list: these pairs; an empty list: none.
    decision : {"subset", "hamming", "f1"}
        What `predict` is best for: that the whole set is right (the most probable set), that few
        labels are wrong (every label that is more probable than not), or the expected F1 of a row.
        The last two need learner="crf". For F1 all sets are counted up to 14 labels; beyond, a
        thousand draws stand for them, which needs exact inference.
    C : float
        Weight of the losses; the perceptron has none.
    inference : {"auto", "forest", "junction", "loopy", "tree_reweighted"}
        How sums and maxima over sets are found; "auto" is exact where the graph allows it.
    tol : float, optional
        Stopping tolerance; that of the learner by default.
    max_iter : int, optional
        The most passes; those of the learner by default.
    random_state : int, RandomState instance or None
        Seed of the order of rows, where it matters, and of draws.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    classes_ : array of shape (L,)
        The labels: numbers of the columns of a matrix, names of the columns of a DataFrame, or the
        sorted labels of lists.
    edges_ : int array of shape (E, 2)
        Numbers of the labels that edges join.
    pair_weights_ : array of shape (E,)
        v: positive where two labels attract each other beyond what x tells.
    learner_ : CRF, StructuredSVM or StructuredPerceptron
        The fitted learner over `separatrix.LabelSet`.
    solution_ : Solution
        How its solver ended.

    See Also
    --------
    separatrix.OneVsAll : one label for every row.

    References
    ----------
    Ghamrawi and McCallum (2005), Collective multi-label classification.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.9], [1.0], [1.1], [0.1]]
    >>> Y = [["sea"], ["sea"], ["beach", "sea"], ["beach", "sea"], ["beach", "sea"], ["sea"]]
    >>> model = MultiLabel(C=10.0).fit(X, Y)
    >>> list(model.predict([[0.0], [1.0]]))
    [('sea',), ('beach', 'sea')]
    >>> model.predict_proba([[1.0]]).shape
    (1, 2)
    """

    #: The kind of its output, for model files.
    __sx_task__: ClassVar[str] = "label_sets"
    #: Fitted attributes that a model file keeps.
    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "form_", "learner_")

    classes_: npt.NDArray[Any] = field(init=False)
    form_: Form = field(init=False)
    learner_: Any = field(init=False)

    learner: str = "crf"
    edges: Any = "tree"
    decision: str = "subset"
    _: KW_ONLY
    C: float = 1.0
    inference: str = "auto"
    tol: float | None = None
    max_iter: int | None = None
    random_state: Any = None
    n_jobs: int | None = None

    # -- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Features.
        y : array, sparse matrix or DataFrame of shape (n, L), or sequence of n collections
            A binary matrix, or the labels of every row.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        check_given(self, y)
        X = validate_X(self, X, reset=True)
        matrix, self.classes_, self.form_ = read_sets(y, X.shape[0])
        structure = LabelSet(edges=self._numbered_edges(), inference=self.inference)
        weights = row_weights(sample_weight, X)
        self.learner_ = self._make(structure).fit(X, matrix, sample_weight=weights)
        return self

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from one pass over further rows, with learner="perceptron".

        Parameters
        ----------
        X, y
            As in `fit`. A tree of labels is that of the first rows.
        classes : array-like of shape (L,), optional
            All labels that will ever come, in the first call; those of `y` when left out.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        check_given(self, y)
        first = not hasattr(self, "learner_")
        X = validate_X(self, X, reset=first)
        if first:
            matrix, self.classes_, self.form_ = read_sets(y, X.shape[0], classes)
            structure = LabelSet(edges=self._numbered_edges(), inference=self.inference)
            learner = self._make(structure)
        else:
            if classes is not None:
                named_classes(classes, self.classes_)
            matrix, learner = self._encoded(y, X.shape[0]), self.learner_
        weights = row_weights(sample_weight, X)
        self.learner_ = learner.partial_fit(X, matrix, sample_weight=weights)
        return self

    def _check_parameters(self) -> None:
        check_choice("learner", self.learner, tuple(_LEARNERS))
        check_choice("decision", self.decision, DECISIONS)
        check_positive(C=self.C)
        if self.decision != "subset" and self.learner != "crf":
            raise ParameterError(
                f"decision={self.decision!r} needs probabilities: take learner='crf', or "
                "decision='subset'"
            )

    def _make(self, structure: LabelSet) -> Any:
        given = {"tol": self.tol, "max_iter": self.max_iter, "random_state": self.random_state}
        if self.learner != "perceptron":
            given["C"] = self.C
        learner = _LEARNERS[self.learner](structure=structure, n_jobs=self.n_jobs)
        known = learner.get_params()
        return learner.set_params(
            **{name: value for name, value in given.items() if value is not None and name in known}
        )

    def _numbered_edges(self) -> Any:
        """Edges as the structure takes them: numbers of labels instead of labels."""
        if isinstance(self.edges, str):
            check_choice("edges", self.edges, ("tree", "full"))
            return self.edges
        if not isinstance(self.edges, Sequence | np.ndarray):
            raise ParameterError(
                f"edges must be 'tree', 'full' or pairs of labels, got {self.edges!r}"
            )
        numbers = {label: number for number, label in enumerate(self.classes_.tolist())}
        found = []
        for at, pair in enumerate(self.edges):
            if np.ndim(pair) != 1 or len(pair) != 2:
                raise ParameterError(f"edge {at} must be a pair of labels, got {pair!r}")
            for label in pair:
                if label not in numbers:
                    raise ParameterError(f"edge {at} names the label {label!r}, which Y has not")
            if pair[0] == pair[1]:
                raise ParameterError(f"edge {at} joins the label {pair[0]!r} with itself")
            found.append((numbers[pair[0]], numbers[pair[1]]))
        return found

    # -- what was learned --------------------------------------------------------------------

    @property
    def edges_(self) -> Integers:
        """Numbers of the labels that edges join, shape (E, 2)."""
        edges: Integers = self.learner_.features_.edges
        return edges

    @property
    def pair_weights_(self) -> Floats:
        """Weights of the edges, shape (E,)."""
        weights: Floats = self.learner_.pair_weights_
        return weights

    @property
    def solution_(self) -> Solution:
        """How the solver ended."""
        solution: Solution = self.learner_.solution_
        return solution

    @property
    def n_iter_(self) -> int:
        """Passes over the rows, rounded up."""
        return int(self.learner_.n_iter_)

    # -- predicting --------------------------------------------------------------------------

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_X(self, X, reset=False)

    def predict(self, X: Any) -> Any:
        """Label sets that are best for `decision`, in the form of those that `fit` was given.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)

        Returns
        -------
        int array or sparse matrix of shape (n, L), or LabelSets
        """
        self._check_parameters()
        X = self._checked(X)
        return given_back(self._decide(X), self.classes_, self.form_)

    def _decide(self, X: Any) -> Integers:
        if self.decision == "hamming":
            return np.asarray(self.learner_.predict_proba(X) > 0.5, dtype=np.int64)
        if self.decision == "f1":
            return self._best_f1(X)
        best: Integers = self.learner_.predict(X)
        return best

    def _best_f1(self, X: Any) -> Integers:
        L = len(self.classes_)
        counted = L <= _COUNTED
        features = self.learner_.features_
        if not (counted or features.is_exact):
            raise ParameterError(
                f"decision='f1' of {L} labels needs draws, and inference {features.method!r} has "
                "none: take edges='tree', or another decision"
            )
        sets = all_sets(L) if counted else np.zeros((0, L), dtype=np.int64)
        step = max(1, _AT_ONCE // (len(sets) if counted else _DRAWS * L))
        found = []
        for first in range(0, X.shape[0], step):
            part = X[first : first + step]
            if counted:
                found.append(best_f1_sets(*f1_tables(self._set_shares(part, sets), sets)))
            else:
                draws = self.learner_.sample(part, _DRAWS, random_state=self.random_state)
                found.append(best_f1_sets(*drawn_f1_tables(draws)))
        return np.concatenate(found)

    def _set_shares(self, X: Any, sets: Integers) -> Floats:
        """p(y | x) of all sets, shape (n, 2 ** L)."""
        unary = self.learner_._scores(X)[2].unary.reshape(X.shape[0], -1, 2)
        first, second = self.edges_.T
        scores = (unary[:, :, 1] - unary[:, :, 0]) @ sets.T
        scores += (sets[:, first] * sets[:, second]) @ self.pair_weights_
        proba: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        return proba

    @available_if(_has_marginals)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """p(label | x) of every label, shape (n, L); with loopy inference an estimate."""
        X = self._checked(X)
        marginals: Floats = self.learner_.predict_proba(X)
        return marginals

    @available_if(_has_marginals)  # type: ignore[untyped-decorator]
    def log_likelihood(self, X: Any, y: Any) -> Floats:
        """log p(y | x) of given label sets, shape (n,)."""
        X = self._checked(X)
        values: Floats = self.learner_.log_likelihood(X, self._encoded(y, X.shape[0]))
        return values

    def explain_set(self, row: Floats, names: Any = None, every: bool = False) -> Explanation:
        """The sum behind the label set of one row; see `separatrix.explain`.

        The score of a set against the empty one is the sum of its biases, of w_l x over its labels,
        and of the weights of its pairs. Where no label is predicted, or `every` is requested, each
        label has a column of its own: what speaks for it, given the others that are predicted.

        Parameters
        ----------
        row : array of shape (d,)
            Features.
        names : sequence of str, optional
            Their names.
        every : bool
            Whether all labels are shown.
        """
        features, w = self.learner_.features_, np.asarray(self.learner_.coef_, dtype=np.float64)
        parts = {name: w[place] for name, place in features.sections.items()}
        W, bias = parts["state"].reshape(len(row), -1), parts["bias"]
        present = self._decide(self._checked(row[None]))[0] > 0
        used = np.flatnonzero(row)
        each = np.vstack([bias, W[used] * row[used, None]])
        pairs = [(a, b, v) for (a, b), v in zip(self.edges_, parts["pairs"], strict=True)]
        chosen = tuple(self.classes_[present].tolist())
        if present.any() and not every:
            labels: list[Any] = [", ".join(map(str, chosen)), "(none)"]
            inside = [(a, b, v) for a, b, v in pairs if present[a] and present[b]]
            addends = each[:, present].sum(axis=1)[:, None]
            more = np.array([[v] for _, _, v in inside]).reshape(-1, 1)
            told = [f"{self.classes_[a]} + {self.classes_[b]}" for a, b, _ in inside]
        else:
            shown = np.arange(len(bias)) if every else np.argsort(-each.sum(axis=0))[:2]
            labels, addends = self.classes_[shown].tolist(), each[:, shown]
            beside = np.flatnonzero(present)
            table = np.zeros((len(bias), len(bias)))
            for a, b, v in pairs:
                table[a, b] = table[b, a] = v
            more = table[beside][:, shown]
            told = [f"beside {self.classes_[label]}" for label in beside]
        named = [f"x{j}" for j in used] if names is None else [str(names[j]) for j in used]
        blank = np.full(len(told), np.nan)
        return Explanation(
            np.array([str(label) for label in labels]),
            ("(intercept)", *named, *told),
            np.vstack([addends, more]),
            values=np.concatenate([[np.nan], row[used], blank]),
            weights=None
            if addends.shape[1] > 1
            else np.concatenate([[np.nan], W[used][:, present].sum(axis=1), blank])[:, None],
            columns=np.concatenate([[-1], used, np.full(len(told), -1)]),
            prediction=chosen,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose whole set is right."""
        X = self._checked(X)
        right = (self._decide(X) == self._encoded(y, X.shape[0])).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def _encoded(self, y: Any, n_rows: int) -> Integers:
        return encode_sets(y, n_rows, self.classes_)

    # -- the frame ---------------------------------------------------------------------------

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if hasattr(self, "learner_") and len(self.learner_.classes_) != len(self.classes_):
            raise DataError("the learner does not have a node for every label")
