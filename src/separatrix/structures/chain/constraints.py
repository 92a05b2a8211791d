"""What labels of sequences must obey: grammars of chunk encodings, and what is known beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError
from separatrix.structures.chain.inference import ChainScores
from separatrix.structures.coded_labels import encode_tags

__all__ = ["GRAMMARS", "Constraints", "Grammar", "grammar_of", "split_tag"]

#: Encodings of chunks by the prefixes of their labels.
GRAMMARS = ("BIO", "BIOES", "IOB1")


class Grammar(NamedTuple):
    """What is forbidden.

    Attributes
    ----------
    pairs : bool array of shape (K, K)
        (label before, label) that may not follow each other.
    start, end : bool arrays of shape (K,)
        Labels that may not begin, or end, a sequence.
    """

    pairs: npt.NDArray[np.bool_]
    start: npt.NDArray[np.bool_]
    end: npt.NDArray[np.bool_]

    @classmethod
    def free(cls, n_labels: int) -> Grammar:
        """Nothing is forbidden."""
        nothing = np.zeros(n_labels, dtype=bool)
        return cls(np.zeros((n_labels, n_labels), dtype=bool), nothing, nothing.copy())


def split_tag(tag: Any) -> tuple[str, str]:
    """The prefix and the type of a label: ``B-NP`` is ("B", "NP"), ``O`` is ("O", "").

    Examples
    --------
    >>> split_tag("I-PER"), split_tag("O"), split_tag("B")
    (('I', 'PER'), ('O', ''), ('B', ''))
    """
    prefix, _, kind = str(tag).partition("-")
    return prefix, kind


def _follows(encoding: str, before: tuple[str, str] | None, after: tuple[str, str] | None) -> bool:
    """Whether `after` may follow `before`; None stands for the ends of a sequence."""
    old, old_kind = before or ("O", "")
    new, new_kind = after or ("O", "")
    same = old_kind == new_kind
    if encoding == "BIO":
        return new != "I" or (old in ("B", "I") and same)
    if encoding == "IOB1":
        return new != "B" or (old in ("B", "I") and same)
    if old in ("B", "I"):
        return new in ("I", "E") and same
    return new not in ("I", "E")


def _check_chunks(encoding: str, labels: list[Any], tags: list[tuple[str, str]]) -> None:
    """Raise DataError where the labels are those of another encoding.

    In BIO a chunk can only begin with the B of its type, in BIOES it can only end with its E, in
    IOB1 it can only begin with its I. Without them labels would never be predicted.
    """
    needed = {"BIO": "B", "BIOES": "E", "IOB1": "I"}[encoding]
    known = set(tags)
    lost = [
        label
        for label, (prefix, kind) in zip(labels, tags, strict=True)
        if prefix in ("B", "I") and (needed, kind) not in known
    ]
    if lost:
        raise DataError(
            f"the labels {lost} do not fit the encoding {encoding}: no {needed} of their type is "
            f"among the labels {labels}, so that they could never be predicted"
        )


def grammar_of(encoding: str, labels: Iterable[Any]) -> Grammar:
    """What `encoding` forbids among the labels.

    Parameters
    ----------
    encoding : {"BIO", "BIOES", "IOB1"}
        BIO (also called IOB2): a chunk begins with B and goes on with I. BIOES: it also ends with
        E, and a chunk of one token is S. IOB1: it is all I, with B only where one of the same type
        stands directly before it.
    labels : iterable of length K
        Labels such as ``B-NP``, ``I-NP``, ``O``.

    Examples
    --------
    >>> grammar_of("BIO", ["B-X", "I-X", "O"]).pairs[2].tolist()
    [False, True, False]
    """
    if encoding not in GRAMMARS:
        raise ParameterError(f"grammar must be one of {GRAMMARS}, got {encoding!r}")
    labels = list(labels)
    tags = [split_tag(label) for label in labels]
    prefixes = {"BIO": "BIO", "IOB1": "BIO", "BIOES": "BIOES"}[encoding]
    for label, (prefix, _) in zip(labels, tags, strict=True):
        if prefix not in tuple(prefixes):
            raise DataError(f"label {label!r} is not one of the encoding {encoding}")
    _check_chunks(encoding, labels, tags)
    pairs = [[not _follows(encoding, old, new) for new in tags] for old in tags]
    return Grammar(
        np.array(pairs, dtype=bool).reshape(len(tags), len(tags)),
        np.array([not _follows(encoding, None, new) for new in tags], dtype=bool),
        np.array([not _follows(encoding, old, None) for old in tags], dtype=bool),
    )


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
