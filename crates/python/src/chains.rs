//! A handle on sequence data: attributes of tokens, encoded for passes over them.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use separatrix_kernels::KernelError;
use separatrix_kernels::chain::encoded::Encoded;
use separatrix_kernels::chain::graph::Graph;
use separatrix_kernels::chain::likelihood::{Model, Targets, value_and_grad_by_variables};
use separatrix_kernels::chain::observed::{Pattern, observed};
use separatrix_kernels::data::rows::Rows;

use crate::arrays::{matrix, vector};
use crate::chain::{ChainGraph, places};
use crate::design::with_csr;
use crate::errors::{data_error, to_python};
use crate::precision::{Either, either};
use crate::run::run;
use crate::sparse::Csr;

/// Data in either precision.
pub type EncodedAny = Either<Encoded<f32>, Encoded<f64>>;

/// Chains(tokens, offsets, pattern_starts, pattern_labels, n_labels, merge, edges=None)
///
/// Sequences of tokens whose attribute a has a weight for each of the labels
/// `pattern_labels[pattern_starts[a]:pattern_starts[a + 1]]`. With `merge`, attributes with equal columns share a
/// weight. `edges` is (tokens, pattern_starts, pattern_edges) for attributes of edges.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Chains {
    /// The data.
    pub inner: EncodedAny,
}

/// The labels of the tokens, checked by the kernels.
pub fn label_numbers(labels: Option<&PyReadonlyArray1<'_, i64>>) -> PyResult<Vec<u32>> {
    let Some(labels) = labels else { return Ok(Vec::new()) };
    let narrow = |&y: &i64| u32::try_from(y).map_err(|_| data_error(format!("{y} is not a label number")));
    vector("labels", labels)?.iter().map(narrow).collect()
}

type EdgeParts<'py> = (Bound<'py, Csr>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);

/// Weights of a chain as they come from Python: (weights, edges, start, end, edge_weights).
pub type WeightArrays<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

/// The arrays of a tuple of weights.
pub fn weight_arrays<'py>(weights: &Bound<'py, PyTuple>) -> PyResult<WeightArrays<'py>> {
    weights.extract().map_err(|_| {
        data_error("weights must be (weights, edges, start, end, edge_weights), float64 vectors".into())
    })
}

/// The pattern of outputs below `below`.
pub fn pattern(
    starts: &PyReadonlyArray1<'_, i64>,
    labels: &PyReadonlyArray1<'_, i64>,
    below: usize,
) -> PyResult<Pattern> {
    Pattern::new(vector("pattern_starts", starts)?, vector("pattern_labels", labels)?, below)
        .map_err(to_python)
}

#[pymethods]
impl Chains {
    #[new]
    #[pyo3(signature = (tokens, offsets, pattern_starts, pattern_labels, n_labels, merge, edges=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        tokens: &Bound<'_, Csr>,
        offsets: PyReadonlyArray1<'_, i64>,
        pattern_starts: PyReadonlyArray1<'_, i64>,
        pattern_labels: PyReadonlyArray1<'_, i64>,
        n_labels: usize,
        merge: bool,
        edges: Option<EdgeParts<'_>>,
    ) -> PyResult<Self> {
        let offsets = places(&offsets)?;
        let labels = pattern(&pattern_starts, &pattern_labels, n_labels)?;
        let edge_pattern = match &edges {
            Some((_, starts, found)) => {
                let below = n_labels.checked_mul(n_labels);
                Some(pattern(starts, found, below.ok_or_else(|| data_error("too many labels".into()))?)?)
            }
            None => None,
        };
        macro_rules! encode {
            ($x:expr, $kind:ident) => {{
                let data = $x.with(py, |rows| {
                    let work = rows.n_stored() * 8;
                    run(py, work, |_| Encoded::new(rows, offsets, &labels, n_labels, merge))
                })?;
                Either::$kind(match (&edges, &edge_pattern) {
                    (Some((csr, _, _)), Some(found)) => match &csr.get().inner {
                        Either::$kind(x) => {
                            x.with(py, |rows| data.with_edges(rows, found).map_err(to_python))?
                        }
                        _ => return Err(data_error("tokens and edges differ in precision".into())),
                    },
                    _ => data,
                })
            }};
        }
        let inner = match &tokens.get().inner {
            Either::F32(x) => encode!(x, F32),
            Either::F64(x) => encode!(x, F64),
        };
        Ok(Self { inner })
    }

    /// The same data in double precision; what single precision does not concern is shared.
    fn widened(&self, py: Python<'_>) -> PyResult<Self> {
        let data = either!(&self.inner, |data: T| run(py, data.work(), |_| Ok(data.widened())))?;
        Ok(Self { inner: Either::F64(data) })
    }

    /// (sequences, tokens, weights, edge weights)
    #[getter]
    fn shape(&self) -> (usize, usize, usize, usize) {
        either!(&self.inner, |data: T| {
            (data.offsets().len() - 1, data.n_tokens(), data.n_weights(), data.n_edge_weights())
        })
    }

    /// How many attributes share each weight; zero where there is none.
    fn multiplicity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        either!(&self.inner, |data: T| {
            PyArray1::from_iter(py, data.multiplicity().iter().map(|&m| f64::from(m)))
        })
    }

    /// Where the weight of every (attribute, label) of the pattern stands.
    fn positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        either!(&self.inner, |data: T| PyArray1::from_iter(
            py,
            data.positions().iter().map(|&p| i64::from(p))
        ))
    }

    /// Negative log-likelihood, its size (its rounding is a small multiple of the size times that of one number), and its
    /// gradient by (variables, edges, start, end, edge_weights): the weights that there are, in order, each divided by the
    /// square root of its multiplicity. Edges that are not free score zero, and may have no part in the gradient.
    #[pyo3(signature = (graph, weights, labels, allowed, sequence_weights, free_edges, n_threads))]
    #[allow(clippy::too_many_arguments)]
    fn value_and_grad<'py>(
        &self,
        py: Python<'py>,
        graph: &Bound<'py, ChainGraph>,
        weights: &Bound<'py, PyTuple>,
        labels: Option<PyReadonlyArray1<'py, i64>>,
        allowed: Option<PyReadonlyArray2<'py, bool>>,
        sequence_weights: Option<PyReadonlyArray1<'py, f64>>,
        free_edges: Option<PyReadonlyArray1<'py, bool>>,
        n_threads: usize,
    ) -> PyResult<(f64, f64, Bound<'py, PyTuple>)> {
        let arrays = weight_arrays(weights)?;
        let state = vector("weights", &arrays.0)?;
        let (edges, start) = (vector("edges", &arrays.1)?, vector("start", &arrays.2)?);
        let (end, edge_weights) = (vector("end", &arrays.3)?, vector("edge_weights", &arrays.4)?);
        let labels = label_numbers(labels.as_ref())?;
        let targets = Targets {
            labels: &labels,
            allowed: allowed.as_ref().map(|a| matrix("allowed", a)).transpose()?,
            weights: sequence_weights.as_ref().map(|c| vector("sequence_weights", c)).transpose()?,
        };
        let free = free_edges.as_ref().map(|free| vector("free_edges", free)).transpose()?;
        let graph: &Graph = &graph.get().inner;
        let found = either!(&self.inner, |data: T| {
            let work = data.work() + data.n_tokens() * graph.n_edges();
            run(py, work, |stop| {
                let weights = data.weights_of(state)?;
                let model = Model { graph, weights: &weights, edges, free, start, end, edge_weights };
                let found = value_and_grad_by_variables(data, &model, targets, n_threads, stop);
                data.give_back(weights);
                found
            })
        })?;
        let parts = [found.weights, found.edges, found.start, found.end, found.edge_weights];
        let arrays = parts.map(|part| PyArray1::from_vec(py, part));
        Ok((found.value, found.gross, PyTuple::new(py, arrays)?))
    }
}

/// The labels seen with every attribute as (starts, labels); those of a token are its label or, with `allowed`, all that
/// it may have.
#[pyfunction]
#[pyo3(signature = (tokens, n_labels, labels, allowed))]
#[allow(clippy::type_complexity)]
pub fn observed_labels<'py>(
    py: Python<'py>,
    tokens: &Bound<'py, Csr>,
    n_labels: usize,
    labels: Option<PyReadonlyArray1<'py, i64>>,
    allowed: Option<PyReadonlyArray2<'py, bool>>,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
    let labels = label_numbers(labels.as_ref())?;
    let allowed = allowed.as_ref().map(|a| matrix("allowed", a)).transpose()?;
    fn found<X: Fn(&mut dyn FnMut(usize), usize) + Sync>(seen: X) -> X {
        seen
    }
    let mark = found(|mark, t| match allowed {
        Some(allowed) => {
            let row = &allowed[t * n_labels..(t + 1) * n_labels];
            row.iter().enumerate().filter(|(_, allowed)| **allowed).for_each(|(label, _)| mark(label));
        }
        None => mark(labels[t] as usize),
    });
    let check = |n: usize| {
        let good = match allowed {
            Some(allowed) => n_labels.checked_mul(n) == Some(allowed.len()),
            None => labels.len() == n && labels.iter().all(|&label| (label as usize) < n_labels),
        };
        let message = "labels must be one number below n_labels per token".into();
        if good { Ok(()) } else { Err(KernelError::Argument(message)) }
    };
    let pattern = with_csr!(py, tokens.get(), |rows: T| {
        let most = if n_labels <= 1 << 30 { rows.n_cols().checked_mul(n_labels.div_ceil(64)) } else { None };
        if most.is_none_or(|masks| masks > 1 << 30) {
            return Err(data_error(format!("{n_labels} labels are too many for so many attributes")));
        }
        run(py, rows.n_stored(), |_| {
            check(rows.n_rows())?;
            observed(rows, n_labels, |t, out| mark(out, t))
        })
    })?;
    Ok((
        PyArray1::from_iter(py, pattern.starts.iter().map(|&s| s as i64)),
        PyArray1::from_iter(py, pattern.labels.iter().map(|&l| i64::from(l))),
    ))
}
