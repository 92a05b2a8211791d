//! Handles of the text features: analysis, counting, look-up, rows and their weights.

pub mod column;
mod documents;

use std::sync::Arc;

use numpy::{Element, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use separatrix_kernels::error::check_length;
use separatrix_kernels::real::Real;
use separatrix_kernels::text::analyze::{Analyzer, Kind};
use separatrix_kernels::text::batch::Batch;
use separatrix_kernels::text::characters::{Characters as Table, Replaced};
use separatrix_kernels::text::count::{Counter, Tally};
use separatrix_kernels::text::finish::{Finished, finish};
use separatrix_kernels::text::hashing::{check_columns, hash_rows};
use separatrix_kernels::text::lookup::Lookup;
use separatrix_kernels::text::rows::Rows;
use separatrix_kernels::text::terms::Terms;
use separatrix_kernels::text::weigh::{Norm, Weighting, weigh};

use crate::arrays::{matrix, new_matrix, vector};
use crate::errors::{data_error, to_python};
use crate::run::run;
use documents::each_batch;

/// Characters(properties, replaced, replacements, sigma, final_sigma, lowercase, ascii)
///
/// Properties of all 0x110000 code points (1: word, 2: space, 4: cased, 8: ignorable), and the characters
/// `replaced` (uint32) with the strings that replace them; with `ascii`, others beyond ASCII vanish.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Characters {
    inner: Arc<Table>,
}

#[pymethods]
impl Characters {
    #[new]
    fn new(
        properties: PyReadonlyArray1<'_, u8>,
        replaced: PyReadonlyArray1<'_, u32>,
        replacements: Vec<String>,
        sigma: &str,
        final_sigma: &str,
        lowercase: bool,
        ascii: bool,
    ) -> PyResult<Self> {
        let replaced = vector("replaced", &replaced)?;
        check_length("replacements", replacements.len(), replaced.len()).map_err(to_python)?;
        let pairs = replaced.iter().zip(&replacements);
        let pairs = pairs.map(|(&character, by)| Replaced { character, by });
        let sigma = [sigma, final_sigma];
        let table = Table::new(vector("properties", &properties)?, pairs, sigma, lowercase, ascii);
        Ok(Self { inner: Arc::new(table.map_err(to_python)?) })
    }
}

/// TextAnalyzer(characters, kind, min_n, max_n, stop_words)
///
/// Takes documents apart: `kind` is "word", "char", "char_wb", or "given" where they come as lists of strings.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TextAnalyzer {
    inner: Arc<Analyzer>,
}

#[pymethods]
impl TextAnalyzer {
    #[new]
    fn new(
        characters: &Characters,
        kind: &str,
        min_n: usize,
        max_n: usize,
        stop_words: Vec<String>,
    ) -> PyResult<Self> {
        let kind = Kind::named(kind).map_err(to_python)?;
        let words = stop_words.iter().map(String::as_str);
        let analyzer = Analyzer::new(characters.inner.clone(), kind, (min_n, max_n), words);
        Ok(Self { inner: Arc::new(analyzer.map_err(to_python)?) })
    }
}

/// Bytes of a batch, the measure of its work.
fn size(batch: Batch<'_>) -> usize {
    (0..batch.len()).map(|i| batch.size(i)).sum()
}

/// Classes of the rows from `first` on, of which a batch has `n`.
fn some_classes(classes: &[u8], first: usize, n: usize) -> PyResult<&[u8]> {
    classes
        .get(first..first + n)
        .ok_or_else(|| data_error(format!("X has more rows than y: y has {}", classes.len())))
}

/// TextCounter(analyzer, tally)
///
/// Counts terms; `tally` is "nothing", "occurrences" or "documents": what is counted per class besides the
/// number of documents that hold a term.
#[pyclass(module = "separatrix._core")]
pub struct TextCounter {
    analyzer: Arc<Analyzer>,
    inner: Counter,
}

fn tally_named(name: &str) -> PyResult<Tally> {
    match name {
        "nothing" => Ok(Tally::Nothing),
        "occurrences" => Ok(Tally::Occurrences),
        "documents" => Ok(Tally::Documents),
        _ => Err(data_error(format!(
            "tally must be \"nothing\", \"occurrences\" or \"documents\", not {name:?}"
        ))),
    }
}

#[pymethods]
impl TextCounter {
    #[new]
    fn new(analyzer: &TextAnalyzer, tally: &str) -> PyResult<Self> {
        let analyzer = analyzer.inner.clone();
        Ok(Self { inner: Counter::new(analyzer.clone(), tally_named(tally)?), analyzer })
    }

    /// A counter that counted so much before: what `state` returned, and the number of documents.
    #[staticmethod]
    fn restored(
        analyzer: &TextAnalyzer,
        tally: &str,
        terms: &TextTerms,
        n_documents: usize,
    ) -> PyResult<Self> {
        let analyzer = analyzer.inner.clone();
        let inner = Counter::restored(
            analyzer.clone(),
            tally_named(tally)?,
            &terms.inner.terms,
            &terms.inner.frequency,
            &terms.inner.counts,
            n_documents,
        );
        Ok(Self { inner: inner.map_err(to_python)?, analyzer })
    }

    /// Count documents of the given classes (None: all the same); with `keep`, remember them for `rows`.
    fn feed(
        &mut self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        classes: Option<PyReadonlyArray1<'_, u8>>,
        keep: bool,
        n_threads: usize,
    ) -> PyResult<usize> {
        let classes = match &classes {
            Some(classes) => Some(vector("classes", classes)?),
            None => None,
        };
        let counter = &mut self.inner;
        each_batch(documents, self.analyzer.kind(), |batch, first| {
            let these = match classes {
                Some(classes) => some_classes(classes, first, batch.len())?,
                None => &[],
            };
            run(py, size(batch), |stop| counter.feed(batch, these, keep, n_threads.max(1), stop))
        })
    }

    /// The terms whose document frequency lies between `low` and `high`, sorted.
    fn finish(&self, py: Python<'_>, low: f64, high: f64, n_threads: usize) -> PyResult<TextTerms> {
        let counter = &self.inner;
        let finished = run(py, 0, |_| Ok(finish(counter, low, high, n_threads.max(1))))?;
        Ok(TextTerms { inner: Arc::new(finished) })
    }

    /// The rows of the documents that were kept, which are forgotten.
    fn rows(&mut self, py: Python<'_>, terms: &TextTerms, n_threads: usize) -> PyResult<TextRows> {
        let counter = &mut self.inner;
        let finished = &terms.inner;
        let rows = run(py, usize::MAX, |stop| finished.rows(counter, n_threads.max(1), stop))?;
        Ok(TextRows { inner: rows })
    }

    /// Number of documents counted.
    #[getter]
    fn n_documents(&self) -> usize {
        self.inner.n_documents()
    }
}

/// TextTerms(names, ends, kind, frequency, counts)
///
/// A vocabulary: the names of its terms, one after the other, and where each ends; optionally how often they
/// were counted.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TextTerms {
    inner: Arc<Finished>,
}

#[pymethods]
impl TextTerms {
    #[new]
    #[pyo3(signature = (names, ends, kind, frequency=None, counts=None))]
    fn new(
        names: PyReadonlyArray1<'_, u8>,
        ends: PyReadonlyArray1<'_, i64>,
        kind: &str,
        frequency: Option<PyReadonlyArray1<'_, u32>>,
        counts: Option<PyReadonlyArray2<'_, u64>>,
    ) -> PyResult<Self> {
        let kind = Kind::named(kind).map_err(to_python)?;
        let terms =
            Terms::parse(vector("names", &names)?, vector("ends", &ends)?, kind).map_err(to_python)?;
        let frequency = match &frequency {
            Some(frequency) => vector("frequency", frequency)?.to_vec(),
            None => vec![0; terms.len()],
        };
        let counts = match &counts {
            Some(counts) => {
                check_length("a row of counts", counts.shape()[1], 2).map_err(to_python)?;
                matrix("counts", counts)?.as_chunks::<2>().0.to_vec()
            }
            None => Vec::new(),
        };
        let finished = Finished::new(terms, frequency, counts).map_err(to_python)?;
        Ok(Self { inner: Arc::new(finished) })
    }

    /// Number of terms.
    #[getter]
    fn n_terms(&self) -> usize {
        self.inner.terms.len()
    }

    /// The names, one after the other, and where each ends.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (bytes, ends) = self.inner.terms.names();
        let pair = [PyArray1::from_vec(py, bytes).into_any(), PyArray1::from_vec(py, ends).into_any()];
        PyTuple::new(py, pair)
    }

    /// Number of documents that hold each term.
    fn frequency<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.inner.frequency)
    }

    /// Counts of each term per class, of shape (n_terms, 2); without rows where they are not kept.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        new_matrix(py, self.inner.counts.as_flattened().to_vec(), 2)
    }

    /// The terms that `keep` marks.
    fn restricted(&self, keep: PyReadonlyArray1<'_, bool>) -> PyResult<Self> {
        let mut finished = self.inner.as_ref().clone();
        finished.restrict(vector("keep", &keep)?).map_err(to_python)?;
        Ok(Self { inner: Arc::new(finished) })
    }
}

/// TextIndex(analyzer, terms)
///
/// A vocabulary, ready to be looked up.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TextIndex {
    analyzer: Arc<Analyzer>,
    inner: Lookup,
}

#[pymethods]
impl TextIndex {
    #[new]
    fn new(py: Python<'_>, analyzer: &TextAnalyzer, terms: &TextTerms) -> PyResult<Self> {
        let (analyzer, terms) = (&analyzer.inner, &terms.inner);
        let inner = run(py, 0, |_| Ok(Lookup::new(analyzer.clone(), &terms.terms)))?;
        Ok(Self { analyzer: analyzer.clone(), inner })
    }

    /// The rows of documents.
    fn rows(&self, py: Python<'_>, documents: &Bound<'_, PyAny>, n_threads: usize) -> PyResult<TextRows> {
        let mut rows = Rows::new(false);
        each_batch(documents, self.analyzer.kind(), |batch, _| {
            rows.extend(run(py, size(batch), |stop| self.inner.rows(batch, n_threads.max(1), stop))?);
            Ok(())
        })?;
        Ok(TextRows { inner: rows })
    }
}

/// The rows of documents by hashing: columns and signs of scikit-learn's FeatureHasher.
#[pyfunction]
pub fn hash_text(
    py: Python<'_>,
    analyzer: &TextAnalyzer,
    documents: &Bound<'_, PyAny>,
    n_features: usize,
    alternate_sign: bool,
    n_threads: usize,
) -> PyResult<TextRows> {
    check_columns(n_features).map_err(to_python)?;
    let analyzer = &analyzer.inner;
    let mut rows = Rows::new(alternate_sign);
    each_batch(documents, analyzer.kind(), |batch, _| {
        rows.extend(run(py, size(batch), |stop| {
            hash_rows(analyzer, batch, n_features, alternate_sign, n_threads.max(1), stop)
        })?);
        Ok(())
    })?;
    Ok(TextRows { inner: rows })
}

/// Rows of occurrences, made by TextCounter, TextIndex or hash_text.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TextRows {
    inner: Rows,
}

#[pymethods]
impl TextRows {
    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    /// Number of rows that store each of the columns.
    fn frequency<'py>(&self, py: Python<'py>, n_features: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = &self.inner;
        let frequency = run(py, rows.n_stored(), |stop| rows.document_frequency(n_features, stop))?;
        Ok(PyArray1::from_vec(py, frequency))
    }

    /// Occurrences of each column in the rows of class 0 and in those of class 1, of shape (2, n_features);
    /// with `binary`, rows that store it.
    fn counts<'py>(
        &self,
        py: Python<'py>,
        n_features: usize,
        classes: PyReadonlyArray1<'_, u8>,
        binary: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, classes) = (&self.inner, vector("classes", &classes)?);
        let counts = run(py, rows.n_stored(), |stop| rows.class_counts(n_features, classes, binary, stop))?;
        new_matrix(py, counts, n_features)
    }

    /// The CSR matrix (indptr, indices, data): values n (1 with `binary`, 1 + ln n with `sublinear`) times
    /// `idf`, rows divided by their `norm` ("none", "l1", "l2"), columns times `scale`.
    #[allow(clippy::too_many_arguments)]
    fn weigh<'py>(
        &self,
        py: Python<'py>,
        n_features: usize,
        binary: bool,
        sublinear: bool,
        idf: Option<PyReadonlyArray1<'_, f64>>,
        norm: &str,
        scale: Option<PyReadonlyArray1<'_, f64>>,
        single: bool,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let norm = match norm {
            "none" => Norm::None,
            "l1" => Norm::L1,
            "l2" => Norm::L2,
            _ => return Err(data_error(format!("norm must be \"none\", \"l1\" or \"l2\", not {norm:?}"))),
        };
        let weights = |name, array: &'_ Option<_>| match array {
            Some(array) => vector(name, array).map(|values: &[f64]| Some(values.to_vec())),
            None => Ok(None),
        };
        let (idf, scale) = (weights("idf", &idf)?, weights("scale", &scale)?);
        let weighting = Weighting { binary, sublinear, idf: idf.as_deref(), norm, scale: scale.as_deref() };
        let rows = &self.inner;
        fn arrays<'py, T: Real + Element>(
            py: Python<'py>,
            rows: &Rows,
            n_features: usize,
            weighting: Weighting<'_>,
            n_threads: usize,
        ) -> PyResult<Bound<'py, PyTuple>> {
            let made = run(py, rows.n_stored(), |stop| {
                weigh::<T>(rows, n_features, weighting, n_threads.max(1), stop)
            })?;
            let starts = PyArray1::from_vec(py, made.starts).into_any();
            let columns = PyArray1::from_vec(py, made.columns).into_any();
            PyTuple::new(py, [starts, columns, PyArray1::from_vec(py, made.values).into_any()])
        }
        if single {
            arrays::<f32>(py, rows, n_features, weighting, n_threads)
        } else {
            arrays::<f64>(py, rows, n_features, weighting, n_threads)
        }
    }
}
