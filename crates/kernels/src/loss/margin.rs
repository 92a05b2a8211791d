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

/// A loss whose conjugate is known, or bounded without logarithms.
pub(crate) trait Conjugate: MarginLoss<f64> {
    /// The dual variable closest to `a` where phi*(-a) is finite.
    fn closest(a: f64) -> f64;
    /// -phi*(-a), or a little less: from phi, -phi' and phi'' at any m, the nearer -phi' is to a the better.
    fn dual(a: f64, m: f64, at: (f64, f64, f64)) -> f64;
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

/// phi + a m less a bound of what it lies above -phi*(-a): where q = -phi' is a probability or a rate, that is a relative
/// entropy of a to q, at most (a - q)^2 / phi''.
#[inline(always)]
fn by_chi_square(a: f64, m: f64, (loss, slope, second): (f64, f64, f64)) -> f64 {
    let off = a - slope;
    // Both nothing: a row that is far beyond the margin.
    let beyond = if off == 0.0 { 0.0 } else { off * (off / second) };
    loss + a * m - beyond
}

impl Conjugate for Logistic {
    #[inline(always)]
    fn closest(a: f64) -> f64 {
        a.clamp(0.0, 1.0)
    }

    #[inline(always)]
    fn dual(a: f64, m: f64, at: (f64, f64, f64)) -> f64 {
        // The entropy, in bits at least 4 a (1 - a): that helps where phi'' is next to nothing.
        by_chi_square(a, m, at).max(4.0 * std::f64::consts::LN_2 * a * (1.0 - a))
    }
}

impl Conjugate for SquaredHinge {
    #[inline(always)]
    fn closest(a: f64) -> f64 {
        a.max(0.0)
    }

    #[inline(always)]
    fn dual(a: f64, _: f64, _: (f64, f64, f64)) -> f64 {
        a * (1.0 - 0.25 * a)
    }
}

impl Conjugate for Squared {
    #[inline(always)]
    fn closest(a: f64) -> f64 {
        a
    }

    #[inline(always)]
    fn dual(a: f64, _: f64, _: (f64, f64, f64)) -> f64 {
        a * (1.0 - 0.25 * a)
    }
}

impl Conjugate for Exponential {
    #[inline(always)]
    fn closest(a: f64) -> f64 {
        a.max(0.0)
    }

    #[inline(always)]
    fn dual(a: f64, m: f64, at: (f64, f64, f64)) -> f64 {
        by_chi_square(a, m, at)
    }
}

impl Conjugate for Hinge {
    #[inline(always)]
    fn closest(a: f64) -> f64 {
        a.clamp(0.0, 1.0)
    }

    #[inline(always)]
    fn dual(a: f64, _: f64, _: (f64, f64, f64)) -> f64 {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::{Conjugate, Exponential, Hinge, Logistic, Squared, SquaredHinge};

    /// -phi*(-a) = min over m of a m + phi(m), on a grid.
    fn on_a_grid<L: Conjugate>(a: f64) -> f64 {
        (-40_000..40_000)
            .map(|i| f64::from(i) * 1e-3)
            .map(|m| a * m + L::at::<false>(m).0)
            .fold(f64::INFINITY, f64::min)
    }

    fn is_below<L: Conjugate>(exact: bool) {
        for a in [-0.5, 0.0, 1e-9, 0.1, 0.5, 0.9, 1.0, 3.0].map(L::closest) {
            let most = on_a_grid::<L>(a);
            for m in [-30.0, -2.0, 0.0, 0.3, 1.0, 4.0, 30.0] {
                let (loss, slope, second) = L::at::<false>(m);
                let found = L::dual(a, m, (loss, slope, second));
                assert!(found <= most + 1e-9 || found.is_nan(), "{a} {m}: {found} above {most}");
                assert!(!exact || found >= most - 1e-6, "{a} {m}: {found} below {most}");
                let near = L::closest(slope + 1e-4 * second);
                let lost = on_a_grid::<L>(near) - L::dual(near, m, (loss, slope, second));
                assert!(m.abs() > 20.0 || lost <= 2e-6, "{m}: {lost}");
            }
        }
    }

    #[test]
    fn conjugates_are_never_above_the_minimum_they_stand_for() {
        is_below::<Logistic>(false);
        is_below::<Exponential>(false);
        is_below::<SquaredHinge>(true);
        is_below::<Squared>(true);
        is_below::<Hinge>(true);
    }
}
