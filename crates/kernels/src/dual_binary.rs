//! Dual coordinate descent for two classes: hinge, squared hinge and logistic loss, L2 penalty.
//!
//! Problem: min over w of 1/2 |w|^2 + sum_i U_i phi(y_i <w, x_i>), through its dual
//! max over a of sum_i value_i(a_i) - 1/2 |w(a)|^2 with w(a) = sum_i a_i y_i x_i.
//! Invariant, on every exit: the weights are w(a) (up to rounding, which is removed by rebuilding them
//! now and then in single precision) and the duals are feasible.
//! Sources: Hsieh et al. (2008), Algorithm 1; Yu, Huang & Lin (2011) for the logistic loss;
//! [`crate::dual_intercept`] for free intercepts; [`crate::hot`] for the order of visits;
//! [`crate::dual_merge`] for several threads.
//! A pass returns the state of convergence, [`DualBinary::certificate`] the exact duality gap.

use rayon::prelude::*;

pub use crate::dual_binary_rows::DualRows;
use crate::dual_binary_rows::{Local, Look, Measure, Problem, Rebuild, Share, Sweep};
use crate::dual_common::{Certificate, Pass, active_rows, check_upper, due_for_rebuild};
use crate::dual_intercept::{Bias, Intercept, scale_of};
use crate::dual_merge::Copies;
use crate::error::{KernelError, check_length};
use crate::hot::HotRows;
use crate::interrupt::Interrupt;
use crate::margin_dual::{HingeDual, LogisticDual, MarginDual, MarginLoss, SquaredHingeDual};
use crate::random::Random;
use crate::real::Real;
use crate::simd::dispatch;
use crate::threads::{map_blocks, with_threads};

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 512;
/// Merges of the threads' weights in a sweep over all rows.
const MERGES: usize = 4;
/// Stored values below which a pass is too short to share.
const WORTH: usize = 1 << 21;
/// Mean curvature U |x|^2 up to which sweeps are shared: beyond it, and for the hinge losses, the safe
/// steps of several threads are so much shorter that they need more passes than they save time.
const GENTLE: f64 = 4.0;

/// Duals, weights and order of visits; see the head of this file.
#[derive(Debug, Clone)]
pub struct DualBinary<T> {
    loss: MarginLoss,
    intercept: Intercept,
    signs: Vec<f64>,
    upper: Vec<f64>,
    norms: Vec<f64>,
    duals: Vec<f64>,
    weights: Vec<T>,
    bias: Bias,
    order: Vec<u32>,
    hot: HotRows,
    gaps: Vec<f32>,
    random: Random,
    n_threads: usize,
    shared: bool,
    copies: Copies<T>,
    n_sweeps: usize,
    since_rebuild: f64,
}

/// Call `$body` with `$loss` bound to the row problem of the state's loss.
macro_rules! with_loss {
    ($kind:expr, |$loss:ident| $body:expr) => {
        match $kind {
            MarginLoss::Hinge => {
                let $loss = HingeDual;
                $body
            }
            MarginLoss::SquaredHinge => {
                let $loss = SquaredHingeDual;
                $body
            }
            MarginLoss::Logistic => {
                let $loss = LogisticDual;
                $body
            }
        }
    };
}

impl<T: Real> DualBinary<T> {
    /// A state at the duals and the free intercept of `start` (zeros without), made feasible.
    ///
    /// `signs` are +1 or -1; `upper` are the U_i >= 0, and rows with U_i = 0 are left out.
    #[allow(clippy::too_many_arguments)]
    pub fn new<X: DualRows<T>>(
        x: &X,
        signs: &[f64],
        upper: &[f64],
        loss: MarginLoss,
        intercept: Intercept,
        seed: u64,
        n_threads: usize,
        start: Option<(&[f64], f64)>,
    ) -> Result<Self, KernelError> {
        let n = x.n_rows();
        check_length("y", signs.len(), n)?;
        check_length("upper", upper.len(), n)?;
        if let Some(i) = signs.iter().position(|s| s.abs() != 1.0) {
            return Err(KernelError::Argument(format!("y must be +1 or -1, but y[{i}] is {}", signs[i])));
        }
        check_upper(upper)?;
        let norms: Vec<f64> = (0..n).map(|i| x.squared_norm(i)).collect();
        let (mean_square, total) = scale_of(&norms, upper);
        let bias = Bias { square: intercept.square(mean_square, total, 2), ..Bias::default() };
        let mut state = Self {
            loss,
            intercept,
            signs: signs.to_vec(),
            upper: upper.to_vec(),
            norms,
            duals: vec![0.0; n],
            weights: vec![T::ZERO; x.n_cols()],
            bias,
            order: active_rows(upper)?,
            hot: HotRows::new(n),
            gaps: vec![0.0; n],
            random: Random::new(seed),
            n_threads: if worth_threads(x) { n_threads.max(1) } else { 1 },
            shared: loss == MarginLoss::Logistic && mean_square * total / n.max(1) as f64 <= GENTLE,
            copies: Copies::new(),
            n_sweeps: 0,
            since_rebuild: 0.0,
        };
        if let Some((start, b)) = start {
            check_length("start", start.len(), n)?;
            for (i, (dual, &from)) in state.duals.iter_mut().zip(start).enumerate() {
                if !from.is_finite() {
                    return Err(KernelError::Argument(format!("start[{i}] is not finite")));
                }
                if upper[i] > 0.0 {
                    *dual = with_loss!(loss, |l| l.clip(from, upper[i]));
                }
            }
            let sum = state.rebuild(x);
            state.bias.begin(intercept, sum, b);
        }
        Ok(state)
    }

    /// One sweep over the rows, preceded by sweeps over the hot ones where that pays.
    pub fn pass<X: DualRows<T>>(&mut self, x: &X, stop: &Interrupt) -> Result<Pass, KernelError> {
        with_loss!(self.loss, |loss| self.pass_with(x, loss, stop))
    }

    fn pass_with<X: DualRows<T>, L: MarginDual>(
        &mut self,
        x: &X,
        loss: L,
        stop: &Interrupt,
    ) -> Result<Pass, KernelError> {
        let (mut visited, mut looked) = (0, 0);
        if self.n_sweeps > 0 {
            self.bias.recenter(self.intercept);
        }
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        let outcome = (|| {
            let rows = if L::BOUNDED {
                let mut hot = self.hot.first_set(self.n_sweeps);
                while let Some(mut set) = hot {
                    for _ in 0..set.n_sweeps {
                        self.random.shuffle(&mut set.rows);
                        self.sweep(x, loss, &set.rows, stop)?;
                        visited += set.rows.len();
                    }
                    hot = self.hot.next_set(set);
                }
                looked = self.look(x, loss, &order, stop)?;
                self.hot.awake(self.n_sweeps, &order)
            } else {
                Vec::new()
            };
            let rows = if L::BOUNDED { &rows } else { &order };
            visited += rows.len();
            if self.n_sweep_threads() > 1 {
                self.threaded_sweep(x, loss, rows, stop)
            } else {
                self.sweep(x, loss, rows, stop)
            }
        })();
        let n_active = order.len().max(1);
        self.order = order;
        let violation = outcome?;
        self.n_sweeps += 1;
        self.since_rebuild += visited as f64 / n_active as f64;
        let passes = (visited + looked) as f64 / n_active as f64;
        if due_for_rebuild::<T>(self.since_rebuild) {
            let sum = self.rebuild(x);
            self.bias.reset_sum(sum);
        }
        let value: f64 =
            self.order.iter().map(|&i| loss.value(self.duals[i as usize], self.upper[i as usize])).sum();
        let gap: f64 = self.gaps.iter().map(|&g| f64::from(g)).sum();
        let penalty = 0.5 * self.squared_weights(x) + self.intercept.penalty(self.bias.sum);
        Ok(Pass { dual: value - penalty, gap: gap + self.slack(), violation, passes })
    }

    /// Wake those of the resting rows that a visit would move, where it is time; returns how many were
    /// looked at.
    ///
    /// At fixed weights, threads share the rows and a row costs half a visit.
    fn look<X: DualRows<T>, L: MarginDual>(
        &mut self,
        x: &X,
        loss: L,
        rows: &[u32],
        stop: &Interrupt,
    ) -> Result<usize, KernelError> {
        let resting = self.hot.resting(self.n_sweeps, rows);
        let problem = Problem { x, loss, signs: &self.signs, upper: &self.upper, norms: &self.norms };
        let (duals, weights, intercept) = (&self.duals[..], &self.weights[..], self.bias.value());
        let woken: Vec<Vec<u32>> = map_blocks(self.n_threads, &resting, BLOCK, |(_, rows)| {
            stop.check()?;
            Ok(dispatch(Look { problem: &problem, rows, weights, intercept, duals }))
        })?;
        woken.iter().flatten().for_each(|&i| self.hot.wake(i as usize));
        Ok(resting.len())
    }

    fn sweep<X: DualRows<T>, L: MarginDual>(
        &mut self,
        x: &X,
        loss: L,
        rows: &[u32],
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let problem = Problem { x, loss, signs: &self.signs, upper: &self.upper, norms: &self.norms };
        let mut violation = 0.0f64;
        for block in rows.chunks(BLOCK) {
            stop.check()?;
            let largest;
            (largest, self.bias) = dispatch(Sweep {
                problem: &problem,
                rows: block,
                local: Local { weights: &mut self.weights, bias: self.bias, scale: 1.0 },
                duals: &mut self.duals,
                gaps: &mut self.gaps,
                hot: &mut self.hot,
            });
            violation = violation.max(largest);
        }
        Ok(violation)
    }

    /// The threads' sweep: each merge hands every thread an equal share of the next rows.
    fn threaded_sweep<X: DualRows<T>, L: MarginDual>(
        &mut self,
        x: &X,
        loss: L,
        rows: &[u32],
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let n_threads = self.n_threads;
        let scale = n_threads as f64;
        let problem = Problem { x, loss, signs: &self.signs, upper: &self.upper, norms: &self.norms };
        let (duals, weights, bias) = (&mut self.duals, &mut self.weights, &mut self.bias);
        self.copies.begin(weights, n_threads);
        let mut violation = 0.0f64;
        for segment in rows.chunks(rows.len().div_ceil(MERGES).max(1)) {
            stop.check()?;
            let share = segment.len().div_ceil(n_threads).max(1);
            let start = *bias;
            let sums: Vec<f64> = with_threads(n_threads, || {
                let tasks = self.copies.each.par_iter_mut().zip(segment.par_chunks(share));
                let sums = tasks.map(|(copy, rows)| {
                    copy.visits.clear();
                    let local = Local { weights: &mut copy.weights, bias: start, scale };
                    dispatch(Share { problem: &problem, rows, local, duals, visits: &mut copy.visits })
                });
                sums.collect()
            });
            bias.sum += sums.iter().map(|sum| sum - start.sum).sum::<f64>() / scale;
            self.copies.merge(weights);
            for (rows, copy) in segment.chunks(share).zip(&self.copies.each) {
                for (&i, visit) in rows.iter().zip(&copy.visits) {
                    let i = i as usize;
                    duals[i] = visit.dual;
                    self.gaps[i] = visit.gap as f32;
                    violation = violation.max(visit.violation);
                }
            }
        }
        Ok(violation)
    }

    /// The objective and its lower bound at the current weights, on all threads.
    pub fn certificate<X: DualRows<T>>(&self, x: &X, stop: &Interrupt) -> Result<Certificate, KernelError> {
        with_loss!(self.loss, |loss| {
            let problem = Problem { x, loss, signs: &self.signs, upper: &self.upper, norms: &self.norms };
            let measure = |(b, duals): (usize, &[f64])| {
                stop.check()?;
                Ok(dispatch(Measure {
                    problem: &problem,
                    first: b * BLOCK,
                    weights: &self.weights,
                    intercept: self.bias.value(),
                    duals,
                }))
            };
            let parts: Vec<(f64, f64)> = map_blocks(self.n_threads, &self.duals, BLOCK, measure)?;
            let loss: f64 = parts.iter().map(|p| p.0).sum();
            let gap: f64 = parts.iter().map(|p| p.1).sum();
            let penalty = 0.5 * self.squared_weights(x) + self.intercept.penalty(self.bias.value());
            let primal = penalty + loss;
            Ok(Certificate { primal, dual: primal - gap - self.slack() })
        })
    }

    fn squared_weights<X: DualRows<T>>(&self, x: &X) -> f64 {
        x.squared_weights(&self.weights, &self.signs, &self.duals)
    }

    fn slack(&self) -> f64 {
        self.intercept.slack(self.bias.value(), self.bias.sum)
    }

    /// Set the weights to w(a); returns S.
    fn rebuild<X: DualRows<T>>(&mut self, x: &X) -> f64 {
        let (rows, signs, duals) = (&self.order[..], &self.signs[..], &self.duals[..]);
        self.weights.fill(T::ZERO);
        dispatch(Rebuild { x, rows, signs, duals, weights: &mut self.weights });
        self.since_rebuild = 0.0;
        signs.iter().zip(duals).map(|(s, a)| s * a).sum()
    }

    /// The weights, followed by the intercept where there is one.
    pub fn weights(&self) -> Vec<T> {
        let mut weights = self.weights.clone();
        if self.intercept != Intercept::None {
            weights.push(T::from_f64(self.bias.value()));
        }
        weights
    }

    /// The intercept; zero where there is none.
    pub fn intercept(&self) -> f64 {
        self.bias.value()
    }

    /// The duals a_i.
    pub fn duals(&self) -> &[f64] {
        &self.duals
    }

    /// Threads that a sweep uses; exact evaluations may use more.
    pub fn n_sweep_threads(&self) -> usize {
        if self.shared { self.n_threads } else { 1 }
    }
}

/// Whether a pass has enough work, by shape alone, to share it among threads: enough in all, and
/// more in each merge than adding up the weights costs.
fn worth_threads<T: Real, X: DualRows<T>>(x: &X) -> bool {
    x.n_stored() >= WORTH && x.n_stored() / MERGES >= x.n_cols()
}
