//! Building sparse rows: one pass that copies, checks and measures every row.

use rayon::prelude::*;

use super::{Csr, Index};
use crate::column_set::ColumnSet;
use crate::error::{KernelError, check_length};
use crate::real::Real;
use crate::rows::sum_of_squares;
use crate::simd::{Task, dispatch};
use crate::threads::{MOST, WORTH_THREADS, with_threads};

impl<T: Real> Csr<T> {
    /// Copy and check the three arrays of a CSR matrix, on `n_threads` threads.
    pub fn new<I: Index>(
        starts: &[I],
        columns: &[I],
        values: &[T],
        n_cols: usize,
        n_threads: usize,
    ) -> Result<Self, KernelError> {
        check_length("indices", columns.len(), values.len())?;
        if u32::try_from(n_cols).is_err() {
            return Err(KernelError::Argument(format!("{n_cols} columns are too many: at most 2^32 - 1")));
        }
        let starts = checked_starts(starts, values.len())?;
        let mut x = Self {
            columns: vec![0; values.len()],
            values: vec![T::ZERO; values.len()],
            n_cols,
            norms: vec![0.0; starts.len() - 1],
            repeats: false,
            starts,
        };
        let n_parts = if values.len() < WORTH_THREADS { 1 } else { n_threads.clamp(1, MOST) };
        let parts = x.parts(columns, values, n_parts);
        let found: Vec<Result<bool, KernelError>> = if n_parts == 1 {
            parts.into_iter().map(dispatch).collect()
        } else {
            with_threads(n_parts, || parts.into_par_iter().map(dispatch).collect())
        };
        for repeats in found {
            x.repeats |= repeats?;
        }
        Ok(x)
    }

    /// Cut the rows into parts of about equal work.
    fn parts<'a, I: Index>(
        &'a mut self,
        from_columns: &'a [I],
        from_values: &'a [T],
        n_parts: usize,
    ) -> Vec<Part<'a, T, I>> {
        let (n_rows, nnz) = (self.norms.len(), from_values.len());
        let (mut columns, mut values) = (&mut self.columns[..], &mut self.values[..]);
        let mut norms = &mut self.norms[..];
        let mut parts = Vec::with_capacity(n_parts);
        let mut first = 0;
        for p in 1..=n_parts {
            let wanted = (nnz as f64 * p as f64 / n_parts as f64) as usize;
            let end = if p == n_parts {
                n_rows
            } else {
                self.starts.partition_point(|&s| s < wanted).clamp(first, n_rows)
            };
            let range = self.starts[first]..self.starts[end];
            let (part_columns, part_values, part_norms);
            (part_columns, columns) = columns.split_at_mut(range.len());
            (part_values, values) = values.split_at_mut(range.len());
            (part_norms, norms) = norms.split_at_mut(end - first);
            parts.push(Part {
                first,
                starts: &self.starts[first..=end],
                from_columns: &from_columns[range.clone()],
                from_values: &from_values[range],
                columns: part_columns,
                values: part_values,
                norms: part_norms,
                n_cols: self.n_cols,
            });
            first = end;
        }
        parts
    }
}

/// The row pointer, owned: it starts at 0, never falls, and ends at `nnz`.
fn checked_starts<I: Index>(starts: &[I], nnz: usize) -> Result<Vec<usize>, KernelError> {
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

/// Some rows, where they come from and where they go to.
struct Part<'a, T, I> {
    first: usize,
    starts: &'a [usize],
    from_columns: &'a [I],
    from_values: &'a [T],
    columns: &'a mut [u32],
    values: &'a mut [T],
    norms: &'a mut [f64],
    n_cols: usize,
}

impl<T: Real, I: Index> Task for Part<'_, T, I> {
    type Output = Result<bool, KernelError>;

    /// Copy and check the rows; whether some column is repeated.
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Result<bool, KernelError> {
        let mut set = ColumnSet::default();
        let mut repeats = false;
        let begin = self.starts[0];
        for (r, ends) in self.starts.windows(2).enumerate() {
            let range = ends[0] - begin..ends[1] - begin;
            let from = &self.from_columns[range.clone()];
            let columns = &mut self.columns[range.clone()];
            let mut inside = true;
            for (to, c) in columns.iter_mut().zip(from) {
                let c = c.to_i64();
                inside &= (c >= 0) & (c < self.n_cols as i64);
                *to = c as u32;
            }
            if !inside {
                let outside = |c: &i64| !(0..self.n_cols as i64).contains(c);
                let index = from.iter().map(|c| c.to_i64()).find(outside).unwrap_or(-1);
                return Err(KernelError::IndexOutOfRange { row: self.first + r, index, n_cols: self.n_cols });
            }
            if !repeats {
                repeats = set.repeats(columns, self.n_cols);
            }
            let from = &self.from_values[range.clone()];
            self.values[range].copy_from_slice(from);
            self.norms[r] = sum_of_squares(from);
        }
        Ok(repeats)
    }
}
