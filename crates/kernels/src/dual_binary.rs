//! Dual coordinate descent for two classes: hinge, squared hinge and logistic loss, L2 penalty.
//!
//! Problem: min over w of 1/2 |w|^2 + sum_i U_i phi(y_i <w, x_i>), through its dual
//! max over a of sum_i value_i(a_i) - 1/2 |w(a)|^2 with w(a) = sum_i a_i y_i x_i.
//! Invariant, on every exit: the weights are w(a) (up to rounding, which is removed by rebuilding them
//! now and then in single precision) and the duals are feasible.
//! Sources: Hsieh et al. (2008), Algorithm 1; Yu, Huang & Lin (2011) for the logistic loss;
//! [`crate::dual_intercept`] for free intercepts; [`crate::hot`] for the order of visits; on several
//! threads CoCoA+ (Ma et al. 2015): local copies of w, added up several times a pass, safe because every
//! thread takes its steps as if the curvature were as many times larger as there are threads.
//! A pass returns the state of convergence, [`DualBinary::certificate`] the exact duality gap.

use rayon::prelude::*;

use crate::dual_intercept::{Intercept, scale_of};
use crate::error::{KernelError, check_length};
use crate::hot::{HOT_SWEEPS, HotRows};
use crate::interrupt::Interrupt;
use crate::margin_dual::{HingeDual, LogisticDual, MarginDual, MarginLoss, SquaredHingeDual};
use crate::random::Random;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::{Task, dispatch};
use crate::threads::with_threads;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 512;
/// Merges of the local weights per pass.
const MERGES: usize = 8;
/// Stored values per merge and thread, relative to the number of columns, below which a merge costs
/// more than the second thread saves; and stored values of a problem that is worth a thread at all.
const WORTH: (usize, usize) = (1, 1 << 21);
/// Passes in single precision after which the weights are rebuilt from the duals.
const REBUILD: f64 = 50.0;

/// The state of convergence after a pass.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// Dual objective now.
    pub dual: f64,
    /// Duality gap as the rows saw it when they were visited: an estimate, larger than the gap now.
    pub gap: f64,
    /// Largest step, times curvature: the largest violation of the optimality conditions.
    pub violation: f64,
    /// Rows visited, hot sweeps included, divided by the number of rows.
    pub passes: f64,
}

/// An exact bound on the distance to the optimum.
#[derive(Debug, Clone, Copy)]
pub struct Certificate {
    /// The objective at the current weights.
    pub primal: f64,
    /// A lower bound of the optimum (for a free intercept: over all b' with |b' - b| <= 1 + |b|).
    pub dual: f64,
}

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
    n_sweeps: usize,
    since_rebuild: f64,
}

/// The intercept b = center + square * sum, with sum = S.
#[derive(Debug, Clone, Copy)]
struct Bias {
    center: f64,
    square: f64,
    sum: f64,
}

impl Bias {
    #[inline(always)]
    fn value(&self) -> f64 {
        self.center + self.square * self.sum
    }
}

/// The fixed part of the problem, as rows see it.
struct Problem<'a, X, L> {
    x: &'a X,
    loss: L,
    signs: &'a [f64],
    upper: &'a [f64],
    norms: &'a [f64],
}

/// Weights that a sweep may change; `scale` is the factor on the curvature.
struct Local<'a, T> {
    weights: &'a mut [T],
    bias: Bias,
    scale: f64,
}

struct Visit {
    dual: f64,
    gap: f64,
    violation: f64,
}

impl<X, L: MarginDual> Problem<'_, X, L> {
    /// The exact step on row `i` from `dual`, applied to the local weights.
    #[inline(always)]
    fn visit<T: Real, const FMA: bool>(&self, i: usize, dual: f64, local: &mut Local<'_, T>) -> Visit
    where
        X: Rows<T>,
    {
        let (sign, upper) = (self.signs[i], self.upper[i]);
        let q = local.scale * (self.norms[i] + local.bias.square);
        let margin = sign * (self.x.dot::<FMA>(i, local.weights).to_f64() + local.bias.value());
        let next = self.loss.step(margin, q, upper, dual);
        let step = next - dual;
        if step != 0.0 {
            let change = local.scale * sign * step;
            local.bias.sum += change;
            self.x.add_to::<FMA>(i, T::from_f64(change), local.weights);
        }
        Visit { dual: next, gap: self.loss.gap(margin, upper, dual), violation: (step * q).abs() }
    }
}

/// A serial sweep over a block of rows; returns the largest violation and the intercept.
struct Sweep<'a, T, X, L> {
    problem: &'a Problem<'a, X, L>,
    rows: &'a [u32],
    local: Local<'a, T>,
    duals: &'a mut [f64],
    gaps: &'a mut [f32],
    hot: &'a mut HotRows,
}

impl<T: Real, X: Rows<T>, L: MarginDual> Task for Sweep<'_, T, X, L> {
    type Output = (f64, Bias);

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> (f64, Bias) {
        let mut violation = 0.0f64;
        for (&i, &next) in self.rows.iter().zip(following(self.rows)) {
            let i = i as usize;
            self.problem.x.prefetch(next as usize);
            let visit = self.problem.visit::<T, FMA>(i, self.duals[i], &mut self.local);
            if L::BOUNDED {
                self.hot.note(i, visit.dual - self.duals[i]);
            }
            self.duals[i] = visit.dual;
            self.gaps[i] = visit.gap as f32;
            violation = violation.max(visit.violation);
        }
        (violation, self.local.bias)
    }
}

/// One thread's share of a merge: visits in order, kept until the merge.
struct Share<'a, T, X, L> {
    problem: &'a Problem<'a, X, L>,
    rows: &'a [u32],
    local: Local<'a, T>,
    duals: &'a [f64],
    visits: &'a mut Vec<Visit>,
}

impl<T: Real, X: Rows<T>, L: MarginDual> Task for Share<'_, T, X, L> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> f64 {
        for (&i, &next) in self.rows.iter().zip(following(self.rows)) {
            let i = i as usize;
            self.problem.x.prefetch(next as usize);
            self.visits.push(self.problem.visit::<T, FMA>(i, self.duals[i], &mut self.local));
        }
        self.local.bias.sum
    }
}

/// Sums of losses and gaps over a block of rows, at fixed weights.
struct Measure<'a, T, X, L> {
    problem: &'a Problem<'a, X, L>,
    first: usize,
    weights: &'a [T],
    intercept: f64,
    duals: &'a [f64],
}

impl<T: Real, X: Rows<T>, L: MarginDual> Task for Measure<'_, T, X, L> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, f64) {
        let p = self.problem;
        let (mut loss, mut gap) = (0.0, 0.0);
        for (i, &dual) in (self.first..).zip(self.duals) {
            if p.upper[i] > 0.0 {
                let score = p.x.dot::<FMA>(i, self.weights).to_f64() + self.intercept;
                loss += p.loss.loss(p.signs[i] * score, p.upper[i]);
                gap += p.loss.gap(p.signs[i] * score, p.upper[i], dual);
            }
        }
        (loss, gap)
    }
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
    /// A state at the duals `start` (zeros without), made feasible.
    ///
    /// `signs` are +1 or -1; `upper` are the U_i >= 0, and rows with U_i = 0 are left out.
    #[allow(clippy::too_many_arguments)]
    pub fn new<X: Rows<T>>(
        x: &X,
        signs: &[f64],
        upper: &[f64],
        loss: MarginLoss,
        intercept: Intercept,
        seed: u64,
        n_threads: usize,
        start: Option<&[f64]>,
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
        let bias = Bias { center: 0.0, square: intercept.square(mean_square, total, 2), sum: 0.0 };
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
            n_sweeps: 0,
            since_rebuild: 0.0,
        };
        if let Some(start) = start {
            check_length("start", start.len(), n)?;
            for (i, (dual, &from)) in state.duals.iter_mut().zip(start).enumerate() {
                if !from.is_finite() {
                    return Err(KernelError::Argument(format!("start[{i}] is not finite")));
                }
                if upper[i] > 0.0 {
                    *dual = with_loss!(loss, |l| l.clip(from, upper[i]));
                }
            }
            state.rebuild(x);
        }
        Ok(state)
    }

    /// One sweep over the rows, preceded by sweeps over the hot ones where that pays.
    pub fn pass<X: Rows<T>>(&mut self, x: &X, stop: &Interrupt) -> Result<Pass, KernelError> {
        with_loss!(self.loss, |loss| self.pass_with(x, loss, stop))
    }

    fn pass_with<X: Rows<T>, L: MarginDual>(
        &mut self,
        x: &X,
        loss: L,
        stop: &Interrupt,
    ) -> Result<Pass, KernelError> {
        let mut visited = 0;
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        let outcome = (|| {
            let rows = if L::BOUNDED {
                let mut hot = self.hot.select(self.n_sweeps, &mut self.random);
                for _ in 0..HOT_SWEEPS {
                    self.random.shuffle(&mut hot);
                    self.sweep(x, loss, &hot, stop)?;
                    visited += hot.len();
                }
                self.hot.awake(self.n_sweeps, &order)
            } else {
                Vec::new()
            };
            let rows = if L::BOUNDED { &rows } else { &order };
            visited += rows.len();
            if self.n_threads > 1 {
                self.threaded_sweep(x, loss, rows, stop)
            } else {
                self.sweep(x, loss, rows, stop)
            }
        })();
        let n_active = order.len().max(1);
        self.order = order;
        let violation = outcome?;
        self.n_sweeps += 1;
        if self.intercept == Intercept::Free {
            self.bias.center = self.bias.value();
        }
        let passes = visited as f64 / n_active as f64;
        self.since_rebuild += passes;
        if size_of::<T>() < size_of::<f64>() && self.since_rebuild > REBUILD {
            self.rebuild(x);
        }
        let value: f64 =
            self.order.iter().map(|&i| loss.value(self.duals[i as usize], self.upper[i as usize])).sum();
        let gap: f64 = self.gaps.iter().map(|&g| f64::from(g)).sum();
        Ok(Pass { dual: value - self.penalty(), gap: gap + self.slack(), violation, passes })
    }

    fn sweep<X: Rows<T>, L: MarginDual>(
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
    fn threaded_sweep<X: Rows<T>, L: MarginDual>(
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
        let mut locals: Vec<(Vec<T>, Vec<Visit>)> = vec![];
        locals.resize_with(n_threads, || (weights.clone(), vec![]));
        let mut violation = 0.0f64;
        for segment in rows.chunks(rows.len().div_ceil(MERGES).max(1)) {
            stop.check()?;
            let share = segment.len().div_ceil(n_threads).max(1);
            let (center, before) = (bias.center, bias.sum);
            let sums: Vec<f64> = with_threads(n_threads, || {
                locals
                    .par_iter_mut()
                    .zip(segment.par_chunks(share))
                    .map(|((copy, visits), rows)| {
                        copy.copy_from_slice(weights);
                        visits.clear();
                        let local = Local {
                            weights: copy,
                            bias: Bias { center, sum: before, square: bias.square },
                            scale,
                        };
                        dispatch(Share { problem: &problem, rows, local, duals, visits })
                    })
                    .collect()
            });
            let used = sums.len();
            let inverse = T::from_f64(1.0 / scale);
            let columns = weights.len().div_ceil(n_threads).max(1);
            with_threads(n_threads, || {
                weights.par_chunks_mut(columns).enumerate().for_each(|(c, weights)| {
                    for (j, w) in weights.iter_mut().enumerate() {
                        let at = c * columns + j;
                        let moved: T = locals[..used].iter().map(|(copy, _)| copy[at] - *w).sum();
                        *w += moved * inverse;
                    }
                });
            });
            bias.sum += sums.iter().map(|s| s - before).sum::<f64>() / scale;
            for (rows, (_, visits)) in segment.chunks(share).zip(&locals) {
                for (&i, visit) in rows.iter().zip(visits) {
                    let i = i as usize;
                    if L::BOUNDED {
                        self.hot.note(i, visit.dual - duals[i]);
                    }
                    duals[i] = visit.dual;
                    self.gaps[i] = visit.gap as f32;
                    violation = violation.max(visit.violation);
                }
            }
        }
        Ok(violation)
    }

    /// The objective and its lower bound at the current weights, on all threads.
    pub fn certificate<X: Rows<T>>(&self, x: &X, stop: &Interrupt) -> Result<Certificate, KernelError> {
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
            let parts: Vec<(f64, f64)> = if self.n_threads > 1 {
                with_threads(self.n_threads, || {
                    self.duals.par_chunks(BLOCK).enumerate().map(measure).collect::<Result<_, KernelError>>()
                })?
            } else {
                self.duals.chunks(BLOCK).enumerate().map(measure).collect::<Result<_, KernelError>>()?
            };
            let loss: f64 = parts.iter().map(|p| p.0).sum();
            let gap: f64 = parts.iter().map(|p| p.1).sum();
            let primal = self.penalty() + loss;
            Ok(Certificate { primal, dual: primal - gap - self.slack() })
        })
    }

    /// 1/2 |w|^2, a penalized intercept included.
    fn penalty(&self) -> f64 {
        let b = if self.intercept == Intercept::Penalized { self.bias.value() } else { 0.0 };
        0.5 * (squared_norm(&self.weights) + b * b)
    }

    /// What the duality gap lacks while S is not zero: |S| times the radius 1 + |b| of the search for b.
    fn slack(&self) -> f64 {
        if self.intercept == Intercept::Free {
            self.bias.sum.abs() * (1.0 + self.bias.value().abs())
        } else {
            0.0
        }
    }

    /// Set the weights to w(a).
    fn rebuild<X: Rows<T>>(&mut self, x: &X) {
        struct Rebuild<'a, T, X> {
            x: &'a X,
            order: &'a [u32],
            signs: &'a [f64],
            duals: &'a [f64],
            weights: &'a mut [T],
        }
        impl<T: Real, X: Rows<T>> Task for Rebuild<'_, T, X> {
            type Output = ();
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                for &i in self.order {
                    let i = i as usize;
                    if self.duals[i] != 0.0 {
                        self.x.add_to::<FMA>(i, T::from_f64(self.signs[i] * self.duals[i]), self.weights);
                    }
                }
            }
        }
        self.weights.fill(T::ZERO);
        let (order, signs, duals) = (&self.order[..], &self.signs[..], &self.duals[..]);
        dispatch(Rebuild { x, order, signs, duals, weights: &mut self.weights });
        let sum = signs.iter().zip(duals).map(|(s, a)| s * a).sum::<f64>();
        // A free intercept keeps its value.
        if self.intercept == Intercept::Free {
            self.bias.center -= self.bias.square * (sum - self.bias.sum);
        }
        self.bias.sum = sum;
        self.since_rebuild = 0.0;
    }

    /// The weights, followed by the intercept where there is one.
    pub fn weights(&self) -> Vec<T> {
        let mut weights = self.weights.clone();
        if self.intercept != Intercept::None {
            weights.push(T::from_f64(self.bias.value()));
        }
        weights
    }

    /// The duals a_i.
    pub fn duals(&self) -> &[f64] {
        &self.duals
    }

    /// Threads that a pass uses.
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }
}

/// For each row of `rows` the one visited after it; the last stands for itself.
#[inline(always)]
pub(crate) fn following(rows: &[u32]) -> impl Iterator<Item = &u32> {
    rows.iter().skip(1).chain(rows.last())
}

/// |w|^2 in `f64`, in lanes.
pub(crate) fn squared_norm<T: Real>(w: &[T]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let mut chunks = w.chunks_exact(8);
    for chunk in &mut chunks {
        for (sum, v) in lanes.iter_mut().zip(chunk) {
            *sum += v.to_f64() * v.to_f64();
        }
    }
    let rest: f64 = chunks.remainder().iter().map(|v| v.to_f64() * v.to_f64()).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Fail unless every U_i is finite and not negative.
pub(crate) fn check_upper(upper: &[f64]) -> Result<(), KernelError> {
    match upper.iter().position(|u| !(u.is_finite() && *u >= 0.0)) {
        Some(i) => Err(KernelError::Argument(format!("upper[{i}] must be finite and not negative"))),
        None => Ok(()),
    }
}

/// The rows with U_i > 0.
pub(crate) fn active_rows(upper: &[f64]) -> Result<Vec<u32>, KernelError> {
    if u32::try_from(upper.len()).is_err() {
        return Err(KernelError::Argument(format!("{} rows are too many for a dual solver", upper.len())));
    }
    Ok((0..upper.len() as u32).filter(|&i| upper[i as usize] > 0.0).collect())
}

/// Whether a pass has enough work, by shape alone, to share it among threads.
fn worth_threads<T: Real, X: Rows<T>>(x: &X) -> bool {
    x.n_stored() >= WORTH.1 && x.n_stored() / MERGES >= WORTH.0 * x.n_cols()
}
