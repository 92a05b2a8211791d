//! Generative models: what the columns hold, their statistics by class, and likelihoods.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::simd::Packed;
use separatrix_kernels::stats::count::Plan;
use separatrix_kernels::stats::likelihood::Terms;
use separatrix_kernels::stats::{class_scatter as scatter, count as kernel, likelihood, survey as look};

use crate::arrays::{matrix, new_matrix, vector};
use crate::design::{Dense, with_dense, with_rows};
use crate::errors::to_python;
use crate::precision::either;
use crate::run::run;

type Vector<'py, T> = Bound<'py, PyArray1<T>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Statistics<'py> = (Vector<'py, f64>, Matrix<'py>, Matrix<'py>, Matrix<'py>, Matrix<'py>);

/// For every column: lowest value, highest value, 1 where all are 0 or 1, 1 where all are whole numbers.
#[pyfunction]
#[pyo3(signature = (design, n_threads))]
#[allow(clippy::type_complexity)]
pub fn survey<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<(Vector<'py, f64>, Vector<'py, f64>, Vector<'py, u8>, Vector<'py, u8>)> {
    let found = with_rows!(py, design, |rows: T| {
        run(py, rows.n_stored(), |stop| look::survey::<T, _>(rows, n_threads, stop))
    })?;
    Ok((
        PyArray1::from_vec(py, found.lowest),
        PyArray1::from_vec(py, found.highest),
        PyArray1::from_vec(py, found.binary),
        PyArray1::from_vec(py, found.whole),
    ))
}

fn plan_of(
    kinds: &PyReadonlyArray1<'_, u8>,
    sizes: Option<&PyReadonlyArray1<'_, i64>>,
    threshold: f64,
) -> PyResult<Plan> {
    let sizes = sizes.map(|sizes| vector("sizes", sizes)).transpose()?;
    Plan::new(vector("kinds", kinds)?, sizes, threshold).map_err(to_python)
}

/// Statistics by class: weights of the classes (K,), then (K, d) sums or means, squares around the means, weights
/// of missing values, and (K, sum of sizes) weights of categories; those that are not needed have no columns.
///
/// `kinds` numbers the columns' kinds: 0 multinomial, 1 Bernoulli, 2 Gaussian, 3 categorical with `sizes`
/// categories. None where a sparse row is not sorted or names a column twice.
#[pyfunction]
#[pyo3(signature = (design, kinds, sizes, threshold, targets, row_weights, n_classes, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn count<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    kinds: PyReadonlyArray1<'py, u8>,
    sizes: Option<PyReadonlyArray1<'py, i64>>,
    threshold: f64,
    targets: PyReadonlyArray1<'py, i64>,
    row_weights: Option<PyReadonlyArray1<'py, f64>>,
    n_classes: usize,
    n_threads: usize,
) -> PyResult<Option<Statistics<'py>>> {
    let plan = plan_of(&kinds, sizes.as_ref(), threshold)?;
    let targets = vector("targets", &targets)?;
    let weights = row_weights.as_ref().map(|w| vector("row_weights", w)).transpose()?;
    let part = with_rows!(py, design, |rows: T| {
        run(py, rows.n_stored(), |stop| {
            kernel::count::<T, _>(rows, &plan, targets, weights, n_classes, n_threads, stop)
        })
    })?;
    let Some(part) = part else { return Ok(None) };
    let wide = |values: Vec<f64>| {
        let width = values.len() / n_classes.max(1);
        PyArray1::from_vec(py, values).reshape([n_classes, width])
    };
    Ok(Some((
        PyArray1::from_vec(py, part.totals),
        wide(part.value)?,
        wide(part.scatter)?,
        wide(part.missing)?,
        wide(part.table)?,
    )))
}

/// Joint log-likelihoods of shape (n, K): `start` plus the terms of every column, missing values left out.
///
/// The terms are (K, d) and (K, sum of sizes) for a Dense design, transposed for a Csr; those that the kinds do
/// not need are empty. None where a sparse row is not sorted or names a column twice.
#[pyfunction]
#[pyo3(signature = (design, kinds, sizes, threshold, start, weight, base, mean, table, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn joint_likelihood<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    kinds: PyReadonlyArray1<'py, u8>,
    sizes: Option<PyReadonlyArray1<'py, i64>>,
    threshold: f64,
    start: PyReadonlyArray1<'py, f64>,
    weight: PyReadonlyArray2<'py, f64>,
    base: PyReadonlyArray2<'py, f64>,
    mean: PyReadonlyArray2<'py, f64>,
    table: PyReadonlyArray2<'py, f64>,
    n_threads: usize,
) -> PyResult<Option<Matrix<'py>>> {
    let plan = plan_of(&kinds, sizes.as_ref(), threshold)?;
    let k = start.len();
    let terms = Terms {
        plan: &plan,
        start: vector("start", &start)?,
        weight: matrix("weight", &weight)?,
        base: matrix("base", &base)?,
        mean: matrix("mean", &mean)?,
        table: matrix("table", &table)?,
    };
    let out = with_rows!(py, design, |rows: T| {
        run(py, rows.n_stored().saturating_mul(k), |stop| {
            likelihood::joint::<T, _>(rows, &terms, n_threads, stop)
        })
    })?;
    out.map(|values| new_matrix(py, values, k)).transpose()
}

/// Weights (K,), means (K, d) and scatters around the means of the classes of dense rows: (d, d) of all classes
/// together, or (K * d, d) one below the other.
#[pyfunction]
#[pyo3(signature = (design, targets, row_weights, n_classes, pooled, n_threads))]
pub fn class_scatter<'py>(
    py: Python<'py>,
    design: &Dense,
    targets: PyReadonlyArray1<'py, i64>,
    row_weights: Option<PyReadonlyArray1<'py, f64>>,
    n_classes: usize,
    pooled: bool,
    n_threads: usize,
) -> PyResult<(Vector<'py, f64>, Matrix<'py>, Matrix<'py>)> {
    fn typed<T: Packed + Element>(
        py: Python<'_>,
        array: &Py<PyArray2<T>>,
        targets: &[i64],
        weights: Option<&[f64]>,
        (n_classes, pooled, n_threads): (usize, bool, usize),
    ) -> PyResult<(scatter::Scatter, usize)> {
        with_dense(py, array, |x| {
            let d = x.n_cols();
            let work = x.n_stored().saturating_mul(d);
            let found = run(py, work, |stop| {
                scatter::class_scatter(*x, targets, weights, n_classes, pooled, n_threads, stop)
            })?;
            Ok((found, d))
        })
    }
    let targets = vector("targets", &targets)?;
    let weights = row_weights.as_ref().map(|w| vector("row_weights", w)).transpose()?;
    let how = (n_classes, pooled, n_threads);
    let (found, d) = either!(&design.inner, |array| typed(py, array, targets, weights, how))?;
    Ok((
        PyArray1::from_vec(py, found.count),
        new_matrix(py, found.mean, d)?,
        new_matrix(py, found.scatter, d)?,
    ))
}
