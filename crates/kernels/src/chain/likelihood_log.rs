//! The likelihood of a block of sequences in the logarithmic domain: any scores, any graph, attributes on edges.

use std::ops::Range;

use crate::chain::encoded::Encoded;
use crate::chain::graph::{Edges, Sequence};
use crate::chain::likelihood::{Model, Sums, Targets};
use crate::chain::log_domain::LogSums;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;

pub(super) struct LogBlock<'a, T> {
    pub data: &'a Encoded<T>,
    pub model: &'a Model<'a, T>,
    pub targets: Targets<'a>,
    pub sequences: Range<usize>,
    pub sums: Sums<T>,
    pub stop: &'a Interrupt,
}

/// Scores of one sequence, and room for its sums.
#[derive(Default)]
struct Space<T> {
    row: Vec<T>,
    nodes: Vec<f64>,
    edges: Vec<f64>,
    residual: Vec<f64>,
    sums: LogSums,
}

impl<T: Real> LogBlock<'_, T> {
    pub fn run(mut self) -> Result<Sums<T>, KernelError> {
        let mut space = Space::default();
        for number in self.sequences.clone() {
            self.stop.check()?;
            let tokens = self.data.offsets()[number]..self.data.offsets()[number + 1];
            let c = self.targets.weight(number);
            if tokens.is_empty() || c == 0.0 {
                continue;
            }
            self.fill(&mut space, tokens.clone());
            space.residual.clear();
            space.residual.resize(space.nodes.len(), 0.0);
            let log_z = self.expect(&mut space, tokens.clone(), c, number)?;
            self.restrict(&mut space.nodes, tokens.clone());
            let score = self.expect(&mut space, tokens.clone(), -c, number)?;
            self.sums.value += c * (log_z - score);
            self.sums.gross += c * (log_z.abs() + score.abs() + tokens.len() as f64);
            let k = self.data.n_labels();
            for (t, residual) in tokens.zip(space.residual.chunks(k)) {
                for (r, &x) in space.row.iter_mut().zip(residual) {
                    *r = T::from_f64(x);
                }
                self.data.add::<false>(t, &space.row, &mut self.sums.weights);
            }
        }
        Ok(self.sums)
    }

    fn fill(&self, space: &mut Space<T>, tokens: Range<usize>) {
        let k = self.data.n_labels();
        space.row.clear();
        space.row.resize(self.data.width(), T::ZERO);
        space.nodes.clear();
        space.edges.clear();
        for t in tokens {
            self.data.scores::<false>(t, self.model.weights, &mut space.row);
            space.nodes.extend(space.row[..k].iter().map(|x| x.to_f64()));
            if let Some(pairs) = self.data.edge_pairs() {
                let first = space.edges.len();
                space.edges.extend_from_slice(self.model.edges);
                let here = &mut space.edges[first..];
                pairs.each(t, |pair, value| {
                    here[pair.label as usize] +=
                        self.model.edge_weights[pair.weight as usize] * value.to_f64();
                });
            }
        }
        space.row.fill(T::ZERO);
    }

    /// Leave only what is known about the labels.
    fn restrict(&self, nodes: &mut [f64], tokens: Range<usize>) {
        let k = self.data.n_labels();
        for (t, row) in tokens.zip(nodes.chunks_mut(k)) {
            for (label, x) in row.iter_mut().enumerate() {
                let allowed = match self.targets.allowed {
                    Some(allowed) => allowed[t * k + label],
                    None => self.targets.labels[t] as usize == label,
                };
                if !allowed {
                    *x = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// log Z; adds `c` times the expected counts.
    fn expect(
        &mut self,
        space: &mut Space<T>,
        tokens: Range<usize>,
        c: f64,
        number: usize,
    ) -> Result<f64, KernelError> {
        let graph = self.model.graph;
        let Space { nodes, edges, residual, sums, .. } = space;
        let with_edges = self.data.edge_pairs();
        let edges =
            if with_edges.is_some() { Edges::PerToken(edges) } else { Edges::Shared(self.model.edges) };
        let sequence = Sequence { graph, nodes, edges, start: self.model.start, end: self.model.end };
        let log_z = sums.forward(&sequence);
        if log_z == f64::NEG_INFINITY {
            return Err(KernelError::Argument(format!(
                "the labels of sequence {number} are forbidden: token {} follows a label that may not come \
                 before it",
                sums.first_dead(graph.n_states())
            )));
        }
        sums.backward(&sequence);
        sums.add_node_marginals(&sequence, c, residual);
        let (s, length) = (graph.n_states(), tokens.len());
        for (sum, p) in self.sums.start.iter_mut().zip(sums.state_marginals(0, s)) {
            *sum += c * p;
        }
        for (sum, p) in self.sums.end.iter_mut().zip(sums.state_marginals(length - 1, s)) {
            *sum += c * p;
        }
        let mut here = vec![0.0; if with_edges.is_some() { graph.n_edges() } else { 0 }];
        for (t, token) in tokens.enumerate().skip(1) {
            sums.edge_marginals(&sequence, t, |edge, p| {
                self.sums.edges[edge] += c * p;
                if let Some(here) = here.get_mut(edge) {
                    *here = c * p;
                }
            });
            if let Some(pairs) = with_edges {
                pairs.each(token, |pair, value| {
                    self.sums.edge_weights[pair.weight as usize] +=
                        here[pair.label as usize] * value.to_f64();
                });
            }
        }
        Ok(log_z)
    }
}
