"""The objective of a structured SVM on chains: P(w) = 1/2 |w|^2 + C sum_i c_i H_i(w)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainMargin
from separatrix.data import AttributeSequences
from separatrix.protocols import Array
from separatrix.structured.labels import Tags
from separatrix.structured.proof import EPSILON, ROUNDINGS
from separatrix.structures import Chain, EncodedChains

__all__ = ["ChainHinge"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Sequences, first tokens, starts of labels, labels and values of dual variables.
Planes = tuple[Integers, Integers, Integers, Integers, Floats]
#: Relative gap that solvers in single precision do not reach.
_SINGLE = 1e-6
#: In the weights of starts: none, and a state that no sequence begins with.
_NO_WEIGHT, _NO_START = -1, -2


class ChainHinge:
    """Hinge losses of sequences with margin rescaling, under an L2 penalty.

    H_i(w) = max over y' of Delta(y_i, y') + h(x_i, y') - h(x_i, y_i), where Delta adds up
    ``cost[label, other label]`` over the tokens. Attributes with equal columns share a weight
    (`EncodedChains`): the solver's variables are the sums of the weights that share one, then those
    of transitions, boundaries and attributes of edges.

    Parameters
    ----------
    chain : Chain
        Features.
    X : AttributeSequences
        Tokens.
    tags : Tags
        Labels, all known.
    cost : array of shape (K, K)
        Costs of a token, zero on the diagonal.
    mean : bool
        Whether Delta is divided by the number of tokens.
    C : float
        Weight of the losses.
    sequence_weight : array of shape (n_sequences,) or None
        c_i; None stands for ones.
    tol : float
        The relative gap that is to be proven: below what single precision can reach, data in single
        precision are taken in double.
    n_threads : int
        Threads; the result does not depend on them.

    Attributes
    ----------
    planes : tuple of arrays or None
        Dual variables of segment planes: where the dual solver begins, and where it ended.
    """

    can: ClassVar[frozenset[str]] = frozenset({"chain_margin"})

    def __init__(
        self,
        chain: Chain,
        X: AttributeSequences,
        tags: Tags,
        cost: Floats,
        *,
        mean: bool = False,
        C: float = 1.0,
        sequence_weight: Floats | None = None,
        tol: float = 1.0,
        n_threads: int = 1,
    ) -> None:
        self.chain = chain
        self.n_threads = n_threads
        self.data: EncodedChains = chain.encode(X, merge=True)
        if tol < _SINGLE:
            self.data = self.data.widened()
        lengths = X.lengths
        scale = 1.0 / np.maximum(lengths, 1) if mean else np.ones(len(lengths))
        c = np.ones(len(lengths)) if sequence_weight is None else sequence_weight
        self._parts = (
            chain.states.graph,
            _links(chain),
            tags.codes,
            np.ascontiguousarray(cost, dtype=np.float64),
            scale,
            C * c,
        )
        self.handle = ChainMargin(self.data.handle, *self._parts)
        self.planes: Planes | None = None
        self._n_inner = len(self.data.multiplicity)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """(n_variables, 1)."""
        return self.handle.n_weights, 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the data."""
        return self.data.dtype

    def variables(self, w: Floats) -> Array:
        """The solver's variables, shape (n_variables, 1), from the weights of the chain."""
        n_free = self.chain.sections["state"].start
        return np.concatenate([self.data.compress(w[n_free:]), w[:n_free]])[:, None]

    def weights(self, variables: Array) -> Floats:
        """The weights of the chain, shape (n_weights,), from the solver's variables."""
        v = np.asarray(variables, dtype=np.float64)[:, 0]
        return np.concatenate([v[self._n_inner :], self.data.expand(v[: self._n_inner])])

    def penalty(self, v: Floats) -> float:
        """1/2 |w|^2 of variables of shape (n_variables,)."""
        w = self.weights(v[:, None])
        return 0.5 * float(w @ w)

    @cached_property
    def _double(self) -> ChainMargin:
        """The problem in double precision."""
        if self.dtype.itemsize == 8:
            return self.handle
        return ChainMargin(self.data.widened().handle, *self._parts)

    def measure(self, variables: Array) -> tuple[float, float]:
        """P(w) in double precision, and by how much rounding may have moved it."""
        v = np.ascontiguousarray(variables[:, 0], dtype=np.float64)
        value, size = self._double.value(v, self.n_threads)
        return value, ROUNDINGS * EPSILON * size

    def value(self, variables: Array) -> float:
        """P(w)."""
        return self.measure(variables)[0]


def _links(chain: Chain) -> tuple[Integers, Integers, Integers, Integers, int]:
    """Numbers of the weights that edges, starts and ends carry, for the kernels.

    Examples
    --------
    >>> from separatrix.structures.chain import Pattern
    >>> pairs = np.array([[True, False], [True, True]])
    >>> starts, weights, start, end, n = _links(Chain(2, Pattern.full(1, 2), pairs))
    >>> starts.tolist(), weights.tolist(), start.tolist(), end.tolist(), n
    ([0, 1, 2, 2, 3], [0, 1, 2], [3, 4], [5, 6], 7)
    """
    states = chain.states
    pairs = _numbers(chain.transitions, chain.sections["transitions"])
    columns = [pairs[states.label_of[states.edge_from], states.label_of[states.edge_to]]]
    if chain.triples is not None:
        triples = _numbers(chain.triples, chain.sections["triples"])
        first = states.before[states.edge_from]
        second, third = states.label_of[states.edge_from], states.label_of[states.edge_to]
        columns.append(np.where(first >= 0, triples[first, second, third], _NO_WEIGHT))
    table = np.column_stack(columns)
    found = table >= 0
    start = end = np.full(len(states.label_of), _NO_WEIGHT)
    if chain.boundaries:
        start = chain.sections["start"].start + states.label_of
        end = chain.sections["end"].start + states.label_of
    if chain.triples is not None:
        start = np.where(states.before < 0, start, _NO_START)
    return (
        np.append(0, np.cumsum(found.sum(axis=1))).astype(np.int64),
        np.ascontiguousarray(table[found]),
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(end, dtype=np.int64),
        int(chain.sections["state"].start),
    )


def _numbers(present: npt.NDArray[np.bool_], section: slice) -> Integers:
    """Numbers of the weights of a table; -1 where there is none."""
    numbers = np.full(present.shape, _NO_WEIGHT, dtype=np.int64)
    numbers[present] = np.arange(section.start, section.stop)
    return numbers
