"""What inference finds, for any structure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Best", "Sums"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Best(NamedTuple):
    """Labellings of high scores.

    Attributes
    ----------
    labels : array of shape (n_nodes,)
    scores : array of shape (n_graphs,)
        Score of the labelling.
    messages : array or None
        To start the next call from, where there are any.
    bound : array of shape (n_graphs,) or None
        No labelling scores more; infinite where the method knows no bound, None where the score is
        the best one.
    """

    labels: Integers
    scores: Floats
    messages: Floats | None = None
    bound: Floats | None = None


class Sums(NamedTuple):
    """Sums over all labellings, for structures that need no more.

    Attributes
    ----------
    log_partition : array of shape (n_examples,)
        log Z.
    parts : object
        The gradient of log Z, the marginals, as the adjoint of the features takes them.
    nodes : array of shape (n_nodes, n_labels) or None
        p(label of a node).
    """

    log_partition: Floats
    parts: Any
    nodes: Floats | None = None
