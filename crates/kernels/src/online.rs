//! Perceptron and MIRA: online learners that change the weights on mistakes only.
//!
//! Problem: find w with s_y > s_k for every row and every label k other than its label y, where
//! s = x' W + b, the bias being the weight of a constant feature 1. A tie is a mistake. On a mistake
//! with the best rival k (the first one at a tie)
//!     w_y += tau x,  w_k -= tau x,
//! tau = rate for the perceptron (Rosenblatt 1958; Collins 2002 for many labels) and
//! tau = min(((w_k - w_y)·x + 1) / (2 x·x), cap) for MIRA (Crammer & Singer 2003). Two labels need one
//! vector w = w_1 - w_0: then w += rate y x, and for MIRA w += min((1 - y w·x) / x·x, 2 cap) y x, with
//! y = +1 or -1. The weight of a row multiplies the rate or the cap: MIRA's step minimizes
//! 1/2 |w - w'|^2 + cap loss, so a weight counts as in any objective and never overshoots.
//!
//! Invariant, kept also when interrupted: with c rows seen, `weights - sums / c` is the average of the
//! weights after each row (the trick of Daumé 2006, section 2.6), at O(stored values) per mistake; and
//! the log of a vote (Freund & Schapire 1999) holds every update with the number of rows that the
//! vector it made survived.
//!
//! Long shuffled passes without a vote are shared by two learners where there are two threads (see
//! `mixing`). By the convexity of |w|^2 the bounds on mistakes hold for the mean over both.
//!
//! An epoch returns its number of mistakes.

use crate::data::column_set::ColumnSet;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, check_not_negative, zeros};
use crate::interrupt::Interrupt;
use crate::online::mixing::{LEARNERS, halves, is_worth, mix};
use crate::random::Random;
use crate::real::Real;
use crate::simd::dispatch;
use crate::threads::side_by_side;

mod block;
mod margin;
pub mod mixing;
pub mod vote;

use block::Block;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 1024;

/// How far a mistake moves the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// By a fixed rate.
    Perceptron {
        /// The rate r.
        rate: f64,
    },
    /// As little as mends the mistake by margin 1.
    Mira {
        /// The largest step C, in the multiclass scaling.
        cap: f64,
    },
}

/// What is kept of the weight vectors on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The last one.
    Last,
    /// The last one and the running sums of the average.
    Average,
    /// The last one and the log of all.
    Vote,
}

/// One update, and how many rows the vector it made survived (the row of the update included).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// The row.
    pub row: u32,
    /// Its label, whose score was raised.
    pub raised: u32,
    /// The label whose score was lowered.
    pub lowered: u32,
    /// tau.
    pub size: f64,
    /// Rows survived.
    pub survived: u64,
}

/// Labels and weights of the rows, checked by [`Online::run_epoch`].
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    /// Class numbers below the number of classes.
    pub targets: &'a [u32],
    /// Row weights; rows of weight 0 are passed over. Empty stands for ones.
    pub row_weights: &'a [f64],
}

impl Examples<'_> {
    fn weight(&self, i: usize) -> f64 {
        if self.row_weights.is_empty() { 1.0 } else { self.row_weights[i] }
    }
}

/// The state of an online learner.
#[derive(Debug, Clone)]
pub struct Online<T> {
    rule: Rule,
    keep: Keep,
    n_classes: usize,
    intercept: bool,
    /// Feature-major, n_scores per feature, the intercepts last.
    weights: Vec<T>,
    sums: Vec<T>,
    seen: u64,
    log: Vec<Update>,
    start_survived: u64,
    random: Option<Random>,
    order: Vec<u32>,
    /// Scratch space for norms.
    set: ColumnSet,
    n_threads: usize,
    /// The most learners that shared a pass.
    learners: usize,
}

/// An average weight from the last one and its running sum.
#[inline(always)]
fn mean<T: Real>(w: T, u: T, share: f64) -> T {
    T::from_f64(w.to_f64() - u.to_f64() * share)
}

/// Number of scores that `n_classes` labels need.
pub const fn n_scores(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

impl<T: Real> Online<T> {
    /// Start from `weights`; `seed` None keeps the rows in their order, else epochs are shuffled.
    ///
    /// `average` and `seen` continue an earlier run with [`Keep::Average`]; `average` may be empty.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        rule: Rule,
        keep: Keep,
        n_classes: usize,
        intercept: bool,
        weights: Vec<T>,
        average: Vec<T>,
        seen: u64,
        seed: Option<u64>,
    ) -> Result<Self, KernelError> {
        if n_classes < 2 {
            return Err(KernelError::Argument("there must be at least two classes".into()));
        }
        let (name, step) = match rule {
            Rule::Perceptron { rate } => ("rate", rate),
            Rule::Mira { cap } => ("cap", cap),
        };
        if step.is_nan() || step <= 0.0 {
            return Err(KernelError::Argument(format!("{name} must be positive, not {step}")));
        }
        let mut sums = Vec::new();
        if keep == Keep::Average && average.is_empty() {
            sums = zeros(weights.len())?;
        } else if keep == Keep::Average {
            check_length("average", average.len(), weights.len())?;
            sums = average;
            for (u, w) in sums.iter_mut().zip(&weights) {
                *u = T::from_f64((w.to_f64() - u.to_f64()) * seen as f64);
            }
        }
        Ok(Self {
            rule,
            keep,
            n_classes,
            intercept,
            weights,
            sums,
            seen,
            log: Vec::new(),
            start_survived: 0,
            random: seed.map(Random::new),
            order: Vec::new(),
            set: ColumnSet::default(),
            n_threads: 1,
            learners: 1,
        })
    }

    /// Use so many threads; from two on, long passes are shared by two learners.
    pub fn with_threads(self, n_threads: usize) -> Self {
        Self { n_threads, ..self }
    }

    /// The last weights.
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// The most learners that shared a pass so far.
    pub fn learners(&self) -> usize {
        self.learners
    }

    /// Rows seen so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Updates of a vote, in order, and the rows that the starting weights survived.
    pub fn log(&self) -> (&[Update], u64) {
        (&self.log, self.start_survived)
    }

    /// The average (empty where none is kept) and the last weights; the learner is left without.
    pub fn finish(&mut self) -> [Vec<T>; 2] {
        let mut average = std::mem::take(&mut self.sums);
        let share = self.share();
        for (u, w) in average.iter_mut().zip(&self.weights) {
            *u = mean(*w, *u, share);
        }
        [average, std::mem::take(&mut self.weights)]
    }

    /// Average of the weights after each row; the weights themselves before the first row.
    pub fn average(&self) -> Vec<T> {
        if self.sums.is_empty() {
            return self.weights.clone();
        }
        let share = self.share();
        self.weights.iter().zip(&self.sums).map(|(&w, &u)| mean(w, u, share)).collect()
    }

    /// Share of one row in the average.
    fn share(&self) -> f64 {
        1.0 / self.seen.max(1) as f64
    }

    fn check<X: Rows<T>>(&self, x: &X, examples: Examples<'_>) -> Result<(), KernelError> {
        let k = n_scores(self.n_classes);
        check_length("weights", self.weights.len(), (x.n_cols() + usize::from(self.intercept)) * k)?;
        check_length("targets", examples.targets.len(), x.n_rows())?;
        if !examples.row_weights.is_empty() {
            check_length("sample weights", examples.row_weights.len(), x.n_rows())?;
            check_not_negative("sample weights", examples.row_weights)?;
        }
        if let Some(&y) = examples.targets.iter().find(|&&y| y as usize >= self.n_classes) {
            return Err(KernelError::Argument(format!("class number {y} is not below {}", self.n_classes)));
        }
        Ok(())
    }

    /// One pass over the rows; returns the number of mistakes.
    ///
    /// Rows that were not checked beforehand are checked here; after their error the weights are those of
    /// the rows before.
    pub fn run_epoch<X: Rows<T>>(
        &mut self,
        x: &X,
        examples: Examples<'_>,
        stop: &Interrupt,
    ) -> Result<u64, KernelError> {
        self.check(x, examples)?;
        if self.order.len() != x.n_rows() {
            let n = u32::try_from(x.n_rows())
                .map_err(|_| KernelError::Argument("at most 2^32 - 1 rows".into()))?;
            self.order = (0..n).collect();
        }
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        let order = std::mem::take(&mut self.order);
        let shared = self.random.is_some() && self.keep != Keep::Vote;
        let outcome = if shared && is_worth(self.n_threads, x.n_stored(), x.n_cols()) {
            self.visit_shared(x, examples, &order, stop)
        } else {
            self.visit(x, examples, &order, stop)
        };
        self.order = order;
        outcome
    }

    /// Visit one half of the rows while another learner visits the other, and mix both.
    ///
    /// With a learner's average (w - u / c), sums and counts add up to those of the mixed weights m when
    /// u = u_a + u_b + c_a (m - w_a) + c_b (m - w_b).
    fn visit_shared<X: Rows<T>>(
        &mut self,
        x: &X,
        examples: Examples<'_>,
        order: &[u32],
        stop: &Interrupt,
    ) -> Result<u64, KernelError> {
        let mut other = Self {
            weights: self.weights.clone(),
            sums: zeros(self.sums.len())?,
            seen: 0,
            log: Vec::new(),
            random: None,
            order: Vec::new(),
            set: ColumnSet::default(),
            ..*self
        };
        let (front, back) = halves(order, 1);
        let outcomes =
            side_by_side(2, || self.visit(x, examples, front, stop), || other.visit(x, examples, back, stop));
        let ahead = 0.5 * (self.seen as f64 - other.seen as f64);
        let sums = self.sums.iter_mut().zip(&other.sums);
        for ((u, v), (w, z)) in sums.zip(self.weights.iter().zip(&other.weights)) {
            let shift = ahead * (z.to_f64() - w.to_f64());
            *u = T::from_f64(u.to_f64() + v.to_f64() + shift);
        }
        mix(&mut self.weights, &other.weights);
        self.seen += other.seen;
        self.learners = LEARNERS;
        Ok(outcomes.0? + outcomes.1?)
    }

    /// Visit rows in order.
    fn visit<X: Rows<T>>(
        &mut self,
        x: &X,
        examples: Examples<'_>,
        order: &[u32],
        stop: &Interrupt,
    ) -> Result<u64, KernelError> {
        let mut mistakes = 0;
        for rows in order.chunks(BLOCK) {
            stop.check()?;
            mistakes += dispatch(Block { learner: self, x, examples, rows })?;
        }
        Ok(mistakes)
    }
}

/// The label whose score rivals that of `y`, the first one at a tie, and the margin over it.
///
/// With one score, label 1 has it and label 0 its negative, so that the margin is y s.
#[inline(always)]
fn rival<T: Real>(scores: &[T], y: usize) -> (usize, f64) {
    if let [s] = scores {
        return (1 - y, if y == 1 { s.to_f64() } else { -s.to_f64() });
    }
    let mut best = usize::from(y == 0);
    for (k, &s) in scores.iter().enumerate() {
        if k != y && s > scores[best] {
            best = k;
        }
    }
    (best, scores[y].to_f64() - scores[best].to_f64())
}

#[inline(always)]
fn score_row<T: Real, X: Rows<T>, const FMA: bool>(x: &X, i: usize, w: &[T], scores: &mut [T]) {
    let (features, intercepts) = w.split_at(x.n_cols() * scores.len());
    if let [s] = scores {
        *s = x.dot::<FMA>(i, features);
    } else {
        x.dot_many::<T, FMA>(i, features, scores);
    }
    for (s, &b) in scores.iter_mut().zip(intercepts) {
        *s += b;
    }
}

#[inline(always)]
fn add_row<T: Real, X: Rows<T>, const FMA: bool>(
    x: &X,
    i: usize,
    w: &mut [T],
    k: usize,
    column: usize,
    a: T,
) {
    let (features, intercepts) = w.split_at_mut(x.n_cols() * k);
    if k == 1 {
        x.add_to::<FMA>(i, a, features);
    } else {
        x.add_to_column::<FMA>(i, a, features, k, column);
    }
    if let Some(b) = intercepts.get_mut(column) {
        *b += a;
    }
}

#[cfg(test)]
mod tests;
