//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Attributes of all tokens below which one thread is faster than two. [s4]
pub(crate) const SMALL: usize = 1 << 15;
/// Tokens between two looks at the flag. [s4]
pub(crate) const LEARN_BLOCK: usize = 1 << 13;
/// Tokens of a block, of which the attributes of all templates fit the cache. [s4]
pub(crate) const ROW_BLOCK: usize = 1 << 11;
