"""Posteriors for ArviZ, where it is installed."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, MissingPackageError

__all__ = ["ArvizDraws", "draws_to_arviz"]


def draws_to_arviz(
    draws: Mapping[str, npt.ArrayLike],
    *,
    group: str = "posterior",
    coords: Mapping[str, Sequence[Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Hand draws over to ArviZ.

    Parameters
    ----------
    draws : mapping of str to array-like of shape (n_chains, n_draws, ...)
        Draws of each parameter, by name.
    group : str, default="posterior"
        The group they belong to.
    coords, dims : mapping, optional
        Labels and names of the further axes, as ArviZ takes them.

    Returns
    -------
    InferenceData (ArviZ 0.x) or DataTree (ArviZ 1.x)
        With the draws in `group`.

    Raises
    ------
    MissingPackageError
        Where ArviZ is not installed.
    """
    try:
        arviz = importlib.import_module("arviz")
    except ImportError as error:
        raise MissingPackageError(
            "to_arviz needs the package arviz; install it with: pip install 'separatrix[arviz]'"
        ) from error
    arrays = {name: np.asarray(values) for name, values in draws.items()}
    for name, values in arrays.items():
        if values.ndim < 2:
            raise DataError(
                f"draws of {name!r} need the axes (chain, draw, ...), got shape {values.shape}"
            )
    options = {"coords": dict(coords or {}), "dims": {k: list(v) for k, v in (dims or {}).items()}}
    # Version 1 takes {group: {name: draws}}, versions 0.x a keyword per group.
    if "posterior" in inspect.signature(arviz.from_dict).parameters:
        return arviz.from_dict(**{group: arrays}, **options)
    return arviz.from_dict({group: arrays}, **options)


class ArvizDraws:
    """Base of the estimators with a posterior of their weights."""

    n_features_in_: int
    fit_intercept: bool

    def sample_weights(self, n_draws: int = 1, random_state: Any = None) -> Any:
        """Draws of the weights, of each class where there are several; intercepts last."""
        raise NotImplementedError

    def to_arviz(self, n_draws: int = 4000, random_state: Any = None) -> Any:
        """Draws from the posterior for ArviZ, where it is installed.

        Parameters
        ----------
        n_draws : int, default=4000
            Number of draws, in one chain.
        random_state : int, RandomState or None, default=None
            Source of randomness.

        Returns
        -------
        InferenceData or DataTree
            With the variables "coef" (over "feature", and "class" of a classifier) and "intercept".
        """
        d, classes = self.n_features_in_, getattr(self, "classes_", None)
        draws = self.sample_weights(n_draws, random_state)[None]
        coords: dict[str, Any] = {"feature": list(getattr(self, "feature_names_in_", range(d)))}
        named, dims = {"coef": draws[..., :d]}, {"coef": ["feature"]}
        if self.fit_intercept:
            named["intercept"] = draws[..., d]
        if classes is not None:
            labels = classes[-draws.shape[2] :]  # one row of weights is that of the second class
            coords["class"] = [str(label) for label in labels]
            dims = {"coef": ["class", "feature"]}
            if self.fit_intercept:
                dims["intercept"] = ["class"]
        return draws_to_arviz(named, coords=coords, dims=dims)
