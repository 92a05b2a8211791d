//! Value and gradient of sum_i c_i loss_i(X w) for dense data in one reading of the data.
//!
//! A block of rows is scored, its losses taken and its gradient added while the block is in cache.
//! Rows are cut into tasks by shape alone, each is summed in one order in `f64`, and tasks are added
//! in order: the result is the same to the bit on any number of threads.

use rayon::prelude::*;

use crate::batch::threads_for;
use crate::dense::Dense;
use crate::error::{KernelError, check_length};
use crate::exponential::VectorExp;
use crate::interrupt::Interrupt;
use crate::losses::Labeled;
use crate::rows::Rows;
use crate::simd::{Lanes, Packed, PackedTask, dispatch_packed};
use crate::threads::with_threads;
use crate::tile::{self, BLOCK};

/// Tasks at most, and entries that all their gradients may take together.
const MAX_TASKS: usize = 64;
const MAX_ENTRIES: usize = 1 << 23;

/// Rows per task for `n` rows and gradients of `size` entries: whole blocks, by shape alone.
pub(crate) fn rows_per_task(n: usize, size: usize) -> usize {
    let tasks = (MAX_ENTRIES / size.max(1)).clamp(4, MAX_TASKS);
    n.div_ceil(tasks).max(8 * BLOCK).next_multiple_of(BLOCK)
}

/// Sum partial results in order.
pub(crate) fn add_in_order(parts: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = parts.first().cloned().unwrap_or_default();
    for part in parts.iter().skip(1) {
        for (s, &p) in sum.iter_mut().zip(part) {
            *s += p;
        }
    }
    sum
}

struct Pass<'a, T> {
    x: Dense<'a, T>,
    labeled: Labeled<'a, T>,
    /// Score-major weights, k x d.
    w: &'a [T],
    intercepts: Option<&'a [T]>,
    first: usize,
    last: usize,
}

impl<T: VectorExp + Packed> PackedTask<T> for Pass<'_, T> {
    /// k x d gradients, k sums of residuals, then the value.
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<T>>(self) -> Vec<f64> {
        let (d, k) = (self.x.n_cols(), self.labeled.n_scores());
        let mut out = vec![0.0; k * d + k + 1];
        let (grad, rest) = out.split_at_mut(k * d);
        let mut z = vec![T::ZERO; k * BLOCK];
        let mut first = self.first;
        while first < self.last {
            let rows = BLOCK.min(self.last - first);
            let x = &self.x.values()[first * d..(first + rows) * d];
            z.fill(T::ZERO);
            tile::scores::<T, V>(x, d, self.w, k, &mut z);
            if let Some(intercepts) = self.intercepts {
                for (z, &b) in z.chunks_exact_mut(BLOCK).zip(intercepts) {
                    for z in z {
                        *z += b;
                    }
                }
            }
            rest[k] += self.labeled.block::<FMA>(first, rows, &mut z);
            tile::gradient::<T, V>(x, d, &z, k, grad);
            for (sum, z) in rest.iter_mut().zip(z.chunks_exact(BLOCK)) {
                *sum += z.iter().map(|z| z.to_f64()).sum::<f64>();
            }
            first += rows;
        }
        out
    }
}

/// Value and gradient at feature-major `w` (`n_cols * k` weights, then `k` intercepts or nothing).
///
/// The gradient is feature-major like `w`, in `f64`.
pub fn value_and_grad<T: VectorExp + Packed>(
    x: Dense<'_, T>,
    labeled: Labeled<'_, T>,
    w: &[T],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(f64, Vec<f64>), KernelError> {
    let (n, d, k) = (x.n_rows(), x.n_cols(), labeled.n_scores());
    check_length("targets", labeled.n_rows(), n)?;
    if w.len() != d * k {
        check_length("weights", w.len(), d * k + k)?;
    }
    let (weights, rest) = w.split_at(d * k);
    let intercepts = (!rest.is_empty()).then_some(rest);
    let turned = tile::turn(weights, k);
    let per = rows_per_task(n, d * k);
    let task = |t: usize| {
        stop.check()?;
        let (first, last) = (t * per, ((t + 1) * per).min(n));
        Ok(dispatch_packed(Pass { x, labeled, w: &turned, intercepts, first, last }))
    };
    let tasks = n.div_ceil(per);
    let parts: Vec<Vec<f64>> = if threads_for(2 * n * d * k, n_threads) <= 1 {
        (0..tasks).map(task).collect::<Result<_, KernelError>>()?
    } else {
        with_threads(n_threads, || (0..tasks).into_par_iter().map(task).collect::<Result<_, KernelError>>())?
    };
    let mut sum = add_in_order(&parts);
    sum.resize(k * d + k + 1, 0.0);
    let mut grad = tile::turn_back(&sum[..k * d], k);
    if intercepts.is_some() {
        grad.extend_from_slice(&sum[k * d..k * d + k]);
    }
    Ok((sum[k * d + k], grad))
}
