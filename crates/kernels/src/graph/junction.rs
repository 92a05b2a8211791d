//! Exact inference on graphs of small treewidth, by elimination of one node after the other.
//!
//! Nodes leave in min-fill order: next is the node whose neighbors lack the fewest edges among them. A node v leaves with
//! the clique of its neighbors S(v) then left, and a table over (S(v), v) that holds the scores of v, of its edges
//! into S(v), and what the cliques hanging below it sent; it sends up(S(v)) = log sum_v exp(table), or the maximum.
//! Back down, p(v | S(v)) = exp(table - up), exponents never above zero. Lauritzen & Spiegelhalter (1988); Koller &
//! Friedman (2009), chapters 9 and 10. Returned as by [`crate::graph::forest`].

use std::collections::BTreeSet;

use crate::chain::log_domain::log_sum_exp;
use crate::error::KernelError;
use crate::graph::draw::{gather_draws, pick};
use crate::graph::forest::Sums;
use crate::graph::scores::{Scores, first_best};
use crate::graph::wiring::Wiring;
use crate::interrupt::Interrupt;
use crate::random::Random;

/// A node that leaves, with the neighbors that it then has.
#[derive(Debug, Clone)]
struct Clique {
    node: usize,
    /// The rest of the clique, those first that leave first.
    rest: Vec<usize>,
    /// Number of the clique that this one sends to.
    parent: Option<usize>,
}

/// The cliques of a graph, in the order in which nodes leave.
#[derive(Debug, Clone)]
pub struct Elimination {
    cliques: Vec<Clique>,
}

impl Elimination {
    /// Find an order for a graph; fails where its tables for `k` labels would have more than `most` cells in all.
    pub fn new(wiring: &Wiring, graph: usize, k: usize, most: usize) -> Result<Self, KernelError> {
        let nodes = wiring.nodes(graph);
        let first = nodes.start;
        let mut near: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); nodes.len()];
        for e in wiring.edges(graph) {
            let (a, b) = (wiring.from(e) - first, wiring.to(e) - first);
            near[a].insert(b);
            near[b].insert(a);
        }
        let lacking = |near: &[BTreeSet<usize>], v: usize| -> usize {
            let around: Vec<usize> = near[v].iter().copied().collect();
            let missing =
                |(i, &a): (usize, &usize)| around[..i].iter().filter(|b| !near[a].contains(b)).count();
            around.iter().enumerate().map(missing).sum()
        };
        let mut queue: BTreeSet<(usize, usize, usize)> =
            (0..nodes.len()).map(|v| (lacking(&near, v), near[v].len(), v)).collect();
        let mut key: Vec<(usize, usize, usize)> = vec![(0, 0, 0); nodes.len()];
        for &entry in &queue {
            key[entry.2] = entry;
        }
        let mut left = most;
        let mut cliques = Vec::with_capacity(nodes.len());
        let mut place = vec![usize::MAX; nodes.len()];
        while let Some((_, _, v)) = queue.pop_first() {
            let rest: Vec<usize> = std::mem::take(&mut near[v]).into_iter().collect();
            left = take_cells(graph, rest.len() + 1, k, left, most)?;
            // Whoever gains or loses an edge, or sees two neighbors joined, has a new count.
            let mut changed: BTreeSet<usize> = rest.iter().copied().collect();
            for (i, &a) in rest.iter().enumerate() {
                near[a].remove(&v);
                for &b in &rest[..i] {
                    if near[a].insert(b) {
                        near[b].insert(a);
                        changed.extend(near[a].intersection(&near[b]));
                    }
                }
            }
            for u in changed {
                queue.remove(&key[u]);
                key[u] = (lacking(&near, u), near[u].len(), u);
                queue.insert(key[u]);
            }
            place[v] = cliques.len();
            cliques.push(Clique { node: v, rest, parent: None });
        }
        for clique in &mut cliques {
            clique.rest.sort_by_key(|&u| place[u]);
            clique.parent = clique.rest.first().map(|&u| place[u]);
        }
        Ok(Self { cliques })
    }

    /// Fail where the tables of graph number `graph` for `k` labels have more than `most` cells in all.
    pub fn check(&self, graph: usize, k: usize, most: usize) -> Result<(), KernelError> {
        let take = |left, clique: &Clique| take_cells(graph, clique.rest.len() + 1, k, left, most);
        self.cliques.iter().try_fold(most, take).map(|_| ())
    }

    /// Size of the largest clique less one: an upper bound on the treewidth, and the treewidth of a forest.
    pub fn width(&self) -> usize {
        self.cliques.iter().map(|c| c.rest.len()).max().unwrap_or(0)
    }
}

/// What is left of `left` cells after the table of a clique.
fn take_cells(graph: usize, size: usize, k: usize, left: usize, most: usize) -> Result<usize, KernelError> {
    let cells = (0..size).try_fold(1usize, |cells, _| cells.checked_mul(k));
    cells.and_then(|cells| left.checked_sub(cells)).ok_or_else(|| {
        KernelError::Argument(format!(
            "graph {graph} is too dense for a junction tree: its tables, one with {k}^{size} cells, would have more than \
             {most} in all; raise the limit, or use loopy belief propagation"
        ))
    })
}

/// Step in a table over some nodes for each node of a clique (zero where it is not among them).
fn strides(clique: &[usize], scope: &[usize], k: usize) -> Vec<usize> {
    let step = |node: &usize| {
        scope.iter().position(|s| s == node).map_or(0, |at| k.pow((scope.len() - 1 - at) as u32))
    };
    clique.iter().map(step).collect()
}

/// Call `take(cell, other)` for every cell of a table over `steps.len()` nodes, last node fastest; `other` is the place that
/// `steps` leads to.
fn walk(steps: &[usize], k: usize, mut take: impl FnMut(usize, usize)) {
    let mut labels = vec![0usize; steps.len()];
    let mut other = 0;
    for cell in 0..k.pow(steps.len() as u32) {
        take(cell, other);
        for at in (0..steps.len()).rev() {
            labels[at] += 1;
            other += steps[at];
            if labels[at] < k {
                break;
            }
            other -= k * steps[at];
            labels[at] = 0;
        }
    }
}

/// Tables and messages of a graph after the way up.
struct Tables {
    tables: Vec<Vec<f64>>,
    up: Vec<Vec<f64>>,
    value: f64,
}

/// Graphs of small treewidth with their scores.
#[derive(Debug, Clone, Copy)]
pub struct Junction<'a> {
    scores: Scores<'a>,
    eliminations: &'a [Elimination],
}

impl<'a> Junction<'a> {
    /// Take the scores and the elimination of every graph of the same wiring.
    pub fn new(scores: Scores<'a>, eliminations: &'a [Elimination]) -> Self {
        Self { scores, eliminations }
    }

    fn upward(&self, graph: usize, maximum: bool, stop: &Interrupt) -> Result<Tables, KernelError> {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        let first = wiring.nodes(graph).start;
        let cliques = &self.eliminations[graph].cliques;
        let mut place = vec![0; cliques.len()];
        for (number, clique) in cliques.iter().enumerate() {
            place[clique.node] = number;
        }
        let mut inbox: Vec<Vec<usize>> = vec![Vec::new(); cliques.len()];
        let mut found = Tables { tables: Vec::new(), up: Vec::new(), value: 0.0 };
        for (number, clique) in cliques.iter().enumerate() {
            stop.check()?;
            let node = first + clique.node;
            let scope: Vec<usize> = clique.rest.iter().copied().chain([clique.node]).collect();
            let mut table = vec![0.0; k.pow(scope.len() as u32)];
            let unary = self.scores.unary(node);
            walk(&strides(&scope, &[clique.node], k), k, |cell, label| table[cell] += unary[label]);
            for &message in wiring.out(node) {
                let other = wiring.target(message as usize) - first;
                if place[other] > number {
                    let pair = self.scores.pair(message as usize / 2);
                    walk(&strides(&scope, &[clique.node, other], k), k, |cell, labels| {
                        table[cell] += pair.sent(message as usize, labels / k, labels % k);
                    });
                }
            }
            for &child in &inbox[number] {
                let up = &found.up[child];
                walk(&strides(&scope, &cliques[child].rest, k), k, |cell, other| table[cell] += up[other]);
            }
            let combine = |row: &[f64]| {
                if maximum { first_best(row.iter().copied()).1 } else { log_sum_exp(row) }
            };
            let up: Vec<f64> = table.chunks_exact(k).map(combine).collect();
            match clique.parent {
                Some(parent) => inbox[parent].push(number),
                None => found.value += up[0],
            }
            found.tables.push(table);
            found.up.push(up);
        }
        if found.value == f64::NEG_INFINITY {
            return Err(KernelError::Argument(format!(
                "every labelling of graph {graph} is forbidden; relax the constraints"
            )));
        }
        Ok(found)
    }

    /// log Z of every graph.
    pub fn log_partition(&self, n_threads: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        self.scores.each(4, n_threads, stop, |graph| Ok(self.upward(graph, false, stop)?.value))
    }

    /// log Z of every graph, the marginals of the nodes and, if asked for, of the edges.
    pub fn marginals(
        &self,
        with_edges: bool,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Sums, KernelError> {
        let all = self.scores.each(8, n_threads, stop, |graph| self.marginals_of(graph, with_edges, stop))?;
        let mut result = (Vec::with_capacity(all.len()), Vec::new(), Vec::new());
        for (log_z, nodes, edges) in all {
            result.0.push(log_z);
            result.1.extend(nodes);
            result.2.extend(edges);
        }
        Ok(result)
    }

    fn marginals_of(
        &self,
        graph: usize,
        with_edges: bool,
        stop: &Interrupt,
    ) -> Result<(f64, Vec<f64>, Vec<f64>), KernelError> {
        let (wiring, k) = (self.scores.wiring, self.scores.k);
        let mut found = self.upward(graph, false, stop)?;
        let (nodes, edges) = (wiring.nodes(graph), wiring.edges(graph));
        let cliques = &self.eliminations[graph].cliques;
        let mut p = vec![0.0; nodes.len() * k];
        let mut q = vec![0.0; if with_edges { edges.len() * k * k } else { 0 }];
        for (number, clique) in cliques.iter().enumerate().rev() {
            stop.check()?;
            let scope: Vec<usize> = clique.rest.iter().copied().chain([clique.node]).collect();
            // p(rest), from the clique above, whose table holds probabilities by now.
            let mut rest = vec![if clique.parent.is_none() { 1.0 } else { 0.0 }; found.up[number].len()];
            if let Some(parent) = clique.parent {
                let above: Vec<usize> =
                    cliques[parent].rest.iter().copied().chain([cliques[parent].node]).collect();
                let table = &found.tables[parent];
                walk(&strides(&above, &clique.rest, k), k, |cell, other| rest[other] += table[cell]);
            }
            let table = &mut found.tables[number];
            for ((row, &weight), &up) in table.chunks_exact_mut(k).zip(&rest).zip(&found.up[number]) {
                for (label, cell) in row.iter_mut().enumerate() {
                    *cell = if weight == 0.0 || up == f64::NEG_INFINITY {
                        0.0
                    } else {
                        weight * (*cell - up).exp()
                    };
                    p[clique.node * k + label] += *cell;
                }
            }
            for &message in wiring.out(nodes.start + clique.node) {
                let other = wiring.target(message as usize) - nodes.start;
                let edge = message as usize / 2 - edges.start;
                // Only the first of its two nodes to leave has the edge in its clique.
                if with_edges && clique.rest.contains(&other) {
                    let ends =
                        if message.is_multiple_of(2) { [clique.node, other] } else { [other, clique.node] };
                    let q = &mut q[edge * k * k..(edge + 1) * k * k];
                    walk(&strides(&scope, &ends, k), k, |cell, both| q[both] += table[cell]);
                }
            }
        }
        Ok((found.value, p, q))
    }

    /// The best labelling of every graph, and its score.
    pub fn best(&self, n_threads: usize, stop: &Interrupt) -> Result<(Vec<u32>, Vec<f64>), KernelError> {
        let all = self.scores.each(4, n_threads, stop, |graph| {
            let found = self.upward(graph, true, stop)?;
            Ok((self.downward(graph, &found, |row| first_best(row.iter().copied()).0), found.value))
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
        let all = self.scores.each(4, n_threads, stop, |graph| {
            let found = self.upward(graph, false, stop)?;
            let mut random = Random::of_part(seed, graph);
            let mut draw = || self.downward(graph, &found, |row| pick(&mut random, row));
            Ok((0..n).flat_map(|_| draw()).collect())
        })?;
        Ok(gather_draws(self.scores.wiring, n, &all))
    }

    fn downward(&self, graph: usize, found: &Tables, mut pick: impl FnMut(&[f64]) -> usize) -> Vec<u32> {
        let k = self.scores.k;
        let cliques = &self.eliminations[graph].cliques;
        let mut labels = vec![0u32; cliques.len()];
        for (clique, table) in cliques.iter().zip(&found.tables).rev() {
            let row = clique.rest.iter().fold(0, |row, &u| row * k + labels[u] as usize);
            labels[clique.node] = pick(&table[row * k..(row + 1) * k]) as u32;
        }
        labels
    }
}
