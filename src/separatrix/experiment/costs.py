"""Costs of decisions, read from a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import read
from separatrix.errors import DataError
from separatrix.validation import check_cost

__all__ = ["read_costs"]


def read_costs(source: Any, classes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    r"""The cost matrix in a CSV file, its rows and columns in the order of `classes`.

    The first row names the predicted classes, the first column the true ones:

        truth,ham,spam
        ham,0,10
        spam,1,0

    Parameters
    ----------
    source : path, bytes or object with ``read``
        The file.
    classes : array of shape (K,)
        The classes, sorted.

    Returns
    -------
    ndarray of shape (K, K)
        cost[i, j] is paid when class i is predicted to be class j.

    Examples
    --------
    >>> read_costs(b"truth,spam,ham\nham,10,0\nspam,0,1\n", np.array(["ham", "spam"]))
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    table = read(source, "csv", header=True, target=None, text=None)
    first, *columns = table.X
    truths = [_name(value) for value in table.X[first]]
    names = [_name(label) for label in classes.tolist()]
    for role, found in (("row", truths), ("column", columns)):
        strange = sorted(set(found) - set(names)) or sorted(set(names) - set(found))
        if strange or len(found) != len(names):
            which = strange[0] if strange else found[-1]
            raise DataError(
                f"{table.source}: costs need one {role} for each class ({', '.join(names)}); "
                f"{which!r} is {'not one' if which in found else 'missing'}"
            )
    rows = [truths.index(name) for name in names]
    try:
        cost = np.array([table.X[name][rows].astype(np.float64) for name in names]).T
    except (TypeError, ValueError):
        raise DataError(f"{table.source}: costs must be numbers") from None
    checked = check_cost(cost, len(names))
    assert checked is not None  # a matrix was given
    return checked


def _name(value: Any) -> str:
    """A label as it stands in a file: 3.0 and 3 are the same."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
