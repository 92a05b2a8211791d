//! Handles on the dual solvers: state that lives through one fit.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::data::row_subset::Subset;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::dual::binary::DualBinary as Binary;
use separatrix_kernels::dual::common::{Certificate, Pass};
use separatrix_kernels::dual::intercept::Intercept;
use separatrix_kernels::dual::multiclass::{DualMulticlass as Multiclass, check_classes};
use separatrix_kernels::loss::dual::{ClassLoss, MarginLoss};

use crate::arrays::{matrix, new_matrix, vector};
use crate::design::with_rows;
use crate::errors::{data_error, to_python};
use crate::precision::{State, learner, of_learner};
use crate::run::run;

type Report = (f64, f64, f64, f64);

fn report(pass: Pass) -> Report {
    (pass.dual + pass.gap, pass.dual, pass.violation, pass.passes)
}

fn bounds(certificate: Certificate) -> (f64, f64, f64) {
    (certificate.primal, certificate.dual, certificate.primal - certificate.dual)
}

/// The intercepts that a start comes with, zeros without.
fn checked_intercepts(given: Option<&PyReadonlyArray1<'_, f64>>, n: usize) -> PyResult<Vec<f64>> {
    let Some(given) = given else {
        return Ok(vec![0.0; n]);
    };
    let given = vector("intercepts", given)?;
    if given.len() != n || given.iter().any(|b| !b.is_finite()) {
        return Err(data_error(format!("intercepts must be {n} finite numbers")));
    }
    Ok(given.to_vec())
}

/// DualBinary(design, y, upper, loss, intercept, seed, n_threads, start=None, intercepts=None)
///
/// Dual coordinate descent for two classes: duals, weights and order of visits.
#[pyclass(module = "separatrix._core")]
pub struct DualBinary {
    design: Py<PyAny>,
    state: State,
}

#[pymethods]
impl DualBinary {
    #[new]
    #[pyo3(signature = (design, y, upper, loss, intercept, seed, n_threads, start=None, intercepts=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        design: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        upper: PyReadonlyArray1<'_, f64>,
        loss: &str,
        intercept: &str,
        seed: u64,
        n_threads: usize,
        start: Option<PyReadonlyArray1<'_, f64>>,
        intercepts: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let (y, upper) = (vector("y", &y)?, vector("upper", &upper)?);
        let intercepts = checked_intercepts(intercepts.as_ref(), 1)?;
        let start = start.as_ref().map(|start| vector("start", start)).transpose()?;
        let start = start.map(|start| (start, intercepts[0]));
        let loss = MarginLoss::parse(loss).map_err(to_python)?;
        let intercept = Intercept::parse(intercept).map_err(to_python)?;
        let state = with_rows!(py, design, |rows: T| {
            let state = run(py, rows.n_stored(), |_| {
                Binary::<T>::new(&Subset::all(rows), y, upper, loss, intercept, seed, n_threads, start)
            })?;
            Ok::<State, PyErr>(Box::new(state))
        })?;
        Ok(Self { design: design.clone().unbind(), state })
    }

    /// One pass; returns (primal estimate, dual value, largest violation, passes over the data).
    fn run_pass(&mut self, py: Python<'_>) -> PyResult<Report> {
        let Self { design, state } = self;
        with_rows!(py, design.bind(py), |rows: T| {
            let state = learner::<Binary<T>>(state)?;
            run(py, 3 * rows.n_stored(), |stop| state.pass(&Subset::all(rows), stop)).map(report)
        })
    }

    /// (primal, dual, gap), exact at the current weights.
    fn certificate(&mut self, py: Python<'_>) -> PyResult<(f64, f64, f64)> {
        let Self { design, state } = self;
        with_rows!(py, design.bind(py), |rows: T| {
            let state = learner::<Binary<T>>(state)?;
            run(py, rows.n_stored(), |stop| state.certificate(&Subset::all(rows), stop)).map(bounds)
        })
    }

    /// Weights of shape (d, 1), or (d + 1, 1) with the intercept last.
    fn weights<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        of_learner!(&mut self.state, Binary, |state| new_matrix(py, state.weights(), 1).map(Bound::into_any))?
    }

    /// Duals a_i of shape (n,), with w = sum_i a_i y_i x_i.
    fn duals<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        of_learner!(&mut self.state, Binary, |state| PyArray1::from_slice(py, state.duals()))
    }

    /// Threads that a sweep uses: one unless there is much work and sharing it pays.
    #[getter]
    fn n_threads(&mut self) -> PyResult<usize> {
        of_learner!(&mut self.state, Binary, |state| state.n_sweep_threads())
    }
}

/// DualMulticlass(design, y, upper, n_classes, loss, cost, intercept, seed, n_threads, start=None,
/// intercepts=None)
///
/// Dual coordinate descent for many classes: duals, weights and order of visits.
#[pyclass(module = "separatrix._core")]
pub struct DualMulticlass {
    design: Py<PyAny>,
    n_classes: usize,
    state: State,
}

/// A matrix of costs, K x K.
fn costs(cost: &PyReadonlyArray2<'_, f64>, n_classes: usize) -> PyResult<Vec<f64>> {
    if cost.shape() != [n_classes, n_classes] {
        return Err(data_error(format!("cost must be a matrix of {n_classes} x {n_classes}")));
    }
    Ok(matrix("cost", cost)?.to_vec())
}

#[pymethods]
impl DualMulticlass {
    #[new]
    #[pyo3(signature = (
        design, y, upper, n_classes, loss, cost, intercept, seed, n_threads, start=None, intercepts=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        design: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, i64>,
        upper: PyReadonlyArray1<'_, f64>,
        n_classes: usize,
        loss: &str,
        cost: Option<PyReadonlyArray2<'_, f64>>,
        intercept: &str,
        seed: u64,
        n_threads: usize,
        start: Option<PyReadonlyArray2<'_, f64>>,
        intercepts: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let (y, upper) = (vector("y", &y)?, vector("upper", &upper)?);
        check_classes(n_classes).map_err(to_python)?;
        let intercepts = checked_intercepts(intercepts.as_ref(), n_classes)?;
        let start = start.as_ref().map(|start| matrix("start", start)).transpose()?;
        let start = start.map(|start| (start, &intercepts[..]));
        let cost = cost.as_ref().map(|cost| costs(cost, n_classes)).transpose()?;
        let loss = ClassLoss::parse(loss, cost).map_err(to_python)?;
        let intercept = Intercept::parse(intercept).map_err(to_python)?;
        let state = with_rows!(py, design, |rows: T| {
            let state = run(py, rows.n_stored(), |_| {
                Multiclass::<T>::new(rows, y, upper, n_classes, &loss, intercept, seed, n_threads, start)
            })?;
            Ok::<State, PyErr>(Box::new(state))
        })?;
        Ok(Self { design: design.clone().unbind(), n_classes, state })
    }

    /// One pass; returns (primal estimate, dual value, largest violation, passes over the data).
    fn run_pass(&mut self, py: Python<'_>) -> PyResult<Report> {
        let Self { design, state, n_classes } = self;
        with_rows!(py, design.bind(py), |rows: T| {
            let state = learner::<Multiclass<T>>(state)?;
            run(py, 4 * rows.n_stored() * *n_classes, |stop| state.pass(rows, stop)).map(report)
        })
    }

    /// (primal, dual, gap), exact at the current weights.
    fn certificate(&mut self, py: Python<'_>) -> PyResult<(f64, f64, f64)> {
        let Self { design, state, n_classes } = self;
        with_rows!(py, design.bind(py), |rows: T| {
            let state = learner::<Multiclass<T>>(state)?;
            run(py, rows.n_stored() * *n_classes, |stop| state.certificate(rows, stop)).map(bounds)
        })
    }

    /// Weights of shape (d, K), or (d + 1, K) with the intercepts last.
    fn weights<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let k = self.n_classes;
        of_learner!(&mut self.state, Multiclass, |state| new_matrix(py, state.weights(), k)
            .map(Bound::into_any))?
    }

    /// Duals a_ik of shape (n, K), with w_k = sum_i (U_i [y_i = k] - a_ik) x_i.
    fn duals<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let duals = of_learner!(&mut self.state, Multiclass, |state| state.duals())?;
        Ok(new_matrix(py, duals, self.n_classes)?.into_any())
    }

    /// Threads that a sweep uses: one unless there is much work and sharing it pays.
    #[getter]
    fn n_threads(&mut self) -> PyResult<usize> {
        of_learner!(&mut self.state, Multiclass, |state| state.n_sweep_threads())
    }
}
