//! Templates over token columns: the plan, the attributes that were learned, and hashing.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use separatrix_kernels::templates::hashing::hash_rows;
use separatrix_kernels::templates::index::Index;
use separatrix_kernels::templates::learn::learn;
use separatrix_kernels::templates::plan::{Part, Plan, Template};
use separatrix_kernels::templates::rows::Rows;
use separatrix_kernels::templates::tokens::{Column, Tokens};
use separatrix_kernels::text::brown;

use crate::arrays::vector;
use crate::errors::to_python;
use crate::run::run;

type Integers<'py> = Bound<'py, PyArray1<i64>>;
/// Words one after another, and where each begins and the last ends.
type Words<'py> = (Bound<'py, PyBytes>, Integers<'py>);
type WordArrays<'py> = (Bound<'py, PyBytes>, PyReadonlyArray1<'py, i64>);
/// Row pointer, columns, values.
type Matrix<'py> = (Integers<'py>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f32>>);
/// Column, offset, and whether the offset is absolute.
type Place = (usize, i32, bool);
type Keys<'py> = Vec<Vec<Bound<'py, PyArray1<u64>>>>;

/// A column: number of the word of each token (-1: none), the words, where each begins, and the words that
/// stand for places outside the sequence.
#[derive(FromPyObject)]
pub struct ColumnArrays<'py>(
    PyReadonlyArray1<'py, i32>,
    Bound<'py, PyBytes>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i32>,
);

/// The kernel's view of columns, while `work` runs.
fn with_tokens<R>(
    columns: &[ColumnArrays<'_>],
    starts: &PyReadonlyArray1<'_, i64>,
    work: impl FnOnce(&Tokens<'_>) -> PyResult<R>,
) -> PyResult<R> {
    let mut views = Vec::with_capacity(columns.len());
    for ColumnArrays(codes, words, word_starts, pads) in columns {
        views.push(Column {
            codes: vector("codes", codes)?,
            words: words.as_bytes(),
            word_starts: vector("word_starts", word_starts)?,
            pads: vector("pads", pads)?,
        });
    }
    work(&Tokens::new(views, vector("starts", starts)?).map_err(to_python)?)
}

/// What encoding costs, in multiply-adds.
fn work(plan: &Plan, tokens: &Tokens<'_>) -> usize {
    tokens.len().saturating_mul(plan.templates().len()).saturating_mul(16)
}

fn arrays(py: Python<'_>, rows: Rows) -> Matrix<'_> {
    (
        PyArray1::from_vec(py, rows.starts),
        PyArray1::from_vec(py, rows.columns),
        PyArray1::from_vec(py, rows.values),
    )
}

fn words(py: Python<'_>, (bytes, starts): (Vec<u8>, Vec<i64>)) -> Words<'_> {
    (PyBytes::new(py, &bytes), PyArray1::from_vec(py, starts))
}

/// TemplatePlan(literals, templates, spaces, escape)
///
/// Templates (group, parts) with parts (column, offset, absolute); the literal text of each group around its
/// parts, and the space of values of each column. With `escape`, `|` and `\` are escaped in conjunctions.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TemplatePlan {
    plan: Arc<Plan>,
}

#[pymethods]
impl TemplatePlan {
    #[new]
    fn new(
        literals: Vec<Vec<String>>,
        templates: Vec<(usize, Vec<Place>)>,
        spaces: Vec<usize>,
        escape: bool,
    ) -> PyResult<Self> {
        let part = |(column, offset, absolute)| Part { column, offset, absolute };
        let template = |(group, parts): (usize, Vec<_>)| Template {
            group,
            parts: parts.into_iter().map(part).collect(),
        };
        let templates = templates.into_iter().map(template).collect();
        let plan = Plan::new(literals, templates, spaces, escape).map_err(to_python)?;
        Ok(Self { plan: Arc::new(plan) })
    }

    /// The attributes of training data: (index, matrix), the matrix None unless `keep`.
    fn learn<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<ColumnArrays<'py>>,
        starts: PyReadonlyArray1<'py, i64>,
        min_count: u64,
        keep: bool,
        n_threads: usize,
    ) -> PyResult<(TemplateIndex, Option<Matrix<'py>>)> {
        let plan = &self.plan;
        let (index, rows) = with_tokens(&columns, &starts, |tokens| {
            run(py, work(plan, tokens), |stop| learn(plan, tokens, min_count, keep, n_threads, stop))
        })?;
        Ok((TemplateIndex { index }, rows.map(|rows| arrays(py, rows))))
    }

    /// The matrix (indptr, indices, data) of attributes hashed to `n_columns`.
    fn hash<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<ColumnArrays<'py>>,
        starts: PyReadonlyArray1<'py, i64>,
        n_columns: usize,
        n_threads: usize,
    ) -> PyResult<Matrix<'py>> {
        let plan = &self.plan;
        let rows = with_tokens(&columns, &starts, |tokens| {
            run(py, work(plan, tokens), |stop| hash_rows(plan, tokens, n_columns, n_threads, stop))
        })?;
        Ok(arrays(py, rows))
    }
}

/// TemplateIndex(plan, spaces, keys)
///
/// The attributes that a plan made of training data, from what `spaces()` and `keys()` gave.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TemplateIndex {
    index: Index,
}

#[pymethods]
impl TemplateIndex {
    #[new]
    fn new(
        py: Python<'_>,
        plan: &TemplatePlan,
        spaces: Vec<WordArrays<'_>>,
        keys: Vec<Vec<PyReadonlyArray1<'_, u64>>>,
    ) -> PyResult<Self> {
        let mut words = Vec::with_capacity(spaces.len());
        for (bytes, starts) in &spaces {
            words.push((bytes.as_bytes(), vector("starts", starts)?));
        }
        let group = |stages: &'_ Vec<PyReadonlyArray1<'_, u64>>| -> PyResult<Vec<Vec<u64>>> {
            stages.iter().map(|keys| Ok(vector("keys", keys)?.to_vec())).collect()
        };
        let keys = keys.iter().map(group).collect::<PyResult<Vec<_>>>()?;
        let views: Vec<Vec<&[u64]>> =
            keys.iter().map(|stages| stages.iter().map(Vec::as_slice).collect()).collect();
        let total = keys.iter().flatten().map(Vec::len).sum::<usize>();
        let plan = Plan::clone(&plan.plan);
        let index = run(py, total.saturating_mul(16), |_| Index::restore(plan, &words, &views))?;
        Ok(Self { index })
    }

    /// Number of attributes.
    #[getter]
    fn n_attributes(&self) -> usize {
        self.index.len()
    }

    /// Number of the first attribute of each group, and of all.
    fn offsets<'py>(&self, py: Python<'py>) -> Integers<'py> {
        PyArray1::from_vec(py, self.index.offsets().iter().map(|&offset| i64::from(offset)).collect())
    }

    /// The words of every space of values.
    fn spaces<'py>(&self, py: Python<'py>) -> Vec<Words<'py>> {
        self.index.spaces().into_iter().map(|space| words(py, space)).collect()
    }

    /// The keys of every stage of every group.
    fn keys<'py>(&self, py: Python<'py>) -> Keys<'py> {
        let stages = |stages: Vec<Vec<u64>>| stages.into_iter().map(|k| PyArray1::from_vec(py, k)).collect();
        self.index.keys().into_iter().map(stages).collect()
    }

    /// The names of all attributes.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        let names = run(py, self.index.len().saturating_mul(32), |_| Ok(self.index.names()))?;
        Ok(words(py, names))
    }

    /// The matrix (indptr, indices, data) of tokens; attributes that are not in the index are passed over.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<ColumnArrays<'py>>,
        starts: PyReadonlyArray1<'py, i64>,
        n_threads: usize,
    ) -> PyResult<Matrix<'py>> {
        let rows = with_tokens(&columns, &starts, |tokens| {
            run(py, work(self.index.plan(), tokens), |stop| self.index.encode(tokens, n_threads, stop))
        })?;
        Ok(arrays(py, rows))
    }
}

/// Classes of words as -1 or a number, counts of the words, how many classes there are, and the nodes that were merged.
type Classes<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<u64>>, usize, Vec<(u32, u32)>);

/// brown_clusters(codes, n_classes, min_count)
///
/// Brown clusters of the words of a text, and the tree above them.
#[pyfunction]
pub fn brown_clusters<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, i32>,
    n_classes: usize,
    min_count: u64,
) -> PyResult<Classes<'py>> {
    let codes = vector("codes", &codes)?;
    let size = codes.len().saturating_mul(n_classes);
    let found = run(py, size, |stop| brown::brown_clusters(codes, n_classes, min_count, stop))?;
    Ok((
        PyArray1::from_vec(py, found.classes),
        PyArray1::from_vec(py, found.counts),
        found.n_classes,
        found.merges,
    ))
}
