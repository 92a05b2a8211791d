//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Bytes of text below which one thread is faster than two. [t1]
pub(crate) const SMALL: usize = 1 << 17;
/// Units in a piece, about: its arrays stay in the cache. [t1]
pub(crate) const PIECE: usize = 1 << 15;
/// How far ahead of a look-up its cache line is asked for, where tables are large. [t1]
pub(crate) const COUNT_AHEAD: usize = 8;
/// How far ahead of a look-up its cache line is asked for. [t2]
pub(crate) const LOOKUP_AHEAD: usize = 8;
/// Terms from which on sorting is worth a second thread. [t1]
pub(crate) const MANY: usize = 1 << 14;
/// Parts that the occurrences of a level are split into by hash: the table of each stays in the cache. [t1]
pub(crate) const PARTS: usize = 256;
/// Largest number of values of a digit. [t1]
pub(crate) const BASE: usize = 1 << 10;
/// Rows shorter than this are sorted by comparison. [t1]
pub(crate) const SHORT: usize = 128;
/// Counts up to which the weight of a term is looked up, not computed. [t1]
pub(crate) const TABULATED: usize = 256;
/// Counts below which phi is looked up, not computed. [no case: time `separatrix clusters`]
pub(crate) const TABLE: usize = 1 << 16;
