//! The models of proximal Newton steps: a quadratic plus an elastic-net penalty.

use numpy::{Element, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::dense::Dense as View;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::primal::column_gram as kernel;
use separatrix_kernels::primal::columns::{self, Model};
use separatrix_kernels::primal::quadratic::{self, Descent, Penalty};
use separatrix_kernels::real::Real;
use separatrix_kernels::simd::Gather;

use crate::arrays::{matrix, new_matrix, readonly, shape, vector};
use crate::design::dense_of;
use crate::errors::{data_error, to_python};
use crate::precision::either;
use crate::run::run;
use crate::sparse::{Arrays, Csr};

type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// Minimize q'(u - s) + 1/2 (u - s)' H (u - s) + sum_j l1_j |u_j| + l2_j/2 u_j^2 over u.
///
/// Returns u, the gradient q + H (u - s), the sweeps and the largest violation left.
#[pyfunction]
#[pyo3(signature = (hessian, gradient, start, l1, l2, tolerance, max_sweeps))]
#[allow(clippy::too_many_arguments)]
pub fn quadratic_descent<'py>(
    py: Python<'py>,
    hessian: PyReadonlyArray2<'py, f64>,
    gradient: PyReadonlyArray1<'py, f64>,
    start: PyReadonlyArray1<'py, f64>,
    l1: PyReadonlyArray1<'py, f64>,
    l2: PyReadonlyArray1<'py, f64>,
    tolerance: f64,
    max_sweeps: usize,
) -> PyResult<(Vector<'py>, Vector<'py>, usize, f64)> {
    let hessian = matrix("hessian", &hessian)?;
    let mut gradient = vector("gradient", &gradient)?.to_vec();
    let mut weights = vector("start", &start)?.to_vec();
    let penalty = Penalty::new(vector("l1", &l1)?, vector("l2", &l2)?, weights.len()).map_err(to_python)?;
    let work = hessian.len().saturating_mul(max_sweeps);
    let Descent { sweeps, residual } = run(py, work, |stop| {
        quadratic::descend(hessian, penalty, &mut weights, &mut gradient, tolerance, max_sweeps, stop)
    })?;
    Ok((PyArray1::from_vec(py, weights), PyArray1::from_vec(py, gradient), sweeps, residual))
}

/// Column numbers of 0..=n_cols, the last one standing for a column of ones.
fn numbers_up_to(columns: &PyReadonlyArray1<'_, i64>, n_cols: usize) -> PyResult<Vec<usize>> {
    vector("columns", columns)?
        .iter()
        .map(|&c| usize::try_from(c).ok().filter(|&c| c <= n_cols))
        .collect::<Option<_>>()
        .ok_or_else(|| data_error(format!("columns must lie in 0..={n_cols}")))
}

/// sum_i c_i x_i x_i' over the numbered columns of sparse data; number d is a column of ones.
#[pyfunction]
#[pyo3(signature = (design, columns, weights))]
pub fn column_gram<'py>(
    py: Python<'py>,
    design: &Csr,
    columns: PyReadonlyArray1<'py, i64>,
    weights: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    fn typed<T: Gather + Element>(
        py: Python<'_>,
        arrays: &Arrays<T>,
        columns: &PyReadonlyArray1<'_, i64>,
        weights: &[f64],
    ) -> PyResult<Vec<f64>> {
        arrays.with(py, |x| {
            let numbers = numbers_up_to(columns, x.n_cols())?;
            // Each entry of a row meets the others of that row.
            let width = x.n_stored() / x.n_rows().max(1) + 1;
            let work = x.n_stored().saturating_mul(width);
            run(py, work, |stop| kernel::column_gram(x, &numbers, weights, stop))
        })
    }
    let weights = vector("weights", &weights)?;
    let out = either!(&design.inner, |arrays| typed(py, arrays, &columns, weights))?;
    new_matrix(py, out, columns.len())
}

/// What `column_descent` takes besides the data.
struct Request<'a> {
    columns: &'a [usize],
    gradient: &'a [f64],
    start: &'a [f64],
    penalty: Penalty<'a>,
    tolerance: f64,
    max_sweeps: usize,
    seed: u64,
}

fn descend<T: Real + Element, X: Rows<T>>(
    py: Python<'_>,
    columns: &X,
    numbers: &[usize],
    curvature: &Bound<'_, PyAny>,
    request: &Request<'_>,
) -> PyResult<(Vec<f64>, Descent)> {
    let curvature: PyReadonlyArray1<'_, T> = curvature
        .extract()
        .map_err(|_| data_error("the curvature must be a vector of the data's dtype".into()))?;
    let curvature = vector("curvature", &curvature)?;
    let model = Model { columns, curvature, numbers, penalty: request.penalty, gradient: request.gradient };
    let mut weights = request.start.to_vec();
    let work = columns.n_stored().saturating_mul(request.max_sweeps);
    let descent = run(py, work, |stop| {
        columns::descend(&model, &mut weights, request.tolerance, request.max_sweeps, request.seed, stop)
    })?;
    Ok((weights, descent))
}

fn sparse<T: Gather + Element>(
    py: Python<'_>,
    arrays: &Arrays<T>,
    curvature: &Bound<'_, PyAny>,
    request: &Request<'_>,
) -> PyResult<(Vec<f64>, Descent)> {
    descend(py, &arrays.transposed(py)?.rows(), request.columns, curvature, request)
}

fn dense<T: Real + Element>(
    py: Python<'_>,
    array: &Py<PyArray2<T>>,
    curvature: &Bound<'_, PyAny>,
    request: &Request<'_>,
) -> PyResult<(Vec<f64>, Descent)> {
    let guard = readonly(py, array)?;
    let (n, d) = shape(py, array);
    let values = matrix("X", &guard)?;
    // The columns asked for, one after the other; the intercept needs none.
    let wanted: Vec<usize> = request.columns.iter().copied().filter(|&c| c < d).collect();
    let gathered = run(py, n.saturating_mul(wanted.len()), |stop| {
        let mut out = vec![T::ZERO; n * wanted.len()];
        for (i, row) in values.chunks_exact(d.max(1)).enumerate() {
            stop.check()?;
            for (at, &column) in wanted.iter().enumerate() {
                out[at * n + i] = row[column];
            }
        }
        Ok(out)
    })?;
    let mut next = 0..wanted.len();
    let numbers: Vec<usize> = request
        .columns
        .iter()
        .map(|&c| if c < d { next.next().unwrap_or(wanted.len()) } else { wanted.len() })
        .collect();
    let view = View::new(&gathered, wanted.len(), n).map_err(to_python)?;
    descend(py, &view, &numbers, curvature, request)
}

/// Minimize q'(u - s) + 1/2 (u - s)' X' D X (u - s) + sum_j l1_j |u_j| + l2_j/2 u_j^2 over u, where X
/// stands for the numbered columns of the data; number d is a column of ones.
///
/// Returns u, the sweeps and the largest violation left.
#[pyfunction]
#[pyo3(signature = (design, columns, curvature, gradient, start, l1, l2, tolerance, max_sweeps, seed))]
#[allow(clippy::too_many_arguments)]
pub fn column_descent<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    columns: PyReadonlyArray1<'py, i64>,
    curvature: &Bound<'py, PyAny>,
    gradient: PyReadonlyArray1<'py, f64>,
    start: PyReadonlyArray1<'py, f64>,
    l1: PyReadonlyArray1<'py, f64>,
    l2: PyReadonlyArray1<'py, f64>,
    tolerance: f64,
    max_sweeps: usize,
    seed: u64,
) -> PyResult<(Vector<'py>, usize, f64)> {
    let size = start.len();
    let n_cols = if let Ok(csr) = design.cast::<Csr>() {
        either!(&csr.get().inner, |arrays| arrays.shape().1)
    } else {
        either!(&dense_of(design)?.get().inner, |array| shape(py, array).1)
    };
    let columns = numbers_up_to(&columns, n_cols)?;
    let request = Request {
        columns: &columns,
        gradient: vector("gradient", &gradient)?,
        start: vector("start", &start)?,
        penalty: Penalty::new(vector("l1", &l1)?, vector("l2", &l2)?, size).map_err(to_python)?,
        tolerance,
        max_sweeps,
        seed,
    };
    let (weights, descent) = if let Ok(csr) = design.cast::<Csr>() {
        either!(&csr.get().inner, |arrays| sparse(py, arrays, curvature, &request))?
    } else {
        either!(&dense_of(design)?.get().inner, |array| dense(py, array, curvature, &request))?
    };
    Ok((PyArray1::from_vec(py, weights), descent.sweeps, descent.residual))
}
