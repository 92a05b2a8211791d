//! Compressed sparse rows, owned and validated once; unchecked indexing afterwards.
#![allow(unsafe_code)]

use crate::error::KernelError;
use crate::real::Real;
use crate::rows::{LANES, Rows};
use crate::simd::prefetch;

mod build;
mod lanes;

use lanes::{add_block, add_tail, dot_block, dot_tail};

/// A sparse matrix whose indices are owned here.
///
/// Invariants, checked by [`Csr::new`] in `build.rs`: `starts` has `n_rows + 1` entries, starts at 0, never
/// falls, and ends at `columns.len() == values.len()`; every column is below `n_cols`.
/// Columns of a row need not be sorted and may repeat (their values add up).
#[derive(Debug, Clone)]
pub struct Csr<T> {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    n_cols: usize,
    /// |x_i|^2
    norms: Vec<f64>,
    /// Whether some row names a column twice.
    repeats: bool,
}

pub use crate::simd::Index;

impl<T: Real> Csr<T> {
    /// Columns and values of row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Whether some row names a column twice; rows need not be sorted.
    pub fn repeats_columns(&self) -> bool {
        self.repeats
    }

    /// Where row `i` starts in the stored values, for cutting the rows into equal work.
    pub fn start(&self, i: usize) -> usize {
        self.starts[i]
    }

    /// Fail at the first value that is NaN or infinite.
    pub fn check_finite(&self) -> Result<(), KernelError> {
        // The square of a row is finite unless one of its values is not (or overflows, which is no error).
        for (i, _) in self.norms.iter().enumerate().filter(|(_, square)| !square.is_finite()) {
            let (columns, values) = self.row(i);
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                let value = if values[at].is_nan() { "NaN" } else { "infinity" };
                return Err(KernelError::NotFinite { row: i, column: columns[at] as usize, value });
            }
        }
        Ok(())
    }

    /// The transpose, its rows (our columns) in the order of our rows.
    ///
    /// Fails when there are more rows than a column index can name.
    pub fn transpose(&self) -> Result<Self, KernelError> {
        let n_rows = self.n_rows();
        if u32::try_from(n_rows).is_err() {
            return Err(KernelError::Argument(format!("{n_rows} rows are too many to transpose")));
        }
        let mut starts = vec![0usize; self.n_cols + 1];
        for &c in &self.columns {
            starts[c as usize + 1] += 1;
        }
        for j in 0..self.n_cols {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut columns = vec![0u32; self.columns.len()];
        let mut values = vec![T::ZERO; self.values.len()];
        let mut norms = vec![0.0; self.n_cols];
        for i in 0..n_rows {
            let (cols, vals) = self.row(i);
            for (&c, &v) in cols.iter().zip(vals) {
                let at = next[c as usize];
                next[c as usize] += 1;
                columns[at] = i as u32;
                values[at] = v;
                norms[c as usize] += v.to_f64() * v.to_f64();
            }
        }
        Ok(Self { starts, columns, values, n_cols: n_rows, norms, repeats: self.repeats })
    }
}

impl<T: Real> Rows<T> for Csr<T> {
    fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn n_stored(&self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        let (cols, vals) = self.row(i);
        prefetch(cols);
        prefetch(vals);
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.norms[i]
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        assert!(w.len() >= self.n_cols);
        let (cols, vals) = self.row(i);
        let mut acc = [T::ZERO; 4];
        let mut c4 = cols.chunks_exact(4);
        let mut v4 = vals.chunks_exact(4);
        for (c, v) in (&mut c4).zip(&mut v4) {
            for l in 0..4 {
                // SAFETY: every column is below n_cols <= w.len() (invariant of Csr, assert above).
                acc[l] = v[l].fma::<FMA>(unsafe { *w.get_unchecked(c[l] as usize) }, acc[l]);
            }
        }
        let mut sum = (acc[0] + acc[1]) + (acc[2] + acc[3]);
        for (&c, &v) in c4.remainder().iter().zip(v4.remainder()) {
            // SAFETY: as above.
            sum = v.fma::<FMA>(unsafe { *w.get_unchecked(c as usize) }, sum);
        }
        sum
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        assert!(w.len() >= self.n_cols);
        let (cols, vals) = self.row(i);
        for (&c, &v) in cols.iter().zip(vals) {
            // SAFETY: every column is below n_cols <= w.len() (invariant of Csr, assert above).
            let w = unsafe { w.get_unchecked_mut(c as usize) };
            *w = a.fma::<FMA>(v, *w);
        }
    }

    #[inline(always)]
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]) {
        assert!(w.len() >= self.n_cols && scale.len() >= self.n_cols);
        let (cols, vals) = self.row(i);
        for (&c, &v) in cols.iter().zip(vals) {
            // SAFETY: every column is below n_cols <= w.len(), scale.len() (invariant of Csr, assert above).
            let (w, s) = unsafe { (w.get_unchecked_mut(c as usize), *scale.get_unchecked(c as usize)) };
            *w = (a * s).fma::<FMA>(v, *w);
        }
    }

    #[inline(always)]
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64 {
        let (cols, vals) = self.row(i);
        let terms = cols.iter().zip(vals).map(|(&c, v)| v.to_f64() * v.to_f64() * scale[c as usize].to_f64());
        terms.sum()
    }

    #[inline(always)]
    fn dot_many<const FMA: bool>(&self, i: usize, w: &[T], out: &mut [T]) {
        let k = out.len();
        assert!(w.len() >= self.n_cols * k);
        let mut done = 0;
        while done < k {
            let rest = &mut out[done..];
            done += match rest.len() / LANES {
                0 => dot_tail::<T, FMA>(self.row(i), w, k, done, rest),
                1 => dot_block::<T, FMA, 1>(self.row(i), w, k, done, rest),
                2 => dot_block::<T, FMA, 2>(self.row(i), w, k, done, rest),
                3 => dot_block::<T, FMA, 3>(self.row(i), w, k, done, rest),
                _ => dot_block::<T, FMA, 4>(self.row(i), w, k, done, rest),
            };
        }
    }

    #[inline(always)]
    fn add_to_many<const FMA: bool>(&self, i: usize, a: &[T], w: &mut [T]) {
        let k = a.len();
        assert!(w.len() >= self.n_cols * k);
        let mut done = 0;
        while done < k {
            let rest = &a[done..];
            done += match rest.len() / LANES {
                0 => add_tail::<T, FMA>(self.row(i), rest, k, done, w),
                1 => add_block::<T, FMA, 1>(self.row(i), rest, k, done, w),
                2 => add_block::<T, FMA, 2>(self.row(i), rest, k, done, w),
                3 => add_block::<T, FMA, 3>(self.row(i), rest, k, done, w),
                _ => add_block::<T, FMA, 4>(self.row(i), rest, k, done, w),
            };
        }
    }

    #[inline(always)]
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize) {
        assert!(w.len() >= self.n_cols * k && column < k);
        let (cols, vals) = self.row(i);
        for (&c, &v) in cols.iter().zip(vals) {
            // SAFETY: c < n_cols and column < k, so the index is below n_cols * k <= w.len().
            let w = unsafe { w.get_unchecked_mut(c as usize * k + column) };
            *w = a.fma::<FMA>(v, *w);
        }
    }
}

#[cfg(test)]
mod tests;
