"""Which models of the columns naive Bayes is tried with, and its settings under each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.tasks.rows import Rows
from separatrix.validation import is_sparse

__all__ = ["Counted", "event_models"]


class Counted(NamedTuple):
    """A setting of naive Bayes.

    Attributes
    ----------
    events : str
        The model of the columns, a key of `event_models`; empty where there is one only.
    smoothing : float or None
        Laplace's k; None where every column is Gaussian.
    var_smoothing : float or None
        None where no column is Gaussian.
    """

    events: str
    smoothing: float | None
    var_smoothing: float | None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that do something, by name."""
        named = {"smoothing": self.smoothing, "var_smoothing": self.var_smoothing}
        return {name: value for name, value in named.items() if value is not None}

    def __str__(self) -> str:
        words = [f"{name} = {value:g}" for name, value in self.parameters.items()]
        return ", ".join([self.events, *words] if self.events else words)


def event_models(rows: Rows) -> dict[str, Any]:
    """Models of the columns that are possible for these rows: name -> `features` of NaiveBayes.

    A table has one factor for each of its columns: numbers are Gaussian, flags Bernoulli, the flags
    of one category a bag of their own (which makes it a categorical variable), the words of one
    text a bag, or Bernoulli each. Of a matrix nothing is known but its values: without negative
    ones they may be counts, or on and off.

    Examples
    --------
    >>> list(event_models(Rows(np.array([[0.0, 2.5], [3.0, 1.0]]), None)))
    ['gaussian', 'multinomial', 'bernoulli']
    >>> list(event_models(Rows(np.array([[0.0, -2.5], [3.0, 1.0]]), None)))
    ['']
    """
    if rows.kinds is not None:
        plain = [_factor(source, kind) for source, kind in rows.kinds]
        if not any(kind == "token" for _, kind in rows.kinds):
            return {"": plain}
        on_or_off = [
            "bernoulli" if kind == "token" else factor
            for factor, (_, kind) in zip(plain, rows.kinds, strict=True)
        ]
        return {"multinomial texts": plain, "bernoulli texts": on_or_off}
    X = rows.X
    values = X.data if is_sparse(X) else X
    lowest = np.fmin.reduce(values, axis=None) if values.size else 0.0
    if lowest < 0:
        return {"": "auto"}
    if is_sparse(X):
        return {name: name for name in ("multinomial", "bernoulli")}
    if np.isin(values, (0, 1)).all():
        return {name: name for name in ("bernoulli", "multinomial")}
    flags = np.atleast_1d(np.isin(X, (0, 1)).all(axis=0))
    measured = ["bernoulli" if flag else "gaussian" for flag in flags]
    found = {"gaussian": measured, "multinomial": "multinomial"}
    return found | ({"bernoulli": "bernoulli"} if lowest == 0 else {})


def _factor(source: str, kind: str) -> str:
    if kind in ("category", "token"):
        return f"multinomial:{source}"
    return {"number": "gaussian", "flag": "bernoulli"}[kind]
