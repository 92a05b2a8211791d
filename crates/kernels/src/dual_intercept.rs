//! Intercepts in dual solvers: a constant feature, and multiplier steps where it is not penalized.
//!
//! Problem: min over w and b of 1/2 |w|^2 + sum_i U_i loss_i(<w, x_i> + b) has the dual constraint
//! S = sum_i y_i a_i = 0, which couples all rows. We add the proximal term mu/2 (b - c)^2, so that b
//! becomes the weight of one more feature, of value 1/sqrt(mu), and b = c + S/mu; after every pass
//! c <- b (the method of multipliers, Rockafellar 1976; here with one inexact inner pass).
//! A penalized intercept is the same with mu = 1 and c = 0, none at all is 1/mu = 0.

use crate::error::KernelError;

/// What the intercepts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intercept {
    /// There are none.
    None,
    /// One more weight, penalized as the others are.
    Penalized,
    /// Not penalized.
    Free,
}

impl Intercept {
    /// From "none", "penalized" or "free".
    pub fn parse(name: &str) -> Result<Self, KernelError> {
        match name {
            "none" => Ok(Self::None),
            "penalized" => Ok(Self::Penalized),
            "free" => Ok(Self::Free),
            _ => {
                Err(KernelError::Argument(format!("intercept must be none, penalized or free, not {name:?}")))
            }
        }
    }

    /// The squared value 1/mu of the constant feature.
    ///
    /// `mean_square` is the mean of |x_i|^2 and `total` the sum of U_i. Two wishes set mu for a free
    /// intercept. The feature should stay small beside the others, or rows disturb each other through
    /// it: 1/mu = mean_square / 10. And the multiplier steps contract by about mu / (mu + h), h the
    /// curvature of the objective in b, at most total p (1 - p) for class probability p = 1/K: so mu must
    /// not exceed a fraction of that, which decides for small C or few rows. Both scale as the data do.
    pub fn square(self, mean_square: f64, total: f64, n_classes: usize) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Penalized => 1.0,
            Self::Free => {
                let p = 1.0 / n_classes.max(2) as f64;
                let curvature = total * p * (1.0 - p);
                let square = (0.1 * mean_square).max(4.0 / curvature);
                if square.is_finite() { square } else { 1.0 }
            }
        }
    }
}

/// Mean of |x_i|^2 with weights U_i, and the sum of the U_i.
pub fn scale_of(norms: &[f64], upper: &[f64]) -> (f64, f64) {
    let total: f64 = upper.iter().sum();
    let weighted: f64 = norms.iter().zip(upper).map(|(q, u)| q * u).sum();
    (if total > 0.0 { weighted / total } else { 0.0 }, total)
}
