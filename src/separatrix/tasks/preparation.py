"""From what a file holds to the matrix that the learners see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from separatrix.errors import ParameterError
from separatrix.features import (
    MessageText,
    RadialBasis,
    SpamFeatures,
    TableEncoder,
    TextVectorizer,
)
from separatrix.registry import Learner
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.rows import Rows

__all__ = ["PREPARATIONS", "Preparation", "Prepared"]

#: Widest table that is kept as a dense matrix.
_DENSE = 256
#: Texts from which on sequences of words or characters that only one of them has are left out.
_TEXTS = 1000
#: What the terms of an analyzer are called.
_TERMS = {"word": "words", "char_wb": "characters"}
#: Most bins of a number with this many rows or more, and with fewer.
_BINS, _MANY, _FEW = 32, 5000, 16
#: Centers of radial functions.
_CENTERS = 500


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
    """Texts become tf-idf weights of words or characters, in single precision.

    Attributes
    ----------
    inputs : Inputs
    words, characters : (int, int) or None
        Least and largest number of words, or of characters inside words, in a term.
    lowercase : bool
        Whether case is folded.
    log_ratio : bool
        Whether terms are weighted by the log-count ratio of two classes (NBSVM).
    asked : tuple of str
        Which of these were requested, and are not to be searched.
    """

    inputs: Inputs
    words: tuple[int, int] | None = (1, 1)
    characters: tuple[int, int] | None = None
    lowercase: bool = True
    log_ratio: bool = False
    asked: tuple[str, ...] = ()

    @classmethod
    def with_terms(cls, plain: Preparation, **asked: Any) -> Preparation:
        """The plain preparation with the `words` and `characters` that were requested."""
        if not asked:
            return plain
        if not isinstance(plain, cls):
            raise ParameterError(
                "ngrams and characters are for texts, and the model is fed "
                f"{plain.inputs.kind}; name a column of texts (--text), drop the others"
            )
        found = replace(plain, **asked, asked=tuple(asked))
        if found.words is None and found.characters is None:
            raise ParameterError("without words and without characters no terms are left")
        return found

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A fitted vectorizer, or a union of one for words and one for characters."""
        made = self.vectorizers(len(X), n_jobs)
        if len(made) == 1:
            return made[0][1].fit(X, y)
        return FeatureUnion(made).fit(X, y)

    def vectorizers(self, n_texts: int, n_jobs: int | None = None) -> list[tuple[str, Any]]:
        """One for words, one for characters, as wanted for so many texts."""
        made = []
        for analyzer, lengths in (("word", self.words), ("char_wb", self.characters)):
            if lengths is None:
                continue
            # Sequences that occur once tell nothing of other texts, and are most of the columns.
            rare = 2 if lengths[1] > 1 and n_texts >= _TEXTS else 1
            vectorizer = TextVectorizer(
                analyzer, lengths, lowercase=self.lowercase, min_df=rare, sublinear_tf=True,
                nb_log_ratio=self.log_ratio, dtype="float32", n_jobs=n_jobs,
            )  # fmt: skip
            made.append((_TERMS[analyzer], vectorizer))
        return made

    @property
    def name(self) -> str:
        """The terms in a few words."""
        parts = []
        if self.words is not None:
            parts.append("words" if self.words == (1, 1) else f"{_range(self.words)} words")
        if self.characters is not None:
            parts.append(f"{_range(self.characters)} characters")
        told = " and ".join(parts)
        told += "" if self.lowercase else ", case kept"
        return told + (", log-count ratio" if self.log_ratio else "")

    def describe(self) -> str:
        """What it does, in words."""
        return f"Texts become tf-idf weights of their {self.name}."


def _range(lengths: tuple[int, int]) -> str:
    low, high = lengths
    return str(low) if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Mails:
    """Mails become tf-idf weights of their words, beside signs of spam in text and headers."""

    inputs: Inputs

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A fitted union of both."""
        words = TextVectorizer(sublinear_tf=True, dtype="float32", n_jobs=n_jobs)
        parts = [
            ("words", make_pipeline(MessageText(), words)),
            ("signs", SpamFeatures(sparse_output=True)),
        ]
        return FeatureUnion(parts).fit(X, y)

    def describe(self) -> str:
        """What it does, in words."""
        return (
            "Mails become tf-idf weights of their words, and signs of spam: amounts, capitals, "
            "links, senders, and how many others got the same text."
        )


def _texts(inputs: Inputs) -> Preparation:
    """The preparation of texts; those of mails are marked by the form of their column."""
    mails = inputs.schema is not None and any(c.form == "mail" for c in inputs.schema)
    return Mails(inputs) if mails else Texts(inputs)


@dataclass(frozen=True)
class Tables:
    """Tables are encoded column by column.

    Attributes
    ----------
    inputs : Inputs
    numbers : {"standard", "robust", "splines", "bins", "both"}
        How `TableEncoder` encodes numbers.
    pairs : tuple of (str, str)
        Pairs of columns with a column for each of their combinations.
    gamma : float or None
        Radial functions of the encoded columns instead of these.
    target : {"classes", "quantities"}
        What bins are cut by.
    """

    inputs: Inputs
    numbers: str = "standard"
    pairs: tuple[tuple[str, str], ...] = ()
    gamma: float | None = None
    target: str = "classes"

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """A fitted encoder, radial functions behind it where they are wanted."""
        encoder = TableEncoder(
            self.inputs.schema,
            numbers=self.numbers,
            bin_options={"target": self.target, "max_bins": _BINS if len(y) >= _MANY else _FEW},
            pairs=self.pairs,
            text_options={"sublinear_tf": True},
        )
        encoder.fit(X, y)
        # Of bins and cells nearly all are zero.
        full = self.numbers in ("standard", "robust") and not self.pairs
        narrow = full and len(encoder.get_feature_names_out()) <= _DENSE
        encoder.set_params(sparse_output=not narrow)
        if self.gamma is None:
            return encoder
        radial = RadialBasis(
            "nystroem", centers="random", n_components=min(_CENTERS, max(1, len(y) // 3)),
            gamma=self.gamma, random_state=0, n_jobs=n_jobs,
        )  # fmt: skip
        radial.fit(encoder.transform(X))
        return make_pipeline(encoder, radial)

    def describe(self) -> str:
        """What it does, in words."""
        numbers = {
            "standard": "numbers standardized",
            "robust": "numbers transformed by arsinh and standardized",
            "splines": "numbers as lines that bend at their quantiles",
            "bins": "numbers cut into bins by the target",
            "both": "numbers by arsinh, standardized, and cut into bins by the target",
        }[self.numbers]
        pairs = ", ".join(f"{a} & {b}" for a, b in self.pairs)
        return (
            f"Columns are encoded: {numbers}, categories one column each, missing values marked"
            + (f"; pairs {pairs} have a column for each combination" if pairs else "")
            + ("; then radial functions of all columns" if self.gamma is not None else "")
            + "."
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
    "text": _texts,
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
    plain : Prepared or None
        The rows with plain features, for learners that need those, where others were chosen.
    """

    raw: Rows
    rows: Rows
    preparation: Any
    plain: Prepared | None = None

    @classmethod
    def of(cls, raw: Rows, preparation: Any, plain: Any = None) -> Prepared:
        """Prepare rows, in the chosen way and, where it is another, in the plain one."""
        other = None if plain is None else cls.of(raw, plain)
        if preparation is None:
            return cls(raw, raw, None, other)
        known = getattr(preparation, "feature_kinds", None)
        kinds = None if known is None else tuple(known())
        rows = Rows(preparation.transform(raw.X), raw.y, kinds)
        return cls(raw, rows, preparation, other)

    @classmethod
    def fold(
        cls, rows: Sequence[Rows], ways: Sequence[Preparation], n_jobs: int | None = None
    ) -> tuple[Prepared, Prepared]:
        """Train and held-out rows of a fold, with the features that its train rows teach."""
        train, held_out = rows
        made = [way.fit(train.X, train.y, n_jobs) for way in ways]
        return cls.of(train, *made), cls.of(held_out, *made)

    @property
    def n_features(self) -> int:
        """Columns that the learners see; of sequences, attributes of their tokens."""
        matrix = getattr(self.rows.X, "matrix", self.rows.X)
        return int(matrix.shape[1]) if len(getattr(matrix, "shape", ())) == 2 else 0

    def as_taken_by(self, learner: Learner) -> Prepared:
        """The rows with the features that `learner` takes."""
        return self.plain if learner.plain and self.plain is not None else self

    def for_learner(self, learner: Learner) -> Rows:
        """The rows that `learner` takes."""
        return self.raw if learner.raw else self.as_taken_by(learner).rows

    def model(self, learner: Learner, estimator: Any) -> Any:
        """A fitted estimator of `learner`, with what raw rows need before it."""
        before = self.as_taken_by(learner).preparation
        if learner.raw or before is None:
            return estimator
        steps = [step for _, step in before.steps] if hasattr(before, "steps") else [before]
        return make_pipeline(*steps, estimator)
