//! Losses of one row's scores, with their (sub)gradients: the same formulas as `separatrix.losses`.
//!
//! Margin losses are functions phi(m) of m = y s with y = +1 or -1 and one score. The others have one
//! score per label and are max_op(s) - s_y with gradient argmax_op(s) - e_y.

use crate::error::{KernelError, check_length};
use crate::real::Real;

/// A built-in loss.
#[derive(Debug, Clone, PartialEq)]
pub enum RowLoss {
    /// max(0, -m)
    Perceptron,
    /// max(0, 1 - m)
    Hinge,
    /// max(0, 1 - m)^2
    SquaredHinge,
    /// exp(-m)
    Exponential,
    /// log(1 + exp(-m))
    Logistic,
    /// (1 - m)^2
    Squared,
    /// max_k s_k - s_y
    MulticlassPerceptron,
    /// max_k (s_k + cost[y, k]) - s_y
    MulticlassHinge(Vec<f64>),
    /// log sum_k exp s_k - s_y
    MulticlassLogistic,
}

impl RowLoss {
    /// The loss that Python calls `name`, for `k` scores; `cost` is `k x k`, or empty for 0-1 cost.
    pub fn new(name: &str, k: usize, cost: &[f64]) -> Result<Self, KernelError> {
        let loss = match name {
            "perceptron" => Self::Perceptron,
            "hinge" => Self::Hinge,
            "squared_hinge" => Self::SquaredHinge,
            "exponential" => Self::Exponential,
            "logistic" => Self::Logistic,
            "squared" => Self::Squared,
            "multiclass_perceptron" => Self::MulticlassPerceptron,
            "multiclass_hinge" if cost.is_empty() => {
                Self::MulticlassHinge((0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect())
            }
            "multiclass_hinge" => {
                check_length("cost", cost.len(), k * k)?;
                Self::MulticlassHinge(cost.to_vec())
            }
            "multiclass_logistic" => Self::MulticlassLogistic,
            _ => return Err(KernelError::Argument(format!("there is no kernel for the loss {name:?}"))),
        };
        if loss.is_margin() && k != 1 {
            return Err(KernelError::Argument(format!("the loss {name:?} takes one score, not {k}")));
        }
        Ok(loss)
    }

    /// Whether it is a function of the margin.
    pub fn is_margin(&self) -> bool {
        !matches!(self, Self::MulticlassPerceptron | Self::MulticlassHinge(_) | Self::MulticlassLogistic)
    }

    /// Bound of the second derivative along any direction of the scores; of losses with a kink, the
    /// factor by which a step of 1 / |x|^2 must be divided so that a mistake is just mended.
    pub fn curvature(&self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::MulticlassLogistic => 0.5,
            Self::Perceptron | Self::Hinge => 1.0,
            Self::Exponential => f64::INFINITY,
            Self::Squared | Self::SquaredHinge => 2.0,
            Self::MulticlassPerceptron | Self::MulticlassHinge(_) => 2.0,
        }
    }

    /// Fail unless every target is +1 or -1, or a class number below `k`.
    pub fn check_targets(&self, targets: &[i32], k: usize) -> Result<(), KernelError> {
        let margin = self.is_margin();
        let fits = |&y: &i32| if margin { y == 1 || y == -1 } else { y >= 0 && (y as usize) < k };
        match targets.iter().find(|y| !fits(y)) {
            Some(y) => Err(KernelError::Argument(format!("target {y} does not fit the loss"))),
            None => Ok(()),
        }
    }

    /// phi(m) and phi'(m) of a margin loss.
    #[inline(always)]
    fn margin(&self, m: f64) -> (f64, f64) {
        match self {
            Self::Perceptron => ((-m).max(0.0), if m <= 0.0 { -1.0 } else { 0.0 }),
            Self::Hinge => ((1.0 - m).max(0.0), if m < 1.0 { -1.0 } else { 0.0 }),
            Self::SquaredHinge => {
                let v = (1.0 - m).max(0.0);
                (v * v, -2.0 * v)
            }
            Self::Exponential => {
                let v = (-m).exp();
                (v, -v)
            }
            Self::Squared => ((1.0 - m) * (1.0 - m), -2.0 * (1.0 - m)),
            _ => {
                let e = (-m.abs()).exp();
                let value = (-m).max(0.0) + e.ln_1p();
                (value, -(if m > 0.0 { e } else { 1.0 }) / (1.0 + e))
            }
        }
    }

    /// Loss of a row and its gradient in the scores. Targets must have been checked.
    #[inline(always)]
    pub fn value_and_grad<T: Real>(&self, scores: &[T], target: i32, grad: &mut [T]) -> f64 {
        let y = target as usize;
        match self {
            Self::MulticlassPerceptron => {
                let best = argmax(scores, |_| 0.0);
                one_hot(grad, best, y);
                scores[best].to_f64() - scores[y].to_f64()
            }
            Self::MulticlassHinge(cost) => {
                let row = &cost[y * scores.len()..(y + 1) * scores.len()];
                let best = argmax(scores, |k| row[k]);
                one_hot(grad, best, y);
                scores[best].to_f64() + row[best] - scores[y].to_f64()
            }
            Self::MulticlassLogistic => {
                let top = scores.iter().fold(scores[0], |a, &b| a.max(b));
                let mut sum = T::ZERO;
                for (g, &s) in grad.iter_mut().zip(scores) {
                    *g = (s - top).exp();
                    sum += *g;
                }
                for g in grad.iter_mut() {
                    *g /= sum;
                }
                grad[y] -= T::ONE;
                (top - scores[y]).to_f64() + sum.to_f64().ln()
            }
            _ => {
                let sign = f64::from(target);
                let (value, slope) = self.margin(sign * scores[0].to_f64());
                grad[0] = T::from_f64(sign * slope);
                value
            }
        }
    }
}

#[inline(always)]
fn argmax<T: Real>(scores: &[T], extra: impl Fn(usize) -> f64) -> usize {
    let mut best = 0;
    let mut top = f64::NEG_INFINITY;
    for (k, s) in scores.iter().enumerate() {
        let s = s.to_f64() + extra(k);
        if s > top {
            (best, top) = (k, s);
        }
    }
    best
}

#[inline(always)]
fn one_hot<T: Real>(grad: &mut [T], best: usize, y: usize) {
    grad.fill(T::ZERO);
    grad[best] += T::ONE;
    grad[y] -= T::ONE;
}

#[cfg(test)]
mod tests {
    use super::RowLoss;

    #[test]
    fn gradients_agree_with_finite_differences() {
        let scores = [0.3, -0.7, 0.9];
        let cost = [0.0, 1.0, 3.0, 1.0, 0.0, 2.0, 0.5, 1.0, 0.0];
        for name in ["perceptron", "hinge", "squared_hinge", "exponential", "logistic", "squared"] {
            let loss = RowLoss::new(name, 1, &[]).expect("known");
            check(&loss, &scores[..1], &[1, -1]);
        }
        for name in ["multiclass_perceptron", "multiclass_hinge", "multiclass_logistic"] {
            check(&RowLoss::new(name, 3, &[]).expect("known"), &scores, &[0, 1, 2]);
        }
        check(&RowLoss::new("multiclass_hinge", 3, &cost).expect("known"), &scores, &[0, 1, 2]);
        assert!(RowLoss::new("hinge", 3, &[]).is_err());
        assert!(RowLoss::new("zero_one", 1, &[]).is_err());
    }

    fn check(loss: &RowLoss, scores: &[f64], targets: &[i32]) {
        let h = 1e-6;
        let mut unused = vec![0.0; scores.len()];
        for &y in targets {
            let mut grad = vec![0.0; scores.len()];
            loss.value_and_grad(scores, y, &mut grad);
            for k in 0..scores.len() {
                let mut up = scores.to_vec();
                let mut down = scores.to_vec();
                up[k] += h;
                down[k] -= h;
                let rise =
                    loss.value_and_grad(&up, y, &mut unused) - loss.value_and_grad(&down, y, &mut unused);
                assert!((grad[k] - rise / (2.0 * h)).abs() < 1e-6, "{loss:?} {y} {k}");
            }
        }
    }
}
