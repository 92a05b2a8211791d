//! Columns to lines of text: the rows of CSV or of JSON.
//!
//! A row is its cells with fixed words before, between and behind them: `,` and a line end of CSV, names of fields of
//! JSON. Floats are the shortest decimals that read back as the same numbers; words come as they are to be written,
//! each distinct one once. Blocks of rows are written side by side and put together in their order.

use crate::formats::tuning::ROW_BLOCK;
use std::io::Write;

use crate::error::{KernelError, check_length};
use crate::threads;

/// A column.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Finite numbers.
    Floats(&'a [f64]),
    /// Whole numbers.
    Integers(&'a [i64]),
    /// Numbers of words, and where each word ends in the bytes of all.
    Words(&'a [i64], &'a [u8], &'a [usize]),
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Words(codes, ..) => codes.len(),
        }
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), KernelError> {
        // Writing to a vector cannot fail.
        match *self {
            Self::Floats(values) => write_float(values[row], out),
            Self::Integers(values) => drop(write!(out, "{}", values[row])),
            Self::Words(codes, bytes, ends) => {
                let at = usize::try_from(codes[row]).unwrap_or(usize::MAX);
                let start = at.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
                let word = start.zip(ends.get(at)).and_then(|(start, &end)| bytes.get(start..end));
                let word =
                    word.ok_or_else(|| KernelError::Argument(format!("row {row}: there is no word {at}")))?;
                out.extend_from_slice(word);
            }
        }
        Ok(())
    }
}

/// A finite number as Python's `repr` has it: exponents have a sign and two digits.
fn write_float(value: f64, out: &mut Vec<u8>) {
    let start = out.len();
    drop(write!(out, "{value:?}"));
    if let Some(e) = out[start..].iter().rposition(|&byte| byte == b'e').map(|at| start + at) {
        let exponent = out.split_off(e + 1);
        let digits = exponent.strip_prefix(b"-").unwrap_or(&exponent);
        out.push(if digits.len() < exponent.len() { b'-' } else { b'+' });
        if digits.len() < 2 {
            out.push(b'0');
        }
        out.extend_from_slice(digits);
    }
}

/// The text of all rows; `between` has one word before each column, and one behind the last.
pub fn write(columns: &[Column<'_>], between: &[Vec<u8>], n_threads: usize) -> Result<Vec<u8>, KernelError> {
    let n = columns.first().map_or(0, Column::len);
    check_length("between", between.len(), columns.len() + 1)?;
    for column in columns {
        check_length("column", column.len(), n)?;
    }
    let blocks = threads::try_each(n_threads, (0..n).step_by(ROW_BLOCK), |first| {
        let mut out = Vec::new();
        for row in first..n.min(first + ROW_BLOCK) {
            for (column, before) in columns.iter().zip(between) {
                out.extend_from_slice(before);
                column.write(row, &mut out)?;
            }
            out.extend_from_slice(&between[columns.len()]);
        }
        Ok::<_, KernelError>(out)
    })?;
    Ok(blocks.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_csv_on_any_number_of_threads() {
        let n = 3 * ROW_BLOCK + 5;
        let floats: Vec<f64> = (0..n).map(|i| i as f64 / 8.0).collect();
        let codes: Vec<i64> = (0..n as i64).map(|i| i % 2).collect();
        let columns =
            [Column::Floats(&floats), Column::Words(&codes, b"abcd", &[1, 4]), Column::Integers(&codes)];
        let between = [b"".to_vec(), b",".to_vec(), b",".to_vec(), b"\n".to_vec()];
        let one = write(&columns, &between, 1).unwrap();
        assert!(one.starts_with(b"0.0,a,0\n0.125,bcd,1\n0.25,a,0\n"));
        assert_eq!(write(&columns, &between, 3).unwrap(), one);
        let expected: String =
            (0..n).map(|i| format!("{:?},{},{}\n", floats[i], ["a", "bcd"][i % 2], i % 2)).collect();
        assert_eq!(one, expected.as_bytes());
    }

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        for (value, spelled) in [
            (1e16, "1e+16"),
            (-1.5e-5, "-1.5e-05"),
            (1e-4, "0.0001"),
            (1e-100, "1e-100"),
            (123.0, "123.0"),
            (2.5e300, "2.5e+300"),
        ] {
            let mut out = b"x,".to_vec();
            write_float(value, &mut out);
            assert_eq!(out, format!("x,{spelled}").as_bytes());
        }
    }

    #[test]
    fn words_that_are_not_there_are_an_error() {
        let between = [b"".to_vec(), b"\n".to_vec()];
        for code in [-1, 1] {
            assert!(write(&[Column::Words(&[code], b"a", &[1])], &between, 1).is_err());
        }
        assert!(
            write(&[Column::Floats(&[1.0]), Column::Integers(&[])], &[vec![], vec![], vec![]], 1).is_err()
        );
    }
}
