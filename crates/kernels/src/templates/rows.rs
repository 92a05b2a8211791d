//! Attributes of tokens as rows of a sparse matrix.

use super::NONE;
use super::plan::Plan;
use super::tokens::Tokens;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::templates::tuning::ROW_BLOCK;
use crate::threads::{Spaces, each, try_each};

/// Rows in CSR form: columns rise within a row, none twice.
#[derive(Debug, Default, PartialEq)]
pub struct Rows {
    /// Where each row begins, and where the last ends.
    pub starts: Vec<i64>,
    /// Attributes.
    pub columns: Vec<i32>,
    /// How often each occurs at its token.
    pub values: Vec<f32>,
}

/// The rows of all tokens; `find` writes the attributes of a template at tokens `first` and following (`NONE`
/// where there is none).
///
/// With `rising`, templates in the order of the plan give rising columns; otherwise each row is sorted, and an
/// attribute that occurs several times is counted.
///
/// Every block writes into a place of its own that is large enough; then the gaps are closed.
pub(super) fn build(
    plan: &Plan,
    tokens: &Tokens<'_>,
    rising: bool,
    n_threads: usize,
    stop: &Interrupt,
    find: impl Fn(usize, usize, &mut [u32]) + Sync,
) -> Result<Rows, KernelError> {
    let (n, width) = (tokens.len(), plan.order().len());
    if width == 0 {
        return Ok(Rows { starts: vec![0; n + 1], ..Rows::default() });
    }
    let room = ROW_BLOCK.saturating_mul(width);
    let size = n.checked_mul(width).filter(|&size| i64::try_from(size).is_ok());
    let size = size.ok_or_else(|| KernelError::Argument("there are too many attributes".into()))?;
    let mut columns = vec![0_i32; size];
    let mut values = vec![0_f32; if rising { 0 } else { size }];
    let block = |scratch: &mut Vec<u32>, b: usize, columns: &mut [i32], values: &mut [f32]| {
        stop.check()?;
        let first = b * ROW_BLOCK;
        let length = ROW_BLOCK.min(n - first);
        scratch.resize(length * width, NONE);
        for (found, &t) in scratch.chunks_exact_mut(length).zip(plan.order()) {
            find(t, first, found);
        }
        let mut ends = Vec::with_capacity(length);
        let mut end = 0;
        for token in 0..length {
            let start = end;
            for &column in scratch[token..].iter().step_by(length) {
                if column != NONE {
                    columns[end] = column as i32;
                    end += 1;
                }
            }
            if !rising {
                end = start + merge(&mut columns[start..end], &mut values[start..]);
            }
            ends.push(end);
        }
        Ok(ends)
    };
    // Where none are counted, an empty slice of values goes with every block.
    let value_room = if rising { 0 } else { room };
    let mut rest = &mut values[..];
    let cut = |columns| {
        let whole = std::mem::take(&mut rest);
        let (values, after) = whole.split_at_mut(value_room.min(whole.len()));
        rest = after;
        (columns, values)
    };
    let spaces = Spaces::default();
    let run = |(b, (columns, values)): (usize, (&mut [i32], &mut [f32]))| {
        spaces.lend(Vec::new, |scratch| block(scratch, b, columns, values))
    };
    let ends = try_each(n_threads, columns.chunks_mut(room).map(cut).enumerate(), run)?;
    let mut starts = Vec::with_capacity(n + 1);
    starts.push(0);
    let mut total = 0;
    for (b, ends) in ends.into_iter().enumerate() {
        let (from, length) = (b * room, ends.last().copied().unwrap_or(0));
        starts.extend(ends.iter().map(|end| (total + end) as i64));
        columns.copy_within(from..from + length, total);
        if !rising {
            values.copy_within(from..from + length, total);
        }
        total += length;
    }
    columns.truncate(total);
    values.truncate(total);
    if rising {
        values = ones(total, n_threads);
    }
    Ok(Rows { starts, columns, values })
}

/// So many ones; the memory is first touched by the threads that fill it.
fn ones(n: usize, n_threads: usize) -> Vec<f32> {
    let mut values = vec![0.0; n];
    each(n_threads, values.chunks_mut(1 << 18), |part| part.fill(1.0));
    values
}

/// Sort columns and count those that occur several times; how many are left.
fn merge(columns: &mut [i32], values: &mut [f32]) -> usize {
    columns.sort_unstable();
    let mut kept = 0;
    for at in 0..columns.len() {
        let column = columns[at];
        if kept > 0 && columns[kept - 1] == column {
            values[kept - 1] += 1.0;
        } else {
            columns[kept] = column;
            values[kept] = 1.0;
            kept += 1;
        }
    }
    kept
}
