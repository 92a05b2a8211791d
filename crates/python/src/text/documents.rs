//! Documents from Python, batch by batch: strings are borrowed while the GIL is held, and kept alive.

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyString};
use separatrix_kernels::text::analyze::Kind;
use separatrix_kernels::text::batch::Batch;

use super::column::{Held, TextColumn};
use crate::errors::data_error;

/// Bytes of text in a batch, about.
const BATCH: usize = 8 << 20;
/// Most documents in a batch.
const MOST: usize = 1 << 16;

/// A string that is alive: itself where it is ASCII (its bytes are there to be read), encoded otherwise
/// (to ask for UTF-8 of the string itself would leave a second copy in the user's object).
enum Text<'py> {
    Plain(Bound<'py, PyString>),
    Encoded(Bound<'py, PyBytes>),
}

impl<'py> Text<'py> {
    fn new(item: Bound<'py, PyAny>, what: &str, row: usize) -> PyResult<Self> {
        let text = match item.cast_into::<PyString>() {
            Ok(text) => text,
            Err(error) => return Err(refuse(&error.into_inner(), what, row)),
        };
        let py = text.py();
        if text.call_method0(intern!(py, "isascii"))?.is_truthy()? {
            return Ok(Self::Plain(text));
        }
        match text.encode_utf8() {
            Ok(bytes) => Ok(Self::Encoded(bytes)),
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => {
                let place =
                    error.value(py).getattr("start").and_then(|at| at.extract::<usize>()).unwrap_or(0);
                Err(data_error(format!(
                    "The {what} in row {row} holds a lone surrogate at character {place}, which is no text; \
                     repair it, for example with text.encode(\"utf-8\", \"replace\").decode()."
                )))
            }
            Err(error) => Err(error),
        }
    }

    fn get(&self) -> PyResult<&str> {
        match self {
            Self::Plain(text) => text.to_str(),
            Self::Encoded(bytes) => std::str::from_utf8(bytes.as_bytes())
                .map_err(|_| data_error("a string was encoded as something else than UTF-8".into())),
        }
    }

    fn len(&self) -> PyResult<usize> {
        match self {
            Self::Plain(text) => text.len(),
            Self::Encoded(bytes) => bytes.len(),
        }
    }
}

/// The error about something that is no string.
fn refuse(item: &Bound<'_, PyAny>, what: &str, row: usize) -> PyErr {
    let class = item.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    let is_nan = item.extract::<f64>().is_ok_and(f64::is_nan);
    data_error(if item.is_none() || is_nan || class == "NAType" || class == "NaTType" {
        format!("The {what} in row {row} is missing ({class}); fill or drop missing values first.")
    } else if class == "bytes" {
        format!("The {what} in row {row} is bytes; decode it first, for example with .decode(\"utf-8\").")
    } else {
        format!("The {what} in row {row} is of type {class}; expected a str.")
    })
}

/// Call `work(batch, first_row)` on the documents, which come as an iterable of str (of iterables of str
/// where the analysis is given) or as a [`TextColumn`]; the number of documents.
pub fn each_batch(
    documents: &Bound<'_, PyAny>,
    kind: Kind,
    mut work: impl FnMut(Batch<'_>, usize) -> PyResult<()>,
) -> PyResult<usize> {
    if let Ok(column) = documents.cast::<TextColumn>() {
        return each_of_column(&column.get().hold(documents.py())?, work);
    }
    let mut items = documents.try_iter()?;
    let mut row = 0;
    loop {
        let first = row;
        let (mut texts, mut ends, mut size) = (Vec::new(), Vec::new(), 0);
        while size < BATCH && row - first < MOST {
            let Some(item) = items.next() else { break };
            let item = item?;
            if kind == Kind::Given {
                if item.is_instance_of::<PyString>() {
                    return Err(data_error(format!("Row {row} is a str; expected a list of strings.")));
                }
                for unit in item.try_iter()? {
                    texts.push(Text::new(unit?, "term", row)?);
                }
            } else {
                texts.push(Text::new(item, "document", row)?);
            }
            row += 1;
            size +=
                texts[ends.last().copied().unwrap_or(0)..].iter().map(Text::len).sum::<PyResult<usize>>()?;
            ends.push(texts.len());
        }
        if row == first {
            return Ok(row);
        }
        let strings = texts.iter().map(Text::get).collect::<PyResult<Vec<&str>>>()?;
        let batch = if kind == Kind::Given { Batch::Units(&strings, &ends) } else { Batch::Text(&strings) };
        work(batch, first)?;
    }
}

fn each_of_column(
    column: &Held<'_>,
    mut work: impl FnMut(Batch<'_>, usize) -> PyResult<()>,
) -> PyResult<usize> {
    let mut row = 0;
    let mut rest = column.strings();
    loop {
        let (mut strings, mut size) = (Vec::new(), 0);
        while size < BATCH && strings.len() < MOST {
            let Some(text) = rest.next() else { break };
            let text = text?;
            size += text.len();
            strings.push(text);
        }
        if strings.is_empty() {
            return Ok(row);
        }
        work(Batch::Text(&strings), row)?;
        row += strings.len();
    }
}
