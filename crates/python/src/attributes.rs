//! Tokens as Python has them, dicts and lists of strings, to rows of numbered attributes, without objects in between.
//!
//! Names are put together in one buffer and looked up by their bytes; a string of Python is read where it stands. The
//! values of nearly all attributes are one: they are kept only from the first other value on.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyAnyMethods, PyBytes, PyDict, PyFrozenSet, PyIterator, PyList, PyMapping, PySet, PyString, PyTuple,
};
use separatrix_kernels::formats::intern::Interner;

use crate::arrays::vector;
use crate::errors::{data_error, to_python};

/// Tokens between two looks at signals.
const TOKENS_PER_LOOK: usize = 1 << 14;
/// Dicts inside dicts, at most.
const DEEPEST: usize = 64;

/// WordIndex(data, offsets)
///
/// Numbers of distinct words, given one after another in UTF-8.
#[pyclass(frozen, module = "separatrix._core")]
pub struct WordIndex {
    words: Interner,
}

#[pymethods]
impl WordIndex {
    #[new]
    fn new(data: &[u8], offsets: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let mut words = Interner::default();
        for pair in vector("offsets", &offsets)?.windows(2) {
            let word = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok());
            let word = word.and_then(|(start, end)| data.get(start..end));
            let word = word.ok_or_else(|| data_error("offsets must rise, and stay within data".into()))?;
            let known = words.len();
            if words.intern(word).map_err(to_python)? as usize != known {
                return Err(data_error(format!("word {:?} occurs twice", String::from_utf8_lossy(word))));
            }
        }
        Ok(Self { words })
    }

    fn __len__(&self) -> usize {
        self.words.len()
    }
}

/// Where rows begin, columns, values, tokens of each sequence, and new words one after another with their bounds.
type Encoded<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<i64>>,
    Option<(Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>)>,
);

/// Rows of the tokens of all sequences; attributes are numbered by their first use, or those of `index` are looked for and
/// others passed over. With `letters`, the letters of a token that is a str are its attributes.
#[pyfunction]
#[pyo3(signature = (sequences, index, letters))]
pub fn encode_items<'py>(
    sequences: &Bound<'py, PyAny>,
    index: Option<&Bound<'py, WordIndex>>,
    letters: bool,
) -> PyResult<Encoded<'py>> {
    let py = sequences.py();
    let mut encoder = Encoder {
        known: index.map(|index| &index.get().words),
        found: Interner::default(),
        name: Vec::new(),
        token: Vec::new(),
        starts: vec![0],
        columns: Vec::new(),
        values: None,
        letters,
    };
    let mut lengths = Vec::new();
    for (number, sequence) in sequences.try_iter()?.enumerate() {
        let first = encoder.starts.len();
        encoder.sequence(number, &sequence?)?;
        lengths.push((encoder.starts.len() - first) as i64);
    }
    let Encoder { found, starts, columns, values, .. } = encoder;
    let starts = if columns.len() < i32::MAX as usize {
        PyArray1::from_iter(py, starts.iter().map(|&start| start as i32)).into_any()
    } else {
        PyArray1::from_iter(py, starts.iter().map(|&start| start as i64)).into_any()
    };
    let values = match values {
        None => PyArray1::from_vec(py, vec![1f32; columns.len()]).into_any(),
        Some(values) if values.iter().all(|&v| f64::from(v as f32) == v) => {
            PyArray1::from_iter(py, values.iter().map(|&v| v as f32)).into_any()
        }
        Some(values) => PyArray1::from_vec(py, values).into_any(),
    };
    let words = index.is_none().then(|| {
        let (bytes, bounds) = found.into_parts();
        (PyBytes::new(py, &bytes), PyArray1::from_vec(py, bounds))
    });
    let columns = PyArray1::from_vec(py, columns);
    Ok((starts, columns, values, PyArray1::from_vec(py, lengths), words))
}

struct Encoder<'a> {
    known: Option<&'a Interner>,
    /// New words, where none are given.
    found: Interner,
    /// The name that is being put together.
    name: Vec<u8>,
    /// Attributes of the token, in its own order.
    token: Vec<(u32, f64)>,
    starts: Vec<usize>,
    columns: Vec<i32>,
    /// None while all are one.
    values: Option<Vec<f64>>,
    letters: bool,
}

impl Encoder<'_> {
    fn sequence(&mut self, number: usize, sequence: &Bound<'_, PyAny>) -> PyResult<()> {
        let tokens = sequence.try_iter().map_err(|_| {
            let kind = sequence.get_type().to_string();
            data_error(format!("sequence {number} is a {kind}, no sequence of tokens"))
        })?;
        for (at, token) in tokens.enumerate() {
            self.token.clear();
            self.name.clear();
            if let Err(error) = self.item(&token?, 0) {
                let py = sequence.py();
                if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyValueError>(py) {
                    return Err(error);
                }
                let place = format!("token {at} of sequence {number} cannot be read");
                return Err(data_error(format!("{place}: {}", error.value(py))));
            }
            self.end_token();
            if self.starts.len().is_multiple_of(TOKENS_PER_LOOK) {
                sequence.py().check_signals()?;
            }
        }
        Ok(())
    }

    /// Add the attributes of a token, or of a value inside it, whose names begin with what is in the buffer.
    fn item(&mut self, item: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(names) = item.cast::<PyList>() {
            return names.iter().try_for_each(|name| self.attribute(&name));
        }
        if let Ok(dict) = item.cast::<PyDict>() {
            return dict.iter().try_for_each(|(key, value)| self.pair(&key, &value, depth));
        }
        if let Ok(text) = item.cast::<PyString>() {
            if self.letters && depth == 0 {
                let text = text.to_str()?;
                let mut bytes = [0; 4];
                return text.chars().try_for_each(|c| self.named(c.encode_utf8(&mut bytes).as_bytes(), 1.0));
            }
            return Err(Self::no_token(item));
        }
        if item.is_instance_of::<PyBytes>() {
            return Err(Self::no_token(item));
        }
        if let Ok(mapping) = item.cast::<PyMapping>() {
            for pair in mapping.items()?.iter() {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
                self.pair(&key, &value, depth)?;
            }
            return Ok(());
        }
        PyIterator::from_object(item)?.try_for_each(|name| self.attribute(&name?))
    }

    fn no_token(item: &Bound<'_, PyAny>) -> PyErr {
        let shown = item.repr().map(|shown| shown.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("a token must be a dict or a list of str, got {shown}"))
    }

    fn pair(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        let before = self.name.len();
        self.append(key)?;
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            self.name.push(b':');
            self.append(value)?;
            self.add(1.0)?;
        } else if value.is_instance_of::<PyList>()
            || value.is_instance_of::<PyDict>()
            || value.is_instance_of::<PyTuple>()
            || value.is_instance_of::<PySet>()
            || value.is_instance_of::<PyFrozenSet>()
        {
            if depth == DEEPEST {
                return Err(PyValueError::new_err(format!("dicts are nested more than {DEEPEST} deep")));
            }
            self.name.push(b':');
            self.item(value, depth + 1)?;
        } else if let Ok(number) = value.extract::<f64>() {
            self.add(number)?;
        } else if value.is_instance_of::<PyMapping>() && depth < DEEPEST {
            self.name.push(b':');
            self.item(value, depth + 1)?;
        } else {
            let kind = value.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!(
                "the value of {:?} must be a number, a str, or a dict, list or set, not {kind}",
                String::from_utf8_lossy(&self.name)
            )));
        }
        self.name.truncate(before);
        Ok(())
    }

    fn attribute(&mut self, name: &Bound<'_, PyAny>) -> PyResult<()> {
        let before = self.name.len();
        if before == 0
            && let Ok(name) = name.cast::<PyString>()
        {
            // The usual case: nothing to put together.
            return self.named(name.to_str()?.as_bytes(), 1.0);
        }
        self.append(name)?;
        self.add(1.0)?;
        self.name.truncate(before);
        Ok(())
    }

    /// Add a word to the name.
    fn append(&mut self, word: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = word.cast::<PyString>() {
            self.name.extend_from_slice(text.to_str()?.as_bytes());
        } else if let Ok(bytes) = word.cast::<PyBytes>() {
            let text = std::str::from_utf8(bytes.as_bytes());
            let text = text.map_err(|error| PyValueError::new_err(format!("bytes are no UTF-8: {error}")))?;
            self.name.extend_from_slice(text.as_bytes());
        } else {
            self.name.extend_from_slice(word.str()?.to_str()?.as_bytes());
        }
        Ok(())
    }

    /// The token has the attribute whose name is in the buffer.
    fn add(&mut self, value: f64) -> PyResult<()> {
        let number = match self.known {
            Some(known) => known.number(&self.name),
            None => Some(self.found.intern(&self.name).map_err(to_python)?),
        };
        self.token.extend(number.map(|number| (number, value)));
        Ok(())
    }

    /// The token has the attribute of that name.
    fn named(&mut self, name: &[u8], value: f64) -> PyResult<()> {
        let number = match self.known {
            Some(known) => known.number(name),
            None => Some(self.found.intern(name).map_err(to_python)?),
        };
        self.token.extend(number.map(|number| (number, value)));
        Ok(())
    }

    /// Sort the attributes of the token, and add up values of the same one.
    fn end_token(&mut self) {
        self.token.sort_unstable_by_key(|&(number, _)| number);
        let first = self.columns.len();
        for &(number, value) in &self.token {
            if self.columns.len() > first && self.columns.last() == Some(&(number as i32)) {
                let n = self.columns.len();
                let values = self.values.get_or_insert_with(|| vec![1.0; n]);
                values[n - 1] += value;
                continue;
            }
            if value != 1.0 {
                let n = self.columns.len();
                self.values.get_or_insert_with(|| vec![1.0; n]);
            }
            self.columns.push(number as i32);
            if let Some(values) = &mut self.values {
                values.push(value);
            }
        }
        self.starts.push(self.columns.len());
    }
}
