"""Learners on chains: CRF by gradients of partitions, perceptron and MIRA by mixing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from separatrix.data import AttributeSequences, Vocabulary
from separatrix.distributed.mixing import Mixture, mix
from separatrix.distributed.objective import DistributedObjective, RemoteScores, added
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.run import Run
from separatrix.distributed.sentences import (
    Agreement,
    Words,
    aligned_chain,
    make_chain_problem,
    merged_chains,
    merged_words,
    observed,
    read_sentences,
    words_of,
)
from separatrix.distributed.session import Session
from separatrix.errors import DataError, ParameterError
from separatrix.protocols import Array
from separatrix.results import StopReason
from separatrix.solvers import Lbfgs, OwlQn
from separatrix.structured import CRF, StructuredPerceptron
from separatrix.structured.labels import class_array
from separatrix.structured.proof import ChainProof, judged
from separatrix.structures import Chain
from separatrix.validation import check_choice, check_positive, seed_from, starts_at_last_fit

__all__ = ["fit_crf", "fit_structured_perceptron"]

#: Relative length of a difference that stands for a derivative, by the bytes of a number.
_DIFFERENCE = {4: 3e-3, 8: 1e-6}


@dataclass(frozen=True)
class _ChainLoss:
    """The loss by name; value and gradient come from the partitions."""

    name: ClassVar[str] = "chain_likelihood"
    smooth: ClassVar[bool] = True
    n_scores: ClassVar[int | None] = None

    def value_and_grad(self, scores: Array, targets: Any) -> tuple[Array, Array]:
        """Not here: a partition has its own."""
        raise NotImplementedError("scores stay on the workers")


class _ChainObjective(DistributedObjective):
    """The penalized likelihood of sequences in partitions.

    Parameters
    ----------
    convex : bool
        Whether all labels are known.
    tol : float
        The relative gap that is to be proven.
    """

    def __init__(self, *arguments: Any, convex: bool, tol: float, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._all_known = convex
        single = self.score_map.dtype.itemsize < 8  # type: ignore[attr-defined]
        self._proof = ChainProof(self, tol, single=single)
        if convex and self.regularizer.smooth:
            self.can = self.can | {"hvp"}

    @property
    def convex(self) -> bool:
        """Whether P is convex: all labels are known."""
        return self._all_known

    @property
    def is_single(self) -> bool:
        """Whether passes are in single precision."""
        return self._proof.is_single

    def widen(self) -> None:
        """From now on pass over the data in double precision."""
        self._proof.widened()

    @property
    def noise(self) -> float:
        """How far the value seen last may be off, besides rounding."""
        return self._proof.noise

    def evaluate(self, w: Array) -> tuple[float, float, Array]:
        """C sum_i c_i loss_i, what its rounding is a multiple of, and its gradient."""
        double = not self.is_single
        parts = [(*part, double) for part in self.parts]
        value, size, grad = self.session.reduce(_partial_likelihood, added, parts, w)
        return self.C * value, self.C * size, self.C * grad

    @cached_property
    def reach(self) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')| over all sequences and labellings."""
        (reach,) = self.session.reduce(_partial_reach, _largest, self.parts)
        return float(reach)

    def loss_value_and_grad(self, w: Array) -> tuple[float, Array]:
        """The loss part C sum_i c_i loss_i alone, and its gradient."""
        at = self._proof.at(w)
        return at.loss, at.grad.copy()

    def gap_bound(self, w: Array, grad: Array, value: float) -> float:
        """A proven bound of P(w) - min P, rounding included; infinite where there is none."""
        return self._proof.gap_bound(w, value)

    def prove(self, w: Array, lower: float = -np.inf) -> tuple[float, float]:
        """P(w) and a bound of P(w) - min P, in double precision, where min P >= `lower`."""
        return self._proof.prove(w, lower)

    @property
    def convexity(self) -> float:
        """m where P - m/2 |w|^2 is known to be convex; else zero."""
        convex = self.convex and self.regularizer.smooth
        return float(getattr(self.regularizer, "curvature", 0.0)) if convex else 0.0

    def hessian(self, w: Array, scores: Array | None = None) -> Callable[[Array], Array]:
        """The map v -> H v at w by differences of gradients."""
        _, grad = self.value_and_grad(w)
        dtype = self.score_map.dtype  # type: ignore[attr-defined]
        size = _DIFFERENCE[dtype.itemsize] * (1.0 + float(np.linalg.norm(w)))

        def apply(v: Array) -> Array:
            step = size / max(float(np.linalg.norm(v)), 1e-300)
            _, moved = self.value_and_grad(w + step * v)
            result: Array = (moved - grad) / step
            return result

        return apply


def _partial_likelihood(problem: Any, double: bool, w: Array) -> tuple[float, float, Array]:
    """Value, size and gradient of one partition at w."""
    result: tuple[float, float, Array] = problem.evaluate(w, double)
    return result


def _partial_reach(problem: Any) -> tuple[float]:
    return (problem.reach,)


def _largest(*reaches: tuple[float]) -> tuple[float]:
    return max(reaches)


@dataclass(frozen=True, eq=False)
class _ChainData:
    """Partitions of sequences on the cluster, and what they agree about."""

    problems: list[Any]
    chain: Chain
    shared: Agreement
    words: Words

    @property
    def nothing(self) -> AttributeSequences:
        """No sequence, with all attributes: what an estimator keeps of its training data."""
        matrix: Any = sp.csr_matrix((0, self.shared.n_columns), dtype=self.shared.dtype)
        return AttributeSequences.of(matrix, [], self.shared.names)


def _read(session: Session, estimator: Any, data: Partitions, order: int) -> _ChainData:
    """Encode all partitions, agree on attributes, labels and features."""
    partial = bool(getattr(estimator, "partial", False))
    sentences = session.keep(read_sentences, data.numbered(), partial)
    parts = [(one,) for one in sentences]
    words: Words = session.reduce(words_of, merged_words, parts)
    if words.n_sequences == 0:
        raise DataError("Found array with 0 sample(s): X holds no sequence")
    if not words.labels:
        raise DataError("y holds no label")
    if estimator.class_weight is not None and not isinstance(estimator.class_weight, dict):
        raise ParameterError("on Dask class_weight must be a dict or None for sequences")
    names = None if words.names is None else Vocabulary.of(words.names)
    shared = Agreement(
        estimator,
        class_array(words.labels),
        names,
        words.n_columns if names is None else len(names),
        np.dtype(np.float32 if words.single else np.float64),
        estimator.class_weight,
        order,
    )
    sent = session.send(shared)
    chain = aligned_chain(session.reduce(observed, merged_chains, parts, sent))
    problems = session.keep(make_chain_problem, parts, shared, chain)
    session.release(sentences)
    return _ChainData(problems, chain, shared, words)


def fit_crf(run: Run, estimator: CRF, parts: Partitions) -> None:
    """Fit a CRF by L-BFGS (OWL-QN under a penalty with |w|_1)."""
    estimator._check_structure()
    check_positive(C=estimator.C, tol=estimator.tol, max_iter=estimator.max_iter)
    check_choice("order", estimator.order, (1, 2))
    check_choice("solver on Dask", estimator.solver, ("auto", "lbfgs", "owlqn"))
    if estimator.early_stopping:
        raise ParameterError("early_stopping is not for Dask: hold sequences out yourself")
    regularizer = estimator._regularizer()
    data = _read(run.session, estimator, parts, estimator.order)
    objective = _ChainObjective(
        run.session,
        [(problem,) for problem in data.problems],
        RemoteScores(data.words.n_sequences, (data.chain.n_weights, 1), data.shared.dtype),
        _ChainLoss(),
        regularizer,
        C=estimator.C,
        exempt=False,
        convex=not estimator.partial,
        tol=estimator.tol,
    )
    plain = regularizer.smooth and estimator.solver != "owlqn"
    solver: Any = Lbfgs(memory=12) if plain else OwlQn()
    w0 = None
    if estimator.warm_start and hasattr(estimator, "coef_"):
        labels = (estimator.classes_, data.shared.classes)
        sizes = (estimator.coef_.shape, (data.chain.n_weights,))
        if starts_at_last_fit(estimator, labels=labels, features=sizes):
            w0 = estimator.coef_[:, None]
    solution = run.minimize(solver, objective, w0)
    solution = judged(solution, objective, estimator.tol)
    w = np.asarray(solution.w[:, 0], dtype=np.float64)
    estimator._store(data.chain, data.nothing, data.shared.classes, w, solution)
    estimator._finish(solution, estimator.tol)


def fit_structured_perceptron(run: Run, estimator: StructuredPerceptron, parts: Partitions) -> None:
    """Learn by passes over all partitions, their weights mixed after each."""
    check_positive(max_iter=estimator.max_iter)
    estimator._check()
    data = _read(run.session, estimator, parts, 1)
    step = float(estimator.rate if estimator.update == "perceptron" else estimator.C)
    mixture: Mixture = mix(
        run,
        [(problem,) for problem in data.problems],
        np.zeros(data.chain.n_weights),
        (estimator.update, step),
        seed_from(estimator.random_state) if estimator.shuffle else None,
        name=f"structured {estimator.update}",
        averaging=estimator.averaging,
        certificate="mistaken tokens of the last pass",
        max_passes=estimator.max_iter,
    )
    solution = mixture.solution._replace(w=mixture.solution.w[:, None])
    estimator._last = np.asarray(mixture.last, dtype=np.float64)
    w = np.asarray(solution.w[:, 0], dtype=np.float64)
    estimator._average = w if estimator.averaging == "average" else None
    estimator._seen = int(solution.n_passes) * data.words.n_sequences
    estimator.mistakes_ = np.array(solution.trace.objective, dtype=np.int64)
    estimator._store(data.chain, data.nothing, data.shared.classes, w, solution)
    if solution.stopped is StopReason.INTERRUPTED and estimator.on_interrupt == "raise":
        raise KeyboardInterrupt
