//! Products of features as new columns.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::features::products::expand::{self as kernel, Expansion};
use separatrix_kernels::features::products::{Column, Made, Naming, joint as pairs};
use separatrix_kernels::real::Real;
use separatrix_kernels::simd::Gather;

use crate::arrays::new_matrix;
use crate::design::{Dense, with_dense};
use crate::precision::either;
use crate::run::run;
use crate::sparse::{Arrays, Csr};

/// indptr, indices and data of a new sparse matrix.
type Parts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn parts<I: Column + Element, T: Real + Element>(py: Python<'_>, made: Made<I, T>) -> Parts<'_> {
    let columns = PyArray1::from_vec(py, made.columns).into_any();
    (PyArray1::from_vec(py, made.starts), columns, PyArray1::from_vec(py, made.values).into_any())
}

fn naming(n_features: Option<u64>) -> Naming {
    n_features.map_or(Naming::Place, Naming::Hash)
}

/// Products of the entries of each sparse row: named by their place (`wide`: in 64 bits), or hashed.
#[pyfunction]
#[pyo3(signature = (design, min_degree, max_degree, interaction_only, n_features, wide, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn expand<'py>(
    py: Python<'py>,
    design: &Csr,
    min_degree: usize,
    max_degree: usize,
    interaction_only: bool,
    n_features: Option<u64>,
    wide: bool,
    n_threads: usize,
) -> PyResult<Parts<'py>> {
    fn typed<'py, I: Column + Element, T: Gather + Element>(
        py: Python<'py>,
        arrays: &Arrays<T>,
        expansion: &Expansion,
        n_threads: usize,
    ) -> PyResult<Parts<'py>> {
        let made: Made<I, T> = arrays.with(py, |x| {
            let total = |i| expansion.total(x.row(i).0.len()).map_or(usize::MAX, |n| n as usize);
            let work = (0..x.n_rows()).map(total).fold(0, usize::saturating_add);
            run(py, work, |stop| kernel::expand(x, expansion, n_threads, stop))
        })?;
        Ok(parts(py, made))
    }
    let expansion = Expansion { min_degree, max_degree, interaction_only, naming: naming(n_features) };
    either!(&design.inner, |x: T| match wide {
        false => typed::<i32, T>(py, x, &expansion, n_threads),
        true => typed::<i64, T>(py, x, &expansion, n_threads),
    })
}

/// Products of the values of each dense row.
#[pyfunction]
pub fn expand_dense<'py>(
    py: Python<'py>,
    design: &Dense,
    min_degree: usize,
    max_degree: usize,
    interaction_only: bool,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let expansion = Expansion { min_degree, max_degree, interaction_only, naming: Naming::Place };
    either!(&design.inner, |array| {
        let (values, width) = with_dense(py, array, |x| {
            let width = expansion.total(x.n_cols()).map_or(usize::MAX, |n| n as usize);
            let work = width.saturating_mul(x.n_rows());
            let made = run(py, work, |stop| kernel::expand_dense(x, &expansion, n_threads, stop))?;
            Ok((made, width))
        })?;
        Ok(new_matrix(py, values, width)?.into_any())
    })
}

/// Outer products of the rows of x and z: column q d + j holds z_q x_j, or a hash of both.
#[pyfunction]
#[pyo3(signature = (x, z, n_features, wide, n_threads))]
pub fn joint<'py>(
    py: Python<'py>,
    x: &Csr,
    z: &Csr,
    n_features: Option<u64>,
    wide: bool,
    n_threads: usize,
) -> PyResult<Parts<'py>> {
    fn typed<'py, I: Column + Element, T: Gather + Element>(
        py: Python<'py>,
        (x, z): (&Arrays<T>, &Arrays<T>),
        naming: Naming,
        n_threads: usize,
    ) -> PyResult<Parts<'py>> {
        let made: Made<I, T> = x.with(py, |x| {
            z.with(py, |z| {
                let width = z.n_stored() / z.n_rows().max(1) + 1;
                let work = x.n_stored().saturating_mul(width);
                run(py, work, |stop| pairs::joint(x, z, naming, n_threads, stop))
            })
        })?;
        Ok(parts(py, made))
    }
    let naming = naming(n_features);
    either!(&x.inner, &z.inner, |x, z| match wide {
        false => typed::<i32, _>(py, (x, z), naming, n_threads),
        true => typed::<i64, _>(py, (x, z), naming, n_threads),
    })
}
