//! The state of a learner in the precision of its data, behind a handle that knows neither.

use std::any::Any;

use numpy::{Element, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::error::zeros;
use separatrix_kernels::real::Real;

use crate::arrays::{matrix, new_matrix};
use crate::errors::{data_error, to_python};

/// A learner of either precision.
pub type State = Box<dyn Any + Send + Sync>;

/// The error of a handle whose data came back in another precision.
pub fn lost() -> PyErr {
    data_error("the handle and its data differ in precision".into())
}

/// A copy of the weights that a learner starts from, which must have the data's dtype, and their shape;
/// a shape (d, K) alone stands for zeros.
pub fn taken<T: Real + Element>(name: &str, array: &Bound<'_, PyAny>) -> PyResult<(Vec<T>, (usize, usize))> {
    if let Ok((height, k)) = array.extract::<(usize, usize)>() {
        let size = height.checked_mul(k).ok_or_else(|| data_error(format!("{name} would be too large")))?;
        return Ok((zeros(size).map_err(to_python)?, (height, k)));
    }
    let array: PyReadonlyArray2<'_, T> =
        array.extract().map_err(|_| data_error(format!("{name} must be a matrix of the data's dtype")))?;
    Ok((matrix(name, &array)?.to_vec(), (array.shape()[0], array.shape()[1])))
}

/// What `single` or `double` takes from a learner `A` (f32) or `B` (f64), as matrices of `k` columns.
pub fn read<'py, A: 'static, B: 'static, const N: usize>(
    py: Python<'py>,
    state: &mut State,
    k: usize,
    single: impl FnOnce(&mut A) -> [Vec<f32>; N],
    double: impl FnOnce(&mut B) -> [Vec<f64>; N],
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    fn matrices<'py, T: Element>(
        py: Python<'py>,
        all: impl IntoIterator<Item = Vec<T>>,
        k: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        all.into_iter().map(|values| Ok(new_matrix(py, values, k)?.into_any())).collect()
    }
    if let Some(learner) = state.downcast_mut::<A>() {
        return matrices(py, single(learner), k);
    }
    matrices(py, double(state.downcast_mut::<B>().ok_or_else(lost)?), k)
}

/// What `single` or `double` says of a learner `A` (f32) or `B` (f64).
pub fn ask<'a, A: 'static, B: 'static, R>(
    state: &'a State,
    single: impl FnOnce(&'a A) -> R,
    double: impl FnOnce(&'a B) -> R,
) -> PyResult<R> {
    match (state.downcast_ref::<A>(), state.downcast_ref::<B>()) {
        (Some(learner), _) => Ok(single(learner)),
        (_, Some(learner)) => Ok(double(learner)),
        _ => Err(lost()),
    }
}
