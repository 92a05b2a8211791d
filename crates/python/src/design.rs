//! Handles on the data, and the products with it.

use numpy::{Element, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::dense::Dense as View;
use separatrix_kernels::data::rows::{Rows, check_row};
use separatrix_kernels::error::zeros;
use separatrix_kernels::primal::batch;
use separatrix_kernels::primal::double::{self, Widen};
use separatrix_kernels::real::Real;
use separatrix_kernels::simd::Packed;

use crate::arrays::{matrix, new_matrix, readonly, shape};
use crate::errors::{data_error, to_python};
use crate::precision::{Either, either};
use crate::run::run;
use crate::sparse::Csr;

/// Dense(values)
///
/// A C-contiguous float32 or float64 matrix, borrowed.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Dense {
    /// The array.
    pub inner: DenseAny,
}

/// A dense matrix of either precision.
pub type DenseAny = Either<Py<PyArray2<f32>>, Py<PyArray2<f64>>>;

/// Run `$body`, a `PyResult`, with `$rows: &Csr<$T>` in either precision.
macro_rules! with_csr {
    ($py:expr, $csr:expr, |$rows:ident: $T:ident| $body:expr) => {
        $crate::precision::either!(&$csr.inner, |arrays: $T| arrays.with($py, |$rows| $body))
    };
}
pub(crate) use with_csr;

/// Run `$body`, a `PyResult`, with `$rows: &impl Rows<$T>` for either kind of handle and either precision.
macro_rules! with_rows {
    ($py:expr, $design:expr, |$rows:ident: $T:ident| $body:expr) => {{
        let design: &Bound<'_, PyAny> = $design;
        if let Ok(csr) = design.cast::<$crate::sparse::Csr>() {
            $crate::design::with_csr!($py, csr.get(), |$rows: $T| $body)
        } else {
            let dense = $crate::design::dense_of(design)?.get();
            $crate::precision::either!(&dense.inner, |array: $T| {
                $crate::design::with_dense($py, array, |$rows| $body)
            })
        }
    }};
}
pub(crate) use with_rows;

/// Call `body` with the rows of a dense matrix.
pub fn with_dense<T: Real + Element, R>(
    py: Python<'_>,
    array: &Py<PyArray2<T>>,
    body: impl FnOnce(&View<'_, T>) -> PyResult<R>,
) -> PyResult<R> {
    let guard = readonly(py, array)?;
    body(&view(&guard)?)
}

#[inline(never)]
fn view<'a, T: Real + Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<View<'a, T>> {
    let (n, d) = (array.shape()[0], array.shape()[1]);
    View::new(matrix("X", array)?, n, d).map_err(to_python)
}

#[pymethods]
impl Dense {
    #[new]
    fn new(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let inner = if let Ok(array) = values.cast::<PyArray2<f32>>() {
            Either::F32(array.clone().unbind())
        } else if let Ok(array) = values.cast::<PyArray2<f64>>() {
            Either::F64(array.clone().unbind())
        } else {
            return Err(data_error("values must be a float32 or float64 matrix".into()));
        };
        if !either!(&inner, |array| array.bind(values.py()).is_c_contiguous()) {
            return Err(data_error("values must be C-contiguous".into()));
        }
        Ok(Self { inner })
    }

    /// The array itself, for products that BLAS does better.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        either!(&self.inner, |array| array.bind(py).clone().into_any())
    }

    /// (rows, columns)
    #[getter]
    fn shape(&self, py: Python<'_>) -> (usize, usize) {
        either!(&self.inner, |array| shape(py, array))
    }

    /// Look at all values: false, since no row names a column twice. Raises DataError at the first NaN or
    /// infinity, naming its row and column.
    fn check(&self, py: Python<'_>, n_threads: usize) -> PyResult<bool> {
        either!(&self.inner, |array| with_dense(py, array, |x| run(py, 0, |_| x.check_finite(n_threads))))?;
        Ok(false)
    }
}

/// The weights of a kernel, in the precision of the data.
pub fn weights_of<'py, T: Element>(w: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, T>> {
    w.extract().map_err(|_| data_error("the weights must be a matrix of the data's dtype".into()))
}

fn product<'py, T: Real + Element, X: Rows<T>>(
    py: Python<'py>,
    x: &X,
    w: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let w = weights_of::<T>(w)?;
    let k = w.shape()[1];
    let weights = matrix("weights", &w)?;
    let work = x.n_stored() * k;
    let out = run(py, work, |stop| {
        let mut out = zeros(x.n_rows().saturating_mul(k))?;
        batch::scores(x, weights, k, &mut out, n_threads, stop)?;
        if !out.iter().all(|s| s.is_finite()) {
            (0..x.n_rows()).try_for_each(|i| check_row(x, i))?;
        }
        Ok(out)
    })?;
    Ok(new_matrix(py, out, k)?.into_any())
}

/// Scores X W + 1 b' of shape (n, K) for weights of shape (d, K), or (d + 1, K) with intercepts last.
#[pyfunction]
pub fn scores<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    w: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    fn dense<'py, T: Packed + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        w: &Bound<'py, PyAny>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let w = weights_of::<T>(w)?;
        let k = w.shape()[1];
        let weights = matrix("weights", &w)?;
        let out = with_dense(py, array, |x| {
            run(py, x.n_stored() * k, |stop| {
                let mut out = zeros(x.n_rows().saturating_mul(k))?;
                batch::dense_scores(*x, weights, k, &mut out, n_threads, stop)?;
                Ok(out)
            })
        })?;
        Ok(new_matrix(py, out, k)?.into_any())
    }
    match design.cast::<Dense>() {
        Ok(handle) => either!(&handle.get().inner, |array| dense(py, array, w, n_threads)),
        Err(_) => with_rows!(py, design, |rows: T| product::<T, _>(py, rows, w, n_threads)),
    }
}

/// Adjoint X' R of shape (d, K) for residuals R of shape (n, K).
#[pyfunction]
pub fn adjoint<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    residuals: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(csr) = design.cast::<Csr>() {
        return either!(&csr.get().inner, |x: T| {
            product::<T, _>(py, &x.transposed(py)?.rows(), residuals, n_threads)
        });
    }
    fn dense<'py, T: Packed + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        residuals: &Bound<'py, PyAny>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let r: PyReadonlyArray2<'_, T> = residuals
            .extract()
            .map_err(|_| data_error("the residuals must be a matrix of the data's dtype".into()))?;
        let k = r.shape()[1];
        let values = matrix("residuals", &r)?;
        let sum = with_dense(py, array, |x| {
            run(py, x.n_stored() * k, |stop| {
                let sum = batch::dense_adjoint(*x, values, k, n_threads, stop)?;
                Ok(sum.into_iter().map(T::from_f64).collect::<Vec<T>>())
            })
        })?;
        Ok(new_matrix(py, sum, k)?.into_any())
    }
    either!(&dense_of(design)?.get().inner, |array| dense(py, array, residuals, n_threads))
}

/// Scores X W + 1 b' as `scores` gives them, summed in float64 whatever the data and the weights are.
#[pyfunction]
pub fn double_scores<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    w: &Bound<'py, PyAny>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    fn dense<'py, T: Widen + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        w: &Bound<'py, PyAny>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let w = weights_of::<T>(w)?;
        let (k, weights) = (w.shape()[1], matrix("weights", &w)?);
        let out = with_dense(py, array, |x| {
            run(py, x.n_stored() * k, |stop| double::dense_scores(*x, weights, k, n_threads, stop))
        })?;
        new_matrix(py, out, k)
    }
    if let Ok(csr) = design.cast::<Csr>() {
        return with_csr!(py, csr.get(), |x: T| {
            let w = weights_of::<T>(w)?;
            let (k, weights) = (w.shape()[1], matrix("weights", &w)?);
            let out = run(py, x.n_stored() * k, |stop| double::scores(x, weights, k, n_threads, stop))?;
            new_matrix(py, out, k)
        });
    }
    either!(&dense_of(design)?.get().inner, |array| dense(py, array, w, n_threads))
}

/// Adjoint X' R of shape (d, K) for residuals R of shape (n, K), all in float64 but the data.
#[pyfunction]
pub fn double_adjoint<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    residuals: PyReadonlyArray2<'py, f64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    fn dense<T: Widen + Element>(
        py: Python<'_>,
        array: &Py<PyArray2<T>>,
        values: &[f64],
        k: usize,
        n_threads: usize,
    ) -> PyResult<Vec<f64>> {
        with_dense(py, array, |x| {
            run(py, x.n_stored() * k, |stop| double::dense_adjoint(*x, values, k, n_threads, stop))
        })
    }
    let k = residuals.shape()[1];
    let values = matrix("residuals", &residuals)?;
    let out = if let Ok(csr) = design.cast::<Csr>() {
        with_csr!(py, csr.get(), |x: T| {
            run(py, x.n_stored() * k, |stop| double::adjoint::<T, _>(x, values, k, n_threads, stop))
        })?
    } else {
        either!(&dense_of(design)?.get().inner, |array| dense(py, array, values, k, n_threads)?)
    };
    new_matrix(py, out, k)
}

/// The handle on dense data; anything but that and a `Csr`, which is looked for before, is an error.
pub fn dense_of<'a, 'py>(design: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, Dense>> {
    design.cast::<Dense>().map_err(|_| data_error("expected a _core.Csr or a _core.Dense".into()))
}

/// The largest |x_i| of the rows.
#[pyfunction]
pub fn longest_row(py: Python<'_>, design: &Bound<'_, PyAny>) -> PyResult<f64> {
    with_rows!(py, design, |x: T| {
        run(py, x.n_stored(), |_| {
            Ok((0..x.n_rows()).map(|i| Rows::<T>::squared_norm(x, i)).fold(0.0, f64::max).sqrt())
        })
    })
}
