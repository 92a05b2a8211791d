"""The structured perceptron and MIRA on any structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError
from separatrix.learners.structured.base import StructuredLearner
from separatrix.results import StopReason
from separatrix.solvers.online.structured import Learned, run_passes, updates_for
from separatrix.structures.coded_labels import class_array, example_weights
from separatrix.validation import (
    check_choice,
    check_positive,
    refuse_dask,
    seed_from,
    starts_at_last_fit,
    warn_unused,
)

__all__ = ["StructuredPerceptron"]

Floats = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class StructuredPerceptron(StructuredLearner):
    """Perceptron or MIRA: on a mistake, w += tau (Psi(x, y) - Psi(x, y')).

    y' is the best labelling other than y; tau = learning_rate for the perceptron and, for MIRA, the
    smallest step that makes y win by the number of tokens that differ, at most C. On sequences of
    one token it is `Perceptron` and `MIRA`. On graphs y' is what inference finds.

    Parameters
    ----------
    structure : {"chain", "segments", "forest", "graph", "grid", "label_set", "labels"} or object
        Structure of the outputs; names stand for `Chain()`, `Segments()`, `Forest()`, `Graph()`,
        `Grid()`, `LabelSet()` and `Labels()`, which have parameters of their own; any class that
        keeps `protocols.Structure` will do.
    loss : {"perceptron", "mira"}
        How far a mistake moves the weights.
    learning_rate : float
        Step of the perceptron.
    C : float
        Largest step of MIRA.
    averaging : {"average", "none"}
        Whether to predict with the average of the weights after each sequence, or with the last.
    max_iter : int
        Passes over the sequences; a pass without a mistake is the last.
    shuffle : bool
        Whether to visit the sequences in a new order in every pass.
    class_weight : dict, "balanced" or None
        Weights of the labels. A sequence counts by the mean weight of its tokens, as a factor of
        the learning rate or of C.
    warm_start : bool
        Whether `fit` goes on from the last weights; those of chains grow with labels and
        attributes, where some of the labels stay.
    n_jobs : int or None
        Threads for predictions.
    random_state : int, RandomState or None
        Order of the sequences.
    verbose : int
        0 nothing, 1 a progress bar, 2 a line per pass.
    on_interrupt : {"raise", "keep"}
        After Ctrl-C the weights so far are kept; "raise" raises KeyboardInterrupt then.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (n_weights,)
        All weights; `features_` says which is which.
    mistakes_ : ndarray of shape (passes,)
        Tokens mistaken in every pass.

    References
    ----------
    Collins (2002), Discriminative training methods for hidden Markov models.
    McDonald, Crammer & Pereira (2005), Online large-margin training of dependency parsers.

    Examples
    --------
    >>> X = [[["the"], ["cat"]], [["cats"], ["sleep"]]]
    >>> y = [["D", "N"], ["N", "V"]]
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
    >>> tagger.predict([[["the"], ["cats"]]])
    [['D', 'N']]
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("mistakes_", "_last", "_average", "_seen")

    mistakes_: npt.NDArray[np.int64] = field(init=False)

    loss: str = "perceptron"
    learning_rate: float = 1.0
    C: float = 1.0
    averaging: str = "average"
    max_iter: int = 10
    shuffle: bool = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, token_weight: Any = None) -> Self:
        """Learn from passes over the sequences.

        Parameters
        ----------
        X : sequence of sequences of tokens, (matrix, lengths) or AttributeSequences
            For other structures `FeatureGraphs`, graphs as (features, edges), images, or rows of
            features.
        y : sequence of sequences of labels
            For other structures the labels of the nodes of every graph, label images, or a matrix
            of 0 and 1.
        sample_weight : array-like of shape (n_sequences,), optional
            Factor of the learning rate or of C; a sequence of weight zero is passed over.
        token_weight : sequence of arrays, optional
            Weight of every token; a sequence counts by their mean.

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        check_positive(max_iter=self.max_iter)
        structure = self._check()
        go_on = self.warm_start and hasattr(self, "coef_")
        classes = None
        if go_on:
            found = structure.codes(y, structure.read(X)).classes
            grows = hasattr(structure, "grown") and np.isin(found, self.classes_).any()
            if grows:
                classes = class_array({*self.classes_.tolist(), *found.tolist()})
            else:
                go_on = starts_at_last_fit(self, labels=(self.classes_, found))
        self._learn(X, y, sample_weight, token_weight, classes, self.max_iter, go_on=go_on)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from one pass over further sequences.

        New attributes and new pairs get weights of their own; labels must be known from the first
        call on.

        Parameters
        ----------
        X : sequence of sequences of tokens
        y : sequence of sequences of labels
        classes : array-like of shape (K,), optional
            All labels that will ever come, in the first call; those of `y` when left out.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        self._check()
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs all sequences at once; give partial_fit "
                "a dict of weights, or sample_weight"
            )
        go_on = hasattr(self, "coef_")
        if classes is not None:
            classes = np.unique(classes)
            if go_on and not np.array_equal(classes, self.classes_):
                raise DataError(
                    f"classes={classes.tolist()} is not the same as on the last call, "
                    f"{self.classes_.tolist()}; fit a new estimator to change them"
                )
        self._learn(X, y, sample_weight, None, classes, 1, go_on=go_on)
        return self

    def _check(self) -> Any:
        """The structure; ParameterError where a parameter is not one of its values."""
        structure = self._structure()
        check_choice("loss", self.loss, ("perceptron", "mira"))
        check_choice("averaging", self.averaging, ("average", "none"))
        check_positive(learning_rate=self.learning_rate, C=self.C)
        if self.loss == "mira":
            warn_unused(self, "loss='perceptron'", "learning_rate")
        else:
            warn_unused(self, "loss='mira'", "C")
        return structure

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        token_weight: Any,
        classes: npt.NDArray[Any] | None,
        max_passes: int,
        *,
        go_on: bool,
    ) -> None:
        """Learn from passes over examples; with `go_on` from what was learned before."""
        structure = self._structure()
        before: Learned | None = None
        numbers: npt.NDArray[np.int64] | None = None  # of the labels so far, where there are more
        if not go_on:
            inputs = structure.read(X)
            labels = structure.codes(y, inputs, classes)
            features = structure.layout(inputs, labels)
            inputs = structure.read(inputs, features)
        elif hasattr(structure, "grown"):
            old, known = self.features_, self.classes_ if classes is None else classes
            if len(known) > len(self.classes_):
                numbers = np.searchsorted(known, self.classes_)
                old = old.renumbered(numbers, len(known))
            features, inputs, labels = structure.grown(old, X, y, known)
        else:
            features = self.features_
            inputs = structure.read(X, features)
            labels = structure.codes(y, inputs, self.classes_)
        if go_on:
            before = self._learned(features, numbers)
        weights = example_weights(labels, sample_weight, self.class_weight, token_weight)
        mira, averaging = self.loss == "mira", self.averaging == "average"
        updates = updates_for(
            features,
            inputs,
            labels,
            weights,
            mira=mira,
            step=float(self.C if mira else self.learning_rate),
            seed=seed_from(self.random_state) if self.shuffle else None,
            before=before,
        )

        def so_far() -> npt.NDArray[np.floating]:
            w: Floats = updates.average if averaging else updates.w.copy()
            return w[:, None]

        solution = run_passes(self, updates.run_epoch, so_far, max_passes)
        mistakes = np.array(solution.trace.objective, dtype=np.int64)
        self.mistakes_ = np.concatenate([self.mistakes_, mistakes]) if go_on else mistakes
        w = np.asarray(solution.w[:, 0], dtype=np.float64)
        self._last, self._average = updates.w, w if averaging else None
        self._seen = updates.seen
        self._keep(features, labels.classes, w, solution)
        if solution.stopped is StopReason.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt

    def _learned(self, features: Any, numbers: npt.NDArray[np.int64] | None) -> Learned:
        """What was learned so far, as weights of features that may have grown."""
        old, last, average = self.features_, self._last, self._average
        if features is not old and not features.is_same(old):
            last = old.moved(last, features, numbers)
            average = None if average is None else old.moved(average, features, numbers)
        return Learned(last, average, self._seen)
