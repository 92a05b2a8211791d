//! Approximate inference on graphs by messages, and bounds.

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use separatrix_kernels::graph::dual::best_bound;
use separatrix_kernels::graph::grid::grid_messages as kernel_grid_messages;
use separatrix_kernels::graph::loopy::{Found, loopy};
use separatrix_kernels::graph::mean_field::mean_field;
use separatrix_kernels::graph::schedule::{Ending, Options, Schedule};
use separatrix_kernels::graph::trw::trw;

use crate::arrays::{matrix, new_matrix};
use crate::errors::data_error;
use crate::graph::{GraphWiring, labels, n_labels, pairs, with_scores};

/// (schedule, damping, tol, max_iter) as Python gives them.
type Settings = (String, f64, f64, usize);

fn options((schedule, damping, tol, max_iter): Settings) -> PyResult<Options> {
    let schedule = match schedule.as_str() {
        "synchronous" => Schedule::Synchronous,
        "colored" => Schedule::Colored,
        "residual" => Schedule::Residual,
        other => {
            return Err(data_error(format!("schedule {other:?} is not synchronous, colored or residual")));
        }
    };
    Ok(Options { schedule, damping, tol, max_iter })
}

/// (converged, iterations, residual) of every graph.
type Endings<'py> = (Bound<'py, PyArray1<bool>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

fn endings<'py>(py: Python<'py>, endings: &[Ending]) -> Endings<'py> {
    (
        PyArray1::from_iter(py, endings.iter().map(|e| e.converged)),
        PyArray1::from_iter(py, endings.iter().map(|e| e.iterations as i64)),
        PyArray1::from_iter(py, endings.iter().map(|e| e.residual)),
    )
}

fn optional<'a>(name: &str, array: Option<&'a PyReadonlyArray2<'_, f64>>) -> PyResult<Option<&'a [f64]>> {
    array.map(|array| matrix(name, array)).transpose()
}

/// (values, nodes, edges or None, messages, endings)
type Sums<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<Bound<'py, PyArray3<f64>>>,
    Bound<'py, PyArray2<f64>>,
    Endings<'py>,
);

fn sums<'py>(py: Python<'py>, found: Found, k: usize, with_edges: bool) -> PyResult<Sums<'py>> {
    Ok((
        PyArray1::from_vec(py, found.values),
        new_matrix(py, found.nodes, k)?,
        if with_edges { Some(pairs(py, found.edges, k)?) } else { None },
        new_matrix(py, found.messages, k)?,
        endings(py, &found.endings),
    ))
}

/// Loopy belief propagation for sums: (estimate of log Z of every graph, beliefs of the nodes, of the edges, messages of shape
/// (2 n_edges, k), (converged, iterations, residual)).
///
/// `settings` is (schedule, damping, tol, max_iter); `messages` are those of an earlier call, to start from.
#[pyfunction]
#[pyo3(signature = (graph, scores, settings, messages, with_edges, n_threads))]
pub fn graph_beliefs<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    settings: Settings,
    messages: Option<PyReadonlyArray2<'py, f64>>,
    with_edges: bool,
    n_threads: usize,
) -> PyResult<Sums<'py>> {
    let options = options(settings)?;
    let warm = optional("messages", messages.as_ref())?;
    let found = with_scores(py, graph.get(), scores, options.max_iter, |scores, stop| {
        loopy(scores, false, &options, warm, with_edges, n_threads, stop)
    })?;
    sums(py, found, n_labels(scores)?, with_edges)
}

/// Loopy belief propagation for maxima: (labels, their score by graph, messages, (converged, iterations, residual)).
#[pyfunction]
#[pyo3(signature = (graph, scores, settings, messages, n_threads))]
#[allow(clippy::type_complexity)]
pub fn graph_max_beliefs<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    settings: Settings,
    messages: Option<PyReadonlyArray2<'py, f64>>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Endings<'py>)>
{
    let options = options(settings)?;
    let warm = optional("messages", messages.as_ref())?;
    let found = with_scores(py, graph.get(), scores, options.max_iter, |scores, stop| {
        loopy(scores, true, &options, warm, false, n_threads, stop)
    })?;
    Ok((
        labels(py, found.labels),
        PyArray1::from_vec(py, found.values),
        new_matrix(py, found.messages, n_labels(scores)?)?,
        endings(py, &found.endings),
    ))
}

/// Tree-reweighted belief propagation: as `graph_beliefs`, with an upper bound on log Z that always holds.
#[pyfunction]
#[pyo3(signature = (graph, scores, settings, seed, messages, with_edges, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn graph_tree_reweighted<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    settings: Settings,
    seed: u64,
    messages: Option<PyReadonlyArray2<'py, f64>>,
    with_edges: bool,
    n_threads: usize,
) -> PyResult<Sums<'py>> {
    let options = options(settings)?;
    let warm = optional("messages", messages.as_ref())?;
    let found = with_scores(py, graph.get(), scores, options.max_iter.saturating_add(1), |scores, stop| {
        trw(scores, &options, seed, warm, with_edges, n_threads, stop)
    })?;
    sums(py, found, n_labels(scores)?, with_edges)
}

/// Mean field: (lower bound on log Z of every graph, distributions of the nodes, (converged, iterations, residual)).
#[pyfunction]
#[pyo3(signature = (graph, scores, settings, start, n_threads))]
#[allow(clippy::type_complexity)]
pub fn graph_mean_field<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    settings: Settings,
    start: Option<PyReadonlyArray2<'py, f64>>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Endings<'py>)> {
    let options = options(settings)?;
    let warm = optional("start", start.as_ref())?;
    let found = with_scores(py, graph.get(), scores, options.max_iter, |scores, stop| {
        mean_field(scores, &options, warm, n_threads, stop)
    })?;
    let nodes = new_matrix(py, found.nodes, n_labels(scores)?)?;
    Ok((PyArray1::from_vec(py, found.values), nodes, endings(py, &found.endings)))
}

/// Dual decomposition: (labels, their score by graph, upper bound on the best score, (converged, iterations, residual)).
#[pyfunction]
#[pyo3(signature = (graph, scores, settings, seed, n_threads))]
#[allow(clippy::type_complexity)]
pub fn graph_best_bound<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    settings: Settings,
    seed: u64,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Endings<'py>)>
{
    let options = options(settings)?;
    let found = with_scores(py, graph.get(), scores, options.max_iter.saturating_add(1), |scores, stop| {
        best_bound(scores, &options, seed, n_threads, stop)
    })?;
    Ok((
        labels(py, found.labels),
        PyArray1::from_vec(py, found.values),
        PyArray1::from_vec(py, found.bounds),
        endings(py, &found.endings),
    ))
}

/// Messages of images of two labels, to start from: (messages, (converged, iterations, residual)).
///
/// `shapes` is (height, width) of every graph, whose edges stand along rows first, then down columns.
#[pyfunction]
#[pyo3(signature = (graph, scores, shapes, maximum, settings, messages, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn grid_messages<'py>(
    py: Python<'py>,
    graph: &Bound<'py, GraphWiring>,
    scores: &Bound<'py, PyTuple>,
    shapes: Vec<(usize, usize)>,
    maximum: bool,
    settings: Settings,
    messages: Option<PyReadonlyArray2<'py, f64>>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Endings<'py>)> {
    let options = options(settings)?;
    let warm = optional("messages", messages.as_ref())?;
    let (found, ends) = with_scores(py, graph.get(), scores, options.max_iter, |scores, stop| {
        kernel_grid_messages(scores, &shapes, maximum, &options, warm, n_threads, stop)
    })?;
    Ok((PyArray1::from_vec(py, found).reshape([2 * graph.get().wiring().n_edges(), 2])?, endings(py, &ends)))
}
