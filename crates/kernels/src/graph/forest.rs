//! Exact inference on forests: log Z, marginals, the best labelling and draws, in the logarithmic domain.
//!
//! Every component is rooted at its lowest node. Upward, below\[i, b\] = unary\[i, b\] + sum over the children c of
//! up\[c, b\], and up\[i, a\] = log sum_b exp(pair(a, b) + below\[i, b\]) for the label a of the parent (max instead of
//! log sum for the best labelling). Downward, p(b | a) = exp(pair(a, b) + below\[i, b\] - up\[i, a\]), whose exponents are
//! never above zero: scores of any finite size are safe, and minus infinity forbids. Pearl (1988), chapter 4.

use crate::chain::log_domain::log_sum_exp;
use crate::error::KernelError;
use crate::graph::draw::{gather_draws, pick};
use crate::graph::scores::{Scores, first_best};
use crate::graph::wiring::Wiring;
use crate::interrupt::Interrupt;
use crate::random::Random;

/// No parent.
const ROOT: u32 = u32::MAX;

/// Nodes of a batch of forests, parents before children.
#[derive(Debug, Clone)]
pub struct Order {
    order: Vec<u32>,
    /// The message from the parent to the node, by node; [`ROOT`] for none.
    from_parent: Vec<u32>,
}

/// log Z of every graph, marginals of the nodes (n_nodes x k) and of the edges (n_edges x k x k).
pub type Sums = (Vec<f64>, Vec<f64>, Vec<f64>);

impl Order {
    /// Order the nodes; fails at the first edge that closes a cycle.
    pub fn new(wiring: &Wiring) -> Result<Self, KernelError> {
        let mut order = Vec::with_capacity(wiring.n_nodes());
        let mut from_parent = vec![ROOT; wiring.n_nodes()];
        for graph in 0..wiring.n_graphs() {
            check_acyclic(wiring, graph)?;
            let nodes = wiring.breadth_first(graph);
            let mut seen = vec![false; nodes.len()];
            let first = wiring.nodes(graph).start;
            for &node in &nodes {
                seen[node as usize - first] = true;
                for &message in wiring.out(node as usize) {
                    let other = wiring.target(message as usize);
                    if !seen[other - first] {
                        from_parent[other] = message;
                    }
                }
            }
            order.extend(nodes);
        }
        Ok(Self { order, from_parent })
    }

    /// The message from the parent of a node.
    #[inline(always)]
    fn parent(&self, node: usize) -> Option<usize> {
        let message = self.from_parent[node];
        (message != ROOT).then_some(message as usize)
    }
}

/// Fail at the first edge of a graph that closes a cycle (disjoint sets, Tarjan 1975).
fn check_acyclic(wiring: &Wiring, graph: usize) -> Result<(), KernelError> {
    let nodes = wiring.nodes(graph);
    let mut sets = Sets::new(nodes.len());
    for e in wiring.edges(graph) {
        if !sets.join(wiring.from(e) - nodes.start, wiring.to(e) - nodes.start) {
            return Err(KernelError::Argument(format!(
                "graph {graph} has a cycle: edge {e} joins the nodes {} and {}, which other edges join already; \
                 use a junction tree or loopy belief propagation",
                wiring.from(e),
                wiring.to(e)
            )));
        }
    }
    Ok(())
}

/// Disjoint sets of numbers.
#[derive(Debug)]
pub(super) struct Sets(Vec<u32>);

impl Sets {
    /// Every number by itself.
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    fn find(&mut self, mut x: usize) -> usize {
        while self.0[x] as usize != x {
            self.0[x] = self.0[self.0[x] as usize];
            x = self.0[x] as usize;
        }
        x
    }

    /// Join the sets of two numbers; false where they are one already.
    pub fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b) as u32;
        a != b
    }
}

/// The upward pass of one graph.
#[derive(Debug)]
struct Upward {
    /// By node: score of its label and of what hangs below.
    below: Vec<f64>,
    /// By node: the same for the label of the parent.
    up: Vec<f64>,
    /// Sum over the roots.
    value: f64,
}

/// A forest with its scores.
#[derive(Debug, Clone, Copy)]
pub struct Forest<'a> {
    scores: Scores<'a>,
    order: &'a Order,
}

impl<'a> Forest<'a> {
    /// Take the scores and an order of the same wiring.
    pub fn new(scores: Scores<'a>, order: &'a Order) -> Self {
        Self { scores, order }
    }

    fn nodes(&self, graph: usize) -> &'a [u32] {
        &self.order.order[self.scores.wiring.nodes(graph)]
    }

    /// Upward sums, or maxima.
    fn upward(&self, graph: usize, maximum: bool) -> Result<Upward, KernelError> {
        let (scores, k) = (&self.scores, self.scores.k);
        let range = scores.wiring.nodes(graph);
        let mut below: Vec<f64> = range.clone().flat_map(|i| scores.unary(i)).copied().collect();
        let mut up = vec![0.0; below.len()];
        let mut terms = vec![0.0; k];
        let mut value = 0.0;
        let combine = |terms: &[f64]| {
            if maximum { first_best(terms.iter().copied()).1 } else { log_sum_exp(terms) }
        };
        for &node in self.nodes(graph).iter().rev() {
            let at = (node as usize - range.start) * k;
            let Some(message) = self.order.parent(node as usize) else {
                value += combine(&below[at..at + k]);
                continue;
            };
            let parent = (scores.wiring.target(message ^ 1) - range.start) * k;
            let pair = scores.pair(message / 2);
            for a in 0..k {
                for (b, term) in terms.iter_mut().enumerate() {
                    *term = pair.sent(message, a, b) + below[at + b];
                }
                up[at + a] = combine(&terms);
            }
            for a in 0..k {
                below[parent + a] += up[at + a];
            }
        }
        if value == f64::NEG_INFINITY {
            return Err(KernelError::Argument(format!(
                "every labelling of graph {graph} is forbidden; relax the constraints"
            )));
        }
        Ok(Upward { below, up, value })
    }

    /// log Z of every graph.
    pub fn log_partition(&self, n_threads: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        self.scores.each(1, n_threads, stop, |graph| Ok(self.upward(graph, false)?.value))
    }

    /// log Z of every graph, the marginals of the nodes and, if asked for, of the edges.
    pub fn marginals(
        &self,
        with_edges: bool,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Sums, KernelError> {
        let all = self.scores.each(2, n_threads, stop, |graph| self.marginals_of(graph, with_edges))?;
        let mut result = (Vec::with_capacity(all.len()), Vec::new(), Vec::new());
        for (log_z, nodes, edges) in all {
            result.0.push(log_z);
            result.1.extend(nodes);
            result.2.extend(edges);
        }
        Ok(result)
    }

    fn marginals_of(&self, graph: usize, with_edges: bool) -> Result<(f64, Vec<f64>, Vec<f64>), KernelError> {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        let sums = self.upward(graph, false)?;
        let (range, edges) = (wiring.nodes(graph), wiring.edges(graph));
        let mut p = vec![0.0; range.len() * k];
        let mut q = vec![0.0; if with_edges { edges.len() * k * k } else { 0 }];
        for &node in self.nodes(graph) {
            let at = (node as usize - range.start) * k;
            let Some(message) = self.order.parent(node as usize) else {
                let total = log_sum_exp(&sums.below[at..at + k]);
                for b in 0..k {
                    p[at + b] = (sums.below[at + b] - total).exp();
                }
                continue;
            };
            let (edge, parent) = (message / 2, (wiring.target(message ^ 1) - range.start) * k);
            let pair = self.scores.pair(edge);
            for a in 0..k {
                let (above, up) = (p[parent + a], sums.up[at + a]);
                if above == 0.0 || up == f64::NEG_INFINITY {
                    continue;
                }
                for b in 0..k {
                    let both = above * (pair.sent(message, a, b) + sums.below[at + b] - up).exp();
                    p[at + b] += both;
                    if with_edges {
                        let cell = if message.is_multiple_of(2) { a * k + b } else { b * k + a };
                        q[(edge - edges.start) * k * k + cell] = both;
                    }
                }
            }
        }
        Ok((sums.value, p, q))
    }

    /// The best labelling of every graph, and its score.
    pub fn best(&self, n_threads: usize, stop: &Interrupt) -> Result<(Vec<u32>, Vec<f64>), KernelError> {
        let all = self.scores.each(1, n_threads, stop, |graph| {
            let maxima = self.upward(graph, true)?;
            let labels = self.downward(graph, &maxima.below, |terms| first_best(terms.iter().copied()).0);
            Ok((labels, maxima.value))
        })?;
        Ok((all.iter().flat_map(|(labels, _)| labels).copied().collect(), all.iter().map(|x| x.1).collect()))
    }

    /// `n` draws of labels for all nodes, draw after draw.
    pub fn sample(
        &self,
        n: usize,
        seed: u64,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Vec<u32>, KernelError> {
        let all = self.scores.each(1 + n, n_threads, stop, |graph| {
            let sums = self.upward(graph, false)?;
            let mut random = Random::of_part(seed, graph);
            let mut draw = || self.downward(graph, &sums.below, |terms| pick(&mut random, terms));
            Ok((0..n).flat_map(|_| draw()).collect())
        })?;
        Ok(gather_draws(self.scores.wiring, n, &all))
    }

    /// Labels from the roots on; `pick` chooses by the scores of a node's labels given its parent's.
    fn downward(&self, graph: usize, below: &[f64], mut pick: impl FnMut(&[f64]) -> usize) -> Vec<u32> {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        let first = wiring.nodes(graph).start;
        let mut labels = vec![0u32; wiring.nodes(graph).len()];
        let mut terms = vec![0.0; k];
        for &node in self.nodes(graph) {
            let here = node as usize - first;
            terms.copy_from_slice(&below[here * k..(here + 1) * k]);
            if let Some(message) = self.order.parent(node as usize) {
                let a = labels[wiring.target(message ^ 1) - first] as usize;
                let pair = self.scores.pair(message / 2);
                for (b, term) in terms.iter_mut().enumerate() {
                    *term += pair.sent(message, a, b);
                }
            }
            labels[here] = pick(&terms) as u32;
        }
        labels
    }
}
