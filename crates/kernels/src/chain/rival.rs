//! The labelling that most violates the margin of a sequence: argmax over y' of Delta(y') + <w, Psi(x, y')>.
//!
//! First-order chains without attributes of edges go by [`best_path`] in the precision of the data, all others by
//! [`Best`]. H is summed up in double precision over the tokens and edges where the two labellings differ, so that it is
//! exactly zero where they are the same.

use crate::chain::best::Best;
use crate::chain::encoded::Encoded;
use crate::chain::graph::{Edges, Sequence};
use crate::chain::margin::Margin;
use crate::chain::viterbi::{Steps, best_path};
use crate::real::Real;

/// Work space, and what was found.
#[derive(Debug)]
pub(super) struct Rival<T> {
    factor: f64,
    edges: Vec<f64>,
    start: Vec<f64>,
    end: Vec<f64>,
    steps: Option<Steps<T>>,
    /// Scores of the labels with their costs, length x width.
    nodes: Vec<T>,
    spent: Vec<T>,
    plain: Vec<f64>,
    edges_per_token: Vec<f64>,
    best: Best,
    labels: Vec<u32>,
    /// States of the labelling found.
    pub states: Vec<u32>,
}

impl<T: Real> Rival<T> {
    pub fn new(problem: &Margin) -> Self {
        let graph = problem.links.graph();
        let k = graph.n_labels();
        let steps = graph.is_first_order().then(|| Steps::new(&vec![0.0; k * k], k));
        Self {
            factor: 1.0,
            edges: Vec::new(),
            start: Vec::new(),
            end: Vec::new(),
            steps,
            nodes: Vec::new(),
            spent: Vec::new(),
            plain: Vec::new(),
            edges_per_token: Vec::new(),
            best: Best::default(),
            labels: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Take the scores of edges, starts and ends from the weights, which count `factor` times from now on.
    #[inline(always)]
    pub fn set_edges(&mut self, problem: &Margin, w: &[T], factor: f64) {
        self.factor = factor;
        let free = &w[problem.n_state()..];
        problem.links.scores(free, factor, &mut self.edges, &mut self.start, &mut self.end);
        if let Some(steps) = &mut self.steps {
            let k = self.start.len();
            for (to, row) in self.edges.chunks_exact(k).enumerate() {
                for (from, &edge) in row.iter().enumerate() {
                    steps.set(from, to, T::from_f64(edge));
                }
            }
        }
    }

    /// H of a sequence; its states are in `states`. [`Rival::set_edges`] must have been called since w changed.
    #[inline(always)]
    pub fn find<const FMA: bool>(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        w: &[T],
        number: usize,
    ) -> f64 {
        let tokens = data.offsets()[number]..data.offsets()[number + 1];
        let (k, width, length) = (data.n_labels(), data.width(), tokens.len());
        self.states.clear();
        if length == 0 {
            return 0.0;
        }
        self.nodes.resize(length * width, T::ZERO);
        let (scale, factor) = (problem.scale[number], T::from_f64(self.factor));
        let state = &w[..problem.n_state()];
        for (t, row) in tokens.clone().zip(self.nodes.chunks_exact_mut(width)) {
            data.scores::<FMA>(t, state, row);
            let cost = &problem.cost[problem.labels[t] as usize * k..][..k];
            for (score, &cost) in row.iter_mut().zip(cost) {
                *score = *score * factor + T::from_f64(scale * cost);
            }
        }
        self.labels.resize(length, 0);
        match (&self.steps, data.edge_pairs()) {
            (Some(steps), None) => {
                self.spent.clear();
                self.spent.extend_from_slice(&self.nodes);
                for s in 0..k {
                    self.spent[s] += T::from_f64(self.start[s]);
                    self.spent[(length - 1) * width + s] += T::from_f64(self.end[s]);
                }
                best_path(steps, &mut self.spent, None, &mut self.labels);
                self.states.extend_from_slice(&self.labels);
            }
            _ => self.find_any(problem, data, w, tokens.start),
        }
        self.excess(problem, tokens.start, width)
    }

    /// Sum over the tokens of the largest scores, of labels and of edges, of the sequence seen last: what the rounding of
    /// its H is a multiple of.
    pub fn size(&self, width: usize) -> f64 {
        let largest = |row: &[T]| row.iter().fold(0.0, |most: f64, score| most.max(score.abs().to_f64()));
        let nodes: f64 = self.nodes.chunks_exact(width).map(largest).sum();
        let edges = if self.edges_per_token.is_empty() { &self.edges } else { &self.edges_per_token };
        let others = edges.iter().chain(&self.start).chain(&self.end);
        let edge =
            others.filter(|score| score.is_finite()).fold(0.0, |most: f64, score| most.max(score.abs()));
        nodes + self.labels.len() as f64 * edge
    }

    /// The best labelling of any chain, from `nodes`.
    fn find_any(&mut self, problem: &Margin, data: &Encoded<T>, w: &[T], first: usize) {
        let (k, width, length) = (data.n_labels(), data.width(), self.labels.len());
        self.plain.clear();
        for row in self.nodes.chunks_exact(width) {
            self.plain.extend(row[..k].iter().map(|score| score.to_f64()));
        }
        let edges = match data.edge_pairs() {
            None => Edges::Shared(&self.edges),
            Some(pairs) => {
                let e = self.edges.len();
                let weights = &w[problem.n_state() + problem.links.first_of_attributes(data)..];
                self.edges_per_token.clear();
                for t in 0..length {
                    self.edges_per_token.extend_from_slice(&self.edges);
                    let row = &mut self.edges_per_token[t * e..];
                    pairs.each(first + t, |pair, value| {
                        let score = weights[pair.weight as usize].to_f64() * value.to_f64();
                        row[pair.label as usize] += self.factor * score;
                    });
                }
                Edges::PerToken(&self.edges_per_token)
            }
        };
        let graph = problem.links.graph();
        let sequence = Sequence { graph, nodes: &self.plain, edges, start: &self.start, end: &self.end };
        self.best.path(&sequence, &mut self.labels);
        problem.links.states_of(&self.labels, &mut self.states);
    }

    /// Score of what was found, with its cost, less that of the labels.
    #[inline(always)]
    fn excess(&self, problem: &Margin, first: usize, width: usize) -> f64 {
        let (links, n) = (&problem.links, self.states.len());
        let own = &problem.states[first..first + n];
        let per_token = !self.edges_per_token.is_empty();
        let edge = |t: usize, states: &[u32]| {
            let e = links.edge(states[t - 1], states[t]);
            if per_token { self.edges_per_token[t * self.edges.len() + e] } else { self.edges[e] }
        };
        let mut sum = 0.0;
        for t in 0..n {
            let differs = self.states[t] != own[t];
            if differs {
                let row = &self.nodes[t * width..];
                let label = problem.labels[first + t] as usize;
                sum += row[links.graph().label(self.states[t] as usize)].to_f64() - row[label].to_f64();
            }
            if t > 0 && (differs || self.states[t - 1] != own[t - 1]) {
                sum += edge(t, &self.states) - edge(t, own);
            }
        }
        if self.states[0] != own[0] {
            sum += self.start[self.states[0] as usize] - self.start[own[0] as usize];
        }
        if self.states[n - 1] != own[n - 1] {
            sum += self.end[self.states[n - 1] as usize] - self.end[own[n - 1] as usize];
        }
        sum.max(0.0)
    }
}
