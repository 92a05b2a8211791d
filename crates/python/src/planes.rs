//! Cached planes of structured hinge losses.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use separatrix_kernels::dual::planes::Planes;

use crate::arrays::vector;
use crate::errors::{data_error, to_python};
use crate::run::run;

/// Work that lets a sweep hear Ctrl-C, whatever the size of the planes.
const SWEEP_WORK: usize = 1 << 12;

/// Rows of a CSR matrix: (indptr, indices, data).
type Rows<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// MarginPlanes(factors, n_weights, seed)
///
/// Planes (cost, psi) of examples; the weights are sum_i factors\[i\] sum_p share_ip psi_ip.
#[pyclass(module = "separatrix._core")]
pub struct MarginPlanes {
    inner: Planes,
    n_examples: usize,
}

#[pymethods]
impl MarginPlanes {
    #[new]
    fn new(factors: PyReadonlyArray1<'_, f64>, n_weights: usize, seed: u64) -> PyResult<Self> {
        let factors = vector("factors", &factors)?;
        let inner = Planes::new(factors, n_weights, seed).map_err(to_python)?;
        Ok(Self { inner, n_examples: factors.len() })
    }

    /// Number of planes.
    #[getter]
    fn n_planes(&self) -> usize {
        self.inner.len()
    }

    /// Add a plane to each of some examples; returns how many were new.
    fn add(
        &mut self,
        py: Python<'_>,
        examples: PyReadonlyArray1<'_, i64>,
        planes: Rows<'_>,
        costs: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<usize> {
        let examples = vector("examples", &examples)?;
        let (starts, columns) = (vector("indptr", &planes.0)?, vector("indices", &planes.1)?);
        let (values, costs) = (vector("data", &planes.2)?, vector("costs", &costs)?);
        run(py, values.len(), |_| self.inner.add(examples, starts, columns, values, costs))
    }

    /// Visit some examples, or all; returns by how much the dual rose.
    #[pyo3(signature = (examples))]
    fn sweep(&mut self, py: Python<'_>, examples: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<f64> {
        let examples = examples.as_ref().map(|some| vector("examples", some)).transpose()?;
        let work = self.inner.len().saturating_mul(SWEEP_WORK);
        run(py, work, |stop| self.inner.sweep(examples, stop))
    }

    /// The largest cost less score at `w` among the known planes of every example, at least zero.
    fn losses<'py>(
        &self,
        py: Python<'py>,
        w: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let w = vector("w", &w)?;
        if w.len() != self.inner.weights().len() {
            return Err(data_error(format!("w must have {} entries", self.inner.weights().len())));
        }
        let found = run(py, self.inner.len().saturating_mul(SWEEP_WORK), |_| {
            Ok((0..self.n_examples).map(|example| self.inner.loss(example, w)).collect::<Vec<f64>>())
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// A lower bound of the minimum.
    fn dual(&mut self) -> f64 {
        self.inner.dual()
    }

    /// The weights now.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inner.weights())
    }
}
