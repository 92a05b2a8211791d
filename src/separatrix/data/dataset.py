"""What reading a file gives: features or texts or sequences, the target, and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, overload

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data.schema import Schema
from separatrix.data.sequences.containers import AttributeSequences, TokenSequences
from separatrix.errors import DataError, MissingPackageError

__all__ = ["Dataset", "LabelSets", "Table"]

#: Name of a column -> its values. Numbers are float64 (NaN where missing) or int64, truth values
#: bool, strings object arrays of str (None where missing), dates datetime64, lengths of time
#: float64 in seconds, lists object arrays.
Table = dict[str, npt.NDArray[Any]]
Kind = Literal["table", "text", "matrix", "images", "sequences"]


@dataclass(frozen=True, eq=False)
class LabelSets(Sequence[tuple[Any, ...]]):
    """A set of labels per row; a sequence of tuples.

    Parameters
    ----------
    labels : array of shape (n_labels,)
        Labels of all rows, one row after another.
    offsets : int64 array of shape (n_rows + 1,)
        Where the labels of each row begin, and where those of the last end.
    known : sorted array, optional
        The labels that a row could have; those that occur by default.

    Examples
    --------
    >>> sets = LabelSets.of([("a", "b"), (), ("b",)])
    >>> sets[0], len(sets), sets.classes.tolist()
    (('a', 'b'), 3, ['a', 'b'])
    >>> sets.matrix().toarray().tolist()
    [[1, 1], [0, 0], [0, 1]]
    """

    labels: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    known: npt.NDArray[Any] | None = None

    @classmethod
    def of(cls, sets: Sequence[Sequence[Any]]) -> LabelSets:
        """The label sets that hold `sets`."""
        flat = [label for labels in sets for label in labels]
        values = np.array(flat) if flat else np.array([], dtype=np.float64)
        if values.dtype.kind not in "biuf" or values.ndim != 1:
            values = np.empty(len(flat), dtype=object)
            values[:] = flat
        lengths = [len(labels) for labels in sets]
        return cls(values, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The labels that are known, or those that occur, sorted."""
        return np.unique(self.labels) if self.known is None else self.known

    def matrix(self, classes: npt.NDArray[Any] | None = None) -> Any:
        """Which row has which label: a CSR array of 0 and 1, shape (n_rows, n_classes).

        Parameters
        ----------
        classes : sorted array, optional
            Labels of the columns (of the training data, say); `classes` by default.
        """
        known = self.classes if classes is None else np.asarray(classes)
        columns = np.searchsorted(known, self.labels)
        present = np.minimum(columns, max(len(known) - 1, 0))
        unknown = (known[present] != self.labels) if len(known) else np.ones(len(columns), bool)
        if unknown.any():
            raise DataError(f"label {self.labels[np.argmax(unknown)]!r} is not among the classes")
        ones = np.ones(len(columns), dtype=np.int8)
        matrix = sp.csr_array((ones, columns, self.offsets), shape=(len(self), len(known)))
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Any, ...]]: ...
    @overload
    def __getitem__(self, index: npt.NDArray[Any]) -> LabelSets: ...
    def __getitem__(self, index: int | slice | npt.NDArray[Any]) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if isinstance(index, np.ndarray):
            return self.take(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        index %= len(self)
        return tuple(self.labels[self.offsets[index] : self.offsets[index + 1]].tolist())

    def take(self, rows: npt.ArrayLike) -> LabelSets:
        """The label sets of some rows."""
        chosen = np.arange(len(self))[np.asarray(rows)]
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return LabelSets(self.labels[at], offsets, self.known)

    def joined(self, other: LabelSets) -> LabelSets:
        """These rows and the others behind them.

        Examples
        --------
        >>> list(LabelSets.of([("a",)]).joined(LabelSets.of([(), ("b",)])))
        [('a',), (), ('b',)]
        """
        labels = np.concatenate([self.labels, other.labels])
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        told = self.known is not None or other.known is not None
        known = np.union1d(self.classes, other.classes) if told else None
        return LabelSets(labels, offsets, known)


@dataclass(frozen=True, eq=False)
class Dataset:
    r"""What a file holds.

    Parameters
    ----------
    kind : {"table", "text", "matrix", "images", "sequences"}
        What `X` is.
    X : dict, array, sparse array or sequences
        - "table": a dict of column name to array of shape (n,);
        - "text": an object array of str, shape (n,);
        - "matrix": a CSR array of shape (n, d);
        - "images": an array of shape (n, …);
        - "sequences": a `TokenSequences` (CoNLL) or `AttributeSequences` (CRFsuite).
    y : array of shape (n,), LabelSets, TokenColumn or None
        The target: one value per row, a set of labels per row, or one label per token.
    feature_names : tuple of str
        Names of the columns of a table, of the texts, or of the token columns; empty where there
        are none.
    target_name : str or None
    text_names : tuple of str
        The columns that hold texts.
    sample_weight : float64 array of shape (n,) or None
        Weights of sequences, where the file gives them (CRFsuite).
    query : int64 array of shape (n,) or None
        Query of each row (svmlight's qid).
    source : str
        The file as it was given, for messages.
    format : str
        The format it was read as.
    schema : Schema or None
        Of a table: what its columns hold and are for, and why.

    Examples
    --------
    >>> import io
    >>> from separatrix.data import read
    >>> data = read(io.StringIO("width,color,class\n1.5,red,a\n2,blue,b\n"))
    >>> data.kind, data.feature_names, data.target_name
    ('table', ('width', 'color'), 'class')
    >>> data.X["width"].tolist(), data.y.tolist()
    ([1.5, 2.0], ['a', 'b'])
    """

    kind: Kind
    X: Any
    y: Any = None
    feature_names: tuple[str, ...] = ()
    target_name: str | None = None
    text_names: tuple[str, ...] = ()
    sample_weight: npt.NDArray[np.float64] | None = None
    query: npt.NDArray[np.int64] | None = None
    source: str = ""
    format: str = ""
    schema: Schema | None = None

    def __len__(self) -> int:
        if isinstance(self.X, dict):
            columns = [*self.X.values(), *([] if self.y is None else [self.y])]
            return len(columns[0]) if columns else 0
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    def take(self, rows: npt.ArrayLike | slice) -> Dataset:
        """Some of the rows, by number, by a mask or a slice; for splits.

        Examples
        --------
        >>> import numpy as np
        >>> Dataset("text", np.array(["a", "b"], dtype=object)).take([1]).X.tolist()
        ['b']
        """
        piece = rows if isinstance(rows, slice) else None
        chosen = np.arange(len(self))[np.asarray(rows) if piece is None else piece]

        def pick(part: Any) -> Any:
            if part is None:
                return None
            if isinstance(part, dict):
                return {name: pick(column) for name, column in part.items()}
            if isinstance(part, np.ndarray):
                # A slice is a view; `take` is three times as fast as an index.
                return part.take(chosen, axis=0) if piece is None else part[piece]
            return part.take(chosen) if hasattr(part, "offsets") else part[chosen]

        return replace(
            self,
            X=pick(self.X),
            y=pick(self.y),
            sample_weight=pick(self.sample_weight),
            query=pick(self.query),
        )

    @property
    def multilabel(self) -> bool:
        """Whether the target is a set of labels per row."""
        return isinstance(self.y, LabelSets)

    @property
    def documents(self) -> npt.NDArray[np.object_]:
        """The texts, shape (n,): of the only text column, whatever else the table holds."""
        if self.kind == "text":
            texts: npt.NDArray[np.object_] = self.X
            return texts
        if len(self.text_names) != 1:
            held = ", ".join(map(repr, self.text_names)) or "none"
            raise DataError(f"{self.source}: one text column is needed, there are: {held}")
        only: npt.NDArray[np.object_] = self.X[self.text_names[0]]
        return only

    def to_frame(self, backend: str | None = None) -> Any:
        """The table, target included, as a DataFrame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of them that is installed.
        """
        columns = self._columns()
        names: list[Any] = [backend] if backend else ["pandas", "polars", "pyarrow"]
        for name in names:
            try:
                return nw.from_dict(columns, backend=name).to_native()
            except ImportError:
                continue
        wanted = backend or "pandas, polars or pyarrow"
        raise MissingPackageError(f"to_frame needs {wanted}, which is not installed")

    def _columns(self) -> dict[str, Any]:
        if self.kind == "text":
            columns = {self.feature_names[0] if self.feature_names else "text": self.X}
        elif isinstance(self.X, dict):
            columns = dict(self.X)
        else:
            raise DataError(f"{self.source}: a {self.kind} is no table; to_frame needs columns")
        if self.y is not None:
            target = list(self.y) if isinstance(self.y, LabelSets) else self.y
            columns[self.target_name or "target"] = target
        return {name: _plain(values) for name, values in columns.items()}

    def _repr_html_(self) -> str:
        """The data set in a notebook: its size, and what its columns hold."""
        schema = "" if self.schema is None else self.schema._repr_html_()
        return f"<p><code>{escape(repr(self))}</code></p>{schema}"

    def __repr__(self) -> str:
        names = list(self.feature_names[:6]) + ["…"] * (len(self.feature_names) > 6)
        parts = [repr(self.kind), f"{len(self)} rows"]
        shape = getattr(self.X, "shape", None)
        if shape is not None:
            parts.append(f"shape {tuple(shape)}")
        if names and isinstance(self.X, dict | TokenSequences | AttributeSequences):
            parts.append(f"features {', '.join(names)}")
        if self.target_name is not None:
            parts.append(f"target {self.target_name}")
        return f"Dataset({', '.join(parts)})"


def _plain(values: Any) -> Any:
    """Object columns as lists, which every DataFrame library takes with None in them."""
    is_object = isinstance(values, np.ndarray) and values.dtype == object
    return values.tolist() if is_object else values
