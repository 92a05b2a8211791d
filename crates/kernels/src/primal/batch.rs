//! Whole-data products: scores S = X W and, for dense input, the adjoint X' R.
//!
//! Rows are cut into blocks by shape alone, each block is summed in one order, and blocks are added
//! in order: the result is the same to the bit on any number of threads. The adjoint of a sparse
//! matrix is the score product of its transpose.

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::primal::fused::{add_in_order, rows_per_task};
use crate::real::Real;
use crate::simd::tile::{self, BLOCK};
use crate::simd::{Lanes, Packed, PackedTask, Task, dispatch, dispatch_packed};
use crate::threads::try_each;

/// Rows per block of a score product.
pub(crate) const SCORE_BLOCK: usize = 256;
/// Multiply-adds below which threads cost more than they save.
const SMALL: usize = 1 << 19;

/// Threads for `work` multiply-adds: one when it is small. Results do not depend on it.
pub(crate) fn threads_for(work: usize, n_threads: usize) -> usize {
    if work < SMALL { 1 } else { n_threads }
}

struct ScoreBlock<'a, T, X> {
    x: &'a X,
    w: &'a [T],
    intercepts: Option<&'a [T]>,
    first: usize,
    k: usize,
    out: &'a mut [T],
}

impl<T: Real, X: Rows<T>> Task for ScoreBlock<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (r, out) in self.out.chunks_exact_mut(self.k).enumerate() {
            if self.k == 1 {
                out[0] = self.x.dot::<FMA>(self.first + r, self.w);
            } else {
                self.x.dot_many::<T, FMA>(self.first + r, self.w, out);
            }
            if let Some(b) = self.intercepts {
                for (o, &b) in out.iter_mut().zip(b) {
                    *o += b;
                }
            }
        }
    }
}

/// S = X W + 1 b' for feature-major `w` of `k` scores, written to `out` (n x k).
///
/// `w` holds `n_cols * k` weights, followed by `k` intercepts or by nothing.
pub fn scores<T: Real, X: Rows<T>>(
    x: &X,
    w: &[T],
    k: usize,
    out: &mut [T],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(), KernelError> {
    let weights = x.n_cols() * k;
    if k == 0 {
        return Err(KernelError::Argument("there must be at least one score".into()));
    }
    if w.len() != weights {
        check_length("weights", w.len(), weights + k)?;
    }
    check_length("out", out.len(), x.n_rows() * k)?;
    let (w, rest) = w.split_at(weights);
    let intercepts = (!rest.is_empty()).then_some(rest);
    let block = |(b, out): (usize, &mut [T])| {
        stop.check()?;
        dispatch(ScoreBlock { x, w, intercepts, first: b * SCORE_BLOCK, k, out });
        Ok(())
    };
    let n_threads = threads_for(x.n_stored() * k, n_threads);
    try_each(n_threads, out.chunks_mut(SCORE_BLOCK * k).enumerate(), block).map(drop)
}

/// Scores of the rows `x`, written to `out`.
pub(crate) struct DenseScores<'a, T> {
    pub x: &'a [T],
    pub d: usize,
    /// Score-major weights, k x d.
    pub w: &'a [T],
    pub intercepts: Option<&'a [T]>,
    pub k: usize,
    pub out: &'a mut [T],
}

impl<T: Packed> PackedTask<T> for DenseScores<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<T>>(self) {
        let mut z = vec![T::ZERO; self.k * BLOCK];
        for (b, out) in self.out.chunks_mut(BLOCK * self.k).enumerate() {
            let rows = out.len() / self.k;
            let x = &self.x[b * BLOCK * self.d..(b * BLOCK + rows) * self.d];
            z.fill(T::ZERO);
            tile::scores::<T, V>(x, self.d, self.w, self.k, &mut z);
            if let Some(intercepts) = self.intercepts {
                for (z, &b) in z.chunks_exact_mut(BLOCK).zip(intercepts) {
                    for z in z {
                        *z += b;
                    }
                }
            }
            tile::to_rows(&z, self.k, out);
        }
    }
}

/// [`scores`] for dense data, several rows at a time.
pub fn dense_scores<T: Packed>(
    x: Dense<'_, T>,
    w: &[T],
    k: usize,
    out: &mut [T],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(), KernelError> {
    let (n, d) = (x.n_rows(), x.n_cols());
    if k == 0 {
        return Err(KernelError::Argument("there must be at least one score".into()));
    }
    if w.len() != d * k {
        check_length("weights", w.len(), d * k + k)?;
    }
    check_length("out", out.len(), n * k)?;
    let (weights, rest) = w.split_at(d * k);
    let intercepts = (!rest.is_empty()).then_some(rest);
    let turned = tile::turn(weights, k);
    let block = |(b, out): (usize, &mut [T])| {
        stop.check()?;
        let first = b * SCORE_BLOCK * d;
        let x = &x.values()[first..first + out.len() / k * d];
        dispatch_packed(DenseScores { x, d, w: &turned, intercepts, k, out });
        Ok(())
    };
    let n_threads = threads_for(n * d * k, n_threads);
    try_each(n_threads, out.chunks_mut(SCORE_BLOCK * k).enumerate(), block).map(drop)
}

/// The products of the rows `x` with their residuals `r`, added to the score-major `grad`.
pub(crate) struct AdjointBlock<'a, T> {
    pub x: &'a [T],
    pub d: usize,
    pub r: &'a [T],
    pub k: usize,
    pub grad: &'a mut [f64],
}

impl<T: Packed> PackedTask<T> for AdjointBlock<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<T>>(self) {
        let (d, k) = (self.d, self.k);
        let mut z = vec![T::ZERO; k * BLOCK];
        for (b, r) in self.r.chunks(BLOCK * k).enumerate() {
            let rows = r.len() / k;
            tile::from_rows(r, k, &mut z);
            tile::gradient::<T, V>(&self.x[b * BLOCK * d..(b * BLOCK + rows) * d], d, &z, k, self.grad, &[]);
        }
    }
}

/// G = X' R for dense `x` and `r` (n x k), in `f64`, feature-major (n_cols x k).
pub fn dense_adjoint<T: Packed>(
    x: Dense<'_, T>,
    r: &[T],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let (n, d) = (x.n_rows(), x.n_cols());
    check_length("residuals", r.len(), n * k)?;
    let per = rows_per_task(n, d * k);
    let partial = |t: usize| {
        stop.check()?;
        let rows = t * per..((t + 1) * per).min(n);
        let (x, r) = (&x.values()[rows.start * d..rows.end * d], &r[rows.start * k..rows.end * k]);
        let mut grad = zeros(d.saturating_mul(k))?;
        dispatch_packed(AdjointBlock { x, d, r, k, grad: &mut grad });
        Ok(grad)
    };
    let tasks = if d * k == 0 { 0 } else { n.div_ceil(per) };
    let parts = try_each(threads_for(n * d * k, n_threads), 0..tasks, partial)?;
    let mut sum = add_in_order(parts);
    sum.resize(d * k, 0.0);
    Ok(tile::turn_back(&sum, k))
}
