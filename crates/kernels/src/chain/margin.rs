//! The problem of the structured SVM with margin rescaling on chains.
//!
//! Minimizes P(w) = 1/2 |w|^2 + sum_i C_i H_i(w) with
//!     H_i(w) = max over y' of Delta_i(y') + <w, Psi(x_i, y') - Psi(x_i, y_i)>,
//! Delta_i(y') = scale_i sum_t cost\[y_t, y'_t\] (Tsochantaridis et al. 2005; Taskar et al. 2004). Weights are one vector:
//! those of the labels, then [`Links`]. A weight that k attributes share is the sum of theirs: its square counts by 1 / k,
//! and a step along a feature of value v moves it by k v.

use std::ops::Range;

use crate::chain::encoded::Encoded;
use crate::chain::links::Links;
use crate::chain::rival::Rival;
use crate::error::{KernelError, check_length, check_not_negative};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::try_each;

/// Sequences of a parallel task.
pub(super) const BLOCK: usize = 64;

/// Labels, costs and the weights of the losses.
#[derive(Debug)]
pub struct Margin {
    pub(super) links: Links,
    pub(super) labels: Vec<u32>,
    /// The states of the labels.
    pub(super) states: Vec<u32>,
    /// n_labels x n_labels, by the label of the token.
    pub(super) cost: Vec<f64>,
    /// Factor of the costs of every sequence.
    pub(super) scale: Vec<f64>,
    pub(super) c: Vec<f64>,
    /// How many attributes share each weight; zero where there is none.
    pub(super) shares: Vec<f32>,
    n_state: usize,
}

impl Margin {
    /// Take the parts; `cost` has zeros on its diagonal.
    pub fn new<T: Real>(
        data: &Encoded<T>,
        links: Links,
        labels: Vec<u32>,
        cost: Vec<f64>,
        scale: Vec<f64>,
        c: Vec<f64>,
    ) -> Result<Self, KernelError> {
        let (n, k) = (data.offsets().len() - 1, data.n_labels());
        check_length("labels", labels.len(), data.n_tokens())?;
        check_length("cost", cost.len(), k * k)?;
        check_length("scales of the cost", scale.len(), n)?;
        check_length("C", c.len(), n)?;
        check_not_negative("cost", &cost)?;
        check_not_negative("scales of the cost", &scale)?;
        check_not_negative("C", &c)?;
        check_length("labels of the graph", links.graph().n_labels(), k)?;
        if labels.iter().any(|&y| y as usize >= k) {
            return Err(KernelError::Argument(format!("a label is outside 0..{k}")));
        }
        if cost.iter().step_by(k + 1).any(|&d| d != 0.0) {
            return Err(KernelError::Argument("the right label must cost nothing".into()));
        }
        let first_order = links.graph().is_first_order();
        if data.n_edge_weights() > links.n_weights() || (data.edge_pairs().is_some() && !first_order) {
            return Err(KernelError::Argument("attributes of edges need a chain of first order".into()));
        }
        let size = data.n_weights() + links.n_weights();
        if u32::try_from(size).is_err() {
            return Err(KernelError::Argument(format!("{size} weights are too many: at most 2^32 - 1")));
        }
        let mut states = Vec::with_capacity(labels.len());
        let mut path = Vec::new();
        for tokens in data.offsets().windows(2) {
            links.states_of(&labels[tokens[0]..tokens[1]], &mut path);
            states.extend_from_slice(&path);
        }
        let mut shares = data.multiplicity().to_vec();
        shares.resize(size, 1.0);
        Ok(Self { links, labels, states, cost, scale, c, shares, n_state: data.n_weights() })
    }

    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        self.shares.len()
    }

    /// Number of weights of the labels, which come first.
    pub fn n_state(&self) -> usize {
        self.n_state
    }

    /// Fail unless the data have the sequences and weights of this problem.
    pub fn check<T: Real>(&self, data: &Encoded<T>) -> Result<(), KernelError> {
        check_length("sequences", data.offsets().len() - 1, self.c.len())?;
        check_length("tokens", data.n_tokens(), self.labels.len())?;
        check_length("weights of the labels", data.n_weights(), self.n_state)
    }

    /// Numbers of the sequences whose losses count.
    pub fn active<T: Real>(&self, data: &Encoded<T>) -> Vec<u32> {
        let counts = |i: &usize| self.c[*i] > 0.0 && data.offsets()[*i] < data.offsets()[*i + 1];
        (0..self.c.len()).filter(counts).map(|i| i as u32).collect()
    }

    /// Work of one search for the rivals of all sequences, in multiply-adds.
    pub fn work<T: Real>(&self, data: &Encoded<T>) -> usize {
        data.work() + data.n_tokens() * self.links.graph().n_edges()
    }

    /// 1/2 |w|^2
    pub fn penalty<T: Real>(&self, w: &[T]) -> f64 {
        let squares = w.iter().zip(&self.shares).filter(|(_, k)| **k > 0.0);
        0.5 * squares.map(|(w, &k)| w.to_f64() * w.to_f64() / f64::from(k)).sum::<f64>()
    }

    /// Delta of the labels of `states`, which stand at the tokens from `first` on.
    pub(super) fn cost_of(&self, number: usize, first: usize, states: &[u32]) -> f64 {
        let (graph, k) = (self.links.graph(), self.links.graph().n_labels());
        let labels = &self.labels[first..];
        let cost = |(&y, &s): (&u32, &u32)| self.cost[y as usize * k + graph.label(s as usize)];
        self.scale[number] * labels.iter().zip(states).map(cost).sum::<f64>()
    }

    /// Add Psi with the states `run` at the tokens from `first` on, and the labels' elsewhere, less Psi of the labels.
    ///
    /// `tokens` is the sequence; the state before the run and the one after it must be those of the labels.
    pub(super) fn difference<T: Real>(
        &self,
        data: &Encoded<T>,
        tokens: &Range<usize>,
        first: usize,
        run: &[u32],
        entries: &mut Entries,
    ) {
        let graph = self.links.graph();
        let end = first + run.len();
        let state = |t: usize| if t >= first && t < end { run[t - first] } else { self.states[t] };
        for (t, &s) in (first..end).zip(run) {
            let (y, z) = (self.labels[t] as usize, graph.label(s as usize));
            if y != z {
                data.each_of_label(t, z, |at, value| entries.add(at, value.to_f64()));
                data.each_of_label(t, y, |at, value| entries.add(at, -value.to_f64()));
            }
        }
        let attributes = self.n_state + self.links.first_of_attributes(data);
        for t in first.max(tokens.start + 1)..(end + 1).min(tokens.end) {
            let found = self.links.edge(state(t - 1), state(t));
            let own = self.links.edge(self.states[t - 1], self.states[t]);
            for (edge, sign) in [(found, 1.0), (own, -1.0)] {
                self.links.of_edge(edge).iter().for_each(|&at| entries.add(self.n_state + at as usize, sign));
            }
            if let Some(pairs) = data.edge_pairs() {
                pairs.each(t, |pair, value| {
                    let sign = f64::from(i8::from(pair.label as usize == found))
                        - f64::from(i8::from(pair.label as usize == own));
                    if sign != 0.0 {
                        entries.add(attributes + pair.weight as usize, sign * value.to_f64());
                    }
                });
            }
        }
        if first == tokens.start {
            for (s, sign) in [(run[0], 1.0), (self.states[first], -1.0)] {
                self.links
                    .of_start(s)
                    .into_iter()
                    .for_each(|at| entries.add(self.n_state + at as usize, sign));
            }
        }
        if end == tokens.end {
            for (s, sign) in [(run[run.len() - 1], 1.0), (self.states[end - 1], -1.0)] {
                self.links.of_end(s).into_iter().for_each(|at| entries.add(self.n_state + at as usize, sign));
            }
        }
    }

    /// Psi of a path less Psi of the labels of its sequence, in `entries`; returns its cost.
    pub(super) fn path_difference<T: Real>(
        &self,
        data: &Encoded<T>,
        number: usize,
        path: &[u32],
        entries: &mut Entries,
    ) -> f64 {
        let tokens = data.offsets()[number]..data.offsets()[number + 1];
        let mut cost = 0.0;
        entries.clear();
        runs(path, &self.states[tokens.clone()], |run| {
            let first = tokens.start + run.start;
            self.difference(data, &tokens, first, &path[run.clone()], entries);
            cost += self.cost_of(number, first, &path[run]);
        });
        cost
    }

    /// sum_i C_i H_i(w), the same to the bit on any number of threads, and the sum of C_i times the sizes of the scores
    /// behind H_i, which its rounding is a multiple of.
    pub fn loss<T: Real>(
        &self,
        data: &Encoded<T>,
        w: &[T],
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<(f64, f64), KernelError> {
        self.check(data)?;
        check_length("weights", w.len(), self.n_weights())?;
        let n = self.c.len();
        let block = |b: usize| {
            stop.check()?;
            let sequences = b * BLOCK..((b + 1) * BLOCK).min(n);
            Ok(dispatch(Losses { problem: self, data, w, sequences }))
        };
        let parts = try_each(threads_for(self.work(data), n_threads), 0..n.div_ceil(BLOCK), block)?;
        Ok(parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1)))
    }
}

/// A solver that visits one sequence after the other.
pub trait Visits<T: Real>: Send + Sync {
    /// Visit all sequences in random order. Returns sum_i C_i H_i, each at the weights of its visit.
    fn run_pass(&mut self, problem: &Margin, data: &Encoded<T>, stop: &Interrupt)
    -> Result<f64, KernelError>;
    /// A lower bound of min P, after whole passes.
    fn dual(&mut self, problem: &Margin) -> Result<f64, KernelError>;
    /// The weights now.
    fn weights(&self) -> Vec<T>;
    /// The average of the weights after every visit, visit t weighed by t.
    fn average(&self) -> Vec<T>;
}

/// What a solver does at one sequence after the other.
pub(super) trait AtSequence<T: Real> {
    /// The sequences, in the order of their visits.
    fn order(&self) -> &[u32];
    /// Weights, and the factor that they count with.
    fn point(&self) -> (&[T], f64);
    /// Learn from the labelling of `states`, the rival of sequence `number` at the point.
    fn learn(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        number: usize,
        states: &[u32],
        entries: &mut Entries,
    );
}

/// A visit of every sequence. Returns sum_i C_i H_i, each at the weights of its visit.
pub(super) struct Pass<'a, T, S> {
    pub solver: &'a mut S,
    pub problem: &'a Margin,
    pub data: &'a Encoded<T>,
    pub stop: &'a Interrupt,
}

impl<T: Real, S: AtSequence<T>> Task for Pass<'_, T, S> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { solver, problem, data, stop } = self;
        let (mut rival, mut entries) = (Rival::new(problem), Entries::default());
        let mut total = 0.0;
        for at in 0..solver.order().len() {
            if at % BLOCK == 0 {
                stop.check()?;
            }
            let number = solver.order()[at] as usize;
            let (w, factor) = solver.point();
            rival.set_edges(problem, w, factor);
            total += problem.c[number] * rival.find::<FMA>(problem, data, w, number);
            solver.learn(problem, data, number, &rival.states, &mut entries);
        }
        Ok(total)
    }
}

struct Losses<'a, T> {
    problem: &'a Margin,
    data: &'a Encoded<T>,
    w: &'a [T],
    sequences: Range<usize>,
}

impl<T: Real> Task for Losses<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, f64) {
        let mut rival = Rival::new(self.problem);
        rival.set_edges(self.problem, self.w, 1.0);
        let (mut total, mut size) = (0.0, 0.0);
        for number in self.sequences {
            let c = self.problem.c[number];
            if c > 0.0 {
                total += c * rival.find::<FMA>(self.problem, self.data, self.w, number);
                size += c * rival.size(self.data.width());
            }
        }
        (total, size)
    }
}

/// Runs of tokens at which two paths differ.
pub(super) fn runs(a: &[u32], b: &[u32], mut body: impl FnMut(Range<usize>)) {
    let mut t = 0;
    while t < a.len() {
        let first = t;
        while t < a.len() && a[t] != b[t] {
            t += 1;
        }
        if t > first {
            body(first..t);
        } else {
            t += 1;
        }
    }
}

/// Sort by number, and keep one entry of each with the sum of their values.
pub(super) fn add_up_equal<N: Ord + Copy>(entries: &mut Vec<(N, f64)>) {
    entries.sort_unstable_by_key(|entry| entry.0);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// A difference of features: a value per weight.
#[derive(Debug, Default)]
pub struct Entries {
    found: Vec<(u32, f64)>,
}

impl Entries {
    /// Begin again.
    pub fn clear(&mut self) {
        self.found.clear();
    }

    /// Add to a weight.
    #[inline(always)]
    pub fn add(&mut self, at: usize, value: f64) {
        self.found.push((at as u32, value));
    }

    /// Sort by weight, one entry each, without those that are zero or whose weight does not exist.
    pub fn settle(&mut self, shares: &[f32]) -> &[(u32, f64)] {
        add_up_equal(&mut self.found);
        self.found.retain(|&(at, value)| value != 0.0 && shares[at as usize] > 0.0);
        &self.found
    }
}
