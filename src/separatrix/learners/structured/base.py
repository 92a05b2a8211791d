"""What the learners of structures share: reading data, scoring, predicting."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from separatrix.data import TokenColumn
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.explanation import Trellis, Weights
from separatrix.learners.structured.insight import explained, label_weights, transition_weights
from separatrix.metrics.sequences import token_accuracy
from separatrix.results import Solution, StopReason
from separatrix.structures.named import fitting_features, structure_named
from separatrix.validation import check_choice, number_of_threads

__all__ = ["StructuredLearner", "rows_of"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def rows_of(y: Any) -> Any:
    """The labels of every example as a list, whatever their shape; those of sequences as they are.

    Examples
    --------
    >>> rows_of([np.array([[1, 2], [3, 4]]), ["a"], "b"])
    [[1, 2, 3, 4], ['a'], ['b']]
    """
    if isinstance(y, TokenColumn):
        return y
    if hasattr(y, "toarray"):
        y = y.toarray()
    return [_labels_of(row) for row in y]


def _labels_of(row: Any) -> Any:
    """The labels of one example: several, or one where an example is a node."""
    if isinstance(row, np.ndarray):
        return row.ravel().tolist()
    return [row] if isinstance(row, str) or not isinstance(row, Sequence) else row


@dataclass(eq=False, repr=False)
class StructuredLearner(BaseEstimator):  # type: ignore[misc]
    """Base of the learners: the labelling of the highest score wins.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted; of label sets the numbers of the columns.
    coef_ : ndarray of shape (n_weights,)
        All weights.
    features_ : Features
        Which weights there are, and inference with them.
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "coef_",
        "features_",
        "n_iter_",
        "solution_",
    )

    classes_: npt.NDArray[Any] = field(init=False)
    coef_: Floats = field(init=False)
    features_: Any = field(init=False)
    n_iter_: int = field(init=False)
    solution_: Solution = field(init=False)

    structure: Any = "chain"
    _: KW_ONLY
    class_weight: Any = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    on_interrupt: str = "raise"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags

    def _structure(self) -> Any:
        """The structure, with its parameters checked."""
        check_choice("on_interrupt", self.on_interrupt, ("raise", "keep"))
        structure = structure_named(self.structure)
        check = getattr(structure, "check", None)
        if check is not None:
            check()
        return structure

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if not hasattr(self, "coef_"):
            return
        n_classes = getattr(self.features_, "n_classes", len(self.classes_))
        if self.coef_.shape != (self.features_.n_weights,) or self.classes_.shape != (n_classes,):
            raise DataError("the weights do not fit the features")

    def _keep(
        self, features: Any, classes: npt.NDArray[Any], w: Floats, solution: Solution
    ) -> None:
        """Make what was learned the state of the model."""
        self.features_ = features
        self.classes_ = classes
        self.coef_ = w
        self.solution_ = solution._replace(w=w[:, None])
        self.n_iter_ = max(1, int(np.ceil(solution.n_passes)))

    def _finish(self, solution: Solution, tol: float) -> None:
        """Raise KeyboardInterrupt or warn, according to how the solver stopped."""
        if solution.stopped is StopReason.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        if solution.stopped is StopReason.BUDGET:
            warnings.warn(
                f"{type(self).__name__} stopped after {solution.n_passes:.0f} passes with a "
                f"relative gap of {solution.relative_gap:.1e} (tol={tol:.0e}, {solution.solver}). "
                "Raise max_iter, raise tol, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- what was learned ------------------------------------------------------------------------

    def _offered(self, name: str, what: str) -> Any:
        """What the features of some structures offer; ParameterError where these do not."""
        check_is_fitted(self, "coef_")
        found = getattr(self.features_, name, None)
        if found is None:
            raise ParameterError(f"{what} need structure='chain'; this model has {self.structure}")
        return found

    @property
    def __sx_task__(self) -> str | None:
        """The kind of its output, for model files: labels of chains; others have none yet."""
        return "tagging" if hasattr(getattr(self, "features_", None), "k_best") else None

    @property
    def __sx_input__(self) -> str | None:
        """What it takes, for model files."""
        return "attributes" if self.__sx_task__ == "tagging" else None

    @property
    def n_attributes_in_(self) -> int:
        """Number of attributes of tokens seen in `fit`."""
        return int(self.features_.n_attributes)

    @property
    def attributes_(self) -> list[str] | None:
        """Names of the attributes, None where they have none."""
        check_is_fitted(self, "coef_")
        names = self.features_.names
        return None if names is None else names[:]

    @property
    def transition_weights_(self) -> Floats:
        """Weights of (label before, label), shape (K, K)."""
        check_is_fitted(self, "coef_")
        found: Floats = self.features_.transition_matrix(self.coef_)
        return found

    @property
    def pair_weights_(self) -> Floats:
        """Weights of pairs of labels by kind of edge, shape (n_kinds, K, K).

        For label sets those of two labels that are both present, shape (n_edges,).
        """
        check_is_fitted(self, "coef_")
        found: Floats = self.features_.pair_weights(self.coef_)
        return found

    def top_weights(self, top: int | None = 10) -> list[Weights]:
        """The strongest transitions, then the strongest attributes of each label."""
        self._offered("transition_matrix", "the strongest attributes")
        return [transition_weights(self, top), *label_weights(self, top)]

    def explain_sequence(self, X: Any, words: list[str], top: int = 3) -> Trellis:
        """What is behind the labels of one sequence; see `separatrix.explain_sequence`.

        Parameters
        ----------
        X : sequence of one sequence of tokens
            As in `fit`.
        words : list of str
            The tokens, as they are shown.
        top : int
            Terms of each token.
        """
        self._offered("k_best", "explanations of sequences")
        return explained(self, X, words, top, probabilities=hasattr(self, "predict_proba"))

    def shifted(self, label: Any, amount: float) -> Self:
        """A model that scores `label` higher by `amount` at every token.

        Viterbi's labelling is the likeliest, not the one of the highest F1: a rare name is only
        found where it is likelier than none. Lowering the score of "O" finds more names, and more
        that are none; `separatrix compare` chooses the amount on held-out sequences.

        Parameters
        ----------
        label : object
            One of `classes_`.
        amount : float
            What is added to the label's score; to its log odds, in a CRF.

        Returns
        -------
        learner
            A copy; `solution_` still tells of the fit. Marginals are those of the shifted scores.

        Examples
        --------
        >>> from separatrix import CRF
        >>> X, y = [[["b"], ["a"], ["a"]]] * 4, [["O", "O", "B"]] * 2 + [["O", "O", "O"]] * 2
        >>> crf = CRF(C=10.0).fit(X, y)
        >>> crf.predict(X[:1]), crf.shifted("O", -5.0).predict(X[:1])
        ([['O', 'O', 'O']], [['B', 'B', 'B']])
        """
        shift = self._offered("shifted", "shifted scores of labels")
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise ParameterError(f"there is no label {label!r}; there are {self.classes_.tolist()}")
        if not np.isfinite(amount):
            raise ParameterError(f"amount must be a number, got {amount!r}")
        other = copy.copy(self)
        other.coef_ = shift(self.coef_, int(found[0]), float(amount))
        return other

    # -- predicting ------------------------------------------------------------------------------

    def _read(self, X: Any) -> tuple[Any, Any]:
        """X as the structure reads it, and the features with the inference that fits it."""
        check_is_fitted(self, "coef_")
        structure = structure_named(self.structure)
        inputs = structure.read(X, self.features_)
        return inputs, fitting_features(structure, self.features_, inputs)

    def _scores(self, X: Any, constraints: Any = None) -> tuple[Any, Any, Any]:
        """X as the structure reads it, features, and scores."""
        inputs, features = self._read(X)
        scores = features.scores(self.coef_, inputs, number_of_threads(self.n_jobs))
        if constraints is not None:
            scores = features.restricted(scores, constraints, self.classes_)
        return inputs, features, scores

    def _limits(self, constraints: Any) -> Any:
        """The constraints of a call, else those of the structure."""
        if constraints is None:
            return getattr(structure_named(self.structure), "constraints", None)
        self._offered("restricted", "constraints")
        return constraints

    def _labels(self, codes: Integers, inputs: Any) -> Any:
        return structure_named(self.structure).labels(codes, inputs, self.classes_)

    def _codes(self, y: Any, inputs: Any) -> Integers:
        codes: Integers = structure_named(self.structure).codes(y, inputs, self.classes_).codes
        return codes

    def predict(self, X: Any, constraints: Any = None) -> Any:
        """The labelling of the highest score of every example.

        Parameters
        ----------
        X : sequence of sequences of tokens, or graphs
            As in `fit`; attributes that were not seen there are passed over.
        constraints : Constraints, str or sequence of sequences, optional
            Of chains, what the labels must obey: the name of a grammar such as "BIO", or per token
            None, a label, or a set of allowed labels. Without, those of the structure hold.

        Returns
        -------
        list of list, list of arrays, or array
            Labels of the tokens; of the nodes, of the pixels as images; of label sets a matrix of 0
            and 1.
        """
        inputs, features = self._read(X)
        constraints = self._limits(constraints)
        n_threads = number_of_threads(self.n_jobs)
        if hasattr(features, "best_at"):
            codes = features.best_at(self.coef_, inputs, n_threads, constraints, self.classes_)
        else:
            scores = features.scores(self.coef_, inputs, n_threads)
            codes = features.best(scores, n_threads).labels
        return self._labels(codes, inputs)

    def predict_top(
        self, X: Any, k: int = 5, constraints: Any = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The k labellings of the highest scores of every sequence, the best first.

        Parameters
        ----------
        X : sequence of sequences of tokens
        k : int, default=5
            How many; fewer where a sequence has fewer labellings.
        constraints : optional
            As in `predict`.

        Returns
        -------
        list of list of (labels, score)
        """
        self._offered("k_best", "the k best labellings")
        if k < 1:
            raise ParameterError(f"k must be at least 1, got {k}")
        _, features, scores = self._scores(X, self._limits(constraints))
        found = features.k_best(scores, k, number_of_threads(self.n_jobs))
        return [
            [
                (self.classes_[path].tolist(), float(value))
                for path, value in zip(paths, values, strict=True)
            ]
            for paths, values in found
        ]

    def decision_function(self, X: Any, y: Any) -> Floats:
        """Score h(x, y) of given labellings, shape (n_examples,)."""
        inputs, features, scores = self._scores(X)
        values: Floats = features.values(scores, self._codes(y, inputs))
        return values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the tokens or nodes that are labeled right, examples weighted."""
        predicted = rows_of(self.predict(X))
        return token_accuracy(rows_of(y), predicted, sample_weight=sample_weight)
