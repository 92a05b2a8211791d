"""How commands speak of what a model predicts: one form for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separatrix.cli.forms.base import Form

if TYPE_CHECKING:
    from separatrix.cli.model import SavedModel

__all__ = ["Form", "form_of"]


def form_of(saved: SavedModel) -> Form:
    """The form that suits a model; only its module is imported."""
    from sklearn.base import is_regressor

    if saved.inputs.kind == "sequences":
        from separatrix.cli.forms.sequences import SequenceForm

        return SequenceForm(saved)
    if _predicts_sets(saved):
        from separatrix.cli.forms.label_sets import LabelSetForm

        return LabelSetForm(saved)
    if is_regressor(saved.estimator):
        from separatrix.cli.forms.quantities import QuantityForm

        return QuantityForm(saved)
    from separatrix.cli.forms.classes import ClassForm

    return ClassForm(saved)


def _predicts_sets(saved: SavedModel) -> bool:
    from separatrix.cli.forms.base import last_step

    return type(last_step(saved.estimator)).__name__ in ("FrequentLabels", "MultiLabel")
