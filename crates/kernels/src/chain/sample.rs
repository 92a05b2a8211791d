//! Exact draws from p(y) proportional to exp(score): forward sums, then states from the last to the first.
//!
//! Each sequence has random numbers of its own, made from the seed and its number, so that draws do not depend
//! on threads.

use crate::chain::graph::Sequence;
use crate::chain::log_domain::LogSums;
use crate::random::Random;

/// A number in 0..weights.len(), by weights exp(terms) with `log_total` their logarithmic sum.
pub(crate) fn draw(random: &mut Random, terms: impl Iterator<Item = f64>, log_total: f64) -> usize {
    let target = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut sum = 0.0;
    let mut last = 0;
    for (number, term) in terms.enumerate() {
        let share = (term - log_total).exp();
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

/// Write a draw to `labels`, after [`LogSums::forward`] found a labelling that is allowed.
pub fn sample(sums: &LogSums, sequence: &Sequence<'_>, random: &mut Random, labels: &mut [u32]) {
    let (graph, length) = (sequence.graph, sequence.len());
    let s = graph.n_states();
    if length == 0 {
        return;
    }
    let last = sums.alpha(length - 1, s).iter().zip(sequence.end).map(|(a, e)| a + e);
    let mut state = draw(random, last, sums.log_z);
    for t in (0..length).rev() {
        labels[t] = graph.label(state) as u32;
        if t > 0 {
            let (before, edges) = (sums.alpha(t - 1, s), sequence.edges_into(t));
            let into = graph.into_state(state);
            let terms = into.clone().map(|e| before[graph.from(e)] + edges[e]);
            let total = sums.alpha(t, s)[state] - sequence.node(t, state);
            state = graph.from(into.start + draw(random, terms, total));
        }
    }
}
