//! Sweeps that threads share: each visits its part of the next rows on a copy of the weights, then all are merged.
//!
//! Steps that are best for each copy may go too far together. For the logistic loss every thread steps as if the
//! curvature were larger by the number of threads, which is safe (CoCoA+, Ma et al. 2015). For the hinge losses
//! steps are whole, and all of them are shortened by the factor, at most one, at which the dual objective is
//! largest along them: it is quadratic there, and rises at least as much as the mean over the threads.

use super::DualBinary;
use crate::dual::binary_rows::{DualRows, Local};
use crate::dual::intercept::Bias;
use crate::dual::merge::Copies;
use crate::dual::tuning::{MOST_WHOLE, SAFE_MERGES, WHOLE_MERGES};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::loss::dual::{HingeDual, LogisticDual, MarginDual, MarginLoss, SquaredHingeDual};
use crate::real::Real;
use crate::threads::each;

impl<T: Real> DualBinary<T> {
    /// A sweep in which each merge hands every thread an equal part of the next rows.
    pub(super) fn shared_sweep<X: DualRows<T>>(
        &mut self,
        x: &X,
        rows: &[u32],
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let bounded = self.loss.is_bounded();
        let n_threads = if bounded { self.n_threads.min(MOST_WHOLE) } else { self.n_threads };
        let n_merges = if bounded { WHOLE_MERGES } else { SAFE_MERGES };
        let scale = if bounded { 1.0 } else { n_threads as f64 };
        let mut copies = std::mem::replace(&mut self.copies, Copies::new());
        copies.begin(&self.weights, n_threads);
        let mut violation = 0.0f64;
        for segment in rows.chunks(rows.len().div_ceil(n_merges).max(1)) {
            stop.check()?;
            let part = segment.len().div_ceil(n_threads).max(1);
            let start = self.bias;
            let tasks = copies.each.iter_mut().zip(segment.chunks(part));
            let sums = each(n_threads, tasks, |(copy, rows)| {
                copy.visits.clear();
                let local = Local { weights: &mut copy.weights, bias: start, curvature: scale, scale };
                self.visit_rows(x, rows, local, &mut copy.visits)
            });
            let moved = sums.iter().map(|sum| sum - start.sum).sum::<f64>() / scale;
            let length = if bounded { self.best_length(&copies, segment, part, start, moved) } else { 1.0 };
            self.bias.sum += length * moved;
            copies.merge(&mut self.weights, length / scale);
            for (rows, copy) in segment.chunks(part).zip(&copies.each) {
                violation = violation.max(self.note(rows, &copy.visits, length));
            }
        }
        self.copies = copies;
        Ok(violation)
    }

    /// The factor in [0, 1] on the steps that the copies made together, `moved` that of S, at which the dual
    /// objective is largest.
    fn best_length(&self, copies: &Copies<T>, segment: &[u32], part: usize, start: Bias, moved: f64) -> f64 {
        // Values of the whole and of half the step tell both coefficients.
        let (mut whole, mut half) = (0.0, 0.0);
        for (rows, copy) in segment.chunks(part).zip(&copies.each) {
            for (&i, visit) in rows.iter().zip(&copy.visits) {
                let (dual, upper) = (self.duals[i as usize], self.upper[i as usize]);
                let value = |dual| with_loss!(self.loss, |loss| loss.value(dual, upper));
                whole += value(visit.dual) - value(dual);
                half += value(0.5 * (dual + visit.dual)) - value(dual);
            }
        }
        let (slope, bend) = (4.0 * half - whole, 2.0 * whole - 4.0 * half);
        let (along, square) = copies.products(&self.weights);
        let rise = slope - along - start.value() * moved;
        let curvature = square + start.square * moved * moved - 2.0 * bend;
        if curvature > 0.0 { (rise / curvature).clamp(0.0, 1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::dense::Dense;
    use crate::data::row_subset::Subset;
    use crate::dual::binary::DualBinary;
    use crate::dual::intercept::Intercept;
    use crate::interrupt::Interrupt;
    use crate::loss::dual::{HingeDual, MarginDual, MarginLoss, SquaredHingeDual};
    use crate::random::Random;

    /// The dual objective around the center of the intercept, from the duals alone.
    fn dual_value(state: &DualBinary<f64>, loss: impl MarginDual, x: &Dense<'_, f64>) -> f64 {
        let mut w = vec![0.0; x.row(0).len()];
        let (mut value, mut sum) = (0.0, 0.0);
        for (i, &a) in state.duals.iter().enumerate() {
            value += loss.value(a, state.upper[i]);
            sum += state.signs[i] * a;
            w.iter_mut().zip(x.row(i)).for_each(|(w, x)| *w += state.signs[i] * a * x);
        }
        for (w, found) in w.iter().zip(&state.weights) {
            assert!((w - found).abs() < 1e-9);
        }
        assert!((sum - state.bias.sum).abs() < 1e-9);
        let bias = state.bias;
        let squares: f64 = w.iter().map(|w| w * w).sum();
        value - 0.5 * squares - bias.center * sum - 0.5 * bias.square * sum * sum
    }

    fn rises<L: MarginDual>(kind: MarginLoss, loss: L, n_threads: usize) {
        // Rows that nearly repeat each other: whole steps of two threads overshoot.
        let (n, d) = (600, 3);
        let mut random = Random::new(7);
        let values: Vec<f64> = (0..n * d).map(|_| 1.0 + 0.1 * random.below(10) as f64).collect();
        let x = Dense::new(&values, n, d).expect("shape");
        let signs: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
        let upper = vec![2.0; n];
        let mut state =
            DualBinary::new(&Subset::all(&x), &signs, &upper, kind, Intercept::Penalized, 1, 1, None)
                .expect("valid");
        state.n_threads = n_threads;
        let rows: Vec<u32> = (0..n as u32).collect();
        let mut last = 0.0;
        for _ in 0..5 {
            state.shared_sweep(&Subset::all(&x), &rows, &Interrupt::new()).expect("runs");
            let value = dual_value(&state, loss, &x);
            assert!(value >= last - 1e-9, "{value} after {last}");
            last = value;
        }
        assert!(last > 0.0);
    }

    #[test]
    fn whole_steps_together_never_lower_the_dual() {
        for n_threads in [2, 3] {
            rises(MarginLoss::Hinge, HingeDual, n_threads);
            rises(MarginLoss::SquaredHinge, SquaredHingeDual, n_threads);
        }
    }
}
