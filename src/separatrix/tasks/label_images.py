"""A label for every pixel of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, LabelSets, TokenColumn
from separatrix.errors import DataError, ParameterError
from separatrix.metrics import Metric, confusion_matrix, per_class_report, ratio_of_means
from separatrix.report import parts as shown
from separatrix.report.parts import Finding, Part, Profile
from separatrix.tasks.classes import score_classes
from separatrix.tasks.findings import duplicates
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.rows import Rows
from separatrix.tasks.task import Champion, Fitted, Options, Scores, Task, TestRows

__all__ = ["LabelImages"]

Floats = npt.NDArray[np.float64]


def _pixels(predictions: Any, y: Any) -> Floats:
    """Right pixels, and pixels, of every image."""
    pairs = zip(predictions, y, strict=True)
    return np.array([[np.sum(a == b), b.size] for a, b in pairs], dtype=np.float64)


def _overlap(predictions: Any, y: Any) -> float:
    """Mean over the labels of |intersection| / |union|."""
    found, truth = _flat(predictions), _flat(y)
    shares = []
    for label in np.unique(truth):
        a, b = found == label, truth == label
        shares.append(np.sum(a & b) / np.sum(a | b))
    return float(np.mean(shares))


class LabelImages(Task):
    """A label for every pixel of an image."""

    kind = "label_images"
    names = ("label_images",)
    title = "a segmentation of images"
    holds = "label images"
    predicts = "a label per pixel"
    units = "images"
    counted = "pixels"
    evenly = ""
    metrics: ClassVar[dict[str, Metric]] = {
        "pixel_accuracy": Metric(
            "pixel_accuracy", "pixel accuracy", judge=_pixels, finish=ratio_of_means, percent=True
        ),
        "mean_overlap": Metric(
            "mean_overlap", "mean intersection by union of the labels", whole=_overlap, percent=True
        ),
    }

    # -- the target ------------------------------------------------------------------------------

    @classmethod
    def recognize(cls, data: Dataset, wanted: str) -> Self | None:
        """An array of labels, as high and wide as its image, for every row."""
        if isinstance(data.y, LabelSets | TokenColumn) or np.ndim(data.y[0]) != 2:
            return None
        labels = np.unique(_flat(data.y))
        for row, (image, label) in enumerate(zip(data.X, data.y, strict=True)):
            if np.shape(image)[:2] != np.shape(label):
                raise DataError(
                    f"{data.source or 'the data'}: image {row} has shape {np.shape(image)[:2]}, "
                    f"its label image {np.shape(label)}"
                )
        if len(labels) < 2:
            raise DataError(
                f"{data.source or 'the data'}: all pixels have the label {labels.tolist()[0]!r}; "
                "there is nothing to tell apart"
            )
        return cls("label_images", f"the target holds {len(labels)} labels of pixels")

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"segmentation of images with {n_labels} labels"

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The labels of pixels."""
        return np.unique(_flat(y))

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """All images are alike."""
        return np.zeros(len(y), dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Every image needs its labels; train images must have them all."""
        labels = (set(np.unique(_flat(one.y)).tolist()) for one in (found, train))
        unknown = sorted(next(labels) - next(labels), key=str)
        if unknown:
            raise DataError(
                f"{found.source or 'the data'}: label {unknown[0]!r} is in the {part} images, but "
                f"not in the train images ({rule}); leave it out, or split in another way"
            )
        return ()

    # -- the experiment --------------------------------------------------------------------------

    def others(self, y: Any, predictions: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The other way to count what is right."""
        found = [one for name, one in self.metrics.items() if name != metric.name]
        return tuple((one.title, one(None, None, y, predictions)) for one in found)

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """How many pixels every label has."""
        labels, counts = np.unique(_flat(data.y), return_counts=True)
        pairs = sorted(zip(map(str, labels), map(int, counts), strict=True), key=lambda c: -c[1])
        return Profile(len(data), (), tuple(pairs), counted="pixels")

    def findings(
        self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """Images that stand in two splits."""
        found = duplicates(train, held_out, test, self.units, "Remove duplicates.")
        return found, ("images that stand in two splits",)

    def parts(
        self, champion: Champion, inputs: Inputs, test: Dataset, prepared: TestRows,
        predictions: Any, cost: Floats | None,
    ) -> tuple[Part, ...]:  # fmt: skip
        """Confusion and scores of the labels."""
        truth, found = _flat(test.y), _flat(predictions)
        names = np.unique(np.concatenate([truth, found]))
        counts = confusion_matrix(truth, found, labels=names)
        return (
            shown.Confusion(tuple(map(str, names.tolist())), counts, units="pixels"),
            shown.PerClass.of(per_class_report(truth, found), "pixels"),
        )

    # -- predictions -----------------------------------------------------------------------------

    def offers(self, model: Fitted) -> dict[str, str]:
        """Probabilities of the labels of every pixel."""
        how = getattr(model.learner, "learner", "crf")
        none = "" if how == "crf" else f"a {how} has no probabilities; a crf has"
        pixels = "is not for labels of pixels"
        return {
            "probabilities": none, "top": pixels, "cost": pixels, "reject": pixels,
            "explain": "labels of pixels are not explained; ask for probabilities",
            "level": pixels,
        }  # fmt: skip

    def predict(self, model: Fitted, X: Any, options: Sequence[Options]) -> Any:
        """Labels of all pixels, and probabilities where they are wanted."""
        needed = any(one.probabilities for one in options)
        return model.estimator.predict(X), model.estimator.predict_proba(X) if needed else None

    def answers(
        self, model: Fitted, found: Any, rows: slice, options: Options
    ) -> list[dict[str, Any]]:
        """Lines of labels, and of probabilities."""
        images, chances = found
        answers: list[dict[str, Any]] = [{"image": one.tolist()} for one in images[rows]]
        if options.probabilities:
            for answer, one in zip(answers, chances[rows], strict=True):
                answer["probabilities"] = one.tolist()
        return answers

    def columns(self, model: Fitted, found: Any, rows: slice, options: Options) -> dict[str, Any]:
        """Lines of labels."""
        return {"image": [one.tolist() for one in found[0][rows]]}

    def table(
        self, model: Fitted, found: Any, data: Dataset, options: Options, before: int
    ) -> dict[str, Any]:
        """One row per pixel, behind the number of its image and its place there."""
        images, chances = found
        names = [f"P({label})" for label in model.learner.classes_.tolist()] if chances else []
        rows = []
        for at, image in enumerate(images):
            own = None if chances is None else chances[at].tolist()
            for i, line in enumerate(image.tolist()):
                for j, label in enumerate(line):
                    more = () if own is None else own[i][j]
                    rows.append((before + at + 1, i + 1, j + 1, label, *more))
        headings = ("image", "row", "column", "prediction", *names)
        return dict(zip(headings, zip(*rows, strict=True), strict=True))

    # -- scores ----------------------------------------------------------------------------------

    def piece(self, model: Fitted, X: Any, data: Dataset) -> Any:
        """Labels of pixels, true and predicted."""
        if np.ndim(data.y[0]) != 2:
            raise DataError(f"{data.source}: there are no label images")
        return _flat(data.y), _flat(model.estimator.predict(X))

    def scores(self, model: Fitted, pieces: Sequence[Any]) -> Scores:
        """As those of classes, over all pixels."""
        truth, predictions = (np.concatenate(side) for side in zip(*pieces, strict=True))
        return score_classes(truth, predictions, None, model.learner.classes_)

    def explain(self, model: Fitted, x: Any, top: int | None, every: bool = False) -> Any:
        """There is no sum of few terms behind a pixel."""
        raise ParameterError(self.offers(model)["explain"])


def _flat(images: Any) -> npt.NDArray[Any]:
    """Labels of the pixels of all images."""
    return np.concatenate([np.asarray(one).ravel() for one in images])
