//! The scores of a batch of graphs, and loops over its graphs.

use crate::error::{KernelError, check_length};
use crate::graph::wiring::Wiring;
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::threads::try_each;

/// More labels than this make tables of pairs too large.
const MOST_LABELS: usize = 1 << 12;

/// Scores of labels and of pairs of labels.
#[derive(Debug, Clone, Copy)]
pub struct Scores<'a> {
    /// The edges.
    pub wiring: &'a Wiring,
    /// Number of labels K.
    pub k: usize,
    unary: &'a [f64],
    tables: &'a [f64],
    own: Option<&'a [f64]>,
}

/// Scores of the pairs of labels of one edge.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    k: usize,
    shared: &'a [f64],
    own: Option<&'a [f64]>,
}

impl Pair<'_> {
    /// Score of the labels (of the first node, of the second).
    #[inline(always)]
    pub fn at(&self, from: usize, to: usize) -> f64 {
        let cell = from * self.k + to;
        match self.own {
            None => self.shared[cell],
            Some(own) => self.shared[cell] + own[cell],
        }
    }

    /// Score of the labels (of the sender, of the receiver) of a message, which goes back where `message` is odd.
    #[inline(always)]
    pub fn sent(&self, message: usize, sender: usize, receiver: usize) -> f64 {
        if message.is_multiple_of(2) { self.at(sender, receiver) } else { self.at(receiver, sender) }
    }
}

impl<'a> Scores<'a> {
    /// Take the scores of the nodes (n_nodes x k), of the pairs of labels by kind of edge (n_kinds x k x k) and, if
    /// any, of each edge in addition (n_edges x k x k). No score may be NaN or plus infinity; minus infinity forbids,
    /// which exact inference understands.
    pub fn new(
        wiring: &'a Wiring,
        k: usize,
        unary: &'a [f64],
        tables: &'a [f64],
        own: Option<&'a [f64]>,
    ) -> Result<Self, KernelError> {
        if k == 0 || k > MOST_LABELS {
            return Err(KernelError::Argument(format!("{k} labels: there must be from 1 to {MOST_LABELS}")));
        }
        let cells = k * k;
        check_length("unary scores", unary.len(), wiring.n_nodes().saturating_mul(k))?;
        if !tables.len().is_multiple_of(cells) || tables.len() / cells < wiring.n_kinds() {
            return Err(KernelError::Argument(format!(
                "edges name {} kinds, but there are {} tables of scores",
                wiring.n_kinds(),
                tables.len() / cells
            )));
        }
        if let Some(own) = own {
            check_length("edge scores", own.len(), wiring.n_edges().saturating_mul(cells))?;
        }
        for (what, row, scores, width) in [
            ("unary", "node", unary, k),
            ("pair", "kind", tables, cells),
            ("pair", "edge", own.unwrap_or(&[]), cells),
        ] {
            if let Some(at) = scores.iter().position(|&x| x.is_nan() || x == f64::INFINITY) {
                let message =
                    format!("{what} score {} at {row} {}, column {}", scores[at], at / width, at % width);
                return Err(KernelError::Argument(message));
            }
        }
        Ok(Self { wiring, k, unary, tables, own })
    }

    /// Scores of the labels of a node.
    #[inline(always)]
    pub fn unary(&self, node: usize) -> &'a [f64] {
        &self.unary[node * self.k..(node + 1) * self.k]
    }

    /// Scores of the pairs of labels of an edge.
    #[inline(always)]
    pub fn pair(&self, edge: usize) -> Pair<'a> {
        let (cells, kind) = (self.k * self.k, self.wiring.kind(edge));
        Pair {
            k: self.k,
            shared: &self.tables[kind * cells..(kind + 1) * cells],
            own: self.own.map(|own| &own[edge * cells..(edge + 1) * cells]),
        }
    }

    /// Whether edges have scores of their own.
    pub fn has_own(&self) -> bool {
        self.own.is_some()
    }

    /// Fail at minus infinity, for inference by messages, in which nothing is forbidden.
    pub fn check_finite(&self) -> Result<(), KernelError> {
        for scores in [self.unary, self.tables, self.own.unwrap_or(&[])] {
            if scores.contains(&f64::NEG_INFINITY) {
                let message = "scores of minus infinity need exact inference (forest, junction tree); \
                               here give a low finite score such as -1e3";
                return Err(KernelError::Argument(message.into()));
            }
        }
        Ok(())
    }

    /// Score of a labelling of a graph; `labels` are those of its own nodes.
    pub fn score(&self, graph: usize, labels: &[u32]) -> f64 {
        let nodes = self.wiring.nodes(graph);
        let label = |node: usize| labels[node - nodes.start] as usize;
        let unary: f64 = nodes.clone().map(|i| self.unary(i)[label(i)]).sum();
        let ends = |e: usize| (label(self.wiring.from(e)), label(self.wiring.to(e)));
        let pairs: f64 = self
            .wiring
            .edges(graph)
            .map(|e| {
                let (a, b) = ends(e);
                self.pair(e).at(a, b)
            })
            .sum();
        unary + pairs
    }

    /// `body` for every graph, in order, on threads; `passes` says how often a graph is gone over.
    pub fn each<R: Send>(
        &self,
        passes: usize,
        n_threads: usize,
        stop: &Interrupt,
        body: impl Fn(usize) -> Result<R, KernelError> + Sync + Send,
    ) -> Result<Vec<R>, KernelError> {
        let cells = self.wiring.n_nodes() * self.k + self.wiring.n_edges() * self.k * self.k;
        let one = |graph: usize| {
            stop.check()?;
            body(graph)
        };
        // A cell costs an exponential, not a multiply-add.
        let n_threads = threads_for(cells.saturating_mul(16).saturating_mul(passes), n_threads);
        try_each(n_threads, 0..self.wiring.n_graphs(), one)
    }
}

/// The first label of the highest value.
#[inline(always)]
pub fn first_best(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (label, value) in values.enumerate() {
        if value > best.1 {
            best = (label, value);
        }
    }
    best
}

/// exp of the terms over their sum, and the logarithm of the sum.
pub fn softmax(terms: &mut [f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for t in terms.iter_mut() {
        *t = (*t - most).exp();
        sum += *t;
    }
    for t in terms.iter_mut() {
        *t /= sum;
    }
    most + sum.ln()
}
