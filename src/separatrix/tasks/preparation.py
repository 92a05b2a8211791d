"""From what a file holds to the matrix that the learners see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from separatrix.features import TableEncoder, TextVectorizer
from separatrix.registry import Learner
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.rows import Rows

__all__ = ["PREPARATIONS", "Preparation", "Prepared"]

#: Widest table that is kept as a dense matrix.
_DENSE = 256


class Preparation(Protocol):
    """How raw rows become features; `inputs` say which parts of the data it needs."""

    @property
    def inputs(self) -> Inputs:
        """What of a data set goes into the model."""
        ...

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A transformer, fitted on the rows to learn from."""
        ...

    def describe(self) -> str:
        """What it does, in words."""
        ...


@dataclass(frozen=True)
class Texts:
    """Texts become tf-idf weights of words, in single precision."""

    inputs: Inputs

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A fitted vectorizer."""
        return TextVectorizer(sublinear_tf=True, dtype="float32", n_jobs=n_jobs).fit(X, y)

    def describe(self) -> str:
        """What it does, in words."""
        return "Texts become tf-idf weights of their words."


@dataclass(frozen=True)
class Tables:
    """Tables are encoded column by column."""

    inputs: Inputs

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A fitted encoder."""
        encoder = TableEncoder(self.inputs.schema, text_options={"sublinear_tf": True}).fit(X, y)
        narrow = len(encoder.get_feature_names_out()) <= _DENSE
        return encoder.set_params(sparse_output=not narrow)

    def describe(self) -> str:
        """What it does, in words."""
        return (
            "Columns are encoded: numbers standardized, categories one column each, missing "
            "values marked."
        )


@dataclass(frozen=True)
class Matrices:
    """Matrices and images are divided by the largest absolute value of each column."""

    inputs: Inputs

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A fitted scaler."""
        return MaxAbsScaler().fit(X)

    def describe(self) -> str:
        """What it does, in words."""
        return "Features are divided by their largest absolute value on the train rows."


@dataclass(frozen=True)
class AsTheyAre:
    """Attributes of tokens, and pictures, which learners take themselves."""

    inputs: Inputs

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """Nothing stands before the learner."""
        return None

    def describe(self) -> str:
        """What it does, in words."""
        return "Learners take the rows as they are."


#: Kind of the inputs -> their preparation.
PREPARATIONS: dict[str, Callable[[Inputs], Preparation]] = {
    "text": Texts,
    "table": Tables,
    "matrix": Matrices,
    "images": Matrices,
    "attributes": AsTheyAre,
    "pictures": AsTheyAre,
}


@dataclass(frozen=True)
class Prepared:
    """Rows as they were read, and as the learners see them.

    Attributes
    ----------
    raw, rows : Rows
    preparation : transformer
        Fitted; makes the rows of the raw ones.
    """

    raw: Rows
    rows: Rows
    preparation: Any

    @classmethod
    def of(cls, raw: Rows, preparation: Any) -> Prepared:
        """Prepare rows."""
        if preparation is None:
            return cls(raw, raw, None)
        known = getattr(preparation, "feature_kinds", None)
        kinds = None if known is None else tuple(known())
        return cls(raw, Rows(preparation.transform(raw.X), raw.y, kinds), preparation)

    @property
    def n_features(self) -> int:
        """Columns that the learners see; of sequences, attributes of their tokens."""
        matrix = getattr(self.rows.X, "matrix", self.rows.X)
        return int(matrix.shape[1]) if len(getattr(matrix, "shape", ())) == 2 else 0

    def for_learner(self, learner: Learner) -> Rows:
        """The rows that `learner` takes."""
        return self.raw if learner.raw else self.rows

    def model(self, learner: Learner, estimator: Any) -> Any:
        """A fitted estimator of `learner`, with what raw rows need before it."""
        if learner.raw or self.preparation is None:
            return estimator
        return make_pipeline(self.preparation, estimator)
