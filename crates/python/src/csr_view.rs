//! A handle on a sparse matrix that copies nothing, for learners that pass over the rows a few times.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::borrowed::Borrowed;
use separatrix_kernels::simd::{Gather, Index};

use crate::arrays::vector;
use crate::errors::{data_error, to_python};

/// Which types the arrays of a view have: values, then indices.
pub enum Arrays {
    /// float32, int32
    F32I32(Parts<f32, i32>),
    /// float32, int64
    F32I64(Parts<f32, i64>),
    /// float64, int32
    F64I32(Parts<f64, i32>),
    /// float64, int64
    F64I64(Parts<f64, i64>),
}

/// The three arrays of a CSR matrix.
pub struct Parts<T, I> {
    /// Row pointers.
    pub indptr: Py<PyArray1<I>>,
    /// Columns.
    pub indices: Py<PyArray1<I>>,
    /// Values.
    pub data: Py<PyArray1<T>>,
}

/// CsrView(indptr, indices, data, n_cols)
///
/// A sparse matrix over borrowed arrays. Lengths and row pointers are checked when it is built;
/// kernels check every index again where they use it, and the values with it. Repeated columns add up.
#[pyclass(frozen, module = "separatrix._core")]
pub struct CsrView {
    /// The arrays.
    pub arrays: Arrays,
    /// Columns of the matrix.
    pub n_cols: usize,
    n_rows: usize,
}

type Taken<T, I> = Option<(Parts<T, I>, usize)>;

fn take<T: Gather<I> + numpy::Element, I: Index + numpy::Element>(
    arrays: [&Bound<'_, PyAny>; 3],
    n_cols: usize,
) -> PyResult<Taken<T, I>> {
    let (Ok(indptr), Ok(indices), Ok(data)) =
        (arrays[0].cast::<PyArray1<I>>(), arrays[1].cast::<PyArray1<I>>(), arrays[2].cast::<PyArray1<T>>())
    else {
        return Ok(None);
    };
    let guards = (reading(indptr)?, reading(indices)?, reading(data)?);
    let starts = vector("indptr", &guards.0)?;
    let (columns, values) = (vector("indices", &guards.1)?, vector("data", &guards.2)?);
    Borrowed::new(starts, columns, values, n_cols).map_err(to_python)?;
    let parts = Parts {
        indptr: indptr.clone().unbind(),
        indices: indices.clone().unbind(),
        data: data.clone().unbind(),
    };
    Ok(Some((parts, starts.len() - 1)))
}

/// A read-only view of an array.
pub fn reading<'py, T: numpy::Element>(
    array: &Bound<'py, PyArray1<T>>,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    array.try_readonly().map_err(|_| data_error("the array is being written to by another kernel".into()))
}

/// Run `$body` with `$rows: &Borrowed<$T, _>` for the given arrays.
macro_rules! with_parts {
    ($py:expr, $parts:expr, $n_cols:expr, $scalar:ty, |$rows:ident: $T:ident| $body:expr) => {{
        #[allow(dead_code)]
        type $T = $scalar;
        let guards = (
            $crate::csr_view::reading($parts.indptr.bind($py))?,
            $crate::csr_view::reading($parts.indices.bind($py))?,
            $crate::csr_view::reading($parts.data.bind($py))?,
        );
        let view = separatrix_kernels::borrowed::Borrowed::unchecked(
            $crate::arrays::vector("indptr", &guards.0)?,
            $crate::arrays::vector("indices", &guards.1)?,
            $crate::arrays::vector("data", &guards.2)?,
            $n_cols,
        );
        let $rows = &view;
        $body
    }};
}
pub(crate) use with_parts;

/// `with_rows`, for a `CsrView` too.
macro_rules! with_any_rows {
    ($py:expr, $design:expr, |$rows:ident: $T:ident| $body:expr) => {{
        use $crate::csr_view::{Arrays, CsrView, with_parts};
        let any: &Bound<'_, PyAny> = $design;
        if let Ok(view) = any.cast::<CsrView>() {
            let view = view.get();
            match &view.arrays {
                Arrays::F32I32(p) => with_parts!($py, p, view.n_cols, f32, |$rows: $T| $body),
                Arrays::F32I64(p) => with_parts!($py, p, view.n_cols, f32, |$rows: $T| $body),
                Arrays::F64I32(p) => with_parts!($py, p, view.n_cols, f64, |$rows: $T| $body),
                Arrays::F64I64(p) => with_parts!($py, p, view.n_cols, f64, |$rows: $T| $body),
            }
        } else {
            $crate::design::with_rows!($py, any, |$rows: $T| $body)
        }
    }};
}
pub(crate) use with_any_rows;

#[pymethods]
impl CsrView {
    #[new]
    fn new(
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        n_cols: usize,
    ) -> PyResult<Self> {
        let all = [indptr, indices, data];
        let (arrays, n_rows) = if let Some((parts, n)) = take::<f32, i32>(all, n_cols)? {
            (Arrays::F32I32(parts), n)
        } else if let Some((parts, n)) = take::<f32, i64>(all, n_cols)? {
            (Arrays::F32I64(parts), n)
        } else if let Some((parts, n)) = take::<f64, i32>(all, n_cols)? {
            (Arrays::F64I32(parts), n)
        } else if let Some((parts, n)) = take::<f64, i64>(all, n_cols)? {
            (Arrays::F64I64(parts), n)
        } else {
            return Err(data_error(
                "data must be float32 or float64, indptr and indices both int32 or both int64".into(),
            ));
        };
        Ok(Self { arrays, n_cols, n_rows })
    }

    /// (rows, columns)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.n_rows, self.n_cols)
    }
}
