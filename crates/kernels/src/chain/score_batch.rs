//! Scores of the labels of all tokens, straight from their attributes; threads over tokens change nothing.
//!
//! For data that is looked at once: nothing is encoded beforehand, and sums are in `f64`.

use rayon::prelude::*;

use crate::batch::threads_for;
use crate::chain::observed::Pattern;
use crate::csr::Csr;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::rows::Rows;
use crate::simd::Gather;
use crate::threads::with_threads;

/// Tokens per task.
const BLOCK: usize = 512;

/// Scores of shape n_tokens x n_labels at one weight per (attribute, label) of the pattern.
pub fn pattern_scores<T: Gather>(
    x: &Csr<'_, T>,
    pattern: &Pattern,
    weights: &[f64],
    n_labels: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    check_length("weights", weights.len(), pattern.labels.len())?;
    check_length("attributes of the pattern", pattern.n_attributes(), x.n_cols())?;
    let mut out = vec![0.0; x.n_rows() * n_labels];
    let block = |(b, out): (usize, &mut [f64])| {
        stop.check()?;
        for (i, out) in out.chunks_exact_mut(n_labels).enumerate() {
            let row = b * BLOCK + i;
            let (columns, values) = x.row(row);
            for (&column, value) in columns.iter().zip(values) {
                let a = column as isize as usize;
                if a >= x.n_cols() {
                    let (index, n_cols) = (column.into(), x.n_cols());
                    return Err(KernelError::IndexOutOfRange { row, index, n_cols });
                }
                let range = pattern.starts[a]..pattern.starts[a + 1];
                for (&label, w) in pattern.labels[range.clone()].iter().zip(&weights[range]) {
                    out[label as usize] += w * value.to_f64();
                }
            }
        }
        Ok(())
    };
    let size = (BLOCK * n_labels).max(1);
    if threads_for(x.n_stored() * 4, n_threads) <= 1 {
        out.chunks_mut(size).enumerate().try_for_each(block)?;
    } else {
        with_threads(n_threads, || out.par_chunks_mut(size).enumerate().try_for_each(block))?;
    }
    Ok(out)
}
