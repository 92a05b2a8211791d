//! Inference over many sequences at once, threads over sequences; the result does not depend on their number.

use crate::chain::best::{Best, k_best};
use crate::chain::encoded::LANES;
use crate::chain::graph::{Edges, Graph, Sequence};
use crate::chain::log_domain::LogSums;
use crate::chain::sample::sample;
use crate::chain::viterbi::{Steps, best_path};
use crate::error::{KernelError, check_length, filled, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::random::Random;
use crate::simd::{Task, dispatch};
use crate::threads::{Spaces, try_each};

/// The scores of many sequences.
#[derive(Debug, Clone, Copy)]
pub struct Scores<'a> {
    graph: &'a Graph,
    nodes: &'a [f64],
    edges: Edges<'a>,
    start: &'a [f64],
    end: &'a [f64],
    offsets: &'a [usize],
}

/// log Z of every sequence, marginals of the labels, marginals of the edges.
pub type Sums = (Vec<f64>, Vec<f64>, Vec<f64>);

/// Labellings of a sequence, the best first, with their scores.
pub type Labellings = Vec<(f64, Vec<u32>)>;

impl<'a> Scores<'a> {
    /// Take the scores; sequence i has the tokens `offsets[i]..offsets[i + 1]`. No score may be NaN or
    /// plus infinity; minus infinity forbids.
    pub fn new(
        graph: &'a Graph,
        nodes: &'a [f64],
        edges: Edges<'a>,
        start: &'a [f64],
        end: &'a [f64],
        offsets: &'a [usize],
    ) -> Result<Self, KernelError> {
        let (k, e) = (graph.n_labels(), graph.n_edges());
        let n = check_offsets(offsets, nodes.len() / k.max(1))?;
        check_length("node scores", nodes.len(), n * k)?;
        let all = match edges {
            Edges::Shared(scores) => {
                check_length("edge scores", scores.len(), e)?;
                scores
            }
            Edges::PerToken(scores) => {
                check_length("edge scores", scores.len(), n * e)?;
                scores
            }
        };
        check_length("start scores", start.len(), graph.n_states())?;
        check_length("end scores", end.len(), graph.n_states())?;
        for (what, scores, width) in
            [("node", nodes, k), ("edge", all, e), ("start", start, 1), ("end", end, 1)]
        {
            if let Some(at) = scores.iter().position(|&x| x.is_nan() || x == f64::INFINITY) {
                let (row, column) = (at / width.max(1), at % width.max(1));
                let message = format!("{what} score {} at row {row}, column {column}", scores[at]);
                return Err(KernelError::Argument(message));
            }
        }
        Ok(Self { graph, nodes, edges, start, end, offsets })
    }

    /// Number of sequences.
    pub fn n_sequences(&self) -> usize {
        self.offsets.len() - 1
    }

    fn sequence(&self, number: usize) -> Sequence<'a> {
        let (first, last) = (self.offsets[number], self.offsets[number + 1]);
        let (k, e) = (self.graph.n_labels(), self.graph.n_edges());
        Sequence {
            graph: self.graph,
            nodes: &self.nodes[first * k..last * k],
            edges: match self.edges {
                Edges::Shared(scores) => Edges::Shared(scores),
                Edges::PerToken(scores) => Edges::PerToken(&scores[first * e..last * e]),
            },
            start: self.start,
            end: self.end,
        }
    }

    /// `body` for every sequence, in order.
    fn each<S: Default + Send, R: Send>(
        &self,
        n_threads: usize,
        stop: &Interrupt,
        body: impl Fn(&mut S, usize, Sequence<'a>) -> Result<R, KernelError> + Sync + Send,
    ) -> Result<Vec<R>, KernelError> {
        let tokens = self.nodes.len() / self.graph.n_labels().max(1);
        let spaces = Spaces::default();
        let one = |number: usize| {
            stop.check()?;
            spaces.lend(S::default, |space| body(space, number, self.sequence(number)))
        };
        try_each(threads_for(tokens * self.graph.n_edges(), n_threads), 0..self.n_sequences(), one)
    }

    /// The best labelling of every sequence, and its score.
    pub fn best(&self, n_threads: usize, stop: &Interrupt) -> Result<(Vec<u32>, Vec<f64>), KernelError> {
        let steps = match self.edges {
            Edges::Shared(edges) if self.graph.is_first_order() => {
                Some(Steps::<f64>::new(edges, self.graph.n_labels()))
            }
            _ => None,
        };
        let all = self.each(n_threads, stop, |space: &mut (Best, Vec<f64>), number, sequence| {
            let mut labels = vec![0; sequence.len()];
            let score = match &steps {
                Some(steps) => dispatch(FastPath {
                    steps,
                    sequence: &sequence,
                    nodes: &mut space.1,
                    labels: &mut labels,
                }),
                None => space.0.path(&sequence, &mut labels),
            };
            if score == f64::NEG_INFINITY {
                return Err(forbidden(number, &sequence));
            }
            Ok((labels, score))
        })?;
        Ok((
            all.iter().flat_map(|(labels, _)| labels.iter().copied()).collect(),
            all.iter().map(|&(_, score)| score).collect(),
        ))
    }

    /// The `k` best labellings of every sequence.
    pub fn k_best(
        &self,
        k: usize,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Vec<Labellings>, KernelError> {
        self.each(n_threads, stop, |(): &mut (), number, sequence| {
            let found = k_best(&sequence, k);
            if found.is_empty() && k > 0 { Err(forbidden(number, &sequence)) } else { Ok(found) }
        })
    }

    /// log Z of every sequence.
    pub fn log_partition(&self, n_threads: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        self.each(n_threads, stop, |sums: &mut LogSums, number, sequence| forward(sums, number, &sequence))
    }

    /// log Z of every sequence, the marginals of the labels (n_tokens x n_labels) and, if asked for, those of the
    /// edges into every token (n_tokens x n_edges, zero at the first token of a sequence).
    pub fn marginals(
        &self,
        with_edges: bool,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Sums, KernelError> {
        let (k, e) = (self.graph.n_labels(), self.graph.n_edges());
        let all = self.each(n_threads, stop, |sums: &mut LogSums, number, sequence| {
            let log_z = forward(sums, number, &sequence)?;
            sums.backward(&sequence);
            let mut nodes = zeros(sequence.len().saturating_mul(k))?;
            sums.add_node_marginals(&sequence, 1.0, &mut nodes);
            let mut edges = zeros(if with_edges { sequence.len().saturating_mul(e) } else { 0 })?;
            if with_edges {
                for (t, row) in edges.chunks_mut(e.max(1)).enumerate().skip(1) {
                    sums.edge_marginals(&sequence, t, |edge, p| row[edge] = p);
                }
            }
            Ok((log_z, nodes, edges))
        })?;
        let mut result = (Vec::with_capacity(all.len()), Vec::with_capacity(self.nodes.len()), Vec::new());
        for (log_z, nodes, edges) in all {
            result.0.push(log_z);
            result.1.extend(nodes);
            result.2.extend(edges);
        }
        Ok(result)
    }

    /// `n` draws of labels for all tokens, draw after draw.
    pub fn sample(
        &self,
        n: usize,
        seed: u64,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Vec<u32>, KernelError> {
        let all = self.each(n_threads, stop, |sums: &mut LogSums, number, sequence| {
            forward(sums, number, &sequence)?;
            let mut random = Random::of_part(seed, number);
            let mut labels = vec![0; sequence.len() * n];
            for draw in labels.chunks_mut(sequence.len().max(1)) {
                sample(sums, &sequence, &mut random, draw);
            }
            Ok(labels)
        })?;
        let tokens = self.nodes.len() / self.graph.n_labels().max(1);
        let mut labels = filled(0, tokens.saturating_mul(n))?;
        for (number, found) in all.iter().enumerate() {
            let (first, last) = (self.offsets[number], self.offsets[number + 1]);
            for (draw, found) in found.chunks(last.saturating_sub(first).max(1)).enumerate() {
                labels[draw * tokens + first..draw * tokens + last].copy_from_slice(found);
            }
        }
        Ok(labels)
    }
}

/// The best labelling of a first-order chain.
struct FastPath<'a> {
    steps: &'a Steps<f64>,
    sequence: &'a Sequence<'a>,
    nodes: &'a mut Vec<f64>,
    labels: &'a mut [u32],
}

impl Task for FastPath<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let (k, length) = (self.sequence.graph.n_labels(), self.labels.len());
        let Some(last) = length.checked_sub(1) else { return 0.0 };
        let width = k.next_multiple_of(LANES);
        self.nodes.resize(length * width, 0.0);
        for (row, node) in self.nodes.chunks_exact_mut(width).zip(self.sequence.nodes.chunks_exact(k)) {
            row[..k].copy_from_slice(node);
            row[k..].fill(f64::NEG_INFINITY);
        }
        for s in 0..k {
            self.nodes[s] += self.sequence.start[s];
            self.nodes[last * width + s] += self.sequence.end[s];
        }
        best_path(self.steps, &mut self.nodes[..length * width], None, self.labels)
    }
}

fn forward(sums: &mut LogSums, number: usize, sequence: &Sequence<'_>) -> Result<f64, KernelError> {
    let log_z = sums.forward(sequence);
    if log_z == f64::NEG_INFINITY { Err(forbidden(number, sequence)) } else { Ok(log_z) }
}

/// The error of a sequence without an allowed labelling, which names the token where the last way ends.
fn forbidden(number: usize, sequence: &Sequence<'_>) -> KernelError {
    let mut sums = LogSums::default();
    sums.forward(sequence);
    let token = sums.first_dead(sequence.graph.n_states());
    KernelError::Argument(format!(
        "every labelling of sequence {number} is forbidden: no allowed label of token {token} can be reached \
         and left; relax the constraints"
    ))
}

/// Fail unless the offsets of the sequences begin at zero, never fall, and end at `n` tokens; returns `n`.
pub fn check_offsets(offsets: &[usize], n: usize) -> Result<usize, KernelError> {
    let good = offsets.first() == Some(&0) && offsets.is_sorted() && offsets.last() == Some(&n);
    if good {
        return Ok(n);
    }
    Err(KernelError::Argument(format!(
        "offsets of the sequences must begin at 0, never fall, and end at {n}"
    )))
}
