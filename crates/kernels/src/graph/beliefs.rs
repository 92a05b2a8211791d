//! What the messages of a graph say: beliefs of nodes and edges, the Bethe value, and a labelling.
//!
//! With h_i the scores of node i and all messages into it, b_i = softmax(h_i), and b_ij is the softmax of pair(a, b) +
//! (h_i - m_ji)(a) + (h_j - m_ij)(b). With log Z_i and log Z_ij the logarithms of their sums, the Bethe estimate of log Z is
//! sum_i (1 - d_i) log Z_i + sum_ij log Z_ij with d_i the degree; it does not depend on constants added to
//! messages, and is exact on forests. Yedidia, Freeman & Weiss (2005).

use crate::graph::schedule::Exchange;
use crate::graph::scores::{Scores, first_best, softmax};

/// Beliefs of the nodes (n x k) and, if asked for, of the edges (n x k x k), and the Bethe value.
#[derive(Debug, Default)]
pub struct Beliefs {
    /// Of the nodes of the graph.
    pub nodes: Vec<f64>,
    /// Of its edges.
    pub edges: Vec<f64>,
    /// Estimate of log Z.
    pub bethe: f64,
}

impl Exchange<'_> {
    /// Totals of all nodes of the graph, n x k.
    pub(super) fn totals(&self, messages: &[f64]) -> Vec<f64> {
        let (scores, k) = (self.messenger.scores(), self.messenger.scores().k);
        let nodes = scores.wiring.nodes(self.graph);
        let mut totals = vec![0.0; nodes.len() * k];
        for (node, total) in nodes.zip(totals.chunks_exact_mut(k)) {
            self.total(node, messages, total);
        }
        totals
    }

    /// Beliefs by messages of sums.
    pub fn beliefs(&self, messages: &[f64], with_edges: bool) -> Beliefs {
        let (scores, k) = (self.messenger.scores(), self.messenger.scores().k);
        let wiring = scores.wiring;
        let (nodes, edges) = (wiring.nodes(self.graph), wiring.edges(self.graph));
        let totals = self.totals(messages);
        let mut found = Beliefs { nodes: totals.clone(), ..Beliefs::default() };
        for (node, row) in nodes.clone().zip(found.nodes.chunks_exact_mut(k)) {
            found.bethe += (1.0 - wiring.out(node).len() as f64) * softmax(row);
        }
        let mut table = vec![0.0; k * k];
        for edge in edges {
            let (from, to) = (wiring.from(edge) - nodes.start, wiring.to(edge) - nodes.start);
            let (sent, back) = (&messages[self.place(2 * edge)], &messages[self.place(2 * edge + 1)]);
            let pair = scores.pair(edge);
            for a in 0..k {
                let here = totals[from * k + a] - back[a];
                for b in 0..k {
                    table[a * k + b] = pair.at(a, b) + here + totals[to * k + b] - sent[b];
                }
            }
            found.bethe += softmax(&mut table);
            if with_edges {
                found.edges.extend_from_slice(&table);
            }
        }
        found
    }

    /// A labelling by messages of maxima, and its score.
    ///
    /// Nodes choose in `order`, given the labels chosen by neighbors and the messages of the others. In breadth-first order
    /// that is the best labelling where messages have converged on a forest, also at ties. Then single nodes change as long
    /// as that raises the score (Besag 1986).
    pub fn decode(&self, order: &[u32], messages: &[f64]) -> (Vec<u32>, f64) {
        let (scores, k) = (self.messenger.scores(), self.messenger.scores().k);
        let wiring = scores.wiring;
        let first = wiring.nodes(self.graph).start;
        let mut labels = vec![u32::MAX; order.len()];
        let mut total = vec![0.0; k];
        for &node in order {
            total.copy_from_slice(scores.unary(node as usize));
            for &out in wiring.out(node as usize) {
                let message = out as usize ^ 1;
                let other = labels[wiring.target(out as usize) - first];
                if other == u32::MAX {
                    for (t, m) in total.iter_mut().zip(&messages[self.place(message)]) {
                        *t += m;
                    }
                } else {
                    let pair = scores.pair(message / 2);
                    for (b, t) in total.iter_mut().enumerate() {
                        *t += pair.sent(message, other as usize, b);
                    }
                }
            }
            labels[node as usize - first] = first_best(total.iter().copied()).0 as u32;
        }
        climb(scores, self.graph, &mut labels);
        let score = scores.score(self.graph, &labels);
        (labels, score)
    }
}

/// Sweeps of single changes at most, where rounding passes for a gain.
const MOST_SWEEPS: usize = 1000;

/// Change labels of single nodes as long as each change raises the score by more than rounding.
pub fn climb(scores: &Scores<'_>, graph: usize, labels: &mut [u32]) {
    let (wiring, k) = (scores.wiring, scores.k);
    let nodes = wiring.nodes(graph);
    let mut total = vec![0.0; k];
    let mut pending: Vec<bool> = vec![true; nodes.len()];
    for _ in 0..MOST_SWEEPS {
        if !pending.contains(&true) {
            return;
        }
        for node in nodes.clone() {
            if !std::mem::take(&mut pending[node - nodes.start]) {
                continue;
            }
            total.copy_from_slice(scores.unary(node));
            for &out in wiring.out(node) {
                let other = labels[wiring.target(out as usize) - nodes.start] as usize;
                let pair = scores.pair(out as usize / 2);
                for (b, t) in total.iter_mut().enumerate() {
                    *t += pair.sent(out as usize, b, other);
                }
            }
            let old = labels[node - nodes.start] as usize;
            let (best, value) = first_best(total.iter().copied());
            // A gain that is not mere rounding, lest labels go back and forth.
            if value > total[old] + 1e-12 * (1.0 + value.abs()) {
                labels[node - nodes.start] = best as u32;
                for &out in wiring.out(node) {
                    pending[wiring.target(out as usize) - nodes.start] = true;
                }
            }
        }
    }
}
