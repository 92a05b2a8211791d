//! Handles of the stochastic solvers: passes over the data, step rules, products with some rows.

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::rows::{Rows, check_row};
use separatrix_kernels::error::zeros;
use separatrix_kernels::loss::row::RowLoss;
use separatrix_kernels::real::Real;
use separatrix_kernels::stochastic::step_rule::{Kind, Shares, StepRule as Rule};
use separatrix_kernels::stochastic::{
    Batchwise, Schedule, Settings, Stochastic as Run, average_share, curvature_rate as first_rate,
};

use crate::arrays::{matrix, new_matrix, vector};
use crate::design::weights_of;
use crate::design::with_rows;
use crate::errors::{data_error, to_python};
use crate::precision::{State, learner, of_learner, taken};
use crate::run::run;

fn kind(name: &str, mean_decay: f64, decay: f64) -> PyResult<Kind> {
    Ok(match name {
        "plain" => Kind::Plain,
        "adagrad" => Kind::AdaGrad,
        "adadelta" => Kind::AdaDelta { decay },
        "rmsprop" => Kind::RmsProp { decay },
        "adam" => Kind::Adam { mean_decay, decay },
        _ => return Err(data_error(format!("there is no step rule {name:?}"))),
    })
}

fn schedule(name: &str) -> PyResult<Schedule> {
    Ok(match name {
        "constant" => Schedule::Constant,
        "inverse" => Schedule::Inverse,
        "inverse_sqrt" => Schedule::InverseSqrt,
        "bottou" => Schedule::Bottou,
        _ => return Err(data_error(format!("there is no schedule {name:?}"))),
    })
}

/// The rate of step `t` (from 0) when `m` steps are a pass.
#[pyfunction]
pub fn scheduled_rate(name: &str, rate: f64, t: f64, m: f64, l2: f64) -> PyResult<f64> {
    Ok(schedule(name)?.rate(rate, t, m, l2))
}

/// Share of the newest weights in the average after step `t` (from 1).
#[pyfunction]
pub fn newest_share(t: f64) -> f64 {
    average_share(t)
}

/// StepRule(name, mean_decay, decay, epsilon, size)
///
/// A step rule with its memory, for float64 weights.
#[pyclass(module = "separatrix._core")]
pub struct StepRule {
    rule: Rule<f64>,
}

#[pymethods]
impl StepRule {
    #[new]
    fn new(name: &str, mean_decay: f64, decay: f64, epsilon: f64, size: usize) -> PyResult<Self> {
        let rule = Rule::new(kind(name, mean_decay, decay)?, epsilon, size).map_err(to_python)?;
        Ok(Self { rule })
    }

    /// Move `w` in place along `grad`; the first `penalized` weights carry the penalty.
    #[allow(clippy::too_many_arguments)]
    fn step(
        &mut self,
        mut w: PyReadwriteArray2<'_, f64>,
        grad: PyReadonlyArray2<'_, f64>,
        rate: f64,
        l1: f64,
        l2: f64,
        penalized: usize,
    ) -> PyResult<()> {
        let grad = matrix("gradient", &grad)?;
        let w = w.as_slice_mut().map_err(|_| data_error("weights must be C-contiguous".into()))?;
        self.rule.step(w, grad, rate, Shares { l1, l2, penalized }).map_err(to_python)
    }
}

/// Stochastic(design, targets, row_weights, loss, cost, weights, rule, schedule, rate,
/// intercept_share, batch_size, average, l1, l2, penalized, seed, n_threads)
///
/// Stochastic gradient passes for a built-in loss; `rule` is (name, mean_decay, decay, epsilon), and
/// `intercept_share` the factor of the plain rule's rate for intercepts; a shape (d, K) in place of
/// `weights` stands for zeros.
#[pyclass(module = "separatrix._core")]
pub struct Stochastic {
    design: Py<PyAny>,
    targets: Vec<i32>,
    row_weights: Vec<f64>,
    loss: RowLoss,
    n_scores: usize,
    state: State,
}

#[pymethods]
impl Stochastic {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        design: &Bound<'_, PyAny>,
        targets: PyReadonlyArray1<'_, i64>,
        row_weights: Option<PyReadonlyArray1<'_, f64>>,
        loss: &str,
        cost: Option<PyReadonlyArray2<'_, f64>>,
        weights: &Bound<'_, PyAny>,
        rule: (String, f64, f64, f64),
        schedule_name: &str,
        rate: f64,
        intercept_share: f64,
        batch_size: usize,
        average: bool,
        l1: f64,
        l2: f64,
        penalized: usize,
        seed: Option<u64>,
        n_threads: usize,
    ) -> PyResult<Self> {
        let narrow = |&y: &i64| i32::try_from(y).map_err(|_| data_error(format!("{y} is not a target")));
        let targets = vector("targets", &targets)?.iter().map(narrow).collect::<PyResult<Vec<i32>>>()?;
        let cost = match &cost {
            Some(cost) => matrix("cost", cost)?.to_vec(),
            None => Vec::new(),
        };
        let kind = kind(&rule.0, rule.1, rule.2)?;
        let schedule = schedule(schedule_name)?;
        let mut n_scores = 0;
        let state: State = with_rows!(py, design, |rows: T| {
            let (weights, (height, k)) = taken::<T>("weights", weights)?;
            n_scores = k;
            let settings = Settings {
                k,
                intercept: height == rows.n_cols() + 1,
                shares: Shares { l1, l2, penalized },
                schedule,
                rate,
                intercept_share,
                batch_size,
                average,
            };
            let rule = Rule::<T>::new(kind, rule.3, weights.len()).map_err(to_python)?;
            let state = Run::new(settings, rule, weights, seed).map_err(to_python)?.with_threads(n_threads);
            Ok::<State, PyErr>(Box::new(state))
        })?;
        Ok(Self {
            design: design.clone().unbind(),
            targets,
            row_weights: match &row_weights {
                Some(c) => vector("row_weights", c)?.to_vec(),
                None => Vec::new(),
            },
            loss: RowLoss::new(loss, n_scores, &cost).map_err(to_python)?,
            n_scores,
            state,
        })
    }

    /// Use the next `n_rows` rows, at most to the end of the pass; returns sum c_i loss_i, each loss
    /// taken before its row was used.
    fn run(&mut self, py: Python<'_>, n_rows: usize) -> PyResult<f64> {
        let design = self.design.clone_ref(py).into_bound(py);
        let data = Batchwise { loss: &self.loss, targets: &self.targets, row_weights: &self.row_weights };
        let k = self.n_scores;
        let state = &mut self.state;
        with_rows!(py, &design, |rows: T| {
            let state = learner::<Run<T>>(state)?;
            // An adaptive rule touches every weight once per batch: never small for long weights.
            let work = (rows.n_stored() + n_rows * rows.n_cols() / 16) * k;
            run(py, work, |stop| state.run(rows, data, n_rows, stop))
        })
    }

    /// Steps made so far, by each of the learners that share a pass.
    #[getter]
    fn steps(&mut self) -> PyResult<u64> {
        of_learner!(&mut self.state, Run, |s| s.steps())
    }

    /// The average of the weights (the weights themselves where none is kept).
    fn mean<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let k = self.n_scores;
        of_learner!(&mut self.state, Run, |s| new_matrix(py, s.mean().to_vec(), k).map(Bound::into_any))?
    }

    /// `mean`, given away: afterwards the handle is without weights.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let k = self.n_scores;
        of_learner!(&mut self.state, Run, |s| new_matrix(py, s.finish(), k).map(Bound::into_any))?
    }
}

/// The rate at which stochastic steps on a loss of `k` scores are stable; None for data without many
/// zeros, where it says little.
#[pyfunction]
pub fn curvature_rate(
    py: Python<'_>,
    design: &Bound<'_, PyAny>,
    loss: &str,
    k: usize,
) -> PyResult<Option<f64>> {
    let loss = RowLoss::new(loss, k, &[]).map_err(to_python)?;
    with_rows!(py, design, |rows: T| run(py, 0, |_| first_rate(rows, &loss)))
}

/// Scores of the rows `rows` alone, of shape (len(rows), K).
#[pyfunction]
pub fn row_scores<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    rows: PyReadonlyArray1<'_, i64>,
    w: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let numbers = vector("rows", &rows)?;
    with_rows!(py, design, |x: T| {
        let w = weights_of::<T>(w)?;
        let k = w.shape()[1];
        let w = matrix("weights", &w)?;
        let out = batch_scores(x, numbers, w, k)?;
        Ok(new_matrix(py, out, k)?.into_any())
    })
}

/// Adjoint of `row_scores` for residuals of shape (len(rows), K), without the intercepts' row.
#[pyfunction]
pub fn row_adjoint<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    rows: PyReadonlyArray1<'_, i64>,
    residuals: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let numbers = vector("rows", &rows)?;
    with_rows!(py, design, |x: T| {
        let r: PyReadonlyArray2<'_, T> = residuals
            .extract()
            .map_err(|_| data_error("the residuals must be a matrix of the data's dtype".into()))?;
        let k = r.shape()[1];
        if r.shape()[0] != numbers.len() || k == 0 {
            return Err(data_error("the residuals must have one row per row of data".into()));
        }
        let mut out = zeros(x.n_cols().saturating_mul(k)).map_err(to_python)?;
        for (&i, r) in numbers.iter().zip(matrix("residuals", &r)?.chunks_exact(k)) {
            x.add_to_many::<_, false>(checked(i, x.n_rows())?, r, &mut out);
        }
        Ok(new_matrix(py, out, k)?.into_any())
    })
}

fn checked(i: i64, n_rows: usize) -> PyResult<usize> {
    match usize::try_from(i) {
        Ok(i) if i < n_rows => Ok(i),
        _ => Err(data_error(format!("there is no row {i}"))),
    }
}

fn batch_scores<T: Real + Element, X: Rows<T>>(x: &X, rows: &[i64], w: &[T], k: usize) -> PyResult<Vec<T>> {
    let n_features = x.n_cols() * k;
    if k == 0 || (w.len() != n_features && w.len() != n_features + k) {
        return Err(data_error("the weights do not have the shape of the data".into()));
    }
    let (features, intercepts) = w.split_at(n_features);
    let mut out: Vec<T> = zeros(rows.len().saturating_mul(k)).map_err(to_python)?;
    for (&i, out) in rows.iter().zip(out.chunks_exact_mut(k)) {
        x.dot_many::<_, false>(checked(i, x.n_rows())?, features, out);
        for (o, &b) in out.iter_mut().zip(intercepts) {
            *o += b;
        }
        if !out.iter().all(|s| s.is_finite()) {
            check_row(x, i as usize).map_err(to_python)?;
        }
    }
    Ok(out)
}
