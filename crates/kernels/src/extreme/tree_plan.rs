//! The shape of a label tree, and which rows teach which node.
//!
//! Nodes are numbered from the root, 0, downwards; node n owns the edges `starts[n]..starts[n + 1]`, and edge e
//! leads to node `targets[e]`, or to label `targets[e] - n_nodes` where that is not negative. Every node but the
//! root and every label is the target of one edge, and a node's number is larger than its parent's.
//! A row teaches a node when one of its labels lies below it, and all rows teach the root.

use crate::error::KernelError;

/// A checked tree.
#[derive(Debug, Clone)]
pub struct Plan {
    starts: Vec<usize>,
    depth: Vec<usize>,
    /// The edges from the root to each label: `edges[paths[l]..paths[l + 1]]`.
    paths: Vec<usize>,
    edges: Vec<u32>,
    owner: Vec<u32>,
}

/// More children of one node cannot be numbered.
pub const MOST_CHILDREN: usize = 1 << 16;

impl Plan {
    /// Check the arrays of a tree over `n_labels` labels.
    pub fn new(starts: &[i64], targets: &[i64], n_labels: usize) -> Result<Self, KernelError> {
        let wrong = |what: String| KernelError::Argument(format!("the tree is malformed: {what}"));
        let n_nodes = starts.len().saturating_sub(1);
        let starts = crate::data::csr::checked_starts(starts, targets.len())?;
        if n_nodes == 0 || targets.len() != n_nodes - 1 + n_labels || u32::try_from(targets.len()).is_err() {
            let found = targets.len();
            return Err(wrong(format!("{n_nodes} nodes and {n_labels} labels, but {found} edges")));
        }
        let mut edge_of = vec![u32::MAX; n_nodes + n_labels];
        let mut owner = vec![0; targets.len()];
        let mut depth = vec![0; n_nodes];
        for node in 0..n_nodes {
            let n_children = starts[node + 1] - starts[node];
            if !(1..=MOST_CHILDREN).contains(&n_children) {
                return Err(wrong(format!("node {node} has {n_children} children")));
            }
            for edge in starts[node]..starts[node + 1] {
                owner[edge] = node as u32;
                let target = usize::try_from(targets[edge]).unwrap_or(usize::MAX);
                let place = edge_of.get_mut(target);
                match place {
                    Some(place) if *place == u32::MAX && target > node => *place = edge as u32,
                    _ => return Err(wrong(format!("edge {edge} leads to {target}"))),
                }
                if target < n_nodes {
                    depth[target] = depth[node] + 1;
                }
            }
        }
        let mut paths = vec![0];
        let mut edges = Vec::new();
        for label in 0..n_labels {
            let first = edges.len();
            let mut edge = edge_of[n_nodes + label];
            loop {
                edges.push(edge);
                let node = owner[edge as usize] as usize;
                if node == 0 {
                    break;
                }
                edge = edge_of[node];
            }
            edges[first..].reverse();
            paths.push(edges.len());
        }
        Ok(Self { starts, depth, paths, edges, owner })
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.depth.len()
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.paths.len() - 1
    }

    /// Number of children of `node`.
    pub fn n_children(&self, node: usize) -> usize {
        self.starts[node + 1] - self.starts[node]
    }

    /// The child of `node` that leads to `label`, if there is one.
    pub fn child(&self, node: usize, label: usize) -> Option<usize> {
        let path = &self.edges[self.paths[label]..self.paths[label + 1]];
        let edge = *path.get(self.depth[node])? as usize;
        (self.owner[edge] as usize == node).then(|| edge - self.starts[node])
    }

    /// The nodes above `label`, from the root.
    fn nodes(&self, label: usize) -> impl Iterator<Item = u32> + '_ {
        self.edges[self.paths[label]..self.paths[label + 1]].iter().map(|&edge| self.owner[edge as usize])
    }
}

/// The labels of the rows, as a sparse matrix without values.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    starts: &'a [usize],
    labels: &'a [i32],
}

impl<'a> Labels<'a> {
    /// Check that all labels are below `n_labels`; `starts` come from [`crate::data::csr::checked_starts`].
    pub fn new(starts: &'a [usize], labels: &'a [i32], n_labels: usize) -> Result<Self, KernelError> {
        if let Some(at) = labels.iter().position(|&l| usize::try_from(l).map_or(true, |l| l >= n_labels)) {
            let row = starts.partition_point(|&start| start <= at).saturating_sub(1);
            return Err(KernelError::IndexOutOfRange { row, index: labels[at].into(), n_cols: n_labels });
        }
        Ok(Self { starts, labels })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The labels of row `i`.
    pub fn row(&self, i: usize) -> &'a [i32] {
        self.labels.get(self.starts[i]..self.starts[i + 1]).unwrap_or(&[])
    }

    /// Whether every row has one label.
    pub fn single(&self) -> bool {
        self.starts.windows(2).all(|pair| pair[1] == pair[0] + 1)
    }
}

/// The rows that teach each node, rising.
#[derive(Debug, Clone)]
pub struct Lessons {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Lessons {
    /// Find the rows of every node.
    pub fn new(plan: &Plan, labels: &Labels<'_>) -> Result<Self, KernelError> {
        if u32::try_from(labels.n_rows()).is_err() {
            return Err(KernelError::Argument(format!("{} rows are too many", labels.n_rows())));
        }
        let mut counts = vec![0usize; plan.n_nodes() + 1];
        each_pair(plan, labels, |node, _| counts[node as usize + 1] += 1);
        for node in 0..plan.n_nodes() {
            counts[node + 1] += counts[node];
        }
        let mut next = counts.clone();
        let mut rows = vec![0u32; counts[plan.n_nodes()]];
        each_pair(plan, labels, |node, row| {
            rows[next[node as usize]] = row;
            next[node as usize] += 1;
        });
        Ok(Self { starts: counts, rows })
    }

    /// The rows of `node`.
    pub fn rows(&self, node: usize) -> &[u32] {
        &self.rows[self.starts[node]..self.starts[node + 1]]
    }
}

/// Call `visit` with every (node, row), rows rising.
fn each_pair(plan: &Plan, labels: &Labels<'_>, mut visit: impl FnMut(u32, u32)) {
    let mut nodes = Vec::new();
    for row in 0..labels.n_rows() {
        nodes.clear();
        nodes.push(0);
        nodes.extend(labels.row(row).iter().flat_map(|&label| plan.nodes(label as usize)));
        nodes.sort_unstable();
        nodes.dedup();
        nodes.iter().for_each(|&node| visit(node, row as u32));
    }
}
