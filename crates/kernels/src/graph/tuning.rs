//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Pixels from which on the rows of one image go on threads. [no case: s7 runs on one thread]
pub(crate) const LARGE: usize = 1 << 16;
/// Rows of an image that one thread takes at a time. [no case: s7 runs on one thread]
pub(crate) const ROWS: usize = 16;
/// Pixels that are taken at once: plain arrays of so many values become vectors. [s7]
pub(crate) const TOGETHER: usize = 16;
