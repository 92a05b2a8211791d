"""What the learners share: taking sequences in, scoring, predicting; graphs go their own way."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainScorer
from separatrix.data import AttributeSequences, Vocabulary, as_attribute_sequences
from separatrix.data.attributes import with_columns_of
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.explanation import Trellis, Weights
from separatrix.inference.chain import ChainScores, best_labels, k_best_labels, path_scores
from separatrix.metrics.sequences import token_accuracy
from separatrix.results import Solution, StopReason
from separatrix.structured.constraints import Constraints
from separatrix.structured.graph_learner import GraphLearner
from separatrix.structured.insight import explained, label_weights, transition_weights
from separatrix.structured.labels import Tags, encode_tags, label_pairs
from separatrix.structures import Chain, observed_chain, structure_named
from separatrix.structures.chain import Pattern
from separatrix.validation import check_choice, number_of_threads

__all__ = ["BaseChainLearner"]

#: Scores computed at a time in a prediction.
_SCORES = 1 << 25
#: What is made from the fitted arrays when it is first asked for.
_DERIVED = ("_made", "_laid_out")

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def _packed(names: Vocabulary | None) -> tuple[npt.NDArray[np.uint8], Integers] | None:
    """The words as arrays, for model files; None for attributes without names."""
    return None if names is None else (np.frombuffer(names.data, dtype=np.uint8), names.offsets)


def _unpacked(packed: tuple[npt.NDArray[np.uint8], Integers] | None) -> Vocabulary | None:
    return None if packed is None else Vocabulary(packed[0].tobytes(), packed[1])


class BaseChainLearner(GraphLearner):
    """Base of the learners: the labelling of the highest score wins.

    Subclasses fit and call `_store`; what concerns graphs is in `GraphLearner`.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (n_weights,)
        All weights, see `chain_`.
    n_attributes_in_ : int
        Number of attributes seen in `fit`.
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "coef_",
        "n_attributes_in_",
        "n_edge_attributes_in_",
        "n_iter_",
        "solution_",
        "_names",
        "_edge_names",
        "_state_pattern",
        "_transitions",
        "_triples",
        "_boundaries",
        "_edge_pattern",
        "_label_pairs",
    )

    state_features: str
    transitions: str
    boundaries: bool
    on_interrupt: str
    n_attributes_in_: int
    n_edge_attributes_in_: int
    n_iter_: int
    solution_: Solution

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags

    def _check_structure(self) -> Any:
        """The structure, None for chains."""
        check_choice("state_features", self.state_features, ("observed", "all"))
        check_choice("transitions", self.transitions, ("observed", "all"))
        check_choice("on_interrupt", self.on_interrupt, ("raise", "keep"))
        return structure_named(self.structure)

    def _take(self, X: Any, y: Any, *, partial: bool = False) -> tuple[AttributeSequences, Tags]:
        """Encode sequences and labels of a fit."""
        X = as_attribute_sequences(X)
        if len(X) == 0:
            raise DataError("Found array with 0 sample(s): X holds no sequence")
        tags = encode_tags(y, X.offsets, partial=partial)
        self._label_pairs = label_pairs(tags, X.offsets)
        return X, tags

    def _make_chain(self, X: AttributeSequences, tags: Tags, order: int = 1) -> Chain:
        if order == 2 and X.edge_matrix is not None:
            raise ParameterError("attributes of edges need order=1")
        return observed_chain(
            X,
            len(tags.classes),
            tags.codes,
            tags.allowed,
            state_features=self.state_features,
            transitions=self.transitions,
            order=order,
            boundaries=self.boundaries,
        )

    def _store(
        self,
        chain: Chain,
        X: AttributeSequences,
        classes: npt.NDArray[Any],
        w: Floats,
        solution: Solution,
    ) -> None:
        self.classes_ = classes
        self.coef_ = w
        self.solution_ = solution
        self.n_iter_ = max(1, int(np.ceil(solution.n_passes)))
        self._keep_features(chain, X)

    def _keep_features(self, chain: Chain, X: AttributeSequences) -> None:
        self.__dict__.pop("_features", None)
        self.n_attributes_in_ = X.matrix.shape[1]
        self.n_edge_attributes_in_ = 0 if X.edge_matrix is None else X.edge_matrix.shape[1]
        self._names, self._edge_names = _packed(X.vocabulary), _packed(X.edge_vocabulary)
        self._state_pattern = tuple(chain.state)
        self._transitions, self._triples = chain.transitions, chain.triples
        self._boundaries = chain.boundaries
        self._edge_pattern = None if chain.edges is None else tuple(chain.edges)
        # Made again from the arrays above when first asked for.
        for name in _DERIVED:
            self.__dict__.pop(name, None)

    def _forget(self) -> None:
        """Drop the fitted state of chains and of graphs."""
        for name in (*BaseChainLearner.__sx_state__, *GraphLearner.__sx_state__, *_DERIVED):
            self.__dict__.pop(name, None)

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        for name in _DERIVED:
            state.pop(name, None)
        return state

    def _parts(self) -> tuple[Chain, Vocabulary | None, Vocabulary | None]:
        """The chain and the names of the attributes, made once."""
        if self._on_graphs:
            raise AttributeError("a model of graphs has no chain_; see graph_")
        made: tuple[Chain, Vocabulary | None, Vocabulary | None] | None = vars(self).get("_made")
        if made is None:
            edges = None if self._edge_pattern is None else Pattern(*self._edge_pattern)
            chain = Chain(
                len(self.classes_),
                Pattern(*self._state_pattern),
                self._transitions,
                self._triples,
                bool(self._boundaries),
                edges,
            )
            made = chain, _unpacked(self._names), _unpacked(self._edge_names)
            self._made = made
        return made

    def _scorer(self) -> ChainScorer:
        """The weights laid out for scoring; made again where they are not the same any more."""
        chain = self.chain_
        state = self.coef_[chain.sections["state"]]
        made: tuple[Floats, ChainScorer] | None = vars(self).get("_laid_out")
        if made is None or not np.array_equal(made[0], state):
            made = state.copy(), chain.scorer(self.coef_)
            self._laid_out = made
        return made[1]

    @property
    def chain_(self) -> Chain:
        """The features of the model: which weights there are, and inference with them."""
        return self._parts()[0]

    @property
    def attributes_(self) -> list[str] | None:
        """Names of the attributes, None where they have none."""
        names = self._parts()[1]
        return None if names is None else names[:]

    @property
    def transition_weights_(self) -> Floats:
        """Weights of (label before, label), shape (K, K)."""
        return self.chain_.transition_matrix(self.coef_)

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if not hasattr(self, "coef_"):
            return
        if self._on_graphs:
            self._check_graph_state()
            return
        chain = self._parts()[0]
        K = len(self.classes_)
        starts, outputs = (np.asarray(part) for part in self._state_pattern)
        good = (
            self.classes_.ndim == 1
            and self.coef_.shape == (chain.n_weights,)
            and chain.transitions.shape == (K, K)
            and (chain.triples is None or chain.triples.shape == (K, K, K))
            and len(starts) == self.n_attributes_in_ + 1
            and int(starts[0]) == 0
            and int(starts[-1]) == len(outputs)
            and bool((np.diff(starts) >= 0).all())
            and (len(outputs) == 0 or (outputs.min() >= 0 and outputs.max() < K))
        )
        if not good:
            raise DataError("the weights do not fit the features of the chain")

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

    def _encode(self, X: Any) -> AttributeSequences:
        """New sequences with the columns of the training data."""
        _, names, edge_names = self._parts()
        X = as_attribute_sequences(X, names)
        matrix = with_columns_of(X.matrix, X.vocabulary, names, self.n_attributes_in_, "attributes")
        edges = None
        if self.n_edge_attributes_in_:
            if X.edge_matrix is None:
                raise DataError("the model was fitted with attributes of edges, X has none")
            edges = with_columns_of(
                X.edge_matrix,
                X.edge_vocabulary,
                edge_names,
                self.n_edge_attributes_in_,
                "edge attributes",
            )
        return AttributeSequences(matrix, names, X.offsets, edges, edge_names)

    def _scores(self, X: Any, constraints: Any = None) -> ChainScores:
        return self._score(self._encode(X), constraints)

    def _score(self, X: AttributeSequences, constraints: Any) -> ChainScores:
        n_threads = number_of_threads(self.n_jobs)
        scores = self.chain_.scores(self.coef_, X, n_threads, scorer=self._scorer())
        if constraints is None:
            return scores
        seen = vars(self).get("_label_pairs")
        return Constraints.of(constraints).apply(scores, self.classes_, seen)

    def _sequences(self, codes: Integers, offsets: Integers) -> list[list[Any]]:
        """Labels of all tokens as one list per sequence."""
        names = np.empty(len(self.classes_), dtype=object)
        for number, name in enumerate(self.classes_.tolist()):
            names[number] = name
        labels = names[codes].tolist()
        return [labels[a:b] for a, b in pairwise(offsets.tolist())]

    def predict(self, X: Any, constraints: Any = None) -> Any:
        """The labelling of the highest score of every sequence or graph.

        Parameters
        ----------
        X : sequence of sequences of tokens, or graphs
            As in `fit`; attributes that were not seen there are passed over.
        constraints : Constraints, str or sequence of sequences, optional
            Of chains, what the labels must obey: the name of a grammar such as "BIO", or per token
            None, a label, or a set of allowed labels.

        Returns
        -------
        list of list, list of arrays, or array
            Labels of the tokens; of the nodes, of the pixels as images; of label sets a matrix of 0
            and 1.
        """
        if self._on_graphs:
            self._no_constraints(constraints)
            return self._graph_predict(X)
        X = self._encode(X)
        n_threads = number_of_threads(self.n_jobs)
        chain = self.chain_
        if constraints is None and chain.triples is None and chain.edges is None:
            best = chain.best_from_attributes(self.coef_, X, self._scorer(), n_threads)
            return self._sequences(best, X.offsets)
        # What is given per token belongs to all sequences at once.
        whole = constraints is not None and Constraints.of(constraints).given is not None
        parts = [X] if whole else self._parts_of(X)
        codes = [best_labels(self._score(part, constraints), n_threads)[0] for part in parts]
        return self._sequences(np.concatenate(codes), X.offsets)

    def _parts_of(self, X: AttributeSequences) -> list[AttributeSequences]:
        """The sequences in parts whose scores do not take too much memory."""
        K = len(self.classes_)
        per_token = K + (K * K if X.edge_matrix is not None else 0)
        most = max(1, _SCORES // per_token)
        if X.offsets[-1] <= most:
            return [X]
        cuts = np.searchsorted(X.offsets, np.arange(most, X.offsets[-1], most), side="right") - 1
        bounds = np.unique([0, *cuts, len(X)]).tolist()
        return [X.take(np.arange(a, b)) for a, b in pairwise(bounds)]

    def predict_kbest(
        self, X: Any, k: int, constraints: Any = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The k labellings of the highest scores of every sequence, the best first.

        Parameters
        ----------
        X : sequence of sequences of tokens
        k : int
            How many; fewer where a sequence has fewer labellings.
        constraints : optional
            As in `predict`.

        Returns
        -------
        list of list of (labels, score)
        """
        self._only_chains("the k best labellings")
        if k < 1:
            raise ParameterError(f"k must be at least 1, got {k}")
        scores = self._scores(X, constraints)
        found = k_best_labels(scores, k, number_of_threads(self.n_jobs))
        return [
            [
                (self.classes_[path].tolist(), float(value))
                for path, value in zip(paths, values, strict=True)
            ]
            for paths, values in found
        ]

    def decision_function(self, X: Any, y: Any) -> Floats:
        """Score h(x, y) of given labellings, shape (n_sequences,)."""
        if self._on_graphs:
            return self._graph_decision(X, y)
        scores = self._scores(X)
        return path_scores(scores, encode_tags(y, scores.offsets, self.classes_).codes)

    def top_weights(self, top: int | None = 10) -> list[Weights]:
        """The strongest transitions, then the strongest attributes of each label."""
        self._only_chains("the strongest attributes")
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
        self._only_chains("explanations of sequences")
        return explained(self, X, words, top, probabilities=hasattr(self, "predict_marginals"))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the tokens that are labeled right, sequences weighted by `sample_weight`."""
        if self._on_graphs:
            return self._graph_score(X, y, sample_weight)
        return token_accuracy(y, self.predict(X), sample_weight=sample_weight)
