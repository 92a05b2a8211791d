//! Maps kernel errors to Python exceptions, once.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use separatrix_kernels::KernelError;

/// `separatrix.errors.DataError` with the kernel's message (KeyboardInterrupt for an interrupt).
pub fn to_python(error: KernelError) -> PyErr {
    if error == KernelError::Interrupted {
        return PyKeyboardInterrupt::new_err(());
    }
    data_error(error.to_string())
}

/// `separatrix.errors.DataError` with a message of our own.
pub fn data_error(message: String) -> PyErr {
    Python::attach(|py| {
        let class = py.import("separatrix.errors").and_then(|module| module.getattr("DataError"));
        match class.and_then(|class| class.call1((message.clone(),))) {
            Ok(value) => PyErr::from_value(value),
            Err(_) => PyValueError::new_err(message),
        }
    })
}
