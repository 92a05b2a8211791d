//! Label trees: groups of labels, the nodes' weights, and the search for labels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::KernelError;
use separatrix_kernels::data::csr::{Csr as Rows, checked_starts};
use separatrix_kernels::data::rows::Rows as _;
use separatrix_kernels::dual::columns::Settings;
use separatrix_kernels::dual::intercept::Intercept;
use separatrix_kernels::extreme::tree_beam::{Found, Question, search, spread};
use separatrix_kernels::extreme::tree_cluster;
use separatrix_kernels::extreme::tree_fit::{NodeKind, NodeSettings, Report as Ended, TreeWeights, fit};
use separatrix_kernels::extreme::tree_model::{Link, Model, Weight};
use separatrix_kernels::extreme::tree_plan::{Labels, Plan};
use separatrix_kernels::interrupt::Interrupt;
use separatrix_kernels::loss::dual::MarginLoss;
use separatrix_kernels::simd::Gather;
use separatrix_kernels::simd::exponential::VectorExp;

use crate::arrays::{new_matrix, vector};
use crate::design::with_csr;
use crate::errors::{data_error, to_python};
use crate::run::run;
use crate::sparse::Csr;

type Vector<'py, T> = Bound<'py, PyArray1<T>>;
/// First feature of each node, features, first weight of each feature, children, values, intercepts.
type Weights<'py> = (
    Vector<'py, i64>,
    Vector<'py, i32>,
    Vector<'py, i64>,
    Vector<'py, u16>,
    Bound<'py, PyAny>,
    Vector<'py, f64>,
);
/// Objective, gap, passes, unfinished problems.
type Report = (f64, f64, f64, usize);
/// First label of each row, labels, logarithms of their probabilities.
type Ranking<'py> = (Vector<'py, i64>, Vector<'py, i32>, Vector<'py, f64>);

/// TreeProgress()
///
/// How much of a long run is done; may be read by another thread while it runs.
#[pyclass(frozen, module = "separatrix._core")]
#[derive(Default)]
pub struct TreeProgress {
    done: Arc<AtomicU64>,
}

#[pymethods]
impl TreeProgress {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Rows or labels dealt with so far, over all levels.
    #[getter]
    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// tree_groups(labels, factors, max_iter, seed, n_threads, progress)
///
/// Balanced groups of the rows of `labels` (a Csr of vectors of length one) by spherical 2-means: the order of the rows
/// and the bounds of the groups of the last level; `factors` are the numbers of groups of each level.
#[pyfunction]
pub fn tree_groups<'py>(
    py: Python<'py>,
    labels: PyRef<'py, Csr>,
    factors: Vec<usize>,
    max_iter: usize,
    seed: u64,
    n_threads: usize,
    progress: PyRef<'py, TreeProgress>,
) -> PyResult<(Vector<'py, i64>, Vector<'py, i64>)> {
    let done = &*progress.done;
    let groups = with_csr!(py, labels, |rows: T| run(py, rows.n_stored().saturating_mul(100), |stop| {
        tree_cluster::group(rows, &factors, max_iter, seed, n_threads, done, stop)
    }))?;
    Ok((
        PyArray1::from_iter(py, groups.order.iter().map(|&label| i64::from(label))),
        PyArray1::from_iter(py, groups.starts.iter().map(|&start| start as i64)),
    ))
}

fn handed_over<'py, T: Element>(py: Python<'py>, weights: TreeWeights<T>) -> Weights<'py> {
    (
        PyArray1::from_vec(py, weights.feature_starts),
        PyArray1::from_vec(py, weights.features),
        PyArray1::from_vec(py, weights.weight_starts),
        PyArray1::from_vec(py, weights.children),
        PyArray1::from_vec(py, weights.values).into_any(),
        PyArray1::from_vec(py, weights.intercepts),
    )
}

/// tree_fit(design, starts, targets, label_starts, labels, n_labels, single, upper, node, intercept, prune, seed, tol,
/// max_passes, n_threads, progress)
///
/// Weights of all nodes of a tree, which has the edges `starts[n] … starts[n + 1]` at node n, edge e leading to node
/// `targets[e]` or, beyond the nodes, to a label. Row i has the labels `labels[label_starts[i] …]`, exactly one where
/// `single`. Returns (first feature of each node, features, first weight of each feature, children, values,
/// intercepts) and (objective, gap, passes, unfinished problems).
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn tree_fit<'py>(
    py: Python<'py>,
    design: PyRef<'py, Csr>,
    starts: PyReadonlyArray1<'py, i64>,
    targets: PyReadonlyArray1<'py, i64>,
    label_starts: PyReadonlyArray1<'py, i64>,
    labels: PyReadonlyArray1<'py, i32>,
    n_labels: usize,
    single: bool,
    upper: PyReadonlyArray1<'py, f64>,
    node: &str,
    intercept: &str,
    prune: f64,
    seed: u64,
    tol: f64,
    max_passes: f64,
    n_threads: usize,
    progress: PyRef<'py, TreeProgress>,
) -> PyResult<(Weights<'py>, Report)> {
    if !(tol > 0.0 && max_passes > 0.0 && (0.0..1.0).contains(&prune)) {
        return Err(data_error("tol and max_passes must be positive, and prune from 0 to 1".into()));
    }
    let kind = NodeKind::parse(node).map_err(to_python)?;
    let solve = Settings {
        loss: MarginLoss::Logistic,
        intercept: Intercept::parse(intercept).map_err(to_python)?,
        seed,
        tol,
        // What never ends cannot be asked for.
        max_passes: max_passes.min(1e9),
        patience: f64::INFINITY,
        keep_weights: true,
    };
    let settings = NodeSettings { kind, solve, prune, n_threads };
    let plan =
        Plan::new(vector("starts", &starts)?, vector("targets", &targets)?, n_labels).map_err(to_python)?;
    // Copies: Python may write into the arrays while the kernel runs.
    let own = vector("labels", &labels)?.to_vec();
    let label_starts =
        checked_starts(vector("label_starts", &label_starts)?, own.len()).map_err(to_python)?;
    let labels = Labels::new(&label_starts, &own, n_labels).map_err(to_python)?;
    let upper = vector("upper", &upper)?.to_vec();
    let done = &*progress.done;
    fn solved<'py, T: VectorExp + Gather + Element>(
        py: Python<'py>,
        rows: &Rows<'_, T>,
        kernel: impl FnOnce(&Rows<'_, T>, &Interrupt) -> Result<(TreeWeights<T>, Ended), KernelError> + Send,
    ) -> PyResult<(Weights<'py>, Report)> {
        let (weights, r) = run(py, rows.n_stored().saturating_mul(1000), |stop| kernel(rows, stop))?;
        Ok((handed_over(py, weights), (r.objective, r.gap, r.passes, r.unfinished)))
    }
    with_csr!(py, design, |rows: T| solved::<T>(py, rows, |rows, stop| {
        fit(rows, &plan, &labels, single, &upper, &settings, done, stop)
    }))
}

/// TreeModel(starts, targets, feature_starts, features, weight_starts, children, values, intercepts, single, scale)
///
/// The borrowed arrays of a fitted tree; `values` are float64, float32, or the bits of float16 as uint16.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TreeModel {
    starts: Py<PyArray1<i64>>,
    targets: Py<PyArray1<i64>>,
    feature_starts: Py<PyArray1<i64>>,
    features: Py<PyArray1<i32>>,
    weight_starts: Py<PyArray1<i64>>,
    children: Py<PyArray1<u16>>,
    values: Values,
    intercepts: Py<PyArray1<f64>>,
    link: Link,
}

enum Values {
    F16(Py<PyArray1<u16>>),
    F32(Py<PyArray1<f32>>),
    F64(Py<PyArray1<f64>>),
}

fn reading<'py, T: Element>(py: Python<'py>, array: &Py<PyArray1<T>>) -> PyResult<PyReadonlyArray1<'py, T>> {
    let busy = |_| data_error("the array is being written to by another kernel".into());
    array.bind(py).try_readonly().map_err(busy)
}

impl TreeModel {
    /// Call `body` with the model over `values`.
    fn view<W: Weight + Element, R>(
        &self,
        py: Python<'_>,
        values: &Py<PyArray1<W>>,
        body: impl FnOnce(&Model<'_, W>) -> PyResult<R>,
    ) -> PyResult<R> {
        let (starts, targets) = (reading(py, &self.starts)?, reading(py, &self.targets)?);
        let (feature_starts, features) = (reading(py, &self.feature_starts)?, reading(py, &self.features)?);
        let (weight_starts, children) = (reading(py, &self.weight_starts)?, reading(py, &self.children)?);
        let (values, intercepts) = (reading(py, values)?, reading(py, &self.intercepts)?);
        body(&Model {
            edge_starts: vector("starts", &starts)?,
            targets: vector("targets", &targets)?,
            feature_starts: vector("feature_starts", &feature_starts)?,
            features: vector("features", &features)?,
            weight_starts: vector("weight_starts", &weight_starts)?,
            children: vector("children", &children)?,
            values: vector("values", &values)?,
            intercepts: vector("intercepts", &intercepts)?,
            link: self.link,
        })
    }
}

/// Run `$body` with the model and the rows, whatever their precisions are.
macro_rules! with_model {
    ($py:expr, $self:expr, $design:expr, |$model:ident, $rows:ident| $body:expr) => {
        with_csr!($py, $design, |$rows: T| match &$self.values {
            Values::F16(values) => $self.view($py, values, |$model| $body),
            Values::F32(values) => $self.view($py, values, |$model| $body),
            Values::F64(values) => $self.view($py, values, |$model| $body),
        })
    };
}

/// A guess of the work: what a beam of ten costs.
fn work(rows: usize) -> usize {
    rows.saturating_mul(1 << 14)
}

#[pymethods]
impl TreeModel {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        starts: Py<PyArray1<i64>>,
        targets: Py<PyArray1<i64>>,
        feature_starts: Py<PyArray1<i64>>,
        features: Py<PyArray1<i32>>,
        weight_starts: Py<PyArray1<i64>>,
        children: Py<PyArray1<u16>>,
        values: &Bound<'_, PyAny>,
        intercepts: Py<PyArray1<f64>>,
        single: bool,
        scale: f64,
    ) -> PyResult<Self> {
        let values = if let Ok(array) = values.cast::<PyArray1<f32>>() {
            Values::F32(array.clone().unbind())
        } else if let Ok(array) = values.cast::<PyArray1<f64>>() {
            Values::F64(array.clone().unbind())
        } else if let Ok(array) = values.cast::<PyArray1<u16>>() {
            Values::F16(array.clone().unbind())
        } else {
            return Err(data_error("values must be float64, float32 or uint16".into()));
        };
        let link = if single { Link::Softmax { scale } } else { Link::Sigmoid { scale } };
        Ok(Self {
            starts,
            targets,
            feature_starts,
            features,
            weight_starts,
            children,
            values,
            intercepts,
            link,
        })
    }

    /// The `n_best` labels of each row whose logarithm of a probability is at least `least`, found by a beam: first
    /// label of each row, labels (best first), logarithms.
    fn search<'py>(
        &self,
        py: Python<'py>,
        design: PyRef<'py, Csr>,
        beam: usize,
        n_best: usize,
        least: f64,
        n_threads: usize,
    ) -> PyResult<Ranking<'py>> {
        let question = Question { beam, n_best, least, keep_left: false };
        let found = with_model!(py, self, design, |model, rows| run(py, work(rows.n_rows()), |stop| {
            search(rows, model, &question, n_threads, stop)
        }))?;
        Ok(ranking(py, &found))
    }

    /// Probabilities of all labels, of shape (n, n_labels), for trees with one label per row.
    fn shares<'py>(
        &self,
        py: Python<'py>,
        design: PyRef<'py, Csr>,
        beam: usize,
        n_labels: usize,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !matches!(self.link, Link::Softmax { .. }) {
            return Err(data_error("shares belong to trees with one label per row".into()));
        }
        let question = Question { beam, n_best: n_labels, least: f64::NEG_INFINITY, keep_left: true };
        let shares = with_model!(py, self, design, |model, rows| run(py, work(rows.n_rows()), |stop| {
            let found = search(rows, model, &question, n_threads, stop)?;
            spread(model, &found, n_labels, n_threads)
        }))?;
        Ok(new_matrix(py, shares, n_labels)?.into_any())
    }
}

fn ranking<'py>(py: Python<'py>, found: &[Found]) -> Ranking<'py> {
    let mut starts = vec![0i64];
    for one in found {
        starts.push(starts[starts.len() - 1] + one.labels.len() as i64);
    }
    let labels = || found.iter().flat_map(|one| &one.labels);
    (
        PyArray1::from_vec(py, starts),
        PyArray1::from_vec(py, labels().map(|&(_, label)| label as i32).collect()),
        PyArray1::from_vec(py, labels().map(|&(log, _)| log).collect()),
    )
}
