//! The weights of a fitted chain, laid out to score and label tokens.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use separatrix_kernels::chain::scorer::{Bonds, Scorer};
use separatrix_kernels::data::rows::Rows;

use crate::arrays::{new_matrix, vector};
use crate::chain::places;
use crate::chains::pattern;
use crate::design::with_csr;
use crate::errors::data_error;
use crate::run::run;
use crate::sparse::Csr;

/// ChainScorer(pattern_starts, pattern_labels, weights, n_labels)
///
/// A weight per (attribute, label) of a pattern, laid out for any number of calls.
#[pyclass(frozen, module = "separatrix._core")]
pub struct ChainScorer {
    inner: Scorer,
}

#[pymethods]
impl ChainScorer {
    #[new]
    fn new(
        py: Python<'_>,
        pattern_starts: PyReadonlyArray1<'_, i64>,
        pattern_labels: PyReadonlyArray1<'_, i64>,
        weights: PyReadonlyArray1<'_, f64>,
        n_labels: usize,
    ) -> PyResult<Self> {
        if n_labels > 1 << 12 {
            return Err(data_error(format!("{n_labels} labels are too many for a chain")));
        }
        let found = pattern(&pattern_starts, &pattern_labels, n_labels)?;
        let weights = vector("weights", &weights)?;
        Ok(Self { inner: run(py, weights.len(), |_| Scorer::new(&found, weights, n_labels))? })
    }

    /// Scores of the labels of all tokens, of shape (n_tokens, n_labels).
    fn scores<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, Csr>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let out = with_csr!(py, tokens.get(), |rows: T| {
            run(py, rows.n_stored() * 4, |stop| self.inner.scores(rows, n_threads, stop))
        })?;
        new_matrix(py, out, self.inner.n_labels())
    }

    /// The label of every token in the best labelling of its sequence; `bonds` is (edges, start, end).
    fn best<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, Csr>,
        offsets: PyReadonlyArray1<'py, i64>,
        bonds: (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let offsets = places(&offsets)?;
        let bonds = Bonds {
            edges: vector("edges", &bonds.0)?,
            start: vector("start", &bonds.1)?,
            end: vector("end", &bonds.2)?,
        };
        let labels = with_csr!(py, tokens.get(), |rows: T| {
            run(py, rows.n_stored() * 4, |stop| self.inner.best(rows, &offsets, bonds, n_threads, stop))
        })?;
        Ok(PyArray1::from_iter(py, labels.into_iter().map(i64::from)))
    }
}
