//! Passes of dual coordinate descent until a problem is solved; the loop is that of `separatrix.solvers.dual.coordinate_descent`.

use crate::data::rows::Rows;
use crate::dual::binary::{DualBinary, DualRows};
use crate::dual::columns::{Ending, Settings};
use crate::dual::common::{Certificate, Pass};
use crate::dual::multiclass::DualMulticlass;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::exponential::VectorExp;

/// A state that passes over rows `X` and knows how far it has come.
pub(crate) trait Descent<X> {
    fn pass(&mut self, x: &X, stop: &Interrupt) -> Result<Pass, KernelError>;
    fn certificate(&mut self, x: &X, stop: &Interrupt) -> Result<Certificate, KernelError>;
}

impl<T: Real, X: DualRows<T>> Descent<X> for DualBinary<T> {
    fn pass(&mut self, x: &X, stop: &Interrupt) -> Result<Pass, KernelError> {
        self.pass(x, stop)
    }

    fn certificate(&mut self, x: &X, stop: &Interrupt) -> Result<Certificate, KernelError> {
        DualBinary::certificate(self, x, stop)
    }
}

impl<T: VectorExp, X: Rows<T>> Descent<X> for DualMulticlass<T> {
    fn pass(&mut self, x: &X, stop: &Interrupt) -> Result<Pass, KernelError> {
        self.pass(x, stop)
    }

    fn certificate(&mut self, x: &X, stop: &Interrupt) -> Result<Certificate, KernelError> {
        DualMulticlass::certificate(self, x, stop)
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub objective: f64,
    /// Exact.
    pub gap: f64,
    pub passes: f64,
    pub ending: Ending,
}

/// Pass over `x` until the gap is within the tolerance, the budget is used up, or nothing moves.
pub(crate) fn descend<X, S: Descent<X>>(
    x: &X,
    state: &mut S,
    settings: &Settings,
    stop: &Interrupt,
) -> Result<Outcome, KernelError> {
    let (mut passes, mut last, mut best, mut best_at) = (0.0, f64::INFINITY, f64::INFINITY, 0.0);
    // The exact gap divided by its estimate, at the last exact evaluation.
    let mut ratio: Option<f64> = None;
    loop {
        let pass = state.pass(x, stop)?;
        passes += pass.passes;
        // Rows saw the gap in the middle of the pass; by its end it has fallen on.
        let fall = if last > 0.0 && last < f64::INFINITY { (pass.gap / last).min(1.0) } else { 1.0 };
        let mut gap = pass.gap * ratio.unwrap_or(fall);
        let mut objective = pass.dual + gap;
        last = pass.gap;
        let converged = |gap: f64, objective: f64| gap <= settings.tol * objective.abs();
        let stalled = passes - best_at > settings.patience;
        if converged(gap, objective) || stalled || passes >= settings.max_passes {
            let exact = state.certificate(x, stop)?;
            (objective, gap) = (exact.primal, exact.primal - exact.dual);
            passes += 1.0;
            ratio = Some(if pass.gap > 0.0 { gap / pass.gap } else { 1.0 });
        }
        if gap < 0.5 * best {
            (best, best_at) = (gap, passes);
        }
        let ending = if converged(gap, objective) {
            Ending::Converged
        } else if passes >= settings.max_passes {
            Ending::Budget
        } else if stalled {
            Ending::Stalled
        } else {
            continue;
        };
        return Ok(Outcome { objective, gap, passes, ending });
    }
}
