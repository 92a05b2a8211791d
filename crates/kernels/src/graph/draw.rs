//! Draws of labels. Each graph has random numbers of its own, made from the seed and its number, so that draws do not
//! depend on threads.

use crate::chain::log_domain::log_sum_exp;
use crate::graph::wiring::Wiring;
use crate::random::Random;

/// The random numbers of a graph.
pub(super) fn random_of(seed: u64, graph: usize) -> Random {
    Random::new(Random::new(seed ^ (graph as u64).rotate_left(32)).next_u64())
}

/// A number in 0..terms.len(), with probabilities in proportion to exp(terms).
pub(super) fn pick(random: &mut Random, terms: &[f64]) -> usize {
    let total = log_sum_exp(terms);
    let target = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (mut sum, mut last) = (0.0, 0);
    for (number, term) in terms.iter().enumerate() {
        let share = (term - total).exp();
        if share > 0.0 {
            sum += share;
            last = number;
            if sum > target {
                break;
            }
        }
    }
    last
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
