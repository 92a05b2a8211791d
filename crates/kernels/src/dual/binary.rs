//! Dual coordinate descent for two classes: hinge, squared hinge and logistic loss, L2 penalty.
//!
//! Problem: min over w of 1/2 |w|^2 + sum_i U_i phi(y_i <w, x_i>), through its dual
//! max over a of sum_i value_i(a_i) - 1/2 |w(a)|^2 with w(a) = sum_i a_i y_i x_i.
//! Invariant, on every exit: the weights are w(a) (up to rounding, which is removed by rebuilding them
//! now and then in single precision) and the duals are feasible.
//! Sources: Hsieh et al. (2008), Algorithm 1; Yu, Huang & Lin (2011) for the logistic loss;
//! [`crate::dual::intercept`] for free intercepts; [`crate::dual::hot`] for the order of visits;
//! `shared` for several threads; Cryer (1971) for the steps of the hinge losses that go a little further than
//! the best dual of a row, which a later visit to its neighbors would ask for anyway.
//! A pass returns the state of convergence, [`DualBinary::certificate`] the exact duality gap.

pub use crate::dual::binary_rows::DualRows;
use crate::dual::binary_rows::{Local, Look, Measure, Problem, Rebuild, Resting, Sweep, Visit};
use crate::dual::common::{Certificate, Pass, active_rows, check_upper, due_for_rebuild};
use crate::dual::hot::HotRows;
use crate::dual::intercept::{Bias, Intercept, scale_of};
use crate::dual::merge::Copies;
use crate::error::{KernelError, check_length, copied, zeros};
use crate::interrupt::Interrupt;
use crate::loss::dual::{HingeDual, LogisticDual, MarginDual, MarginLoss, SquaredHingeDual};
use crate::random::Random;
use crate::real::Real;
use crate::simd::dispatch;
use crate::threads::{side_by_side, try_each, worth_copies};

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 512;
/// Mean curvature U |x|^2 up to which sweeps of the logistic loss are shared: beyond it the safe steps of
/// several threads are so much shorter that they need more passes than they save time.
const GENTLE: f64 = 4.0;
/// First pass (from zero) whose steps on hinge losses go further, and how much.
const FIRST_RELAXED: usize = 4;
const RELAXATION: f64 = 1.15;
/// Rounding errors of a blocked sum, in units of the last place of the largest value it may have.
const ROUNDING: f64 = 16.0;

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
    /// Room for the weights before a pass.
    before: Vec<T>,
    /// Room for the visits to a block of rows.
    visits: Vec<Visit>,
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

mod shared;

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
            signs: copied(signs)?,
            upper: copied(upper)?,
            norms,
            duals: zeros(n)?,
            weights: zeros(x.n_cols())?,
            bias,
            order: active_rows(upper)?,
            hot: HotRows::new(n),
            gaps: zeros(n)?,
            random: Random::new(seed),
            n_threads: if worth_copies(x.n_stored(), x.n_cols()) { n_threads.max(1) } else { 1 },
            shared: loss == MarginLoss::Logistic && mean_square * total / n.max(1) as f64 <= GENTLE,
            copies: Copies::new(),
            before: Vec::new(),
            visits: Vec::new(),
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
        if self.n_sweeps > 0 {
            self.bias.recenter(self.intercept);
        }
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        let resting =
            if self.loss.is_bounded() { self.hot.resting(self.n_sweeps, &order) } else { Vec::new() };
        let outcome = self.visit_and_look(x, &order, &resting, stop);
        let n_active = order.len().max(1);
        self.order = order;
        let (violation, visited) = outcome?;
        self.n_sweeps += 1;
        self.since_rebuild += visited as f64 / n_active as f64;
        let passes = (visited + resting.len()) as f64 / n_active as f64;
        if due_for_rebuild::<T>(self.since_rebuild) {
            let sum = self.rebuild(x);
            self.bias.reset_sum(sum);
        }
        let value: f64 = with_loss!(self.loss, |loss| {
            self.order.iter().map(|&i| loss.value(self.duals[i as usize], self.upper[i as usize])).sum()
        });
        let gap: f64 = self.gaps.iter().map(|&g| f64::from(g)).sum();
        let penalty = 0.5 * self.squared_weights(x) + self.intercept.penalty(self.bias.sum);
        Ok(Pass { dual: value - penalty, gap: gap + self.slack(), violation, passes })
    }

    /// Visit rows while another thread, where there is one, looks at the resting ones; those that a visit would
    /// have moved before are awake afterwards.
    fn visit_and_look<X: DualRows<T>>(
        &mut self,
        x: &X,
        order: &[u32],
        resting: &[u32],
        stop: &Interrupt,
    ) -> Result<(f64, usize), KernelError> {
        let rows: Vec<Resting> = resting.iter().map(|&row| self.at_rest(row)).collect();
        let (n_threads, intercept, loss) = (self.n_threads, self.bias.value(), self.loss);
        let look = |weights: &[T]| -> Result<Vec<Vec<u32>>, KernelError> {
            try_each(n_threads - 1, rows.chunks(BLOCK), |rows| {
                stop.check()?;
                Ok(match loss {
                    MarginLoss::Hinge => dispatch(Look { x, loss: HingeDual, rows, weights, intercept }),
                    MarginLoss::SquaredHinge => {
                        dispatch(Look { x, loss: SquaredHingeDual, rows, weights, intercept })
                    }
                    // No row rests.
                    MarginLoss::Logistic => Vec::new(),
                })
            })
        };
        let (outcome, woken) = if X::SHARED && n_threads > 1 && !rows.is_empty() {
            let mut before = std::mem::take(&mut self.before);
            before.clone_from(&self.weights);
            let both = side_by_side(2, || self.visit(x, order, stop), || look(&before));
            self.before = before;
            both
        } else {
            let woken = look(&self.weights);
            (self.visit(x, order, stop), woken)
        };
        woken?.iter().flatten().for_each(|&i| self.hot.wake(i as usize));
        outcome
    }

    fn at_rest(&self, row: u32) -> Resting {
        let i = row as usize;
        Resting { row, sign: self.signs[i], upper: self.upper[i], dual: self.duals[i] }
    }

    /// Sweep the hot rows and those that do not rest; returns the largest violation and the number of visits.
    fn visit<X: DualRows<T>>(
        &mut self,
        x: &X,
        order: &[u32],
        stop: &Interrupt,
    ) -> Result<(f64, usize), KernelError> {
        let (mut visited, mut awake) = (0, Vec::new());
        let bounded = self.loss.is_bounded();
        if bounded {
            let mut hot = self.hot.first_set(self.n_sweeps);
            while let Some(mut set) = hot {
                for _ in 0..set.n_sweeps {
                    self.random.shuffle(&mut set.rows);
                    self.sweep(x, &set.rows, stop)?;
                    visited += set.rows.len();
                }
                hot = self.hot.next_set(set);
            }
            awake = self.hot.awake(self.n_sweeps, order);
        }
        let rows = if bounded { &awake } else { order };
        let shared = if bounded { HotRows::none_rests(self.n_sweeps) } else { self.shared };
        let violation = if X::SHARED && shared && self.n_threads > 1 {
            self.shared_sweep(x, rows, stop)
        } else {
            self.sweep(x, rows, stop)
        };
        Ok((violation?, visited + rows.len()))
    }

    fn sweep<X: DualRows<T>>(&mut self, x: &X, rows: &[u32], stop: &Interrupt) -> Result<f64, KernelError> {
        let relaxed = self.loss.is_bounded() && self.n_sweeps >= FIRST_RELAXED;
        let curvature = if relaxed { 1.0 / RELAXATION } else { 1.0 };
        let mut visits = std::mem::take(&mut self.visits);
        let mut violation = 0.0f64;
        for rows in rows.chunks(BLOCK) {
            stop.check()?;
            visits.clear();
            visits.reserve(rows.len());
            let mut weights = std::mem::take(&mut self.weights);
            let local = Local { weights: &mut weights, bias: self.bias, curvature, scale: 1.0 };
            self.bias.sum = self.visit_rows(x, rows, local, &mut visits);
            self.weights = weights;
            violation = violation.max(self.note(rows, &visits, 1.0));
        }
        self.visits = visits;
        Ok(violation)
    }

    /// Visit rows in their order from the present duals, on local weights; returns the local S.
    fn visit_rows<X: DualRows<T>>(
        &self,
        x: &X,
        rows: &[u32],
        local: Local<'_, T>,
        visits: &mut Vec<Visit>,
    ) -> f64 {
        let duals = &self.duals[..];
        with_loss!(self.loss, |loss| {
            let problem = Problem { x, loss, signs: &self.signs, upper: &self.upper, norms: &self.norms };
            dispatch(Sweep { problem: &problem, rows, local, duals, visits })
        })
    }

    /// Take over what visits to `rows` found, with steps of `length`; returns the largest violation.
    fn note(&mut self, rows: &[u32], visits: &[Visit], length: f64) -> f64 {
        let (bounded, mut violation) = (self.loss.is_bounded(), 0.0f64);
        for (&i, visit) in rows.iter().zip(visits) {
            let i = i as usize;
            let step = length * (visit.dual - self.duals[i]);
            if bounded {
                self.hot.note(i, step);
            }
            self.duals[i] = if length == 1.0 { visit.dual } else { self.duals[i] + step };
            self.gaps[i] = visit.gap as f32;
            violation = violation.max(visit.violation);
        }
        violation
    }

    /// The objective and its lower bound at the current weights, on all threads and in double precision.
    ///
    /// Free intercepts ask for S = 0: the duals of the heavier class count scaled down to that. The weights that
    /// belong to these duals differ from the present ones by at most |S| times the longest row, and by the
    /// rounding of their sum, which is that of one pass: they are built anew first. With `u` the rows' gaps at the
    /// scaled duals and `v` the difference, P - D = u + 1/2 |v|^2.
    pub fn certificate<X: DualRows<T>>(
        &mut self,
        x: &X,
        stop: &Interrupt,
    ) -> Result<Certificate, KernelError> {
        if size_of::<T>() < size_of::<f64>() {
            let sum = self.rebuild(x);
            self.bias.reset_sum(sum);
        }
        // As it will be stored.
        let intercept = T::from_f64(self.bias.value()).to_f64();
        let mut sums = [0.0; 2];
        let (mut mass, mut longest) = (0.0f64, 0.0f64);
        for ((&dual, sign), norm) in self.duals.iter().zip(&self.signs).zip(&self.norms) {
            sums[usize::from(*sign > 0.0)] += dual;
            mass += dual * norm.sqrt();
            longest = longest.max(norm.sqrt());
        }
        let unit = if size_of::<T>() < size_of::<f64>() { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let mut scales = [1.0; 2];
        let mut off = ROUNDING * unit * mass;
        if self.intercept == Intercept::Free && sums[0] != sums[1] {
            let heavier = usize::from(sums[1] > sums[0]);
            scales[heavier] = sums[1 - heavier] / sums[heavier];
            off += (sums[1] - sums[0]).abs() * longest;
        }
        let measure = |(b, duals): (usize, &[f64])| {
            stop.check()?;
            let (first, weights) = (b * BLOCK, &self.weights[..]);
            Ok(with_loss!(self.loss, |loss| {
                let problem = Problem { x, loss, signs: &self.signs, upper: &self.upper, norms: &self.norms };
                Measure { problem: &problem, first, weights, intercept, duals, scales }.run()
            }))
        };
        let blocks = self.duals.chunks(BLOCK).enumerate();
        let parts: Vec<(f64, f64)> = try_each(self.n_threads, blocks, measure)?;
        let loss: f64 = parts.iter().map(|p| p.0).sum();
        let gap: f64 = parts.iter().map(|p| p.1).sum();
        let penalty = 0.5 * self.squared_weights(x) + self.intercept.penalty(intercept);
        let primal = penalty + loss;
        let slack = self.intercept.slack(intercept, self.bias.sum) + 0.5 * off * off;
        let noise = ROUNDING * f64::EPSILON * (primal + mass * (2.0 * penalty).sqrt());
        Ok(Certificate { primal, dual: primal - gap - slack - noise })
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

    /// Threads that all sweeps use; exact evaluations and the first sweeps may use more.
    pub fn n_sweep_threads(&self) -> usize {
        if self.shared { self.n_threads } else { 1 }
    }
}
