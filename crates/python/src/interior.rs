//! Row by row moves of the interior-point method.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use separatrix_kernels::dual::interior::{self as kernel, Rows};

use crate::arrays::{matrix, new_matrix, vector};
use crate::run::run;

type Matrix<'py> = PyReadonlyArray2<'py, f64>;
type NewMatrix<'py> = Bound<'py, PyArray2<f64>>;
type NewVector<'py> = Bound<'py, PyArray1<f64>>;

/// Duals and slacks as they came, kept while a kernel reads them.
#[derive(FromPyObject)]
pub struct Held<'py>(Matrix<'py>, Matrix<'py>, PyReadonlyArray2<'py, bool>, Matrix<'py>);

impl Held<'_> {
    fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(Rows {
            n_labels: self.0.shape()[1],
            alpha: matrix("alpha", &self.0)?,
            mu: matrix("mu", &self.1)?,
            member: matrix("member", &self.2)?,
            excess: matrix("excess", &self.3)?,
        })
    }
}

/// Moves of the duals towards alpha mu = products while the scores stay, and of xi; `rows` are alpha, mu,
/// member and excess.
#[pyfunction]
pub fn fixed_moves<'py>(
    py: Python<'py>,
    rows: Held<'py>,
    products: Matrix<'py>,
) -> PyResult<(NewMatrix<'py>, NewVector<'py>)> {
    let rows = rows.rows()?;
    let products = matrix("products", &products)?;
    let (fixed, lifts) = run(py, products.len(), |_| kernel::fixed_moves(rows, products))?;
    Ok((new_matrix(py, fixed, rows.n_labels)?, PyArray1::from_vec(py, lifts)))
}

/// Moves of duals and slacks when the scores move by `ds`, and the longest step that keeps them positive.
#[pyfunction]
pub fn interior_moves<'py>(
    py: Python<'py>,
    rows: Held<'py>,
    fixed: Matrix<'py>,
    lifts: PyReadonlyArray1<'py, f64>,
    ds: Matrix<'py>,
) -> PyResult<(NewMatrix<'py>, NewMatrix<'py>, f64)> {
    let rows = rows.rows()?;
    let (fixed, lifts, ds) = (matrix("fixed", &fixed)?, vector("lifts", &lifts)?, matrix("ds", &ds)?);
    let (dalpha, dmu, longest) = run(py, ds.len(), |_| kernel::moves(rows, fixed, lifts, ds))?;
    Ok((new_matrix(py, dalpha, rows.n_labels)?, new_matrix(py, dmu, rows.n_labels)?, longest))
}
