//! Joint features of rows and labels, and label sets: learned and ranked.

use numpy::{
    PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use separatrix_kernels::data::rows::Rows as _;
use separatrix_kernels::extreme::joint::{JointData, JointPlan, Rule, learn, rank};
use separatrix_kernels::extreme::label_sets::{SetData, SetPlan, SetWeights, best, learn as learn_sets};

use crate::arrays::{matrix, new_matrix, vector};
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
    decay: f32,
    n_sampled: usize,
    seed: u64,
    hashed: bool,
    mut weights: PyReadwriteArray2<'py, f32>,
    seen: u64,
) -> PyResult<(u64, f64, u64)> {
    let plan = JointPlan { rule: rule_named(rule)?, rate, decay, n_sampled, seed };
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

/// Steps (d, K), their sizes (d,), intercepts (K,), and the sum of the losses of each pass.
type LearnedSets<'py> = (
    Bound<'py, PyArray2<i8>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f64>>,
);

/// A logistic regression for every label, by passes over the rows in each order of `orders`; the labels of row i are
/// `labels[starts[i]:starts[i + 1]]`, rising.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn label_sets_learn<'py>(
    py: Python<'py>,
    x: &Csr,
    starts: PyReadonlyArray1<'py, i64>,
    labels: PyReadonlyArray1<'py, i32>,
    n_labels: usize,
    orders: PyReadonlyArray2<'py, u32>,
    rate: f32,
    decay: f32,
    n_threads: usize,
) -> PyResult<LearnedSets<'py>> {
    let (starts, labels) = (vector("starts", &starts)?, vector("labels", &labels)?);
    let length = orders.shape()[1].max(1);
    let orders: Vec<&[u32]> = matrix("orders", &orders)?.chunks(length).collect();
    let out = single(py, x, |x| {
        let data = SetData { x, starts, labels, n_labels };
        let work = x.n_stored().saturating_mul(n_labels);
        run(py, work, |stop| learn_sets(data, &orders, SetPlan { rate, decay }, n_threads, stop))
    })?;
    Ok((
        new_matrix(py, out.steps, n_labels.max(1))?,
        PyArray1::from_vec(py, out.sizes),
        PyArray1::from_vec(py, out.intercepts),
        PyArray1::from_vec(py, out.losses),
    ))
}

/// Labels and scores (n, keep), best first.
type BestArrays<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f32>>);

/// The `keep` labels of the highest scores of every row, and these scores.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn label_sets_best<'py>(
    py: Python<'py>,
    x: &Csr,
    steps: PyReadonlyArray2<'py, i8>,
    sizes: PyReadonlyArray1<'py, f32>,
    intercepts: PyReadonlyArray1<'py, f32>,
    keep: usize,
    n_threads: usize,
) -> PyResult<BestArrays<'py>> {
    let model = SetWeights {
        steps: matrix("steps", &steps)?,
        sizes: vector("sizes", &sizes)?,
        intercepts: vector("intercepts", &intercepts)?,
    };
    let (labels, scores) = single(py, x, |x| {
        let work = x.n_stored().saturating_mul(model.intercepts.len());
        run(py, work, |stop| best(model, x, keep, n_threads, stop))
    })?;
    Ok((new_matrix(py, labels, keep)?, new_matrix(py, scores, keep)?))
}
