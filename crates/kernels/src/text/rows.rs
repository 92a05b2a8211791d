//! Rows of occurrences: the columns of each document's terms in rising order, repeats included.

use super::NONE;
use super::sort::Sorter;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::threads::each;

/// Some consecutive rows.
#[derive(Debug, Default)]
pub struct Piece {
    /// Columns (doubled, plus one where the sign is negative, when the rows are signed), sorted per row.
    codes: Vec<u32>,
    /// Where each row ends in `codes`.
    ends: Vec<usize>,
    /// Number of different columns in the piece.
    n_stored: usize,
    sorter: Sorter,
}

/// Rows that a matrix will be made from.
#[derive(Debug, Default)]
pub struct Rows {
    pieces: Vec<Piece>,
    signed: bool,
}

impl Piece {
    /// Sort the occurrences that were pushed to `codes` since the last row, and end the row.
    pub fn end_row(&mut self, signed: bool) {
        let start = self.ends.last().copied().unwrap_or(0);
        let row = &mut self.codes[start..];
        self.sorter.sort(row);
        let shift = u32::from(signed);
        let changes = row.windows(2).filter(|w| w[0] >> shift != w[1] >> shift).count();
        self.n_stored += changes + usize::from(!row.is_empty());
        self.ends.push(self.codes.len());
    }

    /// Where occurrences of the row under way go.
    pub fn codes(&mut self) -> &mut Vec<u32> {
        &mut self.codes
    }

    /// Append the column unless it is none.
    #[inline(always)]
    pub fn push(&mut self, column: u32) {
        if column != NONE {
            self.codes.push(column);
        }
    }

    /// Number of stored values.
    pub fn n_stored(&self) -> usize {
        self.n_stored
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.ends.len()
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.codes[start..end])
    }
}

/// Call `take(column, sum, occurrences)` for every different column of a row.
///
/// The sum is that of the signs: the number of occurrences where rows are not signed.
#[inline(always)]
pub fn each_column(row: &[u32], signed: bool, mut take: impl FnMut(u32, i64, u32)) {
    let mut at = 0;
    let shift = u32::from(signed);
    while at < row.len() {
        let column = row[at] >> shift;
        let start = at;
        let mut negative = 0;
        while at < row.len() && row[at] >> shift == column {
            negative += row[at] & shift;
            at += 1;
        }
        let n = (at - start) as u32;
        take(column, i64::from(n) - 2 * i64::from(negative), n);
    }
}

impl Rows {
    /// Rows without pieces yet.
    pub fn new(signed: bool) -> Self {
        Self { pieces: Vec::new(), signed }
    }

    /// Whether occurrences carry a sign.
    pub fn signed(&self) -> bool {
        self.signed
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Append rows.
    pub fn extend(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        self.pieces.extend(pieces);
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.pieces.iter().map(Piece::n_rows).sum()
    }

    /// Number of stored values.
    pub fn n_stored(&self) -> usize {
        self.pieces.iter().map(Piece::n_stored).sum()
    }

    /// Number of rows that store each column.
    pub fn document_frequency(&self, n_cols: usize, stop: &Interrupt) -> Result<Vec<f64>, KernelError> {
        let mut frequency = zeros::<f64>(n_cols)?;
        for piece in &self.pieces {
            stop.check()?;
            for row in piece.rows() {
                each_column(row, self.signed, |column, _, _| frequency[column as usize] += 1.0);
            }
        }
        Ok(frequency)
    }

    /// Occurrences of every column in the rows of class 0 and in those of class 1, one after the other;
    /// with `binary`, rows that store it.
    pub fn class_counts(
        &self,
        n_cols: usize,
        classes: &[u8],
        binary: bool,
        stop: &Interrupt,
    ) -> Result<Vec<f64>, KernelError> {
        check_length("classes", classes.len(), self.n_rows())?;
        let mut counts = zeros::<f64>(2 * n_cols)?;
        let rows = self.pieces.iter().flat_map(Piece::rows);
        for (row, &class) in rows.zip(classes) {
            stop.check()?;
            let offset = if class == 0 { 0 } else { n_cols };
            each_column(row, self.signed, |column, _, n| {
                counts[offset + column as usize] += if binary { 1.0 } else { f64::from(n) };
            });
        }
        Ok(counts)
    }

    /// Fail unless every column is below `n_cols`.
    pub fn check_columns(&self, n_cols: usize, n_threads: usize) -> Result<(), KernelError> {
        let shift = u32::from(self.signed);
        let largest = each(n_threads, &self.pieces, |piece: &Piece| {
            piece.codes.iter().map(|&code| code >> shift).max().unwrap_or(0)
        });
        match largest.into_iter().max() {
            Some(column) if column as usize >= n_cols && self.n_stored() > 0 => {
                Err(KernelError::Argument(format!("column {column} is outside 0..{n_cols}")))
            }
            _ => Ok(()),
        }
    }
}
