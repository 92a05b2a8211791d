//! Re-ranking of candidates that were found elsewhere.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadwriteArray2};
use pyo3::prelude::*;
use separatrix_kernels::data::rows::Rows as _;
use separatrix_kernels::extreme::given::{Given, learn, rank};
use separatrix_kernels::extreme::rerank::{Plan, Ranker};

use crate::arrays::{new_matrix, vector};
use crate::extreme_index::{single, with_learned};
use crate::run::run;
use crate::sparse::Csr;

/// starts (n + 1,), labels and scores of the candidates of n rows.
type Candidates<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f32>);

/// One epoch over the rows in `order`: (rows, rows reached, hits, loss). `factors` (2, 2), `biases` (K, 2) and `pairs`
/// (2^bits, 2) hold weights and sums of squared gradients, and are changed.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn given_learn<'py>(
    py: Python<'py>,
    candidates: Candidates<'py>,
    x: &Csr,
    y: PyReadonlyArray1<'py, u32>,
    order: PyReadonlyArray1<'py, u32>,
    n_candidates: usize,
    rates: (f32, f32),
    mut factors: PyReadwriteArray2<'py, f32>,
    mut biases: PyReadwriteArray2<'py, f32>,
    mut pairs: PyReadwriteArray2<'py, f32>,
) -> PyResult<(u64, u64, u64, f64)> {
    let (y, order) = (vector("y", &y)?, vector("order", &order)?);
    let given = Given {
        starts: vector("starts", &candidates.0)?,
        labels: vector("labels", &candidates.1)?,
        scores: vector("scores", &candidates.2)?,
    };
    let plan = Plan { n_candidates, rate: rates.0, factor_rate: rates.1 };
    let seen = with_learned(&mut factors, &mut biases, &mut pairs, |learned| {
        single(py, x, |x| {
            let work = x.n_stored().saturating_mul(n_candidates);
            run(py, work, |stop| learn(&given, x, y, order, plan, learned, stop))
        })
    })?;
    Ok((seen.rows, seen.reached, seen.hits, seen.loss))
}

/// Labels and scores (n, keep), best first, and the log-sum over all candidates (n,).
type RankedArrays<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

/// The `keep` best candidates, ranked by beta s + b + v; 2^32 - 1 and minus infinity where there are fewer.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn given_rank<'py>(
    py: Python<'py>,
    candidates: Candidates<'py>,
    x: &Csr,
    factors: (f32, f32),
    biases: PyReadonlyArray1<'py, f32>,
    pairs: PyReadonlyArray1<'py, i8>,
    unit: f32,
    keep: usize,
    n_threads: usize,
) -> PyResult<RankedArrays<'py>> {
    let given = Given {
        starts: vector("starts", &candidates.0)?,
        labels: vector("labels", &candidates.1)?,
        scores: vector("scores", &candidates.2)?,
    };
    let (biases, pairs) = (vector("biases", &biases)?, vector("pairs", &pairs)?);
    let ranker = Ranker { factors: factors.into(), biases, pairs, unit };
    let out = single(py, x, |x| {
        let work = x.n_stored().saturating_mul(16);
        run(py, work, |stop| rank(&given, &ranker, x, keep, n_threads, stop))
    })?;
    Ok((
        new_matrix(py, out.labels, keep)?,
        new_matrix(py, out.scores, keep)?,
        PyArray1::from_vec(py, out.log_sums),
    ))
}
