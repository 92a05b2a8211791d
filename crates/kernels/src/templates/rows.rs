//! Attributes of tokens as rows of a sparse matrix.

use rayon::prelude::*;

use super::NONE;
use super::plan::Plan;
use super::tokens::{Place, Tokens};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::threads::with_threads;

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

/// Tokens of a block; rows do not depend on it.
const BLOCK: usize = 1 << 13;

/// The rows of all tokens; `column` gives the attribute of a template at a place, or `NONE`.
///
/// With `rising`, templates in the order of the plan give rising columns; otherwise each row is sorted, and an
/// attribute that occurs several times is counted.
pub(super) fn build(
    plan: &Plan,
    tokens: &Tokens<'_>,
    rising: bool,
    n_threads: usize,
    stop: &Interrupt,
    column: impl Fn(usize, Place) -> u32 + Sync,
) -> Result<Rows, KernelError> {
    let n = tokens.len();
    let block = |b: usize| {
        stop.check()?;
        let (first, last) = (b * BLOCK, ((b + 1) * BLOCK).min(n));
        let mut rows = Rows::default();
        rows.columns.reserve((last - first) * plan.order().len());
        for place in tokens.places(first, last) {
            let start = rows.columns.len();
            for &t in plan.order() {
                let column = column(t, place);
                if column != NONE {
                    rows.columns.push(column as i32);
                }
            }
            if !rising {
                rows.merge(start);
            }
            rows.starts.push(rows.columns.len() as i64);
        }
        Ok(rows)
    };
    let n_blocks = n.div_ceil(BLOCK);
    let blocks: Vec<Result<Rows, KernelError>> = with_threads(n_threads, || {
        if n_threads == 1 {
            (0..n_blocks).map(block).collect()
        } else {
            (0..n_blocks).into_par_iter().with_max_len(1).map(block).collect()
        }
    });
    let blocks: Vec<Rows> = blocks.into_iter().collect::<Result<_, _>>()?;
    let total = blocks.iter().map(|rows| rows.columns.len()).sum();
    let mut all = Rows {
        starts: Vec::with_capacity(n + 1),
        columns: Vec::with_capacity(total),
        values: if rising { vec![1.0; total] } else { Vec::with_capacity(total) },
    };
    all.starts.push(0);
    for rows in blocks {
        let before = all.columns.len() as i64;
        all.starts.extend(rows.starts.iter().map(|start| before + start));
        all.columns.extend_from_slice(&rows.columns);
        all.values.extend_from_slice(&rows.values);
    }
    Ok(all)
}

impl Rows {
    /// Sort the columns from `start` on, and count those that occur several times.
    fn merge(&mut self, start: usize) {
        self.columns[start..].sort_unstable();
        let mut kept = start;
        for at in start..self.columns.len() {
            let column = self.columns[at];
            if kept > start && self.columns[kept - 1] == column {
                self.values[kept - 1] += 1.0;
            } else {
                self.columns[kept] = column;
                self.values.push(1.0);
                kept += 1;
            }
        }
        self.columns.truncate(kept);
    }
}
