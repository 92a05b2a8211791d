//! A column of strings in Arrow's layout, read where it lies.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::arrays::vector;
use crate::errors::data_error;

/// TextColumn(chunks)
///
/// Strings of UTF-8 in chunks (offsets, data): string i of a chunk is `data[offsets[i]:offsets[i + 1]]`, with
/// offsets of int32 or int64 and data of uint8. Text is not copied; it is checked when it is read.
#[pyclass(frozen, module = "separatrix._core")]
pub struct TextColumn {
    chunks: Vec<(Vec<usize>, Py<PyArray1<u8>>)>,
}

fn starts<I: TryInto<usize> + Copy>(offsets: &[I]) -> PyResult<Vec<usize>> {
    let negative = || data_error("offsets of a text column must not be negative".into());
    offsets.iter().map(|&i| i.try_into().map_err(|_| negative())).collect()
}

#[pymethods]
impl TextColumn {
    #[new]
    fn new(chunks: Vec<(Bound<'_, PyAny>, Bound<'_, PyArray1<u8>>)>) -> PyResult<Self> {
        let chunk = |(offsets, data): (Bound<'_, PyAny>, Bound<'_, PyArray1<u8>>)| {
            let offsets = if let Ok(offsets) = offsets.extract::<PyReadonlyArray1<'_, i32>>() {
                starts(vector("offsets", &offsets)?)?
            } else if let Ok(offsets) = offsets.extract::<PyReadonlyArray1<'_, i64>>() {
                starts(vector("offsets", &offsets)?)?
            } else {
                return Err(data_error("offsets must be an int32 or int64 vector".into()));
            };
            Ok((offsets, data.unbind()))
        };
        Ok(Self { chunks: chunks.into_iter().map(chunk).collect::<PyResult<_>>()? })
    }
}

/// The arrays of a column, kept while its strings are read.
pub struct Held<'py> {
    chunks: Vec<(&'py [usize], PyReadonlyArray1<'py, u8>)>,
}

impl TextColumn {
    /// Take hold of the arrays.
    pub fn hold<'py>(&'py self, py: Python<'py>) -> PyResult<Held<'py>> {
        let busy = |_| data_error("the array is being written to by another kernel".into());
        let hold = |(offsets, data): &'py (Vec<usize>, Py<PyArray1<u8>>)| {
            Ok((&offsets[..], data.bind(py).try_readonly().map_err(busy)?))
        };
        Ok(Held { chunks: self.chunks.iter().map(hold).collect::<PyResult<_>>()? })
    }
}

impl Held<'_> {
    /// The strings, checked, in order.
    pub fn strings(&self) -> impl Iterator<Item = PyResult<&str>> {
        self.chunks
            .iter()
            .flat_map(|(offsets, data)| offsets.windows(2).map(move |ends| (ends, data)))
            .enumerate()
            .map(|(row, (ends, data))| {
                let bytes = vector("data", data)?.get(ends[0]..ends[1]).ok_or_else(|| {
                    data_error(format!("offsets of the document in row {row} do not fit the data"))
                })?;
                std::str::from_utf8(bytes).map_err(|error| {
                    let at = error.valid_up_to();
                    data_error(format!("The document in row {row} is not valid UTF-8 at byte {at}."))
                })
            })
    }
}
