"""Which parts of a data set a model is fed: found once, kept with the model, used ever after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data import AttributeSequences, Dataset, TokenColumn, TokenSequences, chunks, read
from separatrix.data.schema import Schema
from separatrix.data.tables.assembly import find_column, with_schema
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import see_through
from separatrix.validation import is_sparse

__all__ = ["Inputs"]


@dataclass(frozen=True)
class Inputs:
    r"""What of a data set goes into a model.

    Parameters
    ----------
    kind : {"table", "text", "matrix", "images", "sequences", "attributes", "pictures"}
        What `take` gives.
    columns : tuple of str
        Columns of the table; for "text" the column of the texts.
    texts : tuple of str
        Those of the columns that hold texts.
    target : str or None
        The column to predict, where it has a name.
    n_features : int or None
        Columns of a matrix, pixels of an image.
    left_out : tuple of (str, str)
        Columns that are not used, and why.
    schema : Schema or None
        What the columns hold, the target among them, and how it is written: another file is read
        so too.
    sets : bool
        Whether the target is a set of labels.
    n_columns : int or None
        Columns of a token of the training file, its label included.
    named : bool
        Whether files are known to have these columns; where a model was made in Python, whatever a
        file holds is input, except what looks like the labels.

    Examples
    --------
    >>> from separatrix.data import read
    >>> data = read(b"id,color,size,class\n1,red,1.5,a\n2,blue,2,b\n3,red,7,a\n")
    >>> inputs = Inputs.of(data)
    >>> inputs.kind, inputs.columns, inputs.left_out
    ('table', ('color', 'size'), (('id', 'counts the rows'),))
    >>> inputs.take(data)["size"].tolist()
    [1.5, 2.0, 7.0]
    """

    kind: str
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    target: str | None = None
    n_features: int | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    schema: Schema | None = None
    sets: bool = False
    n_columns: int | None = None
    named: bool = True

    @classmethod
    def of(cls, data: Dataset, drop: Sequence[str] = ()) -> Inputs:
        """The inputs that `data` offers, without the columns in `drop` and without useless ones."""
        target = data.target_name
        if drop and not isinstance(data.X, dict | TokenSequences):
            where = data.source or "the data"
            raise ParameterError(f"{where}: there is a {data.kind}, no table to drop columns from")
        if data.kind == "text":
            column = data.feature_names or ("text",)
            return cls("text", column, column, target, schema=data.schema, sets=data.multilabel)
        if data.kind == "images" and data.y is not None and np.ndim(data.y[0]) == 2:
            return cls("pictures")
        if data.kind in ("matrix", "images"):
            width = int(np.prod(data.X.shape[1:]))
            # Labels of images stand in a file of their own, not in a column.
            label = target if data.kind == "matrix" else None
            return cls(data.kind, target=label, n_features=width, sets=data.multilabel)
        if isinstance(data.X, AttributeSequences):
            return cls("attributes", target=target)
        if data.kind == "sequences":
            names = list(data.feature_names)
            dropped = [find_column(name, names, "drop") for name in drop]
            kept = tuple(name for name in names if name not in dropped)
            unused = tuple((name, "on request") for name in dropped)
            n_columns = len(names) + (target is not None)
            return cls("sequences", kept, target=target, left_out=unused, n_columns=n_columns)
        data = with_schema(data)
        schema = data.schema
        assert schema is not None
        for name in drop:
            found = find_column(name, list(data.X), "drop")
            schema = schema.replace(schema[found].left_out("on request"))
        left_out = dict(schema.left_out)
        columns = schema.inputs
        if not columns:
            raise DataError(
                f"{data.source or 'the data'}: no column is left to learn from: "
                + "; ".join(f"{name!r} {why}" for name, why in left_out.items())
            )
        texts = tuple(name for name in columns if name in schema.texts)
        kind = "text" if columns == texts and len(columns) == 1 else "table"
        used = schema.take([*columns, *schema.names_of("target")])
        return cls(kind, columns, texts, target, None, schema.left_out, used, sets=data.multilabel)

    def take(self, data: Dataset) -> Any:
        """What the model is fed of `data`.

        Returns
        -------
        dict of str to ndarray, ndarray of str, matrix of shape (n, d), or TokenSequences
            For tables, for texts, for matrices and images, and for sequences.
        """
        if self.kind == "pictures":
            if data.kind != "images":
                where = data.source or "the data"
                raise DataError(f"{where} holds a {data.kind}, the model was trained on images")
            return data.X
        if self.kind in ("sequences", "attributes"):
            return self._tokens(data)
        if self.kind in ("matrix", "images"):
            return self._matrix(data)
        if self.kind == "text" and not self.named:
            return _documents(data)
        if self.kind == "text" and data.kind == "text":
            return data.X
        if not isinstance(data.X, dict):
            # A table whose only column is a text arrives as a text.
            if data.kind == "text" and data.feature_names == self.columns:
                return {self.columns[0]: data.X}
            raise DataError(
                f"{data.source or 'the data'} holds a {data.kind}, the model was trained on a table"
            )
        self._check_columns(data)
        if self.kind == "text":
            return data.X[self.columns[0]]
        return {name: data.X[name] for name in self.columns}

    @property
    def takes_text(self) -> bool:
        """Whether a text alone is model input; of sequences, its words."""
        return self.kind in ("text", "sequences") or len(self.texts) == 1

    def of_text(self, text: str) -> Any:
        """Model input for a text; the other columns of a table are missing."""
        if self.kind == "text":
            return text
        if self.kind != "sequences":
            return {name: text if name in self.texts else None for name in self.columns}
        if len(self.columns) > 1:
            raise ParameterError(
                f"the model needs the columns {', '.join(map(repr, self.columns))} of every token: "
                f"give a CoNLL file ({text!r} is none)"
            )
        if not text.split():
            raise ParameterError("there are no words to label")
        words = TokenColumn.of([text.split()])
        return TokenSequences({next(iter(self.columns), "word"): words}, words.offsets)

    def read(self, source: Any, *, target: bool = False, **options: Any) -> Dataset:
        """Read a file as the training file was read; `target` asks for the labels too."""
        return read(source, **self.options(target), **options)

    def chunks(
        self, source: Any, n: int, *, target: bool = False, **options: Any
    ) -> Iterator[Dataset]:
        """Read a file piece by piece, as the training file was read."""
        return chunks(source, n, **self.options(target), **options)

    def options(self, target: str | bool = False) -> dict[str, Any]:
        """Options of `separatrix.data.read` that give these inputs again.

        Parameters
        ----------
        target : str or bool
            Whether the labels are wanted too, and in which column if not in that of the training.
        """
        label = target if isinstance(target, str) else self.target or "auto"
        if self.kind == "sequences":
            # Where only words are needed, lines of text will do.
            few = self.columns if len(self.columns) == 1 else ()
            given: dict[str, Any] = {"words": next(iter(few), None), "token_columns": self.columns}
            return {"target": label if target else None, **given}
        if self.kind == "attributes":
            return {"target": label if target else None}
        several = {"multilabel": True} if self.sets else {}
        if self.kind in ("table", "text") and self.named:
            return {
                "columns": self.columns,
                "text": self.texts or None,
                "schema": self.schema,
                "target": label if target else None,
            }
        if self.kind == "matrix" and self.named:
            # Rows of another file may have one label each, or none.
            return {"n_features": self.n_features, **several}
        width = {"n_features": self.n_features} if self.kind == "matrix" else {}
        return {**width, **several, "columns": None, "text": "auto", "target": label}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a model file."""
        plain = {one.name: _plain(getattr(self, one.name)) for one in fields(self)}
        return plain | {"schema": None if self.schema is None else self.schema.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Inputs:
        """The inputs that `to_dict` described.

        Examples
        --------
        >>> Inputs.from_dict(Inputs("text", ("body",), ("body",)).to_dict()).columns
        ('body',)
        """
        known: dict[str, Any] = {
            one.name: tuple(found) if isinstance(found := values[one.name], list) else found
            for one in fields(cls)
            if one.name in values
        }
        known["left_out"] = tuple((str(n), str(why)) for n, why in known.get("left_out", ()))
        if known.get("schema") is not None:
            known["schema"] = Schema.from_dict(known["schema"])
        return cls(**known)

    @classmethod
    def of_model(cls, model: Any) -> Inputs:
        """The inputs of a model that was made in Python, as its first step declares them.

        Parameters
        ----------
        model : estimator
            A fitted learner, or a Pipeline that begins with what reads raw input.
        """
        first = _first_step(model)
        kind = getattr(first, "__sx_input__", None)
        if kind in ("sequences", "attributes", "pictures"):
            return cls(kind, named=False)
        if kind == "text":
            return cls("text", ("text",), ("text",), named=False)
        names = tuple(map(str, getattr(first, "feature_names_in_", ())))
        if kind == "table" or names:
            schema = getattr(first, "schema_", None)
            columns = names or (schema.names if schema is not None else ())
            texts = schema.texts if schema is not None else ()
            return cls("table", columns, texts, schema=schema, named=False)
        width = getattr(model, "n_features_in_", None)
        sets = getattr(see_through(model)[1], "form_", "") == "sets"
        return cls(
            "matrix", n_features=None if width is None else int(width), sets=sets, named=False
        )

    def _check_columns(self, data: Dataset) -> None:
        absent = [name for name in self.columns if name not in data.X]
        if absent:
            held = ", ".join(map(repr, list(data.X)[:8]))
            raise DataError(
                f"{data.source or 'the data'}: column {absent[0]!r}, which the model needs, is "
                f"missing; there are {held}"
            )

    def _tokens(self, data: Dataset) -> Any:
        """The token columns that the model needs, by name, or all in their order."""
        X, where = data.X, data.source or "the data"
        if data.kind != "sequences":
            raise DataError(f"{where} holds a {data.kind}, the model was trained on sequences")
        if not self.columns or not isinstance(X, TokenSequences):
            return X
        found = [name for name in self.columns if name in X.columns]
        named = len(found) == len(self.columns) and not all(map(str.isdecimal, X.names))
        if not named:
            # Columns that are known by their places only: those of the training file, its label
            # among them or not, or just those that are needed. What has more or fewer is no such
            # file, and may be a sentence with all its words in one line.
            few, all_ = len(self.columns), self.n_columns
            known = {few} if all_ is None else {few, all_ - 1, all_}
            if len(X.names) not in known or (len(found) < few and len(X.names) != few):
                needed = ", ".join(map(repr, self.columns))
                of = "" if all_ is None else f" of files with {all_}"
                raise DataError(
                    f"{where}: the model needs the columns {needed}{of} of every token, one token "
                    f"a line; there are {len(X.names)} columns"
                )
            if len(found) < few:
                found = list(X.names)
        columns = dict(zip(self.columns, (X.columns[name] for name in found), strict=True))
        return TokenSequences(columns, X.offsets)

    def _matrix(self, data: Dataset) -> Any:
        X = data.X
        if isinstance(X, dict):
            return _stack(data)
        if not hasattr(X, "shape"):
            raise DataError(f"{data.source or 'the data'} holds {data.kind}, no matrix of numbers")
        if not is_sparse(X):
            flat = np.asarray(X).reshape(len(X), -1)
            if self.n_features not in (None, flat.shape[1]):
                raise DataError(
                    f"{data.source or 'the data'}: rows have {flat.shape[1]} features, the model "
                    f"was trained on {self.n_features}"
                )
            return flat
        if self.n_features is not None and X.shape[1] != self.n_features:
            # Trailing columns that no row uses are not written to sparse files; columns that
            # training did not have can have no weight.
            X = sp.csr_array(X[:, : self.n_features])
            shape = (X.shape[0], self.n_features)
            X = sp.csr_array((X.data, X.indices, X.indptr), shape=shape)
        return X


def _documents(data: Dataset) -> Any:
    """The texts of a table whose column has no known name: its only one of texts, or of words."""
    if isinstance(data.X, dict) and len(data.text_names) != 1:
        words = [name for name, values in data.X.items() if _holds_words(values)]
        if len(words) == 1:
            return data.X[words[0]]
    return data.documents


def _plain(value: Any) -> Any:
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _first_step(model: Any) -> Any:
    """What meets raw rows first, within pipelines and unions of features."""
    while True:
        if hasattr(model, "__sx_input__"):
            return model
        if hasattr(model, "steps"):
            model = next(step for _, step in model.steps if step not in (None, "passthrough"))
        elif hasattr(model, "transformer_list"):
            model = model.transformer_list[0][1]
        else:
            inner = getattr(model, "estimator_", None)
            if inner is None:
                return model
            model = inner


def _holds_words(values: Any) -> bool:
    """Whether all values of a column are strings, or missing."""
    is_object = isinstance(values, np.ndarray) and values.dtype.kind in "OU"
    return is_object and all(value is None or isinstance(value, str) for value in values)


def _stack(data: Dataset) -> npt.NDArray[np.float64]:
    """A table of numbers as a matrix, its columns in their order."""
    for name, values in data.X.items():
        if values.dtype.kind not in "fiub":
            raise DataError(
                f"{data.source or 'the data'}: column {name!r} holds no numbers, which the model "
                "was trained on"
            )
    return np.column_stack([values.astype(np.float64) for values in data.X.values()])
