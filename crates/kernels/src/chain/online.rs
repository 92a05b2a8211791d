//! Online learners on chains: the weights change on mistakes only.
//!
//! Problem: find w with h(x, y) > h(x, y') for every sequence and every labelling y' other than its own. On a mistake
//! at d tokens, with the best rival y', D = Psi(x, y) - Psi(x, y') and e = h(x, y') - h(x, y),
//! - perceptron: w += rate D (Collins 2002);
//! - MIRA: w += min((e + d) / |D|^2, cap) D (Crammer et al. 2006; McDonald et al. 2005);
//! - passive–aggressive: w += tau D with tau = l / |D|^2, min(c, l / |D|^2) or l / (|D|^2 + 1 / 2c) for l = e + sqrt(d)
//!   or e + 1 (Crammer et al. 2006);
//! - AROW with variances s: w_k += (e + d) / (gamma + sum_j s_j D_j^2) s_k D_k, then 1 / s_k += D_k^2 / gamma (Crammer,
//!   Kulesza & Dredze 2009).
//!
//! The first two are those of [`crate::online`] where sequences have one token: a tie is a mistake, and the weight of a
//! sequence multiplies the rate or the cap. The others, and a perceptron of its own, are as CRFsuite defines them: a tie
//! is no mistake where the first label wins, and the weights at the beginning count in the average.
//!
//! Invariant: with c sequences seen, and one more where the beginning counts, `weights - sums / c` is the average of the
//! weights after each. Weights that k attributes share are the sum of theirs, so a step moves them by k tau.
//!
//! An epoch returns the number of mistaken tokens; under CRFsuite's rules the sum over the mistakes of d / length for the
//! perceptron, l and e + d for the others.

use crate::chain::encoded::Encoded;
use crate::chain::likelihood::Targets;
use crate::chain::margin::add_up_equal;
use crate::chain::viterbi::{Steps, best_path};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::online::Rule;
use crate::random::Random;
use crate::real::Real;
use crate::simd::{Task, dispatch};

/// Weights of a first-order chain, or their sums: of the labels, of the edges (`to * k + from`), of starts and ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights<T> {
    /// Of the labels, as [`Encoded`] lays them out.
    pub state: Vec<T>,
    /// Of the edges.
    pub edges: Vec<f64>,
    /// Of beginning with a label.
    pub start: Vec<f64>,
    /// Of ending with a label.
    pub end: Vec<f64>,
}

impl<T: Real> Weights<T> {
    /// Fail unless the weights fit the data.
    pub fn check(&self, data: &Encoded<T>) -> Result<(), KernelError> {
        let k = data.n_labels();
        check_length("weights", self.state.len(), data.n_weights())?;
        check_length("edge scores", self.edges.len(), k * k)?;
        check_length("start scores", self.start.len(), k)?;
        check_length("end scores", self.end.len(), k)
    }

    /// Zeros for the data.
    pub fn zero(data: &Encoded<T>) -> Result<Self, KernelError> {
        let k = data.n_labels();
        let (edges, start, end) = (vec![0.0; k * k], vec![0.0; k], vec![0.0; k]);
        Ok(Self { state: zeros(data.n_weights())?, edges, start, end })
    }

    /// f(a, b) of every weight a and that of the other b.
    fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let each = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect();
        let state = self.state.iter().zip(&other.state);
        Self {
            state: state.map(|(a, b)| T::from_f64(f(a.to_f64(), b.to_f64()))).collect(),
            edges: each(&self.edges, &other.edges),
            start: each(&self.start, &other.start),
            end: each(&self.end, &other.end),
        }
    }
}

/// Which weights there are besides those of the labels.
#[derive(Debug, Clone)]
pub struct Free {
    /// Whether an edge has a weight.
    pub edges: Vec<bool>,
    /// Whether starts and ends have weights.
    pub boundaries: bool,
}

/// How far a mistake moves the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChainRule {
    /// As in [`crate::online`].
    Plain(Rule),
    /// By one, as CRFsuite counts.
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

impl ChainRule {
    fn check(self) -> Result<(), KernelError> {
        let positive: &[(&str, f64)] = match self {
            Self::Perceptron | Self::Aggressive { slack: Slack::None, .. } => &[],
            // MIRA without a cap.
            Self::Plain(Rule::Mira { cap: f64::INFINITY }) => &[],
            Self::Plain(Rule::Perceptron { rate: step } | Rule::Mira { cap: step }) => &[("the step", step)],
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

    /// Whether a tie is a mistake and the average begins after the first sequence.
    fn is_plain(self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Whether the step asks for scores.
    fn sees_scores(self) -> bool {
        !matches!(self, Self::Plain(Rule::Perceptron { .. }) | Self::Perceptron)
    }
}

/// The state of a learner.
#[derive(Debug)]
pub struct OnlineChain<T> {
    rule: ChainRule,
    free: Free,
    weights: Weights<T>,
    sums: Weights<T>,
    /// Of the labels, edges, starts and ends; empty but for AROW.
    variances: Vec<f64>,
    steps: Steps<T>,
    seen: u64,
    random: Option<Random>,
    order: Vec<u32>,
}

impl<T: Real> OnlineChain<T> {
    /// Begin at `weights`; `average` is what an earlier run of `seen` sequences left. Without a `seed` the order is that
    /// of the data.
    pub fn new(
        data: &Encoded<T>,
        rule: ChainRule,
        free: Free,
        weights: Weights<T>,
        average: Option<Weights<T>>,
        seen: u64,
        seed: Option<u64>,
    ) -> Result<Self, KernelError> {
        rule.check()?;
        weights.check(data)?;
        let k = data.n_labels();
        check_length("free edges", free.edges.len(), k * k)?;
        if !rule.is_plain() && data.multiplicity().iter().any(|&m| m > 1.0) {
            return Err(KernelError::Argument("attributes must not share weights".into()));
        }
        let average = match average {
            Some(average) => {
                average.check(data)?;
                average
            }
            None => weights.clone(),
        };
        let variances = match rule {
            ChainRule::Arow { variance, .. } => vec![variance; data.n_weights() + k * (k + 2)],
            _ => Vec::new(),
        };
        Ok(Self {
            rule,
            free,
            steps: Steps::new(&weights.edges, k),
            sums: weights.zip(&average, |w, a| seen as f64 * (w - a)),
            weights,
            variances,
            seen,
            random: seed.map(Random::new),
            order: (0..(data.offsets().len() - 1) as u32).collect(),
        })
    }

    /// The last weights.
    pub fn weights(&self) -> &Weights<T> {
        &self.weights
    }

    /// Sequences seen.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The average of the weights, as if `idle` more sequences had been seen without a mistake.
    pub fn average(&self, idle: u64) -> Weights<T> {
        let share = 1.0 / (self.counted() + idle as f64).max(1.0);
        self.weights.zip(&self.sums, |w, s| w - share * s)
    }

    /// Sequences seen, and the beginning where it counts.
    fn counted(&self) -> f64 {
        self.seen as f64 + f64::from(u8::from(!self.rule.is_plain()))
    }

    /// One pass over the sequences; returns what the head of this file says.
    pub fn run_epoch(
        &mut self,
        data: &Encoded<T>,
        targets: Targets<'_>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        targets.check(data)?;
        self.weights.check(data)?;
        check_length("sequences", data.offsets().len() - 1, self.order.len())?;
        self.steps.tighten();
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        dispatch(Epoch { learner: self, data, targets, stop })
    }
}

struct Epoch<'a, T> {
    learner: &'a mut OnlineChain<T>,
    data: &'a Encoded<T>,
    targets: Targets<'a>,
    stop: &'a Interrupt,
}

impl<T: Real> Task for Epoch<'_, T> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { learner, data, targets, stop } = self;
        let (k, width, rule) = (data.n_labels(), data.width(), learner.rule);
        let (mut nodes, mut found, mut change) = (Vec::new(), Vec::new(), Vec::new());
        let mut loss = 0.0;
        for at in 0..learner.order.len() {
            if at % 64 == 0 {
                stop.check()?;
            }
            let number = learner.order[at] as usize;
            let tokens = data.offsets()[number]..data.offsets()[number + 1];
            let (c, length) = (targets.weight(number), tokens.len());
            if length == 0 || c == 0.0 {
                learner.seen += u64::from(!rule.is_plain());
                continue;
            }
            if nodes.len() < length * width {
                nodes.resize(length * width, T::ZERO);
            }
            for (t, row) in tokens.clone().zip(nodes.chunks_mut(width)) {
                data.scores::<FMA>(t, &learner.weights.state, row);
            }
            for s in 0..k {
                nodes[s] += T::from_f64(learner.weights.start[s]);
                nodes[(length - 1) * width + s] += T::from_f64(learner.weights.end[s]);
            }
            let labels = &targets.labels[tokens.clone()];
            let own = if rule.sees_scores() { score(&nodes, width, labels, &learner.steps) } else { 0.0 };
            found.resize(length, 0);
            let avoid = rule.is_plain().then_some(labels);
            let best = best_path(&learner.steps, &mut nodes[..length * width], avoid, &mut found);
            let wrong = labels.iter().zip(&found).filter(|(a, b)| a != b).count();
            if wrong > 0 {
                learner.collect(data, tokens.start, labels, &found, &mut change);
                loss += learner.learn(data, &change, best.to_f64() - own, wrong, length, c);
            }
            learner.seen += 1;
        }
        Ok(loss)
    }
}

/// Score of a labelling from the scores of the labels and of the transitions.
fn score<T: Real>(nodes: &[T], width: usize, labels: &[u32], steps: &Steps<T>) -> f64 {
    let node = |(t, &y): (usize, &u32)| nodes[t * width + y as usize].to_f64();
    let step = |pair: &[u32]| steps.get(pair[0] as usize, pair[1] as usize).to_f64();
    labels.iter().enumerate().map(node).sum::<f64>() + labels.windows(2).map(step).sum::<f64>()
}

impl<T: Real> OnlineChain<T> {
    /// D as (number, value): weights of the labels, of the edges, of starts, of ends; each number once where the rule
    /// asks for more than their sum.
    #[inline(always)]
    fn collect(
        &self,
        data: &Encoded<T>,
        first: usize,
        labels: &[u32],
        found: &[u32],
        change: &mut Vec<(usize, f64)>,
    ) {
        let (k, n, last) = (data.n_labels(), data.n_weights(), labels.len() - 1);
        let multiplicity = data.multiplicity();
        change.clear();
        for t in 0..labels.len() {
            let differ = labels[t] != found[t];
            if !differ && (t == 0 || labels[t - 1] == found[t - 1]) {
                continue;
            }
            for (path, sign) in [(labels, 1.0), (found, -1.0)] {
                let label = path[t] as usize;
                if differ {
                    data.each_of_label(first + t, label, |at, value| {
                        // Rows are padded with labels that have no weight.
                        if multiplicity[at] > 0.0 {
                            change.push((at, sign * value.to_f64()));
                        }
                    });
                    let ends = [(t == 0, k * k), (t == last, k * k + k)];
                    for (_, place) in ends.into_iter().filter(|end| self.free.boundaries && end.0) {
                        change.push((n + place + label, sign));
                    }
                }
                if t > 0 && self.free.edges[label * k + path[t - 1] as usize] {
                    change.push((n + label * k + path[t - 1] as usize, sign));
                }
            }
        }
        if !matches!(self.rule, ChainRule::Plain(Rule::Perceptron { .. })) {
            add_up_equal(change);
            change.retain(|entry| entry.1 != 0.0);
        }
    }

    /// Move the weights on a mistake of a sequence of weight c; returns its loss.
    #[inline(always)]
    fn learn(
        &mut self,
        data: &Encoded<T>,
        change: &[(usize, f64)],
        excess: f64,
        wrong: usize,
        length: usize,
        c: f64,
    ) -> f64 {
        let (d, n, multiplicity) = (wrong as f64, data.n_weights(), data.multiplicity());
        let square = |&(at, x): &(usize, f64)| x * x * multiplicity.get(at).map_or(1.0, |&m| f64::from(m));
        let norm = || change.iter().map(square).sum::<f64>();
        let (loss, step) = match self.rule {
            ChainRule::Plain(Rule::Perceptron { rate }) => (d, c * rate),
            ChainRule::Plain(Rule::Mira { cap }) => {
                let norm = norm();
                (d, if norm > 0.0 { ((excess + d) / norm).min(c * cap) } else { 0.0 })
            }
            ChainRule::Perceptron => (d / length as f64, 1.0),
            ChainRule::Aggressive { slack, by_errors } => {
                let loss = excess.max(0.0) + if by_errors { d.sqrt() } else { 1.0 };
                let step = match slack {
                    Slack::None => loss / norm(),
                    Slack::Linear(c) => c.min(loss / norm()),
                    Slack::Squared(c) => loss / (norm() + 0.5 / c),
                };
                (loss, step)
            }
            ChainRule::Arow { gamma, .. } => {
                let spread: f64 = change.iter().map(|&(at, x)| self.variances[at] * x * x).sum();
                let loss = excess.max(0.0) + d;
                (loss, loss / (gamma + spread))
            }
        };
        let count = self.counted();
        for &(at, x) in change {
            let mut moved = step * x;
            if let ChainRule::Arow { gamma, .. } = self.rule {
                let variance = &mut self.variances[at];
                moved *= *variance;
                *variance = 1.0 / (1.0 / *variance + x * x / gamma);
            }
            self.add(n, at, moved * multiplicity.get(at).map_or(1.0, |&m| f64::from(m)), count);
        }
        loss
    }

    #[inline(always)]
    fn add(&mut self, n: usize, at: usize, moved: f64, count: f64) {
        if at < n {
            self.weights.state[at] += T::from_f64(moved);
            self.sums.state[at] += T::from_f64(count * moved);
            return;
        }
        let (at, k) = (at - n, self.weights.start.len());
        if at < k * k {
            self.weights.edges[at] += moved;
            self.sums.edges[at] += count * moved;
            self.steps.set(at % k, at / k, T::from_f64(self.weights.edges[at]));
            return;
        }
        let at = at - k * k;
        let (weights, sums) = if at < k {
            (&mut self.weights.start, &mut self.sums.start)
        } else {
            (&mut self.weights.end, &mut self.sums.end)
        };
        weights[at % k] += moved;
        sums[at % k] += count * moved;
    }
}
