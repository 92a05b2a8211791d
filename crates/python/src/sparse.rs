//! A handle on a sparse matrix: its columns and values are read where they lie.

use std::sync::OnceLock;

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::KernelError;
use separatrix_kernels::data::csr::{Csr as Rows, Measured, OwnedCsr, checked_starts};
use separatrix_kernels::simd::{Gather, Index};

use crate::arrays::vector;
use crate::errors::{data_error, to_python};
use crate::precision::{Either, either};
use crate::run::run;

/// The columns of a matrix: borrowed, or narrowed to 32 bits.
enum Columns {
    Borrowed(Py<PyArray1<i32>>),
    Narrowed(Vec<i32>),
}

/// The arrays of a matrix of one precision, and what was found out about it.
pub struct Arrays<T: Element> {
    starts: Vec<usize>,
    columns: Columns,
    values: Py<PyArray1<T>>,
    n_cols: usize,
    measured: OnceLock<Measured>,
    transpose: OnceLock<OwnedCsr<T>>,
}

/// A sparse matrix of either precision.
pub type SparseAny = Either<Arrays<f32>, Arrays<f64>>;

/// Csr(indptr, indices, data, n_cols)
///
/// A sparse matrix over borrowed arrays. Lengths and row pointers are checked when it is built; `check` looks
/// at all columns and values, and kernels check every column again where they use it.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Csr {
    /// The matrix.
    pub inner: SparseAny,
}

fn reading<'py, T: Element>(array: &Bound<'py, PyArray1<T>>) -> PyResult<PyReadonlyArray1<'py, T>> {
    array.try_readonly().map_err(|_| data_error("the array is being written to by another kernel".into()))
}

/// Columns of 64 bits in 32; those that do not fit are outside every matrix that we take.
fn narrowed(columns: &[i64], starts: &[usize], n_cols: usize) -> Result<Vec<i32>, KernelError> {
    let narrow = |(at, &index): (usize, &i64)| {
        i32::try_from(index).map_err(|_| {
            let row = starts.partition_point(|&start| start <= at).saturating_sub(1);
            KernelError::IndexOutOfRange { row, index, n_cols }
        })
    };
    columns.iter().enumerate().map(narrow).collect()
}

/// The arrays of a matrix while nobody may write to them.
struct Lent<'a, 'py, T: Element> {
    arrays: &'a Arrays<T>,
    values: PyReadonlyArray1<'py, T>,
    borrowed: Option<PyReadonlyArray1<'py, i32>>,
}

impl<T: Gather + Element> Lent<'_, '_, T> {
    #[inline(never)]
    fn rows(&self) -> PyResult<Rows<'_, T>> {
        let columns = match (&self.borrowed, &self.arrays.columns) {
            (Some(columns), _) => vector("indices", columns)?,
            (None, Columns::Narrowed(columns)) => columns,
            (None, Columns::Borrowed(_)) => &[],
        };
        let norms = self.arrays.measured.get().map_or(&[][..], |measured| &measured.norms);
        let values = vector("data", &self.values)?;
        let rows = Rows::new(&self.arrays.starts, columns, values, self.arrays.n_cols).map_err(to_python)?;
        Ok(rows.with_norms(norms))
    }
}

impl<T: Gather + Element> Arrays<T> {
    fn new(
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyArray1<T>>,
        n_cols: usize,
    ) -> PyResult<Self> {
        fn starts<I: Index + Element>(indptr: &Bound<'_, PyArray1<I>>, nnz: usize) -> PyResult<Vec<usize>> {
            let indptr = reading(indptr)?;
            checked_starts(vector("indptr", &indptr)?, nnz).map_err(to_python)
        }
        if i32::try_from(n_cols).is_err() {
            return Err(data_error(format!("{n_cols} columns are too many: at most 2^31 - 1")));
        }
        let nnz = vector("data", &reading(values)?)?.len();
        let (starts, columns) = if let (Ok(indptr), Ok(indices)) =
            (indptr.cast::<PyArray1<i32>>(), indices.cast::<PyArray1<i32>>())
        {
            (starts(indptr, nnz)?, Columns::Borrowed(indices.clone().unbind()))
        } else if let (Ok(indptr), Ok(indices)) =
            (indptr.cast::<PyArray1<i64>>(), indices.cast::<PyArray1<i64>>())
        {
            let starts = starts(indptr, nnz)?;
            let indices = reading(indices)?;
            let columns = narrowed(vector("indices", &indices)?, &starts, n_cols).map_err(to_python)?;
            (starts, Columns::Narrowed(columns))
        } else {
            return Err(data_error("indptr and indices must both be int32 or both be int64 vectors".into()));
        };
        let arrays = Self {
            starts,
            columns,
            values: values.clone().unbind(),
            n_cols,
            measured: OnceLock::new(),
            transpose: OnceLock::new(),
        };
        arrays.with(values.py(), |_| Ok(()))?;
        Ok(arrays)
    }

    /// Call `body` with the rows.
    pub fn with<R>(&self, py: Python<'_>, body: impl FnOnce(&Rows<'_, T>) -> PyResult<R>) -> PyResult<R> {
        body(&self.lend(py)?.rows()?)
    }

    #[inline(never)]
    fn lend<'py>(&self, py: Python<'py>) -> PyResult<Lent<'_, 'py, T>> {
        let values = reading(self.values.bind(py))?;
        let borrowed = match &self.columns {
            Columns::Borrowed(array) => Some(reading(array.bind(py))?),
            Columns::Narrowed(_) => None,
        };
        Ok(Lent { arrays: self, values, borrowed })
    }

    /// (rows, columns)
    pub fn shape(&self) -> (usize, usize) {
        (self.starts.len() - 1, self.n_cols)
    }

    /// Stored values, the sum of their squared numbers over the rows, and the sum of |x_i|^2 (NaN before `check`).
    fn extent(&self) -> (usize, f64, f64) {
        let pairs = self.starts.windows(2).map(|ends| ((ends[1] - ends[0]) as f64).powi(2)).sum();
        let squares = self.measured.get().map_or(f64::NAN, |measured| measured.norms.iter().sum());
        (self.starts.last().copied().unwrap_or(0), pairs, squares)
    }

    fn check(&self, py: Python<'_>, n_threads: usize) -> PyResult<bool> {
        let measured = self.with(py, |rows| run(py, 0, |_| rows.measure(n_threads)))?;
        Ok(self.measured.get_or_init(|| measured).repeats)
    }

    /// The transpose, made when first asked for.
    pub fn transposed(&self, py: Python<'_>) -> PyResult<&OwnedCsr<T>> {
        if let Some(transpose) = self.transpose.get() {
            return Ok(transpose);
        }
        let transpose = self.with(py, |rows| run(py, 0, |_| OwnedCsr::transpose_of(rows)))?;
        Ok(self.transpose.get_or_init(|| transpose))
    }
}

#[pymethods]
impl Csr {
    #[new]
    fn new(
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        n_cols: usize,
    ) -> PyResult<Self> {
        let inner = if let Ok(data) = data.cast::<PyArray1<f32>>() {
            Either::F32(Arrays::new(indptr, indices, data, n_cols)?)
        } else if let Ok(data) = data.cast::<PyArray1<f64>>() {
            Either::F64(Arrays::new(indptr, indices, data, n_cols)?)
        } else {
            return Err(data_error("data must be a float32 or float64 vector".into()));
        };
        Ok(Self { inner })
    }

    /// (rows, columns)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        either!(&self.inner, |x| x.shape())
    }

    /// Stored values, the sum of their squared numbers over the rows, and the sum of |x_i|^2 (NaN before `check`).
    #[getter]
    fn extent(&self) -> (usize, f64, f64) {
        either!(&self.inner, |x| x.extent())
    }

    /// Look at all columns and values: whether some row names a column twice. Raises DataError at the first
    /// column outside the matrix, NaN or infinity, naming row and column.
    fn check(&self, py: Python<'_>, n_threads: usize) -> PyResult<bool> {
        either!(&self.inner, |x| x.check(py, n_threads))
    }

    /// The same matrix with its values in float64.
    fn double(&self, py: Python<'_>) -> PyResult<Self> {
        let copy = |columns: &Columns| match columns {
            Columns::Borrowed(array) => Columns::Borrowed(array.clone_ref(py)),
            Columns::Narrowed(columns) => Columns::Narrowed(columns.clone()),
        };
        let (starts, columns, values, n_cols) = match &self.inner {
            Either::F32(x) => {
                let values = reading(x.values.bind(py))?;
                let values: Vec<f64> = vector("data", &values)?.iter().map(|&v| v.into()).collect();
                (&x.starts, copy(&x.columns), PyArray1::from_vec(py, values).unbind(), x.n_cols)
            }
            Either::F64(x) => (&x.starts, copy(&x.columns), x.values.clone_ref(py), x.n_cols),
        };
        let (measured, transpose) = (OnceLock::new(), OnceLock::new());
        let starts = starts.clone();
        Ok(Self { inner: Either::F64(Arrays { starts, columns, values, n_cols, measured, transpose }) })
    }
}
