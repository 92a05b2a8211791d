//! Tree-reweighted belief propagation: an upper bound on log Z.
//!
//! Messages m_ij(b) = log sum_a exp(pair(a, b) / rho_ij + unary_i(a) + sum_k rho_ki m_ki(a) - m_ji(a)), with rho_e
//! the share of spanning forests that hold edge e. Whatever the messages, the scores unary_i + sum_k rho_ki m_ki of the nodes and
//! rho_ij (pair(a, b) / rho_ij - m_ji(a) - m_ij(b)) of the edges add up to those of the graph, so that the mean of log Z
//! over the forests bounds log Z: it is that mean which is returned, the lowest seen, and it holds before the messages
//! have settled too; where they have, it is the lowest for these forests. Wainwright, Jaakkola & Willsky (2005).

use crate::error::KernelError;
use crate::graph::loopy::{Found, check_start, gather, start};
use crate::graph::message::Messenger;
use crate::graph::schedule::{Ending, Exchange, Options};
use crate::graph::scores::Scores;
use crate::graph::trees::Cover;
use crate::interrupt::Interrupt;

/// Sweeps between two bounds.
const BETWEEN: usize = 10;

/// The bound of every graph, the beliefs of its nodes and, if asked for, edges, and its messages.
pub fn trw(
    scores: Scores<'_>,
    options: &Options,
    seed: u64,
    warm: Option<&[f64]>,
    with_edges: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Found, KernelError> {
    options.check()?;
    scores.check_finite()?;
    check_start(&scores, warm)?;
    let (wiring, k) = (scores.wiring, scores.k);
    let covers = scores.each(1, n_threads, stop, |graph| Cover::new(wiring, graph, seed))?;
    let shares: Vec<f64> = covers.iter().flat_map(|cover| &cover.shares).copied().collect();
    let own: Vec<f64> = (0..wiring.n_edges())
        .flat_map(|e| (0..k * k).map(move |cell| (e, cell)))
        .map(|(e, cell)| scores.pair(e).at(cell / k, cell % k) / shares[e])
        .collect();
    let unary: Vec<f64> = (0..wiring.n_nodes()).flat_map(|i| scores.unary(i)).copied().collect();
    let zero = vec![0.0; k * k * wiring.n_kinds()];
    let scaled = Scores::new(wiring, k, &unary, &zero, Some(&own))?;
    let messenger = Messenger::new(scaled, false);
    let all = scores.each(options.max_iter.max(1), n_threads, stop, |graph| {
        let exchange = Exchange { messenger: &messenger, graph, weights: Some(&shares) };
        let mut messages = start(&scores, graph, warm);
        let mut ending = Ending { iterations: 0, residual: f64::INFINITY, converged: false };
        let mut lowest = bound(&exchange, &covers[graph], &messages, stop)?;
        while ending.iterations < options.max_iter && !ending.converged {
            let max_iter = BETWEEN.min(options.max_iter - ending.iterations);
            let part = exchange.run(&Options { max_iter, ..*options }, &mut messages, stop)?;
            ending = Ending { iterations: ending.iterations + part.iterations.max(1), ..part };
            lowest = lowest.min(bound(&exchange, &covers[graph], &messages, stop)?);
        }
        let beliefs = exchange.beliefs(&messages, with_edges);
        Ok(Found {
            values: vec![lowest],
            nodes: beliefs.nodes,
            edges: beliefs.edges,
            messages,
            endings: vec![ending],
            ..Found::default()
        })
    })?;
    Ok(gather(all))
}

fn bound(
    exchange: &Exchange<'_>,
    cover: &Cover,
    messages: &[f64],
    stop: &Interrupt,
) -> Result<f64, KernelError> {
    let scores = exchange.messenger.scores();
    let k = scores.k;
    let pair = |edge: usize, cells: &mut [f64]| {
        let (sent, back) = (&messages[exchange.place(2 * edge)], &messages[exchange.place(2 * edge + 1)]);
        let pair = scores.pair(edge);
        for (cell, value) in cells.iter_mut().enumerate() {
            let (a, b) = (cell / k, cell % k);
            *value = pair.at(a, b) - back[a] - sent[b];
        }
    };
    Ok(cover.bound(k, &exchange.totals(messages), false, pair, stop)?.0)
}
