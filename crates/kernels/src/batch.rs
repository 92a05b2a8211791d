//! Whole-data products: scores S = X W and, for dense input, the adjoint X' R.
//!
//! Rows are cut into blocks by shape alone, each block is summed in one order, and blocks are added
//! in order: the result is the same to the bit on any number of threads. The adjoint of a sparse
//! matrix is the score product of its transpose.

use rayon::prelude::*;

use crate::dense::Dense;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::{Task, dispatch};
use crate::threads::with_threads;

/// Rows per block of a score product.
const SCORE_BLOCK: usize = 256;

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
                self.x.dot_many::<FMA>(self.first + r, self.w, out);
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
    if n_threads <= 1 {
        out.chunks_mut(SCORE_BLOCK * k).enumerate().try_for_each(block)
    } else {
        with_threads(n_threads, || out.par_chunks_mut(SCORE_BLOCK * k).enumerate().try_for_each(block))
    }
}

struct AdjointBlock<'a, T> {
    x: Dense<'a, T>,
    r: &'a [T],
    k: usize,
    rows: std::ops::Range<usize>,
    out: Vec<T>,
}

impl<T: Real> Task for AdjointBlock<'_, T> {
    type Output = Vec<T>;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> Vec<T> {
        for i in self.rows {
            let r = &self.r[i * self.k..(i + 1) * self.k];
            if self.k == 1 {
                self.x.add_to::<FMA>(i, r[0], &mut self.out);
            } else {
                self.x.add_to_many::<FMA>(i, r, &mut self.out);
            }
        }
        self.out
    }
}

/// G = X' R for dense `x` and `r` (n x k), in `f64`, feature-major (n_cols x k).
pub fn dense_adjoint<T: Real>(
    x: Dense<'_, T>,
    r: &[T],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    check_length("residuals", r.len(), x.n_rows() * k)?;
    let size = x.n_cols() * k;
    let block_rows = (1usize << 20).div_ceil(x.n_cols().max(1)).clamp(256, 1 << 14);
    let n_blocks = x.n_rows().div_ceil(block_rows).clamp(1, 64);
    let per = x.n_rows().div_ceil(n_blocks);
    let partial = |b: usize| {
        stop.check()?;
        let rows = (b * per).min(x.n_rows())..((b + 1) * per).min(x.n_rows());
        Ok(dispatch(AdjointBlock { x, r, k, rows, out: vec![T::ZERO; size] }))
    };
    let parts: Vec<Vec<T>> = if n_threads <= 1 {
        (0..n_blocks).map(partial).collect::<Result<_, KernelError>>()?
    } else {
        with_threads(n_threads, || {
            (0..n_blocks).into_par_iter().map(partial).collect::<Result<_, KernelError>>()
        })?
    };
    let mut sum = vec![0.0; size];
    for part in &parts {
        for (s, &p) in sum.iter_mut().zip(part) {
            *s += p.to_f64();
        }
    }
    Ok(sum)
}
