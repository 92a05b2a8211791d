//! Named values to rows by hashing, as scikit-learn's FeatureHasher does it.

use numpy::PyArray1;
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyDict, PyString, PyTuple};
use separatrix_kernels::text::hashing::{check_columns, column, murmur3};

use crate::errors::{data_error, to_python};

/// Rows between two looks for Ctrl-C.
const SLICE: usize = 256;

/// Rows under way.
struct Hashed {
    n_features: u32,
    alternate_sign: bool,
    starts: Vec<i64>,
    columns: Vec<i32>,
    values: Vec<f64>,
    /// Columns and values of the row under way.
    row: Vec<(u32, f64)>,
    name: Vec<u8>,
}

impl Hashed {
    fn add(&mut self, name: &Bound<'_, PyAny>, value: Value<'_, '_>) -> PyResult<()> {
        let n_rows = self.starts.len() - 1;
        let number = match &value {
            Value::One | Value::Text(_) => 1.0,
            Value::Number(number) => *number,
        };
        if !number.is_finite() {
            return Err(data_error(format!("The value of {name:?} in row {n_rows} is {number}.")));
        }
        if number == 0.0 {
            return Ok(());
        }
        self.name.clear();
        if let Ok(name) = name.cast::<PyString>() {
            push_text(name, n_rows, &mut self.name)?;
        } else if let Ok(name) = name.cast::<PyBytes>() {
            self.name.extend_from_slice(name.as_bytes());
        } else {
            return Err(data_error(format!(
                "feature names must be strings; in row {n_rows} there is {name:?}, a {}",
                name.get_type().name()?
            )));
        }
        if let Value::Text(text) = value {
            self.name.push(b'=');
            push_text(text, n_rows, &mut self.name)?;
        }
        let (column, negative) = column(murmur3(&self.name), self.n_features);
        self.row.push((column, if negative && self.alternate_sign { -number } else { number }));
        Ok(())
    }

    /// Add up what fell into the same column.
    fn end_row(&mut self) {
        self.row.sort_by_key(|&(column, _)| column);
        for run in self.row.chunk_by(|a, b| a.0 == b.0) {
            self.columns.push(run[0].0 as i32);
            self.values.push(run.iter().map(|&(_, value)| value).sum());
        }
        self.row.clear();
        self.starts.push(self.columns.len() as i64);
    }
}

/// What a name stands beside.
enum Value<'a, 'py> {
    One,
    Number(f64),
    Text(&'a Bound<'py, PyString>),
}

fn push_text(text: &Bound<'_, PyString>, row: usize, out: &mut Vec<u8>) -> PyResult<()> {
    match text.to_str() {
        Ok(text) => {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(text.py()) => Err(data_error(format!(
            "The name {text:?} in row {row} holds a lone surrogate, which is no text."
        ))),
        Err(error) => Err(error),
    }
}

fn value_of<'a, 'py>(value: &'a Bound<'py, PyAny>, row: usize) -> PyResult<Value<'a, 'py>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text));
    }
    let number = value.extract().map_err(|_| {
        data_error(format!("The value {value:?} in row {row} is neither a number nor a string."))
    })?;
    Ok(Value::Number(number))
}

fn add_pairs(hashed: &mut Hashed, pairs: &Bound<'_, PyAny>, row: usize) -> PyResult<()> {
    for pair in pairs.try_iter()? {
        let pair = pair?;
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair
            .extract()
            .map_err(|_| data_error(format!("Row {row} holds {pair:?}; expected a pair (name, value).")))?;
        hashed.add(&name, value_of(&value, row)?)?;
    }
    Ok(())
}

/// Rows of dicts ("dict"), of lists of (name, value) ("pair") or of lists of names ("string") as a CSR
/// matrix (indptr, indices, data).
#[pyfunction]
pub fn hash_features<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    input_type: &str,
    n_features: usize,
    alternate_sign: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    if !["dict", "pair", "string"].contains(&input_type) {
        return Err(data_error(format!(
            "input_type must be \"dict\", \"pair\" or \"string\", not {input_type:?}"
        )));
    }
    let mut hashed = Hashed {
        n_features: check_columns(n_features).map_err(to_python)?,
        alternate_sign,
        starts: vec![0],
        columns: Vec::new(),
        values: Vec::new(),
        row: Vec::new(),
        name: Vec::new(),
    };
    for (row, item) in rows.try_iter()?.enumerate() {
        let item = item?;
        if row % SLICE == 0 {
            py.check_signals()?;
        }
        if item.is_instance_of::<PyString>() || item.try_iter().is_err() {
            return Err(data_error(format!(
                "Samples can not be a single string. Row {row} is {item:?}; expected a {}.",
                if input_type == "dict" { "dict" } else { "list" }
            )));
        }
        if input_type == "string" {
            for name in item.try_iter()? {
                hashed.add(&name?, Value::One)?;
            }
        } else if input_type == "pair" {
            add_pairs(&mut hashed, &item, row)?;
        } else if let Ok(dict) = item.cast::<PyDict>() {
            for (name, value) in dict {
                hashed.add(&name, value_of(&value, row)?)?;
            }
        } else {
            let pairs = item
                .call_method0("items")
                .map_err(|_| data_error(format!("Row {row} is {item:?}; expected a dict.")))?;
            add_pairs(&mut hashed, &pairs, row)?;
        }
        hashed.end_row();
    }
    let starts = PyArray1::from_vec(py, hashed.starts).into_any();
    let columns = PyArray1::from_vec(py, hashed.columns).into_any();
    PyTuple::new(py, [starts, columns, PyArray1::from_vec(py, hashed.values).into_any()])
}
