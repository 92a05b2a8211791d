//! Inference on chains of labels: the scores of many sequences in, labellings and marginals out.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use separatrix_kernels::KernelError;
use separatrix_kernels::chain::batch::Scores;
use separatrix_kernels::chain::graph::{Edges, Graph};
use separatrix_kernels::interrupt::Interrupt;

use crate::arrays::{matrix, new_matrix, vector};
use crate::errors::{data_error, to_python};
use crate::run::run;

/// ChainGraph(n_labels, label_of, edge_from, edge_to)
///
/// States of a chain, the label that each carries, and the edges between them, sorted by `edge_to`.
#[pyclass(frozen, module = "separatrix._core")]
pub struct ChainGraph {
    /// The graph.
    pub inner: Graph,
}

#[pymethods]
impl ChainGraph {
    #[new]
    fn new(
        n_labels: usize,
        label_of: PyReadonlyArray1<'_, i64>,
        edge_from: PyReadonlyArray1<'_, i64>,
        edge_to: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let (from, to) = (vector("edge_from", &edge_from)?, vector("edge_to", &edge_to)?);
        let inner = Graph::new(n_labels, vector("label_of", &label_of)?, from, to).map_err(to_python)?;
        Ok(Self { inner })
    }

    /// States are labels, and every pair is an edge, number to * n_labels + from.
    #[classmethod]
    fn first_order(_class: &Bound<'_, PyType>, n_labels: usize) -> PyResult<Self> {
        if n_labels > 1 << 12 {
            return Err(data_error(format!("{n_labels} labels are too many for a chain")));
        }
        Ok(Self { inner: Graph::first_order(n_labels) })
    }

    /// (labels, states, edges)
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        (self.inner.n_labels(), self.inner.n_states(), self.inner.n_edges())
    }
}

/// Offsets of sequences as places.
pub fn places(offsets: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let narrow =
        |&o: &i64| usize::try_from(o).map_err(|_| data_error(format!("{o} is not the offset of a sequence")));
    vector("offsets", offsets)?.iter().map(narrow).collect()
}

/// The scores as they came from Python.
#[derive(FromPyObject)]
enum EdgeArray<'py> {
    Shared(PyReadonlyArray1<'py, f64>),
    PerToken(PyReadonlyArray2<'py, f64>),
}

/// Call `body` with the checked scores, off the interpreter.
fn with_scores<R: Send>(
    py: Python<'_>,
    graph: &Bound<'_, ChainGraph>,
    scores: &Bound<'_, PyTuple>,
    offsets: &PyReadonlyArray1<'_, i64>,
    body: impl FnOnce(&Scores<'_>, &Interrupt) -> Result<R, KernelError> + Send,
) -> PyResult<R> {
    type Arrays<'py> =
        (PyReadonlyArray2<'py, f64>, EdgeArray<'py>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);
    let (nodes, edges, start, end): Arrays<'_> = scores
        .extract()
        .map_err(|_| data_error("scores must be (nodes, edges, start, end), float64 arrays".into()))?;
    let offsets = places(offsets)?;
    let graph = &graph.get().inner;
    let (nodes, start, end) = (matrix("nodes", &nodes)?, vector("start", &start)?, vector("end", &end)?);
    let edges = match &edges {
        EdgeArray::Shared(edges) => Edges::Shared(vector("edges", edges)?),
        EdgeArray::PerToken(edges) => Edges::PerToken(matrix("edges", edges)?),
    };
    let work = nodes.len().saturating_mul(graph.n_edges());
    run(py, work, |stop| body(&Scores::new(graph, nodes, edges, start, end, &offsets)?, stop))
}

type Labels<'py> = Bound<'py, PyArray1<i64>>;
type Values<'py> = Bound<'py, PyArray1<f64>>;

fn labels<'py>(py: Python<'py>, labels: impl IntoIterator<Item = u32>) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, labels.into_iter().map(i64::from))
}

/// Best label of every token, and the score of the best labelling of every sequence.
///
/// `scores` is (nodes, edges, start, end): of shape (n_tokens, n_labels), (n_edges,) or (n_tokens, n_edges),
/// (n_states,) and (n_states,). Minus infinity forbids.
#[pyfunction]
pub fn chain_best<'py>(
    py: Python<'py>,
    graph: &Bound<'py, ChainGraph>,
    scores: &Bound<'py, PyTuple>,
    offsets: PyReadonlyArray1<'py, i64>,
    n_threads: usize,
) -> PyResult<(Labels<'py>, Values<'py>)> {
    let (best, values) = with_scores(py, graph, scores, &offsets, |s, stop| s.best(n_threads, stop))?;
    Ok((labels(py, best), PyArray1::from_vec(py, values)))
}

/// For every sequence its k best labellings, of shape (at most k, length), and their scores.
#[pyfunction]
pub fn chain_k_best<'py>(
    py: Python<'py>,
    graph: &Bound<'py, ChainGraph>,
    scores: &Bound<'py, PyTuple>,
    offsets: PyReadonlyArray1<'py, i64>,
    k: usize,
    n_threads: usize,
) -> PyResult<Vec<(Bound<'py, PyArray2<i64>>, Values<'py>)>> {
    let all = with_scores(py, graph, scores, &offsets, |s, stop| s.k_best(k, n_threads, stop))?;
    let arrays = |found: Vec<(f64, Vec<u32>)>| {
        let length = found.first().map_or(0, |(_, path)| path.len());
        let values = PyArray1::from_iter(py, found.iter().map(|&(score, _)| score));
        let paths = labels(py, found.iter().flat_map(|(_, path)| path.iter().copied()));
        Ok((paths.reshape([found.len(), length])?, values))
    };
    all.into_iter().map(arrays).collect()
}

/// log Z of every sequence.
#[pyfunction]
pub fn chain_log_partition<'py>(
    py: Python<'py>,
    graph: &Bound<'py, ChainGraph>,
    scores: &Bound<'py, PyTuple>,
    offsets: PyReadonlyArray1<'py, i64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let all = with_scores(py, graph, scores, &offsets, |s, stop| s.log_partition(n_threads, stop))?;
    Ok(PyArray1::from_vec(py, all))
}

/// log Z of every sequence, marginals of the labels (n_tokens, n_labels) and, with `with_edges`, of the edges into
/// every token (n_tokens, n_edges).
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn chain_marginals<'py>(
    py: Python<'py>,
    graph: &Bound<'py, ChainGraph>,
    scores: &Bound<'py, PyTuple>,
    offsets: PyReadonlyArray1<'py, i64>,
    with_edges: bool,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray2<f64>>>)> {
    let (log_z, nodes, edges) =
        with_scores(py, graph, scores, &offsets, |s, stop| s.marginals(with_edges, n_threads, stop))?;
    let graph = &graph.get().inner;
    let edges = if with_edges { Some(new_matrix(py, edges, graph.n_edges())?) } else { None };
    Ok((PyArray1::from_vec(py, log_z), new_matrix(py, nodes, graph.n_labels())?, edges))
}

/// Draws of labels, of shape (n_draws, n_tokens).
#[pyfunction]
pub fn chain_sample<'py>(
    py: Python<'py>,
    graph: &Bound<'py, ChainGraph>,
    scores: &Bound<'py, PyTuple>,
    offsets: PyReadonlyArray1<'py, i64>,
    n_draws: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let tokens = places(&offsets)?.last().copied().unwrap_or(0);
    if tokens.checked_mul(n_draws).is_none_or(|n| n > 1 << 34) {
        return Err(data_error(format!("{n_draws} draws of {tokens} tokens are too many")));
    }
    let all = with_scores(py, graph, scores, &offsets, |s, stop| s.sample(n_draws, seed, n_threads, stop))?;
    labels(py, all).reshape([n_draws, tokens])
}
