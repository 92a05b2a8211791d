import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_circles
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from separatrix import LinearSVM, LogisticRegression
from separatrix.errors import DataError, ParameterError
from separatrix.features import RadialBasis


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(60, 5)) * (
        np.random.default_rng(1).random((60, 5)) < 0.6
    )


def formula(X, centers, gamma):
    return np.exp(-gamma * ((X[:, None] - centers[None]) ** 2).sum(axis=-1))


@pytest.mark.parametrize("gamma", [3.0, 0.5, 0.02])
def test_exact_is_the_formula_and_scikit_learns_kernel(X, gamma):
    made = RadialBasis(gamma=gamma).fit_transform(X)
    np.testing.assert_allclose(made, formula(X, X, gamma), rtol=1e-10)
    np.testing.assert_allclose(made, rbf_kernel(X, gamma=gamma), rtol=1e-12)
    given = RadialBasis(gamma=gamma, centers=X[:3]).fit(X)
    np.testing.assert_allclose(given.transform(X), formula(X, X[:3], gamma), rtol=1e-10)


def test_scale_is_that_of_scikit_learn(X):
    expected = 1 / (X.shape[1] * X.var())
    assert RadialBasis().fit(X).gamma_ == pytest.approx(expected, rel=1e-12)
    assert RadialBasis().fit(sp.csr_array(X)).gamma_ == pytest.approx(expected, rel=1e-12)
    assert RadialBasis().fit(np.ones((3, 2))).gamma_ == 1


@pytest.mark.parametrize("centers", ["all", "random", "kmeans"])
@pytest.mark.parametrize("method", ["exact", "nystroem", "fourier"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_equals_dense_in_both_precisions(X, method, centers, dtype):
    X = X.astype(dtype)
    basis = RadialBasis(method, centers=centers, n_components=10, random_state=0)
    dense = basis.fit(X).transform(X)
    sparse = basis.fit(sp.csr_matrix(X)).transform(sp.csr_matrix(X))
    assert dense.dtype == sparse.dtype == dtype
    tolerance = 1e-2 if dtype == np.float32 and method == "nystroem" else 1e-4
    np.testing.assert_allclose(sparse, dense, atol=tolerance if dtype == np.float32 else 1e-9)
    assert dense.shape[1] == len(basis.get_feature_names_out())


@pytest.mark.parametrize("centers", ["all", "random", "kmeans"])
def test_nystroem_products_are_the_kernel_on_the_centers(X, centers):
    basis = RadialBasis("nystroem", centers=centers, n_components=20, random_state=0).fit(X)
    Z = basis.transform(np.asarray(basis.centers_))
    np.testing.assert_allclose(
        Z @ Z.T, formula(basis.centers_, basis.centers_, basis.gamma_), atol=1e-8
    )


def test_nystroem_takes_repeated_centers(X):
    twice = np.vstack([X[:10], X[:10]])
    basis = RadialBasis("nystroem", gamma=1 / 3).fit(twice)
    Z = basis.transform(twice)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z @ Z.T, formula(twice, twice, 1 / 3), atol=1e-8)


def test_nystroem_norm_is_the_kernel_norm(X):
    """Ridge on the features with all rows as centers is kernel ridge."""
    y = np.sin(X).sum(axis=1)
    basis = RadialBasis("nystroem", gamma=0.25).fit(X)
    Z = basis.transform(X)
    linear = Ridge(alpha=0.5, fit_intercept=False).fit(Z, y)
    kernel = KernelRidge(alpha=0.5, kernel="rbf", gamma=1 / 4.0).fit(X, y)
    np.testing.assert_allclose(linear.predict(Z), kernel.predict(X), atol=1e-7)
    K = rbf_kernel(X, gamma=1 / 4.0)
    norm = kernel.dual_coef_ @ K @ kernel.dual_coef_
    assert linear.coef_ @ linear.coef_ == pytest.approx(norm, rel=1e-6)


def test_svm_on_nystroem_is_the_kernel_machine():
    X, y = make_circles(120, noise=0.1, factor=0.5, random_state=0)
    basis = RadialBasis("nystroem", gamma=2.0)
    ours = LinearSVM(C=2.0, tol=1e-8).fit(basis.fit_transform(X), y)
    theirs = SVC(C=2.0, kernel="rbf", gamma=2.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(basis.transform(X)), theirs.decision_function(X), atol=1e-3
    )


def test_fourier_products_are_the_kernel_within_the_error_of_a_mean():
    X = np.random.default_rng(0).normal(size=(40, 6))
    K = formula(X, X, 0.125)
    errors = []
    for n in (200, 20_000):
        Z = RadialBasis("fourier", n_components=n, gamma=0.125, random_state=0).fit_transform(X)
        np.testing.assert_allclose((Z * Z).sum(axis=1), 1, rtol=1e-12)
        errors.append(np.abs(Z @ Z.T - K).max())
        # A mean of n/2 cosines: standard error at most sqrt(2/n); 5 of them for 800 pairs.
        assert errors[-1] < 5 * np.sqrt(2 / n)
    assert errors[1] < errors[0]


def test_an_odd_fourier_column_has_the_right_mean():
    X = np.random.default_rng(0).normal(size=(5, 3))
    rows = [
        RadialBasis("fourier", n_components=1, gamma=0.125, random_state=k) for k in range(1500)
    ]
    products = np.mean([(z := row.fit_transform(X)) @ z.T for row in rows], axis=0)
    np.testing.assert_allclose(products, formula(X, X, 0.125), atol=0.1)


def test_radial_features_make_circles_separable():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    assert LogisticRegression(C=10).fit(X, y).score(X, y) < 0.7
    for basis in (
        RadialBasis(),
        RadialBasis(centers="kmeans", n_components=20, random_state=0),
        RadialBasis("fourier", n_components=60, random_state=0),
    ):
        made = basis.fit_transform(X)
        assert LogisticRegression(C=10).fit(made, y).score(made, y) > 0.98


def test_names_say_which_row():
    X = load_digits().data[:30]
    basis = RadialBasis(centers="random", n_components=4, random_state=0).fit(X)
    rows = basis.center_rows_
    np.testing.assert_array_equal(basis.centers_, X[rows])
    assert basis.get_feature_names_out().tolist() == [f"rbf_row{row}" for row in rows]
    np.testing.assert_allclose(basis.transform(X)[rows, range(4)], 1)


def test_errors():
    X = np.ones((5, 2))
    with pytest.raises(DataError, match="centers cannot be had"):
        RadialBasis(centers="random").fit(X)
    with pytest.raises(DataError, match="3 columns"):
        RadialBasis(centers=np.ones((1, 3))).fit(X)
    with pytest.raises(DataError, match=r'centers="random"'):
        RadialBasis().fit(np.zeros((20_001, 1)))
    for bad in (
        {"method": "magic"},
        {"gamma": -1},
        {"gamma": "auto"},
        {"centers": "some"},
        {"n_components": 0},
    ):
        with pytest.raises(ParameterError):
            RadialBasis(**bad).fit(X)
