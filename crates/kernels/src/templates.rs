//! Templates over columns of tokens to rows of a sparse matrix of attributes.
//!
//! A template reads the values of some columns at places around a token; the values, one per part, are an
//! attribute of the token. Columns come as one number per token with the distinct words ([`tokens`]), so that
//! strings are looked at once per distinct word: each becomes a number of its *space* (the values that
//! may meet in one attribute). Numbers of all parts are packed into a 64-bit key ([`packing`]), keys are
//! numbered in the order of their first occurrence ([`learn`]), or looked up ([`encode`]), or hashed
//! ([`hashing`]); each way ends in [`rows`].
//!
//! Templates with the same literal text form a *group*: they name the same attributes, wherever they read
//! their values (a bag of words). Groups are numbered one after another, each by one thread in the order of the
//! tokens, so that the result does not depend on the number of threads.

use crate::templates::tuning::SMALL;

pub mod encode;
pub mod hashing;
pub mod index;
pub mod learn;
mod numbers;
mod packing;
pub mod plan;
pub mod rows;
#[cfg(test)]
mod tests;
pub mod tokens;
pub(crate) mod tuning;

/// No value: of a word that is absent or unknown, of a place outside the sequence.
pub const NONE: u32 = u32::MAX;

/// Threads for `n` attributes.
fn threads_for(n: usize, n_threads: usize) -> usize {
    if n < SMALL { 1 } else { n_threads.max(1) }
}
