//! Value and gradient of sum_i c_i loss_i(X w) for dense data in one reading of the data.
//!
//! A block of rows is scored, its losses taken and its gradient added while the block is in cache.
//! Rows are cut into tasks by shape alone, each is summed in one order in `f64`, and tasks are added
//! in order: the result is the same to the bit on any number of threads.

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::loss::block::Labeled;
use crate::primal::batch::threads_for;
use crate::simd::exponential::VectorExp;
use crate::simd::tile::{self, BLOCK};
use crate::simd::{Lanes, Packed, PackedTask, dispatch_packed};
use crate::threads::try_each;

/// Tasks at most, and entries that all their gradients may take together.
const MAX_TASKS: usize = 64;
const MAX_ENTRIES: usize = 1 << 23;

/// Rows per task for `n` rows and gradients of `size` entries: whole blocks, by shape alone.
pub(crate) fn rows_per_task(n: usize, size: usize) -> usize {
    let tasks = (MAX_ENTRIES / size.max(1)).clamp(4, MAX_TASKS);
    n.div_ceil(tasks).max(8 * BLOCK).next_multiple_of(BLOCK)
}

/// Sum partial results in order.
pub(crate) fn add_in_order(parts: Vec<Vec<f64>>) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for part in parts {
        for (s, p) in sum.iter_mut().zip(part) {
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
    type Output = Result<Vec<f64>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<T>>(self) -> Self::Output {
        let (d, k) = (self.x.n_cols(), self.labeled.n_scores());
        let mut out = zeros(k.saturating_mul(d).saturating_add(k + 1))?;
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
            let next = &self.x.values()[(first + rows) * d..(first + 2 * rows).min(self.last) * d];
            tile::gradient::<T, V>(x, d, &z, k, grad, next);
            for (sum, z) in rest.iter_mut().zip(z.chunks_exact(BLOCK)) {
                *sum += z.iter().map(|z| z.to_f64()).sum::<f64>();
            }
            first += rows;
        }
        Ok(out)
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
        dispatch_packed(Pass { x, labeled, w: &turned, intercepts, first, last })
    };
    let parts = try_each(threads_for(2 * n * d * k, n_threads), 0..n.div_ceil(per), task)?;
    let mut sum = add_in_order(parts);
    sum.resize(k * d + k + 1, 0.0);
    let mut grad = tile::turn_back(&sum[..k * d], k);
    if intercepts.is_some() {
        grad.extend_from_slice(&sum[k * d..k * d + k]);
    }
    Ok((sum[k * d + k], grad))
}

#[cfg(test)]
mod tests {
    use super::value_and_grad;
    use crate::data::dense::Dense;
    use crate::interrupt::Interrupt;
    use crate::loss::block::{Labeled, SmoothLoss, Targets, losses_at};
    use crate::primal::batch::{dense_adjoint, dense_scores, scores};

    fn data(n: usize, d: usize, k: usize) -> (Vec<f64>, Vec<i64>, Vec<f64>) {
        let x = (0..n * d).map(|i| ((i * 7919) % 97) as f64 / 48.0 - 1.0).collect();
        let y = (0..n).map(|i| ((i * 31) % k) as i64).collect();
        let w = (0..(d + 1) * k).map(|i| ((i * 53) % 19) as f64 / 10.0 - 0.9).collect();
        (x, y, w)
    }

    #[test]
    fn one_pass_equals_scores_then_losses_then_the_adjoint() {
        let stop = Interrupt::new();
        for (n, d, k) in [(1, 1, 2), (63, 4, 3), (64, 16, 5), (65, 17, 6), (1300, 50, 11), (600, 130, 1)] {
            let (x, y, w) = data(n, d, k);
            let view = Dense::new(&x, n, d).expect("shape");
            let signs: Vec<f64> = y.iter().map(|&c| if c % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
            let (loss, targets) = match k {
                1 => (SmoothLoss::Logistic, Targets::Signs(&signs[..])),
                _ => (SmoothLoss::MulticlassLogistic, Targets::Classes(&y[..])),
            };
            let labeled = Labeled::new(loss, targets, Some(&weights), n, k).expect("valid");
            let (value, grad) = value_and_grad(view, labeled, &w, 1, &stop).expect("valid");
            for n_threads in [2, 3] {
                let many = value_and_grad(view, labeled, &w, n_threads, &stop).expect("valid");
                assert_eq!(many, (value, grad.clone()));
            }
            let mut s = vec![0.0; n * k];
            dense_scores(view, &w, k, &mut s, 2, &stop).expect("valid");
            let mut plain = vec![0.0; n * k];
            scores(&view, &w, k, &mut plain, 1, &stop).expect("valid");
            assert!(s.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-11));
            let mut r = vec![0.0; n * k];
            let total = losses_at(labeled, &s, &mut r, 2, &stop).expect("valid");
            assert!((total - value).abs() <= 1e-12 * total.abs());
            let adjoint = dense_adjoint(view, &r, k, 2, &stop).expect("valid");
            assert!(adjoint.iter().zip(&grad).all(|(a, b)| (a - b).abs() < 1e-10));
            for c in 0..k {
                let sum: f64 = (0..n).map(|i| r[i * k + c]).sum();
                assert!((sum - grad[d * k + c]).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn lengths_are_checked_and_an_interrupt_is_heard() {
        let (x, y, w) = data(10, 3, 2);
        let view = Dense::new(&x, 10, 3).expect("shape");
        let labeled = Labeled::new(SmoothLoss::MulticlassLogistic, Targets::Classes(&y), None, 10, 2);
        let labeled = labeled.expect("valid");
        assert!(value_and_grad(view, labeled, &w[1..], 1, &Interrupt::new()).is_err());
        let stop = Interrupt::new();
        stop.set();
        assert!(value_and_grad(view, labeled, &w, 1, &stop).is_err());
        assert!(
            Labeled::new(SmoothLoss::MulticlassLogistic, Targets::Classes(&[5i64]), None::<&[f64]>, 1, 2)
                .is_err()
        );
        assert!(SmoothLoss::named("hinge").is_err());
    }
}
