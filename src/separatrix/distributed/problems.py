"""What a partition of a minimizing learner answers: its part of value, gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import longest_row
from separatrix.distributed.rows import Rows, aligned, in_partition, size_of
from separatrix.learners.linear.base import TrainingData, is_narrow
from separatrix.objective import Objective
from separatrix.penalties import Unpenalized
from separatrix.protocols import Array
from separatrix.results import Monitor
from separatrix.solvers.certificate import Certifier
from separatrix.solvers.online.flat import OnlineLearner
from separatrix.solvers.points import Points
from separatrix.solvers.primal.hessian import loss_hessian
from separatrix.structures.labels import make_design
from separatrix.validation import encode_known_labels, is_sparse

__all__ = ["Problem", "Setting", "make_problem"]

FloatArray = npt.NDArray[np.float64]

#: Rows that are brought to double precision at once.
_BLOCK = 4096


class Setting(NamedTuple):
    """What all partitions of a fit share.

    Attributes
    ----------
    estimator : MinimizingClassifier
        The learner; it names the loss.
    classes : ndarray of shape (K,)
        All labels, sorted.
    dtype : dtype
        Precision of the whole.
    class_weights : ndarray of shape (K,) or None
        Weights of the classes.
    folds : int
        Parts into which cross-validation cuts the rows; 0 where there is none.
    seed : int
        Seed of that cut.
    """

    estimator: Any
    classes: npt.NDArray[Any]
    dtype: np.dtype[Any]
    class_weights: FloatArray | None = None
    folds: int = 0
    seed: int = 0


@dataclass(eq=False)
class Problem:
    """The rows of a partition with their loss; sums are those for C = 1.

    Handles of the kernels are made on first use, stay while the partition stays where it
    is, and are made again after it was moved or written to disk.

    Attributes
    ----------
    number : int
        Which partition.
    X : ndarray or CSR matrix of shape (n, d)
        The rows.
    codes : ndarray of shape (n,)
        Class numbers.
    weights : ndarray of shape (n,) or None
        Row weights, class weights included.
    setting : Setting
        What all partitions share.
    fold : ndarray of shape (n,) or None
        The part of a cross-validation in which a row is held out.
    """

    number: int
    X: Any
    codes: npt.NDArray[np.int64]
    weights: FloatArray | None
    setting: Setting
    fold: npt.NDArray[np.int64] | None = None
    _design: Any = field(default=None, repr=False)
    _objectives: dict[int, Objective] = field(default_factory=dict, repr=False)
    _products: dict[int, tuple[Array, Callable[[Array], Array]]] = field(
        default_factory=dict, repr=False
    )
    _memory: tuple[Array, Any] | None = field(default=None, repr=False)

    def __sizeof__(self) -> int:
        return size_of(self.X) + size_of(self.codes) + size_of(self.weights) + size_of(self.fold)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {
            "_design": None,
            "_objectives": {},
            "_products": {},
            "_memory": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: aligned(value) for name, value in state.items()})

    @property
    def design(self) -> Any:
        """A handle on the rows."""
        if self._design is None:
            X = self.X.toarray() if is_sparse(self.X) and is_narrow(self.X) else self.X
            self._design = make_design(X, 1)
        return self._design

    def row_weights(self, held_out: int = -1) -> FloatArray | None:
        """Weights of the rows, zero for those of the fold that is held out."""
        if held_out < 0 or self.fold is None:
            return self.weights
        kept: FloatArray = (self.fold != held_out).astype(np.float64)
        return kept if self.weights is None else kept * self.weights

    def objective(self, held_out: int = -1) -> Objective:
        """The loss part with C = 1."""
        made = self._objectives.get(held_out)
        if made is None:
            data = TrainingData(
                self.design,
                self.setting.dtype,
                self.setting.classes,
                self.codes,
                self.row_weights(held_out),
                1,
            )
            made = self.setting.estimator._objective(data, 1.0)
            made.penalty = Unpenalized()
            self._objectives[held_out] = made
        return made

    def class_weights(self, held_out: int = -1, *_: Any) -> FloatArray:
        """Sums of the row weights of each class."""
        n_classes = max(2, len(self.setting.classes))
        weights = self.row_weights(held_out if isinstance(held_out, int) else -1)
        return np.bincount(self.codes, weights=weights, minlength=n_classes).astype(np.float64)

    def longest_row(self) -> float:
        """The largest |x_i|."""
        return longest_row(self.design)

    def value_and_grad(self, w: Array, held_out: int = -1) -> tuple[float, Array]:
        """Sums over the rows of c_i loss_i and of its gradient."""
        return self.objective(held_out).loss_value_and_grad(aligned(w))

    def proof_sums(self, w: Array, off: float, held_out: int = -1) -> tuple[Any, ...]:
        """What a proof in double precision needs of these rows."""
        return Certifier(self.objective(held_out)).sums(aligned(w), off)

    def hessian_product(self, w: Array, v: Array, held_out: int = -1) -> Array:
        """Hessian at w times v; second derivatives are computed once for every w."""
        known = self._products.get(held_out)
        # Within a Newton step the same copy of w comes again and again.
        if known is None or known[0] is not w:
            known = w, self.objective(held_out).hessian(aligned(w))
            self._products[held_out] = known
        return known[1](aligned(v))

    def hessian_matrix(self, w: Array, held_out: int = -1) -> FloatArray:
        """Hessian at w as a matrix, of dense rows."""
        objective = self.objective(held_out)
        return loss_hessian(Points(objective), objective.score_map(aligned(w)))

    def exact_scores(self, w: Array) -> FloatArray:
        """Scores in double precision whatever the rows are in: a certificate of 1e-9 needs them."""
        if self.X.dtype == np.float64:
            return np.asarray(self.objective().score_map(aligned(w)), dtype=np.float64)
        weights = np.asarray(w, dtype=np.float64)
        found = np.concatenate([np.asarray(X @ weights[: X.shape[1]]) for X in self._doubled()])
        return found + weights[-1] if len(weights) > self.X.shape[1] else found

    def exact_adjoint(self, ds: FloatArray) -> FloatArray:
        """The adjoint of `exact_scores`."""
        if self.X.dtype == np.float64:
            return np.asarray(self.objective().score_map.adjoint(ds), dtype=np.float64)
        grad = np.zeros(self.objective().weight_shape)
        d, first = self.X.shape[1], 0
        for X in self._doubled():
            grad[:d] += np.asarray(X.T @ ds[first : first + X.shape[0]])
            first += X.shape[0]
        grad[d:] = ds.sum(axis=0)
        return grad

    def _doubled(self) -> Iterator[Any]:
        """The rows in double precision, some at a time."""
        for first in range(0, self.X.shape[0], _BLOCK):
            yield self.X[first : first + _BLOCK].astype(np.float64)

    @property
    def n_examples(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def epoch(self, w: Array, rule: str, step: float, seed: int | None) -> tuple[Array, Array, int]:
        """Last weights, average and mistakes of an online pass from w."""
        result = OnlineLearner(rule, step, "average", seed).run(
            self.design,
            self.codes,
            self.weights,
            len(self.setting.classes),
            start=aligned(w),
            monitor=Monitor(tol=0.0, max_passes=1),
        )
        return result.weights, result.solution.w, int(result.mistakes[-1])

    def remembered(self, w: Array, make: Callable[[], Any]) -> Any:
        """What was made for this very copy of w, made once."""
        if self._memory is None or self._memory[0] is not w:
            self._memory = w, make()
        return self._memory[1]


def make_problem(rows: Rows, setting: Setting) -> Problem:
    """Number the labels and weigh the rows of a partition."""
    assert rows.y is not None
    n = rows.X.shape[0]
    with in_partition(rows.number):
        codes = encode_known_labels(rows.y, n, setting.classes)
    weights = rows.weights
    if setting.class_weights is not None:
        own = setting.class_weights[codes]
        weights = own if weights is None else own * weights
    fold = None
    if setting.folds:
        generator = np.random.default_rng([setting.seed, rows.number])
        fold = generator.permutation(np.arange(n) % setting.folds)
    X = rows.X.astype(setting.dtype, copy=False)
    return Problem(rows.number, X, codes, weights, setting, fold)
