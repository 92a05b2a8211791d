"""The structures that a learner can be given by name."""

from __future__ import annotations

from typing import Any

from separatrix.errors import ParameterError
from separatrix.protocols import Structure
from separatrix.structures.chain.structure import Chain
from separatrix.structures.graph.shapes import Forest, Graph, Grid
from separatrix.structures.label_set.structure import LabelSet
from separatrix.structures.labels.structure import Labels
from separatrix.structures.segments.structure import Segments

__all__ = ["STRUCTURES", "fitting_features", "structure_named"]

#: Structures by name.
STRUCTURES: dict[str, Any] = {
    "chain": Chain,
    "forest": Forest,
    "graph": Graph,
    "grid": Grid,
    "label_set": LabelSet,
    "labels": Labels,
    "segments": Segments,
}


def structure_named(structure: Any) -> Any:
    """A structure from its name, or itself where it keeps the contract.

    Examples
    --------
    >>> structure_named("grid").neighborhood
    4
    """
    if isinstance(structure, str) and structure in STRUCTURES:
        return STRUCTURES[structure]()
    if not isinstance(structure, str | type) and isinstance(structure, Structure):
        return structure
    raise ParameterError(
        f"structure must be one of {', '.join(map(repr, STRUCTURES))}, or keep the contract "
        f"protocols.Structure, got {structure!r}"
    )


def fitting_features(structure: Any, features: Any, inputs: Any) -> Any:
    """Fitted features with the inference that fits these inputs, where the structure chooses it."""
    choose = getattr(structure, "features_for", None)
    return features if choose is None else choose(features, inputs)
