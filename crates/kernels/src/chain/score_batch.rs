//! Scores of the labels of all tokens, straight from their attributes; threads over tokens change nothing.
//!
//! For data that is looked at once: tokens are not encoded beforehand, and sums are in `f64`. Attributes with many
//! labels get a row of weights, one per label, so that adding them up is vector code.

use rayon::prelude::*;

use crate::batch::threads_for;
use crate::chain::observed::Pattern;
use crate::csr::Csr;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::{Gather, Task, dispatch};
use crate::threads::with_threads;

/// Tokens per task.
const BLOCK: usize = 512;
/// The number of an attribute without a row.
const NO_ROW: u32 = u32::MAX;

/// Rows of weights of the attributes with many labels.
struct DenseRows {
    row_of: Vec<u32>,
    weights: Vec<f64>,
}

impl DenseRows {
    fn new(pattern: &Pattern, weights: &[f64], n_labels: usize) -> Self {
        let mut rows = Self { row_of: vec![NO_ROW; pattern.n_attributes()], weights: Vec::new() };
        for a in 0..pattern.n_attributes() {
            let (labels, at) = (pattern.of(a), rows.weights.len());
            if labels.len() * 4 > n_labels && labels.len() > 2 {
                rows.row_of[a] = (at / n_labels) as u32;
                rows.weights.resize(at + n_labels, 0.0);
                for (&label, &w) in labels.iter().zip(&weights[pattern.starts[a]..]) {
                    rows.weights[at + label as usize] += w;
                }
            }
        }
        rows
    }
}

struct Tokens<'a, 'b, T> {
    x: &'a Csr<'b, T>,
    pattern: &'a Pattern,
    weights: &'a [f64],
    rows: &'a DenseRows,
    first: usize,
    n_labels: usize,
    out: &'a mut [f64],
}

impl<T: Gather> Task for Tokens<'_, '_, T> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        for (i, out) in self.out.chunks_exact_mut(self.n_labels).enumerate() {
            let (columns, values) = self.x.row(self.first + i);
            for (&column, value) in columns.iter().zip(values) {
                let (a, value) = (column as isize as usize, value.to_f64());
                let row = *self.rows.row_of.get(a).ok_or(KernelError::IndexOutOfRange {
                    row: self.first + i,
                    index: column.into(),
                    n_cols: self.x.n_cols(),
                })?;
                if row == NO_ROW {
                    let range = self.pattern.starts[a]..self.pattern.starts[a + 1];
                    for (&label, w) in self.pattern.labels[range.clone()].iter().zip(&self.weights[range]) {
                        out[label as usize] += w * value;
                    }
                } else {
                    let weights = &self.rows.weights[row as usize * self.n_labels..][..self.n_labels];
                    for (out, &w) in out.iter_mut().zip(weights) {
                        *out = w.fma::<FMA>(value, *out);
                    }
                }
            }
        }
        Ok(())
    }
}

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
    if n_labels == 0 || pattern.labels.iter().any(|&label| label as usize >= n_labels) {
        return Err(KernelError::Argument(format!("the pattern names labels outside 0..{n_labels}")));
    }
    let rows = DenseRows::new(pattern, weights, n_labels);
    let mut out = vec![0.0; x.n_rows() * n_labels];
    let block = |(b, out): (usize, &mut [f64])| {
        stop.check()?;
        let first = b * BLOCK;
        dispatch(Tokens { x, pattern, weights, rows: &rows, first, n_labels, out })
    };
    let size = (BLOCK * n_labels).max(1);
    if threads_for(x.n_stored() * 4, n_threads) <= 1 {
        out.chunks_mut(size).enumerate().try_for_each(block)?;
    } else {
        with_threads(n_threads, || out.par_chunks_mut(size).enumerate().try_for_each(block))?;
    }
    Ok(out)
}
