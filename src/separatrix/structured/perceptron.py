"""The structured perceptron and MIRA on chains and graphs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainOnline
from separatrix.data import AttributeSequences, as_attribute_sequences
from separatrix.errors import DataError, ParameterError
from separatrix.results import StopReason
from separatrix.structured.base import BaseChainLearner
from separatrix.structured.graph_online import learn_graphs
from separatrix.structured.growth import joined_chains, moved_weights, with_new_columns
from separatrix.structured.labels import Tags, encode_tags, sequence_weights
from separatrix.structured.running import run_passes
from separatrix.structures import Chain, EncodedChains
from separatrix.validation import (
    check_choice,
    check_positive,
    refuse_dask,
    seed_from,
    starts_at_last_fit,
)

__all__ = ["StructuredPerceptron", "from_kernel", "to_kernel"]

Floats = npt.NDArray[np.float64]
_KernelWeights = tuple[Floats, Floats, Floats, Floats]


class StructuredPerceptron(BaseChainLearner):
    """Perceptron or MIRA on a chain or a graph: on a mistake, w += tau (Psi(x, y) - Psi(x, y')).

    y' is the best labelling other than y; tau = rate for the perceptron and, for MIRA, the smallest
    step that makes y win by the number of tokens that differ, at most C. On sequences of one token
    it is `Perceptron` and `MIRA`. On graphs y' is what inference finds.

    Parameters
    ----------
    structure : {"chain", "forest", "graph", "grid", "label_set"} or a structure
        Structure of the outputs; names stand for `Forest()`, `Graph()`, `Grid()` and `LabelSet()`.
    update : {"perceptron", "mira"}
        How far a mistake moves the weights.
    rate : float
        Step of the perceptron.
    C : float
        Largest step of MIRA.
    averaging : {"average", "none"}
        Whether to predict with the average of the weights after each sequence, or with the last.
    max_iter : int
        Passes over the sequences; a pass without a mistake is the last.
    shuffle : bool
        Whether to visit the sequences in a new order in every pass.
    state_features : {"observed", "all"}
        Pairs of attribute and label with a weight: those seen in training, or all.
    transitions : {"observed", "all"}
        Pairs of labels with a weight.
    boundaries : bool
        Whether the first and the last label of a sequence have weights.
    class_weight : dict, "balanced" or None
        Weights of the labels. A sequence counts by the mean weight of its tokens, as a factor of
        the rate or of C.
    warm_start : bool
        Whether `fit` goes on from the last weights.
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
        All weights; `chain_` says which is which.
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

    mistakes_: npt.NDArray[np.int64]

    def __init__(
        self,
        structure: Any = "chain",
        *,
        update: str = "perceptron",
        rate: float = 1.0,
        C: float = 1.0,
        averaging: str = "average",
        max_iter: int = 10,
        shuffle: bool = True,
        state_features: str = "observed",
        transitions: str = "all",
        boundaries: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        on_interrupt: str = "raise",
    ) -> None:
        self.structure = structure
        self.update = update
        self.rate = rate
        self.C = C
        self.averaging = averaging
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.state_features = state_features
        self.transitions = transitions
        self.boundaries = boundaries
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, token_weight: Any = None
    ) -> StructuredPerceptron:
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
            Factor of the rate or of C; a sequence of weight zero is passed over.
        token_weight : sequence of arrays, optional
            Weight of every token; a sequence counts by their mean.

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        check_positive(max_iter=self.max_iter)
        structure = self._check()
        if structure is not None:
            learn_graphs(
                self,
                structure,
                X,
                y,
                sample_weight=sample_weight,
                token_weight=token_weight,
                max_passes=self.max_iter,
                go_on=self.warm_start,
            )
            return self
        before = self._state_before() if self.warm_start else None
        X, tags = self._take(X, y)
        labels = (None if before is None else before[1], tags.classes)
        if before is not None and not starts_at_last_fit(self, labels=labels):
            before = None
        weights = sequence_weights(X.offsets, tags, sample_weight, self.class_weight, token_weight)
        self._learn(X, tags, weights, self.max_iter, before)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> StructuredPerceptron:
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
        structure = self._check()
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs all sequences at once; give partial_fit "
                "a dict of weights, or sample_weight"
            )
        if structure is not None:
            learn_graphs(
                self,
                structure,
                X,
                y,
                sample_weight=sample_weight,
                classes=classes,
                max_passes=1,
                go_on=True,
            )
            return self
        before = self._state_before()
        known = None if before is None else before[1]
        if classes is not None:
            given = np.unique(classes)
            if known is not None and not np.array_equal(given, known):
                raise DataError(
                    f"classes={given.tolist()} is not the same as on the last call, "
                    f"{known.tolist()}; fit a new estimator to change them"
                )
            known = given
        X = as_attribute_sequences(X)
        tags = encode_tags(y, X.offsets, known)
        weights = sequence_weights(X.offsets, tags, sample_weight, self.class_weight)
        self._learn(X, tags, weights, 1, before)
        return self

    def _check(self) -> Any:
        """The structure, None for chains."""
        structure = self._check_structure()
        check_choice("update", self.update, ("perceptron", "mira"))
        check_choice("averaging", self.averaging, ("average", "none"))
        check_positive(rate=self.rate, C=self.C)
        return structure

    def _state_before(self) -> tuple[Chain, npt.NDArray[Any], Floats, Floats | None, int] | None:
        """Chain, classes, last weights, average and sequences seen of what was learned so far."""
        if not hasattr(self, "coef_") or self._on_graphs:
            return None
        return self.chain_, self.classes_, self._last, self._average, self._seen

    def _learn(
        self,
        X: AttributeSequences,
        tags: Tags,
        weights: Floats | None,
        max_passes: int,
        before: tuple[Chain, npt.NDArray[Any], Floats, Floats | None, int] | None,
    ) -> None:
        if X.edge_matrix is not None:
            raise DataError("StructuredPerceptron does not learn from attributes of edges")
        if before is not None:
            X = with_new_columns(X, self._parts()[1], self.n_attributes_in_)
        chain = self._make_chain(X, tags)
        last = average = None
        seen = 0
        if before is not None:
            old, _, w, mean, seen = before
            chain = joined_chains(old, chain)
            last = moved_weights(w, old, chain)
            average = None if mean is None else moved_weights(mean, old, chain)
        # Attributes that look the same here may have learned different weights before.
        data = chain.encode(X, merge=before is None)
        handle = ChainOnline(
            data.handle,
            tags.codes,
            weights,
            np.ascontiguousarray(chain.transitions.T).ravel(),
            chain.boundaries,
            self.update,
            float(self.rate if self.update == "perceptron" else self.C),
            None if last is None else to_kernel(chain, data, last),
            None if average is None else to_kernel(chain, data, average),
            seen if average is not None else 0,
            seed_from(self.random_state) if self.shuffle else None,
        )
        averaging = self.averaging == "average"

        def so_far() -> npt.NDArray[np.floating]:
            found = handle.average() if averaging else handle.weights()
            return from_kernel(chain, data, found)[:, None]

        solution = run_passes(self, handle.run_epoch, so_far, max_passes, counted="tokens")
        self._last = from_kernel(chain, data, handle.weights())
        w = np.asarray(solution.w[:, 0], dtype=np.float64)
        self._average = w if averaging else None
        self._seen = handle.seen
        mistakes = np.array(solution.trace.objective, dtype=np.int64)
        earlier = getattr(self, "mistakes_", None) if before is not None else None
        self.mistakes_ = mistakes if earlier is None else np.concatenate([earlier, mistakes])
        self._store(chain, X, tags.classes, w, solution)
        if solution.stopped is StopReason.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt


def to_kernel(chain: Chain, data: EncodedChains, w: Floats) -> _KernelWeights:
    """Weights as the kernel of the online learners takes them."""
    state = data.compress(w[chain.sections["state"]])
    return state, chain.edge_scores(w), chain.start_scores(w), chain.end_scores(w)


def from_kernel(chain: Chain, data: EncodedChains, weights: _KernelWeights) -> Floats:
    """Weights of the chain from those of the kernel."""
    state, edges, start, end = weights
    return np.concatenate([chain.gather(edges, start, end, np.zeros(0)), data.expand(state)])
