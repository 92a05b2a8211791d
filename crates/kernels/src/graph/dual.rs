//! An upper bound on the best score by dual decomposition, and a labelling to hold against it.
//!
//! Messages m_ji into node i move scores between edges and nodes: n_i = unary_i + sum_j m_ji and p_e(a, b) =
//! pair_e(a, b) - m_ji(a) - m_ij(b) add up to the graph's scores whatever the messages, so that sum_i max n_i + sum_e max
//! p_e is at least the best score. Each step minimizes this bound over both messages of an edge: MPLP, Globerson & Jaakkola
//! (2007). What is returned is the tighter mean over spanning forests of the same n and p ([`crate::graph::trees`]),
//! the lowest seen, exact on forests. The labelling is the best of those of the forests, improved node by node.

use crate::error::KernelError;
use crate::graph::beliefs::climb;
use crate::graph::schedule::{Ending, Options};
use crate::graph::scores::{Scores, first_best};
use crate::graph::trees::Cover;
use crate::interrupt::Interrupt;

/// Sweeps between two bounds.
const BETWEEN: usize = 10;

/// What was found for a batch.
#[derive(Debug, Default, PartialEq)]
pub struct Bounded {
    /// Labels of the nodes.
    pub labels: Vec<u32>,
    /// Score of the labelling of every graph.
    pub values: Vec<f64>,
    /// No labelling of the graph scores more.
    pub bounds: Vec<f64>,
    /// How every graph ended; the residual is the last fall of the bound, or what is left between it and the score where
    /// that is less.
    pub endings: Vec<Ending>,
}

/// Bound and labelling of every graph. A run has converged when the labelling is as good as the bound, or when the bound
/// no longer falls, to `tol` relative to the bound; `options.schedule` and `damping` are not read.
pub fn best_bound(
    scores: Scores<'_>,
    options: &Options,
    seed: u64,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Bounded, KernelError> {
    options.check()?;
    scores.check_finite()?;
    let all = scores.each(options.max_iter.max(1), n_threads, stop, |graph| {
        let cover = Cover::new(scores.wiring, graph, seed)?;
        let mut state = State::new(&scores, graph);
        let mut best = state.evaluate(&cover, stop)?;
        climb(&scores, graph, &mut best.labels);
        best.score = scores.score(graph, &best.labels);
        let mut ending = Ending { iterations: 0, residual: f64::INFINITY, converged: false };
        loop {
            let small = options.tol * best.bound.abs().max(1.0);
            ending.residual = ending.residual.min(best.bound - best.score).max(0.0);
            ending.converged = ending.residual <= small;
            if ending.converged || ending.iterations >= options.max_iter {
                break;
            }
            let sweeps = BETWEEN.min(options.max_iter - ending.iterations);
            for _ in 0..sweeps {
                stop.check()?;
                state.sweep();
            }
            ending.iterations += sweeps;
            let mut now = state.evaluate(&cover, stop)?;
            climb(&scores, graph, &mut now.labels);
            now.score = scores.score(graph, &now.labels);
            ending.residual = best.bound - now.bound;
            best.bound = best.bound.min(now.bound);
            if now.score > best.score {
                (best.score, best.labels) = (now.score, now.labels);
            }
        }
        Ok((best, ending))
    })?;
    let mut result = Bounded::default();
    for (best, ending) in all {
        result.labels.extend(best.labels);
        result.values.push(best.score);
        result.bounds.push(best.bound);
        result.endings.push(ending);
    }
    Ok(result)
}

struct Best {
    labels: Vec<u32>,
    score: f64,
    bound: f64,
}

/// Messages of one graph, and the node scores that they make.
struct State<'a> {
    scores: &'a Scores<'a>,
    graph: usize,
    messages: Vec<f64>,
    nodes: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(scores: &'a Scores<'a>, graph: usize) -> Self {
        let nodes = scores.wiring.nodes(graph).flat_map(|i| scores.unary(i)).copied().collect();
        let messages = vec![0.0; 2 * scores.wiring.edges(graph).len() * scores.k];
        Self { scores, graph, messages, nodes }
    }

    /// Step on every edge once.
    fn sweep(&mut self) {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        let (first, first_edge) = (wiring.nodes(self.graph).start, wiring.edges(self.graph).start);
        let mut here = vec![0.0; k];
        let mut there = vec![0.0; k];
        for edge in wiring.edges(self.graph) {
            let (i, j) = ((wiring.from(edge) - first) * k, (wiring.to(edge) - first) * k);
            let sent = 2 * (edge - first_edge) * k;
            let (sent, back) = (sent..sent + k, sent + k..sent + 2 * k);
            let pair = self.scores.pair(edge);
            // Scores of both nodes without the messages of this edge.
            for a in 0..k {
                here[a] = self.nodes[i + a] - self.messages[back.start + a];
                there[a] = self.nodes[j + a] - self.messages[sent.start + a];
            }
            for (a, &own) in here.iter().enumerate() {
                let most = first_best(there.iter().enumerate().map(|(b, t)| pair.at(a, b) + t)).1;
                self.messages[back.start + a] = 0.5 * (most - own);
            }
            for (b, &own) in there.iter().enumerate() {
                let most = first_best(here.iter().enumerate().map(|(a, h)| pair.at(a, b) + h)).1;
                self.messages[sent.start + b] = 0.5 * (most - own);
            }
            for a in 0..k {
                self.nodes[i + a] = here[a] + self.messages[back.start + a];
                self.nodes[j + a] = there[a] + self.messages[sent.start + a];
            }
        }
    }

    /// The bound by the forests, and the best of their labellings; its score is not filled in.
    fn evaluate(&mut self, cover: &Cover, stop: &Interrupt) -> Result<Best, KernelError> {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        self.refresh();
        let first_edge = wiring.edges(self.graph).start;
        let pair = |edge: usize, cells: &mut [f64]| {
            let at = 2 * (edge - first_edge) * k;
            let (sent, back) = self.messages[at..at + 2 * k].split_at(k);
            let (pair, share) = (self.scores.pair(edge), cover.shares[edge - first_edge]);
            for (cell, value) in cells.iter_mut().enumerate() {
                let (a, b) = (cell / k, cell % k);
                *value = (pair.at(a, b) - back[a] - sent[b]) / share;
            }
        };
        let (bound, labellings) = cover.bound(k, &self.nodes, true, pair, stop)?;
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for labels in labellings {
            let score = self.scores.score(self.graph, &labels);
            if score > best.0 {
                best = (score, labels);
            }
        }
        Ok(Best { labels: best.1, score: best.0, bound })
    }

    /// Add the node scores up again, free of the rounding of many steps.
    fn refresh(&mut self) {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        let (nodes, first_edge) = (wiring.nodes(self.graph), wiring.edges(self.graph).start);
        for node in nodes.clone() {
            let at = (node - nodes.start) * k;
            self.nodes[at..at + k].copy_from_slice(self.scores.unary(node));
            for &out in wiring.out(node) {
                let from = ((out as usize ^ 1) - 2 * first_edge) * k;
                for a in 0..k {
                    self.nodes[at + a] += self.messages[from + a];
                }
            }
        }
    }
}
