"""What fits of chains share: holding sequences out, starting again, and running a solver."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences
from separatrix.errors import ParameterError
from separatrix.protocols import Array, Solver
from separatrix.results import Solution
from separatrix.structured.held_out import held_out_score, split_sequences
from separatrix.structured.labels import Tags
from separatrix.structured.running import minimize
from separatrix.structures import Chain
from separatrix.validation import starts_at_last_fit

__all__ = ["Examples", "Start", "hold_out", "run_solver"]

Floats = npt.NDArray[np.float64]


class Examples(NamedTuple):
    """Sequences to train on, their labels and weights; None stands for ones."""

    X: AttributeSequences
    tags: Tags
    weights: Floats | None


def hold_out(
    examples: Examples, fraction: float, random_state: Any
) -> tuple[Examples, tuple[AttributeSequences, list[list[Any]]]]:
    """Examples to train on, and (X, y) of those held out."""
    X, tags, weights = examples
    train, held_out = split_sequences(len(X), fraction, random_state)
    if tags.allowed is not None:
        raise ParameterError("early_stopping with partial labels needs validation=(X, y)")
    bounds = X.offsets
    labels = [tags.classes[tags.codes[bounds[i] : bounds[i + 1]]].tolist() for i in held_out]
    tokens = np.isin(np.repeat(np.arange(len(X)), X.lengths), train)
    kept = Tags(tags.classes, tags.codes[tokens], None)
    weights = None if weights is None else weights[train]
    return Examples(X.take(train), kept, weights), (X.take(held_out), labels)


class Start(NamedTuple):
    """What a warm start needs of the last fit."""

    w: Floats
    chain: Chain
    classes: npt.NDArray[Any]

    @classmethod
    def of(cls, model: Any) -> Start | None:
        """The weights of a model, where it is fitted and wants to begin at them."""
        if not (model.warm_start and hasattr(model, "coef_")) or model._on_graphs:
            return None
        return cls(model.coef_, model.chain_, model.classes_)

    def fits(self, model: Any, chain: Chain, tags: Tags) -> bool:
        """Whether labels and features are the same; a warning says where they are not."""
        old = self.chain
        same = (
            old.n_weights == chain.n_weights
            and np.array_equal(old.state.starts, chain.state.starts)
            and np.array_equal(old.state.outputs, chain.state.outputs)
            and np.array_equal(old.transitions, chain.transitions)
            and old.boundaries == chain.boundaries
        )
        return starts_at_last_fit(
            model, labels=(self.classes, tags.classes), features=(True, bool(same))
        )


def run_solver(
    model: Any,
    solver: Solver,
    objective: Any,
    examples: Examples,
    start: Start | None,
    validation: tuple[Any, Any] | None,
) -> Solution:
    """Minimize the objective of a learner on chains, as its parameters say.

    Parameters
    ----------
    model : BaseChainLearner
        With `tol`, `max_iter`, `verbose`, `early_stopping`, `n_iter_no_change` and `scoring`.
    solver : Solver
    objective : object
        With `chain`, `variables` and `weights`.
    examples : Examples
        Training data.
    start : Start or None
        The last fit, used where it fits.
    validation : (X, y) or None
        Sequences to score after every pass.
    """
    X, tags, _ = examples
    chain: Chain = objective.chain
    w0: Array | None = None
    if start is not None and start.fits(model, chain, tags):
        w0 = objective.variables(start.w)
    score = None
    if validation is not None:
        # Features and names are those of this fit while it scores held-out sequences.
        model.classes_ = tags.classes
        model._keep_features(chain, X)
        score = held_out_score(model, objective, *validation, model.scoring)
    return minimize(model, solver, objective, w0, score)
