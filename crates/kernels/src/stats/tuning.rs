//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Chunks of rows whose products are summed in the data's precision. [g3]
pub(crate) const FLUSH: usize = 32;
/// Tasks of a scatter at most; each holds matrices of its own. [g3]
pub(crate) const MOST_TASKS: usize = 4;
/// Parts of the rows whose sums are taken at most. [g3]
pub(crate) const MOST_PARTS: usize = 16;
/// Rows between two looks at the interrupt flag. [g1]
pub(crate) const COUNT_BLOCK: usize = 256;
/// Parts of the rows at most. [g1]
pub(crate) const COUNT_PARTS: usize = 16;
/// Statistics of all classes that stay in the cache together. [g1]
pub(crate) const SMALL: usize = 1 << 15;
/// Rows of a task. [g1]
pub(crate) const LIKELIHOOD_BLOCK: usize = 256;
/// Tasks of moments at most; each holds a matrix of its own. [g2]
pub(crate) const MOMENT_TASKS: usize = 8;
/// Rows between two looks at the interrupt flag. [g1]
pub(crate) const SURVEY_BLOCK: usize = 256;
