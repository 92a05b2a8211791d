//! Takes NumPy arrays over and checks their layout.
//!
//! Nothing here is inlined: what is called once per array need not be compiled for every call.

use numpy::{Element, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::data_error;

/// The values of a C-contiguous matrix.
#[inline(never)]
pub fn matrix<'a, T: Element>(name: &str, array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    // A slice of a matrix in Fortran order is contiguous too, but its transpose.
    match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => Ok(values),
        _ => Err(data_error(format!("{name} must be C-contiguous"))),
    }
}

/// The values of a contiguous vector.
#[inline(never)]
pub fn vector<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| data_error(format!("{name} must be contiguous")))
}

/// A read-only view of an array that a handle keeps.
#[inline(never)]
pub fn readonly<'py, T: Element>(
    py: Python<'py>,
    array: &Py<PyArray2<T>>,
) -> PyResult<PyReadonlyArray2<'py, T>> {
    array
        .bind(py)
        .try_readonly()
        .map_err(|_| data_error("the array is being written to by another kernel".into()))
}

/// A new matrix from values computed row after row.
#[inline(never)]
pub fn new_matrix<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    n_cols: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let n_rows = values.len() / n_cols.max(1);
    numpy::PyArray1::from_vec(py, values).reshape([n_rows, n_cols])
}

/// Shape of an array that a handle keeps.
pub fn shape<T: Element>(py: Python<'_>, array: &Py<PyArray2<T>>) -> (usize, usize) {
    let shape = array.bind(py).shape();
    (shape[0], shape[1])
}
