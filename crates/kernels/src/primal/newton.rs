//! Newton's method for the losses of a margin on few features: exact Hessians, and no other state than weights.
//!
//! Problem: min over w of P(w) = 1/2 |w|^2 + sum_i U_i loss(m_i), m_i = y_i (<x_i, w> + b), for the convex losses of a
//! margin that have a minimum. A pass yields the value, the gradient and the d x d Hessian together: dense rows are
//! read once, sparse ones add the pairs of their values.
//!
//! The hinge is smoothed, max over a in [0, 1] of a z - (a - c)^2 / (2 sigma) with z = 1 - m and centers c = 1/2 at
//! first. Its maximizers a are dual variables, and the duality gap splits exactly into
//!
//! ```text
//! P(w) - D(a) = 1/2 |w - sum_i U_i a_i y_i x_i|^2 + sum_i U_i (max(0, z_i) - a_i z_i):
//! ```
//!
//! what Newton steps remove, and what smoothing costs. While the second part is too large, sigma grows; from some
//! sigma on the maximizers become centers instead (proximal method of multipliers, Rockafellar 1976).
//!
//! The dual variables of smooth losses are slopes that are moved along a whole step d: a_i = -loss'(m_i) - loss''(m_i) t_i
//! with t the margins of d. Then w + d = sum_i U_i a_i y_i x_i, and of the gap only sum_i U_i (loss + loss*(-a_i) + a_i m_i) at
//! the new margins is left, of third order in d. (The slopes at w + d would leave half their squared sum besides.) Those of
//! the smoothed hinge are moved in the same way and cut to [0, 1], which is what is left then. Steps are the
//! best ones along the direction, found on kept margins; on many rows whole steps are tried without that until one fails.
//! Many rows begin with every 8th, 16th … of them.
//!
//! Returned: weights, dual variables, sigma, and what each pass found. The gaps are those of the sums made here: the
//! caller proves them.

use std::time::Instant;

use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::dual::intercept::Intercept;
use crate::error::{KernelError, check_length, check_not_negative, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::primal::double::adjoint;
use crate::primal::newton::curve::{Curve, Linear, Slope};
use crate::primal::newton::pass::{Direction, Part, SecondOrder, Sums};
use crate::real::Real;
use crate::simd::{Gather, dispatch, dispatch_packed};
use crate::threads::try_each;

mod cholesky;
pub mod curve;
mod pass;
pub mod softmax;
#[cfg(test)]
mod tests;

/// Parts of the rows at most: each has sums of its own.
const MAX_PARTS: usize = 8;
/// Rows of a part at least.
const PART: usize = 4096;
/// Rows, and rows per feature, that a sample of the rows has at least.
const SAMPLE: (usize, usize) = (8000, 20);
/// The most rows that one of the sample stands for: dense ones, and sparse ones of smooth losses, which repay less.
const STRIDE: (usize, usize) = (64, 4);
/// Passes over the sample at most, and the relative gap there.
const COARSE: (usize, f64) = (40, 1e-3);
/// Rows of dense data from which on whole steps are tried before any search: a search reads the data once more.
const MANY_ROWS: usize = 20_000;
/// sigma at the start, and after the sample.
const SIGMA: (f64, f64) = (0.25, 8.0);
/// sigma from which on multipliers are updated, and up to which it grows before.
const MULTIPLIERS: (f64, f64) = (4.0, 30.0);
/// Growth of sigma at most.
const GROWTH: f64 = 3.0;
/// A slope along the direction below this share of the first one ends a search.
const FLAT: f64 = 0.1;
/// Share of a whole step's slope up to which nothing is searched.
const WHOLE: f64 = 0.3;
/// Passes within which the gap must halve; otherwise rounding is all that is left.
const STALL: usize = 60;
/// Evaluations of a search at most; each reads two arrays of margins.
const TRIALS: usize = 12;
/// A whole step is worth a look at its dual variables where P should fall by at most so many times the gap that would do:
/// it removes half of the digits, or more.
const NEAR: f64 = 100.0;

/// What is minimized.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// +1 or -1.
    pub signs: &'a [f64],
    /// U_i >= 0.
    pub weights: &'a [f64],
    /// The loss.
    pub curve: Curve,
    /// The last weight.
    pub intercept: Intercept,
}

/// Where to begin.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// Weights, the intercept last.
    pub w: &'a [f64],
    /// sigma of the hinge.
    pub sigma: f64,
    /// Centers of the hinge in [0, 1]; nothing stands for 1/2.
    pub centers: &'a [f64],
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// Gap relative to the value.
    pub tol: f64,
    /// Least value that `tol` is taken of.
    pub least: f64,
    /// Passes at most.
    pub max_passes: usize,
    /// Whether to keep the weights of every pass.
    pub keep: bool,
}

/// What was known after so many passes.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Passes until then.
    pub passes: f64,
    /// The objective.
    pub value: f64,
    /// The gap, from the sums made here.
    pub gap: f64,
    /// Since the beginning.
    pub seconds: f64,
    /// The weights, where they are kept.
    pub w: Vec<f64>,
}

/// What every pass found.
pub(crate) struct Trace {
    began: Instant,
    keep: bool,
    turns: Vec<Turn>,
}

impl Trace {
    fn new(goal: Goal) -> Self {
        Self { began: Instant::now(), keep: goal.keep, turns: Vec::new() }
    }

    fn note(&mut self, passes: f64, value: f64, gap: f64, w: &[f64]) {
        let w = if self.keep { w.to_vec() } else { Vec::new() };
        self.turns.push(Turn { passes, value, gap, seconds: self.began.elapsed().as_secs_f64(), w });
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Weights, the intercept last.
    pub w: Vec<f64>,
    /// Dual variables as shares of U_i; nothing where none are good.
    pub shares: Vec<f64>,
    /// sigma of the hinge.
    pub sigma: f64,
    /// What each pass found.
    pub trace: Vec<Turn>,
    /// Whether steps still made progress when it ended.
    pub moving: bool,
}

/// Rows that a Newton step can be made from.
pub trait Source: SecondOrder {
    /// X' times one number per row.
    fn pulled(&self, residuals: &[f64], n_threads: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError>;
    /// The most rows that one may stand for in a first sample.
    fn stride(&self, curve: Curve) -> usize;
    /// Whether a whole step may be tried without a search.
    fn bold(&self) -> bool;
}

impl<T: Real> Source for Dense<'_, T> {
    fn pulled(&self, residuals: &[f64], n_threads: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        adjoint(self, residuals, 1, n_threads, stop)
    }
    fn stride(&self, _: Curve) -> usize {
        STRIDE.0
    }
    fn bold(&self) -> bool {
        self.n_rows() >= MANY_ROWS
    }
}

impl<T: Gather> Source for Csr<'_, T> {
    fn pulled(&self, residuals: &[f64], n_threads: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        adjoint(self, residuals, 1, n_threads, stop)
    }
    fn stride(&self, curve: Curve) -> usize {
        if curve == Curve::Hinge { 1 } else { STRIDE.1 }
    }
    fn bold(&self) -> bool {
        false
    }
}

/// Minimize P.
pub fn minimize<X: Source>(
    x: &X,
    problem: Problem<'_>,
    start: Option<Start<'_>>,
    goal: Goal,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Outcome, KernelError> {
    let n = x.rows();
    let size = x.columns() + usize::from(problem.intercept != Intercept::None);
    check_length("signs", problem.signs.len(), n)?;
    check_length("weights", problem.weights.len(), n)?;
    check_not_negative("weights", problem.weights)?;
    // Each part has such a matrix: better to hear now that there is no memory for it.
    drop(zeros::<f64>(size.saturating_mul(size))?);
    let mut run = Run::new(x, problem, goal, n_threads);
    if let Some(start) = start {
        check_length("start", start.w.len(), size)?;
        if !start.centers.is_empty() {
            check_length("centers", start.centers.len(), n)?;
        }
        if !(start.sigma > 0.0 && start.w.iter().chain(start.centers).all(|v| v.is_finite())) {
            return Err(KernelError::Argument("start must be finite and sigma positive".into()));
        }
        run.w.copy_from_slice(start.w);
        run.sigma = start.sigma;
        run.centers = start.centers.to_vec();
    } else {
        let stride = (n / SAMPLE.0.max(SAMPLE.1 * size)).clamp(1, x.stride(problem.curve));
        if stride > 1 {
            run.begin(stride, Goal { tol: COARSE.1, max_passes: COARSE.0.min(goal.max_passes), ..goal });
            run.steps(true, stop)?;
            run.sigma = SIGMA.1;
        }
    }
    run.begin(1, goal);
    run.steps(false, stop)?;
    let Run { w, shares, sigma, trace, moving, .. } = run;
    Ok(Outcome { w, shares, sigma, trace: trace.turns, moving })
}

struct Run<'a, X> {
    x: &'a X,
    problem: Problem<'a>,
    goal: Goal,
    n_threads: usize,
    w: Vec<f64>,
    sigma: f64,
    centers: Vec<f64>,
    shares: Vec<f64>,
    margins: Vec<f64>,
    /// Whether `margins` are those of `w`.
    known: bool,
    stride: usize,
    /// The best lower bound of P that dual variables of the hinge gave, and these.
    bound: (f64, Vec<f64>),
    trace: Trace,
    passes: f64,
    moving: bool,
}

/// A pass with what follows from it.
struct Found {
    value: f64,
    smooth: f64,
    slack: f64,
    /// The gradient's opposite.
    pull: Vec<f64>,
    /// Half the squared length of `pull` where there is a penalty, and what an imbalance of the duals may cost.
    rest: f64,
    hessian: Vec<f64>,
}

/// A whole step: where it began, with which margins, along which direction, at which smoothed value.
struct Tried {
    w: Vec<f64>,
    margins: Vec<f64>,
    step: Vec<f64>,
    smooth: f64,
}

impl<'a, X: Source> Run<'a, X> {
    fn new(x: &'a X, problem: Problem<'a>, goal: Goal, n_threads: usize) -> Self {
        let size = x.columns() + usize::from(problem.intercept != Intercept::None);
        Self {
            x,
            problem,
            goal,
            n_threads,
            w: vec![0.0; size],
            sigma: SIGMA.0,
            centers: Vec::new(),
            shares: Vec::new(),
            margins: Vec::new(),
            known: false,
            stride: 1,
            bound: (f64::NEG_INFINITY, Vec::new()),
            trace: Trace::new(goal),
            passes: 0.0,
            moving: true,
        }
    }

    fn begin(&mut self, stride: usize, goal: Goal) {
        let count = self.x.rows().div_ceil(stride);
        (self.stride, self.goal, self.known) = (stride, goal, false);
        self.margins = vec![0.0; count];
        self.shares = if self.problem.curve == Curve::Hinge { vec![0.0; count] } else { Vec::new() };
    }

    /// Number of weights under the penalty.
    fn penalized(&self) -> usize {
        self.w.len() - usize::from(self.problem.intercept == Intercept::Free)
    }

    /// Parts of the visited rows, by shape alone.
    fn per_part(&self) -> usize {
        self.margins.len().div_ceil(MAX_PARTS).max(PART)
    }

    fn threads(&self) -> usize {
        threads_for(self.margins.len() * self.w.len() * self.w.len() / 2, self.n_threads)
    }

    /// Value, gradient and Hessian at the weights.
    fn pass(&mut self, stop: &Interrupt) -> Result<Found, KernelError> {
        let (per, threads, stride) = (self.per_part(), self.threads(), self.stride);
        let (x, problem, sigma, known) = (self.x, self.problem, self.sigma, self.known);
        let (w, centers) = (&self.w, &self.centers);
        let mut shares = self.shares.chunks_mut(per);
        let parts: Vec<_> =
            self.margins.chunks_mut(per).map(|m| (m, shares.next().unwrap_or_default())).collect();
        let sums = try_each(threads, parts.into_iter().enumerate(), |(part, (margins, shares))| {
            let first = part * per;
            let centers = centers.get(first..first + margins.len()).unwrap_or_default();
            let part = Part { x, problem, first, stride, w, sigma, known, margins, shares, centers, stop };
            dispatch_packed(part)
        })?;
        self.known = true;
        self.passes += 1.0 / stride as f64;
        let mut sums = sums.into_iter();
        let mut sum = sums.next().map_or_else(|| Sums::new(w.len()), Ok)?;
        for other in sums {
            sum.add(&other);
        }
        Ok(self.found(sum))
    }

    fn found(&self, sum: Sums) -> Found {
        let penalized = self.penalized();
        let half = 0.5 * squares(&self.w[..penalized]);
        let mut pull = sum.gradient;
        for (p, w) in pull.iter_mut().zip(&self.w[..penalized]) {
            *p -= w;
        }
        let mut rest = 0.5 * squares(&pull[..penalized]);
        if self.problem.intercept == Intercept::Free {
            rest += pull[penalized].abs() * self.w[penalized].abs().max(1.0);
        }
        let smooth = half + if self.problem.curve == Curve::Hinge { sum.smooth } else { sum.value };
        Found { value: half + sum.value, smooth, slack: sum.slack, pull, rest, hessian: sum.hessian }
    }

    /// H^-1 pull, and its inner product with `pull`; nothing where H cannot be factored.
    fn newton(&self, found: &mut Found) -> Option<(Vec<f64>, f64)> {
        let size = self.w.len();
        let matrix = &mut found.hessian;
        let mean = (0..size).map(|j| matrix[j * size + j]).sum::<f64>() / size.max(1) as f64;
        let penalized = self.penalized();
        for j in 0..size {
            let own = matrix[j * size + j];
            matrix[j * size + j] +=
                if j < penalized { 1.0 } else { least_curvature(mean, found.pull[j], own) };
        }
        let mut step = found.pull.clone();
        if !cholesky::solve(matrix, size, &mut step) {
            return None;
        }
        let decrement: f64 = found.pull.iter().zip(&step).map(|(a, b)| a * b).sum();
        decrement.is_finite().then_some((step, decrement))
    }

    /// Margins of a direction at the visited rows.
    fn along(&self, direction: &[f64], stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        let per = self.per_part();
        let mut out = vec![0.0; self.margins.len()];
        let (x, problem, stride) = (self.x, self.problem, self.stride);
        let threads = threads_for(out.len() * self.w.len(), self.n_threads);
        try_each(threads, out.chunks_mut(per).enumerate(), |(part, out)| {
            dispatch_packed(Direction { x, problem, first: part * per, stride, w: direction, out, stop })
        })?;
        Ok(out)
    }

    /// Dual variables at the end of a whole step whose margins are `toward`; the gap that they leave but for what was cut
    /// off to stay where the conjugate is finite, and whether anything was.
    fn linear(&self, toward: &[f64]) -> (Vec<f64>, f64, bool) {
        let Problem { curve, weights, .. } = self.problem;
        let mut shares = vec![0.0; toward.len()];
        let (gap, cut) = dispatch(Linear {
            curve,
            floor: self.x.floor(curve),
            sigma: self.sigma,
            centers: &self.centers,
            margins: &self.margins,
            toward,
            weights,
            shares: &mut shares,
        });
        (shares, gap, cut)
    }

    /// sum_i U_i a_i y_i x_i, with the sum of U_i a_i y_i last where there is an intercept.
    fn combined(&self, shares: &[f64], stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        let Problem { signs, weights, intercept, .. } = self.problem;
        let signed: Vec<f64> = shares.iter().zip(signs).zip(weights).map(|((a, y), u)| a * y * u).collect();
        let mut pulled = self.x.pulled(&signed, self.n_threads, stop)?;
        if intercept != Intercept::None {
            pulled.push(signed.iter().sum());
        }
        Ok(pulled)
    }

    /// What is left of the gap at `w` where dual variables do not combine to it.
    fn apart(&self, w: &[f64], shares: &[f64], stop: &Interrupt) -> Result<f64, KernelError> {
        let pulled = self.combined(shares, stop)?;
        let penalized = self.penalized();
        let apart: f64 = pulled.iter().zip(w).take(penalized).map(|(p, w)| (p - w) * (p - w)).sum();
        let loose: f64 = pulled.iter().zip(w).skip(penalized).map(|(p, b)| p.abs() * b.abs().max(1.0)).sum();
        Ok(0.5 * apart + loose)
    }

    /// Dual variables of the hinge at the end of a whole step, both classes as heavy as each other where the intercept is
    /// free, become the best ones if their bound is.
    fn improve_bound(&mut self, toward: &[f64], stop: &Interrupt) -> Result<(), KernelError> {
        let Problem { signs, weights, intercept, .. } = self.problem;
        let (mut shares, ..) = self.linear(toward);
        if intercept == Intercept::Free {
            let (mut plus, mut minus) = (0.0, 0.0);
            for ((a, &y), u) in shares.iter().zip(signs).zip(weights) {
                if y > 0.0 { plus += a * u } else { minus += a * u }
            }
            let scale = |own: f64, other: f64| if own > other { other / own } else { 1.0 };
            let (of_plus, of_minus) = (scale(plus, minus), scale(minus, plus));
            for (a, &y) in shares.iter_mut().zip(signs) {
                *a *= if y > 0.0 { of_plus } else { of_minus };
            }
        }
        let pulled = self.combined(&shares, stop)?;
        let sum: f64 = shares.iter().zip(weights).map(|(a, u)| a * u).sum();
        let bound = sum - 0.5 * squares(&pulled[..self.penalized()]);
        if bound > self.bound.0 {
            self.bound = (bound, shares);
        }
        Ok(())
    }

    /// Whether the best dual variables of the hinge will do for the weights whose margins are kept; they are then taken.
    fn is_bounded(&mut self, tol: f64) -> Option<f64> {
        let losses: f64 =
            self.margins.iter().zip(self.problem.weights).map(|(m, u)| u * (1.0 - m).max(0.0)).sum();
        let value = losses + 0.5 * squares(&self.w[..self.penalized()]);
        if value - self.bound.0 > tol * value.max(self.goal.least) {
            return None;
        }
        self.shares = std::mem::take(&mut self.bound.1);
        Some(value)
    }

    /// The best length of a step from `w` with `margins`, whose own margins are `toward`.
    fn length(&self, w: &[f64], margins: &[f64], step: &[f64], toward: &[f64]) -> Result<f64, KernelError> {
        let penalized = self.penalized();
        let inner: f64 = w[..penalized].iter().zip(step).map(|(a, b)| a * b).sum();
        let square = squares(&step[..penalized]);
        let mut slope = |t: f64| {
            let Problem { curve, weights, .. } = self.problem;
            let losses = dispatch(Slope {
                curve,
                sigma: self.sigma,
                margins,
                toward,
                centers: &self.centers,
                weights,
                stride: self.stride,
                at: t,
            });
            Ok(inner + t * square - losses)
        };
        search(slope(0.0)?, slope(1.0)?, &mut slope)
    }

    /// Steps until the gap is small enough; `coarse` on a sample, whose end needs no proof.
    fn steps(&mut self, coarse: bool, stop: &Interrupt) -> Result<(), KernelError> {
        let Problem { curve, .. } = self.problem;
        let hinge = curve == Curve::Hinge;
        let mut careful = !self.x.bold() || coarse;
        let mut tried: Option<Tried> = None;
        let mut before = 0.0;
        let (mut best, mut best_at) = (f64::INFINITY, 0);
        for number in 0..self.goal.max_passes {
            let mut found = self.pass(stop)?;
            let gap = found.rest + found.slack;
            let wanted = self.goal.tol * found.value.max(self.goal.least);
            if let Some(Tried { w, margins, step, smooth }) = tried.take()
                && (found.smooth.is_nan() || found.smooth > smooth + 1e-10 * smooth.abs())
            {
                // The whole step was too long, and so may be others.
                careful = true;
                let toward: Vec<f64> = self.margins.iter().zip(&margins).map(|(a, b)| a - b).collect();
                let length = self.length(&w, &margins, &step, &toward)?;
                self.w = moved(&w, length, &step);
                self.margins = moved(&margins, length, &toward);
                continue;
            }
            if !found.smooth.is_finite() {
                self.moving = false;
                return Ok(());
            }
            if !coarse {
                self.trace.note(self.passes, found.value, gap, &self.w);
            }
            // Weights of zero are never the end: with a tiny C they are near the optimum, and predict nothing.
            if gap <= wanted && self.w.iter().any(|&w| w != 0.0) {
                return Ok(());
            }
            if gap < 0.5 * best {
                (best, best_at) = (gap, number);
            } else if number - best_at > STALL {
                self.moving = false;
                return Ok(());
            }
            if hinge
                && !coarse
                && self.sigma > MULTIPLIERS.0
                && found.rest < 0.3 * found.slack.max(0.2 * wanted)
            {
                self.centers.clone_from(&self.shares);
                self.sigma *= 2.0;
                found = self.pass(stop)?;
            }
            let slack = found.slack;
            let Some((step, decrement)) = self.newton(&mut found) else {
                self.moving = false;
                return Ok(());
            };
            let near = 0.5 * decrement <= wanted && slack <= wanted;
            if coarse && near {
                self.w = moved(&self.w, 1.0, &step);
                return Ok(());
            }
            let mut toward: Option<Vec<f64>> = None;
            if !hinge && !coarse {
                // Squared decrements of Newton steps follow d'' = d'^2 (d' / d^2); a decrement is twice what P is to fall.
                let ratio = if before > 0.0 { decrement / before } else { 1.0 };
                let soon = decrement * (ratio * ratio).min(1.0) <= 2.0 * wanted;
                if soon || decrement <= 2.0 * NEAR * wanted || curve == Curve::Squared {
                    let along = self.along(&step, stop)?;
                    let (shares, mut left, cut) = self.linear(&along);
                    let w = moved(&self.w, 1.0, &step);
                    if cut && left <= wanted {
                        left += self.apart(&w, &shares, stop)?;
                    }
                    if left <= wanted {
                        (self.shares, self.w) = (shares, w);
                        self.trace.note(self.passes, found.value - 0.5 * decrement, wanted, &self.w);
                        return Ok(());
                    }
                    toward = Some(along);
                }
                before = decrement;
            }
            let bounding = hinge && !coarse && 0.5 * decrement <= wanted;
            if bounding {
                let along = self.along(&step, stop)?;
                self.improve_bound(&along, stop)?;
                toward = Some(along);
            }
            if hinge
                && self.centers.is_empty()
                && slack > 0.5 * wanted
                && 0.5 * decrement < slack
                && (coarse || self.sigma < MULTIPLIERS.1)
            {
                self.sigma *= (slack / (0.3 * wanted)).sqrt().clamp(1.2, GROWTH);
            } else if !careful && toward.is_none() {
                let (w, margins, smooth) = (self.w.clone(), self.margins.clone(), found.smooth);
                tried = Some(Tried { w, margins, step: step.clone(), smooth });
            }
            if careful || toward.is_some() {
                let toward = match toward {
                    Some(toward) => toward,
                    None => self.along(&step, stop)?,
                };
                let length = self.length(&self.w, &self.margins, &step, &toward)?;
                if length == 0.0 {
                    self.moving = false;
                    return Ok(());
                }
                self.w = moved(&self.w, length, &step);
                self.margins = moved(&self.margins, length, &toward);
                if bounding && let Some(value) = self.is_bounded(self.goal.tol) {
                    self.trace.note(self.passes, value, self.goal.tol * value, &self.w);
                    return Ok(());
                }
            } else {
                self.w = moved(&self.w, 1.0, &step);
                self.known = false;
            }
        }
        Ok(())
    }
}

/// The length of a step at which the slope along it vanishes, nearly; the last one that `slope` was asked for, after
/// `first` at zero and `whole` at one.
fn search(
    first: f64,
    whole: f64,
    slope: &mut impl FnMut(f64) -> Result<f64, KernelError>,
) -> Result<f64, KernelError> {
    // Not a number where scores overflow: the pass that follows tells.
    if first.is_nan() || first >= 0.0 || whole.abs() <= WHOLE * first.abs() {
        return Ok(1.0);
    }
    let (mut low, mut at_low, mut high, mut at_high) = (0.0, first, 1.0, whole);
    while at_high < 0.0 && high < 64.0 {
        (low, at_low) = (high, at_high);
        high *= 2.0;
        at_high = slope(high)?;
    }
    let mut t = high;
    for _ in 0..TRIALS {
        let secant = low - at_low * (high - low) / (at_high - at_low);
        let margin = 0.1 * (high - low);
        t = if secant.is_finite() { secant.clamp(low + margin, high - margin) } else { 0.5 * (low + high) };
        let here = slope(t)?;
        if here.abs() < FLAT * first.abs() {
            break;
        }
        if here < 0.0 { (low, at_low) = (t, here) } else { (high, at_high) = (t, here) }
    }
    Ok(t)
}

/// Curvature that a free intercept is given: where hardly any row bends it has next to none of its own, and then moves by
/// a hundred margins at most. Where it has enough the step stays exact.
fn least_curvature(mean: f64, pull: f64, own: f64) -> f64 {
    (0.01 * pull.abs() - own).max(1e-10 * mean).max(1e-300)
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}

fn moved(from: &[f64], length: f64, step: &[f64]) -> Vec<f64> {
    from.iter().zip(step).map(|(a, b)| a + length * b).collect()
}
