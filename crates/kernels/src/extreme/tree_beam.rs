//! The best labels of a row by beam search down a label tree.
//!
//! Problem: find the n labels with the largest P(label | x), the product of the probabilities of the edges from the
//! root; of the nodes of a level the `beam` best are followed. With a beam of at least the number of nodes of
//! a level the answer is exact.
//! Invariant: a row's answer does not depend on the other rows or on the number of threads; ties go to the
//! smaller number.
//! Rows go down in blocks, level by level, and all rows of a block at a node follow each other: where
//! they are many the node's features are laid out in a table over all features, else they are searched for.
//! Returns the labels of every row with the logarithms of their probabilities, best first, and on demand the nodes
//! that were not followed.

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::extreme::tree_model::{ABSENT, Model, Weight, find};
use crate::interrupt::Interrupt;
use crate::simd::Gather;
use crate::threads::{Spaces, each, try_each};

/// Rows that go down together.
const BLOCK: usize = 256;

/// A node or a label with the logarithm of its probability.
pub type Scored = (f64, u32);

/// What one row found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Labels, best first.
    pub labels: Vec<Scored>,
    /// Nodes that were not followed, where asked for.
    pub left: Vec<Scored>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// Nodes of a level that are followed.
    pub beam: usize,
    /// Labels that are returned.
    pub n_best: usize,
    /// Labels below this logarithm of a probability are left out.
    pub least: f64,
    /// Whether to return the nodes that were not followed.
    pub keep_left: bool,
}

/// Best first; the smaller number at a tie.
fn order(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

/// Keep the best `n`, sorted; returns the others.
fn best(items: &mut Vec<Scored>, n: usize) -> Vec<Scored> {
    let others = if items.len() > n {
        if n > 0 {
            items.select_nth_unstable_by(n, order);
        }
        items.split_off(n)
    } else {
        Vec::new()
    };
    items.sort_unstable_by(order);
    others
}

/// Answer `question` for every row.
pub fn search<T: Gather, W: Weight>(
    x: &Csr<'_, T>,
    model: &Model<'_, W>,
    question: &Question,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<Found>, KernelError> {
    model.check()?;
    if question.beam == 0 || question.n_best == 0 {
        return Err(KernelError::Argument("the beam and the number of labels must be positive".into()));
    }
    let n = x.n_rows();
    let spaces = Spaces::default();
    let block = |b: usize| {
        stop.check()?;
        let rows = b * BLOCK..((b + 1) * BLOCK).min(n);
        spaces.lend(|| Table::new(x.n_cols()), |table| descend(x, model, question, rows, table))
    };
    let blocks = try_each(n_threads, 0..n.div_ceil(BLOCK), block)?;
    Ok(blocks.into_iter().flatten().collect())
}

/// The place of each feature in a node, plus one; made when first needed, zero between uses.
struct Table {
    n_cols: usize,
    places: Vec<u32>,
}

impl Table {
    fn new(n_cols: usize) -> Self {
        Self { n_cols, places: Vec::new() }
    }

    fn fill(&mut self, first: usize, features: &[i32]) {
        self.places.resize(self.n_cols, 0);
        for (place, &feature) in (first + 1..).zip(features) {
            if let (Some(slot), Ok(place)) = (self.places.get_mut(feature as usize), u32::try_from(place)) {
                *slot = place;
            }
        }
    }

    fn clear(&mut self, features: &[i32]) {
        for &feature in features {
            if let Some(slot) = self.places.get_mut(feature as usize) {
                *slot = 0;
            }
        }
    }

    #[inline(always)]
    fn place(&self, column: i32) -> usize {
        let place = self.places.get(column as usize).and_then(|&place| place.checked_sub(1));
        place.map_or(ABSENT, |place| place as usize)
    }
}

/// Whether a table pays for rows with `n_stored` values in all, against a search for each value.
fn table_pays(n_stored: usize, n_features: usize, n_places: usize) -> bool {
    let steps = usize::BITS - n_features.leading_zeros();
    n_stored * steps as usize > 4 * n_features && u32::try_from(n_places).is_ok()
}

fn descend<T: Gather, W: Weight>(
    x: &Csr<'_, T>,
    model: &Model<'_, W>,
    question: &Question,
    rows: std::ops::Range<usize>,
    table: &mut Table,
) -> Result<Vec<Found>, KernelError> {
    let n_nodes = model.n_nodes();
    let mut found = vec![Found::default(); rows.len()];
    let mut next: Vec<Vec<Scored>> = vec![Vec::new(); rows.len()];
    // (node, row, logarithm of the node's probability), the nodes of a level together.
    let mut visits: Vec<(u32, u32, f64)> = (0..rows.len() as u32).map(|row| (0, row, 0.0)).collect();
    let (mut scores, mut places) = (Vec::new(), Vec::new());
    while !visits.is_empty() {
        visits.sort_unstable_by_key(|&(node, row, _)| (node, row));
        for group in visits.chunk_by(|a, b| a.0 == b.0) {
            let node = group[0].0 as usize;
            let (first, features) = model.node_features(node);
            let row = |visit: &(u32, u32, f64)| x.row(rows.start + visit.1 as usize);
            let n_stored = group.iter().map(|visit| row(visit).0.len()).sum();
            let tabled = table_pays(n_stored, features.len(), model.features.len());
            if tabled {
                table.fill(first, features);
            }
            for visit in group {
                let (columns, values) = row(visit);
                if tabled {
                    places.clear();
                    places.extend(columns.iter().map(|&column| table.place(column)));
                } else {
                    find(features, first, columns, &mut places);
                }
                model.score(node, &places, values, &mut scores);
                model.link.apply(&mut scores);
                let (at, above) = (visit.1 as usize, visit.2);
                for (&target, &edge) in model.edges(node).iter().zip(&scores) {
                    let (log, target) = (above + edge, usize::try_from(target).unwrap_or(0));
                    if log.is_nan() {
                        return Err(KernelError::Argument(format!(
                            "the scores of row {} at node {node} are not numbers",
                            rows.start + at
                        )));
                    }
                    if target >= n_nodes {
                        found[at].labels.push((log, (target - n_nodes) as u32));
                    } else if target > node {
                        next[at].push((log, target as u32));
                    } else {
                        return Err(KernelError::Argument(format!("node {node} leads upwards to {target}")));
                    }
                }
            }
            if tabled {
                table.clear(features);
            }
        }
        visits.clear();
        for (row, (next, found)) in next.iter_mut().zip(&mut found).enumerate() {
            let others = best(next, question.beam);
            if question.keep_left {
                found.left.extend(others);
            }
            visits.extend(next.drain(..).map(|(log, node)| (node, row as u32, log)));
        }
    }
    for found in &mut found {
        found.labels.retain(|label| label.0 >= question.least);
        best(&mut found.labels, question.n_best);
    }
    Ok(found)
}

/// Probabilities of all labels, one label per row: those of the labels that were found, and the rest of the
/// probability spread evenly over the labels below each node that was not followed. They sum to one.
pub fn spread<W: Weight>(
    model: &Model<'_, W>,
    found: &[Found],
    n_labels: usize,
    n_threads: usize,
) -> Result<Vec<f64>, KernelError> {
    let n_nodes = model.n_nodes();
    let mut below = vec![0usize; n_nodes];
    for node in (0..n_nodes).rev() {
        for &target in model.edges(node) {
            let target = usize::try_from(target).unwrap_or(0);
            below[node] += match below.get(target) {
                Some(&count) if target > node => count,
                Some(_) => return Err(KernelError::Argument(format!("node {node} leads upwards"))),
                None => 1,
            };
        }
    }
    let mut out: Vec<f64> = crate::error::zeros(found.len().saturating_mul(n_labels))?;
    let fill = |(row, found): (&mut [f64], &Found)| {
        for &(log, label) in &found.labels {
            if let Some(p) = row.get_mut(label as usize) {
                *p = log.exp();
            }
        }
        let mut stack = Vec::new();
        for &(log, node) in &found.left {
            let share = log.exp() / below[node as usize].max(1) as f64;
            stack.push(node as usize);
            while let Some(node) = stack.pop() {
                for &target in model.edges(node) {
                    let target = usize::try_from(target).unwrap_or(0);
                    if target < n_nodes && target > node {
                        stack.push(target);
                    } else if let Some(p) = target.checked_sub(n_nodes).and_then(|l| row.get_mut(l)) {
                        *p = share;
                    }
                }
            }
        }
    };
    each(n_threads, out.chunks_mut(n_labels.max(1)).zip(found), fill);
    Ok(out)
}
