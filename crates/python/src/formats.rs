//! Files and their formats: sources of lines, readers and writers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use separatrix_kernels::formats::conll::{self, Column, Layout};
use separatrix_kernels::formats::csv::{self, Cells, Wanted};
use separatrix_kernels::formats::intern::Interner;
use separatrix_kernels::formats::lines::Block as Lines;
use separatrix_kernels::formats::source::{Limits, Source as Stream, Unit};
use separatrix_kernels::formats::svmlight::{self, Either, Options, Svmlight};
use separatrix_kernels::formats::{crfsuite, crfsuite_write, rows_write, svmlight_write};

use crate::arrays::vector;
use crate::errors::data_error;
use crate::run::run;

type Integers<'py> = Bound<'py, PyArray1<i64>>;
type Floats<'py> = Bound<'py, PyArray1<f64>>;
/// Words one after another, and where each begins.
type Words<'py> = (Bound<'py, PyBytes>, Integers<'py>);
/// The number of the word of each token, and the words.
type Coded<'py> = (Bound<'py, PyArray1<i32>>, Words<'py>);

fn integers(py: Python<'_>, values: Vec<usize>) -> Integers<'_> {
    PyArray1::from_vec(py, values.into_iter().map(|value| value as i64).collect())
}

fn words(py: Python<'_>, interner: Interner) -> Words<'_> {
    let (bytes, starts) = interner.into_parts();
    (PyBytes::new(py, &bytes), PyArray1::from_vec(py, starts))
}

/// Numbers fit: there are fewer than 2^30 words.
fn narrow(py: Python<'_>, codes: Vec<u32>) -> Bound<'_, PyArray1<i32>> {
    PyArray1::from_vec(py, codes.into_iter().map(|code| code as i32).collect())
}

fn coded(py: Python<'_>, column: Column) -> Coded<'_> {
    (narrow(py, column.codes), words(py, column.words))
}

/// Block(data, first_line)
///
/// Whole lines of a file; `first_line` is the number of the first, from one.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Block {
    lines: Lines,
}

#[pymethods]
impl Block {
    #[new]
    fn new(data: &[u8], first_line: usize) -> Self {
        Self { lines: Lines { bytes: data.to_vec(), first_line } }
    }

    /// Number of the first line in the file.
    #[getter]
    fn first_line(&self) -> usize {
        self.lines.first_line
    }

    /// The lines.
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lines.bytes)
    }
}

/// Source(origin, line_limit=None, unpack_limit=None)
///
/// The plain bytes of a file (a path) or of bytes in memory, unpacked when they are gzip or Zstandard.
/// `line_limit` bounds the bytes of a line, `unpack_limit` the plain bytes for each packed one.
#[pyclass(frozen, module = "separatrix._core")]
pub struct Source {
    stream: Mutex<Stream>,
}

#[derive(FromPyObject)]
enum Origin {
    Bytes(Vec<u8>),
    Path(PathBuf),
}

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (origin, line_limit=None, unpack_limit=None))]
    fn new(
        py: Python<'_>,
        origin: Origin,
        line_limit: Option<usize>,
        unpack_limit: Option<usize>,
    ) -> PyResult<Self> {
        let limits =
            Limits { line: line_limit.unwrap_or(usize::MAX), unpack: unpack_limit.unwrap_or(usize::MAX) };
        let stream = run(py, 0, |_| match origin {
            Origin::Bytes(bytes) => Stream::from_bytes(bytes, limits),
            Origin::Path(path) => Stream::open(&path, limits),
        })?;
        Ok(Self { stream: Mutex::new(stream) })
    }

    /// "gzip", "Zstandard" or None.
    #[getter]
    fn packing(&self) -> Option<&'static str> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).packing()
    }

    /// Up to `n` of the next bytes, which stay in place.
    fn peek<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, n, |_| {
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(stream.peek(n)?.to_vec())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Up to `n` of the next bytes (all of them for None); none at the end.
    fn read<'py>(&self, py: Python<'py>, n: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let n = n.unwrap_or(usize::MAX);
        let bytes =
            run(py, n, |flag| self.stream.lock().unwrap_or_else(PoisonError::into_inner).read(n, flag))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The next `n` lines (all for None), or groups of lines parted by blank ones; None at the end.
    fn block(&self, py: Python<'_>, n: Option<usize>, groups: bool) -> PyResult<Option<Block>> {
        let unit = if groups { Unit::Group } else { Unit::Line };
        let lines = run(py, usize::MAX, |flag| {
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            stream.block(n.unwrap_or(usize::MAX), unit, flag)
        })?;
        Ok(lines.map(|lines| Block { lines }))
    }
}

/// What a text of so many bytes costs to read, in multiply-adds.
fn work(block: &Block) -> usize {
    block.lines.bytes.len().saturating_mul(4)
}

/// Labels and where those of each row begin, queries, the CSR arrays, columns, whether they counted from zero, and
/// the first line with several labels and with none.
type SvmlightArrays<'py> = (
    (Floats<'py>, Integers<'py>),
    Option<Integers<'py>>,
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Floats<'py>),
    usize,
    bool,
    (Option<usize>, Option<usize>),
);

/// svmlight text to labels, queries and a sparse matrix; see the kernel.
#[pyfunction]
pub fn read_svmlight<'py>(
    py: Python<'py>,
    block: &Block,
    zero_based: Option<bool>,
    n_features: Option<usize>,
    n_threads: usize,
) -> PyResult<SvmlightArrays<'py>> {
    let options = Options { zero_based, n_features };
    Ok(match run(py, work(block), |flag| svmlight::read(&block.lines, &options, n_threads, flag))? {
        Either::Narrow(rows) if i32::try_from(rows.values.len()).is_ok() => {
            arrays(py, rows, |starts, indices| {
                let starts = starts.into_iter().map(|start| start as i32).collect();
                (PyArray1::from_vec(py, starts).into_any(), PyArray1::from_vec(py, indices).into_any())
            })
        }
        Either::Narrow(rows) => arrays(py, rows, |starts, indices| {
            let indices = indices.into_iter().map(i64::from).collect();
            (integers(py, starts).into_any(), PyArray1::from_vec(py, indices).into_any())
        }),
        Either::Wide(rows) => arrays(py, rows, |starts, indices| {
            (integers(py, starts).into_any(), PyArray1::from_vec(py, indices).into_any())
        }),
    })
}

/// The arrays of a file; `wrap` makes row pointer and columns of one width.
fn arrays<'py, I>(
    py: Python<'py>,
    rows: Svmlight<I>,
    wrap: impl FnOnce(Vec<usize>, Vec<I>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>),
) -> SvmlightArrays<'py> {
    let queries = (!rows.queries.is_empty()).then(|| PyArray1::from_vec(py, rows.queries));
    let (starts, indices) = wrap(rows.starts, rows.indices);
    (
        (PyArray1::from_vec(py, rows.labels), integers(py, rows.label_starts)),
        queries,
        (starts, indices, PyArray1::from_vec(py, rows.values)),
        rows.n_features,
        rows.zero_based,
        (rows.several, rows.none),
    )
}

/// Where sentences begin, the columns, comments with the sentence that each belongs to, and the sentences that
/// documents begin with.
type Sentences<'py> = (Integers<'py>, Vec<Coded<'py>>, (Words<'py>, Integers<'py>), Integers<'py>);

/// What parts the columns of CoNLL text by its first token, "space" or "tab"; None where there is no token.
#[pyfunction]
pub fn conll_layout(block: &Block) -> Option<&'static str> {
    conll::layout_of(&block.lines).map(|layout| if layout == Layout::Tab { "tab" } else { "space" })
}

/// CoNLL text to numbered words; `layout` is "space", "tab" or "universal", `shape` the number of columns and
/// the line that told it where an earlier block did.
#[pyfunction]
#[pyo3(signature = (block, layout, shape, n_threads))]
pub fn read_conll<'py>(
    py: Python<'py>,
    block: &Block,
    layout: &str,
    shape: Option<(usize, usize)>,
    n_threads: usize,
) -> PyResult<Sentences<'py>> {
    let layout = match layout {
        "space" => Layout::Space,
        "tab" => Layout::Tab,
        "universal" => Layout::Universal,
        other => return Err(data_error(format!("there is no layout {other:?}"))),
    };
    if shape.is_some_and(|(columns, _)| columns > 1 << 20) {
        return Err(data_error("there are too many columns".into()));
    }
    let read = run(py, work(block), |flag| conll::read(&block.lines, layout, shape, n_threads, flag))?;
    let columns = read.columns.into_iter().map(|column| coded(py, column)).collect();
    let (ends, sentences): (Vec<usize>, Vec<usize>) = read.comment_ends.into_iter().unzip();
    let starts = std::iter::once(0).chain(ends).collect();
    let comments = (PyBytes::new(py, &read.comments), integers(py, starts));
    let documents = integers(py, read.documents);
    Ok((integers(py, read.starts), columns, (comments, integers(py, sentences)), documents))
}

/// A column of delimited text: None where it was not asked for, False where some value is no number, numbers, whether
/// they are whole, and the bits of the words for no value that were met; numbers of words and the words; or None, a
/// word for every row, and such bits.
fn cells<'py>(py: Python<'py>, cells: Cells) -> PyResult<Bound<'py, PyAny>> {
    let text = |word: &[u8]| -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, std::str::from_utf8(word).map_err(|error| data_error(error.to_string()))?))
    };
    Ok(match cells {
        Cells::Nothing => py.None().into_bound(py),
        Cells::Failed => false.into_pyobject(py)?.to_owned().into_any(),
        Cells::Numbers(values, whole, marks) => {
            let array = if whole && marks == 0 {
                // Whole numbers have at most 15 digits.
                PyArray1::from_vec(py, values.into_iter().map(|value| value as i64).collect()).into_any()
            } else {
                PyArray1::from_vec(py, values).into_any()
            };
            (array, whole, marks).into_pyobject(py)?.into_any()
        }
        Cells::Words(codes, words) => {
            let words = words.iter().map(|word| text(word)).collect::<PyResult<Vec<_>>>()?;
            (narrow(py, codes), PyList::new(py, words)?).into_pyobject(py)?.into_any()
        }
        Cells::List(bytes, ends, marks) => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let words =
                starts.zip(&ends).map(|(start, &end)| Ok(text(&bytes[start..end])?.into_any().unbind()));
            let words = PyArray1::from_vec(py, words.collect::<PyResult<Vec<Py<PyAny>>>>()?);
            (py.None(), words, marks).into_pyobject(py)?.into_any()
        }
    })
}

/// Records of delimited text as columns, how many there are, and the bytes and lines that they take.
///
/// `wanted` has a byte for every column: 0 nothing, 1 numbers, 2 words. A record that is cut at the end of a text that
/// is not the `last` one is left.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the options of the kernel")]
pub fn read_csv<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyBytes>,
    start: usize,
    delimiter: u8,
    wanted: &[u8],
    missing: Vec<Vec<u8>>,
    lines: (usize, usize),
    most: Option<usize>,
    last: bool,
    n_threads: usize,
) -> PyResult<(Vec<Bound<'py, PyAny>>, usize, usize, usize)> {
    if missing.len() > 64 {
        return Err(data_error("there are more than 64 words for a missing value".into()));
    }
    let text = data.as_bytes().get(start..).unwrap_or(&[]);
    let wanted: Vec<Wanted> = wanted
        .iter()
        .map(|byte| match byte {
            0 => Wanted::Nothing,
            1 => Wanted::Numbers,
            _ => Wanted::Words,
        })
        .collect();
    let (first_line, width_line) = lines;
    let most = most.unwrap_or(usize::MAX);
    let options = csv::Options { delimiter, wanted: &wanted, missing: &missing, width_line, most, last };
    let size = text.len().saturating_mul(4);
    let table = run(py, size, |flag| csv::read(text, first_line, &options, n_threads, flag))?;
    let columns = table.columns.into_iter().map(|column| cells(py, column)).collect::<PyResult<_>>()?;
    Ok((columns, table.n_rows, table.consumed, table.n_lines))
}

/// A column that is written: floats, whole numbers, or numbers of words and the words.
#[derive(FromPyObject)]
pub enum Written<'py> {
    /// Finite numbers.
    Floats(PyReadonlyArray1<'py, f64>),
    /// Whole numbers.
    Integers(PyReadonlyArray1<'py, i64>),
    /// Numbers of words, and the words.
    Words((PyReadonlyArray1<'py, i64>, Vec<String>)),
}

/// The text of rows: the cells of columns with the words `between` before each of them, and behind the last.
#[pyfunction]
pub fn write_rows<'py>(
    py: Python<'py>,
    columns: Vec<Written<'py>>,
    between: Vec<String>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyString>> {
    let spelled: Vec<(Vec<u8>, Vec<usize>)> = columns
        .iter()
        .map(|column| match column {
            Written::Words((_, words)) => {
                let mut at = 0;
                let ends = words.iter().map(|word| {
                    at += word.len();
                    at
                });
                (words.concat().into_bytes(), ends.collect())
            }
            _ => Default::default(),
        })
        .collect();
    let plain = columns.iter().zip(&spelled).map(|(column, (bytes, ends))| {
        Ok(match column {
            Written::Floats(values) => rows_write::Column::Floats(vector("values", values)?),
            Written::Integers(values) => rows_write::Column::Integers(vector("values", values)?),
            Written::Words((codes, _)) => rows_write::Column::Words(vector("codes", codes)?, bytes, ends),
        })
    });
    let plain = plain.collect::<PyResult<Vec<_>>>()?;
    let between: Vec<Vec<u8>> = between.into_iter().map(String::into_bytes).collect();
    let size = plain.len().saturating_mul(1 << 20);
    let text = run(py, size, |_| rows_write::write(&plain, &between, n_threads))?;
    Ok(PyString::new(py, std::str::from_utf8(&text).map_err(|error| data_error(error.to_string()))?))
}

/// A number for every object of a list, the same for one and the same object, and the objects in the order of
/// their first use; None where more than half are distinct.
#[pyfunction]
pub fn identity_codes<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyList>,
) -> Option<(Integers<'py>, Vec<Bound<'py, PyAny>>)> {
    let mut known: HashMap<usize, i64, BuildHasherDefault<Address>> = HashMap::default();
    let (mut codes, mut found) = (Vec::with_capacity(values.len()), Vec::new());
    for value in values.iter() {
        let next = found.len() as i64;
        let code = *known.entry(value.as_ptr() as usize).or_insert(next);
        if code == next {
            found.push(value);
            if found.len() > values.len() / 2 + FEW {
                return None;
            }
        }
        codes.push(code);
    }
    Some((PyArray1::from_vec(py, codes), found))
}

/// Objects that may all be distinct.
const FEW: usize = 64;

/// Addresses are spread by one multiplication: they are distinct, and nobody chooses them.
#[derive(Default)]
struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte.into());
        }
    }

    fn write_usize(&mut self, address: usize) {
        let product = (self.0 ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

/// Where sequences begin, labels, CSR arrays of the items, attributes, and weights of the sequences.
type Sequences<'py> = (
    Integers<'py>,
    Coded<'py>,
    (Integers<'py>, Bound<'py, PyArray1<i32>>, Floats<'py>),
    Words<'py>,
    Floats<'py>,
);

/// CRFsuite text to labels and sparse rows.
#[pyfunction]
pub fn read_crfsuite<'py>(py: Python<'py>, block: &Block, n_threads: usize) -> PyResult<Sequences<'py>> {
    let read = run(py, work(block), |flag| crfsuite::read(&block.lines, n_threads, flag))?;
    Ok((
        integers(py, read.starts),
        coded(py, read.labels),
        (integers(py, read.rows), narrow(py, read.indices), PyArray1::from_vec(py, read.values)),
        words(py, read.attributes),
        PyArray1::from_vec(py, read.weights),
    ))
}

/// svmlight text of rows `first` to `last`; `base` (0 or 1) is added to every column.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arrays of a labeled sparse matrix")]
pub fn write_svmlight<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'py, f64>,
    label_starts: PyReadonlyArray1<'py, i64>,
    queries: PyReadonlyArray1<'py, i64>,
    starts: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, f64>,
    base: i64,
    first: usize,
    last: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = svmlight_write::Rows {
        labels: vector("labels", &labels)?,
        label_starts: vector("label_starts", &label_starts)?,
        queries: vector("queries", &queries)?,
        starts: vector("starts", &starts)?,
        indices: vector("indices", &indices)?,
        values: vector("values", &values)?,
        base,
    };
    let text = run(py, rows.values.len().saturating_mul(16), |_| svmlight_write::write(&rows, first, last))?;
    Ok(PyBytes::new(py, &text))
}

/// A dictionary that Python hands over: the words one after another, and where each begins.
type WordArrays<'py> = (Bound<'py, PyBytes>, PyReadonlyArray1<'py, i64>);

/// CRFsuite text of all sequences.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arrays of labeled sequences")]
pub fn write_crfsuite<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    weights: PyReadonlyArray1<'py, f64>,
    labels: PyReadonlyArray1<'py, i64>,
    label_names: WordArrays<'py>,
    rows: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, f64>,
    attributes: WordArrays<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let words = |(bytes, starts): &'_ WordArrays<'py>| -> PyResult<(Vec<u8>, Vec<i64>)> {
        Ok((bytes.as_bytes().to_vec(), vector("words", starts)?.to_vec()))
    };
    let (label_names, attributes) = (words(&label_names)?, words(&attributes)?);
    let items = crfsuite_write::Items {
        starts: vector("starts", &starts)?,
        weights: vector("weights", &weights)?,
        labels: vector("labels", &labels)?,
        label_names: crfsuite_write::Words { bytes: &label_names.0, starts: &label_names.1 },
        rows: vector("rows", &rows)?,
        indices: vector("indices", &indices)?,
        values: vector("values", &values)?,
        attributes: crfsuite_write::Words { bytes: &attributes.0, starts: &attributes.1 },
    };
    let text = run(py, items.values.len().saturating_mul(16), |_| crfsuite_write::write(&items))?;
    Ok(PyBytes::new(py, &text))
}
