"""scikit-learn's own checks: all those of an estimator in one test, since a test costs more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator


def each(estimators: Sequence[Any]) -> pytest.MarkDecorator:
    """Return a mark that calls the test with `estimator`, once for each."""
    names = [re.sub(r"\s", "", str(estimator)) for estimator in estimators]
    return pytest.mark.parametrize("estimator", estimators, ids=names)


def check(estimator: Any, expected_failures: dict[str, str] | None = None) -> None:
    """Run all checks; those that are expected to fail have a reason, and do not count."""
    check_estimator(estimator, expected_failed_checks=expected_failures, on_skip=None)
