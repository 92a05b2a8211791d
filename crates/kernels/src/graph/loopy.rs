//! Loopy belief propagation over a batch of graphs: estimates of log Z and marginals, or a labelling.
//!
//! Messages pass between neighbors until none changes by more than `tol`; on forests the result is exact, on graphs with
//! cycles it is an estimate, and messages need not settle: every graph says whether they did. The messages are
//! returned and can be given to the next call as a start. Pearl (1988); Murphy, Weiss & Jordan (1999). Threads
//! over graphs; the result does not depend on their number.

use crate::error::{KernelError, check_length};
use crate::graph::message::Messenger;
use crate::graph::schedule::{Ending, Exchange, Options};
use crate::graph::scores::Scores;
use crate::interrupt::Interrupt;

/// What belief propagation found for a batch.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// Estimate of log Z of every graph, or the score of its labelling.
    pub values: Vec<f64>,
    /// Beliefs of the nodes, n_nodes x k; empty for maxima.
    pub nodes: Vec<f64>,
    /// Beliefs of the edges, n_edges x k x k, if asked for.
    pub edges: Vec<f64>,
    /// Labels of the nodes; empty for sums.
    pub labels: Vec<u32>,
    /// Messages, 2 n_edges x k.
    pub messages: Vec<f64>,
    /// How every graph ended.
    pub endings: Vec<Ending>,
}

/// Messages of one graph at the start: those given, or zeros.
pub(super) fn start(scores: &Scores<'_>, graph: usize, warm: Option<&[f64]>) -> Vec<f64> {
    let (edges, k) = (scores.wiring.edges(graph), scores.k);
    match warm {
        Some(messages) => messages[2 * edges.start * k..2 * edges.end * k].to_vec(),
        None => vec![0.0; 2 * edges.len() * k],
    }
}

/// Fail unless messages of a start are as many as needed and finite.
pub(super) fn check_start(scores: &Scores<'_>, warm: Option<&[f64]>) -> Result<(), KernelError> {
    let Some(warm) = warm else { return Ok(()) };
    check_length("messages", warm.len(), 2 * scores.wiring.n_edges() * scores.k)?;
    if warm.iter().all(|m| m.is_finite()) {
        return Ok(());
    }
    Err(KernelError::Argument("messages to start from must be finite".into()))
}

/// Belief propagation for sums (`maximum` false) or maxima, from `warm` messages or from zeros.
pub fn loopy(
    scores: Scores<'_>,
    maximum: bool,
    options: &Options,
    warm: Option<&[f64]>,
    with_edges: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Found, KernelError> {
    options.check()?;
    scores.check_finite()?;
    check_start(&scores, warm)?;
    let messenger = Messenger::new(scores, maximum);
    let all = scores.each(options.max_iter.max(1), n_threads, stop, |graph| {
        let exchange = Exchange { messenger: &messenger, graph, weights: None };
        let mut messages = start(&scores, graph, warm);
        let ending = exchange.run(options, &mut messages, stop)?;
        let mut found = Found::default();
        if maximum {
            let (labels, score) = exchange.decode(&scores.wiring.breadth_first(graph), &messages);
            (found.labels, found.values) = (labels, vec![score]);
        } else {
            let beliefs = exchange.beliefs(&messages, with_edges);
            (found.nodes, found.edges, found.values) = (beliefs.nodes, beliefs.edges, vec![beliefs.bethe]);
        }
        (found.messages, found.endings) = (messages, vec![ending]);
        Ok(found)
    })?;
    Ok(gather(all))
}

/// What was found graph by graph, one after the other.
pub(super) fn gather(all: Vec<Found>) -> Found {
    let mut result = Found::default();
    for found in all {
        result.values.extend(found.values);
        result.nodes.extend(found.nodes);
        result.edges.extend(found.edges);
        result.labels.extend(found.labels);
        result.messages.extend(found.messages);
        result.endings.extend(found.endings);
    }
    result
}
