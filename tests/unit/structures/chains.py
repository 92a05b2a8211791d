"""Small chains with everything on, and the truth by enumeration."""

import itertools

import numpy as np
import scipy.sparse as sp

from separatrix.data import AttributeSequences
from separatrix.losses import LogSumExp
from separatrix.objective import objective_for
from separatrix.penalties import L2
from separatrix.structures import CodedLabels
from separatrix.structures.chain.structure import observed_chain


def tokens(lengths, n_attributes=6, edge_attributes=0, seed=0, ones=False, dtype=np.float64):
    random = np.random.default_rng(seed)
    n = sum(lengths)
    values = random.integers(0, 2, size=(n, n_attributes)).astype(dtype)
    values[:, 0] = 1.0
    if not ones:
        values *= random.normal(1.0, 0.3, size=values.shape)
    edges = (
        random.integers(0, 2, size=(n, edge_attributes)).astype(dtype) if edge_attributes else None
    )
    return AttributeSequences.of(sp.csr_matrix(values), list(lengths), None, edges)


def labels(X, n_labels, seed=0):
    return np.random.default_rng(seed + 100).integers(0, n_labels, size=X.matrix.shape[0])


def chain_of(X, n_labels, y, **options):
    return observed_chain(X, n_labels, y, **options)


def objective_of(features, X, y, penalty=None, *, allowed=None, operator=None, **options):
    """What a learner minimizes: the likelihood, or the loss of another max operator."""
    tags = CodedLabels(np.arange(features.n_labels), y, X.offsets, allowed)
    operator = LogSumExp() if operator is None else operator
    return objective_for(features, X, tags, operator, penalty or L2(), **options)


def weights(chain, seed=0, scale=1.0):
    return np.random.default_rng(seed + 200).normal(scale=scale, size=chain.n_weights)


def labellings(length, n_labels):
    return [np.array(y, dtype=np.int64) for y in itertools.product(range(n_labels), repeat=length)]


def score(chain, w, X, y):
    """<w, Psi(x, y)> of one sequence, from the features alone."""
    return float(w @ chain.features(X, np.asarray(y, dtype=np.int64)))
