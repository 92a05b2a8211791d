//! Newton's method for the losses of a margin.

use numpy::{Element, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::dual::intercept::Intercept;
use separatrix_kernels::primal::double::Widen;
use separatrix_kernels::primal::newton::curve::Curve;
use separatrix_kernels::primal::newton::{Goal, Outcome, Problem, Start, minimize, softmax};

use crate::arrays::vector;
use crate::design::{dense_of, with_dense, with_rows};
use crate::errors::{data_error, to_python};
use crate::precision::either;
use crate::run::run;

type Vector<'py> = Bound<'py, PyArray1<f64>>;
/// Weights, sigma, and centers or nothing.
type Begin<'py> = (PyReadonlyArray1<'py, f64>, f64, Option<PyReadonlyArray1<'py, f64>>);
/// Weights, shares of the duals, sigma, (passes, value, gap, seconds, weights) of every pass, and whether steps still made
/// progress.
type Answer<'py> = (Vector<'py>, Vector<'py>, f64, Vec<Pass<'py>>, bool);
type Pass<'py> = (f64, f64, f64, f64, Vector<'py>);

/// newton_margins(design, signs, weights, loss, intercept, start, tol, least, max_passes, keep, n_threads)
///
/// Minimize 1/2 |w|^2 + sum_i U_i loss_i for a loss of the margin by Newton's method; the gaps are estimates from sums
/// in double precision. `start` is (w, sigma, centers or None); weights of every pass are empty unless `keep`.
#[pyfunction]
#[pyo3(signature = (design, signs, weights, loss, intercept, start, tol, least, max_passes, keep, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn newton_margins<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    signs: PyReadonlyArray1<'py, f64>,
    weights: PyReadonlyArray1<'py, f64>,
    loss: &str,
    intercept: &str,
    start: Option<Begin<'py>>,
    tol: f64,
    least: f64,
    max_passes: usize,
    keep: bool,
    n_threads: usize,
) -> PyResult<Answer<'py>> {
    let problem = Problem {
        signs: vector("signs", &signs)?,
        weights: vector("weights", &weights)?,
        curve: Curve::named(loss).map_err(to_python)?,
        intercept: Intercept::parse(intercept).map_err(to_python)?,
    };
    let goal = goal(tol, least, max_passes, keep)?;
    let start = match &start {
        Some((w, sigma, centers)) => {
            let centers = centers.as_ref().map(|centers| vector("centers", centers)).transpose()?;
            Some(Start { w: vector("start", w)?, sigma: *sigma, centers: centers.unwrap_or_default() })
        }
        None => None,
    };
    let found = with_rows!(py, design, |rows: T| {
        let work = rows.n_stored().saturating_mul(rows.n_cols() + 1).saturating_mul(max_passes.min(20));
        run(py, work, |stop| minimize(rows, problem, start, goal, n_threads, stop))
    })?;
    Ok(answer(py, found))
}

fn goal(tol: f64, least: f64, max_passes: usize, keep: bool) -> PyResult<Goal> {
    if !(tol > 0.0 && least >= 0.0) {
        return Err(data_error("tol must be positive and least not negative".into()));
    }
    Ok(Goal { tol, least, max_passes, keep })
}

fn answer(py: Python<'_>, found: Outcome) -> Answer<'_> {
    let (w, shares) = (PyArray1::from_vec(py, found.w), PyArray1::from_vec(py, found.shares));
    let passes = found.trace.into_iter();
    let passes = passes.map(|at| (at.passes, at.value, at.gap, at.seconds, PyArray1::from_vec(py, at.w)));
    (w, shares, found.sigma, passes.collect(), found.moving)
}

/// newton_softmax(design, classes, weights, n_classes, intercept, start, tol, least, max_passes, keep, n_threads)
///
/// `newton_margins` for softmax regression on dense data: `start` and the weights returned are those of all classes, the
/// classes of each feature side by side.
#[pyfunction]
#[pyo3(signature = (design, classes, weights, n_classes, intercept, start, tol, least, max_passes, keep, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn newton_softmax<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    classes: PyReadonlyArray1<'py, i64>,
    weights: PyReadonlyArray1<'py, f64>,
    n_classes: usize,
    intercept: &str,
    start: Option<PyReadonlyArray1<'py, f64>>,
    tol: f64,
    least: f64,
    max_passes: usize,
    keep: bool,
    n_threads: usize,
) -> PyResult<Answer<'py>> {
    fn dense<T: Widen + Element>(
        py: Python<'_>,
        array: &Py<PyArray2<T>>,
        problem: softmax::Problem<'_>,
        start: Option<&[f64]>,
        goal: Goal,
        n_threads: usize,
    ) -> PyResult<Outcome> {
        with_dense(py, array, |x| {
            let work = x.n_stored().saturating_mul((x.n_cols() + 1) * problem.k * problem.k);
            let work = work.saturating_mul(goal.max_passes.min(20));
            run(py, work, |stop| softmax::minimize(*x, problem, start, goal, n_threads, stop))
        })
    }
    let problem = softmax::Problem {
        classes: vector("classes", &classes)?,
        weights: vector("weights", &weights)?,
        k: n_classes,
        intercept: Intercept::parse(intercept).map_err(to_python)?,
    };
    let goal = goal(tol, least, max_passes, keep)?;
    let start = start.as_ref().map(|start| vector("start", start)).transpose()?;
    let found = either!(&dense_of(design)?.get().inner, |array| {
        dense(py, array, problem, start, goal, n_threads)?
    });
    Ok(answer(py, found))
}
