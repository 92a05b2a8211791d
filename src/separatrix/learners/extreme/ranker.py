"""A second look at candidates: weights of hashed pairs, learned discriminatively."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import DataError
from separatrix.features.handles import sparse_handle
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.index import InvertedIndex, PairCounts, Smoothing

__all__ = ["Lessons", "PairRanker", "Progress", "table_size_for"]

#: Value of one unit of the 8-bit weights.
_UNIT = 1.0 / 32.0
#: Candidates of a row in training: the hardest ones teach the most.
_TRAINING_CANDIDATES = 24
#: Rows that set the factors of score and closeness before the pairs are learned.
_SAMPLE = 10_000
_FACTOR, _FACTOR_RATE = 0.5, 0.1
_LARGEST_TABLE = 2**21
#: Rows of a pass, at most: with a table of that size more of them teach little.
_MOST_ROWS = 2**19


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


@dataclass(frozen=True)
class Lessons:
    """Training rows whose candidates come from an index.

    Each row is left out of the counts and the examples of its own label; `places` are those of the
    rows among the examples.
    """

    index: InvertedIndex
    counts: PairCounts
    smoothing: Smoothing
    examples: Examples
    places: npt.NDArray[np.uint32]
    rows: sp.csr_array
    codes: npt.NDArray[np.uint32]


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
        lessons: Lessons,
        *,
        rate: float,
        C: float,
        passes: int,
        table_size: int,
        generator: np.random.RandomState,
        n_threads: int,
    ) -> tuple[PairRanker, Progress]:
        """Learn from `passes` over the rows in random order, at most 2^19 of them in each.

        The factors of score and closeness are set first, from some of the rows, with all else at
        zero.
        """
        index, counts = lessons.index.handle, lessons.counts.handle
        examples, rows = lessons.examples.handle, sparse_handle(lessons.rows)
        factors = np.array([[_FACTOR, 0.0], [_FACTOR, 0.0]], dtype=np.float32)
        biases = np.zeros((len(lessons.counts.label_rows), 2), dtype=np.float32)
        pairs = np.zeros((table_size, 2), dtype=np.float32)

        def epoch(order: npt.NDArray[np.uint32], step: float) -> tuple[int, int, int, float]:
            return index.learn(
                counts,
                lessons.smoothing.mu,
                lessons.smoothing.alpha,
                examples,
                lessons.places,
                rows,
                lessons.codes,
                order,
                _TRAINING_CANDIDATES,
                (step, _FACTOR_RATE, 1.0 / (C * len(lessons.codes))),
                factors,
                biases,
                pairs,
                n_threads,
            )

        order = generator.permutation(len(lessons.codes)).astype(np.uint32)
        epoch(order[:_SAMPLE], 0.0)
        seen, reached, hits, loss = epoch(order[:_MOST_ROWS], rate)
        for _ in range(1, passes):
            epoch(generator.permutation(order)[:_MOST_ROWS], rate)
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
    """The power of two from half as many as the pairs that occur: most learn next to nothing."""
    return int(min(_LARGEST_TABLE, max(2**16, (1 << int(n_pairs).bit_length()) // 2)))
