//! Averaged perceptron, passive–aggressive learning and AROW on chains, as CRFsuite defines them.
//!
//! Problem: find w with h(x, y) > h(x, y') for every sequence and every labelling y' other than its own. When the best
//! labelling y' differs from y at d tokens, with D = Psi(x, y) - Psi(x, y') and e = h(x, y') - h(x, y),
//! - perceptron: w += D (Collins 2002);
//! - passive–aggressive: w += tau D with tau = l / |D|^2, min(c, l / |D|^2) or l / (|D|^2 + 1 / 2c) for l = e + sqrt(d)
//!   or e + 1 (Crammer et al. 2006);
//! - AROW with variances s: w_k += (e + d) / (gamma + sum_j s_j D_j^2) s_k D_k, then 1 / s_k += D_k^2 / gamma (Crammer,
//!   Kulesza & Dredze 2009).
//!
//! It differs from [`crate::chain::online`] in the losses, and in that a tie is no mistake where the first label wins.
//! Starts and ends have no weights, and attributes do not share theirs.
//!
//! Invariant: with c sequences seen, `weights - sums / (c + 1)` is the average of the weights at the beginning and
//! after each sequence.
//!
//! An epoch returns the sum over the mistakes of d / length for the perceptron, l and e + d for the others.

use crate::chain::encoded::Encoded;
use crate::chain::likelihood::Targets;
use crate::chain::margin::add_up_equal;
use crate::chain::online::{Weights, score};
use crate::chain::viterbi::{Steps, best_path};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::real::Real;
use crate::simd::{Task, dispatch};

/// How far a mistake moves the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MarginRule {
    /// By one.
    Perceptron,
    /// As far as the margin asks, whatever it takes (`slack` is [`Slack::None`]) or softened by c.
    Aggressive {
        /// Kind of slack.
        slack: Slack,
        /// Whether the margin is sqrt(d) instead of 1.
        by_errors: bool,
    },
    /// By variances that shrink with every step.
    Arow {
        /// Variance of every weight at the beginning.
        variance: f64,
        /// Weight of keeping the variances.
        gamma: f64,
    },
}

/// Slack of a passive–aggressive step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slack {
    /// PA.
    None,
    /// PA-I with its c.
    Linear(f64),
    /// PA-II with its c.
    Squared(f64),
}

impl MarginRule {
    fn check(self) -> Result<(), KernelError> {
        let positive: &[(&str, f64)] = match self {
            Self::Perceptron | Self::Aggressive { slack: Slack::None, .. } => &[],
            Self::Aggressive { slack: Slack::Linear(c) | Slack::Squared(c), .. } => &[("c", c)],
            Self::Arow { variance, gamma } => &[("variance", variance), ("gamma", gamma)],
        };
        match positive.iter().find(|(_, value)| !(*value > 0.0 && value.is_finite())) {
            Some((name, value)) => {
                Err(KernelError::Argument(format!("{name} must be positive and finite, got {value}")))
            }
            None => Ok(()),
        }
    }
}

/// The state of a learner.
#[derive(Debug)]
pub struct MarginChain<T> {
    rule: MarginRule,
    free: Vec<bool>,
    weights: Weights<T>,
    sums: Weights<T>,
    /// Of the labels, then of the edges; empty but for AROW.
    variances: Vec<f64>,
    steps: Steps<T>,
    seen: u64,
    random: Option<Random>,
    order: Vec<u32>,
}

impl<T: Real> MarginChain<T> {
    /// Begin at zero; `free` tells which edges have a weight, and without a `seed` the order is that of the data.
    pub fn new(
        data: &Encoded<T>,
        rule: MarginRule,
        free: Vec<bool>,
        seed: Option<u64>,
    ) -> Result<Self, KernelError> {
        rule.check()?;
        let k = data.n_labels();
        check_length("free edges", free.len(), k * k)?;
        if data.multiplicity().iter().any(|&m| m > 1.0) {
            return Err(KernelError::Argument("attributes must not share weights".into()));
        }
        let zero = Weights {
            state: vec![T::ZERO; data.n_weights()],
            edges: vec![0.0; k * k],
            start: vec![0.0; k],
            end: vec![0.0; k],
        };
        let variances = match rule {
            MarginRule::Arow { variance, .. } => vec![variance; data.n_weights() + k * k],
            _ => Vec::new(),
        };
        Ok(Self {
            rule,
            free,
            steps: Steps::new(&zero.edges, k),
            sums: zero.clone(),
            weights: zero,
            variances,
            seen: 0,
            random: seed.map(Random::new),
            order: (0..(data.offsets().len() - 1) as u32).collect(),
        })
    }

    /// The last weights.
    pub fn weights(&self) -> &Weights<T> {
        &self.weights
    }

    /// The average of the weights, as if `idle` more sequences had been seen without a mistake.
    pub fn average(&self, idle: u64) -> Weights<T> {
        let share = 1.0 / (self.seen.saturating_add(idle) as f64 + 1.0);
        let state = self.weights.state.iter().zip(&self.sums.state);
        let edges = self.weights.edges.iter().zip(&self.sums.edges);
        Weights {
            state: state.map(|(w, s)| T::from_f64(w.to_f64() - share * s.to_f64())).collect(),
            edges: edges.map(|(w, s)| w - share * s).collect(),
            ..self.weights.clone()
        }
    }

    /// One pass over the sequences; returns the sum of the losses of the mistakes.
    pub fn run_epoch(
        &mut self,
        data: &Encoded<T>,
        targets: Targets<'_>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        targets.check(data)?;
        self.weights.check(data)?;
        check_length("sequences", data.offsets().len() - 1, self.order.len())?;
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        dispatch(Epoch { learner: self, data, targets, stop })
    }
}

struct Epoch<'a, T> {
    learner: &'a mut MarginChain<T>,
    data: &'a Encoded<T>,
    targets: Targets<'a>,
    stop: &'a Interrupt,
}

impl<T: Real> Task for Epoch<'_, T> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { learner, data, targets, stop } = self;
        let width = data.width();
        let (mut nodes, mut found, mut change) = (Vec::new(), Vec::new(), Vec::new());
        let mut loss = 0.0;
        for at in 0..learner.order.len() {
            if at % 64 == 0 {
                stop.check()?;
            }
            let number = learner.order[at] as usize;
            let tokens = data.offsets()[number]..data.offsets()[number + 1];
            let length = tokens.len();
            if length == 0 {
                learner.seen += 1;
                continue;
            }
            if nodes.len() < length * width {
                nodes.resize(length * width, T::ZERO);
            }
            for (t, row) in tokens.clone().zip(nodes.chunks_mut(width)) {
                data.scores::<FMA>(t, &learner.weights.state, row);
            }
            let labels = &targets.labels[tokens.clone()];
            let own = score(&nodes, width, labels, &learner.steps);
            found.resize(length, 0);
            let best = best_path(&learner.steps, &mut nodes[..length * width], None, &mut found);
            let wrong = labels.iter().zip(&found).filter(|(a, b)| a != b).count();
            if wrong > 0 {
                learner.collect(data, tokens.start, labels, &found, &mut change);
                let excess = (best.to_f64() - own).max(0.0);
                loss += learner.learn(data.n_weights(), &change, excess, wrong, length);
            }
            learner.seen += 1;
        }
        Ok(loss)
    }
}

impl<T: Real> MarginChain<T> {
    /// D as (number, value), each number once: weights of the labels, then of the edges.
    fn collect(
        &self,
        data: &Encoded<T>,
        first: usize,
        labels: &[u32],
        found: &[u32],
        change: &mut Vec<(usize, f64)>,
    ) {
        let (k, n) = (data.n_labels(), data.n_weights());
        let multiplicity = data.multiplicity();
        change.clear();
        for t in 0..labels.len() {
            for (path, sign) in [(labels, 1.0), (found, -1.0)] {
                let label = path[t] as usize;
                if labels[t] != found[t] {
                    data.each_of_label(first + t, label, |at, value| {
                        // Rows are padded with labels that have no weight.
                        if multiplicity[at] > 0.0 {
                            change.push((at, sign * value.to_f64()));
                        }
                    });
                }
                if t > 0 {
                    let edge = label * k + path[t - 1] as usize;
                    if self.free[edge] {
                        change.push((n + edge, sign));
                    }
                }
            }
        }
        add_up_equal(change);
        change.retain(|entry| entry.1 != 0.0);
    }

    /// Move the weights on a mistake; returns its loss.
    fn learn(&mut self, n: usize, change: &[(usize, f64)], excess: f64, wrong: usize, length: usize) -> f64 {
        let d = wrong as f64;
        let (loss, step) = match self.rule {
            MarginRule::Perceptron => (d / length as f64, 1.0),
            MarginRule::Aggressive { slack, by_errors } => {
                let loss = excess + if by_errors { d.sqrt() } else { 1.0 };
                let norm: f64 = change.iter().map(|entry| entry.1 * entry.1).sum();
                let step = match slack {
                    Slack::None => loss / norm,
                    Slack::Linear(c) => c.min(loss / norm),
                    Slack::Squared(c) => loss / (norm + 0.5 / c),
                };
                (loss, step)
            }
            MarginRule::Arow { gamma, .. } => {
                let spread: f64 = change.iter().map(|&(at, x)| self.variances[at] * x * x).sum();
                (excess + d, (excess + d) / (gamma + spread))
            }
        };
        for &(at, x) in change {
            let mut moved = step * x;
            if let MarginRule::Arow { gamma, .. } = self.rule {
                let variance = &mut self.variances[at];
                moved *= *variance;
                *variance = 1.0 / (1.0 / *variance + x * x / gamma);
            }
            self.add(n, at, moved);
        }
        loss
    }

    #[inline(always)]
    fn add(&mut self, n: usize, at: usize, moved: f64) {
        let count = self.seen as f64 + 1.0;
        if at < n {
            self.weights.state[at] += T::from_f64(moved);
            self.sums.state[at] += T::from_f64(count * moved);
            return;
        }
        let (edge, k) = (at - n, self.weights.start.len());
        self.weights.edges[edge] += moved;
        self.sums.edges[edge] += count * moved;
        self.steps.set(edge % k, edge / k, T::from_f64(self.weights.edges[edge]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::tests_likelihood::Data;

    fn encoded(data: &Data, k: usize, merge: bool) -> Encoded<f64> {
        Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), k, merge).expect("valid")
    }

    fn rules() -> [MarginRule; 6] {
        let aggressive = |slack, by_errors| MarginRule::Aggressive { slack, by_errors };
        [
            MarginRule::Perceptron,
            aggressive(Slack::None, false),
            aggressive(Slack::Linear(0.5), true),
            aggressive(Slack::Squared(2.0), true),
            MarginRule::Arow { variance: 1.0, gamma: 1.0 },
            MarginRule::Arow { variance: 0.3, gamma: 4.0 },
        ]
    }

    #[test]
    fn losses_fall_and_numbers_stay_finite() {
        let stop = Interrupt::new();
        let data = Data::new(150, 40, 4, true, 5);
        let targets = Targets { labels: &data.labels, allowed: None, weights: None };
        let encoded = encoded(&data, 4, false);
        for rule in rules() {
            let mut learner = MarginChain::new(&encoded, rule, vec![true; 16], Some(1)).expect("valid");
            let losses: Vec<f64> =
                (0..30).map(|_| learner.run_epoch(&encoded, targets, &stop).expect("valid")).collect();
            assert!(losses[29] < 0.8 * losses[0], "{rule:?}: {losses:?}");
            assert!(learner.average(0).state.iter().all(|w| w.is_finite()));
        }
    }

    #[test]
    fn bad_numbers_and_shared_weights_are_refused() {
        let data = Data::new(20, 10, 3, true, 5);
        let plain = encoded(&data, 3, false);
        let bad = MarginRule::Arow { variance: 1.0, gamma: 0.0 };
        assert!(MarginChain::new(&plain, bad, vec![true; 9], None).is_err());
        let bad = MarginRule::Aggressive { slack: Slack::Linear(f64::NAN), by_errors: true };
        assert!(MarginChain::new(&plain, bad, vec![true; 9], None).is_err());
        assert!(MarginChain::new(&plain, MarginRule::Perceptron, vec![true; 8], None).is_err());
        let shared = encoded(&data, 3, true);
        assert!(shared.multiplicity().iter().any(|&m| m > 1.0));
        assert!(MarginChain::new(&shared, MarginRule::Perceptron, vec![true; 9], None).is_err());
    }
}
