//! Intercepts in dual solvers: a small constant feature and multiplier steps.
//!
//! Problem: an intercept b adds the same amount to all scores, and in the dual couples all rows through
//! S = sum_i y_i a_i. Without a penalty S must be zero at the optimum; with the penalty b^2/2, b = S. We
//! add the proximal term mu/2 (b - c)^2, so that with r = 0 or 1 for the penalty
//! b = (mu c + S) / (r + mu): the weight of one more feature, of squared value 1 / (r + mu), around a
//! center. Before every further pass c <- b. That is the method of multipliers (Rockafellar 1976) with one inexact
//! inner pass; its fixed point solves the problem itself.

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

    /// The squared value of the constant feature.
    ///
    /// `mean_square` is the mean of |x_i|^2 and `total` the sum of U_i. Two wishes set it. The feature
    /// should stay small beside the others, or rows disturb each other through it. And the multiplier steps
    /// contract by about mu / (mu + h), h the curvature of the objective in b, at most total p (1 - p) for
    /// class probability p = 1/K: so mu must not exceed a fraction of that, which decides for small C or few
    /// rows. Both scale as the data do.
    pub fn square(self, mean_square: f64, total: f64, n_classes: usize) -> f64 {
        let p = 1.0 / n_classes.max(2) as f64;
        let wanted = (0.03 * mean_square).max(4.0 / (total * p * (1.0 - p)));
        match self {
            Self::None => 0.0,
            Self::Penalized => wanted.min(1.0),
            Self::Free => {
                if wanted.is_finite() {
                    wanted
                } else {
                    1.0
                }
            }
        }
    }

    /// The part of b that becomes the next center.
    #[inline]
    pub fn keep(self, square: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Penalized => 1.0 - square,
            Self::Free => 1.0,
        }
    }

    /// The intercept's term of the objective.
    pub fn penalty(self, b: f64) -> f64 {
        if self == Self::Penalized { 0.5 * b * b } else { 0.0 }
    }

    /// What the rows' gaps at intercept `b` lack of the duality gap while `sum` = S is not at its place: with a
    /// penalty (b - S)^2 / 2, exactly. Without, S is of second order once the duals are brought to S = 0.
    pub fn slack(self, b: f64, sum: f64) -> f64 {
        if self == Self::Penalized { 0.5 * (b - sum) * (b - sum) } else { 0.0 }
    }
}

/// The intercept b = center + square * sum, with sum = S.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bias {
    /// What the multiplier steps have found so far.
    pub center: f64,
    /// Squared value of the constant feature.
    pub square: f64,
    /// S
    pub sum: f64,
}

impl Bias {
    /// b
    #[inline(always)]
    pub fn value(&self) -> f64 {
        self.center + self.square * self.sum
    }

    /// The multiplier step.
    #[inline]
    pub fn recenter(&mut self, intercept: Intercept) {
        self.center = intercept.keep(self.square) * self.value();
    }

    /// Set S without moving b.
    pub fn reset_sum(&mut self, sum: f64) {
        self.center = self.value() - self.square * sum;
        self.sum = sum;
    }

    /// Begin at S with a free intercept at `b`; a penalized one begins at S, its value for these duals.
    pub fn begin(&mut self, intercept: Intercept, sum: f64, b: f64) {
        let target = match intercept {
            Intercept::None => 0.0,
            Intercept::Penalized => sum,
            Intercept::Free => b,
        };
        self.sum = sum;
        self.center = target - self.square * sum;
    }
}

/// Mean of |x_i|^2 with weights U_i, and the sum of the U_i.
pub fn scale_of(norms: &[f64], upper: &[f64]) -> (f64, f64) {
    let total: f64 = upper.iter().sum();
    let weighted: f64 = norms.iter().zip(upper).map(|(q, u)| q * u).sum();
    (if total > 0.0 { weighted / total } else { 0.0 }, total)
}

#[cfg(test)]
mod tests {
    use super::{Bias, Intercept};

    #[test]
    fn multiplier_steps_lead_a_penalized_intercept_to_its_sum() {
        let mut bias = Bias { center: 0.0, square: 0.1, sum: 3.0 };
        for _ in 0..300 {
            bias.recenter(Intercept::Penalized);
        }
        assert!((bias.value() - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_new_sum_leaves_the_value() {
        let mut bias = Bias { center: 1.0, square: 0.5, sum: 3.0 };
        bias.reset_sum(7.0);
        assert_eq!((bias.value(), bias.sum), (2.5, 7.0));
    }
}
