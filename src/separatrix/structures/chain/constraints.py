"""What is known beforehand about the labels of new sequences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError
from separatrix.structures.chain.grammar import Grammar, grammar_of
from separatrix.structures.chain.inference import ChainScores
from separatrix.structures.coded_labels import encode_tags

__all__ = ["Constraints"]


@dataclass(frozen=True)
class Constraints:
    """Labels that are given, sets of allowed labels, and forbidden transitions.

    Parameters
    ----------
    given : sequence of sequences, optional
        Per token None (anything), a label, or a set of allowed labels.
    forbidden : iterable of (label, label), optional
        Labels that may not follow each other.
    grammar : {"BIO", "BIOES", "IOB1"}, optional
        Forbids what the encoding of chunks forbids.

    Examples
    --------
    >>> Constraints(given=[[None, "O"]], grammar="BIO").grammar
    'BIO'
    """

    given: Any = None
    forbidden: Iterable[tuple[Any, Any]] | None = None
    grammar: str | None = None

    @classmethod
    def of(cls, constraints: Any) -> Constraints:
        """Constraints as they are, the name of a grammar, or what is given per token."""
        if isinstance(constraints, cls):
            return constraints
        if isinstance(constraints, str):
            return cls(grammar=constraints)
        return cls(given=constraints)

    def apply(
        self,
        scores: ChainScores,
        classes: npt.NDArray[Any],
        seen: npt.NDArray[np.int64] | None = None,
    ) -> ChainScores:
        """The scores with everything else forbidden.

        Parameters
        ----------
        scores : ChainScores
        classes : array of shape (K,)
            The labels.
        seen : array of shape (K + 1, K), optional
            How often labels followed each other in training, the last row at the start of a
            sequence. DataError where a grammar forbids most of that.
        """
        allowed = None
        if self.given is not None:
            tags = encode_tags(self.given, scores.offsets, classes, partial=True)
            allowed = tags.allowed
            if allowed is None:
                allowed = tags.codes[:, None] == np.arange(len(classes))
        rules = Grammar.free(len(classes))
        if self.grammar is not None:
            rules = grammar_of(self.grammar, classes.tolist())
            if seen is not None:
                _check_grammar(self.grammar, rules, classes, seen)
        if self.forbidden is not None:
            index = {label: number for number, label in enumerate(classes.tolist())}
            for pair in self.forbidden:
                for label in pair:
                    if label not in index:
                        raise DataError(
                            f"label {label!r} of the forbidden pair {pair!r} is not among the "
                            f"known labels {classes.tolist()}"
                        )
                rules.pairs[index[pair[0]], index[pair[1]]] = True
        return scores.restricted(
            allowed,
            rules.pairs if rules.pairs.any() else None,
            rules.start if rules.start.any() else None,
            rules.end if rules.end.any() else None,
        )


def _check_grammar(
    name: str, rules: Grammar, classes: npt.NDArray[Any], seen: npt.NDArray[np.int64]
) -> None:
    """Raise DataError where labels mostly stood, in training, where the grammar forbids them."""
    forbidden = np.vstack([rules.pairs, rules.start])
    lost = 2 * (seen * forbidden).sum(axis=0) > seen.sum(axis=0)
    if lost.any():
        raise DataError(
            f"the labels {classes[lost].tolist()} do not fit the encoding {name}: in most places "
            "where they stood in training it forbids them. Name the encoding of the training data"
        )
