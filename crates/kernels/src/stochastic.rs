//! Stochastic gradient passes over the rows, in mini-batches of any size.
//!
//! Problem: minimize F(w) = l1 |w|_1 + l2/2 |w|^2 + 1/n sum_i c_i loss_i(x_i' W + b), the objective
//! P(w) = R(w) + C sum_i c_i loss_i divided by C n; each batch carries its share of the penalty.
//!
//! The plain rule without L1 keeps w = s v: the shrinking by the L2 share touches the number s only,
//! a step costs O(stored values of the batch) (Shalev-Shwartz et al. 2007; Bottou 2012), and so does
//! the average, kept as b (u + a v) with two numbers a and b (after Xu 2011). Other rules update all
//! weights once per batch. The average has weights growing like t^4: it forgets the start
//! (polynomial-decay averaging, Shamir & Zhang 2013).
//!
//! An intercept that is not penalized makes steps slow when the columns have means far from zero. Then
//! the steps are those of the centered problem, s = (x - m)' W + b' with m the column means: the same
//! minimum, and m enters by a few numbers per score, so that sparse rows stay sparse.
//!
//! Long shuffled passes of the plain rule without L1 are shared by two learners where there are two threads (see
//! `mixing`); each counts its own steps, so that the rate falls half as fast and the mean makes up for it.
//!
//! Invariant on every exit, interrupts included: `weights` and `mean` hold w and its average as such.
//! A run returns the sum of c_i loss_i, each taken before the row was used (progressive loss).

use crate::data::rows::{Rows, check_row};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::loss::row::RowLoss;
use crate::online::mixing::{halves, is_worth, mix};
use crate::random::Random;
use crate::real::Real;
use crate::stochastic::step_rule::{Kind, Shares, StepRule};
use crate::stochastic::tuning::{CENTERED_DENSITY, DEGREE, SAMPLE};
use crate::threads::side_by_side;

mod center;
mod dense;
mod lazy;
pub mod step_rule;

use center::Center;

/// How the rate falls with the number t of steps; m steps are a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// rate
    Constant,
    /// rate / (1 + t/m)
    Inverse,
    /// rate / sqrt(1 + t/m)
    InverseSqrt,
    /// rate / (1 + rate l2 t), Bottou (2012)
    Bottou,
}

impl Schedule {
    /// The rate of step `t`.
    pub fn rate(self, rate: f64, t: f64, steps_per_pass: f64, l2: f64) -> f64 {
        match self {
            Self::Constant => rate,
            Self::Inverse => rate / (1.0 + t / steps_per_pass),
            Self::InverseSqrt => rate / (1.0 + t / steps_per_pass).sqrt(),
            Self::Bottou => rate / (1.0 + rate * l2 * t),
        }
    }
}

/// The rate of step `t` for intercepts under no penalty, with [`Schedule::Bottou`].
pub fn free_rate(rate: f64, t: f64, steps_per_pass: f64) -> f64 {
    let root = (1.0 + t / steps_per_pass).sqrt();
    rate / (root * root.sqrt())
}

/// Share of the newest weights in the average after step `t`, counted from 1.
pub fn average_share(t: f64) -> f64 {
    (DEGREE + 1.0) / (t + DEGREE + 1.0)
}

/// The data that a run sees.
#[derive(Debug, Clone, Copy)]
pub struct Batchwise<'a> {
    /// The loss.
    pub loss: &'a RowLoss,
    /// One target per row, +1 / -1 or class numbers.
    pub targets: &'a [i32],
    /// c_i; empty stands for ones.
    pub row_weights: &'a [f64],
}

/// What does not change during a run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Scores per row.
    pub k: usize,
    /// Whether the last k weights are intercepts.
    pub intercept: bool,
    /// Penalty per example.
    pub shares: Shares,
    /// How the rate falls.
    pub schedule: Schedule,
    /// First rate.
    pub rate: f64,
    /// Factor of the rate for intercepts.
    pub intercept_share: f64,
    /// Rows per step.
    pub batch_size: usize,
    /// Whether the average is kept.
    pub average: bool,
}

/// The state of a run.
#[derive(Debug, Clone)]
pub struct Stochastic<T> {
    settings: Settings,
    rule: StepRule<T>,
    weights: Vec<T>,
    mean: Vec<T>,
    steps: u64,
    random: Option<Random>,
    order: Vec<u32>,
    position: usize,
    scores: Vec<T>,
    slopes: Vec<T>,
    /// Added to every row's scores: per score, a constant and a factor of <x_i, m>.
    shift: Vec<T>,
    tilt: Vec<T>,
    center: Option<Center<T>>,
    n_threads: usize,
}

impl<T: Real> Stochastic<T> {
    /// Start from `weights`; `seed` None keeps the rows in their order.
    pub fn new(
        settings: Settings,
        rule: StepRule<T>,
        weights: Vec<T>,
        seed: Option<u64>,
    ) -> Result<Self, KernelError> {
        if settings.batch_size == 0 || settings.k == 0 {
            return Err(KernelError::Argument("batch size and number of scores must be positive".into()));
        }
        if !(settings.rate > 0.0 && settings.rate.is_finite()) {
            return Err(KernelError::Argument("rate must be positive".into()));
        }
        if !(settings.intercept_share > 0.0 && settings.intercept_share <= 1.0) {
            return Err(KernelError::Argument("the share of the intercepts must be in (0, 1]".into()));
        }
        let mean = if settings.average { weights.clone() } else { Vec::new() };
        Ok(Self {
            settings,
            rule,
            weights,
            mean,
            steps: 0,
            random: seed.map(Random::new),
            order: Vec::new(),
            position: 0,
            scores: Vec::new(),
            slopes: Vec::new(),
            shift: vec![T::ZERO; settings.k],
            tilt: vec![T::ZERO; settings.k],
            center: None,
            n_threads: 1,
        })
    }

    /// Use so many threads; from two on, long passes are shared by two learners.
    pub fn with_threads(self, n_threads: usize) -> Self {
        Self { n_threads, ..self }
    }

    /// Steps made so far, by each learner.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The weights after the last step.
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// The average of the weights, or the weights where no average is kept.
    pub fn mean(&self) -> &[T] {
        if self.settings.average { &self.mean } else { &self.weights }
    }

    /// [`Stochastic::mean`] itself; the run is left without weights.
    pub fn finish(&mut self) -> Vec<T> {
        let weights = std::mem::take(&mut self.weights);
        if self.settings.average { std::mem::take(&mut self.mean) } else { weights }
    }

    /// Use the next `n_rows` rows of the shuffled order, at most up to the end of the pass.
    ///
    /// Rows that were not checked beforehand are checked here; after their error the weights are those of
    /// the batches before.
    pub fn run<X: Rows<T>>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        n_rows: usize,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        self.prepare(x, data)?;
        let order = std::mem::take(&mut self.order);
        let end = self.position.saturating_add(n_rows).min(order.len());
        let rows = &order[self.position..end];
        let lazy = self.rule.kind() == Kind::Plain && self.settings.shares.l1 == 0.0;
        let center = self.center.take();
        if let Some(center) = &center {
            center.enter(&mut self.weights, self.settings.k);
            center.enter(&mut self.mean, self.settings.k);
        }
        let visited = x.n_stored() / x.n_rows().max(1) * rows.len();
        let shared = lazy && self.random.is_some() && is_worth(self.n_threads, visited, x.n_cols());
        let result = if shared {
            self.run_shared(x, data, rows, center.as_ref(), stop)
        } else if lazy {
            self.run_lazy(x, data, rows, center.as_ref(), stop)
        } else {
            self.run_dense(x, data, rows, center.as_ref(), stop)
        };
        if let Some(center) = &center {
            center.leave(&mut self.weights, self.settings.k);
            center.leave(&mut self.mean, self.settings.k);
        }
        self.center = center;
        self.order = order;
        self.position = end;
        result
    }

    /// Use one half of the rows while another learner uses the other, and mix both.
    fn run_shared<X: Rows<T>>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        rows: &[u32],
        center: Option<&Center<T>>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let mut other = self.clone();
        let (front, back) = halves(rows, self.settings.batch_size);
        let losses = side_by_side(
            2,
            || self.run_lazy(x, data, front, center, stop),
            || other.run_lazy(x, data, back, center, stop),
        );
        mix(&mut self.weights, &other.weights);
        mix(&mut self.mean, &other.mean);
        Ok(losses.0? + losses.1?)
    }

    fn prepare<X: Rows<T>>(&mut self, x: &X, data: Batchwise<'_>) -> Result<(), KernelError> {
        let Settings { k, intercept, batch_size, .. } = self.settings;
        check_length("weights", self.weights.len(), (x.n_cols() + usize::from(intercept)) * k)?;
        check_length("targets", data.targets.len(), x.n_rows())?;
        if !data.row_weights.is_empty() {
            check_length("sample weights", data.row_weights.len(), x.n_rows())?;
        }
        data.loss.check_targets(data.targets, k)?;
        if self.order.len() != x.n_rows() {
            let n = u32::try_from(x.n_rows())
                .map_err(|_| KernelError::Argument("at most 2^32 - 1 rows".into()))?;
            self.order = (0..n).collect();
            self.position = self.order.len();
            let free = intercept && self.settings.shares.penalized <= x.n_cols() * k;
            self.center = (free && is_filled(x)).then(|| Center::of(x));
        }
        if self.position >= self.order.len() {
            self.position = 0;
            if let Some(random) = &mut self.random {
                random.shuffle(&mut self.order);
            }
        }
        let size = batch_size.min(x.n_rows()) * k;
        self.scores.resize(size, T::ZERO);
        self.slopes.resize(size, T::ZERO);
        Ok(())
    }

    /// The rate of the next step.
    fn next_rate(&self, n_rows: usize) -> f64 {
        let s = &self.settings;
        let pass = n_rows.div_ceil(s.batch_size).max(1) as f64;
        s.schedule.rate(s.rate, self.steps as f64, pass, s.shares.l2)
    }

    /// The rate of the next step for intercepts.
    ///
    /// A rate that falls like 1 / (l2 t) suits weights under that penalty; intercepts that are free of
    /// it would freeze early, and take rate / (1 + t/m)^(3/4) instead.
    fn next_intercept_rate(&self, n_rows: usize, n_features: usize) -> f64 {
        let s = &self.settings;
        if s.schedule != Schedule::Bottou || s.shares.penalized > n_features {
            return s.intercept_share * self.next_rate(n_rows);
        }
        let pass = n_rows.div_ceil(s.batch_size).max(1) as f64;
        s.intercept_share * free_rate(s.rate, self.steps as f64, pass).max(self.next_rate(n_rows))
    }

    /// Scores of the batch, `scale` <x_i, w> + shift + tilt <x_i, m>, then the slopes of the mean loss of
    /// the batch; returns the sum of c_i loss_i.
    #[inline(always)]
    fn batch_slopes<X: Rows<T>, const FMA: bool>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        rows: &[u32],
        scale: T,
        center: Option<&Center<T>>,
    ) -> Result<f64, KernelError> {
        let k = self.settings.k;
        let features = &self.weights[..x.n_cols() * k];
        let share = 1.0 / rows.len() as f64;
        let mut total = 0.0;
        let pairs = self.scores.chunks_exact_mut(k).zip(self.slopes.chunks_exact_mut(k));
        for (&row, (scores, slopes)) in rows.iter().zip(pairs) {
            let i = row as usize;
            if let [s] = scores {
                *s = x.dot::<FMA>(i, features);
            } else {
                x.dot_many::<T, FMA>(i, features, scores);
            }
            let along = center.map_or(T::ZERO, |c| c.products[i]);
            for ((s, &shift), &tilt) in scores.iter_mut().zip(&self.shift).zip(&self.tilt) {
                *s = *s * scale + shift + tilt * along;
            }
            if !scores.iter().all(|s| s.is_finite()) {
                check_row(x, i)?;
            }
            let c = if data.row_weights.is_empty() { 1.0 } else { data.row_weights[i] };
            total += c * data.loss.value_and_grad(scores, data.targets[i], slopes);
            let c = T::from_f64(c * share);
            slopes.iter_mut().for_each(|g| *g *= c);
        }
        Ok(total)
    }
}

/// The rate 1 / (b R^2) at which steps on `loss` are stable; None where there is none, or the columns are
/// centered.
///
/// b bounds the curvature of the loss in the scores and R^2 = sum |x_i|^4 / sum |x_i|^2 over some rows, so
/// that E |x|^2 x x' <= R^2 E x x' holds roughly (Bach & Moulines 2013, section 3).
pub fn curvature_rate<T: Real, X: Rows<T>>(x: &X, loss: &RowLoss) -> Result<Option<f64>, KernelError> {
    if is_filled(x) {
        return Ok(None);
    }
    let (mut second, mut fourth) = (0.0, 0.0);
    for i in (0..x.n_rows()).step_by(x.n_rows().div_ceil(SAMPLE).max(1)) {
        let square = x.squared_norm(i);
        if !square.is_finite() {
            check_row(x, i)?;
        }
        second += square;
        fourth += square * square;
    }
    let rate = second / (fourth * loss.curvature());
    Ok((rate > 0.0 && rate.is_finite()).then_some(rate))
}

/// Whether so many values are stored that the means of the columns matter.
fn is_filled<T: Real, X: Rows<T>>(x: &X) -> bool {
    x.n_stored() as f64 >= CENTERED_DENSITY * x.n_rows() as f64 * x.n_cols() as f64
}

#[cfg(test)]
mod tests;
pub(crate) mod tuning;
