//! Shapes on grids of pixels.

use numpy::PyArray2;
use pyo3::prelude::*;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::features::pixels::{COUNTS, measure};
use separatrix_kernels::real::Real;

use crate::arrays::new_matrix;
use crate::design::{Dense, with_dense};
use crate::precision::either;
use crate::run::run;

/// Per image: on pixels, components, loops, height and width of the bounding box.
#[pyfunction]
pub fn measure_pixels<'py>(
    py: Python<'py>,
    images: &Dense,
    height: usize,
    width: usize,
    threshold: f64,
    corners: bool,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let counts = either!(&images.inner, |array| {
        with_dense(py, array, |x| {
            // A pixel is looked at by each of its neighbors.
            run(py, x.n_stored().saturating_mul(8), |stop| {
                measure(x, height, width, Real::from_f64(threshold), corners, n_threads, stop)
            })
        })
    })?;
    new_matrix(py, counts, COUNTS)
}
