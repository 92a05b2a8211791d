//! Compressed sparse rows over borrowed arrays: nothing is copied, and every column is checked where it is
//! used.
//!
//! The columns and values belong to somebody who may change them while a kernel runs; the row pointers are
//! ours. [`Csr::measure`] looks at everything once and names what is wrong. Kernels that pass over the data a
//! few times only may do without: products with a row that has a column outside the matrix, a NaN or an
//! infinity are not finite, and kernels that meet such a score ask [`Rows::fault`] for the reason. Additions
//! pass over columns outside the matrix.

use crate::data::column_set::ColumnSet;
use crate::data::rows::{LANES, Rows, sum_of_squares};
use crate::error::{KernelError, check_length};
use crate::real::Real;
use crate::simd::{Gather, plain_dot, prefetch_lines};

mod lanes;
mod measure;
mod owned;
#[cfg(test)]
mod tests;

pub use measure::Measured;
pub use owned::{OwnedCsr, checked_starts};

use lanes::{Row, add_block, add_tail, dot_block, dot_tail};

/// Cache lines of a row to ask for ahead of its visit.
const LINES: usize = 8;

/// A sparse matrix whose arrays are borrowed; columns of a row need not be sorted, and repeated ones add
/// up.
#[derive(Debug, Clone, Copy)]
pub struct Csr<'a, T> {
    starts: &'a [usize],
    columns: &'a [i32],
    values: &'a [T],
    n_cols: usize,
    /// |x_i|^2 where they were measured, nothing where not.
    norms: &'a [f64],
}

impl<'a, T: Gather> Csr<'a, T> {
    /// Take the three arrays of a CSR matrix; the row pointers come from [`checked_starts`].
    pub fn new(
        starts: &'a [usize],
        columns: &'a [i32],
        values: &'a [T],
        n_cols: usize,
    ) -> Result<Self, KernelError> {
        check_length("indices", columns.len(), values.len())?;
        Ok(Self { starts, columns, values, n_cols, norms: &[] })
    }

    /// The same matrix with the norms that [`Csr::measure`] found.
    pub fn with_norms(self, norms: &'a [f64]) -> Self {
        Self { norms, ..self }
    }

    /// Columns and values of row `i`; nothing where the arrays have become too short.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&'a [i32], &'a [T]) {
        let range = self.starts[i]..self.starts[i + 1];
        match (self.columns.get(range.clone()), self.values.get(range)) {
            (Some(columns), Some(values)) => (columns, values),
            _ => (&[], &[]),
        }
    }

    #[inline(always)]
    fn lane_row(&self, i: usize) -> Row<'a, T> {
        let (columns, values) = self.row(i);
        Row { columns, values, n_cols: self.n_cols }
    }

    /// Sum of squares of a row after its repeated columns were added up.
    #[cold]
    fn summed(&self, i: usize) -> f64 {
        let (columns, values) = self.row(i);
        let mut pairs: Vec<(i32, f64)> = columns.iter().zip(values).map(|(&c, v)| (c, v.to_f64())).collect();
        pairs.sort_by_key(|pair| pair.0);
        pairs
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| same.iter().map(|pair| pair.1).sum::<f64>().powi(2))
            .sum()
    }
}

/// A column as a place in an array; a negative one is beyond every end.
#[inline(always)]
fn place(column: i32) -> usize {
    column as isize as usize
}

impl<T: Gather> Rows<T> for Csr<'_, T> {
    fn n_rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn n_stored(&self) -> usize {
        self.values.len()
    }

    fn fault(&self, i: usize) -> Option<KernelError> {
        let (columns, values) = self.row(i);
        let n_cols = self.n_cols;
        columns.iter().zip(values).find_map(|(&c, v)| {
            if place(c) >= n_cols {
                return Some(KernelError::IndexOutOfRange { row: i, index: c.into(), n_cols });
            }
            let value = if v.is_nan() { "NaN" } else { "infinity" };
            (!v.is_finite()).then_some(KernelError::NotFinite { row: i, column: place(c), value })
        })
    }

    #[inline(always)]
    fn squared_norm(&self, i: usize) -> f64 {
        self.norms.get(i).copied().unwrap_or_else(|| sum_of_squares(self.row(i).1))
    }

    #[inline(always)]
    fn summed_squared_norm(&self, i: usize, set: &mut ColumnSet) -> f64 {
        if set.repeats(self.row(i).0, self.n_cols) { self.summed(i) } else { self.squared_norm(i) }
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        let (columns, values) = self.row(i);
        prefetch_lines(columns, LINES);
        prefetch_lines(values, LINES);
    }

    #[inline(always)]
    fn each(&self, i: usize, mut visit: impl FnMut(usize, T)) {
        let (columns, values) = self.row(i);
        columns.iter().zip(values).for_each(|(&c, &v)| visit(place(c), v));
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        let (columns, values) = self.row(i);
        T::gather_dot::<FMA>(columns, values, &w[..self.n_cols])
    }

    #[inline(always)]
    fn double_dot<const FMA: bool>(&self, i: usize, w: &[T]) -> f64 {
        let (columns, values) = self.row(i);
        plain_dot::<T, f64, FMA>(columns, values, &w[..self.n_cols])
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            if let Some(w) = w.get_mut(place(c)) {
                *w = a.fma::<FMA>(v, *w);
            }
        }
    }

    #[inline(always)]
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            if let (Some(w), Some(&s)) = (w.get_mut(place(c)), scale.get(place(c))) {
                *w = (a * s).fma::<FMA>(v, *w);
            }
        }
    }

    #[inline(always)]
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64 {
        let (columns, values) = self.row(i);
        let at = |c: i32| scale.get(place(c)).map_or(0.0, |s| s.to_f64());
        columns.iter().zip(values).map(|(&c, v)| v.to_f64() * v.to_f64() * at(c)).sum()
    }

    #[inline(always)]
    fn dot_many<A: Real, const FMA: bool>(&self, i: usize, w: &[T], out: &mut [A]) {
        let k = out.len();
        assert!(self.n_cols.checked_mul(k).is_some_and(|size| w.len() >= size));
        let row = self.lane_row(i);
        let mut done = 0;
        while done < k {
            let rest = &mut out[done..];
            done += match rest.len() / LANES {
                0 => dot_tail::<T, A, FMA>(row, w, k, done, rest),
                1 => dot_block::<T, A, FMA, 1>(row, w, k, done, rest),
                2 => dot_block::<T, A, FMA, 2>(row, w, k, done, rest),
                3 => dot_block::<T, A, FMA, 3>(row, w, k, done, rest),
                _ => dot_block::<T, A, FMA, 4>(row, w, k, done, rest),
            };
        }
    }

    #[inline(always)]
    fn add_to_many<A: Real, const FMA: bool>(&self, i: usize, a: &[A], w: &mut [A]) {
        let k = a.len();
        assert!(self.n_cols.checked_mul(k).is_some_and(|size| w.len() >= size));
        let row = self.lane_row(i);
        let mut done = 0;
        while done < k {
            let rest = &a[done..];
            done += match rest.len() / LANES {
                0 => add_tail::<T, A, FMA>(row, rest, k, done, w),
                1 => add_block::<T, A, FMA, 1>(row, rest, k, done, w),
                2 => add_block::<T, A, FMA, 2>(row, rest, k, done, w),
                3 => add_block::<T, A, FMA, 3>(row, rest, k, done, w),
                _ => add_block::<T, A, FMA, 4>(row, rest, k, done, w),
            };
        }
    }

    #[inline(always)]
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            if let Some(w) = w.get_mut(place(c).saturating_mul(k).saturating_add(column)) {
                *w = a.fma::<FMA>(v, *w);
            }
        }
    }
}
