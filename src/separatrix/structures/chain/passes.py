"""Passes over sequences by kernels: the likelihood of a chain, margin losses, online updates."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainDual, ChainMargin, ChainOnline
from separatrix.data import AttributeSequences
from separatrix.structures.chain.encoded import EncodedChains
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.sections import largest_square

if TYPE_CHECKING:
    from separatrix.structures.chain.structure import ChainFeatures

__all__ = ["ChainMargins", "ChainPasses", "ChainUpdates"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Array = npt.NDArray[np.floating[Any]]

#: Entries of the marginals that the dual solver may keep.
_MOST_MARGINALS = 1 << 29
#: With so many labels and at most such a part of their pairs with a weight, passes over eight
#: sequences at a time (`chain/likelihood_sparse.rs`) leave the dual, which takes one, behind.
_MANY_LABELS, _FEW_PAIRS = 48, 1 / 3
#: Relative gap that margin solvers in single precision do not reach.
_SINGLE = 1e-6
#: In the weights of starts: none, and a state that no sequence begins with.
_NO_WEIGHT, _NO_START = -1, -2


class ChainPasses:
    """Sums over sequences of log Z - score, or of that of all labellings allowed.

    Attributes with equal columns may share a weight (`EncodedChains`): the variables of a solver
    are the weights of transitions and boundaries, then sqrt(k) times the shared ones. A solver may
    begin in the precision of the data and go on in double precision (`widen`).

    Parameters
    ----------
    features : ChainFeatures
    inputs : AttributeSequences
    labels : CodedLabels
        Labels, known or known in part (then the likelihood is that of all labellings allowed).
    weights : array of shape (n_sequences,) or None
        c_i; None stands for ones.
    merge : bool
        Whether attributes with equal columns share a weight: right under L1, L2 and elastic nets.
    n_threads : int
        Threads; the result does not depend on them.
    """

    name: ClassVar[str] = "chain_likelihood"
    smooth: ClassVar[bool] = True
    #: All variables are penalized, and values are exact.
    n_free: ClassVar[int] = 0
    estimated: ClassVar[bool] = False

    def __init__(
        self,
        features: ChainFeatures,
        inputs: AttributeSequences,
        labels: CodedLabels,
        weights: Floats | None = None,
        *,
        merge: bool = False,
        n_threads: int = 1,
    ) -> None:
        self.features, self.n_threads, self._weights = features, n_threads, weights
        self._data: EncodedChains = features.encode(inputs, merge=merge)
        self._handle = self._data.handle
        self.is_single = self._data.dtype.itemsize < 8
        self._inputs = inputs
        self._labels = labels.codes if labels.allowed is None else None
        self._allowed = labels.allowed
        # Rows are padded, and not every label was observed: solvers see only the weights there are.
        self._used = np.flatnonzero(self._data.multiplicity)
        self._scale = self._data.scale[self._used]
        self._n_inner = features.sections["state"].start
        plain = features.triples is None and features.edges is None
        some = plain and not features.transitions.all()
        self._free_edges = np.ascontiguousarray(features.transitions.T).ravel() if some else None

    @property
    def n_rows(self) -> int:
        """Number of sequences."""
        return len(self._inputs)

    @property
    def n_variables(self) -> int:
        """Variables of a solver."""
        return int(self._n_inner) + len(self._scale)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the passes."""
        return self._data.dtype if self.is_single else np.dtype(np.float64)

    @property
    def scale(self) -> Array:
        """Sum of |w| over the weights that share a variable, per |variable|, shape (n, 1)."""
        return np.concatenate([np.ones(self._n_inner), self._scale])[:, None]

    @property
    def convex(self) -> bool:
        """Whether the sum is convex: all labels are known."""
        return self._allowed is None

    def widen(self) -> None:
        """From now on pass over the data in double precision."""
        if self.is_single:
            self._handle, self.is_single = self._handle.widened(), False

    def variables(self, w: Floats) -> Array:
        """The solver's variables, shape (n_variables, 1), from the weights of the features."""
        sums = self._data.compress(w[self._n_inner :])
        inner = sums[self._used] / self._scale
        return np.concatenate([w[: self._n_inner], inner])[:, None]

    def weights(self, variables: Array) -> Floats:
        """The weights of the features, shape (n_weights,), from the solver's variables."""
        v = np.asarray(variables, dtype=np.float64)[:, 0]
        sums = np.zeros(len(self._data.multiplicity))
        sums[self._used] = v[self._n_inner :] * self._scale
        return np.concatenate([v[: self._n_inner], self._data.expand(sums)])

    def _kernel_weights(self, variables: Array) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """(variables, edges, start, end, edge weights) for the kernels."""
        features, v = self.features, np.ascontiguousarray(variables[:, 0], dtype=np.float64)
        free = v[: self._n_inner]
        return (
            v[self._n_inner :],
            features.edge_scores(free),
            features.start_scores(free),
            features.end_scores(free),
            np.ascontiguousarray(free[features.sections["edges"]]),
        )

    def evaluate(self, variables: Array) -> tuple[float, float, Array]:
        """sum_i c_i loss_i, what its rounding is a multiple of, and its gradient."""
        value, size, (state, edges, start, end, edge_weights) = self._handle.value_and_grad(
            self.features.states.graph,
            self._kernel_weights(variables),
            self._labels,
            self._allowed,
            self._weights,
            self._free_edges,
            self.n_threads,
        )
        free = self.features.gather(edges, start, end, edge_weights)
        return value, size, np.concatenate([free, state])[:, None]

    @cached_property
    def reach(self) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')| over all sequences and labellings."""
        longest = int(self._inputs.lengths.max(initial=0))
        squares = [largest_square(m) for m in (self._inputs.matrix, self._inputs.edge_matrix)]
        # A transition, a triple and the boundaries add ones.
        return 2.0 * longest * float(np.sqrt(sum(squares) + 4.0))

    # -- the dual --------------------------------------------------------------------------------

    @property
    def has_dual(self) -> bool:
        """Whether the dual solver knows such features, and its marginals fit into memory."""
        features = self.features
        n_sequences, n_tokens, _, _ = self._data.handle.shape
        width = features.n_labels + 8
        entries = n_tokens * width + n_sequences * features.n_labels * width
        if features.n_labels >= _MANY_LABELS and features.transitions.mean() <= _FEW_PAIRS:
            return False
        return (
            features.triples is None
            and features.edges is None
            and self.convex
            and entries <= _MOST_MARGINALS
        )

    def dual_handle(self, C: float, l1: float, l2: float, seed: int) -> ChainDual:
        """A solver of the dual of l1 |w|_1 + l2/2 |w|^2 + C times the sum, at w = 0."""
        assert self._labels is not None
        c = np.ones(self.n_rows) if self._weights is None else self._weights
        edges = np.ascontiguousarray(self.features.transitions.T).ravel()
        handle, boundaries = self._data.handle, self.features.boundaries
        return ChainDual(handle, self._labels, C * c, edges, boundaries, l1, l2, seed)

    def variables_of(self, weights: tuple[Floats, Floats, Floats, Floats]) -> Array:
        """The solver's variables from (weights, edges, start, end) of a kernel."""
        state, edges, start, end = weights
        free = self.features.gather(edges, start, end, np.zeros(0))
        return np.concatenate([free, state[self._used] / self._scale])[:, None]

    def curvature(self, handle: ChainDual) -> Array:
        """Second derivatives of the sum by each variable, estimated from a dual solver's marginals.

        Shape (n_variables, 1).
        """
        state, edges, start, end = handle.curvature()
        free = self.features.gather(edges, start, end, np.zeros(0))
        found = np.concatenate([free, state[self._used] * self._scale**2])[:, None]
        curvature: Array = np.maximum(found, 0.0)
        return curvature

    @property
    def value_at_zero(self) -> float:
        """The sum at w = 0 with all labels known: every labelling of a sequence is as likely."""
        c = 1.0 if self._weights is None else self._weights
        return float((c * self._inputs.lengths).sum()) * float(np.log(self.features.n_labels))


class ChainMargins:
    """Sums over sequences of margin losses, for solvers of their dual.

    The loss is max over y' of Delta(y, y') + h(x, y') - h(x, y), where Delta adds up
    ``cost[label, other label]`` over the tokens, times the scale of their sequence. Attributes with
    equal columns share a weight: the variables of a solver are the sums of the weights that share
    one, then those of transitions, boundaries and attributes of edges.

    Parameters
    ----------
    features : ChainFeatures
    inputs : AttributeSequences
    labels : CodedLabels
        Labels, all known.
    weights : array of shape (n_sequences,) or None
        c_i; None stands for ones.
    cost : array of shape (K, K)
        Costs of a token, zero on the diagonal.
    scale : array of shape (n_sequences,)
        Factors of the costs.
    C : float
        Weight of all losses.
    tol : float
        The relative gap that is to be proven: below what single precision can reach, data in single
        precision are taken in double.
    n_threads : int
        Threads; the result does not depend on them.

    Attributes
    ----------
    handle : ChainMargin
        The problem, for solvers.
    planes : tuple of arrays or None
        Dual variables of segment planes: where the dual solver begins, and where it ended.
    """

    name: ClassVar[str] = "chain_margin"
    smooth: ClassVar[bool] = False
    n_free: ClassVar[int] = 0
    estimated: ClassVar[bool] = False
    is_single: ClassVar[bool] = False
    convex: ClassVar[bool] = True

    def __init__(
        self,
        features: ChainFeatures,
        inputs: AttributeSequences,
        labels: CodedLabels,
        weights: Floats | None,
        *,
        cost: Floats,
        scale: Floats,
        C: float,
        tol: float,
        n_threads: int,
    ) -> None:
        self.features, self.n_threads, self._C = features, n_threads, C
        self._data: EncodedChains = features.encode(inputs, merge=True)
        if tol < _SINGLE:
            self._data = self._data.widened()
        c = np.ones(len(inputs)) if weights is None else weights
        self._parts = (
            features.states.graph,
            _links(features),
            labels.codes,
            np.ascontiguousarray(cost, dtype=np.float64),
            scale,
            C * c,
        )
        self.handle = ChainMargin(self._data.handle, *self._parts)
        self.planes: tuple[Integers, Integers, Integers, Integers, Floats] | None = None
        self._n_inner = len(self._data.multiplicity)
        self.n_rows = len(inputs)

    @property
    def n_variables(self) -> int:
        """Variables of a solver."""
        return self.handle.n_weights

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the data."""
        return self._data.dtype

    def variables(self, w: Floats) -> Array:
        """The solver's variables, shape (n_variables, 1), from the weights of the features."""
        n_free = self.features.sections["state"].start
        return np.concatenate([self._data.compress(w[n_free:]), w[:n_free]])[:, None]

    def weights(self, variables: Array) -> Floats:
        """The weights of the features, shape (n_weights,), from the solver's variables."""
        v = np.asarray(variables, dtype=np.float64)[:, 0]
        return np.concatenate([v[self._n_inner :], self._data.expand(v[: self._n_inner])])

    def square(self, variables: Array) -> float:
        """|w|^2 of the weights, which is not that of the variables."""
        w = self.weights(variables)
        return float(w @ w)

    @cached_property
    def _double(self) -> ChainMargin:
        """The problem in double precision."""
        if self.dtype.itemsize == 8:
            return self.handle
        return ChainMargin(self._data.widened().handle, *self._parts)

    def measure(self, variables: Array) -> tuple[float, float, float]:
        """sum_i c_i loss_i in double, what its rounding is a multiple of, and zero: it is exact."""
        v = np.ascontiguousarray(variables[:, 0], dtype=np.float64)
        loss, size = self._double.loss(v, self.n_threads)
        return loss / self._C, size / self._C, 0.0


class ChainUpdates:
    """Passes of the perceptron or MIRA over sequences; see `solvers.online.structured.Updates`.

    Parameters
    ----------
    features : ChainFeatures
    inputs : AttributeSequences
    labels : CodedLabels
    weights : array of shape (n_sequences,) or None
        c_i; None stands for ones.
    mira : bool
        Whether the step is that of MIRA.
    step : float
        The step of the perceptron, or the largest one of MIRA.
    seed : int or None
        Of the shuffles; None keeps the order.
    before : (last weights, their average or None, sequences seen) or None
        What to go on from.
    data : EncodedChains, optional
        The sequences, where they are encoded already.
    """

    def __init__(
        self,
        features: ChainFeatures,
        inputs: AttributeSequences,
        labels: CodedLabels,
        weights: Floats | None,
        *,
        mira: bool,
        step: float,
        seed: int | None,
        before: tuple[Floats, Floats | None, int] | None,
        data: EncodedChains | None = None,
    ) -> None:
        self._features = features
        # Attributes that look the same here may have learned different weights before.
        self._data = features.encode(inputs, merge=before is None) if data is None else data
        last, average, seen = (None, None, 0) if before is None else before
        self._handle = ChainOnline(
            self._data.handle,
            labels.codes,
            weights,
            np.ascontiguousarray(features.transitions.T).ravel(),
            features.boundaries,
            "mira" if mira else "perceptron",
            step,
            False,
            1.0,
            None if last is None else self._to_kernel(last),
            None if average is None else self._to_kernel(average),
            seen if average is not None else 0,
            seed,
        )

    def run_epoch(self) -> int:
        """One pass over the sequences; returns the number of tokens that were mistaken."""
        return int(self._handle.run_epoch())

    @property
    def seen(self) -> int:
        """Sequences seen."""
        return self._handle.seen

    @property
    def w(self) -> Floats:
        """The last weights."""
        return self._from_kernel(self._handle.weights())

    @property
    def average(self) -> Floats:
        """The average of the weights after each sequence."""
        return self._from_kernel(self._handle.average(0))

    def _to_kernel(self, w: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        features = self._features
        state = self._data.compress(w[features.sections["state"]])
        return state, features.edge_scores(w), features.start_scores(w), features.end_scores(w)

    def _from_kernel(self, weights: tuple[Floats, Floats, Floats, Floats]) -> Floats:
        state, edges, start, end = weights
        inner = self._features.gather(edges, start, end, np.zeros(0))
        return np.concatenate([inner, self._data.expand(state)])


def _links(features: ChainFeatures) -> tuple[Integers, Integers, Integers, Integers, int]:
    """Numbers of the weights that edges, starts and ends carry, for the kernels.

    Examples
    --------
    >>> from separatrix.structures.chain.structure import ChainFeatures, Pattern
    >>> pairs = np.array([[True, False], [True, True]])
    >>> starts, weights, start, end, n = _links(ChainFeatures(2, Pattern.full(1, 2), pairs))
    >>> starts.tolist(), weights.tolist(), start.tolist(), end.tolist(), n
    ([0, 1, 2, 2, 3], [0, 1, 2], [3, 4], [5, 6], 7)
    """
    states = features.states
    pairs = _numbers(features.transitions, features.sections["transitions"])
    columns = [pairs[states.label_of[states.edge_from], states.label_of[states.edge_to]]]
    if features.triples is not None:
        triples = _numbers(features.triples, features.sections["triples"])
        first = states.before[states.edge_from]
        second, third = states.label_of[states.edge_from], states.label_of[states.edge_to]
        columns.append(np.where(first >= 0, triples[first, second, third], _NO_WEIGHT))
    table = np.column_stack(columns)
    found = table >= 0
    start = end = np.full(len(states.label_of), _NO_WEIGHT)
    if features.boundaries:
        start = features.sections["start"].start + states.label_of
        end = features.sections["end"].start + states.label_of
    if features.triples is not None:
        start = np.where(states.before < 0, start, _NO_START)
    return (
        np.append(0, np.cumsum(found.sum(axis=1))).astype(np.int64),
        np.ascontiguousarray(table[found]),
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(end, dtype=np.int64),
        int(features.sections["state"].start),
    )


def _numbers(present: npt.NDArray[np.bool_], section: slice) -> Integers:
    """Numbers of the weights of a table; -1 where there is none."""
    numbers = np.full(present.shape, _NO_WEIGHT, dtype=np.int64)
    numbers[present] = np.arange(section.start, section.stop)
    return numbers
