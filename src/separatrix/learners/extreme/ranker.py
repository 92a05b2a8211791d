"""A second look at candidates: weights of hashed pairs, learned discriminatively."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import given_learn
from separatrix.errors import DataError
from separatrix.features.handles import sparse_handle
from separatrix.learners.extreme.counts import PairCounts
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.inverted import InvertedIndex, Smoothing

__all__ = ["PairRanker", "Progress", "given_epoch", "index_epoch", "table_size_for"]

GivenArrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]

#: Value of one unit of the 8-bit weights.
_UNIT = 1.0 / 32.0
#: Candidates of a row in training: the hardest ones teach the most.
_TRAINING_CANDIDATES = 24
#: Rows that set the factors of score and closeness before the pairs are learned.
_SAMPLE = 10_000
_FACTOR, _FACTOR_RATE = 0.5, 0.1
_LARGEST_TABLE = 2**21


@dataclass(frozen=True)
class Progress:
    """What the epoch saw, each row judged before it was learned from.

    Attributes
    ----------
    rows : int
        Rows whose label has another row.
    reached : int
        Rows whose label was among the candidates.
    hits : int
        Rows whose label was ranked first.
    loss : float
        Mean log loss over the candidates of the rows that were reached.
    """

    rows: int
    reached: int
    hits: int
    loss: float


class Epoch(Protocol):
    """One pass over rows that changes the weights: (rows, rows reached, hits, loss)."""

    def __call__(
        self,
        order: npt.NDArray[np.uint32],
        rates: tuple[float, float],
        factors: npt.NDArray[np.float32],
        biases: npt.NDArray[np.float32],
        pairs: npt.NDArray[np.float32],
    ) -> tuple[int, int, int, float]:
        """Visit the rows in `order`; arrays hold weights and second moments in two columns."""
        ...


def index_epoch(
    index: InvertedIndex,
    counts: PairCounts,
    smoothing: Smoothing,
    examples: Examples,
    places: npt.NDArray[np.uint32],
    X: sp.csr_array,
    codes: npt.NDArray[np.uint32],
    n_threads: int,
) -> Epoch:
    """Passes over candidates of an index, each row left out of its own label's counts and examples.

    `places` are those of the rows among the examples.
    """
    handle, counted, rows = index.handle(), counts.handle(), sparse_handle(X)
    kept = examples.handle()

    def epoch(
        order: npt.NDArray[np.uint32],
        rates: tuple[float, float],
        factors: npt.NDArray[np.float32],
        biases: npt.NDArray[np.float32],
        pairs: npt.NDArray[np.float32],
    ) -> tuple[int, int, int, float]:
        return handle.learn(
            counted,
            smoothing.mu,
            smoothing.alpha,
            kept,
            places,
            rows,
            codes,
            order,
            _TRAINING_CANDIDATES,
            rates,
            factors,
            biases,
            pairs,
            n_threads,
        )

    return epoch


def given_epoch(candidates: GivenArrays, X: sp.csr_array, codes: npt.NDArray[np.uint32]) -> Epoch:
    """Passes over candidates that were found beforehand."""
    rows = sparse_handle(X)

    def epoch(
        order: npt.NDArray[np.uint32],
        rates: tuple[float, float],
        factors: npt.NDArray[np.float32],
        biases: npt.NDArray[np.float32],
        pairs: npt.NDArray[np.float32],
    ) -> tuple[int, int, int, float]:
        return given_learn(
            candidates, rows, codes, order, _TRAINING_CANDIDATES, rates, factors, biases, pairs
        )

    return epoch


@dataclass(frozen=True)
class PairRanker:
    """z_y = beta s_y + gamma m_y + b_y + sum_f x_f v_h(f, y).

    Attributes
    ----------
    beta, gamma : float
        Factors of the index's score and of the closeness to examples.
    biases : ndarray of shape (K,)
        b_y.
    pairs : ndarray of int8, a power of two of entries
        v in units of 1/32; empty where nothing was learned.
    """

    beta: float
    gamma: float
    biases: npt.NDArray[np.float32]
    pairs: npt.NDArray[np.int8]

    @property
    def weights(
        self,
    ) -> tuple[tuple[float, float], npt.NDArray[np.float32], npt.NDArray[np.int8], float]:
        """Factors, biases, pairs and the unit of the pairs, as the kernels take them."""
        return (self.beta, self.gamma), self.biases, self.pairs, _UNIT

    @classmethod
    def unlearned(cls, n_labels: int) -> PairRanker:
        """The order of the index."""
        return cls(1.0, 0.0, np.zeros(n_labels, dtype=np.float32), np.zeros(0, dtype=np.int8))

    @classmethod
    def learn(
        cls,
        epoch: Epoch,
        n_rows: int,
        n_labels: int,
        *,
        rate: float,
        passes: int,
        table_size: int,
        generator: np.random.RandomState,
    ) -> tuple[PairRanker, Progress]:
        """Learn from `passes` over the rows in random order.

        The factors of score and closeness are set first, from some of the rows, with all else at
        zero.
        """
        factors = np.array([[_FACTOR, 0.0], [_FACTOR, 0.0]], dtype=np.float32)
        biases = np.zeros((n_labels, 2), dtype=np.float32)
        pairs = np.zeros((table_size, 2), dtype=np.float32)
        order = generator.permutation(n_rows).astype(np.uint32)
        epoch(order[:_SAMPLE], (0.0, _FACTOR_RATE), factors, biases, pairs)
        seen, reached, hits, loss = epoch(order, (rate, _FACTOR_RATE), factors, biases, pairs)
        for _ in range(1, passes):
            epoch(generator.permutation(order), (rate, _FACTOR_RATE), factors, biases, pairs)
        progress = Progress(seen, reached, hits, loss / max(reached, 1))
        return cls.from_weights(factors, biases, pairs), progress

    @classmethod
    def from_weights(
        cls,
        factors: npt.NDArray[np.float32],
        biases: npt.NDArray[np.float32],
        pairs: npt.NDArray[np.float32],
    ) -> PairRanker:
        """Keep the weights, the pairs in 8 bits."""
        units = np.rint(pairs[:, 0] / _UNIT).clip(-127, 127).astype(np.int8)
        beta, gamma = factors[:, 0].tolist()
        return cls(beta, gamma, np.ascontiguousarray(biases[:, 0]), units)

    def check(self, n_labels: int) -> None:
        """Raise DataError unless the arrays fit `n_labels` labels."""
        size = len(self.pairs)
        if self.biases.shape != (n_labels,) or size & (size - 1):
            raise DataError(
                f"the ranker has {len(self.biases)} biases and {size} pairs; expected {n_labels} "
                "and a power of two"
            )


def table_size_for(n_pairs: int) -> int:
    """A power of two with room for the pairs that occur and as many that do not."""
    return int(min(_LARGEST_TABLE, max(2**10, 1 << int(2 * n_pairs).bit_length())))
