"""Features of labels: identity, words, characters of the name, and the path in a hierarchy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import DataError, ParameterError

__all__ = ["KINDS", "LabelFeatures", "kinds_of", "with_further"]

KINDS = ("identity", "words", "characters", "path")
_WORD = re.compile(r"[^\W_]+")
_SHORTEST, _LONGEST = 3, 5


def kinds_of(y_features: Any) -> tuple[str, ...]:
    """The kinds that `y_features` names: one, or several in a tuple or list.

    Examples
    --------
    >>> kinds_of("words")
    ('words',)
    """
    kinds = (y_features,) if isinstance(y_features, str) else tuple(y_features)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ParameterError(f"y_features must be among {KINDS}, got {y_features!r}")
    return kinds


def _words(name: str) -> Iterator[str]:
    return (f"w={word}" for word in _WORD.findall(name.lower()))


def _characters(name: str) -> Iterator[str]:
    for word in _WORD.findall(name.lower()):
        text = f"<{word}>"
        for n in range(_SHORTEST, _LONGEST + 1):
            yield from (f"c={text[i : i + n]}" for i in range(len(text) - n + 1))


@dataclass(frozen=True)
class LabelFeatures:
    """Columns of label features, fixed by the labels known when fitting.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of features.
    columns : dict of str to int
        Number of each feature.
    """

    kinds: tuple[str, ...]
    columns: dict[str, int]

    @classmethod
    def of(
        cls,
        y_features: Any,
        labels: Sequence[Any],
        names: Mapping[Any, str] | None,
        paths: Mapping[Any, Iterable[str]] | None,
    ) -> LabelFeatures:
        """Number the features of `labels`, in the order in which they come."""
        kinds = kinds_of(y_features)
        columns: dict[str, int] = {}
        for label in labels:
            for feature in _features(kinds, label, names, paths):
                columns.setdefault(feature, len(columns))
        return cls(kinds, columns)

    def matrix(
        self,
        labels: Sequence[Any],
        names: Mapping[Any, str] | None = None,
        paths: Mapping[Any, Iterable[str]] | None = None,
    ) -> sp.csr_array:
        """phi of the labels, rows of length one; features that were not numbered are left out.

        Raises
        ------
        DataError
            A label has no feature: nothing could tell it from others.
        """
        starts, places = [0], list[int]()
        for label in labels:
            found = {self.columns.get(f, -1) for f in _features(self.kinds, label, names, paths)}
            row = sorted(found - {-1})
            if not row:
                raise DataError(
                    f"label {label!r} has no features of the kinds {self.kinds} that fitting knew; "
                    "give it a name or a path that shares something with other labels"
                )
            places += row
            starts.append(len(places))
        lengths = np.diff(starts)
        values = np.repeat(1.0 / np.sqrt(lengths), lengths).astype(np.float32)
        indices: npt.NDArray[np.int32] = np.array(places, dtype=np.int32)
        shape = (len(labels), len(self.columns))
        return sp.csr_array((values, indices, np.array(starts, dtype=np.int32)), shape=shape)


def _features(
    kinds: tuple[str, ...],
    label: Any,
    names: Mapping[Any, str] | None,
    paths: Mapping[Any, Iterable[str]] | None,
) -> Iterator[str]:
    name = str(label) if names is None else names.get(label)
    if name is None:
        raise DataError(f"label {label!r} has no name in `names`")
    for kind in kinds:
        if kind == "identity":
            yield f"i={label}"
        elif kind == "words":
            yield from _words(name)
        elif kind == "characters":
            yield from _characters(name)
        else:
            if paths is None or label not in paths:
                raise DataError(f"label {label!r} has no path in `paths`")
            yield from (f"p={node}" for node in paths[label])


def with_further(classes: npt.NDArray[Any], labels: Any) -> npt.NDArray[Any]:
    """Classes followed by further labels; DataError names one that comes twice."""
    if labels is None:
        return classes
    further = np.asarray(labels)
    if further.ndim != 1:
        raise DataError(f"labels must be a vector, got shape {further.shape}")
    numbers = [part.dtype.kind in "iufb" for part in (classes, further)]
    if len(further) and numbers[0] != numbers[1]:
        raise DataError(f"label {further[0]!r} is of another type than label {classes[0]!r}")
    joined = np.concatenate([classes, further])
    known: set[Any] = set()
    for label in joined.tolist():
        if label in known:
            raise DataError(f"label {label!r} is named twice; each label must be named once")
        known.add(label)
    return joined
