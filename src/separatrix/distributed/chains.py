"""Learners on chains: CRF by gradients of partitions, perceptron and MIRA by mixing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from separatrix.data import Vocabulary
from separatrix.distributed.mixing import Mixture, mix
from separatrix.distributed.objective import added, largest
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.run import Run
from separatrix.distributed.sentences import (
    Agreement,
    Words,
    make_chain_problem,
    merged_chains,
    merged_words,
    observed,
    read_sentences,
    words_of,
)
from separatrix.distributed.session import Session
from separatrix.errors import DataError, ParameterError
from separatrix.learners.structured import CRF, StructuredPerceptron
from separatrix.objective import StructuredObjective
from separatrix.objective.proof import judged
from separatrix.protocols import Array
from separatrix.results import StopReason
from separatrix.solvers import make_structured_solver
from separatrix.structures import Chain, ChainFeatures
from separatrix.structures.coded_labels import class_array
from separatrix.validation import check_choice, check_positive, seed_from, starts_at_last_fit

__all__ = ["fit_crf", "fit_structured_perceptron"]


class _RemotePasses:
    """Sums over sequences that lie in partitions; see `StructuredObjective`.

    Parameters
    ----------
    session : Session
        The cluster.
    problems : list of futures
        `ChainProblem` of every partition.
    n_rows, n_variables : int
        Sequences, and weights.
    dtype : dtype
        Precision of the data.
    convex : bool
        Whether all labels are known.
    """

    name: ClassVar[str] = "chain_likelihood"
    smooth: ClassVar[bool] = True
    n_free: ClassVar[int] = 0
    estimated: ClassVar[bool] = False

    def __init__(
        self,
        session: Session,
        problems: list[Any],
        n_rows: int,
        n_variables: int,
        dtype: np.dtype[Any],
        *,
        convex: bool,
    ) -> None:
        self._session, self._parts = session, [(problem,) for problem in problems]
        self.n_rows, self.n_variables, self.dtype, self.convex = n_rows, n_variables, dtype, convex

    @property
    def is_single(self) -> bool:
        """Whether passes are in single precision."""
        return self.dtype.itemsize < 8

    def widen(self) -> None:
        """From now on pass over the data in double precision."""
        self.dtype = np.dtype(np.float64)

    def variables(self, w: Array) -> Array:
        """The weights as a solver has them, shape (n_weights, 1)."""
        return w[:, None].copy()

    def weights(self, variables: Array) -> Array:
        """The inverse of `variables`."""
        return np.asarray(variables[:, 0], dtype=np.float64)

    def evaluate(self, w: Array) -> tuple[float, float, Array]:
        """sum_i c_i loss_i, what its rounding is a multiple of, and its gradient."""
        parts = [(*part, not self.is_single) for part in self._parts]
        found: tuple[float, float, Array]
        found = self._session.reduce(_partial_likelihood, added, parts, w)
        return found

    @cached_property
    def reach(self) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')| over all sequences and labellings."""
        (reach,) = self._session.reduce(_partial_reach, largest, self._parts)
        return float(reach)


def _partial_likelihood(problem: Any, double: bool, w: Array) -> tuple[float, float, Array]:
    """Value, size and gradient of one partition at w."""
    result: tuple[float, float, Array] = problem.evaluate(w, double)
    return result


def _partial_reach(problem: Any) -> tuple[float]:
    return (problem.reach,)


@dataclass(frozen=True, eq=False)
class _ChainData:
    """Partitions of sequences on the cluster, and what they agree about."""

    problems: list[Any]
    features: ChainFeatures
    shared: Agreement
    words: Words


def _read(session: Session, estimator: Any, data: Partitions) -> _ChainData:
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
    )
    sent = session.send(shared)
    chain: ChainFeatures = session.reduce(observed, merged_chains, parts, sent)
    problems = session.keep(make_chain_problem, parts, shared, chain)
    session.release(sentences)
    return _ChainData(problems, chain, shared, words)


def _check_chain(estimator: Any) -> None:
    if not isinstance(estimator._structure(), Chain):
        raise ParameterError(f"on Dask structure must be a chain, got {estimator.structure!r}")


def fit_crf(run: Run, estimator: CRF, parts: Partitions) -> None:
    """Fit a CRF by L-BFGS (OWL-QN under a penalty with |w|_1)."""
    _check_chain(estimator)
    check_positive(C=estimator.C, tol=estimator.tol, max_iter=estimator.max_iter)
    check_choice("solver on Dask", estimator.solver, ("auto", "lbfgs", "owlqn"))
    if estimator.early_stopping:
        raise ParameterError("early_stopping is not for Dask: hold sequences out yourself")
    penalty = estimator._penalty()
    data = _read(run.session, estimator, parts)
    passes = _RemotePasses(
        run.session,
        data.problems,
        data.words.n_sequences,
        data.features.n_weights,
        data.shared.dtype,
        convex=not estimator.partial,
    )
    objective = StructuredObjective(passes, penalty, C=estimator.C, tol=estimator.tol)
    solver = make_structured_solver(estimator.solver, objective, seed=0)
    w0 = None
    if estimator.warm_start and hasattr(estimator, "coef_"):
        labels = (estimator.classes_, data.shared.classes)
        sizes = (estimator.coef_.shape, (data.features.n_weights,))
        if starts_at_last_fit(estimator, labels=labels, features=sizes):
            w0 = estimator.coef_[:, None]
    solution = run.minimize(solver, objective, w0)
    solution = judged(solution, objective, estimator.tol)
    w = np.asarray(solution.w[:, 0], dtype=np.float64)
    estimator._keep(data.features, data.shared.classes, w, solution)
    estimator._finish(solution, estimator.tol)


def fit_structured_perceptron(run: Run, estimator: StructuredPerceptron, parts: Partitions) -> None:
    """Learn by passes over all partitions, their weights mixed after each."""
    check_positive(max_iter=estimator.max_iter)
    estimator._check()
    _check_chain(estimator)
    data = _read(run.session, estimator, parts)
    step = float(estimator.learning_rate if estimator.loss == "perceptron" else estimator.C)
    mixture: Mixture = mix(
        run,
        [(problem,) for problem in data.problems],
        np.zeros(data.features.n_weights),
        (estimator.loss, step),
        seed_from(estimator.random_state) if estimator.shuffle else None,
        name=f"structured {estimator.loss}",
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
    estimator._keep(data.features, data.shared.classes, w, solution)
    if solution.stopped is StopReason.INTERRUPTED and estimator.on_interrupt == "raise":
        raise KeyboardInterrupt
