//! Which weights the edges, starts and ends of a chain carry, besides those of the labels.
//!
//! The weights of a chain are one vector: those of the labels as [`Encoded`] lays them out, then the others,
//! of edges, starts and ends, and last those of the attributes of edges. An edge of a chain of second order carries two of
//! them, that of a pair of labels and that of a triple.

use crate::chain::encoded::Encoded;
use crate::chain::graph::Graph;
use crate::error::{KernelError, check_length};
use crate::real::Real;

/// Stands for a state that carries no weight.
const NONE: u32 = u32::MAX;
/// Entries of the table of successors at most.
const MOST_SUCCESSORS: usize = 1 << 26;

/// States, edges, and the numbers of their weights, counted after those of the labels.
#[derive(Debug)]
pub struct Links {
    graph: Graph,
    edge_starts: Vec<usize>,
    edge_weights: Vec<u32>,
    start: Vec<u32>,
    may_start: Vec<bool>,
    end: Vec<u32>,
    n_weights: usize,
    /// State in which a sequence begins with a label.
    first_state: Vec<u32>,
    /// Edge from a state to a label, n_states x n_labels.
    next_edge: Vec<u32>,
}

impl Links {
    /// Edge e carries `edge_weights[edge_starts[e]..edge_starts[e + 1]]`. In `start` and `end`, -1 stands for a state that
    /// carries no weight; in `start`, -2 for one that no sequence begins with.
    pub fn new(
        graph: Graph,
        edge_starts: &[i64],
        edge_weights: &[i64],
        start: &[i64],
        end: &[i64],
        n_weights: usize,
    ) -> Result<Self, KernelError> {
        let (n_states, k) = (graph.n_states(), graph.n_labels());
        check_length("edge starts", edge_starts.len(), graph.n_edges() + 1)?;
        check_length("start weights", start.len(), n_states)?;
        check_length("end weights", end.len(), n_states)?;
        let bad = || KernelError::Argument("the weights of the edges are malformed".into());
        let number = |&w: &i64| {
            u32::try_from(w).ok().filter(|&w| (w as usize) < n_weights && w != NONE).ok_or_else(bad)
        };
        let optional = |w: &i64| if *w < 0 { Ok(NONE) } else { number(w) };
        let starts: Vec<usize> =
            edge_starts.iter().map(|&s| usize::try_from(s).map_err(|_| bad())).collect::<Result<_, _>>()?;
        if starts[0] != 0 || starts.last() != Some(&edge_weights.len()) || !starts.is_sorted() {
            return Err(bad());
        }
        let size = n_states.checked_mul(k).filter(|&n| n <= MOST_SUCCESSORS);
        let size =
            size.ok_or_else(|| KernelError::Argument(format!("{k} labels are too many for this chain")))?;
        let mut next_edge = vec![NONE; size];
        for e in 0..graph.n_edges() {
            next_edge[graph.from(e) * k + graph.label(graph.to(e))] = e as u32;
        }
        let mut first_state = vec![NONE; k];
        for state in (0..n_states).filter(|&s| start[s] > -2) {
            first_state[graph.label(state)] = state as u32;
        }
        if first_state.contains(&NONE) || next_edge.contains(&NONE) {
            return Err(KernelError::Argument("every label must be able to begin, and to follow".into()));
        }
        Ok(Self {
            edge_starts: starts,
            edge_weights: edge_weights.iter().map(number).collect::<Result<_, _>>()?,
            may_start: start.iter().map(|&w| w > -2).collect(),
            start: start.iter().map(optional).collect::<Result<_, _>>()?,
            end: end.iter().map(optional).collect::<Result<_, _>>()?,
            graph,
            n_weights,
            first_state,
            next_edge,
        })
    }

    /// States and edges.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Number of weights besides those of the labels.
    pub fn n_weights(&self) -> usize {
        self.n_weights
    }

    /// The states of a labelling.
    pub fn states_of(&self, labels: &[u32], states: &mut Vec<u32>) {
        states.clear();
        let k = self.graph.n_labels();
        for &label in labels {
            let state = match states.last() {
                None => self.first_state[label as usize],
                Some(&before) => {
                    self.graph.to(self.next_edge[before as usize * k + label as usize] as usize) as u32
                }
            };
            states.push(state);
        }
    }

    /// The edge from a state to one that may follow it.
    #[inline(always)]
    pub fn edge(&self, from: u32, to: u32) -> usize {
        let k = self.graph.n_labels();
        self.next_edge[from as usize * k + self.graph.label(to as usize)] as usize
    }

    /// Numbers of the weights of an edge.
    #[inline(always)]
    pub fn of_edge(&self, edge: usize) -> &[u32] {
        &self.edge_weights[self.edge_starts[edge]..self.edge_starts[edge + 1]]
    }

    /// Number of the weight of beginning in a state.
    #[inline(always)]
    pub fn of_start(&self, state: u32) -> Option<u32> {
        Some(self.start[state as usize]).filter(|&w| w != NONE)
    }

    /// Number of the weight of ending in a state.
    #[inline(always)]
    pub fn of_end(&self, state: u32) -> Option<u32> {
        Some(self.end[state as usize]).filter(|&w| w != NONE)
    }

    /// Number of the first weight of the attributes of edges.
    pub fn first_of_attributes<T: Real>(&self, data: &Encoded<T>) -> usize {
        self.n_weights - data.n_edge_weights()
    }

    /// Write the scores of edges, starts and ends at the weights `w`, which are all but those of the labels.
    pub fn scores<T: Real>(
        &self,
        w: &[T],
        factor: f64,
        edges: &mut Vec<f64>,
        start: &mut Vec<f64>,
        end: &mut Vec<f64>,
    ) {
        let score = |&at: &u32| if at == NONE { 0.0 } else { factor * w[at as usize].to_f64() };
        edges.clear();
        edges.extend((0..self.graph.n_edges()).map(|e| self.of_edge(e).iter().map(score).sum::<f64>()));
        start.clear();
        let forbid = |(at, &may): (&u32, &bool)| if may { score(at) } else { f64::NEG_INFINITY };
        start.extend(self.start.iter().zip(&self.may_start).map(forbid));
        end.clear();
        end.extend(self.end.iter().map(score));
    }
}
