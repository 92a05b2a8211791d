//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Rows (at least) between two looks at the interrupt flag. [f7c]
pub(crate) const BLOCK: usize = 1024;
/// Degree of the polynomial weights of the average. [f7c]
pub(crate) const DEGREE: f64 = 4.0;
/// Share of stored values from which on the columns are centered; below, means are near zero. [f7c]
pub(crate) const CENTERED_DENSITY: f64 = 0.1;
/// Rows that `curvature_rate` looks at. [f7c]
pub(crate) const SAMPLE: usize = 250;
