//! An upper bound on the best score by dual decomposition, and a labelling to hold against it.
//!
//! Messages m_ji into node i move scores between edges and nodes: n_i = unary_i + sum_j m_ji and p_e(a, b) =
//! pair_e(a, b) - m_ji(a) - m_ij(b) add up to the graph's scores whatever the messages. The edges are cut into chains along
//! which node numbers rise; with c_i chains through node i, each takes the share n_i / c_i, and the best scores of the chains
//! add up to a bound on the best score of the graph, which therefore holds at all times. Messages are those of
//! TRW-S, Kolmogorov (2006): nodes in rising order, then in falling order, m_ij(b) = max_a n_i(a) / c_i - m_ji(a) + pair(a, b),
//! under which the bound of the chains never rises. On forests the first bound, by [`crate::graph::trees`], is exact.

use crate::error::KernelError;
use crate::graph::beliefs::climb;
use crate::graph::message::{Messenger, Space};
use crate::graph::schedule::{Ending, Exchange, Options};
use crate::graph::scores::{Scores, first_best};
use crate::graph::trees::Cover;
use crate::interrupt::Interrupt;

/// Sweeps between two bounds.
const BETWEEN: usize = 5;
/// No edge.
const NONE: u32 = u32::MAX;

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
    let messenger = Messenger::new(scores, true);
    let all = scores.each(options.max_iter.max(1), n_threads, stop, |graph| {
        let mut state = State::new(&messenger, graph);
        let mut best = first(&scores, graph, seed, stop)?;
        let mut ending = Ending { iterations: 0, residual: f64::INFINITY, converged: false };
        loop {
            let small = options.tol * best.bound.abs().max(1.0);
            ending.residual = ending.residual.min(best.bound - best.score).max(0.0);
            ending.converged = ending.residual <= small;
            if ending.converged || ending.iterations >= options.max_iter {
                break;
            }
            let before = state.bound();
            let sweeps = BETWEEN.min(options.max_iter - ending.iterations);
            for _ in 0..sweeps {
                stop.check()?;
                state.sweep();
            }
            ending.iterations += sweeps;
            let bound = state.bound();
            ending.residual = before - bound;
            best.bound = best.bound.min(bound);
            let (labels, score) = state.exchange.decode(&state.order, &state.messages);
            if score > best.score {
                (best.score, best.labels) = (score, labels);
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

/// The bound by spanning forests of the scores as they are, and the best of their labellings.
fn first(scores: &Scores<'_>, graph: usize, seed: u64, stop: &Interrupt) -> Result<Best, KernelError> {
    let (wiring, k) = (scores.wiring, scores.k);
    let (nodes, edges) = (wiring.nodes(graph), wiring.edges(graph));
    let cover = Cover::new(wiring, graph, seed)?;
    let unary: Vec<f64> = nodes.flat_map(|i| scores.unary(i)).copied().collect();
    let pair = |edge: usize, cells: &mut [f64]| {
        let (pair, share) = (scores.pair(edge), cover.shares[edge - edges.start]);
        for (cell, value) in cells.iter_mut().enumerate() {
            *value = pair.at(cell / k, cell % k) / share;
        }
    };
    let (bound, labellings) = cover.bound(k, &unary, true, pair, stop)?;
    let mut best = Best { labels: Vec::new(), score: f64::NEG_INFINITY, bound };
    for mut labels in labellings {
        climb(scores, graph, &mut labels);
        let score = scores.score(graph, &labels);
        if score > best.score || best.labels.is_empty() {
            (best.score, best.labels) = (score, labels);
        }
    }
    Ok(best)
}

/// Messages of one graph, and its chains.
struct State<'a> {
    exchange: Exchange<'a>,
    order: Vec<u32>,
    messages: Vec<f64>,
    /// By node of the graph: one over the number of chains through it.
    share: Vec<f64>,
    /// The messages up the first edges of chains.
    starts: Vec<u32>,
    /// By edge of the graph: the message up the edge that follows in the chain.
    next: Vec<u32>,
}

impl<'a> State<'a> {
    fn new(messenger: &'a Messenger<'a>, graph: usize) -> Self {
        let (wiring, k) = (messenger.scores().wiring, messenger.scores().k);
        let (nodes, edges) = (wiring.nodes(graph), wiring.edges(graph));
        let mut share = vec![1.0; nodes.len()];
        let mut starts = Vec::new();
        let mut next = vec![NONE; edges.len()];
        for node in nodes.clone() {
            let (up, down): (Vec<u32>, Vec<u32>) =
                wiring.out(node).iter().partition(|&&m| wiring.target(m as usize) > node);
            share[node - nodes.start] = 1.0 / up.len().max(down.len()).max(1) as f64;
            for (place, &message) in up.iter().enumerate() {
                match down.get(place) {
                    Some(&before) => next[before as usize / 2 - edges.start] = message,
                    None => starts.push(message),
                }
            }
        }
        Self {
            exchange: Exchange { messenger, graph, weights: None },
            order: nodes.map(|i| i as u32).collect(),
            messages: vec![0.0; 2 * edges.len() * k],
            share,
            starts,
            next,
        }
    }

    /// Send up from the nodes in rising order, then down in falling order.
    fn sweep(&mut self) {
        let scores = self.exchange.messenger.scores();
        let first = scores.wiring.nodes(self.exchange.graph).start;
        let mut space = Space::new(scores.k);
        let mut total = vec![0.0; scores.k];
        let n = self.order.len();
        for step in 0..2 * n {
            let (rising, node) = (step < n, first + if step < n { step } else { 2 * n - 1 - step });
            self.exchange.total(node, &self.messages, &mut total);
            let share = self.share[node - first];
            for &out in scores.wiring.out(node) {
                let out = out as usize;
                if (scores.wiring.target(out) > node) != rising {
                    continue;
                }
                let back = &self.messages[self.exchange.place(out ^ 1)];
                for ((cavity, total), back) in space.cavity.iter_mut().zip(&total).zip(back) {
                    *cavity = share * total - back;
                }
                self.exchange.messenger.send(out, &mut space);
                self.messages[self.exchange.place(out)].copy_from_slice(&space.out);
            }
        }
    }

    /// The sum of the best scores of the chains.
    fn bound(&self) -> f64 {
        let scores = self.exchange.messenger.scores();
        let (wiring, k) = (scores.wiring, scores.k);
        let (nodes, edges) = (wiring.nodes(self.exchange.graph), wiring.edges(self.exchange.graph));
        let totals = self.exchange.totals(&self.messages);
        let shared = |node: usize, label: usize| {
            let at = node - nodes.start;
            self.share[at] * totals[at * k + label]
        };
        let best = |values: &[f64]| first_best(values.iter().copied()).1;
        let alone = nodes.clone().filter(|&i| wiring.out(i).is_empty());
        let mut sum: f64 = alone.map(|i| best(scores.unary(i))).sum();
        let (mut here, mut there) = (vec![0.0; k], vec![0.0; k]);
        for &start in &self.starts {
            let mut message = start as usize;
            let node = wiring.target(message ^ 1);
            here.iter_mut().enumerate().for_each(|(a, v)| *v = shared(node, a));
            loop {
                let (node, pair) = (wiring.target(message), scores.pair(message / 2));
                let sent = &self.messages[self.exchange.place(message)];
                let back = &self.messages[self.exchange.place(message ^ 1)];
                for (b, value) in there.iter_mut().enumerate() {
                    let terms = here.iter().zip(back).enumerate();
                    let most = first_best(terms.map(|(a, (h, m))| h - m + pair.sent(message, a, b))).1;
                    *value = most - sent[b] + shared(node, b);
                }
                std::mem::swap(&mut here, &mut there);
                match self.next[message / 2 - edges.start] {
                    NONE => break,
                    next => message = next as usize,
                }
            }
            sum += best(&here);
        }
        sum
    }
}
