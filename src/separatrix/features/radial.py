"""Radial basis functions on centers, their Nystroem form, and random Fourier features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import checked_matrix
from separatrix.validation import (
    check_choice,
    check_positive,
    check_sparse,
    is_sparse,
    number_of_threads,
    refuse_dask,
)

__all__ = ["RadialBasis", "radial_kernel"]

#: Rows from which on centers="all" is refused: n^2 values would be made.
MAX_ALL = 20_000


def radial_kernel(X: Any, centers: Any, gamma: float) -> npt.NDArray[Any]:
    """exp(-gamma |x - c|^2) for all rows x and centers c, in the precision of X.

    Examples
    --------
    >>> import numpy as np
    >>> radial_kernel(np.array([[0.0], [1.0]]), np.array([[0.0]]), gamma=1.0).round(3)
    array([[1.   ],
           [0.368]])
    """
    values: npt.NDArray[Any] = euclidean_distances(X, centers, squared=True)
    values *= -gamma
    np.exp(values, out=values)
    return values


@dataclass(eq=False, repr=False)
class RadialBasis(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Radial basis features, :math:`\phi_c(x) = \exp(-\gamma |x - c|^2)`.

    ``method="exact"`` gives one column per center: a linear model on them with all training rows
    as centers is the mapping of the notes. ``method="nystroem"`` gives
    :math:`\phi(x) = K_{CC}^{-1/2} (k(x, c))_c`, so that :math:`\phi(x) \cdot \phi(x') = k(x, x')`
    for centers x, x', and :math:`|w|^2` is the squared kernel norm of the function
    :math:`w \cdot \phi`: with all training rows as centers, an L2-regularized linear model is
    the kernel machine (Williams & Seeger 2001). ``method="fourier"`` draws frequencies
    :math:`\omega` from :math:`N(0, 2 \gamma)` and gives pairs
    :math:`(\cos \omega \cdot x, \sin \omega \cdot x) \sqrt{2/D}`, whose products are
    :math:`k(x, x')` up to an error of order :math:`1/\sqrt{D}` at a cost that does not depend on n
    (Rahimi & Recht 2007; pairs: Sutherland & Schneider 2015).

    Parameters
    ----------
    method : {"exact", "nystroem", "fourier"}, default="exact"
        What the columns are.
    centers : {"all", "random", "kmeans"} or array of shape (k, d), default="all"
        All training rows (refused beyond 20,000 rows), `n_components` of them drawn without
        replacement, the centers of mini-batch k-means with `n_components` clusters, or given ones.
        Not used by "fourier".
    n_components : int, default=100
        Number of drawn centers, clusters, or Fourier columns; an odd number of these ends with
        one cosine of a random phase in place of a pair.
    gamma : "scale" or float, default="scale"
        How narrow the bumps are, as in scikit-learn; the notes write 1 / xi. "scale" is
        1 / (d times the variance of X).
    n_jobs : int or None, default=None
        Threads for the checks; the products use those of BLAS.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    gamma_ : float
        The value in use.
    centers_ : array or CSR array of shape (k, d)
        Centers; not there with "fourier".
    center_rows_ : ndarray of shape (k,)
        Their row numbers in the training data, with centers "all" and "random".
    normalization_ : ndarray of shape (k, k)
        K_CC^(-1/2), with "nystroem".
    frequencies_ : ndarray of shape (d, ceil(n_components / 2))
        The frequencies, with "fourier".
    phase_ : float
        The phase of a column without a pair, with "fourier".
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.features import RadialBasis
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> RadialBasis(gamma=1.0).fit_transform(X).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "gamma_",
        "centers_",
        "center_rows_",
        "normalization_",
        "frequencies_",
        "phase_",
    )

    gamma_: float = field(init=False)
    n_features_in_: int = field(init=False)

    method: str = "exact"
    _: KW_ONLY
    centers: Any = "all"
    n_components: int = 100
    gamma: Any = "scale"
    n_jobs: int | None = None
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the width and the centers, or draw the frequencies.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The data.
        y : ignored
        """
        refuse_dask(self, X, y)
        check_choice("method", self.method, ("exact", "nystroem", "fourier"))
        if not isinstance(self.n_components, int | np.integer) or self.n_components < 1:
            raise ParameterError(f"n_components must be a number >= 1, got {self.n_components!r}")
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=True)
        for name in ("centers_", "center_rows_", "normalization_", "frequencies_", "phase_"):
            self.__dict__.pop(name, None)
        self.gamma_ = self._found_gamma(X)
        random = check_random_state(self.random_state)
        if self.method == "fourier":
            self.frequencies_ = self._draw(X, random)
            return self
        self.centers_ = self._choose(X, random)
        if self.method == "nystroem":
            # In double precision: the small eigenvalues decide.
            gram = radial_kernel(*2 * (self.centers_.astype(np.float64),), self.gamma_)
            self.normalization_ = _inverse_root(gram).astype(X.dtype)
        return self

    def _found_gamma(self, X: Any) -> float:
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("scale",))
            if is_sparse(X):
                size = X.shape[0] * X.shape[1]
                mean = X.sum(dtype=np.float64) / size
                squares = float(np.square(X.data, dtype=np.float64).sum()) / size
                variance = max(squares - mean * mean, 0.0)
            else:
                variance = float(X.var(dtype=np.float64))
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        check_positive(gamma=self.gamma)
        return float(self.gamma)

    def _draw(self, X: Any, random: np.random.RandomState) -> npt.NDArray[Any]:
        size = (X.shape[1], (self.n_components + 1) // 2)
        frequencies = random.normal(scale=np.sqrt(2 * self.gamma_), size=size)
        self.phase_ = float(random.uniform(0, 2 * np.pi)) if self.n_components % 2 else 0.0
        return np.asarray(frequencies, dtype=X.dtype)

    def _choose(self, X: Any, random: np.random.RandomState) -> Any:
        if not isinstance(self.centers, str):
            check_sparse(self.centers)
            centers = check_array(
                self.centers, accept_sparse="csr", dtype=X.dtype, input_name="centers"
            )
            if centers.shape[1] != X.shape[1]:
                raise DataError(f"centers have {centers.shape[1]} columns, but X has {X.shape[1]}")
            return sp.csr_array(centers) if is_sparse(centers) else centers
        check_choice("centers", self.centers, ("all", "random", "kmeans"))
        n = X.shape[0]
        if self.centers == "all":
            if n > MAX_ALL:
                raise DataError(
                    f"all {n} rows as centers make {n} columns of {n} values; choose some "
                    '(centers="random" or "kmeans"), approximate (method="fourier"), '
                    "or give them as centers=X if there is memory"
                )
            self.center_rows_ = np.arange(n)
            return X.copy()
        if self.n_components > n:
            raise DataError(
                f"n_components={self.n_components} centers cannot be had from n_samples={n} rows"
            )
        if self.centers == "random":
            self.center_rows_ = np.sort(random.permutation(n)[: self.n_components])
            return X[self.center_rows_]
        # Here: with it comes half of scikit-learn, which most commands do not need.
        from sklearn.cluster import MiniBatchKMeans

        clusters = MiniBatchKMeans(self.n_components, n_init=3, random_state=random).fit(X)
        return np.ascontiguousarray(clusters.cluster_centers_, dtype=X.dtype)

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """The features, dense.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The data.

        Returns
        -------
        ndarray of shape (n, k)
            In the precision of X.
        """
        check_is_fitted(self)
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=False)
        if self.method == "fourier":
            frequencies = self.frequencies_.astype(X.dtype, copy=False)
            angles = np.asarray(safe_sparse_dot(X, frequencies, dense_output=True))
            n_draws, n_pairs = angles.shape[1], self.n_components // 2
            result = np.empty((X.shape[0], self.n_components), dtype=X.dtype)
            angles[:, n_pairs:] += self.phase_
            np.cos(angles, out=result[:, 0::2])
            np.sin(angles[:, :n_pairs], out=result[:, 1::2])
            result[:, 2 * n_pairs :] *= np.sqrt(2)
            result *= np.sqrt(1 / n_draws)
            return result
        values = radial_kernel(X, self.centers_.astype(X.dtype, copy=False), self.gamma_)
        if self.method == "nystroem":
            values = values @ self.normalization_.astype(X.dtype, copy=False)
        return values

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names: rbf_row17 (a training row), rbf_center3, nystroem3, or fourier_cos3.

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self)
        if self.method == "fourier":
            waves = ("cos", "sin")
            names = [f"fourier_{waves[j % 2]}{j // 2}" for j in range(self.n_components)]
        elif self.method == "nystroem":
            names = [f"nystroem{j}" for j in range(self.centers_.shape[0])]
        elif hasattr(self, "center_rows_"):
            names = [f"rbf_row{row}" for row in self.center_rows_]
        else:
            names = [f"rbf_center{j}" for j in range(self.centers_.shape[0])]
        return np.array(names, dtype=object)


def _inverse_root(gram: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The symmetric inverse square root of a kernel matrix; zero on its null space.

    Repeated centers make the matrix singular; eigenvalues that are rounding errors are left out.
    """
    values, vectors = scipy.linalg.eigh(gram)
    keep = values > len(gram) * np.finfo(np.float64).eps * values[-1]
    scaled = vectors[:, keep] / np.sqrt(values[keep])
    root: npt.NDArray[np.float64] = scaled @ vectors[:, keep].T
    return root
