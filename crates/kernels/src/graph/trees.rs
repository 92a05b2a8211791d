//! Spanning forests that cover the edges of a graph, and bounds from them.
//!
//! With forests t = 1..M and rho_e the share of them that hold edge e, scores of a graph split into scores of the forests:
//! node scores n_i in each, and edge scores p_e / rho_e where it holds the edge. The mean over the forests of log Z, or of
//! the best score, is at least that of the graph, since both are convex: whatever n and p, as long as sum_i n_i + sum_e p_e
//! are the graph's scores. Wainwright, Jaakkola & Willsky (2005).

use crate::error::KernelError;
use crate::graph::forest::{Forest, Order, Sets};
use crate::graph::scores::Scores;
use crate::graph::wiring::Wiring;
use crate::interrupt::Interrupt;
use crate::random::Random;

/// A spanning forest.
#[derive(Debug)]
struct Tree {
    /// Its edges, as numbers of the batch.
    edges: Vec<usize>,
    wiring: Wiring,
    order: Order,
}

/// Spanning forests of one graph that hold every edge at least once.
#[derive(Debug)]
pub struct Cover {
    trees: Vec<Tree>,
    /// Share of the forests that hold an edge of the graph.
    pub shares: Vec<f64>,
}

impl Cover {
    /// Cover a graph: each forest takes the edges that the fewest before it hold (Kruskal 1956, ties at random by `seed`).
    pub fn new(wiring: &Wiring, graph: usize, seed: u64) -> Result<Self, KernelError> {
        let (nodes, edges) = (wiring.nodes(graph), wiring.edges(graph));
        let mut held = vec![0usize; edges.len()];
        let mut order: Vec<usize> = edges.clone().collect();
        Random::of_part(seed, graph).shuffle(&mut order);
        let mut trees = Vec::new();
        while trees.is_empty() || held.contains(&0) {
            order.sort_by_key(|&e| held[e - edges.start]);
            let mut sets = Sets::new(nodes.len());
            let inside = |e: usize| (wiring.from(e) - nodes.start, wiring.to(e) - nodes.start);
            let mut chosen: Vec<usize> = order
                .iter()
                .copied()
                .filter(|&e| {
                    let (a, b) = inside(e);
                    sets.join(a, b)
                })
                .collect();
            chosen.sort_unstable();
            for &e in &chosen {
                held[e - edges.start] += 1;
            }
            let from: Vec<i64> = chosen.iter().map(|&e| inside(e).0 as i64).collect();
            let to: Vec<i64> = chosen.iter().map(|&e| inside(e).1 as i64).collect();
            let (n, m) = (nodes.len() as i64, chosen.len() as i64);
            let tree = Wiring::new(&[0, n], &[0, m], &from, &to, &vec![0; chosen.len()])?;
            trees.push(Tree { edges: chosen, order: Order::new(&tree)?, wiring: tree });
        }
        let shares = held.iter().map(|&h| h as f64 / trees.len() as f64).collect();
        Ok(Self { trees, shares })
    }

    /// Bound of log Z, or with `maximum` of the best score, from the node scores (n x k) and the edge scores of the
    /// graph, in which `pair(edge, cells)` writes those of an edge before they are shared out. With the best
    /// labellings of the forests for maxima.
    pub fn bound(
        &self,
        k: usize,
        nodes: &[f64],
        maximum: bool,
        pair: impl Fn(usize, &mut [f64]),
        stop: &Interrupt,
    ) -> Result<(f64, Vec<Vec<u32>>), KernelError> {
        let zero = vec![0.0; k * k];
        let mut sum = 0.0;
        let mut labellings = Vec::new();
        for tree in &self.trees {
            let mut own = vec![0.0; tree.edges.len() * k * k];
            for (&edge, cells) in tree.edges.iter().zip(own.chunks_exact_mut(k * k)) {
                pair(edge, cells);
            }
            let scores = Scores::new(&tree.wiring, k, nodes, &zero, Some(&own))?;
            let forest = Forest::new(scores, &tree.order);
            if maximum {
                let (labels, value) = forest.best(1, stop)?;
                sum += value[0];
                labellings.push(labels);
            } else {
                sum += forest.log_partition(1, stop)?[0];
            }
        }
        Ok((sum / self.trees.len() as f64, labellings))
    }
}
