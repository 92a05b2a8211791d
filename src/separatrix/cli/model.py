"""A saved model with what its file tells of its input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.data import Dataset
    from separatrix.experiment.inputs import Inputs
    from separatrix.models import ModelInfo

__all__ = ["SavedModel", "naming_rows", "open_model"]


@dataclass(frozen=True)
class SavedModel:
    """A loaded model.

    Attributes
    ----------
    path : Path
    estimator : estimator
    info : ModelInfo
        What the header of the file says.
    inputs : Inputs
        What the model is fed.
    """

    path: Path
    estimator: Any
    info: ModelInfo
    inputs: Inputs

    @property
    def classes(self) -> Any:
        """The labels, shape (K,); None for a regression."""
        return getattr(self.estimator, "classes_", None)

    def options(self, *, target: str | bool = False) -> dict[str, Any]:
        """Options for reading a file as the training file was read.

        Parameters
        ----------
        target : str or bool
            Whether the labels are wanted too, and in which column if not in that of the training.
        """
        label = target if isinstance(target, str) else self.inputs.target or "auto"
        if self.inputs.kind == "sequences":
            # Where only words are needed, lines of text will do.
            few = self.inputs.columns if len(self.inputs.columns) == 1 else ()
            return {
                "target": label if target else None,
                "words": next(iter(few), None),
                "token_columns": self.inputs.columns,
            }
        if self.inputs.kind not in ("table", "text") or not self._told:
            # Whatever else the file holds is input; what looks like the labels is not.
            free = {"columns": None, "text": "auto", "schema": None, "target": label}
            return {**self.inputs.options(False), **free}
        given = self.inputs.options(bool(target))
        return given | {"target": target} if isinstance(target, str) else given

    def take(self, data: Dataset) -> Any:
        """What the model is fed of `data`."""
        if self.inputs.kind == "text" and not self._told:
            return data.documents
        return self.inputs.take(data)

    @property
    def _told(self) -> bool:
        """Whether the file tells the columns of its input."""
        return "input" in self.info.summary


def open_model(path: Path) -> SavedModel:
    """Load a model file; its checksum is compared where that is quick.

    Raises
    ------
    ModelFileError
        The file is damaged, or no model file.
    """
    with open(path, "rb"):  # a wrong name is told before everything is imported
        pass
    from separatrix.experiment.inputs import Inputs
    from separatrix.models import describe, load

    estimator, info = load(path), describe(path)
    return SavedModel(path, estimator, info, Inputs.for_model(estimator, info.summary))


@contextmanager
def naming_rows(source: str, first_row: int = 0) -> Iterator[None]:
    """Put the file's name, and row numbers of the whole file, into errors about a piece of it."""
    from separatrix.errors import DataError, FormatError, ParameterError

    try:
        yield
    except FormatError:
        raise
    except ParameterError as error:
        # That a column which the model needs is not there is the file's fault.
        told = re.sub(r"^(columns|text): ", "", str(error))
        if told == str(error):
            raise
        raise DataError(f"{source}: {told}; the model needs it") from error
    except ValueError as error:
        place = "" if str(error).startswith(source) else f"{source}: "
        message = re.sub(
            r"\brow (\d+)", lambda found: f"row {int(found[1]) + first_row}", str(error)
        )
        raise DataError(place + message) from error
