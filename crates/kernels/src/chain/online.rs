//! Structured perceptron and MIRA on chains: the weights change on mistakes only.
//!
//! Problem: find w with h(x, y) > h(x, y') for every sequence and every labelling y' other than its own. A tie is a
//! mistake. On a mistake with the best rival y'
//!     w += tau (Psi(x, y) - Psi(x, y')),
//! tau = rate for the perceptron (Collins 2002) and, for MIRA,
//! tau = min((h(x, y') - h(x, y) + d) / |Psi(x, y) - Psi(x, y')|^2, cap) with d the number of tokens that
//! differ (Crammer et al. 2006; McDonald et al. 2005). On sequences of one token this is [`crate::online`]. The
//! weight of a sequence multiplies the rate or the cap.
//!
//! Invariant: with c sequences seen, `weights - sums / c` is the average of the weights after each sequence. Weights
//! that k attributes share are the sum of theirs, so a step moves them by k tau.
//!
//! An epoch returns the number of tokens that were mistaken.

use crate::chain::encoded::Encoded;
use crate::chain::likelihood::Targets;
use crate::chain::viterbi::{Steps, best_path};
use crate::error::{KernelError, check_length};
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
}

/// Which weights there are besides those of the labels.
#[derive(Debug, Clone)]
pub struct Free {
    /// Whether an edge has a weight.
    pub edges: Vec<bool>,
    /// Whether starts and ends have weights.
    pub boundaries: bool,
}

/// The state of a learner.
#[derive(Debug)]
pub struct OnlineChain<T> {
    rule: Rule,
    free: Free,
    weights: Weights<T>,
    sums: Weights<T>,
    steps: Steps<T>,
    seen: u64,
    random: Option<Random>,
    order: Vec<u32>,
}

impl<T: Real> OnlineChain<T> {
    /// Begin at `weights`; `average` is what an earlier run of `seen` sequences left.
    pub fn new(
        data: &Encoded<T>,
        rule: Rule,
        free: Free,
        weights: Weights<T>,
        average: Option<Weights<T>>,
        seen: u64,
        seed: Option<u64>,
    ) -> Result<Self, KernelError> {
        weights.check(data)?;
        check_length("free edges", free.edges.len(), data.n_labels() * data.n_labels())?;
        let (Rule::Perceptron { rate: step } | Rule::Mira { cap: step }) = rule;
        if step.is_nan() || step <= 0.0 {
            return Err(KernelError::Argument(format!("the step must be positive, got {step}")));
        }
        let average = match average {
            Some(average) => {
                average.check(data)?;
                average
            }
            None => weights.clone(),
        };
        let c = seen as f64;
        let sums = Weights {
            state: weights
                .state
                .iter()
                .zip(&average.state)
                .map(|(w, a)| T::from_f64(c * (w.to_f64() - a.to_f64())))
                .collect(),
            edges: difference(&weights.edges, &average.edges, c),
            start: difference(&weights.start, &average.start, c),
            end: difference(&weights.end, &average.end, c),
        };
        Ok(Self {
            rule,
            free,
            steps: Steps::new(&weights.edges, data.n_labels()),
            weights,
            sums,
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

    /// The average of the weights after each sequence.
    pub fn average(&self) -> Weights<T> {
        let share = 1.0 / self.seen.max(1) as f64;
        let less = |w: &[f64], s: &[f64]| w.iter().zip(s).map(|(w, s)| w - share * s).collect();
        let state = self.weights.state.iter().zip(&self.sums.state);
        Weights {
            state: state.map(|(w, s)| T::from_f64(w.to_f64() - share * s.to_f64())).collect(),
            edges: less(&self.weights.edges, &self.sums.edges),
            start: less(&self.weights.start, &self.sums.start),
            end: less(&self.weights.end, &self.sums.end),
        }
    }

    /// One pass over the sequences; returns the number of mistaken tokens.
    pub fn run_epoch(
        &mut self,
        data: &Encoded<T>,
        targets: Targets<'_>,
        stop: &Interrupt,
    ) -> Result<u64, KernelError> {
        targets.check(data)?;
        self.weights.check(data)?;
        check_length("sequences", data.offsets().len() - 1, self.order.len())?;
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.order);
        }
        dispatch(Epoch { learner: self, data, targets, stop })
    }
}

fn difference(w: &[f64], a: &[f64], c: f64) -> Vec<f64> {
    w.iter().zip(a).map(|(w, a)| c * (w - a)).collect()
}

struct Epoch<'a, T> {
    learner: &'a mut OnlineChain<T>,
    data: &'a Encoded<T>,
    targets: Targets<'a>,
    stop: &'a Interrupt,
}

impl<T: Real> Task for Epoch<'_, T> {
    type Output = Result<u64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { learner, data, targets, stop } = self;
        let (k, width) = (data.n_labels(), data.width());
        let (mut nodes, mut found, mut changes) = (Vec::new(), Vec::new(), Changes::default());
        let mut mistakes = 0;
        for at in 0..learner.order.len() {
            if at % 64 == 0 {
                stop.check()?;
            }
            let number = learner.order[at] as usize;
            let tokens = data.offsets()[number]..data.offsets()[number + 1];
            let c = targets.weight(number);
            let length = tokens.len();
            if length == 0 || c == 0.0 {
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
            let own = if matches!(learner.rule, Rule::Mira { .. }) {
                score(&nodes, width, labels, &learner.steps)
            } else {
                0.0
            };
            found.resize(length, 0);
            let best = best_path(&learner.steps, &mut nodes[..length * width], Some(labels), &mut found);
            let wrong = labels.iter().zip(&found).filter(|(a, b)| a != b).count();
            if wrong > 0 {
                mistakes += wrong as u64;
                let step = match learner.rule {
                    Rule::Perceptron { rate } => c * rate,
                    Rule::Mira { cap } => {
                        changes.collect(data, &learner.free, tokens.start, labels, &found);
                        let norm = changes.squared_norm(data);
                        let excess = best.to_f64() - own + wrong as f64;
                        if norm > 0.0 { (excess / norm).min(c * cap) } else { 0.0 }
                    }
                };
                learner.update(data, tokens.start, labels, &found, step);
            }
            learner.seen += 1;
        }
        Ok(mistakes)
    }
}

/// Score of a labelling from the scores of the labels and of the transitions.
pub(super) fn score<T: Real>(nodes: &[T], width: usize, labels: &[u32], steps: &Steps<T>) -> f64 {
    let node = |(t, &y): (usize, &u32)| nodes[t * width + y as usize].to_f64();
    let step = |pair: &[u32]| steps.get(pair[0] as usize, pair[1] as usize).to_f64();
    labels.iter().enumerate().map(node).sum::<f64>() + labels.windows(2).map(step).sum::<f64>()
}

impl<T: Real> OnlineChain<T> {
    /// w += step (Psi(x, labels) - Psi(x, found))
    #[inline(always)]
    fn update(&mut self, data: &Encoded<T>, first: usize, labels: &[u32], found: &[u32], step: f64) {
        let (k, c) = (data.n_labels(), self.seen as f64);
        let multiplicity = data.multiplicity();
        let last = labels.len() - 1;
        for t in 0..labels.len() {
            let (y, z) = (labels[t] as usize, found[t] as usize);
            if y != z {
                for (label, sign) in [(y, step), (z, -step)] {
                    data.each_of_label(first + t, label, |at, value| {
                        let change = sign * f64::from(multiplicity[at]);
                        self.weights.state[at] += T::from_f64(change) * value;
                        self.sums.state[at] += T::from_f64(c * change) * value;
                    });
                    if self.free.boundaries && t == 0 {
                        self.weights.start[label] += sign;
                        self.sums.start[label] += c * sign;
                    }
                    if self.free.boundaries && t == last {
                        self.weights.end[label] += sign;
                        self.sums.end[label] += c * sign;
                    }
                }
            }
            if t > 0 && (y != z || labels[t - 1] != found[t - 1]) {
                for (from, to, sign) in [(labels[t - 1] as usize, y, step), (found[t - 1] as usize, z, -step)]
                {
                    let edge = to * k + from;
                    if self.free.edges[edge] {
                        self.weights.edges[edge] += sign;
                        self.sums.edges[edge] += c * sign;
                        self.steps.set(from, to, T::from_f64(self.weights.edges[edge]));
                    }
                }
            }
        }
    }
}

/// Psi(x, y) - Psi(x, y'), entry by entry.
#[derive(Default)]
struct Changes {
    state: Vec<(usize, f64)>,
    others: Vec<(usize, f64)>,
}

impl Changes {
    fn collect<T: Real>(
        &mut self,
        data: &Encoded<T>,
        free: &Free,
        first: usize,
        labels: &[u32],
        found: &[u32],
    ) {
        let k = data.n_labels();
        self.state.clear();
        self.others.clear();
        for t in 0..labels.len() {
            for (path, sign) in [(labels, 1.0), (found, -1.0)] {
                let label = path[t] as usize;
                if labels[t] != found[t] {
                    let add = |at: usize, value: T| self.state.push((at, sign * value.to_f64()));
                    data.each_of_label(first + t, label, add);
                }
                if free.boundaries && t == 0 {
                    self.others.push((k * k + label, sign));
                }
                if free.boundaries && t + 1 == labels.len() {
                    self.others.push((k * k + k + label, sign));
                }
                if t > 0 && free.edges[label * k + path[t - 1] as usize] {
                    self.others.push((label * k + path[t - 1] as usize, sign));
                }
            }
        }
    }

    fn squared_norm<T: Real>(&mut self, data: &Encoded<T>) -> f64 {
        let sum = |changes: &mut Vec<(usize, f64)>, weight: &dyn Fn(usize) -> f64| -> f64 {
            changes.sort_unstable_by_key(|change| change.0);
            let same = changes.chunk_by(|a, b| a.0 == b.0);
            same.map(|g| weight(g[0].0) * g.iter().map(|c| c.1).sum::<f64>().powi(2)).sum()
        };
        sum(&mut self.state, &|at| f64::from(data.multiplicity()[at])) + sum(&mut self.others, &|_| 1.0)
    }
}
