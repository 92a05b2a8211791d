//! Candidates out of very many labels, and their re-ranking.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::csr::Csr as Rows;
use separatrix_kernels::many::index::{Index, Label};
use separatrix_kernels::many::leave_one_out::{Counts, ranks};
use separatrix_kernels::many::rerank::{Learned, Plan, Ranker, learn, rank};
use separatrix_kernels::rows::Rows as _;

use crate::arrays::{matrix, new_matrix, readonly, vector};
use crate::errors::data_error;
use crate::run::run;
use crate::sparse::{Csr, SparseAny};

fn reading<'py, T: Element>(py: Python<'py>, array: &Py<PyArray1<T>>) -> PyResult<PyReadonlyArray1<'py, T>> {
    array
        .bind(py)
        .try_readonly()
        .map_err(|_| data_error("the array is being written to by another kernel".into()))
}

/// Call `body` with the rows of a matrix in single precision.
pub fn single<R>(py: Python<'_>, x: &Csr, body: impl FnOnce(&Rows<'_, f32>) -> PyResult<R>) -> PyResult<R> {
    match &x.inner {
        SparseAny::F32(arrays) => arrays.with(py, body),
        SparseAny::F64(_) => Err(data_error("x must be float32".into())),
    }
}

/// The values of a C-contiguous matrix with two columns, pair by pair.
pub fn twos<'a>(name: &str, array: &'a mut PyReadwriteArray2<'_, f32>) -> PyResult<&'a mut [[f32; 2]]> {
    if !array.is_c_contiguous() || array.shape()[1] != 2 {
        return Err(data_error(format!("{name} must be C-contiguous with two columns")));
    }
    let values = array
        .as_slice_mut()
        .map_err(|_| data_error(format!("{name} must be C-contiguous with two columns")))?;
    Ok(values.as_chunks_mut::<2>().0)
}

/// Label numbers of 16 or 32 bits.
enum Labels {
    Short(Py<PyArray1<u16>>),
    Long(Py<PyArray1<u32>>),
}

/// LabelCounts(starts, labels, counts, shares, label_mass, label_rows)
///
/// What was counted in training rows: feature -> (label, count), in borrowed arrays.
#[pyclass(frozen, module = "separatrix._core")]
pub struct LabelCounts {
    starts: Py<PyArray1<i64>>,
    labels: Py<PyArray1<i32>>,
    counts: Py<PyArray1<f32>>,
    shares: Py<PyArray1<f32>>,
    label_mass: Py<PyArray1<f32>>,
    label_rows: Py<PyArray1<f32>>,
}

#[pymethods]
impl LabelCounts {
    #[new]
    fn new(
        starts: Py<PyArray1<i64>>,
        labels: Py<PyArray1<i32>>,
        counts: Py<PyArray1<f32>>,
        shares: Py<PyArray1<f32>>,
        label_mass: Py<PyArray1<f32>>,
        label_rows: Py<PyArray1<f32>>,
    ) -> Self {
        Self { starts, labels, counts, shares, label_mass, label_rows }
    }
}

impl LabelCounts {
    fn with<R>(
        &self,
        py: Python<'_>,
        mu: f32,
        alpha: f32,
        body: impl FnOnce(&Counts<'_>) -> PyResult<R>,
    ) -> PyResult<R> {
        let (starts, labels, counts) =
            (reading(py, &self.starts)?, reading(py, &self.labels)?, reading(py, &self.counts)?);
        let shares = reading(py, &self.shares)?;
        let (mass, rows) = (reading(py, &self.label_mass)?, reading(py, &self.label_rows)?);
        body(&Counts {
            starts: vector("starts", &starts)?,
            labels: vector("labels", &labels)?,
            counts: vector("counts", &counts)?,
            shares: vector("shares", &shares)?,
            label_mass: vector("label_mass", &mass)?,
            label_rows: vector("label_rows", &rows)?,
            mu,
            alpha,
        })
    }
}

/// LabelIndex(starts, labels, weights, wide, wide_weights, penalty, prior)
///
/// An inverted index of label scores, in borrowed arrays; labels are uint16 or uint32.
#[pyclass(frozen, module = "separatrix._core")]
pub struct LabelIndex {
    starts: Py<PyArray1<i64>>,
    labels: Labels,
    weights: Py<PyArray1<u8>>,
    wide: Py<PyArray1<i32>>,
    wide_weights: Py<PyArray2<u8>>,
    penalty: Py<PyArray1<i32>>,
    prior: Py<PyArray1<i32>>,
}

/// Work on an index whose labels have one width or the other.
trait Body {
    type Output;
    fn run<L: Label>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Self::Output>;
}

impl LabelIndex {
    fn with<B: Body>(&self, py: Python<'_>, body: B) -> PyResult<B::Output> {
        let (starts, weights) = (reading(py, &self.starts)?, reading(py, &self.weights)?);
        let (wide, wide_weights) = (reading(py, &self.wide)?, readonly(py, &self.wide_weights)?);
        let (penalty, prior) = (reading(py, &self.penalty)?, reading(py, &self.prior)?);
        macro_rules! index {
            ($labels:expr) => {
                Index {
                    starts: vector("starts", &starts)?,
                    labels: vector("labels", $labels)?,
                    weights: vector("weights", &weights)?,
                    wide: vector("wide", &wide)?,
                    wide_weights: matrix("wide_weights", &wide_weights)?,
                    penalty: vector("penalty", &penalty)?,
                    prior: vector("prior", &prior)?,
                }
            };
        }
        match &self.labels {
            Labels::Short(labels) => {
                let labels = reading(py, labels)?;
                body.run(py, &index!(&labels))
            }
            Labels::Long(labels) => {
                let labels = reading(py, labels)?;
                body.run(py, &index!(&labels))
            }
        }
    }
}

struct Ranks<'a> {
    counts: &'a Counts<'a>,
    x: &'a Rows<'a, f32>,
    y: &'a [u32],
    n_threads: usize,
}

impl Body for Ranks<'_> {
    type Output = Vec<f32>;
    fn run<L: Label>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Vec<f32>> {
        let work = self.x.n_rows().saturating_mul(index.n_labels());
        run(py, work, |stop| ranks(index, self.counts, self.x, self.y, self.n_threads, stop))
    }
}

struct Learn<'a, 'w> {
    counts: &'a Counts<'a>,
    x: &'a Rows<'a, f32>,
    y: &'a [u32],
    order: &'a [u32],
    plan: Plan,
    learned: &'a mut Learned<'w>,
    n_threads: usize,
}

impl Body for Learn<'_, '_> {
    type Output = (u64, u64, u64, f64);
    fn run<L: Label>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Self::Output> {
        let work = self.order.len().saturating_mul(index.n_labels());
        let progress = run(py, work, |stop| {
            let Self { counts, x, y, order, plan, learned, n_threads } = self;
            learn(index, counts, x, y, order, plan, learned, n_threads, stop)
        })?;
        Ok((progress.rows, progress.reached, progress.hits, progress.loss))
    }
}

struct Rank<'a> {
    ranker: Ranker<'a>,
    x: &'a Rows<'a, f32>,
    n_candidates: usize,
    keep: usize,
    n_threads: usize,
}

impl Body for Rank<'_> {
    type Output = separatrix_kernels::many::rerank::Ranked;
    fn run<L: Label>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Self::Output> {
        let work = self.x.n_rows().saturating_mul(index.n_labels());
        run(py, work, |stop| {
            rank(index, &self.ranker, self.x, self.n_candidates, self.keep, self.n_threads, stop)
        })
    }
}

/// Labels and scores (n, keep), best first, and the log-sum over all candidates (n,).
type RankedArrays<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl LabelIndex {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        starts: Py<PyArray1<i64>>,
        labels: &Bound<'_, PyAny>,
        weights: Py<PyArray1<u8>>,
        wide: Py<PyArray1<i32>>,
        wide_weights: Py<PyArray2<u8>>,
        penalty: Py<PyArray1<i32>>,
        prior: Py<PyArray1<i32>>,
    ) -> PyResult<Self> {
        let labels = if let Ok(labels) = labels.cast::<PyArray1<u16>>() {
            Labels::Short(labels.clone().unbind())
        } else if let Ok(labels) = labels.cast::<PyArray1<u32>>() {
            Labels::Long(labels.clone().unbind())
        } else {
            return Err(data_error("labels must be a uint16 or uint32 vector".into()));
        };
        Ok(Self { starts, labels, weights, wide, wide_weights, penalty, prior })
    }

    /// Labels that score higher than each row's own when the row is not counted; -1 where nothing is left.
    #[allow(clippy::too_many_arguments)]
    fn ranks<'py>(
        &self,
        py: Python<'py>,
        counts: &LabelCounts,
        mu: f32,
        alpha: f32,
        x: &Csr,
        y: PyReadonlyArray1<'py, u32>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let y = vector("y", &y)?;
        let found = single(py, x, |x| {
            counts.with(py, mu, alpha, |counts| self.with(py, Ranks { counts, x, y, n_threads }))
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// One epoch over the rows in `order`: (rows, rows reached, hits, loss). `beta` (1, 2), `biases` (K, 2) and
    /// `pairs` (2^bits, 2) hold weights and sums of squared gradients, and are changed.
    #[allow(clippy::too_many_arguments)]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        counts: &LabelCounts,
        mu: f32,
        alpha: f32,
        x: &Csr,
        y: PyReadonlyArray1<'py, u32>,
        order: PyReadonlyArray1<'py, u32>,
        n_candidates: usize,
        rates: (f32, f32),
        mut beta: PyReadwriteArray2<'py, f32>,
        mut biases: PyReadwriteArray2<'py, f32>,
        mut pairs: PyReadwriteArray2<'py, f32>,
        n_threads: usize,
    ) -> PyResult<(u64, u64, u64, f64)> {
        let (y, order) = (vector("y", &y)?, vector("order", &order)?);
        let factor = twos("beta", &mut beta)?;
        let [first] = factor else { return Err(data_error("beta must have one row".into())) };
        let mut learned =
            Learned { beta: *first, biases: twos("biases", &mut biases)?, pairs: twos("pairs", &mut pairs)? };
        let plan = Plan { n_candidates, rate: rates.0, beta_rate: rates.1 };
        let seen = single(py, x, |x| {
            counts.with(py, mu, alpha, |counts| {
                self.with(py, Learn { counts, x, y, order, plan, learned: &mut learned, n_threads })
            })
        })?;
        *first = learned.beta;
        Ok(seen)
    }

    /// The `keep` best of `n_candidates` candidates, ranked by beta s + b + v: labels, scores, log-sums.
    #[allow(clippy::too_many_arguments)]
    fn rank<'py>(
        &self,
        py: Python<'py>,
        x: &Csr,
        beta: f32,
        biases: PyReadonlyArray1<'py, f32>,
        pairs: PyReadonlyArray1<'py, i8>,
        unit: f32,
        n_candidates: usize,
        keep: usize,
        n_threads: usize,
    ) -> PyResult<RankedArrays<'py>> {
        let (biases, pairs) = (vector("biases", &biases)?, vector("pairs", &pairs)?);
        let ranker = Ranker { beta, biases, pairs, unit };
        let out = single(py, x, |x| self.with(py, Rank { ranker, x, n_candidates, keep, n_threads }))?;
        Ok((
            new_matrix(py, out.labels, keep)?,
            new_matrix(py, out.scores, keep)?,
            PyArray1::from_vec(py, out.log_sums),
        ))
    }
}
