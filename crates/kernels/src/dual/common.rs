//! What the dual solvers for two and for many classes share.

use crate::dual::tuning::REBUILD;
use crate::error::KernelError;
use crate::real::Real;

/// The state of convergence after a pass.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// Dual objective now.
    pub dual: f64,
    /// Duality gap as the rows saw it when they were visited: an estimate of the gap in the middle of the
    /// pass.
    pub gap: f64,
    /// Largest step, times curvature: the largest violation of the optimality conditions.
    pub violation: f64,
    /// Rows visited, hot sweeps included, divided by the number of rows.
    pub passes: f64,
}

/// An exact bound on the distance to the optimum.
#[derive(Debug, Clone, Copy)]
pub struct Certificate {
    /// The objective at the current weights.
    pub primal: f64,
    /// A lower bound of the optimum (of many classes with free intercepts: over all b' with |b' - b| <= 1 + |b|).
    pub dual: f64,
}

/// Whether weights of type `T` have drifted for too long.
pub(crate) fn due_for_rebuild<T>(passes: f64) -> bool {
    size_of::<T>() < size_of::<f64>() && passes > REBUILD
}

/// For each row of `rows` the one visited after it; the last stands for itself.
#[inline(always)]
pub(crate) fn following(rows: &[u32]) -> impl Iterator<Item = &u32> {
    rows.iter().skip(1).chain(rows.last())
}

/// |w|^2 in `f64`, in lanes.
pub(crate) fn squared_norm<T: Real>(w: &[T]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let mut chunks = w.chunks_exact(8);
    for chunk in &mut chunks {
        for (sum, v) in lanes.iter_mut().zip(chunk) {
            *sum += v.to_f64() * v.to_f64();
        }
    }
    let rest: f64 = chunks.remainder().iter().map(|v| v.to_f64() * v.to_f64()).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Fail unless every U_i is finite and not negative.
pub(crate) fn check_upper(upper: &[f64]) -> Result<(), KernelError> {
    match upper.iter().position(|u| !(u.is_finite() && *u >= 0.0)) {
        Some(i) => Err(KernelError::Argument(format!("upper[{i}] must be finite and not negative"))),
        None => Ok(()),
    }
}

/// The rows with U_i > 0.
pub(crate) fn active_rows(upper: &[f64]) -> Result<Vec<u32>, KernelError> {
    if u32::try_from(upper.len()).is_err() {
        return Err(KernelError::Argument(format!("{} rows are too many for a dual solver", upper.len())));
    }
    Ok((0..upper.len() as u32).filter(|&i| upper[i as usize] > 0.0).collect())
}
