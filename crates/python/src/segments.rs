//! Inference on sequences cut into segments: scores in, segmentations and marginals out.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use separatrix_kernels::KernelError;
use separatrix_kernels::interrupt::Interrupt;
use separatrix_kernels::segments::{Kind, Scores};

use crate::arrays::{matrix, new_matrix, vector};
use crate::chain::places;
use crate::errors::data_error;
use crate::run::run;

/// (nodes, edges, start, end, lengths)
type Arrays<'py> = (
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);
/// (first tag, inside tag or -1, longest) of every kind of segment.
type Kinds<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);

/// The kinds, from three arrays of one length.
fn kinds_of((first, inside, longest): &Kinds<'_>) -> PyResult<Vec<Kind>> {
    let (first, inside) = (vector("first", first)?, vector("inside", inside)?);
    let longest = vector("longest", longest)?;
    if first.len() != inside.len() || first.len() != longest.len() {
        return Err(data_error("the kinds of segments have arrays of different lengths".into()));
    }
    let narrow = |n: i64| usize::try_from(n).map_err(|_| data_error(format!("{n} is no tag and no length")));
    first
        .iter()
        .zip(inside)
        .zip(longest)
        .map(|((&first, &inside), &longest)| {
            let inside = if inside == -1 { None } else { Some(narrow(inside)?) };
            Ok(Kind { first: narrow(first)?, inside, longest: narrow(longest)? })
        })
        .collect()
}

/// Call `body` with the checked scores, off the interpreter.
fn with_scores<R: Send>(
    py: Python<'_>,
    kinds: &Kinds<'_>,
    scores: &Arrays<'_>,
    offsets: &PyReadonlyArray1<'_, i64>,
    body: impl FnOnce(&Scores<'_>, &Interrupt) -> Result<R, KernelError> + Send,
) -> PyResult<R> {
    let (kinds, offsets) = (kinds_of(kinds)?, places(offsets)?);
    let (nodes, edges) = (matrix("nodes", &scores.0)?, vector("edges", &scores.1)?);
    let (start, end) = (vector("start", &scores.2)?, vector("end", &scores.3)?);
    let lengths = vector("lengths", &scores.4)?;
    let work = nodes.len().saturating_mul(kinds.len() + lengths.len());
    run(py, work, |stop| {
        body(&Scores::new(&kinds, start.len(), nodes, edges, start, end, lengths, &offsets)?, stop)
    })
}

/// Tags of the best segmentation of every sequence, and its score.
///
/// `kinds` is (first tag, inside tag or -1, longest), `scores` (nodes, edges, start, end, lengths): of shape
/// (n_tokens, n_tags), (n_tags * n_tags,) as tag * n_tags + tag before, (n_tags,), (n_tags,), and the lengths of each
/// kind one after the other.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn segments_best<'py>(
    py: Python<'py>,
    kinds: Kinds<'py>,
    scores: Arrays<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
    let (tags, values) = with_scores(py, &kinds, &scores, &offsets, |s, stop| s.best(n_threads, stop))?;
    Ok((PyArray1::from_iter(py, tags.into_iter().map(i64::from)), PyArray1::from_vec(py, values)))
}

/// log Z of every sequence, marginals of the tags (n_tokens, n_tags), and by sequence expected counts of pairs of
/// tags (n_sequences, n_tags * n_tags) and of lengths (n_sequences, n_lengths).
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn segments_marginals<'py>(
    py: Python<'py>,
    kinds: Kinds<'py>,
    scores: Arrays<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    n_threads: usize,
) -> PyResult<(
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
)> {
    let (n_tags, n_lengths) = (vector("start", &scores.2)?.len(), vector("lengths", &scores.4)?.len());
    let (log_z, nodes, edges, lengths) =
        with_scores(py, &kinds, &scores, &offsets, |s, stop| s.marginals(n_threads, stop))?;
    Ok((
        PyArray1::from_vec(py, log_z),
        new_matrix(py, nodes, n_tags)?,
        new_matrix(py, edges, n_tags * n_tags)?,
        new_matrix(py, lengths, n_lengths)?,
    ))
}
