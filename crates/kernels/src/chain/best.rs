//! The best labelling of a chain, and the k best.
//!
//! Viterbi (1967): best\[t, s\] = node + max over the edges into s of best\[t-1, from\] + edge; the path is found
//! again from the end. For k labellings every state keeps its k best ways to be reached, each the next best of
//! some source (Chow & Schwartz 1989). At a tie the first edge wins, so the result is deterministic.

use crate::chain::graph::Sequence;

/// Work space of a sequence.
#[derive(Debug, Default)]
pub struct Best {
    scores: Vec<f64>,
}

impl Best {
    /// Write the best labelling to `labels`; returns its score, minus infinity where all are forbidden.
    pub fn path(&mut self, sequence: &Sequence<'_>, labels: &mut [u32]) -> f64 {
        let (graph, length) = (sequence.graph, sequence.len());
        let s = graph.n_states();
        if length == 0 {
            return 0.0;
        }
        self.scores.resize(length * s, 0.0);
        for state in 0..s {
            self.scores[state] = sequence.start[state] + sequence.node(0, state);
        }
        for t in 1..length {
            let (before, here) = self.scores.split_at_mut(t * s);
            let before = &before[(t - 1) * s..];
            let edges = sequence.edges_into(t);
            for (state, here) in here[..s].iter_mut().enumerate() {
                let mut most = f64::NEG_INFINITY;
                for e in graph.into_state(state) {
                    let value = before[graph.from(e)] + edges[e];
                    if value > most {
                        most = value;
                    }
                }
                *here = most + sequence.node(t, state);
            }
        }
        let last = &self.scores[(length - 1) * s..];
        let (mut state, mut score) = (0, f64::NEG_INFINITY);
        for (candidate, (a, b)) in last.iter().zip(sequence.end).enumerate() {
            if a + b > score {
                (state, score) = (candidate, a + b);
            }
        }
        for t in (0..length).rev() {
            labels[t] = graph.label(state) as u32;
            if t > 0 {
                let before = &self.scores[(t - 1) * s..t * s];
                let edges = sequence.edges_into(t);
                let mut most = f64::NEG_INFINITY;
                for e in graph.into_state(state) {
                    let value = before[graph.from(e)] + edges[e];
                    if value > most {
                        (state, most) = (graph.from(e), value);
                    }
                }
            }
        }
        score
    }
}

/// A way to reach a state: its score, and which way of which state came before.
#[derive(Debug, Clone, Copy)]
struct Way {
    score: f64,
    state: u32,
    rank: u32,
}

/// The best ways of `sources`, each with a list of scores that fall: at most `k`, the best first.
fn merge(sources: &[(usize, f64)], ways: &[Vec<Way>], k: usize, cursors: &mut Vec<usize>) -> Vec<Way> {
    cursors.clear();
    cursors.resize(sources.len(), 0);
    let mut merged = Vec::new();
    while merged.len() < k {
        let mut found: Option<(usize, f64)> = None;
        for (number, &(state, edge)) in sources.iter().enumerate() {
            if let Some(way) = ways[state].get(cursors[number]) {
                let score = way.score + edge;
                if score > found.map_or(f64::NEG_INFINITY, |(_, best)| best) {
                    found = Some((number, score));
                }
            }
        }
        let Some((number, score)) = found else { break };
        merged.push(Way { score, state: sources[number].0 as u32, rank: cursors[number] as u32 });
        cursors[number] += 1;
    }
    merged
}

/// The `k` best labellings with their scores, the best first; fewer where there are fewer.
pub fn k_best(sequence: &Sequence<'_>, k: usize) -> Vec<(f64, Vec<u32>)> {
    let (graph, length) = (sequence.graph, sequence.len());
    let s = graph.n_states();
    if length == 0 {
        return vec![(0.0, Vec::new())];
    }
    let mut tokens: Vec<Vec<Vec<Way>>> = Vec::with_capacity(length);
    let first = |state: usize| {
        let score = sequence.start[state] + sequence.node(0, state);
        let way = Way { score, state: 0, rank: 0 };
        if score > f64::NEG_INFINITY { vec![way] } else { Vec::new() }
    };
    tokens.push((0..s).map(first).collect());
    let (mut sources, mut cursors) = (Vec::new(), Vec::new());
    for t in 1..length {
        let edges = sequence.edges_into(t);
        let before = &tokens[t - 1];
        let mut here = Vec::with_capacity(s);
        for state in 0..s {
            sources.clear();
            let node = sequence.node(t, state);
            sources.extend(graph.into_state(state).map(|e| (graph.from(e), edges[e] + node)));
            here.push(merge(&sources, before, k, &mut cursors));
        }
        tokens.push(here);
    }
    sources.clear();
    sources.extend(sequence.end.iter().copied().enumerate());
    let ends = merge(&sources, &tokens[length - 1], k, &mut cursors);
    let trace = |end: &Way| {
        let mut labels = vec![0; length];
        let (mut state, mut rank) = (end.state as usize, end.rank as usize);
        for t in (0..length).rev() {
            labels[t] = graph.label(state) as u32;
            let way = tokens[t][state][rank];
            (state, rank) = (way.state as usize, way.rank as usize);
        }
        (end.score, labels)
    };
    ends.iter().map(trace).collect()
}
