//! Compressed sparse rows, owned and validated once; unchecked indexing afterwards.
#![allow(unsafe_code)]

use rayon::prelude::*;

use crate::column_set::ColumnSet;
use crate::dense::first_not_finite;
use crate::error::{KernelError, check_length};
use crate::real::Real;
use crate::rows::{LANES, Rows, axpy_lanes};
use crate::simd::prefetch;
use crate::threads::{MOST, WORTH_THREADS, with_threads};

/// A sparse matrix whose indices are owned here.
///
/// Invariants, checked by [`Csr::new`]: `starts` has `n_rows + 1` entries, starts at 0, never
/// falls, and ends at `columns.len() == values.len()`; every column is below `n_cols`.
/// Columns of a row need not be sorted and may repeat (their values add up).
#[derive(Debug, Clone)]
pub struct Csr<T> {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    n_cols: usize,
}

pub use crate::simd::Index;

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
        let nnz = values.len();
        let malformed = |row| KernelError::RowPointer { row, nnz };
        if starts.first().map(|s| s.to_i64()) != Some(0) {
            return Err(malformed(0));
        }
        let mut owned = Vec::with_capacity(starts.len());
        let mut last = 0usize;
        for (row, start) in starts.iter().enumerate() {
            let start = usize::try_from(start.to_i64()).map_err(|_| malformed(row))?;
            if start < last || start > nnz {
                return Err(malformed(row));
            }
            owned.push(start);
            last = start;
        }
        if last != nnz {
            return Err(malformed(owned.len() - 1));
        }
        let bound = n_cols as i64;
        let mut checked = vec![0u32; nnz];
        let mut copied = vec![T::ZERO; nnz];
        const BLOCK: usize = 1 << 16;
        type Blocks<'a, I, T> = ((&'a mut [u32], &'a [I]), (&'a mut [T], &'a [T]));
        let copy_block = |((to, from), (copy, values)): Blocks<'_, I, T>| {
            copy.copy_from_slice(values);
            let mut ok = true;
            for (to, from) in to.iter_mut().zip(from) {
                let c = from.to_i64();
                ok &= (c >= 0) & (c < bound);
                *to = c as u32;
            }
            ok
        };
        let n_threads = if nnz < WORTH_THREADS { 1 } else { n_threads };
        let good: Vec<bool> = with_threads(n_threads, || {
            if n_threads <= 1 {
                let indices = checked.chunks_mut(BLOCK).zip(columns.chunks(BLOCK));
                let data = copied.chunks_mut(BLOCK).zip(values.chunks(BLOCK));
                indices.zip(data).map(copy_block).collect()
            } else {
                let indices = checked.par_chunks_mut(BLOCK).zip(columns.par_chunks(BLOCK));
                let data = copied.par_chunks_mut(BLOCK).zip(values.par_chunks(BLOCK));
                indices.zip(data).map(copy_block).collect()
            }
        });
        if let Some(block) = good.iter().position(|ok| !ok) {
            let within = columns[block * BLOCK..].iter().position(|c| c.to_i64() < 0 || c.to_i64() >= bound);
            let at = block * BLOCK + within.unwrap_or(0);
            let row = owned.partition_point(|&s| s <= at) - 1;
            return Err(KernelError::IndexOutOfRange { row, index: columns[at].to_i64(), n_cols });
        }
        Ok(Self { starts: owned, columns: checked, values: copied, n_cols })
    }

    /// Columns and values of row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Whether some row names a column twice; rows need not be sorted.
    pub fn repeats_columns(&self, n_threads: usize) -> bool {
        let n_threads = if self.values.len() < WORTH_THREADS { 1 } else { n_threads.min(MOST) };
        let share = self.n_rows().div_ceil(n_threads.max(1)).max(1);
        if n_threads <= 1 {
            return self.repeats_within(0..self.n_rows());
        }
        with_threads(n_threads, || {
            (0..n_threads).into_par_iter().any(|t| {
                let rows = (t * share).min(self.n_rows())..((t + 1) * share).min(self.n_rows());
                self.repeats_within(rows)
            })
        })
    }

    fn repeats_within(&self, mut rows: std::ops::Range<usize>) -> bool {
        let mut set = ColumnSet::default();
        rows.any(|i| set.repeats(self.row(i).0, self.n_cols))
    }

    /// Where row `i` starts in the stored values, for cutting the rows into equal work.
    pub fn start(&self, i: usize) -> usize {
        self.starts[i]
    }

    /// Fail at the first value that is NaN or infinite.
    pub fn check_finite(&self, n_threads: usize) -> Result<(), KernelError> {
        let Some((at, value)) = first_not_finite(&self.values, n_threads) else { return Ok(()) };
        let row = self.starts.partition_point(|&s| s <= at) - 1;
        Err(KernelError::NotFinite { row, column: self.columns[at] as usize, value })
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
        for i in 0..n_rows {
            let (cols, vals) = self.row(i);
            for (&c, &v) in cols.iter().zip(vals) {
                let at = next[c as usize];
                next[c as usize] += 1;
                columns[at] = i as u32;
                values[at] = v;
            }
        }
        Ok(Self { starts, columns, values, n_cols: n_rows })
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
        self.row(i).1.iter().map(|v| v.to_f64() * v.to_f64()).sum()
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

/// Scores `done .. done + N * LANES` of one row, kept in registers.
#[inline(always)]
fn dot_block<T: Real, const FMA: bool, const N: usize>(
    (cols, vals): (&[u32], &[T]),
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [T],
) -> usize {
    let mut acc = [[T::ZERO; LANES]; N];
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + N * LANES <= k.
        let w = unsafe { w.get_unchecked(at..at + N * LANES) };
        axpy_lanes::<T, FMA, N>(&mut acc, v, w);
    }
    for (out, lane) in out.chunks_exact_mut(LANES).zip(&acc) {
        out.copy_from_slice(lane);
    }
    N * LANES
}

/// The last scores of one row, fewer than a lane.
#[inline(always)]
fn dot_tail<T: Real, const FMA: bool>(
    (cols, vals): (&[u32], &[T]),
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [T],
) -> usize {
    let n = out.len();
    let mut acc = [T::ZERO; LANES];
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + n == k.
        let w = unsafe { w.get_unchecked(at..at + n) };
        for (a, &w) in acc.iter_mut().zip(w) {
            *a = v.fma::<FMA>(w, *a);
        }
    }
    out.copy_from_slice(&acc[..n]);
    n
}

/// W += x a' for scores `done .. done + N * LANES`, with `a` kept in registers.
#[inline(always)]
fn add_block<T: Real, const FMA: bool, const N: usize>(
    (cols, vals): (&[u32], &[T]),
    a: &[T],
    k: usize,
    done: usize,
    w: &mut [T],
) -> usize {
    let mut lanes = [[T::ZERO; LANES]; N];
    for (lane, a) in lanes.iter_mut().zip(a.chunks_exact(LANES)) {
        lane.copy_from_slice(a);
    }
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + N * LANES <= k.
        let w = unsafe { w.get_unchecked_mut(at..at + N * LANES) };
        for (w, lane) in w.chunks_exact_mut(LANES).zip(&lanes) {
            for (w, &a) in w.iter_mut().zip(lane) {
                *w = v.fma::<FMA>(a, *w);
            }
        }
    }
    N * LANES
}

/// W += x a' for the last scores, fewer than a lane.
#[inline(always)]
fn add_tail<T: Real, const FMA: bool>(
    (cols, vals): (&[u32], &[T]),
    a: &[T],
    k: usize,
    done: usize,
    w: &mut [T],
) -> usize {
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + a.len() == k.
        let w = unsafe { w.get_unchecked_mut(at..at + a.len()) };
        for (w, &a) in w.iter_mut().zip(a) {
            *w = v.fma::<FMA>(a, *w);
        }
    }
    a.len()
}

#[cfg(test)]
mod tests;
