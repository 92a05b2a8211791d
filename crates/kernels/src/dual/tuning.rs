//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Merges in a sweep with safe steps. [f1]
pub(crate) const SAFE_MERGES: usize = 4;
/// Merges in a sweep with whole steps. [f2]
pub(crate) const WHOLE_MERGES: usize = 2;
/// Threads that share a sweep with whole steps: more would step so far together that little is left of them. [f2]
pub(crate) const MOST_WHOLE: usize = 4;
/// Passes in single precision after which the weights are rebuilt from the duals. [f2, f3]
pub(crate) const REBUILD: f64 = 50.0;
/// Share of the rows in the first hot set. [f2, f4]
pub(crate) const HOT_SHARE: f64 = 0.003;
/// The first hot set has at least this many rows where so many moved: 1 % of a small problem is too few. [f2, f4]
pub(crate) const LEAST_HOT: usize = 64;
/// Sweeps over the first hot set. [f2, f4]
pub(crate) const HOT_SWEEPS: f64 = 8.0;
/// Factor on the sweeps from one hot set to the next. [f2, f4]
pub(crate) const MORE_SWEEPS: f64 = 2.5;
/// Each hot set holds one row out of so many of the one before. [f2, f4]
pub(crate) const FEWER_HOT: usize = 4;
/// Hot sets end with this many rows. [f2, f4]
pub(crate) const SMALLEST_HOT: usize = 4;
/// First pass (from zero) in which rows rest. [f2, f4]
pub(crate) const FIRST_REST: usize = 3;
/// First pass (from zero) that starts with hot sets. [f2, f4]
pub(crate) const FIRST_HOT: usize = 6;
/// Every so many passes all rows are visited. [f2, f4]
pub(crate) const FULL_EVERY: usize = 5;
/// Every so many passes begin with a look at the resting rows. [f2, f4]
pub(crate) const LOOK_EVERY: usize = 3;
/// Visits without a move after which a row rests. [f2, f4]
pub(crate) const REST: u8 = 1;
/// Share of the mean gap below which a row rests. [f3]
pub(crate) const SMALL_GAP: f64 = 0.1;
/// Visits without a share after which a plane is dropped. [no case: structured SVMs on graphs]
pub(crate) const IDLE: u32 = 30;
/// Pairwise steps of a visit at most. [no case: structured SVMs on graphs]
pub(crate) const PLANE_STEPS: usize = 100;
/// A visit ends when no step gains more than this share of the first one. [no case: structured SVMs on graphs]
pub(crate) const ENOUGH: f64 = 1e-3;
/// Curvature up to which the joint Newton iteration is tried. [f3]
pub(crate) const MODERATE: f64 = 4.0;
/// Newton steps that are tried. [f3]
pub(crate) const NEWTON_STEPS: usize = 8;
/// The joint iteration stops after a step that moves no probability by more than this: the next error is of the
/// order of its square, and the result is a feasible point in any case. [f3]
pub(crate) const SETTLED: f64 = 1e-2;
