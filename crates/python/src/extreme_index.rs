//! Candidates out of very many labels, and their re-ranking.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::csr::Csr as Rows;
use separatrix_kernels::data::rows::Rows as _;
use separatrix_kernels::extreme::examples::Examples;
use separatrix_kernels::extreme::index::{Index, Workspace};
use separatrix_kernels::extreme::leave_one_out::{Counts, count, ranks};
use separatrix_kernels::extreme::numbers::Number;
use separatrix_kernels::extreme::rerank::{Learned, Plan, Ranker, Training, learn, rank};
use separatrix_kernels::threads::Spaces;

use crate::arrays::{matrix, new_matrix, readonly, vector};
use crate::errors::data_error;
use crate::precision::Either;
use crate::run::run;
use crate::sparse::Csr;

fn reading<'py, T: Element>(py: Python<'py>, array: &Py<PyArray1<T>>) -> PyResult<PyReadonlyArray1<'py, T>> {
    array
        .bind(py)
        .try_readonly()
        .map_err(|_| data_error("the array is being written to by another kernel".into()))
}

/// Call `body` with the rows of a matrix in single precision.
pub fn single<R>(py: Python<'_>, x: &Csr, body: impl FnOnce(&Rows<'_, f32>) -> PyResult<R>) -> PyResult<R> {
    match &x.inner {
        Either::F32(arrays) => arrays.with(py, body),
        Either::F64(_) => Err(data_error("x must be float32".into())),
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

/// Call `body` with what a ranker learns, each number with the sum of its squared gradients; `factors` change when it
/// ends well.
fn with_learned<R>(
    factors: &mut PyReadwriteArray2<'_, f32>,
    biases: &mut PyReadwriteArray2<'_, f32>,
    pairs: &mut PyReadwriteArray2<'_, f32>,
    body: impl FnOnce(&mut Learned<'_>) -> PyResult<R>,
) -> PyResult<R> {
    let changed: &mut [[f32; 2]; 2] =
        twos("factors", factors)?.try_into().map_err(|_| data_error("factors must have two rows".into()))?;
    let mut learned =
        Learned { factors: *changed, biases: twos("biases", biases)?, pairs: twos("pairs", pairs)? };
    let found = body(&mut learned)?;
    *changed = learned.factors;
    Ok(found)
}

/// Numbers of labels in 16 or 32 bits.
enum Numbers {
    Short(Py<PyArray1<u16>>),
    Long(Py<PyArray1<u32>>),
}

impl Numbers {
    fn of(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(short) = array.cast::<PyArray1<u16>>() {
            Ok(Self::Short(short.clone().unbind()))
        } else if let Ok(long) = array.cast::<PyArray1<u32>>() {
            Ok(Self::Long(long.clone().unbind()))
        } else {
            Err(data_error(format!("{name} must be a uint16 or uint32 vector")))
        }
    }
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

    /// ln(1 + c_fy / (mu p_f)) in 1/16: the weights of an index.
    fn weights<'py>(&self, py: Python<'py>, mu: f32, n_threads: usize) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let found =
            self.with(py, mu, 0.0, |counts| run(py, counts.counts.len(), |_| counts.weights(n_threads)))?;
        Ok(PyArray1::from_vec(py, found))
    }
}

/// Where the counts of each feature start, their labels, and the counts.
type CountedArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f32>>);

/// Count features with labels, in rows scaled to a mean value of one; `order` has the rows label by label.
#[pyfunction]
pub fn count_labels<'py>(
    py: Python<'py>,
    x: &Csr,
    y: PyReadonlyArray1<'py, u32>,
    order: PyReadonlyArray1<'py, u32>,
) -> PyResult<CountedArrays<'py>> {
    let (y, order) = (vector("y", &y)?, vector("order", &order)?);
    let found = single(py, x, |x| run(py, x.n_stored(), |stop| count(x, y, order, stop)))?;
    Ok((
        PyArray1::from_vec(py, found.starts),
        PyArray1::from_vec(py, found.labels),
        PyArray1::from_vec(py, found.counts),
    ))
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

/// LabelExamples(rows, starts, lengths, features, worths)
///
/// Rows of training, label by label, in borrowed arrays; features are their slots.
#[pyclass(frozen, module = "separatrix._core")]
pub struct LabelExamples {
    rows: Py<PyArray1<i64>>,
    starts: Py<PyArray1<i64>>,
    lengths: Py<PyArray1<u8>>,
    features: Py<PyArray1<u16>>,
    worths: Py<PyArray1<u8>>,
}

#[pymethods]
impl LabelExamples {
    #[new]
    fn new(
        rows: Py<PyArray1<i64>>,
        starts: Py<PyArray1<i64>>,
        lengths: Py<PyArray1<u8>>,
        features: Py<PyArray1<u16>>,
        worths: Py<PyArray1<u8>>,
    ) -> Self {
        Self { rows, starts, lengths, features, worths }
    }
}

impl LabelExamples {
    fn with<R>(&self, py: Python<'_>, body: impl FnOnce(&Examples<'_>) -> PyResult<R>) -> PyResult<R> {
        let (rows, starts) = (reading(py, &self.rows)?, reading(py, &self.starts)?);
        let (lengths, worths) = (reading(py, &self.lengths)?, reading(py, &self.worths)?);
        let features = reading(py, &self.features)?;
        body(&Examples {
            rows: vector("rows", &rows)?,
            starts: vector("starts", &starts)?,
            lengths: vector("lengths", &lengths)?,
            features: vector("features", &features)?,
            worths: vector("worths", &worths)?,
        })
    }
}

/// LabelIndex(starts, labels, weights, wide, wide_weights, penalty, prior)
///
/// An inverted index of label scores, in borrowed arrays; labels are uint16 or uint32.
#[pyclass(frozen, module = "separatrix._core")]
pub struct LabelIndex {
    starts: Py<PyArray1<i64>>,
    labels: Numbers,
    weights: Py<PyArray1<u8>>,
    wide: Py<PyArray1<i32>>,
    wide_weights: Py<PyArray2<u8>>,
    penalty: Py<PyArray1<i16>>,
    prior: Py<PyArray1<i16>>,
    /// Kept from one call to the next: rows that are predicted alone need no new ones.
    spaces: Spaces<Workspace>,
}

/// Work on an index whose labels have one width or the other.
trait Body {
    type Output;
    fn run<L: Number>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Self::Output>;
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
            Numbers::Short(labels) => {
                let labels = reading(py, labels)?;
                body.run(py, &index!(&labels))
            }
            Numbers::Long(labels) => {
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
    fn run<L: Number>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Vec<f32>> {
        let work = self.x.n_rows().saturating_mul(index.n_labels());
        run(py, work, |stop| ranks(index, self.counts, self.x, self.y, self.n_threads, stop))
    }
}

struct Learn<'a, 'w> {
    training: Training<'a>,
    order: &'a [u32],
    plan: Plan,
    learned: &'a mut Learned<'w>,
    n_threads: usize,
}

impl Body for Learn<'_, '_> {
    type Output = (u64, u64, u64, f64);
    fn run<L: Number>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Self::Output> {
        let work = self.order.len().saturating_mul(index.n_labels());
        let progress = run(py, work, |stop| {
            let Self { training, order, plan, learned, n_threads } = self;
            learn(index, training, order, plan, learned, n_threads, stop)
        })?;
        Ok((progress.rows, progress.reached, progress.hits, progress.loss))
    }
}

struct Rank<'a> {
    ranker: Ranker<'a>,
    examples: &'a Examples<'a>,
    x: &'a Rows<'a, f32>,
    n_candidates: usize,
    keep: usize,
    spaces: &'a Spaces<Workspace>,
    n_threads: usize,
}

impl Body for Rank<'_> {
    type Output = separatrix_kernels::extreme::rerank::Ranked;
    fn run<L: Number>(self, py: Python<'_>, index: &Index<'_, L>) -> PyResult<Self::Output> {
        let work = self.x.n_rows().saturating_mul(index.n_labels());
        run(py, work, |stop| {
            let Self { ranker, examples, x, n_candidates, keep, spaces, n_threads } = &self;
            rank(index, ranker, examples, x, *n_candidates, *keep, spaces, *n_threads, stop)
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
        penalty: Py<PyArray1<i16>>,
        prior: Py<PyArray1<i16>>,
    ) -> PyResult<Self> {
        let labels = Numbers::of("labels", labels)?;
        let spaces = Spaces::default();
        Ok(Self { starts, labels, weights, wide, wide_weights, penalty, prior, spaces })
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

    /// One epoch over the rows in `order`: (rows, rows reached, hits, loss). `factors` (2, 2), `biases` (K, 2) and
    /// `pairs` (2^bits, 2) hold weights and sums of squared gradients, and are changed; `places` are those of the
    /// rows among the examples, `rates` the steps of pairs and of factors, and 1 / (C n).
    #[allow(clippy::too_many_arguments)]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        counts: &LabelCounts,
        mu: f32,
        alpha: f32,
        examples: &LabelExamples,
        places: PyReadonlyArray1<'py, u32>,
        x: &Csr,
        y: PyReadonlyArray1<'py, u32>,
        order: PyReadonlyArray1<'py, u32>,
        n_candidates: usize,
        rates: (f32, f32, f32),
        mut factors: PyReadwriteArray2<'py, f32>,
        mut biases: PyReadwriteArray2<'py, f32>,
        mut pairs: PyReadwriteArray2<'py, f32>,
        n_threads: usize,
    ) -> PyResult<(u64, u64, u64, f64)> {
        let (y, order, places) = (vector("y", &y)?, vector("order", &order)?, vector("places", &places)?);
        let plan = Plan { n_candidates, rate: rates.0, factor_rate: rates.1, decay: rates.2 };
        with_learned(&mut factors, &mut biases, &mut pairs, |learned| {
            single(py, x, |x| {
                counts.with(py, mu, alpha, |counts| {
                    examples.with(py, |examples| {
                        let training = Training { counts, examples, places, x, y };
                        self.with(py, Learn { training, order, plan, learned, n_threads })
                    })
                })
            })
        })
    }

    /// The `keep` best of `n_candidates` candidates, ranked by beta s + gamma m + b + v: labels, scores, log-sums.
    #[allow(clippy::too_many_arguments)]
    fn rank<'py>(
        &self,
        py: Python<'py>,
        examples: &LabelExamples,
        x: &Csr,
        factors: (f32, f32),
        biases: PyReadonlyArray1<'py, f32>,
        pairs: PyReadonlyArray1<'py, i8>,
        unit: f32,
        n_candidates: usize,
        keep: usize,
        n_threads: usize,
    ) -> PyResult<RankedArrays<'py>> {
        let (biases, pairs) = (vector("biases", &biases)?, vector("pairs", &pairs)?);
        let ranker = Ranker { factors: factors.into(), biases, pairs, unit };
        let out = single(py, x, |x| {
            examples.with(py, |examples| {
                let spaces = &self.spaces;
                self.with(py, Rank { ranker, examples, x, n_candidates, keep, spaces, n_threads })
            })
        })?;
        Ok((
            new_matrix(py, out.labels, keep)?,
            new_matrix(py, out.scores, keep)?,
            PyArray1::from_vec(py, out.log_sums),
        ))
    }
}
