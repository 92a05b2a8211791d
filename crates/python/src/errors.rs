//! Maps kernel errors to Python exceptions, once.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use separatrix_kernels::KernelError;

/// The exception of `separatrix.errors` with the kernel's message (KeyboardInterrupt for an interrupt, OSError for
/// a file that cannot be read, MemoryError where there is none).
pub fn to_python(error: KernelError) -> PyErr {
    match error {
        KernelError::Interrupted => PyKeyboardInterrupt::new_err(()),
        KernelError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        KernelError::Read(message) => PyOSError::new_err(message),
        KernelError::Format { line, message } => format_error(message, line),
        other => data_error(other.to_string()),
    }
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

/// `separatrix.errors.FormatError` at a line (none for zero).
fn format_error(message: String, line: usize) -> PyErr {
    Python::attach(|py| {
        let class = py.import("separatrix.errors").and_then(|module| module.getattr("FormatError"));
        match class.and_then(|class| class.call1((message.clone(), (line > 0).then_some(line)))) {
            Ok(value) => PyErr::from_value(value),
            Err(_) => PyValueError::new_err(message),
        }
    })
}
