//! Data and learners in single or double precision, behind handles that know neither: written once, here.

use std::any::Any;

use numpy::{Element, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::error::zeros;
use separatrix_kernels::real::Real;

use crate::arrays::matrix;
use crate::errors::{data_error, to_python};

/// Something in single precision, or in double.
pub enum Either<A, B> {
    /// Single precision.
    F32(A),
    /// Double precision.
    F64(B),
}

/// Evaluate `$body` with what an [`Either`] holds, `$T` its precision; for two of them, with both where their
/// precisions agree. With `=>` the result is an [`Either`] again.
macro_rules! either {
    ($value:expr, |$x:ident| => $body:expr) => {
        match $value {
            $crate::precision::Either::F32($x) => $crate::precision::Either::F32($body),
            $crate::precision::Either::F64($x) => $crate::precision::Either::F64($body),
        }
    };
    ($value:expr, |$x:ident| $body:expr) => {
        match $value {
            $crate::precision::Either::F32($x) => $body,
            $crate::precision::Either::F64($x) => $body,
        }
    };
    ($value:expr, |$x:ident: $T:ident| $body:expr) => {
        match $value {
            $crate::precision::Either::F32($x) => {
                #[allow(dead_code)]
                type $T = f32;
                $body
            }
            $crate::precision::Either::F64($x) => {
                #[allow(dead_code)]
                type $T = f64;
                $body
            }
        }
    };
    ($one:expr, $other:expr, |$x:ident, $y:ident| $body:expr) => {
        match ($one, $other) {
            ($crate::precision::Either::F32($x), $crate::precision::Either::F32($y)) => $body,
            ($crate::precision::Either::F64($x), $crate::precision::Either::F64($y)) => $body,
            _ => Err($crate::precision::lost()),
        }
    };
}
pub(crate) use either;

/// A learner of either precision.
pub type State = Box<dyn Any + Send + Sync>;

/// The error of a handle whose data came back in another precision.
pub fn lost() -> PyErr {
    data_error("matrices, or a handle and its data, differ in precision (float32 and float64)".into())
}

/// The learner of a handle, which is of this type.
pub fn learner<L: 'static>(state: &mut State) -> PyResult<&mut L> {
    state.downcast_mut().ok_or_else(lost)
}

/// `Ok($body)` with the learner `$Kind<f32>` or `$Kind<f64>` of a handle.
macro_rules! of_learner {
    ($state:expr, $Kind:ident, |$learner:ident| $body:expr) => {
        if let Some($learner) = $state.downcast_mut::<$Kind<f32>>() {
            Ok($body)
        } else {
            $crate::precision::learner::<$Kind<f64>>($state).map(|$learner| $body)
        }
    };
}
pub(crate) use of_learner;

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
