//! The state of a learner in the precision of its data, behind a handle that knows neither.

use std::any::Any;

use numpy::{Element, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::real::Real;

use crate::arrays::{matrix, new_matrix};
use crate::errors::data_error;

/// A learner of either precision.
pub type State = Box<dyn Any + Send + Sync>;

/// The error of a handle whose data came back in another precision.
pub fn lost() -> PyErr {
    data_error("the handle and its data differ in precision".into())
}

/// A copy of the weights that a learner starts from, which must have the data's dtype, and their shape.
pub fn taken<T: Real + Element>(name: &str, array: &Bound<'_, PyAny>) -> PyResult<(Vec<T>, (usize, usize))> {
    let array: PyReadonlyArray2<'_, T> =
        array.extract().map_err(|_| data_error(format!("{name} must be a matrix of the data's dtype")))?;
    Ok((matrix(name, &array)?.to_vec(), (array.shape()[0], array.shape()[1])))
}

/// What `single` or `double` reads from a learner `A` (f32) or `B` (f64), as a matrix of `k` columns.
pub fn read<'py, A: 'static, B: 'static>(
    py: Python<'py>,
    state: &State,
    k: usize,
    single: impl FnOnce(&A) -> Vec<f32>,
    double: impl FnOnce(&B) -> Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(learner) = state.downcast_ref::<A>() {
        return Ok(new_matrix(py, single(learner), k)?.into_any());
    }
    let learner = state.downcast_ref::<B>().ok_or_else(lost)?;
    Ok(new_matrix(py, double(learner), k)?.into_any())
}
