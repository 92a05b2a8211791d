//! Proofs of the gap of margin losses.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use separatrix_kernels::primal::proof::{Judged, judge};

use crate::arrays::{matrix, new_matrix, vector};
use crate::run::run;

/// Intercept to be stored, losses there, their noise; V(theta), its size, sum and mass of theta, and theta itself.
type Judgment<'py> = (f64, f64, f64, f64, f64, f64, f64, Bound<'py, PyArray2<f64>>);

/// margin_judgment(loss, scores, signs, weights, duals, intercept, reach, single, l2, wanted, n_threads)
///
/// What a proof needs of the scores of a margin loss. `intercept` is the one in the scores and whether it is free,
/// `reach` the longest row times the length of the weights, and by itself.
#[pyfunction]
#[pyo3(signature = (loss, scores, signs, weights, duals, intercept, reach, single, l2, wanted, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn margin_judgment<'py>(
    py: Python<'py>,
    loss: &str,
    scores: PyReadonlyArray2<'py, f64>,
    signs: PyReadonlyArray1<'py, f64>,
    weights: PyReadonlyArray1<'py, f64>,
    duals: Option<PyReadonlyArray1<'py, f64>>,
    intercept: (f64, bool),
    reach: (f64, f64),
    single: bool,
    l2: bool,
    wanted: f64,
    n_threads: usize,
) -> PyResult<Judgment<'py>> {
    let duals = duals.as_ref().map(|duals| vector("duals", duals)).transpose()?;
    let judged = Judged {
        scores: matrix("scores", &scores)?,
        signs: vector("signs", &signs)?,
        weights: vector("weights", &weights)?,
        duals,
        intercept,
        single,
        reach,
        l2,
        wanted,
    };
    let found = run(py, judged.scores.len() * 64, |stop| judge(loss, judged, n_threads, stop))?;
    let theta = new_matrix(py, found.theta, 1)?;
    Ok((found.intercept, found.losses, found.noise, found.dual, found.size, found.sum, found.mass, theta))
}
