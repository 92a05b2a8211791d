//! Draws of labels. Each graph has random numbers of its own, made from the seed and its number, so that draws do not
//! depend on threads.

use crate::chain::log_domain::log_sum_exp;
use crate::chain::sample::draw;
use crate::graph::wiring::Wiring;
use crate::random::Random;

/// A number in 0..terms.len(), with probabilities in proportion to exp(terms).
pub(super) fn pick(random: &mut Random, terms: &[f64]) -> usize {
    draw(random, terms.iter().copied(), log_sum_exp(terms))
}

/// Draws of the nodes of every graph as draws of all nodes.
pub(super) fn gather_draws(wiring: &Wiring, n: usize, all: &[Vec<u32>]) -> Vec<u32> {
    let total = wiring.n_nodes();
    let mut labels = vec![0; total * n];
    for (graph, found) in all.iter().enumerate() {
        let nodes = wiring.nodes(graph);
        for (draw, found) in found.chunks(nodes.len().max(1)).enumerate() {
            labels[draw * total + nodes.start..draw * total + nodes.end].copy_from_slice(found);
        }
    }
    labels
}
