//! Which nodes the edges of a batch of graphs join.
//!
//! Nodes and edges of all graphs stand one graph after the other, and nodes have one numbering over the batch.
//! Each edge carries two messages: number 2 e from its first node to its second, 2 e + 1 back, so that the
//! message against number m is m ^ 1.

use std::ops::Range;

use crate::error::{KernelError, check_length};

/// The edges of a batch of graphs, checked.
#[derive(Debug, Clone)]
pub struct Wiring {
    node_offsets: Vec<usize>,
    edge_offsets: Vec<usize>,
    from: Vec<u32>,
    to: Vec<u32>,
    kind: Vec<u32>,
    /// Messages out of node i: `out[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    out: Vec<u32>,
}

impl Wiring {
    /// Take the offsets of nodes and edges of the graphs, the nodes of every edge, and its kind.
    pub fn new(
        node_offsets: &[i64],
        edge_offsets: &[i64],
        from: &[i64],
        to: &[i64],
        kind: &[i64],
    ) -> Result<Self, KernelError> {
        check_length("edge ends", to.len(), from.len())?;
        check_length("edge kinds", kind.len(), from.len())?;
        check_length("edge offsets", edge_offsets.len(), node_offsets.len())?;
        let n = node_offsets.last().copied().unwrap_or(0);
        let node_offsets = places("node offsets", node_offsets, usize::try_from(n).unwrap_or(0))?;
        let edge_offsets = places("edge offsets", edge_offsets, from.len())?;
        let n_nodes = node_offsets[node_offsets.len() - 1];
        if n_nodes >= 1 << 31 || from.len() >= 1 << 30 {
            let message = format!("{n_nodes} nodes and {} edges are too many for one batch", from.len());
            return Err(KernelError::Argument(message));
        }
        for graph in 0..node_offsets.len() - 1 {
            let nodes = node_offsets[graph]..node_offsets[graph + 1];
            for e in edge_offsets[graph]..edge_offsets[graph + 1] {
                check_edge(graph, e, &nodes, from[e], to[e])?;
            }
        }
        if let Some(e) = kind.iter().position(|&k| u32::try_from(k).is_err()) {
            return Err(KernelError::Argument(format!("edge {e} has kind {}, which is not a kind", kind[e])));
        }
        let narrow = |values: &[i64]| values.iter().map(|&v| v as u32).collect::<Vec<u32>>();
        let (from, to, kind) = (narrow(from), narrow(to), narrow(kind));
        let (starts, out) = incidence(n_nodes, &from, &to);
        Ok(Self { node_offsets, edge_offsets, from, to, kind, starts, out })
    }

    /// Number of graphs.
    pub fn n_graphs(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Number of nodes of all graphs.
    pub fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of edges of all graphs.
    pub fn n_edges(&self) -> usize {
        self.from.len()
    }

    /// Nodes of a graph.
    pub fn nodes(&self, graph: usize) -> Range<usize> {
        self.node_offsets[graph]..self.node_offsets[graph + 1]
    }

    /// Edges of a graph.
    pub fn edges(&self, graph: usize) -> Range<usize> {
        self.edge_offsets[graph]..self.edge_offsets[graph + 1]
    }

    /// First node of an edge.
    #[inline(always)]
    pub fn from(&self, edge: usize) -> usize {
        self.from[edge] as usize
    }

    /// Second node of an edge.
    #[inline(always)]
    pub fn to(&self, edge: usize) -> usize {
        self.to[edge] as usize
    }

    /// Kind of an edge: which table of scores it shares.
    #[inline(always)]
    pub fn kind(&self, edge: usize) -> usize {
        self.kind[edge] as usize
    }

    /// Number of kinds that the edges name.
    pub fn n_kinds(&self) -> usize {
        self.kind.iter().max().map_or(0, |&k| k as usize + 1)
    }

    /// Messages out of a node, by rising edge.
    #[inline(always)]
    pub fn out(&self, node: usize) -> &[u32] {
        &self.out[self.starts[node]..self.starts[node + 1]]
    }

    /// Node that a message goes to.
    #[inline(always)]
    pub fn target(&self, message: usize) -> usize {
        let edge = message / 2;
        if message.is_multiple_of(2) { self.to(edge) } else { self.from(edge) }
    }

    /// Nodes of a graph, every one after a neighbor of its own component, components by their lowest node.
    pub fn breadth_first(&self, graph: usize) -> Vec<u32> {
        let nodes = self.nodes(graph);
        let mut seen = vec![false; nodes.len()];
        let mut order = Vec::with_capacity(nodes.len());
        for root in nodes.clone() {
            if seen[root - nodes.start] {
                continue;
            }
            seen[root - nodes.start] = true;
            let mut next = order.len();
            order.push(root as u32);
            while next < order.len() {
                for &message in self.out(order[next] as usize) {
                    let other = self.target(message as usize);
                    if !seen[other - nodes.start] {
                        seen[other - nodes.start] = true;
                        order.push(other as u32);
                    }
                }
                next += 1;
            }
        }
        order
    }
}

fn check_edge(graph: usize, e: usize, nodes: &Range<usize>, from: i64, to: i64) -> Result<(), KernelError> {
    let inside = |node: i64| usize::try_from(node).is_ok_and(|node| nodes.contains(&node));
    let message = if !inside(from) || !inside(to) {
        format!(
            "edge {e} joins the nodes {from} and {to}, but its graph {graph} has the nodes {}..{}",
            nodes.start, nodes.end
        )
    } else if from == to {
        format!("edge {e} of graph {graph} is a self loop at node {from}; add its scores to the node's")
    } else {
        return Ok(());
    };
    Err(KernelError::Argument(message))
}

fn places(what: &str, offsets: &[i64], n: usize) -> Result<Vec<usize>, KernelError> {
    let good = offsets.first() == Some(&0) && offsets.is_sorted() && offsets.last() == Some(&(n as i64));
    if good {
        return Ok(offsets.iter().map(|&o| o as usize).collect());
    }
    Err(KernelError::Argument(format!("{what} must begin at 0, never fall, and end at {n}")))
}

fn incidence(n_nodes: usize, from: &[u32], to: &[u32]) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0usize; n_nodes + 1];
    for &node in from.iter().chain(to) {
        starts[node as usize + 1] += 1;
    }
    for node in 0..n_nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut out = vec![0u32; 2 * from.len()];
    for e in 0..from.len() {
        for (message, node) in [(2 * e, from[e]), (2 * e + 1, to[e])] {
            out[next[node as usize]] = message as u32;
            next[node as usize] += 1;
        }
    }
    (starts, out)
}
