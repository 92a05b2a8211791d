//! Joint features of rows and labels, learned and ranked.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadwriteArray2};
use pyo3::prelude::*;
use separatrix_kernels::data::rows::Rows as _;
use separatrix_kernels::extreme::joint::{JointData, JointPlan, Rule, learn, rank};

use crate::arrays::{new_matrix, vector};
use crate::errors::data_error;
use crate::extreme_index::{single, twos};
use crate::run::run;
use crate::sparse::Csr;

fn rule_named(name: &str) -> PyResult<Rule> {
    match name {
        "perceptron" => Ok(Rule::Perceptron),
        "mira" => Ok(Rule::Mira),
        "svm" => Ok(Rule::Svm),
        "softmax" => Ok(Rule::Softmax),
        _ => Err(data_error(format!("there is no rule {name:?}"))),
    }
}

/// One pass over the rows in `order`: (mistakes, loss, updates so far). `weights` (size, 2) are changed.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn joint_learn<'py>(
    py: Python<'py>,
    x: &Csr,
    y: PyReadonlyArray1<'py, u32>,
    phi: &Csr,
    starts: PyReadonlyArray1<'py, i64>,
    rivals: PyReadonlyArray1<'py, i32>,
    n_trained: usize,
    order: PyReadonlyArray1<'py, u32>,
    rule: &str,
    rate: f32,
    n_sampled: usize,
    seed: u64,
    hashed: bool,
    mut weights: PyReadwriteArray2<'py, f32>,
    seen: u64,
) -> PyResult<(u64, f64, u64)> {
    let plan = JointPlan { rule: rule_named(rule)?, rate, n_sampled, seed };
    let (y, order) = (vector("y", &y)?, vector("order", &order)?);
    let (starts, rivals) = (vector("starts", &starts)?, vector("rivals", &rivals)?);
    let weights = twos("weights", &mut weights)?;
    let mut clock = seen;
    let (mistakes, loss) = single(py, x, |x| {
        single(py, phi, |phi| {
            let data = JointData { x, y, phi, starts, rivals, n_trained };
            let work = x.n_stored().saturating_mul(n_sampled + 1);
            run(py, work, |stop| learn(&data, order, plan, hashed, weights, &mut clock, stop))
        })
    })?;
    Ok((mistakes, loss, clock))
}

/// Labels and scores (n, keep), best first, and the log-sum over all labels (n,).
type RankedArrays<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

/// The `keep` best labels of every row by their joint score.
#[pyfunction]
pub fn joint_rank<'py>(
    py: Python<'py>,
    x: &Csr,
    phi: &Csr,
    weights: PyReadonlyArray1<'py, f32>,
    hashed: bool,
    keep: usize,
    n_threads: usize,
) -> PyResult<RankedArrays<'py>> {
    let weights = vector("weights", &weights)?;
    let out = single(py, x, |x| {
        single(py, phi, |phi| {
            let work = x.n_stored().saturating_mul(phi.n_cols());
            run(py, work, |stop| rank(x, phi, weights, hashed, keep, n_threads, stop))
        })
    })?;
    Ok((
        new_matrix(py, out.labels, keep)?,
        new_matrix(py, out.scores, keep)?,
        PyArray1::from_vec(py, out.log_sums),
    ))
}
