"""The objective of a chain CRF: P(w) = R(w) + C sum_i c_i (log Z_i - score_i)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainDual
from separatrix.data import AttributeSequences
from separatrix.protocols import Array, Regularizer
from separatrix.regularizers import L2
from separatrix.structured.labels import Tags
from separatrix.structured.proof import ChainProof, largest_square
from separatrix.structures import Chain, EncodedChains

__all__ = ["ChainLikelihood"]

Floats = npt.NDArray[np.float64]

#: Relative length of a difference that stands for a derivative, by the bytes of a number.
_DIFFERENCE = {4: 3e-3, 8: 1e-6}
#: Entries of the marginals that the dual solver may keep.
_MOST_MARGINALS = 1 << 29


@dataclass(frozen=True)
class _NegativeLogLikelihood:
    """The loss by name; value and gradient come from one pass over the sequences."""

    name: ClassVar[str] = "chain_likelihood"
    smooth: ClassVar[bool] = True


class ChainLikelihood:
    """Negative log-likelihood of sequences under a penalty, as the solvers want it.

    A run in single precision goes on in double where it comes near the tolerance (`ChainProof`).

    Under an L2 penalty attributes with equal columns share a weight (`EncodedChains`): the solver's
    variables are the weights of transitions and boundaries, then sqrt(k) times the shared ones.

    Parameters
    ----------
    chain : Chain
        Features.
    X : AttributeSequences
        Tokens.
    tags : Tags
        Labels, known or known in part (then the likelihood is that of all labellings allowed).
    regularizer : Regularizer
        Penalty on all weights.
    C : float
        Weight of the losses.
    sequence_weight : array of shape (n_sequences,) or None
        c_i; None stands for ones.
    tol : float
        The relative gap that is to be proven.
    n_threads : int
        Threads; the result does not depend on them.

    Attributes
    ----------
    can : frozenset of str
        What the objective offers to solvers.
    convex : bool
        Whether P is convex: all labels are known.
    weight_shape : tuple
        (n_variables, 1).
    """

    loss: ClassVar[_NegativeLogLikelihood] = _NegativeLogLikelihood()
    exempt: ClassVar[bool] = False
    has_fused_pass: ClassVar[bool] = True

    def __init__(
        self,
        chain: Chain,
        X: AttributeSequences,
        tags: Tags,
        regularizer: Regularizer,
        *,
        C: float = 1.0,
        sequence_weight: Floats | None = None,
        tol: float = 0.0,
        n_threads: int = 1,
    ) -> None:
        self.chain = chain
        self.regularizer = regularizer
        self.C = C
        self.sequence_weight = sequence_weight
        self.n_threads = n_threads
        self.data: EncodedChains = chain.encode(X, merge=type(regularizer) is L2)
        self.handle = self.data.handle
        self._proof = ChainProof(self, tol, single=self.data.dtype.itemsize < 8)
        self._X = X
        self._labels = tags.codes if tags.allowed is None else None
        self._allowed = tags.allowed
        # Rows are padded, and not every label was observed: solvers see only the weights there are.
        self._used = np.flatnonzero(self.data.multiplicity)
        self._scale = self.data.scale[self._used]
        self._n_free = chain.sections["state"].start
        can = {"smooth_loss", "elastic_net"}
        if regularizer.smooth:
            can |= {"value_grad", "smooth"}
            if tags.allowed is None:
                can.add("hvp")
        self.convex = tags.allowed is None
        self.can = frozenset(can)

    @property
    def score_map(self) -> ChainLikelihood:
        """Itself: shape and precision of the weights."""
        return self

    @property
    def weight_shape(self) -> tuple[int, int]:
        """(n_variables, 1)."""
        return self._n_free + len(self._scale), 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the passes."""
        return self.data.dtype if self.is_single else np.dtype(np.float64)

    def variables(self, w: Floats) -> Array:
        """The solver's variables, shape (n_variables, 1), from the weights of the chain."""
        sums = self.data.compress(w[self._n_free :])
        inner = sums[self._used] / self._scale
        return np.concatenate([w[: self._n_free], inner])[:, None]

    def weights(self, variables: Array) -> Floats:
        """The weights of the chain, shape (n_weights,), from the solver's variables."""
        v = np.asarray(variables, dtype=np.float64)[:, 0]
        sums = np.zeros(len(self.data.multiplicity))
        sums[self._used] = v[self._n_free :] * self._scale
        return np.concatenate([v[: self._n_free], self.data.expand(sums)])

    def kernel_weights(self, variables: Array) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """(variables, edges, start, end, edge weights) for the kernels."""
        chain, v = self.chain, np.ascontiguousarray(variables[:, 0], dtype=np.float64)
        free = v[: self._n_free]
        return (
            v[self._n_free :],
            chain.edge_scores(free),
            chain.start_scores(free),
            chain.end_scores(free),
            np.ascontiguousarray(free[chain.sections["edges"]]),
        )

    @property
    def can_dual(self) -> bool:
        """Whether the dual solver applies, and its marginals fit into memory."""
        chain = self.chain
        n_sequences, n_tokens, _, _ = self.data.handle.shape
        width = chain.n_labels + 8
        entries = n_tokens * width + n_sequences * chain.n_labels * width
        return (
            type(self.regularizer) is L2
            and chain.triples is None
            and chain.edges is None
            and self._labels is not None
            and entries <= _MOST_MARGINALS
        )

    @property
    def value_at_zero(self) -> float:
        """P(0) with all labels known: every labelling of a sequence is as likely."""
        lengths = self._X.lengths
        c = 1.0 if self.sequence_weight is None else self.sequence_weight
        return self.C * float((c * lengths).sum()) * float(np.log(self.chain.n_labels))

    def dual_handle(self, seed: int) -> ChainDual:
        """A solver of the dual at w = 0."""
        assert self._labels is not None
        n_sequences = self.data.handle.shape[0]
        c = np.ones(n_sequences) if self.sequence_weight is None else self.sequence_weight
        return ChainDual(
            self.data.handle,
            self._labels,
            self.C * c,
            self.free_edges,
            self.chain.boundaries,
            seed,
        )

    @property
    def free_edges(self) -> npt.NDArray[np.bool_]:
        """Whether the edges of a first-order chain have weights, shape (K * K,)."""
        return np.ascontiguousarray(self.chain.transitions.T).ravel()

    def variables_of(self, weights: tuple[Floats, Floats, Floats, Floats]) -> Array:
        """The solver's variables from (weights, edges, start, end) of a kernel."""
        state, edges, start, end = weights
        free = self.chain.gather(edges, start, end, np.zeros(0))
        return np.concatenate([free, state[self._used] / self._scale])[:, None]

    def evaluate(self, w: Array) -> tuple[float, float, Array]:
        """C sum_i c_i loss_i, what its rounding is a multiple of, and its gradient."""
        value, size, (state, edges, start, end, edge_weights) = self.handle.value_and_grad(
            self.chain.states.graph,
            self.kernel_weights(w),
            self._labels,
            self._allowed,
            self.sequence_weight,
            self.n_threads,
        )
        free = self.chain.gather(edges, start, end, edge_weights)
        grad = np.concatenate([free, state])
        grad *= self.C
        return self.C * value, self.C * size, grad[:, None]

    def loss_value_and_grad(self, w: Array) -> tuple[float, Array]:
        """C sum_i c_i loss_i and its gradient by the solver's variables."""
        at = self._proof.at(w)
        return at.loss, at.grad.copy()

    def value_and_grad(self, w: Array) -> tuple[float, Array]:
        """P(w) and its gradient."""
        value, grad = self.loss_value_and_grad(w)
        grad += self.regularizer.grad(w)
        return value + self.regularizer.value(w), grad

    def hessian(self, w: Array, scores: Array | None = None) -> Callable[[Array], Array]:
        """The map v -> H v at w by differences of gradients; `scores` are not used."""
        grad = self._proof.at(w).grad + self.regularizer.grad(w)
        size = _DIFFERENCE[self.dtype.itemsize] * (1.0 + float(np.linalg.norm(w)))

        def apply(v: Array) -> Array:
            step = size / max(float(np.linalg.norm(v)), 1e-300)
            _, moved = self.loss_value_and_grad(w + step * v)
            moved += self.regularizer.grad(w + step * v)
            result: Array = (moved - grad) / step
            return result

        return apply

    def value(self, w: Array) -> float:
        """P(w)."""
        return self.value_and_grad(w)[0]

    def penalized(self, w: Array) -> Array:
        """The weights that the regularizer sees: all."""
        return w

    @property
    def convexity(self) -> float:
        """m where P - m/2 |w|^2 is known to be convex; else zero."""
        if not self.convex or not self.regularizer.smooth:
            return 0.0
        return float(getattr(self.regularizer, "curvature", 0.0))

    @property
    def is_single(self) -> bool:
        """Whether passes are in single precision."""
        return self._proof.is_single

    @property
    def noise(self) -> float:
        """How far the value seen last may be off, besides rounding."""
        return self._proof.noise

    def widen(self) -> None:
        """From now on pass over the data in double precision."""
        if self.is_single:
            self.handle = self.handle.widened()
            self._proof.widened()

    @cached_property
    def reach(self) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')| over all sequences and labellings."""
        longest = int(self._X.lengths.max(initial=0))
        squares = [largest_square(m) for m in (self._X.matrix, self._X.edge_matrix)]
        # A transition, a triple and the boundaries add ones.
        return 2.0 * longest * float(np.sqrt(sum(squares) + 4.0))

    def gap_bound(self, w: Array, grad: Array, value: float) -> float:
        """A proven bound of P(w) - min P, rounding included; infinite where there is none."""
        return self._proof.gap_bound(w, value)

    def prove(self, w: Array, lower: float = -np.inf) -> tuple[float, float]:
        """P(w) and a bound of P(w) - min P, in double precision, where min P >= `lower`."""
        return self._proof.prove(w, lower)
