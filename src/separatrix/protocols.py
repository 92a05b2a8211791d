"""The contracts on one screen. Start here.

Data walk: `Structure` -> `Features` -> scores -> `Loss` (inference inside) -> `Objective` ->
`Solver` -> w. A structure reads data and lays out the features, which give scores, their adjoint
and inference; the loss is one of three max operators less the score of the truth. Weights of
outputs with parts (sequences, graphs, images, sets of labels) have shape (n_weights, 1).

The scores of `Labels`, the simplest structure, are a `ScoreMap`, linear in weights of shape (d, K):
one column per score, the last row the intercepts where there are any. Scores `s` have shape (n, K).
Two-class learners with a loss of the margin have K = 1.

One objective everywhere:  P(w) = R(w) + C sum_i c_i loss_i(s_i),  R(w) = 1/2 |w|^2 for L2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from separatrix.results import Monitor, Solution

__all__ = [
    "Array",
    "Features",
    "Inputs",
    "Loss",
    "MaxOperator",
    "Objective",
    "Penalty",
    "ScoreMap",
    "Solver",
    "Structure",
]

Array = npt.NDArray[np.floating[Any]]


class ScoreMap(Protocol):
    """Linear map from weights to scores, s = Psi w, with its adjoint Psi'."""

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        ...

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Shape (d, K) of the weights."""
        ...

    def __call__(self, w: Array) -> Array:
        """Scores of shape (n, K)."""
        ...

    def adjoint(self, ds: Array) -> Array:
        """Psi' ds, of the shape of the weights."""
        ...


class MaxOperator(Protocol):
    """Soft or hard maximum over the outputs, with its gradient (an argmax or the marginals)."""

    def __call__(self, scores: Array, targets: npt.NDArray[np.intp]) -> tuple[Array, Array]:
        """Values of shape (n,) and gradients of shape (n, K)."""
        ...


class Loss(Protocol):
    """A loss of the scores; it never sees X or w.

    `targets` are +1 / -1 of shape (n,) for margin losses, class numbers of shape (n,) otherwise.
    """

    @property
    def n_scores(self) -> int | None:
        """1 for a margin loss, None for one score per class."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether the loss has a Lipschitz gradient everywhere."""
        ...

    def value_and_grad(self, scores: Array, targets: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Losses of shape (n,) and their (sub)gradients, of the shape of the scores."""
        ...


class Penalty(Protocol):
    """A penalty on the weights; `exempt` rows (the intercepts) are left out by the objective."""

    @property
    def smooth(self) -> bool:
        """Whether `grad` exists everywhere."""
        ...

    def value(self, w: Array) -> float:
        """R(w)."""
        ...

    def grad(self, w: Array) -> Array:
        """Gradient of R at w."""
        ...

    def prox(self, w: Array, step: float) -> Array:
        """Argmin over v of R(v) + |v - w|^2 / (2 step)."""
        ...


class Inputs(Protocol):
    """Examples as a structure reads them: sequences, graphs, images."""

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where the nodes (tokens, pixels) of each example begin, and where the last end."""
        ...

    def __len__(self) -> int:
        """Number of examples."""
        ...

    def take(self, rows: Any) -> Any:
        """The examples of these numbers."""
        ...


class Features(Protocol):
    """Psi(x, y) of a fitted model: which weights there are, and inference with them.

    Scores and parts are what the class likes: other code hands them back as they came. Labels are
    numbers from 0, one per node. `n_threads` may be ignored.

    Found where they are there: ``reach(inputs)`` (bound of |Psi(x, y) - Psi(x, y')|; without it no
    gap is proven), ``n_free`` (weights without a penalty, the last ones; proofs then need
    ``independent``, ``n_nodes_of_bias`` and ``n_parts``), ``is_exact`` (False where inference is
    not), ``best_at(w, inputs, n_threads)``, ``differences``, ``sample``, ``k_best``,
    ``restricted`` (constraints), ``moved`` (weights of features that grew). Kernels are offers too:
    ``score_map`` (one row of scores per example, which all solvers of flat data take),
    ``likelihood_passes``, ``margin_passes`` and ``updates``.
    """

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        ...

    @property
    def n_labels(self) -> int:
        """Labels that a node may have: the size of a matrix of costs."""
        ...

    def scores(self, w: Any, inputs: Any, n_threads: int = 1) -> Any:
        """Scores of all parts."""
        ...

    def parts(self, inputs: Any, labels: Any) -> Any:
        """One at the parts that a labelling has, zero at all others."""
        ...

    def adjoint(self, inputs: Any, parts: Any, weights: Any = None) -> Any:
        """Psi' parts, shape (n_weights,), the parts of every example times its weight."""
        ...

    def values(self, scores: Any, labels: Any) -> Any:
        """Scores of labellings, shape (n_examples,)."""
        ...

    def augmented(self, scores: Any, labels: Any, cost: Any, scale: Any = None) -> Any:
        """The scores with scale_t cost[y_t, y'_t] added for every node t."""
        ...

    def best(self, scores: Any, n_threads: int = 1) -> Any:
        """`labels` of the highest score, and `scores`, shape (n_examples,): a `Best`."""
        ...

    def log_sum_exp(self, scores: Any, *, edges: bool = False, n_threads: int = 1) -> Any:
        """`log_partition`, shape (n_examples,), and `parts`, the marginals: a `Sums`.

        With `nodes`, the marginals of labels, shape (n_nodes, n_labels), there are predictions of
        them. `parts` are wanted where `edges` says so.
        """
        ...


@runtime_checkable
class Structure(Protocol):
    """What an output is. CRF, StructuredSVM and StructuredPerceptron learn any that keeps this.

    Found where they are there: ``check()`` of parameters, ``marginals(nodes, inputs)`` and
    ``edge_marginals``, ``features_for(features, inputs)`` (inference that fits the data),
    ``grown(features, X, y, classes)``, ``takes_partial`` and ``scorings``.
    """

    def read(self, X: Any, features: Any = None) -> Any:
        """The examples of X, checked; with fitted features as these need them."""
        ...

    def codes(self, y: Any, inputs: Any, classes: Any = None) -> Any:
        """`CodedLabels`: labels as numbers; of these classes, or of all there are."""
        ...

    def layout(self, inputs: Any, labels: Any) -> Any:
        """The `Features` that labelled examples have."""
        ...

    def labels(self, codes: Any, inputs: Any, classes: Any) -> Any:
        """Numbers of labels as users have their labels."""
        ...


class Objective(Protocol):
    """What a solver sees: P(w) = R(w) + C sum_i c_i loss_i. It never prints."""

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Shape of the weights."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of a pass over the data."""
        ...

    @property
    def can(self) -> frozenset[str]:
        """What it offers, as solvers name their `needs`."""
        ...

    @property
    def convex(self) -> bool:
        """Whether P is known to be convex and exact to compute, so that a gap can be proven."""
        ...

    def value_and_grad(self, w: Array) -> tuple[float, Array]:
        """P(w) and a (sub)gradient, float64."""
        ...

    def gap_bound(self, w: Array, grad: Array, value: float) -> float:
        """A proven bound of P(w) - min P, infinite where there is none."""
        ...


@runtime_checkable
class Solver(Protocol):
    """Minimizes an objective, states what it needs of it, never prints or changes its inputs."""

    @property
    def needs(self) -> frozenset[str]:
        """What the objective must declare: "value_grad", "smooth", "hvp", "prox", "dual" ..."""
        ...

    def minimize(self, objective: Any, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        ...
