//! The one error type of the kernels.

use thiserror::Error;

/// What can be wrong with the input of a kernel.
#[derive(Debug, Error, PartialEq)]
pub enum KernelError {
    /// A stored value is NaN or infinite.
    #[error("Input X contains {value} at row {row}, column {column}.")]
    NotFinite {
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// "NaN" or "infinity".
        value: &'static str,
    },
    /// A column index is outside the matrix.
    #[error("column index {index} in row {row} is outside 0..{n_cols}")]
    IndexOutOfRange {
        /// Row of the index.
        row: usize,
        /// The index.
        index: i64,
        /// Number of columns.
        n_cols: usize,
    },
    /// The row pointer of a CSR matrix is malformed.
    #[error("row pointer is malformed at row {row}: it must start at 0, never fall, and end at {nnz}")]
    RowPointer {
        /// First bad row.
        row: usize,
        /// Number of stored values.
        nnz: usize,
    },
    /// Two lengths that must agree do not.
    #[error("{what} has length {found}, expected {expected}")]
    Length {
        /// Name of the argument.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A file does not follow its format.
    #[error("{}{message}", if *line == 0 { String::new() } else { format!("line {line}: ") })]
    Format {
        /// Line of the file, from one; zero where no line is to blame.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A file cannot be read.
    #[error("{0}")]
    Read(String),
    /// An argument has a value that is not allowed.
    #[error("{0}")]
    Argument(String),
    /// There is no memory for what the data ask for.
    #[error("there is no memory for {n} {what} ({:.1} MB)", *bytes as f64 / 1e6)]
    Memory {
        /// How many.
        n: usize,
        /// Of what.
        what: &'static str,
        /// Bytes of all of them.
        bytes: usize,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Fail unless `found == expected`.
pub fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), KernelError> {
    if found == expected { Ok(()) } else { Err(KernelError::Length { what, found, expected }) }
}

/// Fail unless all `values` are finite and none is below zero.
pub fn check_not_negative<T: crate::real::Real>(what: &'static str, values: &[T]) -> Result<(), KernelError> {
    if values.iter().all(|&v| v >= T::ZERO && v.is_finite()) {
        Ok(())
    } else {
        Err(KernelError::Argument(format!("{what} must be finite and not negative")))
    }
}

/// Fail unless memory for `n` values of type `T` can be had.
fn room<T>(n: usize) -> Result<(), KernelError> {
    let failed = |_| KernelError::Memory { n, what: "values", bytes: n.saturating_mul(size_of::<T>()) };
    Vec::<T>::new().try_reserve_exact(n).map_err(failed)
}

/// `n` times a value, or an error where memory for them cannot be had.
///
/// Asked for first and had again: memory that is zero as it comes from the system is not written.
pub fn filled<T: Clone>(value: T, n: usize) -> Result<Vec<T>, KernelError> {
    room::<T>(n)?;
    Ok(vec![value; n])
}

/// `n` zeros, or an error where memory for them cannot be had.
pub fn zeros<T: crate::real::Real>(n: usize) -> Result<Vec<T>, KernelError> {
    filled(T::ZERO, n)
}

/// A copy, or an error where memory for it cannot be had.
pub fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>, KernelError> {
    room::<T>(values.len())?;
    Ok(values.to_vec())
}
