//! Losses with a dual: for many classes, and for two with the problem of one row.
//!
//! With margin m = y <w, x> the row problem of U phi(m) is: given the dual a at which m was computed
//! and q = |x|^2, find the a' that maximizes  value(a') - m (a' - a) - q/2 (a' - a)^2.
//! `value` is -U phi*(-a/U); `gap` = U phi(m) - value(a) + a m is never negative and is the row's
//! share of the duality gap (Fenchel–Young).
//! Sources: Hsieh et al. (2008) for the hinge losses; Yu, Huang & Lin (2011) for the logistic loss.

use crate::error::KernelError;

/// The losses with a dual for many classes.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassLoss {
    /// log sum_k exp z_k - z_y
    Softmax,
    /// max_k (z_k + cost[y, k]) - z_y; costs are K x K, or 0-1 where there are none.
    Hinge(Option<Vec<f64>>),
}

/// The losses with a two-class dual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginLoss {
    /// max(0, 1 - m)
    Hinge,
    /// max(0, 1 - m)^2
    SquaredHinge,
    /// log(1 + exp(-m))
    Logistic,
}

impl ClassLoss {
    /// The loss of this name in `separatrix.losses`, with costs (K x K) or without.
    pub fn parse(name: &str, cost: Option<Vec<f64>>) -> Result<Self, KernelError> {
        match (name, cost) {
            ("multiclass_logistic", None) => Ok(Self::Softmax),
            ("multiclass_logistic", Some(_)) => {
                Err(KernelError::Argument("the loss multiclass_logistic takes no costs".into()))
            }
            ("multiclass_hinge", cost) => Ok(Self::Hinge(cost)),
            _ => Err(KernelError::Argument(format!("there is no dual for the loss {name:?}"))),
        }
    }
}

impl MarginLoss {
    /// From "hinge", "squared_hinge" or "logistic".
    pub fn parse(name: &str) -> Result<Self, KernelError> {
        match name {
            "hinge" => Ok(Self::Hinge),
            "squared_hinge" => Ok(Self::SquaredHinge),
            "logistic" => Ok(Self::Logistic),
            _ => Err(KernelError::Argument(format!("there is no dual for the loss {name:?}"))),
        }
    }

    /// Whether duals stay at bounds, so that hot sets pay.
    pub fn is_bounded(self) -> bool {
        self != Self::Logistic
    }
}

/// The row problem of one loss; `upper` is U > 0.
pub trait MarginDual: Copy + Send + Sync {
    /// What `step` wants to know that does not depend on the margin.
    #[inline(always)]
    fn prepare(self, _upper: f64, _dual: f64) -> f64 {
        0.0
    }
    /// The best new dual (`q` may be zero) and the gap at the old one, exact or close to it; `prepared`
    /// comes from `prepare`.
    fn step(self, margin: f64, q: f64, upper: f64, dual: f64, prepared: f64) -> (f64, f64);
    /// U phi(m)
    fn loss(self, margin: f64, upper: f64) -> f64;
    /// The row's term of the dual objective.
    fn value(self, dual: f64, upper: f64) -> f64;
    /// `loss - value + dual * margin` without cancellation, or nearly so.
    fn gap(self, margin: f64, upper: f64, dual: f64) -> f64;
    /// The nearest feasible dual.
    fn clip(self, dual: f64, upper: f64) -> f64;
}

/// U max(0, 1 - m); duals in [0, U].
#[derive(Debug, Clone, Copy)]
pub struct HingeDual;

impl MarginDual for HingeDual {
    #[inline(always)]
    fn step(self, margin: f64, q: f64, upper: f64, dual: f64, _prepared: f64) -> (f64, f64) {
        let slope = 1.0 - margin;
        let next = if q > 0.0 {
            (dual + slope / q).clamp(0.0, upper)
        } else if slope > 0.0 {
            upper
        } else if slope < 0.0 {
            0.0
        } else {
            dual
        };
        (next, self.gap(margin, upper, dual))
    }

    #[inline(always)]
    fn loss(self, margin: f64, upper: f64) -> f64 {
        upper * (1.0 - margin).max(0.0)
    }

    #[inline(always)]
    fn value(self, dual: f64, _upper: f64) -> f64 {
        dual
    }

    #[inline(always)]
    fn gap(self, margin: f64, upper: f64, dual: f64) -> f64 {
        let slope = 1.0 - margin;
        if slope > 0.0 { (upper - dual) * slope } else { -dual * slope }
    }

    #[inline(always)]
    fn clip(self, dual: f64, upper: f64) -> f64 {
        dual.clamp(0.0, upper)
    }
}

/// U max(0, 1 - m)^2; duals in [0, infinity).
#[derive(Debug, Clone, Copy)]
pub struct SquaredHingeDual;

impl MarginDual for SquaredHingeDual {
    #[inline(always)]
    fn step(self, margin: f64, q: f64, upper: f64, dual: f64, _prepared: f64) -> (f64, f64) {
        let ridge = 0.5 / upper;
        let next = (dual + (1.0 - margin - ridge * dual) / (q + ridge)).max(0.0);
        (next, self.gap(margin, upper, dual))
    }

    #[inline(always)]
    fn loss(self, margin: f64, upper: f64) -> f64 {
        let slope = (1.0 - margin).max(0.0);
        upper * slope * slope
    }

    #[inline(always)]
    fn value(self, dual: f64, upper: f64) -> f64 {
        dual - 0.25 * dual * dual / upper
    }

    #[inline(always)]
    fn gap(self, margin: f64, upper: f64, dual: f64) -> f64 {
        // U s_+^2 - a s + a^2 / (4 U) is a square for s >= 0.
        let slope = 1.0 - margin;
        if slope > 0.0 {
            let root = slope - 0.5 * dual / upper;
            upper * root * root
        } else {
            dual * (0.25 * dual / upper - slope)
        }
    }

    #[inline(always)]
    fn clip(self, dual: f64, _upper: f64) -> f64 {
        dual.max(0.0)
    }
}

/// U log(1 + exp(-m)); duals U p with p in [0, 1].
#[derive(Debug, Clone, Copy)]
pub struct LogisticDual;

/// log(1 + exp(x))
#[inline(always)]
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[inline(always)]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// -p log p - (1 - p) log(1 - p)
#[inline(always)]
fn entropy(p: f64) -> f64 {
    if p > 0.0 && p < 1.0 { -p * p.ln() - (1.0 - p) * (1.0 - p).ln() } else { 0.0 }
}

/// Solve u + m + s (sigmoid(u) - p) = 0 for the logit u, which lies in `bracket`; returns sigmoid(u).
///
/// The left side rises: Newton steps from `u`, where sigmoid(u) = `value`, and a bisection where a step
/// leaves the bracket or does not halve the one before.
#[inline(always)]
fn logistic_root(mut u: f64, mut value: f64, bracket: (f64, f64), m: f64, s: f64, p: f64) -> f64 {
    let (mut low, mut high) = bracket;
    let mut last = f64::INFINITY;
    for _ in 0..100 {
        let residual = u + m + s * (value - p);
        if residual > 0.0 {
            high = u;
        } else {
            low = u;
        }
        let mut next = u - residual / (1.0 + s * value * (1.0 - value));
        if !(next >= low && next <= high) || (next - u).abs() > 0.5 * last {
            next = 0.5 * (low + high);
        }
        last = (next - u).abs();
        u = next;
        value = sigmoid(u);
        // The next error is of the order of the square of this step, and later visits mend it.
        if last < 2e-2 {
            break;
        }
    }
    value
}

impl MarginDual for LogisticDual {
    /// The logit of the dual.
    #[inline(always)]
    fn prepare(self, upper: f64, dual: f64) -> f64 {
        (dual / (upper - dual)).ln()
    }

    #[inline(always)]
    fn step(self, margin: f64, q: f64, upper: f64, dual: f64, logit: f64) -> (f64, f64) {
        let s = q * upper;
        let p = dual / upper;
        if logit.is_finite() {
            let off = logit + margin;
            // The gap is a divergence of two distributions of one bit whose logits are `off` apart: to
            // second order, or half the symmetric divergence, where they are close.
            let gap = if off.abs() < 0.5 {
                0.5 * dual * (1.0 - p) * off * off
            } else if off.abs() < 3.0 {
                0.5 * upper * (p - sigmoid(-margin)) * off
            } else {
                self.gap(margin, upper, dual)
            };
            let bracket = (logit.min(-margin), logit.max(-margin));
            (upper * logistic_root(logit, p, bracket, margin, s, p), gap)
        } else {
            let bracket = (-margin - s * (1.0 - p), -margin + s * p);
            let guess = (p - 0.5).mul_add(s, -margin) / (1.0 + 0.25 * s);
            let guess = guess.max(bracket.0).min(bracket.1);
            let root = logistic_root(guess, sigmoid(guess), bracket, margin, s, p);
            (upper * root, self.gap(margin, upper, dual))
        }
    }

    #[inline(always)]
    fn loss(self, margin: f64, upper: f64) -> f64 {
        upper * softplus(-margin)
    }

    #[inline(always)]
    fn value(self, dual: f64, upper: f64) -> f64 {
        upper * entropy(dual / upper)
    }

    #[inline(always)]
    fn gap(self, margin: f64, upper: f64, dual: f64) -> f64 {
        let p = dual / upper;
        (upper * (softplus(-margin) - entropy(p) + p * margin)).max(0.0)
    }

    #[inline(always)]
    fn clip(self, dual: f64, upper: f64) -> f64 {
        dual.clamp(0.0, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::{HingeDual, LogisticDual, MarginDual, SquaredHingeDual};

    /// Over a grid, no other dual does better, and the gap is what it says.
    fn check(loss: impl MarginDual, grid: impl Fn(f64) -> Vec<f64>) {
        for upper in [1e-6, 0.3, 1.0, 1e5] {
            for q in [0.0, 1e-8, 0.5, 1.0, 1e4] {
                for margin in [-1e4, -3.0, 0.0, 0.7, 1.0, 2.5, 1e3] {
                    for dual in grid(upper) {
                        let gain = |a: f64| {
                            loss.value(a, upper) - margin * (a - dual) - 0.5 * q * (a - dual) * (a - dual)
                        };
                        let ready = loss.prepare(upper, dual);
                        let (best, about) = loss.step(margin, q, upper, dual, ready);
                        assert!(best.is_finite() && loss.clip(best, upper) == best);
                        let scale = 1e-5 * (1.0 + gain(best).abs() + (margin * dual).abs());
                        for other in grid(upper) {
                            assert!(gain(other) <= gain(best) + scale, "{upper} {q} {margin} {dual} {other}");
                        }
                        let gap = loss.loss(margin, upper) - loss.value(dual, upper) + dual * margin;
                        let size = 1.0 + loss.loss(margin, upper).abs() + (dual * margin).abs();
                        assert!((gap - loss.gap(margin, upper, dual)).abs() < 1e-9 * size);
                        assert!(loss.gap(margin, upper, dual) >= 0.0);
                        assert!((about - loss.gap(margin, upper, dual)).abs() <= 0.5 * about + 1e-9 * size);
                    }
                }
            }
        }
    }

    fn box_grid(upper: f64) -> Vec<f64> {
        [0.0, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0].iter().map(|p| p * upper).collect()
    }

    #[test]
    fn a_step_is_the_best_step() {
        check(HingeDual, box_grid);
        check(SquaredHingeDual, box_grid);
        check(LogisticDual, box_grid);
    }
}
