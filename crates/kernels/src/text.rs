//! Raw text to rows of a sparse matrix: analysis, vocabulary, hashing, weighting.
//!
//! A document becomes *units* ([`analyze`]): words, character n-grams, or strings that came analyzed. Units
//! are numbered ([`strings`]), sequences of words by pairs of numbers ([`pairs`]), all of it batch by batch
//! ([`count`]); [`finish`] prunes and sorts what was counted into [`terms`], [`lookup`] finds the terms in new
//! documents, [`hashing`] needs no vocabulary at all. Each way ends in [`rows`], columns in rising order,
//! that [`weigh`] turns into a CSR matrix. [`brown`] makes classes of words from raw text.
//!
//! Numbers given on the way depend on the threads; terms are sorted by name and rows by column before any
//! value is computed, so that the result does not.

use crate::text::tuning::SMALL;

pub mod analyze;
pub mod batch;
pub mod brown;
pub mod characters;
pub mod count;
pub mod finish;
pub mod hashing;
pub mod lookup;
mod pairs;
pub mod rows;
mod sort;
pub mod strings;
pub mod terms;
#[cfg(test)]
mod tests;
pub(crate) mod tuning;
pub mod weigh;

/// No number: of a string that is not in a table, of a term that has no column.
pub const NONE: u32 = u32::MAX;

/// Threads for `n_bytes` of text.
fn threads_for(n_bytes: usize, n_threads: usize) -> usize {
    if n_bytes < SMALL { 1 } else { n_threads }
}
