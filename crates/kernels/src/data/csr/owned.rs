//! Sparse rows with arrays of their own, for transposes and for indices that arrive in another type.

use super::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, copied, filled, zeros};
use crate::real::Real;
use crate::simd::{Gather, Index};

/// The arrays of a [`Csr`].
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedCsr<T> {
    starts: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<T>,
    n_cols: usize,
    norms: Vec<f64>,
}

/// The row pointer in our own type: it starts at 0, never falls, and ends at `nnz`.
pub fn checked_starts<I: Index>(starts: &[I], nnz: usize) -> Result<Vec<usize>, KernelError> {
    let malformed = |row| KernelError::RowPointer { row, nnz };
    let mut owned = Vec::with_capacity(starts.len());
    let mut last = 0;
    for (row, start) in starts.iter().enumerate() {
        let start = usize::try_from(start.to_i64()).map_err(|_| malformed(row))?;
        if start < last || start > nnz || (row == 0 && start != 0) {
            return Err(malformed(row));
        }
        owned.push(start);
        last = start;
    }
    if owned.is_empty() || last != nnz {
        return Err(malformed(starts.len().saturating_sub(1)));
    }
    Ok(owned)
}

impl<T: Gather> OwnedCsr<T> {
    /// Copy and check the three arrays of a CSR matrix.
    pub fn new(starts: &[usize], columns: &[i32], values: &[T], n_cols: usize) -> Result<Self, KernelError> {
        check_length("indices", columns.len(), values.len())?;
        let starts = checked_starts(&starts.iter().map(|&s| s as i64).collect::<Vec<_>>(), values.len())?;
        let (columns, values) = (copied(columns)?, copied(values)?);
        let norms = Csr::new(&starts, &columns, &values, n_cols)?.measure(1)?.norms;
        Ok(Self { starts, columns, values, n_cols, norms })
    }

    /// The transpose of `x`, its rows (columns of `x`) in the order of the rows of `x`.
    ///
    /// Fails when there are more rows than a column index can name.
    pub fn transpose_of(x: &Csr<'_, T>) -> Result<Self, KernelError> {
        let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
        if i32::try_from(n_rows).is_err() {
            return Err(KernelError::Argument(format!("{n_rows} rows are too many to transpose")));
        }
        let bad = |i| x.fault(i).unwrap_or_else(|| KernelError::Argument("the rows changed".into()));
        // Three arrays of this length: better to hear now that there is no memory for them.
        zeros::<f64>(n_cols.saturating_mul(3))?;
        let mut starts = filled(0usize, n_cols.saturating_add(1))?;
        for i in 0..n_rows {
            for &c in x.row(i).0 {
                *starts.get_mut(super::place(c).saturating_add(1)).ok_or_else(|| bad(i))? += 1;
            }
        }
        for j in 0..n_cols {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let nnz = starts[n_cols];
        let (mut columns, mut values) = (filled(0i32, nnz)?, zeros(nnz)?);
        let mut norms = zeros(n_cols)?;
        for i in 0..n_rows {
            let (cols, vals) = x.row(i);
            for (&c, &v) in cols.iter().zip(vals) {
                let c = super::place(c);
                let at = next.get_mut(c).ok_or_else(|| bad(i))?;
                let (Some(column), Some(value)) = (columns.get_mut(*at), values.get_mut(*at)) else {
                    return Err(bad(i));
                };
                (*column, *value) = (i as i32, v);
                norms[c] += v.to_f64() * v.to_f64();
                *at += 1;
            }
        }
        Ok(Self { starts, columns, values, n_cols: n_rows, norms })
    }

    /// The matrix.
    pub fn rows(&self) -> Csr<'_, T> {
        Csr {
            starts: &self.starts,
            columns: &self.columns,
            values: &self.values,
            n_cols: self.n_cols,
            norms: &self.norms,
        }
    }
}

impl<T: Real> OwnedCsr<T> {
    /// The three arrays.
    #[cfg(test)]
    pub fn arrays(&self) -> (&[usize], &[i32], &[T]) {
        (&self.starts, &self.columns, &self.values)
    }
}
