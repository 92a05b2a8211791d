//! Negative log-likelihood of a chain and its gradient: sum_i c_i (log Z_i - score_i).
//!
//! The gradient is expected minus observed counts. Where only sets of allowed labels are known, score_i is replaced by
//! log Z_i over the allowed labellings (the marginal likelihood), and observed counts by expected ones under the
//! constraint. Sequences are cut into blocks by shape alone, each block is summed in one order and blocks are added in
//! order: the result is the same to the bit on any number of threads. Lafferty, McCallum & Pereira (2001).

use crate::chain::tuning::{BLOCK_WORK, CHUNK, MAX_BLOCKS};
use std::ops::Range;

use crate::chain::encoded::Encoded;
use crate::chain::graph::Graph;
use crate::chain::likelihood_log::LogBlock;
use crate::chain::likelihood_scaled::ScaledBlock;
use crate::chain::likelihood_sparse::{FewEdges, SparseBlock};
use crate::chain::scaled::Transitions;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::real::Real;
use crate::simd::dispatch;
use crate::simd::exponential::VectorExp;
use crate::threads::{each, try_each};

/// The weights of a chain.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a, T> {
    /// States and edges.
    pub graph: &'a Graph,
    /// Weights of the labels, as [`Encoded`] lays them out.
    pub weights: &'a [T],
    /// Score of every edge.
    pub edges: &'a [f64],
    /// Whether an edge has a weight: the others score zero, and their part of the gradient may be left out; `None`: all have.
    pub free: Option<&'a [bool]>,
    /// Score of beginning in a state.
    pub start: &'a [f64],
    /// Score of ending in a state.
    pub end: &'a [f64],
    /// Weights of the attributes of the edges.
    pub edge_weights: &'a [f64],
}

impl<T: Real> Model<'_, T> {
    /// Fail unless the weights fit the data.
    pub fn check(&self, data: &Encoded<T>) -> Result<(), KernelError> {
        if data.edge_pairs().is_some() && !self.graph.is_first_order() {
            return Err(KernelError::Argument("attributes of edges need a chain of first order".into()));
        }
        check_length("labels of the graph", self.graph.n_labels(), data.n_labels())?;
        check_length("weights", self.weights.len(), data.n_weights())?;
        check_length("edge scores", self.edges.len(), self.graph.n_edges())?;
        check_length("free edges", self.free.map_or(self.edges.len(), <[bool]>::len), self.edges.len())?;
        check_length("start scores", self.start.len(), self.graph.n_states())?;
        check_length("end scores", self.end.len(), self.graph.n_states())?;
        check_length("edge weights", self.edge_weights.len(), data.n_edge_weights())
    }
}

/// What is known about the labels.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a> {
    /// The label of every token; not read where `allowed` is given.
    pub labels: &'a [u32],
    /// Whether a token may have a label, n_tokens x n_labels.
    pub allowed: Option<&'a [bool]>,
    /// c_i; ones without.
    pub weights: Option<&'a [f64]>,
}

impl Targets<'_> {
    /// Fail unless the labels fit the data, and every token has a label.
    pub fn check<T: Real>(&self, data: &Encoded<T>) -> Result<(), KernelError> {
        let (n, k) = (data.n_tokens(), data.n_labels());
        if let Some(weights) = self.weights {
            check_length("weights of the sequences", weights.len(), data.offsets().len() - 1)?;
        }
        if let Some(allowed) = self.allowed {
            check_length("allowed labels", allowed.len(), n * k)?;
            return match allowed.chunks(k).position(|row| !row.contains(&true)) {
                Some(t) => Err(KernelError::Argument(format!("token {t} has no label that is allowed"))),
                None => Ok(()),
            };
        }
        check_length("labels", self.labels.len(), n)?;
        match self.labels.iter().position(|&label| label as usize >= k) {
            Some(t) => Err(KernelError::Argument(format!("token {t} has a label outside 0..{k}"))),
            None => Ok(()),
        }
    }

    /// c_i
    pub fn weight(&self, sequence: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[sequence])
    }
}

/// Value and gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// sum_i c_i (log Z_i - score_i)
    pub value: f64,
    /// sum_i c_i (|log Z_i| + |score_i| + tokens): what the rounding of `value` is a multiple of.
    pub gross: f64,
    /// By the weights of the labels.
    pub weights: Vec<f64>,
    /// By the scores of the edges.
    pub edges: Vec<f64>,
    /// By the scores of the starts.
    pub start: Vec<f64>,
    /// By the scores of the ends.
    pub end: Vec<f64>,
    /// By the weights of the attributes of the edges.
    pub edge_weights: Vec<f64>,
}

/// What a block of sequences adds.
pub(super) struct Sums<T> {
    pub value: f64,
    pub gross: f64,
    pub weights: Vec<T>,
    pub edges: Vec<f64>,
    pub start: Vec<f64>,
    pub end: Vec<f64>,
    pub edge_weights: Vec<f64>,
}

impl<T: Real> Sums<T> {
    fn new(data: &Encoded<T>, graph: &Graph) -> Self {
        Self {
            value: 0.0,
            gross: 0.0,
            weights: data.take_room(),
            edges: vec![0.0; graph.n_edges()],
            start: vec![0.0; graph.n_states()],
            end: vec![0.0; graph.n_states()],
            edge_weights: vec![0.0; data.n_edge_weights()],
        }
    }
}

/// Sequences cut into at most `n` blocks of about as many tokens.
pub fn blocks(offsets: &[usize], n: usize) -> Vec<Range<usize>> {
    let (n_sequences, tokens) = (offsets.len() - 1, offsets[offsets.len() - 1]);
    let mut cuts: Vec<usize> =
        (0..=n).map(|b| offsets.partition_point(|&o| o < tokens * b / n).min(n_sequences)).collect();
    cuts[n] = n_sequences;
    cuts.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}

/// Value and gradient at `model`.
pub fn value_and_grad<T: VectorExp>(
    data: &Encoded<T>,
    model: &Model<'_, T>,
    targets: Targets<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Gradient, KernelError> {
    let parts = sum_blocks(data, model, targets, n_threads, stop)?;
    Ok(add_up(parts, data, model.graph, data.n_weights(), |at| (at, 1.0), n_threads))
}

/// The same with the gradient by the variables of [`Encoded::variable`] in place of the weights.
pub fn value_and_grad_by_variables<T: VectorExp>(
    data: &Encoded<T>,
    model: &Model<'_, T>,
    targets: Targets<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Gradient, KernelError> {
    let parts = sum_blocks(data, model, targets, n_threads, stop)?;
    Ok(add_up(parts, data, model.graph, data.n_variables(), |i| data.variable(i), n_threads))
}

fn sum_blocks<T: VectorExp>(
    data: &Encoded<T>,
    model: &Model<'_, T>,
    targets: Targets<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<Sums<T>>, KernelError> {
    model.check(data)?;
    targets.check(data)?;
    let simple = model.graph.is_first_order() && data.edge_pairs().is_none();
    let few = match model.free {
        Some(free) if simple && targets.allowed.is_none() => {
            FewEdges::<T>::new(model.edges, free, data.n_labels())
        }
        _ => None,
    };
    let transitions =
        if simple && few.is_none() { Transitions::<T>::new(model.edges, data.n_labels()) } else { None };
    let n_blocks = (data.work() / (BLOCK_WORK * data.n_weights().max(1))).clamp(1, MAX_BLOCKS);
    let block = |sequences: Range<usize>| -> Result<Sums<T>, KernelError> {
        let sums = Sums::new(data, model.graph);
        match (&few, &transitions) {
            (Some(few), _) => dispatch(SparseBlock { data, model, few, targets, sequences, sums, stop }),
            (_, Some(transitions)) => {
                dispatch(ScaledBlock { data, model, transitions, targets, sequences, sums, stop })
            }
            _ => LogBlock { data, model, targets, sequences, sums, stop }.run(),
        }
    };
    let ranges = blocks(data.offsets(), n_blocks);
    let work = data.work() + data.n_tokens() * model.graph.n_edges();
    try_each(threads_for(work, n_threads), ranges, block)
}

/// The sum of all blocks, in order; entry i of the gradient by the weights is `place(i)`: a weight, and a factor.
fn add_up<T: Real>(
    parts: Vec<Sums<T>>,
    data: &Encoded<T>,
    graph: &Graph,
    n: usize,
    place: impl Fn(usize) -> (usize, f64) + Sync,
    n_threads: usize,
) -> Gradient {
    let mut weights = vec![0.0; n];
    let chunk = |(b, out): (usize, &mut [f64])| {
        for (i, out) in out.iter_mut().enumerate() {
            let (at, factor) = place(b * CHUNK + i);
            *out = factor * parts.iter().map(|part| part.weights[at].to_f64()).sum::<f64>();
        }
    };
    each(threads_for(n * parts.len(), n_threads), weights.chunks_mut(CHUNK).enumerate(), chunk);
    let add = |n: usize, get: fn(&Sums<T>) -> &[f64]| -> Vec<f64> {
        let mut sum = vec![0.0; n];
        for part in &parts {
            sum.iter_mut().zip(get(part)).for_each(|(sum, p)| *sum += p);
        }
        sum
    };
    let total = Gradient {
        value: parts.iter().map(|part| part.value).sum(),
        gross: parts.iter().map(|part| part.gross).sum(),
        weights,
        edges: add(graph.n_edges(), |part| &part.edges),
        start: add(graph.n_states(), |part| &part.start),
        end: add(graph.n_states(), |part| &part.end),
        edge_weights: add(data.n_edge_weights(), |part| &part.edge_weights),
    };
    for part in parts {
        data.give_back(part.weights);
    }
    total
}
