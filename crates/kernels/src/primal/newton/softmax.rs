//! Newton's method for softmax regression on dense data of few features and labels: exact Hessians, kept scores.
//!
//! Problem: min over W of 1/2 |W|^2 + sum_i U_i (log sum_k exp s_ik - s_{i y_i}), s_i = W' x_i + b. A step costs a product
//! with the data, its adjoint, the Hessian (`label_gram`) and a Cholesky factor; lengths of steps are found on the scores.

use super::{Goal, NEAR, Outcome, STALL, Trace, cholesky, least_curvature, moved, search, squares};
use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::dual::intercept::Intercept;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::loss::block::{Labeled, SmoothLoss, Targets, losses_at};
use crate::primal::double::{Widen, dense_adjoint, dense_products};
use crate::primal::label_gram::label_gram;

/// What is minimized.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// Numbers of the right labels.
    pub classes: &'a [i64],
    /// U_i >= 0.
    pub weights: &'a [f64],
    /// Number of labels.
    pub k: usize,
    /// The last weight of each label.
    pub intercept: Intercept,
}

/// Minimize, from weights (feature by feature, the labels of each side by side) or from zero.
pub fn minimize<T: Widen>(
    x: Dense<'_, T>,
    problem: Problem<'_>,
    start: Option<&[f64]>,
    goal: Goal,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Outcome, KernelError> {
    let (n, k) = (x.n_rows(), problem.k);
    let size = x.n_cols() + usize::from(problem.intercept != Intercept::None);
    let targets = Targets::Classes(problem.classes);
    let labeled = Labeled::new(SmoothLoss::MulticlassLogistic, targets, Some(problem.weights), n, k)?;
    let mut run = Run {
        x,
        problem,
        labeled,
        n_threads,
        stop,
        w: zeros(size * k)?,
        scores: Vec::new(),
        slopes: zeros(n.saturating_mul(k))?,
        losses: 0.0,
        shares: Vec::new(),
    };
    if let Some(start) = start {
        check_length("start", start.len(), size * k)?;
        run.w.copy_from_slice(start);
    }
    run.scores = run.products(&run.w)?;
    run.losses = losses_at(labeled, &run.scores, &mut run.slopes, n_threads, stop)?;
    let (trace, moving) = run.steps(goal)?;
    Ok(Outcome { w: run.w, shares: run.shares, sigma: 1.0, trace: trace.turns, moving })
}

struct Run<'a, T> {
    x: Dense<'a, T>,
    problem: Problem<'a>,
    labeled: Labeled<'a, f64>,
    n_threads: usize,
    stop: &'a Interrupt,
    w: Vec<f64>,
    scores: Vec<f64>,
    /// U_i (p_i - e_{y_i}) and the losses at `scores`.
    slopes: Vec<f64>,
    losses: f64,
    /// Dual variables at the end as shares of U_i, of the shape of `scores`; nothing where none are good.
    shares: Vec<f64>,
}

impl<T: Widen> Run<'_, T> {
    fn products(&self, w: &[f64]) -> Result<Vec<f64>, KernelError> {
        let (weights, intercepts) = w.split_at(self.x.n_cols() * self.problem.k);
        dense_products(self.x, weights, intercepts, self.problem.k, self.n_threads, self.stop)
    }

    /// Number of weights under the penalty: the first ones.
    fn penalized(&self) -> usize {
        let free = if self.problem.intercept == Intercept::Free { self.problem.k } else { 0 };
        self.w.len() - free
    }

    /// The gradient's opposite.
    fn pull(&self) -> Result<Vec<f64>, KernelError> {
        let k = self.problem.k;
        let mut pull = dense_adjoint(self.x, &self.slopes, k, self.n_threads, self.stop)?;
        if self.problem.intercept != Intercept::None {
            let mut sums = vec![0.0; k];
            for row in self.slopes.chunks_exact(k) {
                for (sum, slope) in sums.iter_mut().zip(row) {
                    *sum += slope;
                }
            }
            pull.extend(sums);
        }
        for p in &mut pull {
            *p = -*p;
        }
        for (p, w) in pull.iter_mut().zip(&self.w[..self.penalized()]) {
            *p -= w;
        }
        Ok(pull)
    }

    /// H^-1 pull; nothing where H cannot be factored.
    fn newton(&self, pull: &[f64]) -> Result<Option<Vec<f64>>, KernelError> {
        let Problem { classes, weights, k, intercept } = self.problem;
        let mut shares = self.slopes.clone();
        for ((row, &c), u) in shares.chunks_exact_mut(k).zip(classes).zip(weights) {
            row[c as usize] += u;
            for share in row {
                *share = share.max(0.0);
            }
        }
        let with = intercept != Intercept::None;
        let mut matrix = label_gram(self.x, None, &shares, (k, k), with, self.n_threads, self.stop)?;
        let (order, size) = (self.w.len(), self.w.len() / k);
        let mean = (0..order).map(|j| matrix[j * order + j]).sum::<f64>() / order as f64;
        let penalized = self.penalized() / k;
        for c in 0..k {
            for j in 0..size {
                let at = c * size + j;
                if j < penalized {
                    matrix[at * order + at] += 1.0;
                    continue;
                }
                matrix[at * order + at] += least_curvature(mean, pull[j * k + c], matrix[at * order + at]);
                // The loss does not see a shift of all scores, nor does the gradient point along one: stiffness in that
                // direction makes the system regular and leaves its solution as it is.
                for other in 0..k {
                    matrix[at * order + other * size + j] += mean / k as f64;
                }
            }
        }
        let mut step: Vec<f64> = (0..order).map(|at| pull[at % size * k + at / size]).collect();
        if !cholesky::solve(&mut matrix, order, &mut step) {
            return Ok(None);
        }
        Ok(Some((0..order).map(|at| step[at % k * size + at / k]).collect()))
    }

    fn steps(&mut self, goal: Goal) -> Result<(Trace, bool), KernelError> {
        let penalized = self.penalized();
        let mut trace = Trace::new(goal);
        let (mut passes, mut before) = (0.0, 0.0);
        let (mut best, mut best_at) = (f64::INFINITY, 0);
        for number in 0..goal.max_passes {
            let pull = self.pull()?;
            let value = self.losses + 0.5 * squares(&self.w[..penalized]);
            let intercepts = pull[penalized..].iter().zip(&self.w[penalized..]);
            let loose: f64 = intercepts.map(|(p, b)| p.abs() * b.abs().max(1.0)).sum();
            let gap = 0.5 * squares(&pull[..penalized]) + loose;
            passes += 1.0;
            trace.note(passes, value, gap, &self.w);
            let wanted = goal.tol * value.max(goal.least);
            // Weights of zero are never the end: with a tiny C they are near the optimum, and predict nothing.
            if gap <= wanted && self.w.iter().any(|&w| w != 0.0) {
                return Ok((trace, true));
            }
            if gap < 0.5 * best {
                (best, best_at) = (gap, number);
            }
            if !value.is_finite() || number - best_at > STALL {
                return Ok((trace, false));
            }
            let Some(step) = self.newton(&pull)? else { return Ok((trace, false)) };
            let decrement: f64 = pull.iter().zip(&step).map(|(a, b)| a * b).sum();
            if !(decrement > 0.0 && decrement.is_finite()) {
                return Ok((trace, false));
            }
            // As for the losses of a margin.
            let ratio = if before > 0.0 { decrement / before } else { 1.0 };
            let toward = self.products(&step)?;
            if decrement * (ratio * ratio).min(1.0) <= 2.0 * wanted || decrement <= 2.0 * NEAR * wanted {
                let (shares, mut left, cut) = self.linear(&toward);
                let w = moved(&self.w, 1.0, &step);
                if cut && left <= wanted {
                    left += self.apart(&w, &shares)?;
                }
                if left <= wanted {
                    (self.shares, self.w) = (shares, w);
                    trace.note(passes, value - 0.5 * decrement, wanted, &self.w);
                    return Ok((trace, true));
                }
            }
            before = decrement;
            self.walk(&step, &toward, decrement)?;
        }
        Ok((trace, true))
    }

    /// Probabilities that are moved along a whole step with scores `toward`; the gap that they leave as dual variables, the
    /// sum of U (loss + loss* - <theta, s>) at its end, but for what was cut off, and whether anything was.
    fn linear(&self, toward: &[f64]) -> (Vec<f64>, f64, bool) {
        let Problem { classes, weights, k, .. } = self.problem;
        let mut shares = vec![0.0; toward.len()];
        let rows = shares.chunks_exact_mut(k).zip(self.slopes.chunks_exact(k));
        let scores = self.scores.chunks_exact(k).zip(toward.chunks_exact(k));
        let (mut total, mut cut) = (0.0, false);
        for (((p, slopes), (scores, toward)), (&class, &u)) in
            rows.zip(scores).zip(classes.iter().zip(weights))
        {
            if u == 0.0 {
                continue;
            }
            let own = class as usize;
            for (p, slope) in p.iter_mut().zip(slopes) {
                *p = slope / u;
            }
            p[own] += 1.0;
            let mean: f64 = p.iter().zip(toward).map(|(p, t)| p * t).sum();
            let mut rest = 0.0;
            for (c, (p, t)) in p.iter_mut().zip(toward).enumerate() {
                let to = if c == own { 0.0 } else { *p * (1.0 + t - mean) };
                cut |= to < 0.0;
                *p = to.max(0.0);
                rest += *p;
            }
            if rest > 1.0 {
                cut = true;
                p.iter_mut().for_each(|p| *p /= rest);
            }
            p[own] = (1.0 - rest).max(0.0);
            let largest = scores.iter().zip(toward).map(|(s, t)| s + t).fold(f64::NEG_INFINITY, f64::max);
            let (mut sum, mut dual) = (0.0, 0.0);
            for ((&p, s), t) in p.iter().zip(scores).zip(toward) {
                let s = s + t - largest;
                sum += s.exp();
                // p log p - p s, whose sum with the logarithm of the sum is at least zero.
                dual += if p > 0.0 { p * (p.ln() - s) } else { 0.0 };
            }
            total += u * (sum.ln() + dual);
        }
        (shares, total, cut)
    }

    /// What is left of the gap at `w` where probabilities do not combine to it.
    fn apart(&self, w: &[f64], shares: &[f64]) -> Result<f64, KernelError> {
        let Problem { classes, weights, k, intercept } = self.problem;
        let mut slopes = shares.to_vec();
        let mut sums = vec![0.0; k];
        for ((row, &class), u) in slopes.chunks_exact_mut(k).zip(classes).zip(weights) {
            row[class as usize] -= 1.0;
            for (slope, sum) in row.iter_mut().zip(&mut sums) {
                *slope *= u;
                *sum += *slope;
            }
        }
        let mut pulled = dense_adjoint(self.x, &slopes, k, self.n_threads, self.stop)?;
        if intercept != Intercept::None {
            pulled.extend(sums);
        }
        let penalized = self.penalized();
        let apart: f64 = pulled.iter().zip(w).take(penalized).map(|(p, w)| (p + w) * (p + w)).sum();
        let loose: f64 = pulled.iter().zip(w).skip(penalized).map(|(p, b)| p.abs() * b.abs().max(1.0)).sum();
        Ok(0.5 * apart + loose)
    }

    /// The best step along a direction.
    fn walk(&mut self, step: &[f64], toward: &[f64], decrement: f64) -> Result<(), KernelError> {
        let penalized = self.penalized();
        let inner: f64 = self.w[..penalized].iter().zip(step).map(|(a, b)| a * b).sum();
        let square = squares(&step[..penalized]);
        let (mut scores, mut slopes, mut losses) = (Vec::new(), std::mem::take(&mut self.slopes), 0.0);
        let mut slope = |t: f64| {
            scores = moved(&self.scores, t, toward);
            losses = losses_at(self.labeled, &scores, &mut slopes, self.n_threads, self.stop)?;
            let falls: f64 = slopes.iter().zip(toward).map(|(a, b)| a * b).sum();
            Ok::<_, KernelError>(inner + t * square + falls)
        };
        let whole = slope(1.0)?;
        let length = search(-decrement, whole, &mut slope)?;
        (self.scores, self.slopes, self.losses) = (scores, slopes, losses);
        self.w = moved(&self.w, length, step);
        Ok(())
    }
}
