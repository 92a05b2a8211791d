//! Mean field: the best product of independent nodes, and its lower bound on log Z.
//!
//! Maximizes sum_i <q_i, unary_i> + sum_e q_from' pair_e q_to + sum_i H(q_i) over distributions q_i, node by node:
//! q_i = softmax(unary_i + sum over the neighbors of pair q_j). Every step raises the value, which is at most log Z at all
//! times. Jordan et al. (1999). Returned: the bound, the q_i, and whether the last sweep changed none by more than `tol`.

use crate::error::{KernelError, check_length};
use crate::graph::loopy::{Found, gather};
use crate::graph::schedule::{Ending, Options};
use crate::graph::scores::{Scores, softmax};
use crate::interrupt::Interrupt;

/// Mean field for every graph; `options.schedule` and `damping` are not read. Begins with `warm`, a distribution per node,
/// or with the softmax of the nodes' own scores.
pub fn mean_field(
    scores: Scores<'_>,
    options: &Options,
    warm: Option<&[f64]>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Found, KernelError> {
    options.check()?;
    scores.check_finite()?;
    let k = scores.k;
    if let Some(warm) = warm {
        check_length("start", warm.len(), scores.wiring.n_nodes() * k)?;
        let sums =
            |row: &[f64]| row.iter().all(|&q| q >= 0.0) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-6;
        if let Some(node) = warm.chunks_exact(k).position(|row| !sums(row)) {
            return Err(KernelError::Argument(format!("the start of node {node} is not a distribution")));
        }
    }
    let all = scores.each(options.max_iter.max(1), n_threads, stop, |graph| {
        let nodes = scores.wiring.nodes(graph);
        let mut q: Vec<f64> = match warm {
            Some(warm) => warm[nodes.start * k..nodes.end * k].to_vec(),
            None => nodes.clone().flat_map(|i| scores.unary(i)).copied().collect(),
        };
        for row in q.chunks_exact_mut(k) {
            if warm.is_none() {
                softmax(row);
            } else {
                // The value bounds log Z only where the shares add up to one exactly.
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|p| *p /= sum);
            }
        }
        let mut ending = Ending { iterations: 0, residual: f64::INFINITY, converged: false };
        while ending.iterations < options.max_iter && !ending.converged {
            stop.check()?;
            ending.residual = sweep(&scores, graph, &mut q);
            ending.iterations += 1;
            ending.converged = ending.residual <= options.tol;
        }
        let values = vec![bound(&scores, graph, &q)];
        Ok(Found { values, nodes: q, endings: vec![ending], ..Found::default() })
    })?;
    Ok(gather(all))
}

/// Set every node once; returns the largest change of a probability.
fn sweep(scores: &Scores<'_>, graph: usize, q: &mut [f64]) -> f64 {
    let (wiring, k) = (scores.wiring, scores.k);
    let nodes = wiring.nodes(graph);
    let mut total = vec![0.0; k];
    let mut change = 0.0f64;
    for node in nodes.clone() {
        total.copy_from_slice(scores.unary(node));
        for &out in wiring.out(node) {
            let other = wiring.target(out as usize) - nodes.start;
            let pair = scores.pair(out as usize / 2);
            for (a, t) in total.iter_mut().enumerate() {
                let near = q[other * k..(other + 1) * k].iter().enumerate();
                *t += near.map(|(b, p)| p * pair.sent(out as usize, a, b)).sum::<f64>();
            }
        }
        softmax(&mut total);
        let at = (node - nodes.start) * k;
        for (old, &new) in q[at..at + k].iter_mut().zip(&total) {
            change = change.max((new - *old).abs());
            *old = new;
        }
    }
    change
}

fn bound(scores: &Scores<'_>, graph: usize, q: &[f64]) -> f64 {
    let (wiring, k) = (scores.wiring, scores.k);
    let nodes = wiring.nodes(graph);
    let of = |node: usize| &q[(node - nodes.start) * k..(node - nodes.start + 1) * k];
    let own = |node: usize| -> f64 {
        let terms = of(node).iter().zip(scores.unary(node));
        terms.map(|(&p, s)| if p > 0.0 { p * (s - p.ln()) } else { 0.0 }).sum()
    };
    let both = |edge: usize| -> f64 {
        let (pair, to) = (scores.pair(edge), of(wiring.to(edge)));
        let row = |a: usize| to.iter().enumerate().map(|(b, p)| p * pair.at(a, b)).sum::<f64>();
        of(wiring.from(edge)).iter().enumerate().map(|(a, p)| p * row(a)).sum()
    };
    nodes.clone().map(own).sum::<f64>() + wiring.edges(graph).map(both).sum::<f64>()
}
