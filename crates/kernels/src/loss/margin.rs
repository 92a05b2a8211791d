//! Losses of a margin with their slopes and curvatures, without branches: loops over them become vector code.

use crate::real::Real;
use crate::simd::exponential::{VectorExp, log_one_plus};

/// A loss phi of the margin m.
pub(crate) trait MarginLoss<T> {
    /// phi(m), -phi'(m) and phi''(m).
    fn at<const FMA: bool>(m: T) -> (T, T, T);
    /// Bound of sum U |phi'| where margins are off by `off` at most, from that sum at the margins and sum U; nothing where
    /// there is none.
    fn steepest(mass: f64, weights: f64, off: f64) -> Option<f64>;
}

/// log(1 + exp(-m))
pub(crate) struct Logistic;
/// max(0, 1 - m)^2
pub(crate) struct SquaredHinge;
/// (1 - m)^2
pub(crate) struct Squared;
/// exp(-m)
pub(crate) struct Exponential;
/// max(0, 1 - m)
pub(crate) struct Hinge;

impl<T: VectorExp> MarginLoss<T> for Logistic {
    #[inline(always)]
    fn at<const FMA: bool>(m: T) -> (T, T, T) {
        // From the exponential that cannot overflow.
        let e = (-m.abs()).vector_exp::<FMA>();
        let r = T::ONE / (T::ONE + e);
        let small = e * r;
        let slope = if m > T::ZERO { small } else { r };
        ((-m).max(T::ZERO) + log_one_plus::<T, FMA>(e), slope, small * r)
    }

    fn steepest(mass: f64, _: f64, off: f64) -> Option<f64> {
        Some(mass * off.exp()) // |phi'| at m - off is at most exp(off) times that at m
    }
}

impl<T: Real> MarginLoss<T> for SquaredHinge {
    #[inline(always)]
    fn at<const FMA: bool>(m: T) -> (T, T, T) {
        let (z, two) = ((T::ONE - m).max(T::ZERO), T::ONE + T::ONE);
        (z * z, two * z, if z > T::ZERO { two } else { T::ZERO })
    }

    fn steepest(mass: f64, weights: f64, off: f64) -> Option<f64> {
        Some(mass + 2.0 * off * weights)
    }
}

impl<T: Real> MarginLoss<T> for Squared {
    #[inline(always)]
    fn at<const FMA: bool>(m: T) -> (T, T, T) {
        let (z, two) = (T::ONE - m, T::ONE + T::ONE);
        (z * z, two * z, two)
    }

    fn steepest(mass: f64, weights: f64, off: f64) -> Option<f64> {
        Some(mass + 2.0 * off * weights)
    }
}

impl<T: Real> MarginLoss<T> for Exponential {
    #[inline(always)]
    fn at<const FMA: bool>(m: T) -> (T, T, T) {
        let e = (-m).exp();
        (e, e, e)
    }

    fn steepest(mass: f64, _: f64, off: f64) -> Option<f64> {
        Some(mass * off.exp()) // |phi'| at m - off is at most exp(off) times that at m
    }
}

impl<T: Real> MarginLoss<T> for Hinge {
    #[inline(always)]
    fn at<const FMA: bool>(m: T) -> (T, T, T) {
        let z = T::ONE - m;
        (z.max(T::ZERO), if z > T::ZERO { T::ONE } else { T::ZERO }, T::ZERO)
    }

    fn steepest(_: f64, _: f64, _: f64) -> Option<f64> {
        None
    }
}
