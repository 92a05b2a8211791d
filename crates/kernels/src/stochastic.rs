//! Stochastic gradient passes over the rows, in mini-batches of any size.
//!
//! Problem: minimize F(w) = l1 |w|_1 + l2/2 |w|^2 + 1/n sum_i c_i loss_i(x_i' W + b), the objective
//! P(w) = R(w) + C sum_i c_i loss_i divided by C n; each batch carries its share of the penalty.
//!
//! The plain rule without L1 keeps w = s v: the shrinking by the L2 share touches the number s only,
//! a step costs O(stored values of the batch) (Shalev-Shwartz et al. 2007; Bottou 2012), and so does
//! the average, kept as b (u + a v) with two numbers a and b (after Xu 2011). Other rules update all
//! weights once per batch. The average has weights growing like t^3: it forgets the start
//! (polynomial-decay averaging, Shamir & Zhang 2013).
//!
//! Invariant on every exit, interrupts included: `weights` and `mean` hold w and its average as such.
//! A run returns the sum of c_i loss_i, each taken before the row was used (progressive loss).

use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::real::Real;
use crate::row_loss::RowLoss;
use crate::rows::Rows;
use crate::simd::{Task, dispatch};
use crate::step_rule::{Kind, Shares, StepRule};

/// Rows (at least) between two looks at the interrupt flag.
const BLOCK: usize = 1024;
/// Degree of the polynomial weights of the average.
const DEGREE: f64 = 3.0;
/// The scale s below which it is multiplied into v.
const SMALLEST_SCALE: f64 = 1e-3;

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
        })
    }

    /// The weights after the last step.
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// The average of the weights, or the weights where no average is kept.
    pub fn mean(&self) -> &[T] {
        if self.settings.average { &self.mean } else { &self.weights }
    }

    /// Use the next `n_rows` rows of the shuffled order, at most up to the end of the pass.
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
        let lazy = self.rule.kind() == Kind::Plain && self.settings.shares.l1 == 0.0;
        let result = if lazy {
            self.run_lazy(x, data, &order[self.position..end], stop)
        } else {
            self.run_dense(x, data, &order[self.position..end], stop)
        };
        self.order = order;
        self.position = end;
        result
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

    /// Scores of the batch at `scale * features` plus `intercepts`, then the slopes of the mean loss
    /// of the batch; returns the sum of c_i loss_i.
    #[inline(always)]
    fn batch_slopes<X: Rows<T>, const FMA: bool>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        rows: &[u32],
        scale: T,
    ) -> f64 {
        let k = self.settings.k;
        let (features, intercepts) = self.weights.split_at(x.n_cols() * k);
        let share = 1.0 / rows.len() as f64;
        let mut total = 0.0;
        let pairs = self.scores.chunks_exact_mut(k).zip(self.slopes.chunks_exact_mut(k));
        for (&row, (scores, slopes)) in rows.iter().zip(pairs) {
            let i = row as usize;
            if let [s] = scores {
                *s = x.dot::<FMA>(i, features);
            } else {
                x.dot_many::<FMA>(i, features, scores);
            }
            for (j, s) in scores.iter_mut().enumerate() {
                *s = *s * scale + intercepts.get(j).copied().unwrap_or(T::ZERO);
            }
            let c = if data.row_weights.is_empty() { 1.0 } else { data.row_weights[i] };
            total += c * data.loss.value_and_grad(scores, data.targets[i], slopes);
            let c = T::from_f64(c * share);
            slopes.iter_mut().for_each(|g| *g *= c);
        }
        total
    }

    fn run_lazy<X: Rows<T>>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        order: &[u32],
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let mut lazy = Lazy { s: 1.0, a: 0.0, b: 1.0 };
        let mut total = 0.0;
        let mut outcome = Ok(());
        let block = self.settings.batch_size * BLOCK.div_ceil(self.settings.batch_size);
        for rows in order.chunks(block) {
            outcome = stop.check();
            if outcome.is_err() {
                break;
            }
            total += dispatch(LazyBlock { run: self, lazy: &mut lazy, x, data, rows });
        }
        lazy.fold(&mut self.weights, &mut self.mean, x.n_cols() * self.settings.k);
        outcome.map(|()| total)
    }

    fn run_dense<X: Rows<T>>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        order: &[u32],
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let mut grad = vec![T::ZERO; self.weights.len()];
        let mut total = 0.0;
        for rows in order.chunks(self.settings.batch_size) {
            stop.check()?;
            total += dispatch(DenseGradient { run: self, x, data, rows, grad: &mut grad });
            let rate = self.next_rate(x.n_rows());
            self.rule.step(&mut self.weights, &grad, rate, self.settings.shares)?;
            self.steps += 1;
            if self.settings.average {
                let mu = T::from_f64(average_share(self.steps as f64));
                for (m, &w) in self.mean.iter_mut().zip(&self.weights) {
                    *m += mu * (w - *m);
                }
            }
        }
        Ok(total)
    }
}

/// w = s v and average = b (u + a v), for the weights of the features.
struct Lazy {
    s: f64,
    a: f64,
    b: f64,
}

impl Lazy {
    /// Multiply everything out; afterwards s = b = 1 and a = 0.
    fn fold<T: Real>(&mut self, v: &mut [T], u: &mut [T], n_features: usize) {
        let (s, a, b) = (T::from_f64(self.s), self.a, self.b);
        if !u.is_empty() {
            for (u, v) in u[..n_features].iter_mut().zip(v.iter()) {
                *u = T::from_f64(b * (u.to_f64() + a * v.to_f64()));
            }
        }
        v[..n_features].iter_mut().for_each(|v| *v *= s);
        *self = Self { s: 1.0, a: 0.0, b: 1.0 };
    }
}

struct LazyBlock<'a, T, X> {
    run: &'a mut Stochastic<T>,
    lazy: &'a mut Lazy,
    x: &'a X,
    data: Batchwise<'a>,
    rows: &'a [u32],
}

impl<T: Real, X: Rows<T>> Task for LazyBlock<'_, T, X> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Self { run, lazy, x, data, rows } = self;
        let Settings { k, shares, batch_size, average, .. } = run.settings;
        let n_features = x.n_cols() * k;
        let shrunk_intercept = shares.penalized > n_features;
        let mut total = 0.0;
        let mut moves = vec![T::ZERO; k];
        for batch in rows.chunks(batch_size) {
            total += run.batch_slopes::<X, FMA>(x, data, batch, T::from_f64(lazy.s));
            let rate = run.next_rate(x.n_rows());
            let shrink = 1.0 / (1.0 + rate * shares.l2);
            let to_v = -rate / lazy.s;
            let (v, b) = run.weights.split_at_mut(n_features);
            let empty: &mut [T] = &mut [];
            let (u, mean_b) = if average { run.mean.split_at_mut(n_features) } else { (empty, &mut [][..]) };
            for (&row, slopes) in batch.iter().zip(run.slopes.chunks_exact(k)) {
                if slopes.iter().all(|&g| g == T::ZERO) {
                    continue;
                }
                let i = row as usize;
                add_scaled::<T, X, FMA>(x, i, slopes, to_v, &mut moves, v);
                if average && lazy.a != 0.0 {
                    add_scaled::<T, X, FMA>(x, i, slopes, -lazy.a * to_v, &mut moves, u);
                }
                for (b, &g) in b.iter_mut().zip(slopes) {
                    *b -= T::from_f64(rate) * g;
                }
            }
            if shrunk_intercept {
                b.iter_mut().for_each(|b| *b *= T::from_f64(shrink));
            }
            lazy.s *= shrink;
            run.steps += 1;
            if average {
                let mu = average_share(run.steps as f64);
                lazy.b *= 1.0 - mu;
                lazy.a += mu * lazy.s / lazy.b;
                for (m, &b) in mean_b.iter_mut().zip(b.iter()) {
                    *m += T::from_f64(mu) * (b - *m);
                }
            }
            if lazy.s < SMALLEST_SCALE || lazy.b < SMALLEST_SCALE {
                lazy.fold(&mut run.weights, &mut run.mean, n_features);
            }
        }
        total
    }
}

/// W += factor x_i slopes'.
#[inline(always)]
fn add_scaled<T: Real, X: Rows<T>, const FMA: bool>(
    x: &X,
    i: usize,
    slopes: &[T],
    factor: f64,
    moves: &mut [T],
    w: &mut [T],
) {
    let factor = T::from_f64(factor);
    if let [g] = slopes {
        x.add_to::<FMA>(i, factor * *g, w);
        return;
    }
    for (m, &g) in moves.iter_mut().zip(slopes) {
        *m = factor * g;
    }
    x.add_to_many::<FMA>(i, moves, w);
}

struct DenseGradient<'a, T, X> {
    run: &'a mut Stochastic<T>,
    x: &'a X,
    data: Batchwise<'a>,
    rows: &'a [u32],
    grad: &'a mut [T],
}

impl<T: Real, X: Rows<T>> Task for DenseGradient<'_, T, X> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Self { run, x, data, rows, grad } = self;
        let total = run.batch_slopes::<X, FMA>(x, data, rows, T::ONE);
        grad.fill(T::ZERO);
        let k = run.settings.k;
        let (features, intercepts) = grad.split_at_mut(x.n_cols() * k);
        for (&row, slopes) in rows.iter().zip(run.slopes.chunks_exact(k)) {
            if let [g] = slopes {
                x.add_to::<FMA>(row as usize, *g, features);
            } else {
                x.add_to_many::<FMA>(row as usize, slopes, features);
            }
            for (b, &g) in intercepts.iter_mut().zip(slopes) {
                *b += g;
            }
        }
        total
    }
}

#[cfg(test)]
#[path = "stochastic_tests.rs"]
mod tests;
