"""A plugin of pytest: classes of `separatrix.compat.sklearn` in the place of scikit-learn's.

``python -m pytest -p tests.parity.sklearn_adapter --pyargs sklearn.tests.test_naive_bayes`` runs
the tests that scikit-learn installs with itself on our classes.
"""

import importlib

from separatrix.compat import sklearn as ours

HOMES = (
    "sklearn.naive_bayes",
    "sklearn.feature_extraction.text",
    "sklearn.discriminant_analysis",
    "sklearn.linear_model",
    "sklearn.linear_model._logistic",
    "sklearn.linear_model._bayes",
    "sklearn.multiclass",
    "sklearn.svm",
)


def pytest_configure() -> None:
    """Put them there; not on import, which collecting tests does too."""
    for home in HOMES:
        module = importlib.import_module(home)
        for name in ours.__all__:
            if hasattr(module, name):
                setattr(module, name, getattr(ours, name))
