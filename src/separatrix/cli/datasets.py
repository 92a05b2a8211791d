"""The data sets that the command line knows by name; all come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from separatrix.errors import DataError

__all__ = ["BUNDLED", "load"]

#: Name -> what it is.
BUNDLED = {
    "digits": "1797 images of 8 x 8 pixels, 10 digits",
    "iris": "150 flowers, 4 measurements, 3 species",
    "wine": "178 wines, 13 measurements, 3 growers",
    "breast_cancer": "569 tumors, 30 measurements, 2 classes",
}


def load(name: str) -> tuple[Any, Any]:
    """Return X of shape (n, d) and the class names y of shape (n,).

    Examples
    --------
    >>> X, y = load("iris")
    >>> X.shape, str(y[0])
    ((150, 4), 'setosa')
    """
    if name not in BUNDLED:
        known = ", ".join(BUNDLED)
        if Path(name).suffix or Path(name).exists():
            raise DataError(
                f"cannot read {name!r}: files are not supported yet; use one of {known}"
            )
        raise DataError(f"there is no data set {name!r}; use one of {known}")
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return bunch.data, bunch.target_names[bunch.target]
