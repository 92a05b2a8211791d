//! A sparse matrix with labels to svmlight text.
//!
//! Writes `label[,label…] [qid:q] index:value …`, one row a line, in the shortest decimals that read back as the
//! same numbers. Returns the bytes of the rows asked for, so that a caller can write block after block.

use super::number;
use crate::error::{KernelError, check_length};

/// What a file is written from. `base` is added to every column.
pub struct Rows<'a> {
    /// Labels of all rows.
    pub labels: &'a [f64],
    /// Where the labels of each row begin; one more than rows.
    pub label_starts: &'a [i64],
    /// Query of each row; empty when there is none.
    pub queries: &'a [i64],
    /// Row pointer.
    pub starts: &'a [i64],
    /// Columns, rising within a row.
    pub indices: &'a [i64],
    /// Values.
    pub values: &'a [f64],
    /// 0 or 1: where the file counts from.
    pub base: i64,
}

fn range(starts: &[i64], row: usize, length: usize) -> Result<std::ops::Range<usize>, KernelError> {
    let bound = |at: usize| usize::try_from(starts[at]).ok().filter(|&bound| bound <= length);
    match (bound(row), bound(row + 1)) {
        (Some(start), Some(end)) if start <= end => Ok(start..end),
        _ => Err(KernelError::RowPointer { row, nnz: length }),
    }
}

/// The text of rows `from..to`.
pub fn write(rows: &Rows<'_>, from: usize, to: usize) -> Result<Vec<u8>, KernelError> {
    let n = rows.starts.len().saturating_sub(1);
    check_length("label_starts", rows.label_starts.len(), n + 1)?;
    check_length("indices", rows.indices.len(), rows.values.len())?;
    if !rows.queries.is_empty() {
        check_length("queries", rows.queries.len(), n)?;
    }
    if from > to || to > n {
        return Err(KernelError::Argument(format!("rows {from} to {to} of {n}")));
    }
    let mut out = Vec::new();
    for row in from..to {
        for (place, &label) in
            rows.labels[range(rows.label_starts, row, rows.labels.len())?].iter().enumerate()
        {
            if place > 0 {
                out.push(b',');
            }
            number::write(label, &mut out);
        }
        if let Some(&query) = rows.queries.get(row) {
            out.extend_from_slice(format!(" qid:{query}").as_bytes());
        }
        let mut last = -1;
        let (labels, values) =
            (range(rows.label_starts, row, rows.labels.len())?, range(rows.starts, row, rows.values.len())?);
        if labels.is_empty() && values.is_empty() && rows.queries.is_empty() {
            // A blank line would not count as a row: a zero that changes nothing makes it one.
            out.extend_from_slice(format!(" {}:0", rows.base).as_bytes());
        }
        for at in values {
            let index = rows.indices[at];
            if index <= last {
                let message =
                    format!("row {row}: column {index} after {last}: columns must rise (sort_indices)");
                return Err(KernelError::Argument(message));
            }
            last = index;
            out.push(b' ');
            out.extend_from_slice(index.saturating_add(rows.base).to_string().as_bytes());
            out.push(b':');
            number::write(rows.values[at], &mut out);
        }
        out.push(b'\n');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_rows() {
        let rows = Rows {
            labels: &[1.0, 2.0, 0.5],
            label_starts: &[0, 2, 2, 2, 3],
            queries: &[],
            starts: &[0, 2, 3, 3, 3],
            indices: &[0, 4, 2],
            values: &[0.1, -3.0, 1e-20],
            base: 1,
        };
        assert_eq!(write(&rows, 0, 4).unwrap(), b"1,2 1:0.1 5:-3\n 3:1e-20\n 1:0\n0.5\n");
        assert!(write(&Rows { indices: &[4, 0, 2], ..rows }, 0, 4).is_err());
        assert!(write(&Rows { starts: &[0, 9, 3, 3, 3], ..rows }, 0, 4).is_err());
    }
}
