//! One look at all rows: what is wrong with them, and their norms.

use std::ops::Range;

use super::{Csr, place};
use crate::data::column_set::ColumnSet;
use crate::data::rows::{Rows, sum_of_squares};
use crate::error::KernelError;
use crate::simd::{Gather, Task, dispatch};
use crate::threads::{MOST, WORTH_THREADS, try_each};

/// What a look at all rows found.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// |x_i|^2, the values of a repeated column counted one by one.
    pub norms: Vec<f64>,
    /// Whether some row names a column twice.
    pub repeats: bool,
}

impl<T: Gather> Csr<'_, T> {
    /// Look at every column and value, on `n_threads` threads; fails at the first row with a column outside
    /// the matrix, a NaN or an infinity.
    pub fn measure(&self, n_threads: usize) -> Result<Measured, KernelError> {
        let n_parts = if self.n_stored() < WORTH_THREADS { 1 } else { n_threads.clamp(1, MOST) };
        let part = |p| dispatch(Part { x: self, rows: self.part(p, n_parts) });
        let mut all = Measured { norms: Vec::with_capacity(self.n_rows()), repeats: false };
        for part in try_each(n_parts, 0..n_parts, part)? {
            all.norms.extend(part.norms);
            all.repeats |= part.repeats;
        }
        Ok(all)
    }

    /// Rows of part `p` of so many parts of about equal work.
    fn part(&self, p: usize, n_parts: usize) -> Range<usize> {
        let cut = |p: usize| {
            let wanted = (self.n_stored() as f64 * p as f64 / n_parts as f64) as usize;
            self.starts.partition_point(|&start| start < wanted).min(self.n_rows())
        };
        cut(p)..if p + 1 == n_parts { self.n_rows() } else { cut(p + 1) }
    }
}

struct Part<'a, T> {
    x: &'a Csr<'a, T>,
    rows: Range<usize>,
}

impl<T: Gather> Task for Part<'_, T> {
    type Output = Result<Measured, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Result<Measured, KernelError> {
        let mut set = ColumnSet::default();
        let mut part = Measured { norms: Vec::with_capacity(self.rows.len()), repeats: false };
        for i in self.rows {
            let (columns, values) = self.x.row(i);
            let mut inside = true;
            for &c in columns {
                inside &= place(c) < self.x.n_cols;
            }
            let norm = sum_of_squares(values);
            // The square of a row is finite unless one of its values is not, or overflows, which is no error.
            if !(inside && norm.is_finite())
                && let Some(fault) = self.x.fault(i)
            {
                return Err(fault);
            }
            part.repeats = part.repeats || set.repeats(columns, self.x.n_cols);
            part.norms.push(norm);
        }
        Ok(part)
    }
}
