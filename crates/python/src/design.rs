//! Handles on the data: built once per fit, validated, read by every kernel.

use std::sync::OnceLock;

use numpy::{Element, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::batch;
use separatrix_kernels::csr::{Csr as Sparse, Index};
use separatrix_kernels::dense::Dense as View;
use separatrix_kernels::real::Real;
use separatrix_kernels::rows::{Rows, check_row};
use separatrix_kernels::simd::Packed;

use crate::arrays::{matrix, new_matrix, readonly, shape, vector};
use crate::csr_view::with_any_rows;
use crate::errors::{data_error, to_python};
use crate::run::run;

/// A sparse matrix and, once somebody asks for it, its transpose.
pub struct SparsePair<T> {
    /// The matrix.
    pub rows: Sparse<T>,
    transpose: OnceLock<Sparse<T>>,
}

impl<T: Real> SparsePair<T> {
    /// The transpose, made when first asked for.
    pub fn transposed(&self) -> PyResult<&Sparse<T>> {
        if let Some(t) = self.transpose.get() {
            return Ok(t);
        }
        let t = self.rows.transpose().map_err(to_python)?;
        Ok(self.transpose.get_or_init(|| t))
    }
}

/// Which of the two precisions a sparse handle holds.
pub enum SparseAny {
    /// Single precision.
    F32(SparsePair<f32>),
    /// Double precision.
    F64(SparsePair<f64>),
}

/// Csr(indptr, indices, data, n_cols, n_threads)
///
/// A sparse matrix that owns checked copies of its arrays.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Csr {
    /// The matrix.
    pub inner: SparseAny,
}

fn build<T: Real + Element>(
    py: Python<'_>,
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    data: &[T],
    n_cols: usize,
    n_threads: usize,
) -> PyResult<SparsePair<T>> {
    fn with_index<T: Real, I: Index + Element>(
        py: Python<'_>,
        indptr: PyReadonlyArray1<'_, I>,
        indices: PyReadonlyArray1<'_, I>,
        data: &[T],
        n_cols: usize,
        n_threads: usize,
    ) -> PyResult<SparsePair<T>> {
        let (indptr, indices) = (vector("indptr", &indptr)?, vector("indices", &indices)?);
        let rows = run(py, indices.len(), |_| Sparse::new(indptr, indices, data, n_cols, n_threads))?;
        Ok(SparsePair { rows, transpose: OnceLock::new() })
    }
    if let (Ok(p), Ok(i)) = (indptr.extract(), indices.extract()) {
        return with_index::<T, i32>(py, p, i, data, n_cols, n_threads);
    }
    if let (Ok(p), Ok(i)) = (indptr.extract(), indices.extract()) {
        return with_index::<T, i64>(py, p, i, data, n_cols, n_threads);
    }
    Err(data_error("indptr and indices must both be int32 or both be int64 vectors".into()))
}

#[pymethods]
impl Csr {
    #[new]
    fn new(
        py: Python<'_>,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        n_cols: usize,
        n_threads: usize,
    ) -> PyResult<Self> {
        let inner = if let Ok(data) = data.extract::<PyReadonlyArray1<'_, f32>>() {
            SparseAny::F32(build(py, indptr, indices, vector("data", &data)?, n_cols, n_threads)?)
        } else if let Ok(data) = data.extract::<PyReadonlyArray1<'_, f64>>() {
            SparseAny::F64(build(py, indptr, indices, vector("data", &data)?, n_cols, n_threads)?)
        } else {
            return Err(data_error("data must be a float32 or float64 vector".into()));
        };
        Ok(Self { inner })
    }

    /// (rows, columns)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        match &self.inner {
            SparseAny::F32(x) => (x.rows.n_rows(), x.rows.n_cols()),
            SparseAny::F64(x) => (x.rows.n_rows(), x.rows.n_cols()),
        }
    }

    /// Whether some row names a column twice; rows need not be sorted.
    #[getter]
    fn repeats_columns(&self) -> bool {
        match &self.inner {
            SparseAny::F32(x) => x.rows.repeats_columns(),
            SparseAny::F64(x) => x.rows.repeats_columns(),
        }
    }

    /// Raise DataError at the first NaN or infinity, naming its row and column.
    fn check_finite(&self, py: Python<'_>, n_threads: usize) -> PyResult<()> {
        let _ = n_threads;
        match &self.inner {
            SparseAny::F32(x) => run(py, 0, |_| x.rows.check_finite()),
            SparseAny::F64(x) => run(py, 0, |_| x.rows.check_finite()),
        }
    }
}

/// Dense(values)
///
/// A C-contiguous float32 or float64 matrix, borrowed.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Dense {
    /// The array.
    pub inner: DenseAny,
}

/// Which of the two precisions a dense handle holds.
pub enum DenseAny {
    /// Single precision.
    F32(Py<PyArray2<f32>>),
    /// Double precision.
    F64(Py<PyArray2<f64>>),
}

/// Run `$body` with `$rows: &impl Rows<$T>` for either kind of handle and either precision.
macro_rules! with_rows {
    ($py:expr, $design:expr, |$rows:ident: $T:ident| $body:expr) => {{
        use separatrix_kernels::dense::Dense as View;
        let design: &Bound<'_, PyAny> = $design;
        if let Ok(csr) = design.cast::<$crate::design::Csr>() {
            match &csr.get().inner {
                $crate::design::SparseAny::F32(pair) => {
                    #[allow(dead_code)]
                    type $T = f32;
                    let $rows = &pair.rows;
                    $body
                }
                $crate::design::SparseAny::F64(pair) => {
                    #[allow(dead_code)]
                    type $T = f64;
                    let $rows = &pair.rows;
                    $body
                }
            }
        } else if let Ok(dense) = design.cast::<$crate::design::Dense>() {
            match &dense.get().inner {
                $crate::design::DenseAny::F32(array) => {
                    #[allow(dead_code)]
                    type $T = f32;
                    let guard = $crate::arrays::readonly($py, array)?;
                    let (n, d) = $crate::arrays::shape($py, array);
                    let view = View::new($crate::arrays::matrix("X", &guard)?, n, d)
                        .map_err($crate::errors::to_python)?;
                    let $rows = &view;
                    $body
                }
                $crate::design::DenseAny::F64(array) => {
                    #[allow(dead_code)]
                    type $T = f64;
                    let guard = $crate::arrays::readonly($py, array)?;
                    let (n, d) = $crate::arrays::shape($py, array);
                    let view = View::new($crate::arrays::matrix("X", &guard)?, n, d)
                        .map_err($crate::errors::to_python)?;
                    let $rows = &view;
                    $body
                }
            }
        } else {
            Err($crate::errors::data_error("expected a _core.Csr or a _core.Dense".into()))
        }
    }};
}
pub(crate) use with_rows;

#[pymethods]
impl Dense {
    #[new]
    fn new(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let inner = if let Ok(array) = values.cast::<PyArray2<f32>>() {
            DenseAny::F32(array.clone().unbind())
        } else if let Ok(array) = values.cast::<PyArray2<f64>>() {
            DenseAny::F64(array.clone().unbind())
        } else {
            return Err(data_error("values must be a float32 or float64 matrix".into()));
        };
        let contiguous = match &inner {
            DenseAny::F32(a) => a.bind(values.py()).is_c_contiguous(),
            DenseAny::F64(a) => a.bind(values.py()).is_c_contiguous(),
        };
        if !contiguous {
            return Err(data_error("values must be C-contiguous".into()));
        }
        Ok(Self { inner })
    }

    /// The array itself, for products that BLAS does better.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.inner {
            DenseAny::F32(array) => array.bind(py).clone().into_any(),
            DenseAny::F64(array) => array.bind(py).clone().into_any(),
        }
    }

    /// (rows, columns)
    #[getter]
    fn shape(&self, py: Python<'_>) -> (usize, usize) {
        match &self.inner {
            DenseAny::F32(array) => shape(py, array),
            DenseAny::F64(array) => shape(py, array),
        }
    }

    /// Raise DataError at the first NaN or infinity, naming its row and column.
    fn check_finite(&self, py: Python<'_>, n_threads: usize) -> PyResult<()> {
        fn check<T: Real + Element>(
            py: Python<'_>,
            array: &Py<PyArray2<T>>,
            n_threads: usize,
        ) -> PyResult<()> {
            let guard = readonly(py, array)?;
            let (n, d) = shape(py, array);
            let view = View::new(matrix("X", &guard)?, n, d).map_err(to_python)?;
            run(py, 0, |_| view.check_finite(n_threads))
        }
        match &self.inner {
            DenseAny::F32(array) => check(py, array, n_threads),
            DenseAny::F64(array) => check(py, array, n_threads),
        }
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
        let mut out = vec![T::ZERO; x.n_rows() * k];
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
        let guard = readonly(py, array)?;
        let (n, d) = shape(py, array);
        let view = View::new(matrix("X", &guard)?, n, d).map_err(to_python)?;
        let w = weights_of::<T>(w)?;
        let k = w.shape()[1];
        let weights = matrix("weights", &w)?;
        let out = run(py, view.n_stored() * k, |stop| {
            let mut out = vec![T::ZERO; n * k];
            batch::dense_scores(view, weights, k, &mut out, n_threads, stop)?;
            Ok(out)
        })?;
        Ok(new_matrix(py, out, k)?.into_any())
    }
    if let Ok(csr) = design.cast::<Csr>() {
        return match &csr.get().inner {
            SparseAny::F32(pair) => product(py, &pair.rows, w, n_threads),
            SparseAny::F64(pair) => product(py, &pair.rows, w, n_threads),
        };
    }
    match design.cast::<Dense>() {
        Ok(handle) => match &handle.get().inner {
            DenseAny::F32(array) => dense(py, array, w, n_threads),
            DenseAny::F64(array) => dense(py, array, w, n_threads),
        },
        Err(_) => with_any_rows!(py, design, |rows: T| product(py, rows, w, n_threads)),
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
        return match &csr.get().inner {
            SparseAny::F32(pair) => product::<f32, _>(py, pair.transposed()?, residuals, n_threads),
            SparseAny::F64(pair) => product::<f64, _>(py, pair.transposed()?, residuals, n_threads),
        };
    }
    fn dense<'py, T: Packed + Element>(
        py: Python<'py>,
        array: &Py<PyArray2<T>>,
        residuals: &Bound<'py, PyAny>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let guard = readonly(py, array)?;
        let (n, d) = shape(py, array);
        let view = View::new(matrix("X", &guard)?, n, d).map_err(to_python)?;
        let r: PyReadonlyArray2<'_, T> = residuals
            .extract()
            .map_err(|_| data_error("the residuals must be a matrix of the data's dtype".into()))?;
        let k = r.shape()[1];
        let values = matrix("residuals", &r)?;
        let sum = run(py, view.n_stored() * k, |stop| {
            let sum = batch::dense_adjoint(view, values, k, n_threads, stop)?;
            Ok(sum.into_iter().map(T::from_f64).collect::<Vec<T>>())
        })?;
        Ok(new_matrix(py, sum, k)?.into_any())
    }
    match design.cast::<Dense>() {
        Ok(handle) => match &handle.get().inner {
            DenseAny::F32(array) => dense(py, array, residuals, n_threads),
            DenseAny::F64(array) => dense(py, array, residuals, n_threads),
        },
        Err(_) => Err(data_error("expected a _core.Csr or a _core.Dense".into())),
    }
}
