//! Inference on batches of graphs: scores of nodes and of pairs in, labellings, marginals and bounds out.

use std::sync::OnceLock;

use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use separatrix_kernels::KernelError;
use separatrix_kernels::graph::forest::{Forest, Order};
use separatrix_kernels::graph::junction::{Elimination, Junction};
use separatrix_kernels::graph::scores::Scores;
use separatrix_kernels::graph::wiring::Wiring;
use separatrix_kernels::interrupt::Interrupt;

use crate::arrays::{matrix, new_matrix, vector};
use crate::errors::{data_error, to_python};
use crate::run::run;

/// Cells of the tables of a junction tree that nobody may ask for.
const MOST_CELLS: usize = 1 << 30;

/// GraphWiring(node_offsets, edge_offsets, edge_from, edge_to, edge_kind)
///
/// Edges of a batch of graphs: graph g has the nodes node_offsets[g]..node_offsets[g + 1] and the edges
/// edge_offsets[g]..edge_offsets[g + 1]; the ends of edges are numbers of the batch.
#[pyclass(frozen, module = "separatrix._core")]
pub struct GraphWiring {
    inner: Wiring,
    order: OnceLock<Order>,
    eliminations: OnceLock<Vec<Elimination>>,
}

#[pymethods]
impl GraphWiring {
    #[new]
    fn new(
        node_offsets: PyReadonlyArray1<'_, i64>,
        edge_offsets: PyReadonlyArray1<'_, i64>,
        edge_from: PyReadonlyArray1<'_, i64>,
        edge_to: PyReadonlyArray1<'_, i64>,
        edge_kind: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let inner = Wiring::new(
            vector("node_offsets", &node_offsets)?,
            vector("edge_offsets", &edge_offsets)?,
            vector("edge_from", &edge_from)?,
            vector("edge_to", &edge_to)?,
            vector("edge_kind", &edge_kind)?,
        )
        .map_err(to_python)?;
        Ok(Self { inner, order: OnceLock::new(), eliminations: OnceLock::new() })
    }

    /// (graphs, nodes, edges, kinds of edges)
    #[getter]
    fn shape(&self) -> (usize, usize, usize, usize) {
        (self.inner.n_graphs(), self.inner.n_nodes(), self.inner.n_edges(), self.inner.n_kinds())
    }

    /// Whether no graph has a cycle.
    fn is_forest(&self) -> bool {
        self.order().is_ok()
    }

    /// Fail with the edge that closes a cycle, if there is one.
    fn check_forest(&self) -> PyResult<()> {
        self.order().map(|_| ()).map_err(to_python)
    }

    /// Width of every graph's junction tree of at most `max_cells` cells for `n_labels` labels.
    fn widths<'py>(
        &self,
        py: Python<'py>,
        n_labels: usize,
        max_cells: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let work = self.inner.n_edges().saturating_mul(1 << 10);
        let found = run(py, work, |stop| self.eliminations(n_labels, max_cells, stop))?;
        Ok(PyArray1::from_iter(py, found.iter().map(|e| e.width() as i64)))
    }
}

impl GraphWiring {
    /// The wiring.
    pub fn wiring(&self) -> &Wiring {
        &self.inner
    }

    fn order(&self) -> Result<&Order, KernelError> {
        match self.order.get() {
            Some(order) => Ok(order),
            None => {
                let order = Order::new(&self.inner)?;
                Ok(self.order.get_or_init(|| order))
            }
        }
    }

    fn eliminations(&self, k: usize, most: usize, stop: &Interrupt) -> Result<&[Elimination], KernelError> {
        let most = most.min(MOST_CELLS);
        if let Some(found) = self.eliminations.get() {
            found.iter().enumerate().try_for_each(|(graph, one)| one.check(graph, k, most))?;
            return Ok(found);
        }
        let one = |graph: usize| {
            stop.check()?;
            Elimination::new(&self.inner, graph, k, most)
        };
        let found = (0..self.inner.n_graphs()).map(one).collect::<Result<Vec<_>, _>>()?;
        Ok(self.eliminations.get_or_init(|| found))
    }
}

/// Call `body` with the checked scores, off the interpreter; `passes` says how often they are gone over.
pub fn with_scores<R: Send>(
    py: Python<'_>,
    graph: &GraphWiring,
    scores: &Bound<'_, PyTuple>,
    passes: usize,
    body: impl FnOnce(Scores<'_>, &Interrupt) -> Result<R, KernelError> + Send,
) -> PyResult<R> {
    type Arrays<'py> =
        (PyReadonlyArray2<'py, f64>, PyReadonlyArray3<'py, f64>, Option<PyReadonlyArray3<'py, f64>>);
    let (unary, tables, own): Arrays<'_> = scores
        .extract()
        .map_err(|_| data_error("scores must be (unary, tables, own or None), float64 arrays".into()))?;
    let k = unary.shape()[1];
    for array in [Some(&tables), own.as_ref()].into_iter().flatten() {
        if array.shape()[1..] != [k, k] {
            let message = format!("pair scores must have shape (n, {k}, {k}), got {:?}", array.shape());
            return Err(data_error(message));
        }
    }
    for (name, array) in [("tables", Some(&tables)), ("own", own.as_ref())] {
        if array.is_some_and(|array| !array.is_c_contiguous()) {
            return Err(data_error(format!("{name} must be C-contiguous")));
        }
    }
    let unary = matrix("unary", &unary)?;
    let contiguous = |_| data_error("pair scores must be contiguous".into());
    let tables = tables.as_slice().map_err(contiguous)?;
    let own = own.as_ref().map(|own| own.as_slice().map_err(contiguous)).transpose()?;
    let wiring = graph.wiring();
    let cells = unary.len().saturating_add(wiring.n_edges().saturating_mul(k).saturating_mul(k));
    let work = cells.saturating_mul(16).saturating_mul(passes);
    run(py, work, |stop| body(Scores::new(wiring, k, unary, tables, own)?, stop))
}

/// Number of labels that scores are for.
pub fn n_labels(scores: &Bound<'_, PyTuple>) -> PyResult<usize> {
    Ok(scores.get_item(0)?.extract::<PyReadonlyArray2<'_, f64>>()?.shape()[1])
}

/// Numbers per edge and pair of labels, of shape (n_edges, k, k).
pub fn pairs<'py>(py: Python<'py>, values: Vec<f64>, k: usize) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let n = values.len() / (k * k).max(1);
    PyArray1::from_vec(py, values).reshape([n, k, k])
}

/// Labels as Python has them.
pub fn labels<'py>(py: Python<'py>, labels: Vec<u32>) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, labels.into_iter().map(i64::from))
}

/// An exact method: of forests, or of junction trees of at most so many cells.
enum Exact<'a> {
    Forest(Forest<'a>),
    Junction(Junction<'a>),
}

fn exact<'a>(
    graph: &'a GraphWiring,
    scores: Scores<'a>,
    max_cells: Option<usize>,
    stop: &Interrupt,
) -> Result<Exact<'a>, KernelError> {
    Ok(match max_cells {
        None => Exact::Forest(Forest::new(scores, graph.order()?)),
        Some(most) => Exact::Junction(Junction::new(scores, graph.eliminations(scores.k, most, stop)?)),
    })
}

/// Best label of every node, and the score of the best labelling of every graph.
///
/// `scores` is (unary, tables, own): of shape (n_nodes, k), (n_kinds, k, k) and (n_edges, k, k) or None. Minus infinity
/// forbids. `max_cells` is None for forests, or the cells that the tables of a graph's junction tree may have.
#[pyfunction]
#[pyo3(signature = (graph, scores, max_cells, n_threads))]
#[allow(clippy::type_complexity)]
pub fn graph_best<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    max_cells: Option<usize>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
    let graph = graph.get();
    let (found, values) =
        with_scores(py, graph, scores, 1, |scores, stop| match exact(graph, scores, max_cells, stop)? {
            Exact::Forest(forest) => forest.best(n_threads, stop),
            Exact::Junction(junction) => junction.best(n_threads, stop),
        })?;
    Ok((labels(py, found), PyArray1::from_vec(py, values)))
}

/// log Z of every graph.
#[pyfunction]
#[pyo3(signature = (graph, scores, max_cells, n_threads))]
pub fn graph_log_partition<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    max_cells: Option<usize>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let graph = graph.get();
    let values =
        with_scores(py, graph, scores, 1, |scores, stop| match exact(graph, scores, max_cells, stop)? {
            Exact::Forest(forest) => forest.log_partition(n_threads, stop),
            Exact::Junction(junction) => junction.log_partition(n_threads, stop),
        })?;
    Ok(PyArray1::from_vec(py, values))
}

/// log Z of every graph, marginals of the nodes (n_nodes, k) and, with `with_edges`, of the edges (n_edges, k, k).
#[pyfunction]
#[pyo3(signature = (graph, scores, with_edges, max_cells, n_threads))]
#[allow(clippy::type_complexity)]
pub fn graph_marginals<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    with_edges: bool,
    max_cells: Option<usize>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray3<f64>>>)> {
    let graph = graph.get();
    let (log_z, nodes, edges) =
        with_scores(py, graph, scores, 2, |scores, stop| match exact(graph, scores, max_cells, stop)? {
            Exact::Forest(forest) => forest.marginals(with_edges, n_threads, stop),
            Exact::Junction(junction) => junction.marginals(with_edges, n_threads, stop),
        })?;
    let k = n_labels(scores)?;
    let edges = if with_edges { Some(pairs(py, edges, k)?) } else { None };
    Ok((PyArray1::from_vec(py, log_z), new_matrix(py, nodes, k)?, edges))
}

/// Draws of labels, of shape (n_draws, n_nodes).
#[pyfunction]
#[pyo3(signature = (graph, scores, n_draws, seed, max_cells, n_threads))]
pub fn graph_sample<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    n_draws: usize,
    seed: u64,
    max_cells: Option<usize>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let graph = graph.get();
    let n_nodes = graph.wiring().n_nodes();
    if n_nodes.max(1).checked_mul(n_draws).is_none_or(|n| n > 1 << 31) {
        return Err(data_error(format!("{n_draws} draws of {n_nodes} nodes are too many")));
    }
    let found = with_scores(py, graph, scores, n_draws.saturating_add(1), |scores, stop| {
        match exact(graph, scores, max_cells, stop)? {
            Exact::Forest(forest) => forest.sample(n_draws, seed, n_threads, stop),
            Exact::Junction(junction) => junction.sample(n_draws, seed, n_threads, stop),
        }
    })?;
    labels(py, found).reshape([n_draws, n_nodes])
}
