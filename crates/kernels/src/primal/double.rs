//! Products with the data in double precision, whatever the data are stored in: what certificates are made of.
//!
//! Problem: S = X W + 1 b' and X' R for f32 or f64 rows, with residuals and all sums in f64. Weights come in the
//! precision of the data, in which they are stored: half as many bytes to gather from, and the same numbers. Rows are
//! cut by shape alone and partial sums are added in order, so that results do not depend on the number of threads.
//! The adjoint of sparse data adds up row by row and needs no transpose; dense rows are widened a few at a time, and
//! then handled as those of a matrix of f64.

use std::marker::PhantomData;

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::{AdjointBlock, DenseScores, SCORE_BLOCK, threads_for};
use crate::primal::fused::{add_in_order, rows_per_task};
use crate::real::Real;
use crate::simd::tile;
use crate::simd::{Task, dispatch, dispatch_packed};
use crate::threads::try_each;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 256;
/// Columns below which rows of one score are summed as they are: packs of columns would stay half empty.
const NARROW: usize = 8;
/// Stored values per entry of a sum from which on a part of the rows is worth one of its own.
const PER_ENTRY: usize = 16;
/// Parts of sparse rows whose sums of an adjoint are kept apart, at least and at most: as many threads can share it.
const PARTS: (usize, usize) = (2, 64);

/// Scores of a block of rows.
struct Scores<'a, T, X> {
    x: &'a X,
    w: &'a [T],
    first: usize,
    k: usize,
    out: &'a mut [f64],
}

impl<T: Real, X: Rows<T>> Task for Scores<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (i, out) in (self.first..).zip(self.out.chunks_exact_mut(self.k)) {
            if self.k == 1 {
                out[0] = self.x.double_dot::<FMA>(i, self.w);
            } else {
                self.x.dot_many::<f64, FMA>(i, self.w, out);
            }
        }
    }
}

/// A block of rows whose products with their residuals are added to `sum`.
struct Adjoint<'a, T, X> {
    x: &'a X,
    residuals: &'a [f64],
    first: usize,
    k: usize,
    sum: &'a mut [f64],
    of: PhantomData<T>,
}

impl<T: Real, X: Rows<T>> Task for Adjoint<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (i, residuals) in (self.first..).zip(self.residuals.chunks_exact(self.k)) {
            if self.k > 1 {
                self.x.add_to_many::<f64, FMA>(i, residuals, self.sum);
            } else if residuals[0] != 0.0 {
                self.x.each(i, |j, v| {
                    if let Some(sum) = self.sum.get_mut(j) {
                        *sum = residuals[0].fma::<FMA>(v.to_f64(), *sum);
                    }
                });
            }
        }
    }
}

/// Weights and intercepts, or nothing, of `k` scores for `n_cols` columns.
fn split<T>(w: &[T], n_cols: usize, k: usize) -> Result<(&[T], &[T]), KernelError> {
    if k == 0 {
        return Err(KernelError::Argument("there must be at least one score".into()));
    }
    if w.len() != n_cols * k {
        check_length("weights", w.len(), n_cols * k + k)?;
    }
    Ok(w.split_at(n_cols * k))
}

/// S = X W + 1 b' for feature-major `w` of `k` scores (n x k); `w` holds `n_cols * k` weights, followed by `k`
/// intercepts or by nothing.
pub fn scores<T: Real, X: Rows<T>>(
    x: &X,
    w: &[T],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let (w, intercepts) = split(w, x.n_cols(), k)?;
    let mut out: Vec<f64> = zeros(x.n_rows().saturating_mul(k))?;
    let n_threads = threads_for(x.n_stored() * k, n_threads);
    try_each(n_threads, out.chunks_mut(BLOCK * k).enumerate(), |(b, out)| {
        stop.check()?;
        dispatch(Scores { x, w, first: b * BLOCK, k, out });
        for out in out.chunks_exact_mut(k) {
            for (o, b) in out.iter_mut().zip(intercepts) {
                *o += b.to_f64();
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// X' R (d x k) for residuals R (n x k).
pub fn adjoint<T: Real, X: Rows<T>>(
    x: &X,
    residuals: &[f64],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    check_length("residuals", residuals.len(), x.n_rows() * k)?;
    if residuals.is_empty() {
        return zeros(x.n_cols().saturating_mul(k));
    }
    let n_parts = (x.n_stored() / (PER_ENTRY * x.n_cols()).max(1)).clamp(PARTS.0, PARTS.1);
    let size = x.n_rows().div_ceil(n_parts);
    let parts = residuals.chunks(size * k).enumerate();
    let sums = try_each(threads_for(x.n_stored() * k, n_threads), parts, |(part, residuals)| {
        let mut sum: Vec<f64> = zeros(x.n_cols().saturating_mul(k))?;
        for (b, residuals) in residuals.chunks(BLOCK * k).enumerate() {
            stop.check()?;
            let first = part * size + b * BLOCK;
            dispatch(Adjoint { x, residuals, first, k, sum: &mut sum, of: PhantomData });
        }
        Ok::<_, KernelError>(sum)
    })?;
    Ok(add_in_order(sums))
}

/// Values as `f64`.
pub trait Widen: Real {
    /// The values themselves, or copies in `room`.
    fn widen<'a>(values: &'a [Self], room: &'a mut Vec<f64>) -> &'a [f64];
}

impl Widen for f32 {
    fn widen<'a>(values: &'a [Self], room: &'a mut Vec<f64>) -> &'a [f64] {
        room.clear();
        room.extend(values.iter().map(|&v| f64::from(v)));
        room
    }
}

impl Widen for f64 {
    fn widen<'a>(values: &'a [Self], _: &'a mut Vec<f64>) -> &'a [f64] {
        values
    }
}

/// [`scores`] of dense rows.
pub fn dense_scores<T: Widen>(
    x: Dense<'_, T>,
    w: &[T],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    if k == 1 && x.n_cols() < NARROW {
        return scores(&x, w, k, n_threads, stop);
    }
    let (weights, intercepts) = split(w, x.n_cols(), k)?;
    let (mut room, mut rest) = (Vec::new(), Vec::new());
    let (weights, intercepts) = (T::widen(weights, &mut room), T::widen(intercepts, &mut rest));
    dense_products(x, weights, intercepts, k, n_threads, stop)
}

/// [`dense_scores`] of weights and intercepts, or nothing, in double precision.
pub(crate) fn dense_products<T: Widen>(
    x: Dense<'_, T>,
    weights: &[f64],
    intercepts: &[f64],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let (n, d) = (x.n_rows(), x.n_cols());
    let turned = tile::turn(weights, k);
    let intercepts = (!intercepts.is_empty()).then_some(intercepts);
    let mut out: Vec<f64> = zeros(n.saturating_mul(k))?;
    let blocks = out.chunks_mut(SCORE_BLOCK * k).enumerate();
    try_each(threads_for(n * d * k, n_threads), blocks, |(b, out)| {
        stop.check()?;
        let mut room = Vec::new();
        for (part, out) in out.chunks_mut(tile::BLOCK * k).enumerate() {
            let first = (b * SCORE_BLOCK + part * tile::BLOCK) * d;
            let x = T::widen(&x.values()[first..first + out.len() / k * d], &mut room);
            dispatch_packed(DenseScores { x, d, w: &turned, intercepts, k, out });
        }
        Ok::<_, KernelError>(())
    })?;
    Ok(out)
}

/// [`adjoint`] of dense rows.
pub fn dense_adjoint<T: Widen>(
    x: Dense<'_, T>,
    residuals: &[f64],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let (n, d) = (x.n_rows(), x.n_cols());
    check_length("residuals", residuals.len(), n * k)?;
    if n * d * k == 0 {
        return zeros(d.saturating_mul(k));
    }
    let per = rows_per_task(n, d * k);
    let parts = residuals.chunks(per * k).enumerate();
    let sums = try_each(threads_for(n * d * k, n_threads), parts, |(part, residuals)| {
        let mut room = Vec::new();
        let mut grad: Vec<f64> = zeros(d * k)?;
        for (b, r) in residuals.chunks(tile::BLOCK * k).enumerate() {
            stop.check()?;
            let first = (part * per + b * tile::BLOCK) * d;
            let x = T::widen(&x.values()[first..first + r.len() / k * d], &mut room);
            dispatch_packed(AdjointBlock { x, d, r, k, grad: &mut grad });
        }
        Ok::<_, KernelError>(grad)
    })?;
    Ok(tile::turn_back(&add_in_order(sums), k))
}

#[cfg(test)]
mod tests {
    use super::{Widen, adjoint, dense_adjoint, dense_scores, scores};
    use crate::data::csr::Csr;
    use crate::data::dense::Dense;
    use crate::interrupt::Interrupt;
    use crate::simd::Gather;

    #[test]
    fn products_agree_with_sums_by_hand() {
        check::<f32>();
        check::<f64>();
    }

    /// Small whole numbers, so that sums are exact in any order.
    fn check<T: Widen + Gather>() {
        let stop = Interrupt::new();
        for (n, d) in [(0, 2), (3, 0), (3, 2), (130, 5), (700, 40)] {
            let at = |i: usize| ((i * 7919) % 13) as f64 - 6.0;
            let values: Vec<T> = (0..n * d).map(|i| T::from_f64(at(i))).collect();
            let dense = Dense::new(&values, n, d).expect("shape");
            let starts: Vec<usize> = (0..=n).map(|i| i * d).collect();
            let columns: Vec<i32> = (0..n * d).map(|i| (i % d) as i32).collect();
            let sparse = Csr::new(&starts, &columns, &values, d).expect("shape");
            for k in [1, 2, 9, 20] {
                let w: Vec<T> = (0..(d + 1) * k).map(|i| T::from_f64(at(i + 3))).collect();
                let r: Vec<f64> = (0..n * k).map(|i| at(i + 5)).collect();
                let s: Vec<f64> = (0..n * k)
                    .map(|i| {
                        let sum: f64 = (0..d).map(|j| at(i / k * d + j) * at(j * k + i % k + 3)).sum();
                        sum + at(d * k + i % k + 3)
                    })
                    .collect();
                let a: Vec<f64> = (0..d * k)
                    .map(|j| (0..n).map(|i| at(i * d + j / k) * at(i * k + j % k + 5)).sum::<f64>() + 0.0)
                    .collect();
                for threads in [1, 2] {
                    assert_eq!(scores(&sparse, &w, k, threads, &stop).expect("scores"), s);
                    assert_eq!(dense_scores(dense, &w, k, threads, &stop).expect("scores"), s);
                    assert_eq!(adjoint(&sparse, &r, k, threads, &stop).expect("adjoint"), a);
                    assert_eq!(dense_adjoint(dense, &r, k, threads, &stop).expect("adjoint"), a);
                }
                assert!(scores(&sparse, &[&w[..], &w[..1]].concat(), k, 1, &stop).is_err());
                assert!(n == 0 || dense_adjoint(dense, &r[1..], k, 1, &stop).is_err());
            }
            assert!(dense_scores(dense, &values[..0], 0, 1, &stop).is_err());
        }
    }

    #[test]
    fn sums_are_in_double_precision() {
        // In single precision the second value would vanish beside the first.
        let values = [1e8f32, 1.0];
        let x = Csr::new(&[0, 2], &[0, 1], &values, 2).expect("shape");
        let stop = Interrupt::new();
        assert_eq!(scores(&x, &[1.0, 1.0], 1, 1, &stop).expect("scores"), [1e8 + 1.0]);
        let dense = Dense::new(&values, 2, 1).expect("shape");
        assert_eq!(dense_adjoint(dense, &[1.0, 1.0], 1, 1, &stop).expect("adjoint"), [1e8 + 1.0]);
    }
}
