//! Labeled sparse rows to CRFsuite text: `label TAB attribute[:weight] TAB …`, a blank line after every sequence.
//!
//! `:` and `\` in names are written `\:` and `\\`, a weight of one is left out, and a sequence whose own weight is not
//! one begins with `@weight:v`. What CRFsuite could not read back (tabs, line ends, names that begin like a comment
//! or are empty) is an error. Returns the bytes of the sequences asked for.

use super::lines::{is_blank, shown};
use super::number;
use crate::error::{KernelError, check_length};

/// Words, one after another, and where each begins.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    /// The words.
    pub bytes: &'a [u8],
    /// Where each begins; one more than words.
    pub starts: &'a [i64],
}

/// What a file is written from.
pub struct Items<'a> {
    /// Where each sequence begins; one more than sequences.
    pub starts: &'a [i64],
    /// Weight of each sequence; empty when all are one.
    pub weights: &'a [f64],
    /// Label number of each item.
    pub labels: &'a [i64],
    /// The labels.
    pub label_names: Words<'a>,
    /// Row pointer of the items.
    pub rows: &'a [i64],
    /// Attribute numbers.
    pub indices: &'a [i64],
    /// Their weights.
    pub values: &'a [f64],
    /// The attributes.
    pub attributes: Words<'a>,
}

fn bounds(starts: &[i64], at: usize, length: usize) -> Result<std::ops::Range<usize>, KernelError> {
    let bound = |at: usize| {
        starts.get(at).and_then(|&start| usize::try_from(start).ok()).filter(|&start| start <= length)
    };
    match (bound(at), bound(at + 1)) {
        (Some(start), Some(end)) if start <= end => Ok(start..end),
        _ => Err(KernelError::RowPointer { row: at, nnz: length }),
    }
}

/// Every word as it is written.
fn escaped(words: Words<'_>, kind: &str) -> Result<Vec<Vec<u8>>, KernelError> {
    let refuse = |word: &[u8], why: &str| {
        Err(KernelError::Argument(format!("{kind} {} cannot be written as CRFsuite: {why}", shown(word))))
    };
    let escape = |at: usize| {
        let word = &words.bytes[bounds(words.starts, at, words.bytes.len())?];
        match word.first() {
            None => return refuse(word, "it is empty"),
            Some(b'#') => return refuse(word, "# begins a comment"),
            Some(b'@') if kind == "label" => return refuse(word, "@ begins a declaration"),
            _ if kind == "label" && is_blank(word) => return refuse(word, "it is blank"),
            _ => {}
        }
        if word.iter().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) {
            return refuse(word, "it holds a tab or a line end");
        }
        let mut out = Vec::with_capacity(word.len());
        for &byte in word {
            if matches!(byte, b':' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        Ok(out)
    };
    (0..words.starts.len().saturating_sub(1)).map(escape).collect()
}

/// The text of all sequences.
pub fn write(items: &Items<'_>) -> Result<Vec<u8>, KernelError> {
    let labels = escaped(items.label_names, "label")?;
    let attributes = escaped(items.attributes, "attribute")?;
    let sequences = items.starts.len().saturating_sub(1);
    check_length("rows", items.rows.len(), items.labels.len() + 1)?;
    check_length("indices", items.indices.len(), items.values.len())?;
    if !items.weights.is_empty() {
        check_length("weights", items.weights.len(), sequences)?;
    }
    let name = |names: &'_ [Vec<u8>], number: i64| -> Result<usize, KernelError> {
        usize::try_from(number)
            .ok()
            .filter(|&number| number < names.len())
            .ok_or_else(|| KernelError::Argument(format!("number {number} is outside 0..{}", names.len())))
    };
    let mut out = Vec::new();
    for sequence in 0..sequences {
        if let Some(&weight) = items.weights.get(sequence).filter(|&&weight| weight != 1.0) {
            out.extend_from_slice(b"@weight:");
            number::write(weight, &mut out);
            out.push(b'\n');
        }
        for item in bounds(items.starts, sequence, items.labels.len())? {
            out.extend_from_slice(&labels[name(&labels, items.labels[item])?]);
            for at in bounds(items.rows, item, items.values.len())? {
                out.push(b'\t');
                out.extend_from_slice(&attributes[name(&attributes, items.indices[at])?]);
                if items.values[at] != 1.0 {
                    out.push(b':');
                    number::write(items.values[at], &mut out);
                }
            }
            out.push(b'\n');
        }
        out.push(b'\n');
    }
    Ok(out)
}
