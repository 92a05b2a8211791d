//! All nodes of a label tree, on all threads.
//!
//! Problem: that of [`crate::extreme::tree_node`] for every node, each taught by the rows with a label below it.
//! Invariant: a node is solved by one thread and no node sees another, so that the result is the same
//! whatever the number of threads is.
//! Sources: Jasinska et al. (2016) for trees of conditional probabilities; Prabhu et al. (2018), Parabel.
//! Returns the weights of all nodes one after the other, and the sum of their reports.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::dual::common::check_upper;
use crate::error::{KernelError, check_length};
use crate::extreme::tree_node::{self, Renumber, Targets};
pub use crate::extreme::tree_node::{NodeKind, NodeSettings, Report};
use crate::extreme::tree_plan::{Labels, Lessons, Plan};
use crate::extreme::tree_prune::NodeWeights;
use crate::interrupt::Interrupt;
use crate::simd::Gather;
use crate::simd::exponential::VectorExp;
use crate::threads::{Spaces, try_each};

/// Portions in which nodes are solved, and the fewest nodes of one.
const PORTIONS: usize = 32;
const LEAST: usize = 256;

/// The weights of a tree: those of node n are the features `features[feature_starts[n]..]`, and those of feature
/// number f the pairs `children`, `values` from `weight_starts[f]` on.
#[derive(Debug, Clone)]
pub struct TreeWeights<T> {
    /// First feature of each node, and the end.
    pub feature_starts: Vec<i64>,
    /// Features.
    pub features: Vec<i32>,
    /// First weight of each feature, and the end.
    pub weight_starts: Vec<i64>,
    /// Child of each weight, counted within its node.
    pub children: Vec<u16>,
    /// Weights.
    pub values: Vec<T>,
    /// An intercept for each edge.
    pub intercepts: Vec<f64>,
}

impl<T: Copy> TreeWeights<T> {
    fn new() -> Self {
        Self {
            feature_starts: vec![0],
            features: Vec::new(),
            weight_starts: vec![0],
            children: Vec::new(),
            values: Vec::new(),
            intercepts: Vec::new(),
        }
    }

    /// Add the next node.
    fn push(&mut self, node: NodeWeights<T>) {
        let mut end = self.values.len() as i64;
        self.features.extend_from_slice(&node.features);
        self.feature_starts.push(self.features.len() as i64);
        for count in node.counts {
            end += i64::from(count);
            self.weight_starts.push(end);
        }
        self.children.extend_from_slice(&node.children);
        self.values.extend_from_slice(&node.values);
        self.intercepts.extend_from_slice(&node.intercepts);
    }
}

/// Solve all nodes; `upper` are the U_i = C c_i of the rows, `done` counts the rows of the nodes solved.
#[allow(clippy::too_many_arguments)]
pub fn fit<T: VectorExp + Gather>(
    x: &Csr<'_, T>,
    plan: &Plan,
    labels: &Labels<'_>,
    single: bool,
    upper: &[f64],
    settings: &NodeSettings,
    done: &AtomicU64,
    stop: &Interrupt,
) -> Result<(TreeWeights<T>, Report), KernelError> {
    check_length("y", labels.n_rows(), x.n_rows())?;
    check_length("upper", upper.len(), x.n_rows())?;
    check_upper(upper)?;
    if single && !labels.single() {
        return Err(KernelError::Argument("every row must have one label".into()));
    }
    let lessons = Lessons::new(plan, labels)?;
    let spaces = Spaces::default();
    let one = |node: usize| {
        stop.check()?;
        let rows = lessons.rows(node);
        let targets = targets(plan, labels, node, rows, single)?;
        let n_children = plan.n_children(node);
        let answer = spaces.lend(
            || Renumber::new(x.n_cols()),
            |renumber| tree_node::fit(x, (renumber, rows), upper, n_children, &targets, settings, stop),
        )?;
        done.fetch_add(rows.len() as u64, Ordering::Relaxed);
        Ok(answer)
    };
    let (mut weights, mut report) = (TreeWeights::new(), Report::default());
    // In portions, so that the nodes' own arrays never hold more than a small part of all weights.
    let nodes: Vec<usize> = (0..plan.n_nodes()).collect();
    for portion in nodes.chunks(nodes.len().div_ceil(PORTIONS).max(LEAST)) {
        for (node, one) in try_each(settings.n_threads, portion.iter().copied(), one)? {
            weights.push(node);
            report.merge(&one);
        }
    }
    Ok((weights, report))
}

/// The children of `node` that lead to the labels of its rows.
fn targets(
    plan: &Plan,
    labels: &Labels<'_>,
    node: usize,
    rows: &[u32],
    single: bool,
) -> Result<Targets, KernelError> {
    let child = |label: i32| plan.child(node, label as usize);
    if single {
        let one = |&i: &u32| labels.row(i as usize).first().and_then(|&label| child(label)).map(|c| c as u32);
        let children: Option<Vec<u32>> = rows.iter().map(one).collect();
        return children
            .map(Targets::One)
            .ok_or_else(|| KernelError::Argument("a row has no label below its node".into()));
    }
    let mut lists = vec![Vec::new(); plan.n_children(node)];
    for (row, &i) in (0u32..).zip(rows) {
        for child in labels.row(i as usize).iter().filter_map(|&label| child(label)) {
            let list: &mut Vec<u32> = &mut lists[child];
            if list.last() != Some(&row) {
                list.push(row);
            }
        }
    }
    Ok(Targets::Several(lists))
}
