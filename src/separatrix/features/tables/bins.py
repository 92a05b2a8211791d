"""Numbers cut where the target changes: bins of one column, and cells of two."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from separatrix.errors import DataError, ParameterError
from separatrix.features.tables.columns import Column
from separatrix.features.tables.columns_to_numbers import MISSING, RobustEncoder
from separatrix.features.tables.sparse_rows import Encoded, Part, assemble, distinct
from separatrix.validation import (
    check_choice,
    check_targets,
    distinct_values,
    drawn_rows,
    refuse_dask,
)

__all__ = ["BinEncoder", "BothEncoder", "PairEncoder", "SupervisedBins", "bin_options", "codes_of"]

#: Rows that cuts are found on, drawn with a fixed seed where there are more: with 32 bins some
#: thousand rows are left for each, and the tree need not sort millions.
_MOST_ROWS = 100_000
#: Groups of neighbouring values between which cuts are looked for: of at most 32 bins each has some
#: 30 groups, and the end of one is 0.1 % of the rows off at most.
_MOST_GROUPS = 1024


@dataclass
class BinEncoder:
    """Indicators of the bins of a number; missing values have one of their own.

    Attributes
    ----------
    cuts : ndarray of shape (b - 1,)
        Rising; bin k holds cuts[k - 1] < x <= cuts[k].
    """

    max_bins: int = 32
    min_rows: int = 5
    quantity: bool = False
    monotone: int = 0
    cuts: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0), init=False)
    had_missing: bool = field(default=False, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """Cut where a small tree on the target does; y has numbers of classes, or quantities."""
        self.had_missing = bool(column.missing.any())
        if y is None:
            raise DataError("bins need the target: y is None, and requires y to be passed")
        values, y = column.values, np.asarray(y)
        if self.had_missing:
            values, y = values[~column.missing], y[~column.missing]
        if len(values) > _MOST_ROWS:
            some = drawn_rows(len(values), _MOST_ROWS)
            values, y = values[some], y[some]
        known = np.unique(values)
        ends, after = known[:-1], known[1:]
        if len(known) > _MOST_GROUPS:
            ordered = np.sort(values)
            places = np.arange(1, _MOST_GROUPS) * len(ordered) // _MOST_GROUPS
            ends = np.unique(ordered[places])
            ends = ends[ends < known[-1]]
            after = known[np.searchsorted(known, ends, side="right")]
        groups = np.searchsorted(ends, values, side="left")
        below = tree_cuts(*_group_sums(groups, y, len(ends) + 1, self.quantity), self)
        # Half of each, as the sum of two large numbers may be infinite.
        middle = ends[below] / 2 + after[below] / 2
        # Of neighbours among the floats no number lies between.
        self.cuts = np.where(middle < after[below], middle, ends[below])
        return self

    def codes(self, column: Column) -> npt.NDArray[np.intp]:
        """The bin of every value; -1 for missing values that training did not have."""
        found = np.searchsorted(self.cuts, column.values, side="left")
        found[column.missing] = len(self.cuts) + 1 if self.had_missing else -1
        return found

    def encode(self, column: Column) -> Encoded:
        """One entry per value."""
        return _indicators(self.codes(column))

    @property
    def width(self) -> int:
        """Number of its columns."""
        return len(self.cuts) + 1 + self.had_missing

    def names(self, name: str) -> list[str]:
        """Like "age <= 27.5", "27.5 < age <= 40" and "age=<missing>"."""
        ends = [f"{cut:.6g}" for cut in self.cuts]
        if len(set(ends)) < len(ends):
            ends = [repr(float(cut)) for cut in self.cuts]
        if not ends:
            found = [f"any {name}"]
        else:
            inner = [f"{a} < {name} <= {b}" for a, b in pairwise(ends)]
            found = [f"{name} <= {ends[0]}", *inner, f"{name} > {ends[-1]}"]
        return found + [f"{name}={MISSING}"] * self.had_missing


def _group_sums(
    groups: npt.NDArray[np.intp], y: npt.NDArray[Any], n_groups: int, quantity: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sums of the target in each group, shape (g, 1), or rows of each class, (g, K); and rows."""
    counts = np.bincount(groups, minlength=n_groups).astype(np.float64)
    if quantity:
        # Around the mean, so that sums of squares do not cancel.
        left = y - y.mean() if len(y) else y
        sums: npt.NDArray[Any] = np.bincount(groups, left, minlength=n_groups)
        return sums[:, None], counts
    n_classes = int(y.max(initial=0)) + 1
    cells = np.bincount(groups * n_classes + y, minlength=n_groups * n_classes)
    return cells.reshape(n_groups, n_classes).astype(np.float64), counts


def tree_cuts(
    sums: npt.NDArray[np.float64], counts: npt.NDArray[np.float64], options: BinEncoder
) -> npt.NDArray[np.intp]:
    """Groups behind which a tree that grows best first cuts, rising.

    A cut of a node into L and R gains |s_L|^2 / n_L + |s_R|^2 / n_R - |s|^2 / n: what it takes off
    the sum of squares of quantities, or off the Gini impurity of classes (Breiman et al. 1984).

    Parameters
    ----------
    sums : array of shape (g, K)
        Sums of the target, or rows of each class, in groups of rows in the order of the values.
    counts : array of shape (g,)
        Rows of each group.
    options : BinEncoder
        `max_bins`, `min_rows`, and `monotone`: the direction in which the mean of the last column
        may go. As in scikit-learn's trees, both sides of a cut stay on their side of its middle.
    """
    total = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
    n = np.concatenate([[0.0], np.cumsum(counts)])
    least, way = options.min_rows, options.monotone
    # What is below this is rounding.
    tiny = 1e-12 * float((total[-1] ** 2).sum() / max(n[-1], 1.0) + n[-1])
    leaves: list[tuple[float, int, int, int, float, float]] = []

    def look(first: int, last: int, low: float, high: float) -> None:
        """Put the best cut of a node onto the heap."""
        left, right = total[first + 1 : last] - total[first], total[last] - total[first + 1 : last]
        n_left, n_right = n[first + 1 : last] - n[first], n[last] - n[first + 1 : last]
        allowed = (n_left >= least) & (n_right >= least)
        if way and len(allowed):
            with np.errstate(invalid="ignore", divide="ignore"):
                means = left[:, -1] / n_left, right[:, -1] / n_right
            allowed &= way * (means[1] - means[0]) >= 0
            for mean in means:
                allowed &= (mean >= low) & (mean <= high)
        places = np.flatnonzero(allowed)
        if not len(places):
            return
        held = (left[places] ** 2).sum(axis=1) / n_left[places]
        held += (right[places] ** 2).sum(axis=1) / n_right[places]
        best = int(np.argmax(held))
        all_ = total[last] - total[first]
        gain = float(held[best] - (all_**2).sum() / (n[last] - n[first]))
        if gain > tiny:
            heapq.heappush(leaves, (-gain, first, first + 1 + int(places[best]), last, low, high))

    look(0, len(counts), -math.inf, math.inf)
    cuts: list[int] = []
    while leaves and len(cuts) + 1 < options.max_bins:
        _, first, cut, last, low, high = heapq.heappop(leaves)
        cuts.append(cut - 1)
        ends = [(low, high), (low, high)]
        if way:
            left = (total[cut] - total[first])[-1] / (n[cut] - n[first])
            right = (total[last] - total[cut])[-1] / (n[last] - n[cut])
            middle = (left + right) / 2
            ends = [(low, middle), (middle, high)][:: 1 if way > 0 else -1]
        look(first, cut, *ends[0])
        look(cut, last, *ends[1])
    return np.sort(np.array(cuts, dtype=np.intp))


@dataclass
class BothEncoder:
    """Bent numbers, and bins beside them: a line where it serves, steps where it does not."""

    numbers: RobustEncoder
    bins: BinEncoder

    def fit(self, column: Column, y: Any) -> Self:
        """Learn both."""
        self.numbers.fit(column, y)
        self.bins.fit(column, y)
        return self

    def encode(self, column: Column) -> Encoded:
        """The number, then its bin; which marks missing values too."""
        numbers = Encoded(self.numbers.encode(column).parts[:1])
        bins = self.bins.encode(column).parts
        return Encoded(numbers.parts + [p._replace(columns=p.columns + 1) for p in bins])

    def names(self, name: str) -> list[str]:
        """The column, then its bins."""
        return [name, *self.bins.names(name)]


def codes_of(encoded: Encoded, n_rows: int) -> npt.NDArray[np.intp]:
    """The place of the entry of every row, in a column with at most one; -1 where there is none."""
    codes = np.full(n_rows, -1, dtype=np.intp)
    for part in encoded.parts:
        codes[part.rows] = part.columns
    return codes


def _indicators(codes: npt.NDArray[np.intp]) -> Encoded:
    rows = np.flatnonzero(codes >= 0)
    return Encoded([Part(rows, codes[rows], 1.0)])


@dataclass
class PairEncoder:
    """Indicators of what two columns hold together: a cell for each pair of their indicators.

    Attributes
    ----------
    cells : ndarray of shape (m,)
        a * width + b of the cells with at least `min_rows` train rows, rising.
    width : int
        Indicators of the second column.
    """

    min_rows: int = 5
    cells: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.empty(0, dtype=np.int64), init=False
    )
    width: int = field(default=1, init=False)

    def fit(self, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp], width: int) -> Self:
        """Keep the cells that are not too rare."""
        self.width = width
        keys = self._keys(first, second)
        found, counts = np.unique(keys[keys >= 0], return_counts=True)
        self.cells = found[counts >= self.min_rows]
        return self

    def _keys(
        self, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.int64]:
        known = (first >= 0) & (second >= 0)
        return np.where(known, first.astype(np.int64) * self.width + second, -1)

    def encode(self, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> Encoded:
        """One entry for every row of a known cell."""
        if not len(self.cells):
            return Encoded([])
        keys = self._keys(first, second)
        places = np.minimum(np.searchsorted(self.cells, keys), len(self.cells) - 1)
        return _indicators(np.where(self.cells[places] == keys, places, -1))

    def names(self, first: list[str], second: list[str]) -> list[str]:
        """Like "age <= 27.5 & city=Rome"."""
        return [f"{first[key // self.width]} & {second[key % self.width]}" for key in self.cells]


@dataclass(eq=False, repr=False)
class SupervisedBins(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each numeric column cut where a small tree on the target cuts it, one indicator per bin.

    A linear model on the bins is a sum of step functions, one per column: it follows curves and
    thresholds, does not mind outliers or skew, and stays a sum that one can read as a scorecard.
    The cuts are those of a tree that is grown best first, so that at most `max_bins - 1` cuts are
    spent where they tell most about the target; of a column with more than 1,024 distinct values
    between groups of equally many rows. Missing values have a bin of their own.

    The target decides the cuts: choose anything else on rows that were not used here.

    Parameters
    ----------
    max_bins : int, default=32
        Most bins of a column, not counting missing values.
    min_rows : int, default=5
        Fewest train rows of a bin.
    target : {"auto", "classes", "quantities"}, default="auto"
        What y holds; "auto" takes floats with a fraction for quantities, all else for classes.
    monotonic_cst : dict of name -> {-1, 0, 1}, array of such of shape (d,), or None, default=None
        Columns whose bins have rising (1) or falling (-1) means of the target: of quantities, or
        of the second of two classes. As in scikit-learn's trees.
    dtype : dtype, default=float64
        float64 or float32.

    Attributes
    ----------
    cuts_ : list of ndarray
        Per column, rising; a bin holds its upper end.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where they are strings.

    See Also
    --------
    TableEncoder : tables of mixed columns; ``numbers="bins"`` cuts their numbers so.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.features import SupervisedBins
    >>> age = np.array([[18.0], [25.0], [31.0], [40.0], [52.0], [np.nan]])
    >>> bins = SupervisedBins(min_rows=1).fit(age, ["no", "no", "yes", "yes", "no", "yes"])
    >>> bins.get_feature_names_out(["age"]).tolist()
    ['age <= 28', '28 < age <= 46', 'age > 46', 'age=<missing>']
    >>> bins.transform([[28.0], [np.nan]]).toarray()
    array([[1., 0., 0., 0.],
           [0., 0., 0., 1.]])
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("_encoders",)

    n_features_in_: int = field(init=False)

    max_bins: int = 32
    _: KW_ONLY
    min_rows: int = 5
    target: str = "auto"
    monotonic_cst: Any = None
    dtype: Any = np.float64

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Find the cuts.

        Parameters
        ----------
        X : array of shape (n, d)
            Numbers; NaN where a value is missing.
        y : array of shape (n,)
            Classes or quantities.
        """
        refuse_dask(self, X, y)
        if np.dtype(self.dtype) not in (np.float64, np.float32):
            raise ParameterError(f"dtype must be float64 or float32, got {self.dtype!r}")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        options, y = bin_options(self.max_bins, self.min_rows, self.target, y)
        columns = _columns(X)
        directions = self._directions()
        if any(directions) and not options["quantity"] and y.max() > 1:
            raise ParameterError("monotonic_cst is for quantities or two classes, and y has more")
        self._encoders = [
            BinEncoder(**options, monotone=way).fit(column, y)
            for column, way in zip(columns, directions, strict=True)
        ]
        return self

    def _directions(self) -> list[int]:
        given, n = self.monotonic_cst, self.n_features_in_
        if given is None:
            return [0] * n
        if isinstance(given, Mapping):
            names = list(_check_feature_names_in(self))
            unknown = sorted(set(given) - set(names))
            if unknown:
                raise ParameterError(f"monotonic_cst names {unknown[0]!r}, which is no column")
            given = [given.get(name, 0) for name in names]
        if len(given) != n or not set(given) <= {-1, 0, 1}:
            raise ParameterError(
                f"monotonic_cst must hold -1, 0 or 1 for each of {n} columns, got {given!r}"
            )
        return [int(way) for way in given]

    def transform(self, X: Any) -> sp.csr_matrix:
        """The bins as indicators.

        Parameters
        ----------
        X : array of shape (n, d)
            Numbers; NaN where a value is missing: all zero in a column that had none in training.

        Returns
        -------
        CSR matrix of shape (n, n_bins)
            Ones.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        columns = _columns(X)
        parts: list[tuple[int, Part]] = []
        base = 0
        for encoder, column in zip(self._encoders, columns, strict=True):
            parts += [(base, part) for part in encoder.encode(column).parts]
            base += encoder.width
        return assemble(parts, (len(columns[0].values), base), np.dtype(self.dtype))

    @property
    def cuts_(self) -> list[npt.NDArray[np.float64]]:
        """Per column, rising; a bin holds its upper end."""
        check_is_fitted(self)
        return [encoder.cuts for encoder in self._encoders]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names: "age <= 27.5", "27.5 < age <= 40", "age > 40", "age=<missing>".

        Parameters
        ----------
        input_features : array of str or None, default=None
            Names of the columns of X; those of `fit`, or x0, x1, …, by default.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        pairs = zip(self._encoders, names, strict=True)
        return np.array(distinct([n for e, name in pairs for n in e.names(name)]), dtype=object)


def _columns(X: npt.NDArray[np.float64]) -> list[Column]:
    return [Column(f"x{j}", X[:, j], np.isnan(X[:, j])) for j in range(X.shape[1])]


def bin_options(
    max_bins: Any, min_rows: Any, target: str, y: Any
) -> tuple[dict[str, Any], npt.NDArray[Any] | None]:
    """Checked arguments of a `BinEncoder`, and what it is fitted to: quantities or class codes."""
    check_choice("target", target, ("auto", "classes", "quantities"))
    if not isinstance(max_bins, int | np.integer) or max_bins < 2:
        raise ParameterError(f"max_bins must be a number >= 2, got {max_bins!r}")
    if not isinstance(min_rows, int | np.integer) or min_rows < 1:
        raise ParameterError(f"min_rows must be a number >= 1, got {min_rows!r}")
    options = {"max_bins": int(max_bins), "min_rows": int(min_rows)}
    if y is None:
        return options | {"quantity": target == "quantities"}, None
    y = np.asarray(y)
    quantity = target == "quantities"
    if target == "auto":
        quantity = type_of_target(y).startswith("continuous")
    if not quantity:
        check_targets(y)
    held = y.astype(np.float64) if quantity else distinct_values(y)[1]
    return options | {"quantity": quantity}, held
