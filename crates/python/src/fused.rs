//! Losses at given scores, and whole passes: value and gradient of the weighted losses.

use numpy::{Element, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::csr::Csr as Sparse;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::error::zeros;
use separatrix_kernels::interrupt::Interrupt;
use separatrix_kernels::loss::block as losses;
use separatrix_kernels::loss::block::{Labeled, SmoothLoss, Targets};
use separatrix_kernels::primal::{batch, fused, gram as kernel, label_gram as label_kernel};
use separatrix_kernels::real::Real;
use separatrix_kernels::simd::exponential::VectorExp;
use separatrix_kernels::simd::{Gather, Packed};
use separatrix_kernels::stats::moments as moment_kernel;

use crate::arrays::{matrix, new_matrix, shape, vector};
use crate::design::{Dense, dense_of, weights_of, with_dense};
use crate::errors::{data_error, to_python};
use crate::precision::either;
use crate::run::run;
use crate::sparse::{Arrays, Csr};

/// Targets and row weights as they came, kept while a kernel reads them.
struct Held<'py, T: Element> {
    loss: SmoothLoss,
    signs: Option<PyReadonlyArray1<'py, T>>,
    classes: Option<PyReadonlyArray1<'py, i64>>,
    weights: Option<PyReadonlyArray1<'py, T>>,
}

impl<'py, T: VectorExp + Element> Held<'py, T> {
    fn new(
        loss: &str,
        targets: &Bound<'py, PyAny>,
        row_weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let loss = SmoothLoss::named(loss).map_err(to_python)?;
        let (signs, classes) = if loss == SmoothLoss::MulticlassLogistic {
            let classes =
                targets.extract().map_err(|_| data_error("targets must be an int64 vector".into()))?;
            (None, Some(classes))
        } else {
            let signs = targets
                .extract()
                .map_err(|_| data_error("targets must be a vector of the data's dtype".into()))?;
            (Some(signs), None)
        };
        let weights = match row_weights {
            Some(weights) => Some(
                weights
                    .extract()
                    .map_err(|_| data_error("row_weights must be a vector of the data's dtype".into()))?,
            ),
            None => None,
        };
        Ok(Self { loss, signs, classes, weights })
    }

    fn labeled(&self, n_rows: usize, k: usize) -> PyResult<Labeled<'_, T>> {
        let targets = match (&self.signs, &self.classes) {
            (Some(signs), _) => Targets::Signs(vector("targets", signs)?),
            (None, Some(classes)) => Targets::Classes(vector("targets", classes)?),
            (None, None) => return Err(data_error("there are no targets".into())),
        };
        let weights = self.weights.as_ref().map(|w| vector("row_weights", w)).transpose()?;
        Labeled::new(self.loss, targets, weights, n_rows, k).map_err(to_python)
    }
}

/// Sum of the weighted losses at scores of shape (n, K), and their derivatives of the same shape.
#[pyfunction]
#[pyo3(signature = (loss, scores, targets, row_weights, n_threads))]
pub fn losses_at<'py>(
    py: Python<'py>,
    loss: &str,
    scores: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    row_weights: Option<&Bound<'py, PyAny>>,
    n_threads: usize,
) -> PyResult<(f64, Bound<'py, PyAny>)> {
    fn typed<'py, T: VectorExp + Element>(
        py: Python<'py>,
        scores: &PyReadonlyArray2<'py, T>,
        held: &Held<'py, T>,
        n_threads: usize,
    ) -> PyResult<(f64, Bound<'py, PyAny>)> {
        let (n, k) = (scores.shape()[0], scores.shape()[1]);
        let values = matrix("scores", scores)?;
        let labeled = held.labeled(n, k)?;
        let (sum, out) = run(py, values.len() * 16, |stop| {
            let mut out = zeros(values.len())?;
            let sum = losses::losses_at(labeled, values, &mut out, n_threads, stop)?;
            Ok((sum, out))
        })?;
        Ok((sum, new_matrix(py, out, k)?.into_any()))
    }
    if let Ok(scores) = scores.extract::<PyReadonlyArray2<'_, f32>>() {
        typed(py, &scores, &Held::new(loss, targets, row_weights)?, n_threads)
    } else if let Ok(scores) = scores.extract::<PyReadonlyArray2<'_, f64>>() {
        typed(py, &scores, &Held::new(loss, targets, row_weights)?, n_threads)
    } else {
        Err(data_error("scores must be a float32 or float64 matrix".into()))
    }
}

fn dense_pass<'py, T: VectorExp + Packed + Element>(
    py: Python<'py>,
    array: &Py<PyArray2<T>>,
    held: &Held<'py, T>,
    w: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
    let w = weights_of::<T>(w)?;
    let k = w.shape()[1];
    let weights = matrix("weights", &w)?;
    let (value, grad) = with_dense(py, array, |x| {
        let labeled = held.labeled(x.n_rows(), k)?;
        run(py, x.n_stored().saturating_mul(2 * k), |stop| {
            fused::value_and_grad(*x, labeled, weights, n_threads, stop)
        })
    })?;
    Ok((value, new_matrix(py, grad, k)?))
}

fn sparse_pass<'py, T: VectorExp + Gather + Element>(
    py: Python<'py>,
    arrays: &Arrays<T>,
    held: &Held<'py, T>,
    w: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
    let transpose = &arrays.transposed(py)?.rows();
    let w = weights_of::<T>(w)?;
    let k = w.shape()[1];
    let weights = matrix("weights", &w)?;
    let labeled = held.labeled(transpose.n_cols(), k)?;
    let (n_rows, n_cols) = (transpose.n_cols(), transpose.n_rows());
    let intercept = weights.len() > n_cols * k;
    let pass = |x: &Sparse<'_, T>, stop: &Interrupt| {
        let mut scores = zeros(n_rows.saturating_mul(k))?;
        batch::scores(x, weights, k, &mut scores, n_threads, stop)?;
        let mut residuals = zeros(scores.len())?;
        let value = losses::losses_at(labeled, &scores, &mut residuals, n_threads, stop)?;
        let mut inner = zeros(n_cols.saturating_mul(k))?;
        batch::scores(transpose, &residuals, k, &mut inner, n_threads, stop)?;
        let mut grad = zeros::<f64>(inner.len() + if intercept { k } else { 0 })?;
        for (g, v) in grad.iter_mut().zip(&inner) {
            *g = v.to_f64();
        }
        if intercept {
            let at = inner.len();
            for row in residuals.chunks_exact(k) {
                for (g, r) in grad[at..].iter_mut().zip(row) {
                    *g += r.to_f64();
                }
            }
        }
        Ok((value, grad))
    };
    let work = transpose.n_stored().saturating_mul(2 * k);
    let (value, grad) = arrays.with(py, |x| run(py, work, |stop| pass(x, stop)))?;
    Ok((value, new_matrix(py, grad, k)?))
}

/// Value and gradient of the weighted losses at w of shape (d, K), or (d + 1, K) with intercepts last.
#[pyfunction]
#[pyo3(signature = (design, loss, targets, row_weights, w, n_threads))]
pub fn fused_value_and_grad<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    loss: &str,
    targets: &Bound<'py, PyAny>,
    row_weights: Option<&Bound<'py, PyAny>>,
    w: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
    if let Ok(csr) = design.cast::<Csr>() {
        return either!(&csr.get().inner, |arrays| {
            sparse_pass(py, arrays, &Held::new(loss, targets, row_weights)?, w, n_threads)
        });
    }
    either!(&dense_of(design)?.get().inner, |array| {
        dense_pass(py, array, &Held::new(loss, targets, row_weights)?, w, n_threads)
    })
}

/// sum_i c_i x_i x_i' over the numbered rows of dense data (None: all), with a column of ones appended
/// to the data where `intercept` says so.
#[pyfunction]
#[pyo3(signature = (design, rows, weights, intercept, n_threads))]
pub fn gram<'py>(
    py: Python<'py>,
    design: &Dense,
    rows: Option<PyReadonlyArray1<'py, i64>>,
    weights: &Bound<'py, PyAny>,
    intercept: bool,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    fn typed<'py, T: Packed + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        rows: Option<&[i64]>,
        weights: &Bound<'py, PyAny>,
        intercept: bool,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let weights: PyReadonlyArray1<'_, T> = weights
            .extract()
            .map_err(|_| data_error("the weights must be a vector of the data's dtype".into()))?;
        let weights = vector("weights", &weights)?;
        let size = shape(py, array).1 + usize::from(intercept);
        let work = weights.len().saturating_mul(size * size / 2);
        let out = with_dense(py, array, |x| {
            run(py, work, |stop| kernel::gram(*x, rows, weights, intercept, n_threads, stop))
        })?;
        Ok(new_matrix(py, out, size)?.into_any())
    }
    let rows = rows.as_ref().map(|rows| vector("rows", rows)).transpose()?;
    either!(&design.inner, |array| typed(py, array, rows, weights, intercept, n_threads))
}

/// sum_i (diag(D_i) - D_i D_i' / sum D_i) (x) x_i x_i' over the numbered rows of dense data (None: all), label
/// by label, with a column of ones appended to the data where `intercept` says so; of the first `kept` labels.
#[pyfunction]
#[pyo3(signature = (design, rows, weights, kept, intercept, n_threads))]
pub fn label_gram<'py>(
    py: Python<'py>,
    design: &Dense,
    rows: Option<PyReadonlyArray1<'py, i64>>,
    weights: PyReadonlyArray2<'py, f64>,
    kept: usize,
    intercept: bool,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    fn typed<'py, T: Real + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        rows: Option<&[i64]>,
        weights: &PyReadonlyArray2<'py, f64>,
        kept: usize,
        intercept: bool,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let labels = weights.shape()[1];
        let weights = matrix("weights", weights)?;
        let order = kept * (shape(py, array).1 + usize::from(intercept));
        let work = weights.len().saturating_mul(order);
        let out = with_dense(py, array, |x| {
            run(py, work, |stop| {
                label_kernel::label_gram(*x, rows, weights, (labels, kept), intercept, n_threads, stop)
            })
        })?;
        new_matrix(py, out, order)
    }
    let rows = rows.as_ref().map(|rows| vector("rows", rows)).transpose()?;
    either!(&design.inner, |array| typed(py, array, rows, &weights, kept, intercept, n_threads))
}

/// sum_i c_i z_i z_i' of dense data with z_i = (x_i - a, y_i - b, 1); `shift` holds a and then b, and c_i = 1
/// without weights.
#[pyfunction]
#[pyo3(signature = (design, y, weights, shift, n_threads))]
pub fn moments<'py>(
    py: Python<'py>,
    design: &Dense,
    y: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    shift: PyReadonlyArray1<'py, f64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    fn typed<'py, T: Real + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        y: &[f64],
        weights: Option<&[f64]>,
        shift: &[f64],
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (n, d) = shape(py, array);
        let work = n.saturating_mul((d + 2) * (d + 2) / 2);
        let out = with_dense(py, array, |x| {
            run(py, work, |stop| moment_kernel::moments(*x, y, weights, shift, n_threads, stop))
        })?;
        new_matrix(py, out, d + 2)
    }
    let weights = weights.as_ref().map(|weights| vector("weights", weights)).transpose()?;
    let (y, shift) = (vector("y", &y)?, vector("shift", &shift)?);
    either!(&design.inner, |array| typed(py, array, y, weights, shift, n_threads))
}
