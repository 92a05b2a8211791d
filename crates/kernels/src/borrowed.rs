//! Compressed sparse rows over borrowed arrays, for kernels that pass over the data a few times only:
//! nothing is copied, and every index is checked where it is used.
//!
//! The arrays belong to somebody who may change them while a kernel runs. [`Borrowed::new`] checks them
//! all once, for the errors; afterwards a row pointer or column that has become invalid reads as an
//! empty row or a zero, never as memory that is not ours.

use std::ops::Range;

use rayon::prelude::*;

use crate::csr::Index;
use crate::error::{KernelError, check_length};
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::{Task, dispatch, prefetch};
use crate::threads::with_threads;

/// Stored values from which on threads pay for themselves.
const PARALLEL: usize = 1 << 18;

/// A sparse matrix whose arrays are borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Borrowed<'a, T, I> {
    starts: &'a [I],
    columns: &'a [I],
    values: &'a [T],
    n_cols: usize,
}

impl<'a, T: Real, I: Index> Borrowed<'a, T, I> {
    /// Take the three arrays as they are; `n_rows + 1` row pointers.
    pub fn unchecked(starts: &'a [I], columns: &'a [I], values: &'a [T], n_cols: usize) -> Self {
        Self { starts, columns, values, n_cols }
    }

    /// Take and check the three arrays of a CSR matrix, values included; returns the matrix and whether
    /// the columns of every row are sorted without repetition.
    pub fn new(
        starts: &'a [I],
        columns: &'a [I],
        values: &'a [T],
        n_cols: usize,
        n_threads: usize,
    ) -> Result<(Self, bool), KernelError> {
        check_length("indices", columns.len(), values.len())?;
        let nnz = values.len();
        let malformed = |row| KernelError::RowPointer { row, nnz };
        if starts.first().map(|s| s.to_i64()) != Some(0) {
            return Err(malformed(0));
        }
        if let Some(row) = starts.windows(2).position(|pair| pair[0].to_i64() > pair[1].to_i64()) {
            return Err(malformed(row + 1));
        }
        if starts.last().map(|s| s.to_i64()) != i64::try_from(nnz).ok() {
            return Err(malformed(starts.len() - 1));
        }
        let matrix = Self { starts, columns, values, n_cols };
        let parts = matrix.in_parts(n_threads, |rows| matrix.check(rows));
        let mut sorted = true;
        for part in parts {
            sorted &= part?;
        }
        Ok((matrix, sorted))
    }

    /// Run `work` on so many equal ranges of rows, in parallel; results in order.
    fn in_parts<R: Send>(&self, n_parts: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let n_rows = self.n_rows();
        let per = n_rows.div_ceil(n_parts.max(1)).max(1);
        let part = |p: usize| work(p * per..((p + 1) * per).min(n_rows));
        let n_parts = n_rows.div_ceil(per);
        if n_parts <= 1 || self.values.len() < PARALLEL {
            return (0..n_parts).map(part).collect();
        }
        with_threads(n_parts, || (0..n_parts).into_par_iter().map(part).collect())
    }

    /// Check some rows; whether their columns rise.
    fn check(&self, rows: Range<usize>) -> Result<bool, KernelError> {
        let mut sorted = true;
        for i in rows {
            let (columns, values) = self.row(i);
            let Findings { in_range, increasing, finite } =
                dispatch(Check { columns, values, n_cols: self.n_cols });
            sorted &= increasing;
            if !in_range {
                let outside = |c: &&I| !(0..self.n_cols as i64).contains(&c.to_i64());
                let index = columns.iter().find(outside).map_or(0, |c| c.to_i64());
                return Err(KernelError::IndexOutOfRange { row: i, index, n_cols: self.n_cols });
            }
            if !finite {
                let at = values.iter().position(|v| !v.is_finite()).unwrap_or(0);
                let value = if values[at].is_nan() { "NaN" } else { "infinity" };
                let column = columns[at].to_i64() as usize;
                return Err(KernelError::NotFinite { row: i, column, value });
            }
        }
        Ok(sorted)
    }

    /// Whether some row names a column twice; rows need not be sorted.
    pub fn repeats_columns(&self, n_threads: usize) -> bool {
        let parts = self.in_parts(n_threads, |mut rows| {
            // One bit per column, set and cleared row by row: small enough to stay in the cache.
            let mut seen = vec![0u64; self.n_cols.div_ceil(64)];
            rows.any(|i| {
                let columns = self.row(i).0;
                let mut again = 0;
                for c in columns {
                    let c = c.to_i64() as usize;
                    if let Some(word) = seen.get_mut(c / 64) {
                        again |= (*word >> (c % 64)) & 1;
                        *word |= 1 << (c % 64);
                    }
                }
                for c in columns {
                    if let Some(word) = seen.get_mut(c.to_i64() as usize / 64) {
                        *word = 0;
                    }
                }
                again == 1
            })
        });
        parts.into_iter().any(|again| again)
    }

    #[inline(always)]
    fn row(&self, i: usize) -> (&'a [I], &'a [T]) {
        let range = self.starts[i].to_i64() as usize..self.starts[i + 1].to_i64() as usize;
        match (self.columns.get(range.clone()), self.values.get(range)) {
            (Some(columns), Some(values)) => (columns, values),
            _ => (&[], &[]),
        }
    }
}

struct Check<'a, T, I> {
    columns: &'a [I],
    values: &'a [T],
    n_cols: usize,
}

struct Findings {
    in_range: bool,
    increasing: bool,
    finite: bool,
}

impl<T: Real, I: Index> Task for Check<'_, T, I> {
    type Output = Findings;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Findings {
        let bound = self.n_cols as i64;
        let mut in_range = true;
        for c in self.columns {
            in_range &= (c.to_i64() >= 0) & (c.to_i64() < bound);
        }
        let mut increasing = true;
        for (a, b) in self.columns.iter().zip(self.columns.iter().skip(1)) {
            increasing &= a.to_i64() < b.to_i64();
        }
        let mut finite = true;
        for v in self.values {
            finite &= v.is_finite();
        }
        Findings { in_range, increasing, finite }
    }
}

impl<T: Real, I: Index> Rows<T> for Borrowed<'_, T, I> {
    fn n_rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn n_stored(&self) -> usize {
        self.values.len()
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.row(i).1.iter().map(|v| v.to_f64() * v.to_f64()).sum()
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        let (columns, values) = self.row(i);
        prefetch(columns);
        prefetch(values);
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        let (columns, values) = self.row(i);
        let at = |c: I| w.get(c.to_i64() as usize).copied().unwrap_or(T::ZERO);
        let mut acc = [T::ZERO; 4];
        let mut c4 = columns.chunks_exact(4);
        let mut v4 = values.chunks_exact(4);
        for (c, v) in (&mut c4).zip(&mut v4) {
            for l in 0..4 {
                acc[l] = v[l].fma::<FMA>(at(c[l]), acc[l]);
            }
        }
        let mut sum = (acc[0] + acc[1]) + (acc[2] + acc[3]);
        for (&c, &v) in c4.remainder().iter().zip(v4.remainder()) {
            sum = v.fma::<FMA>(at(c), sum);
        }
        sum
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            if let Some(w) = w.get_mut(c.to_i64() as usize) {
                *w = a.fma::<FMA>(v, *w);
            }
        }
    }

    #[inline(always)]
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = c.to_i64() as usize;
            if let (Some(w), Some(&s)) = (w.get_mut(at), scale.get(at)) {
                *w = (a * s).fma::<FMA>(v, *w);
            }
        }
    }

    #[inline(always)]
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64 {
        let (columns, values) = self.row(i);
        let at = |c: &I| scale.get(c.to_i64() as usize).map_or(0.0, |s| s.to_f64());
        columns.iter().zip(values).map(|(c, v)| v.to_f64() * v.to_f64() * at(c)).sum()
    }

    #[inline(always)]
    fn dot_many<const FMA: bool>(&self, i: usize, w: &[T], out: &mut [T]) {
        let k = out.len();
        out.fill(T::ZERO);
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = (c.to_i64() as usize).saturating_mul(k);
            if let Some(w) = w.get(at..at.saturating_add(k)) {
                for (o, &w) in out.iter_mut().zip(w) {
                    *o = v.fma::<FMA>(w, *o);
                }
            }
        }
    }

    #[inline(always)]
    fn add_to_many<const FMA: bool>(&self, i: usize, a: &[T], w: &mut [T]) {
        let k = a.len();
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = (c.to_i64() as usize).saturating_mul(k);
            if let Some(w) = w.get_mut(at..at.saturating_add(k)) {
                for (w, &a) in w.iter_mut().zip(a) {
                    *w = v.fma::<FMA>(a, *w);
                }
            }
        }
    }

    #[inline(always)]
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = (c.to_i64() as usize).saturating_mul(k).saturating_add(column);
            if let Some(w) = w.get_mut(at) {
                *w = a.fma::<FMA>(v, *w);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Borrowed;
    use crate::csr::Csr;
    use crate::error::KernelError;
    use crate::rows::Rows;

    #[test]
    fn products_are_those_of_the_owned_matrix() {
        let starts = [0i32, 2, 2, 7];
        let columns = [0, 2, 0, 1, 2, 3, 4];
        let values: Vec<f64> = (1..8).map(f64::from).collect();
        let owned = Csr::new(&starts, &columns, &values, 5, 1).expect("valid");
        let (borrowed, sorted) = Borrowed::new(&starts, &columns, &values, 5, 2).expect("valid");
        assert!(sorted);
        for k in [1, 3, 9] {
            let w: Vec<f64> = (0..5 * k).map(|v| v as f64).collect();
            for i in 0..3 {
                let (mut a, mut b) = (vec![0.0; k], vec![0.0; k]);
                owned.dot_many::<false>(i, &w, &mut a);
                borrowed.dot_many::<false>(i, &w, &mut b);
                assert_eq!(a, b);
                assert_eq!(owned.dot::<false>(i, &w), borrowed.dot::<false>(i, &w));
                assert_eq!(owned.squared_norm(i), borrowed.squared_norm(i));
                let (mut a, mut b) = (w.clone(), w.clone());
                owned.add_to_column::<false>(i, 0.5, &mut a, k, k - 1);
                borrowed.add_to_column::<false>(i, 0.5, &mut b, k, k - 1);
                owned.add_to_many::<false>(i, &w[..k], &mut a);
                borrowed.add_to_many::<false>(i, &w[..k], &mut b);
                owned.add_to::<false>(i, 2.0, &mut a);
                borrowed.add_to::<false>(i, 2.0, &mut b);
                assert_eq!(a, b);
            }
        }
    }

    #[test]
    fn malformed_arrays_are_named_and_later_changes_are_harmless() {
        let range = Borrowed::new(&[0i32, 1], &[5], &[1.0f32], 3, 2).err();
        assert_eq!(range, Some(KernelError::IndexOutOfRange { row: 0, index: 5, n_cols: 3 }));
        assert!(Borrowed::new(&[0i64, 2, 1], &[0], &[1.0f32], 3, 2).is_err());
        assert!(Borrowed::new(&[] as &[i32], &[], &[] as &[f32], 3, 2).is_err());
        let nan = Borrowed::new(&[0i32, 0, 1], &[2], &[f64::NAN], 3, 2).err();
        assert_eq!(nan, Some(KernelError::NotFinite { row: 1, column: 2, value: "NaN" }));
        let repeated = Borrowed::new(&[0i32, 2], &[1, 1], &[1.0, 2.0], 3, 2).expect("valid");
        assert!(!repeated.1 && repeated.0.repeats_columns(2));
        let unsorted = Borrowed::new(&[0i32, 2, 3], &[2, 1, 1], &[1.0, 2.0, 3.0], 3, 2).expect("valid");
        assert!(!unsorted.1 && !unsorted.0.repeats_columns(2));
        let changed = Borrowed::unchecked(&[0i32, 9, -4], &[-1, 7], &[1.0f64, 1.0], 2);
        let mut w = [1.0, 1.0];
        for i in 0..2 {
            assert_eq!(changed.dot::<false>(i, &w), 0.0);
            changed.add_to::<false>(i, 1.0, &mut w);
        }
        assert_eq!(w, [1.0, 1.0]);
    }
}
