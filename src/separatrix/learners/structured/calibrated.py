"""Probabilities for learners of chains that have none: their scores as those of a CRF."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from separatrix.errors import DataError
from separatrix.learners.structured.base import StructuredLearner
from separatrix.learners.structured.minimizing import CRF
from separatrix.structures.coded_labels import encode_tags

__all__ = ["as_crf", "calibration_factor"]

#: Least and largest factor of scores, as logarithms, and how exactly the best is found.
_RANGE, _EXACT = (-9.0, 5.0), 1e-2
#: Tokens that decide about the factor at most: one number is learned.
_TOKENS = 50_000


def as_crf(learner: StructuredLearner, factor: float = 1.0) -> CRF:
    """A CRF with the weights of a fitted learner, times a factor: its labels are the same.

    Parameters
    ----------
    learner : StructuredPerceptron, StructuredSVM or CRF
        Fitted.
    factor : float
        More than zero: the larger, the closer probabilities are to 0 and 1; see
        `calibration_factor`.

    Returns
    -------
    CRF
        Fitted; `solution_` tells of the learner's fit.

    Examples
    --------
    >>> from separatrix import StructuredPerceptron
    >>> X, y = [[["the"], ["cat"]], [["cats"], ["sleep"]]], [["D", "N"], ["N", "V"]]
    >>> perceptron = StructuredPerceptron(random_state=0).fit(X, y)
    >>> crf = as_crf(perceptron, calibration_factor(perceptron, X, y))
    >>> crf.predict(X) == perceptron.predict(X), crf.predict_proba(X)[0].shape
    (True, (2, 3))
    """
    if not (np.isfinite(factor) and factor > 0):
        raise DataError(f"factor must be more than zero, got {factor!r}")
    shared = CRF().get_params(deep=False).keys() & learner.get_params(deep=False).keys()
    params = {name: getattr(learner, name) for name in shared - {"loss"}}
    crf = CRF(**params)
    w = factor * np.asarray(learner.coef_)
    crf._keep(learner.features_, learner.classes_, w, learner.solution_)
    return crf


def calibration_factor(learner: StructuredLearner, X: Any, y: Any) -> float:
    """The factor of the scores with which the labels of held-out tokens are likeliest.

    The mean of -log p(label of a token | x) is minimized over the factor (temperature scaling; Guo
    et al. 2017, for marginals of chains). Tokens with labels that the model does not know do not
    count.

    Parameters
    ----------
    learner : StructuredPerceptron, StructuredSVM or CRF
        Fitted, on other sequences.
    X : sequence of sequences of tokens
    y : sequence of sequences of labels
    """
    inputs, features = learner._read(X)
    lengths = np.diff(inputs.offsets)
    some = np.arange(max(1, int(np.searchsorted(np.cumsum(lengths), _TOKENS, side="right"))))
    rows = [list(y[int(row)]) for row in some]
    inputs = inputs.take(some)
    own = encode_tags(rows, inputs.offsets)
    known = {label: number for number, label in enumerate(learner.classes_.tolist())}
    table = np.array([known.get(label, -1) for label in own.classes.tolist()])
    codes = table[own.codes]
    at = np.flatnonzero(codes >= 0)
    if len(at) == 0:
        raise DataError("no label of the held-out tokens is known to the model")

    def surprise(log_factor: float) -> float:
        w = np.exp(log_factor) * np.asarray(learner.coef_)
        p = features.log_sum_exp(features.scores(w, inputs)).nodes[at, codes[at]]
        return -float(np.log(np.maximum(p, 1e-12)).mean())

    found = minimize_scalar(surprise, bounds=_RANGE, method="bounded", options={"xatol": _EXACT})
    return float(np.exp(found.x))
