"""What an experiment asks of the kind of task it is about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.errors import ParameterError
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import Metric
from separatrix.experiment.preparation import PREPARATIONS, Preparation
from separatrix.experiment.rows import Rows
from separatrix.registry import Learner
from separatrix.report.parts import Findings, Part, Profile

if TYPE_CHECKING:
    from separatrix.experiment.testing import Finalist

__all__ = ["Family"]


class Family(ABC):
    """All that differs between classes, quantities and labels of sequences; chosen once by task.

    Attributes
    ----------
    title : str
        What the task is, in words with an article.
    units : str
        What a prediction is made for, in the plural.
    evenly : str
        What a random split keeps even, in words; empty if nothing.
    calibrates : bool
        Whether scores are made probabilities on held-out rows.
    """

    title: ClassVar[str]
    units: ClassVar[str] = "rows"
    evenly: ClassVar[str] = "stratified by the target"
    calibrates: ClassVar[bool] = False

    @abstractmethod
    def metric(self, name: str, y: Any, cost: npt.NDArray[np.float64] | None) -> Metric:
        """The metric called `name`, or the one that suits the target `y`."""

    def cost(self, source: Any, y: Any, reason: str) -> npt.NDArray[np.float64] | None:
        """The matrix of costs of decisions; None where none was given."""
        if source is None:
            return None
        raise ParameterError(f"costs are for classes, but this is {self.title}: {reason}")

    @abstractmethod
    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """For every row the number of the stratum that a random split parts evenly."""

    @abstractmethod
    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Complain now rather than after the search about rows that cannot be scored.

        Returns
        -------
        tuple of str
            What else should be known about them.
        """

    @abstractmethod
    def check_previous(self, model: Any, y: Any) -> None:
        """Complain about a previous model that does not do this task."""

    @abstractmethod
    def check_calibration(self, method: str, y: Any) -> None:
        """Complain about a calibration that cannot be done."""

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The labels, sorted; None where there are none."""
        return None

    def preparation(
        self,
        templates: Any,
        inputs: Inputs,
        train: Dataset,
        held_out: Dataset,
        metric: Metric,
        seconds: float,
    ) -> Preparation:
        """How raw rows become features; what is to be chosen is chosen by held-out score."""
        if not isinstance(templates, str) or templates != "auto":
            raise ParameterError(f"templates are for sequences, but this is {self.title}")
        return PREPARATIONS[inputs.kind](inputs)

    def suits(self, learner: Learner, y: Any) -> bool:
        """Whether a learner is tried without being asked for, as far as the target decides it."""
        return True

    def adapted(self, learner: Learner, metric: Metric) -> Learner:
        """A line of the registry with what it needs to know of the metric."""
        return learner

    def complete(self, some: Any, y: Any) -> bool:
        """Whether `some` of the targets `y` are enough to learn from."""
        return True

    @abstractmethod
    def describe(self, n_labels: int | None) -> str:
        """The task in words."""

    def others(self, y: Any, said: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """Further test scores that need nothing but the predictions."""
        return ()

    @abstractmethod
    def parts(
        self,
        champion: Finalist,
        inputs: Inputs,
        test: Dataset,
        said: Any,
        cost: npt.NDArray[np.float64] | None,
    ) -> tuple[Part, ...]:
        """Parts of the report about the champion's predictions for the test rows."""

    @abstractmethod
    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """The data, summed up."""

    @abstractmethod
    def findings(self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows) -> Findings:
        """What about the raw rows should make one suspicious."""
