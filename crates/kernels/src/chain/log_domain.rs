//! Forward and backward sums of a chain in the logarithmic domain, in `f64`.
//!
//! alpha\[t, s\] = log sum over the labellings of tokens 0..t that end in state s of exp(score), beta\[t, s\] the
//! same for what follows; log Z = log sum_s exp(alpha\[T-1, s\] + end\[s\]). Every sum is taken relative to its
//! largest term, so that scores of any finite size are safe and minus infinity forbids. Rabiner (1989), III.A.

use crate::chain::graph::Sequence;

/// Work space of a sequence.
#[derive(Debug, Default)]
pub struct LogSums {
    alpha: Vec<f64>,
    beta: Vec<f64>,
    terms: Vec<f64>,
    /// log Z of the last sequence; minus infinity where every labelling is forbidden.
    pub log_z: f64,
}

/// log sum exp of the terms; minus infinity for none.
#[inline(always)]
pub fn log_sum_exp(terms: &[f64]) -> f64 {
    let most = terms.iter().fold(f64::NEG_INFINITY, |m, &x| if x > m { x } else { m });
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + terms.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
}

impl LogSums {
    /// Forward sums; returns log Z, which is zero for an empty sequence.
    pub fn forward(&mut self, sequence: &Sequence<'_>) -> f64 {
        let (graph, length) = (sequence.graph, sequence.len());
        let s = graph.n_states();
        self.alpha.resize(length * s, 0.0);
        if length == 0 {
            self.log_z = 0.0;
            return 0.0;
        }
        for state in 0..s {
            self.alpha[state] = sequence.start[state] + sequence.node(0, state);
        }
        for t in 1..length {
            let (before, here) = self.alpha.split_at_mut(t * s);
            let before = &before[(t - 1) * s..];
            let edges = sequence.edges_into(t);
            for (state, here) in here[..s].iter_mut().enumerate() {
                self.terms.clear();
                let into = graph.into_state(state);
                self.terms.extend(into.map(|e| before[graph.from(e)] + edges[e]));
                *here = log_sum_exp(&self.terms) + sequence.node(t, state);
            }
        }
        self.terms.clear();
        self.terms.extend(self.alpha[(length - 1) * s..].iter().zip(sequence.end).map(|(a, e)| a + e));
        self.log_z = log_sum_exp(&self.terms);
        self.log_z
    }

    /// Forward sums of token `t`, after [`LogSums::forward`].
    pub fn alpha(&self, t: usize, n_states: usize) -> &[f64] {
        &self.alpha[t * n_states..(t + 1) * n_states]
    }

    /// The first token with no state that can be reached, where log Z is minus infinity.
    pub fn first_dead(&self, n_states: usize) -> usize {
        let dead = |a: &[f64]| a.iter().all(|&x| x == f64::NEG_INFINITY);
        let length = self.alpha.len() / n_states.max(1);
        self.alpha.chunks(n_states.max(1)).position(dead).unwrap_or(length.saturating_sub(1))
    }

    /// Backward sums, after [`LogSums::forward`].
    pub fn backward(&mut self, sequence: &Sequence<'_>) {
        let (graph, length) = (sequence.graph, sequence.len());
        let s = graph.n_states();
        self.beta.resize(length * s, 0.0);
        if length == 0 {
            return;
        }
        self.beta[(length - 1) * s..].copy_from_slice(sequence.end);
        // Sources come in no order among the edges, so the sums keep their largest term as they go.
        let mut most = vec![f64::NEG_INFINITY; s];
        for t in (1..length).rev() {
            let (here, after) = self.beta.split_at_mut(t * s);
            let here = &mut here[(t - 1) * s..];
            let edges = sequence.edges_into(t);
            let value = |e: usize| {
                let to = graph.to(e);
                edges[e] + sequence.node(t, to) + after[to]
            };
            most.fill(f64::NEG_INFINITY);
            for e in 0..graph.n_edges() {
                let m = &mut most[graph.from(e)];
                *m = m.max(value(e));
            }
            here.fill(0.0);
            for e in 0..graph.n_edges() {
                let (from, v) = (graph.from(e), value(e));
                if v > f64::NEG_INFINITY {
                    here[from] += (v - most[from]).exp();
                }
            }
            for (b, m) in here.iter_mut().zip(&most) {
                *b = b.ln() + m;
            }
        }
    }

    /// Add the marginals of the labels, times `weight`, to `out` (length x n_labels).
    pub fn add_node_marginals(&self, sequence: &Sequence<'_>, weight: f64, out: &mut [f64]) {
        let (s, k) = (sequence.graph.n_states(), sequence.graph.n_labels());
        for (at, (a, b)) in self.alpha.iter().zip(&self.beta).take(sequence.len() * s).enumerate() {
            let label = sequence.graph.label(at % s);
            out[at / s * k + label] += weight * (a + b - self.log_z).exp();
        }
    }

    /// Marginals of the states at token `t`.
    pub fn state_marginals<'a>(&'a self, t: usize, n_states: usize) -> impl Iterator<Item = f64> + 'a {
        let range = t * n_states..(t + 1) * n_states;
        self.alpha[range.clone()].iter().zip(&self.beta[range]).map(|(a, b)| (a + b - self.log_z).exp())
    }

    /// Call `take(edge, marginal)` for every edge into token `t > 0`.
    pub fn edge_marginals(&self, sequence: &Sequence<'_>, t: usize, mut take: impl FnMut(usize, f64)) {
        let graph = sequence.graph;
        let s = graph.n_states();
        let (before, after) = (self.alpha(t - 1, s), &self.beta[t * s..(t + 1) * s]);
        let edges = sequence.edges_into(t);
        for e in 0..graph.n_edges() {
            let to = graph.to(e);
            let log = before[graph.from(e)] + edges[e] + sequence.node(t, to) + after[to] - self.log_z;
            take(e, log.exp());
        }
    }
}
