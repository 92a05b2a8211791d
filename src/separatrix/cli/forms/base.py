"""What the commands ask of a model of any kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from separatrix.cli.options import Format
from separatrix.cli.streaming import ROWS
from separatrix.cli.tables import Table

if TYPE_CHECKING:
    from separatrix.cli.model import SavedModel
    from separatrix.data import Dataset

__all__ = ["Form", "last_step"]


def last_step(estimator: Any) -> Any:
    """The learner behind pipelines and wrappers."""
    from separatrix.explanation import see_through

    return see_through(estimator)[1]


class Form(ABC):
    """How predictions of one kind are made, scored, explained and written.

    Parameters
    ----------
    saved : SavedModel
    """

    #: Terms that an explanation shows.
    terms: ClassVar[int] = 30

    def __init__(self, saved: SavedModel) -> None:
        self.saved = saved
        self.estimator = saved.estimator

    @abstractmethod
    def predictor(
        self, proba: bool, level: float
    ) -> tuple[Sequence[str], Callable[[Any, Dataset], list[Any]]]:
        """Headings, and a function from model input and data to rows under them."""

    def parts(
        self, headings: Sequence[str], blocks: Iterable[list[Any]], format: Format | None
    ) -> Iterator[str]:
        """The text of all predictions, piece by piece; CSV unless told otherwise."""
        rows = chain.from_iterable(blocks)
        return Table(headings, rows, block=ROWS).parts(format or Format.csv)

    @abstractmethod
    def piece(self, X: Any, data: Dataset, truth: Any) -> Any:
        """What `scores` needs of a piece of the rows."""

    @abstractmethod
    def scores(self, pieces: Sequence[Any]) -> Any:
        """Figures of all pieces together; they print themselves."""

    @property
    def takes_text(self) -> bool:
        """Whether a text alone is model input."""
        inputs = self.saved.inputs
        return inputs.kind == "text" or len(inputs.texts) == 1

    def text_row(self, text: str) -> Any:
        """Model input for a text; the other columns of a table are missing."""
        inputs = self.saved.inputs
        if inputs.kind == "text":
            return text
        return {name: text if name in inputs.texts else None for name in inputs.columns}

    def explain(self, x: Any, every: bool, top: int | None) -> Any:
        """The sum behind the prediction for one row; of `every` class, or of the best two."""
        from separatrix.explanation import explain

        inputs = self.saved.inputs
        # Names of the columns of a matrix, where the model file tells them.
        named = inputs.kind == "matrix" and inputs.columns
        return explain(
            self.estimator,
            x,
            classes="all" if every and self.saved.classes is not None else None,
            top=top,
            feature_names=list(inputs.columns) if named else None,
        )
