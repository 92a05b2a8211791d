//! States of a chain and the edges between them, and the scores of one sequence over them.
//!
//! In a chain of first order the states are the labels and every pair is an edge. In one of second order the
//! states are pairs of labels: a state carries the label of its token, and edges join pairs that overlap.
//! Edges are sorted by target; the edges into a state are contiguous.

use crate::error::{KernelError, check_length};

/// Which state carries which label, and which state may follow which.
#[derive(Debug, Clone)]
pub struct Graph {
    n_labels: usize,
    label_of: Vec<u32>,
    /// Edges into state s: `starts[s]..starts[s + 1]`.
    starts: Vec<usize>,
    from: Vec<u32>,
    to: Vec<u32>,
}

impl Graph {
    /// Take the labels of the states and the edges, sorted by `to`.
    pub fn new(n_labels: usize, label_of: &[i64], from: &[i64], to: &[i64]) -> Result<Self, KernelError> {
        let narrow = |what: &str, values: &[i64], below: usize| -> Result<Vec<u32>, KernelError> {
            let check = |&v: &i64| {
                u32::try_from(v)
                    .ok()
                    .filter(|&v| (v as usize) < below)
                    .ok_or_else(|| KernelError::Argument(format!("{what} {v} is outside 0..{below}")))
            };
            values.iter().map(check).collect()
        };
        check_length("edge targets", to.len(), from.len())?;
        let n_states = label_of.len();
        if to.is_sorted() {
            let label_of = narrow("label", label_of, n_labels)?;
            let (from, to) = (narrow("state", from, n_states)?, narrow("state", to, n_states)?);
            let starts = (0..=n_states).map(|s| to.partition_point(|&t| (t as usize) < s)).collect();
            Ok(Self { n_labels, label_of, starts, from, to })
        } else {
            Err(KernelError::Argument("edges must be sorted by their targets".into()))
        }
    }

    /// The chain of first order: states are labels, every pair is an edge, number `to * k + from`.
    pub fn first_order(k: usize) -> Self {
        let labels: Vec<u32> = (0..k as u32).collect();
        Self {
            n_labels: k,
            label_of: labels.clone(),
            starts: (0..=k).map(|s| s * k).collect(),
            from: (0..k).flat_map(|_| labels.iter().copied()).collect(),
            to: (0..k as u32).flat_map(|to| std::iter::repeat_n(to, k)).collect(),
        }
    }

    /// Whether this is [`Graph::first_order`].
    pub fn is_first_order(&self) -> bool {
        let k = self.n_labels;
        self.n_states() == k
            && self.n_edges() == k * k
            && self.label_of.iter().zip(0..).all(|(&label, state)| label == state)
            && self.from.iter().zip(0..).all(|(&from, edge)| from as usize == edge % k)
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Number of states.
    pub fn n_states(&self) -> usize {
        self.label_of.len()
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.from.len()
    }

    /// Label that a state carries.
    #[inline(always)]
    pub fn label(&self, state: usize) -> usize {
        self.label_of[state] as usize
    }

    /// Numbers of the edges into a state.
    #[inline(always)]
    pub fn into_state(&self, state: usize) -> std::ops::Range<usize> {
        self.starts[state]..self.starts[state + 1]
    }

    /// Source of an edge.
    #[inline(always)]
    pub fn from(&self, edge: usize) -> usize {
        self.from[edge] as usize
    }

    /// Target of an edge.
    #[inline(always)]
    pub fn to(&self, edge: usize) -> usize {
        self.to[edge] as usize
    }
}

/// Scores of the edges: one for all tokens, or one per token.
#[derive(Debug, Clone, Copy)]
pub enum Edges<'a> {
    /// One score per edge.
    Shared(&'a [f64]),
    /// Token after token, one score per edge into it; those of the first token of a sequence are not read.
    PerToken(&'a [f64]),
}

/// The scores of one sequence.
#[derive(Debug, Clone, Copy)]
pub struct Sequence<'a> {
    /// States and edges.
    pub graph: &'a Graph,
    /// Scores of the labels, length x n_labels.
    pub nodes: &'a [f64],
    /// Scores of the edges; those per token are of this sequence alone.
    pub edges: Edges<'a>,
    /// Score of beginning in a state.
    pub start: &'a [f64],
    /// Score of ending in a state.
    pub end: &'a [f64],
}

impl<'a> Sequence<'a> {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.nodes.len() / self.graph.n_labels().max(1)
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Score of a state at token `t`.
    #[inline(always)]
    pub fn node(&self, t: usize, state: usize) -> f64 {
        self.nodes[t * self.graph.n_labels() + self.graph.label(state)]
    }

    /// Scores of the edges into token `t`.
    #[inline(always)]
    pub fn edges_into(&self, t: usize) -> &'a [f64] {
        let e = self.graph.n_edges();
        match self.edges {
            Edges::Shared(scores) => scores,
            Edges::PerToken(scores) => &scores[t * e..(t + 1) * e],
        }
    }
}
