//! Step rules of stochastic gradient methods: from a gradient to a change of the weights.
//!
//! Each rule turns the gradient g of one mini-batch into a step size per weight, eta_j, and moves
//! w_j by -eta_j m_j, m = g (for Adam, the running mean of g). An L1 penalty follows as a soft
//! threshold at eta_j l1, so that every rule has the minimum of the penalized objective as its fixed
//! point. An L2 penalty adds its share l2 w_j to g_j; the plain rule takes it implicitly,
//! w_j / (1 + eta l2), which is stable for any step.
//!
//! Sources: AdaGrad, Duchi, Hazan & Singer (2011); AdaDelta, Zeiler (2012); RMSProp, Tieleman &
//! Hinton (2012); Adam, Kingma & Ba (2015); proximal steps, Duchi & Singer (2009).

use crate::error::{KernelError, check_length, zeros};
use crate::real::Real;
use crate::simd::{Task, dispatch};

/// A rule and its constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// eta_j = rate
    Plain,
    /// eta_j = rate / sqrt(sum of g_j^2)
    AdaGrad,
    /// eta_j = rate * RMS(past changes) / RMS(g_j), means decaying by `decay`
    AdaDelta {
        /// Decay of both means.
        decay: f64,
    },
    /// eta_j = rate / RMS(g_j)
    RmsProp {
        /// Decay of the mean square.
        decay: f64,
    },
    /// eta_j = rate / RMS(g_j), m_j the mean of g_j, both freed of their start at zero
    Adam {
        /// Decay of the mean.
        mean_decay: f64,
        /// Decay of the mean square.
        decay: f64,
    },
}

impl Kind {
    /// Decay of the mean square at step `t` (from 1): the memory grows with t.
    ///
    /// With a fixed memory the normalizer leans on the newest gradient, and the fixed point is not the
    /// minimum whatever the rate (Reddi, Kale & Kumar 2018); a growing one cures it (Mukkamala & Hein 2017).
    fn second_decay(self, t: f64) -> f64 {
        match self {
            Self::Plain | Self::AdaGrad => 1.0,
            Self::AdaDelta { decay } | Self::RmsProp { decay } | Self::Adam { decay, .. } => {
                decay.max(1.0 - 2.0 / t)
            }
        }
    }
}

/// Penalties that a step takes into account, per example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Weight of |w|_1.
    pub l1: f64,
    /// Weight of 1/2 |w|^2.
    pub l2: f64,
    /// How many of the leading weights are penalized.
    pub penalized: usize,
}

/// A rule with its memory.
#[derive(Debug, Clone)]
pub struct StepRule<T> {
    kind: Kind,
    epsilon: f64,
    /// Mean of the gradients (Adam) or mean square of the changes (AdaDelta).
    first: Vec<T>,
    /// Sum or mean of the squared gradients.
    second: Vec<T>,
    steps: f64,
    /// Products of the decays so far: what the means still hold of their start at zero.
    first_left: f64,
    second_left: f64,
    /// Decay of the mean square at this step.
    second_decay: f64,
}

impl<T: Real> StepRule<T> {
    /// A rule for `size` weights; `epsilon` keeps denominators positive.
    pub fn new(kind: Kind, epsilon: f64, size: usize) -> Result<Self, KernelError> {
        let decays: &[f64] = match &kind {
            Kind::Plain | Kind::AdaGrad => &[],
            Kind::AdaDelta { decay } | Kind::RmsProp { decay } => &[*decay],
            Kind::Adam { mean_decay, decay } => &[*mean_decay, *decay],
        };
        if decays.iter().any(|d| !(0.0..1.0).contains(d)) {
            return Err(KernelError::Argument("a decay must be at least 0 and below 1".into()));
        }
        if kind != Kind::Plain && !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(KernelError::Argument("epsilon must be positive".into()));
        }
        let first = matches!(kind, Kind::Adam { .. } | Kind::AdaDelta { .. });
        Ok(Self {
            kind,
            epsilon,
            first: zeros(if first { size } else { 0 })?,
            second: zeros(if kind == Kind::Plain { 0 } else { size })?,
            steps: 0.0,
            first_left: 1.0,
            second_left: 1.0,
            second_decay: 0.0,
        })
    }

    /// The rule.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Move `w` along `grad`, the gradient of the mean loss, with the given rate.
    pub fn step(&mut self, w: &mut [T], grad: &[T], rate: f64, shares: Shares) -> Result<(), KernelError> {
        check_length("gradient", grad.len(), w.len())?;
        if self.kind != Kind::Plain {
            check_length("weights", w.len(), self.second.len())?;
        }
        dispatch(Step { rule: self, w, grad, rate, shares });
        Ok(())
    }
}

struct Step<'a, T> {
    rule: &'a mut StepRule<T>,
    w: &'a mut [T],
    grad: &'a [T],
    rate: f64,
    shares: Shares,
}

impl<T: Real> Task for Step<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { rule, w, grad, rate, shares } = self;
        rule.steps += 1.0;
        rule.second_decay = rule.kind.second_decay(rule.steps);
        rule.second_left *= rule.second_decay;
        if let Kind::Adam { mean_decay, .. } = rule.kind {
            rule.first_left *= mean_decay;
        }
        let cut = shares.penalized.min(w.len());
        let (inner, outer) = w.split_at_mut(cut);
        let free = Shares { l1: 0.0, l2: 0.0, penalized: 0 };
        rule.part::<FMA>(inner, &grad[..cut], 0, rate, shares);
        rule.part::<FMA>(outer, &grad[cut..], cut, rate, free);
    }
}

impl<T: Real> StepRule<T> {
    /// The step on the weights from number `at` on, all under the same penalty.
    #[inline(always)]
    fn part<const FMA: bool>(&mut self, w: &mut [T], grad: &[T], at: usize, rate: f64, shares: Shares) {
        let (l1, l2) = (T::from_f64(shares.l1), T::from_f64(shares.l2));
        let (eta, epsilon) = (T::from_f64(rate), T::from_f64(self.epsilon));
        let (keep, take) = (T::from_f64(self.second_decay), T::from_f64(1.0 - self.second_decay));
        let end = at + w.len();
        match self.kind {
            Kind::Plain => {
                let shrink = T::ONE / (T::ONE + eta * l2);
                for (w, &g) in w.iter_mut().zip(grad) {
                    *w = shrink * threshold(*w - eta * g, eta * l1);
                }
            }
            Kind::AdaGrad => {
                for ((w, &g), v) in w.iter_mut().zip(grad).zip(&mut self.second[at..end]) {
                    let g = g + l2 * *w;
                    *v += g * g;
                    let step = eta / (v.sqrt() + epsilon);
                    *w = threshold(*w - step * g, step * l1);
                }
            }
            Kind::RmsProp { .. } => {
                for ((w, &g), v) in w.iter_mut().zip(grad).zip(&mut self.second[at..end]) {
                    let g = g + l2 * *w;
                    *v = keep * *v + take * g * g;
                    let step = eta / (v.sqrt() + epsilon);
                    *w = threshold(*w - step * g, step * l1);
                }
            }
            Kind::AdaDelta { .. } => {
                let memory = self.first[at..end].iter_mut().zip(&mut self.second[at..end]);
                for ((w, &g), (u, v)) in w.iter_mut().zip(grad).zip(memory) {
                    let g = g + l2 * *w;
                    *v = keep * *v + take * g * g;
                    let step = eta * (*u + epsilon).sqrt() / (*v + epsilon).sqrt();
                    let moved = threshold(*w - step * g, step * l1);
                    // The change as it would be at rate 1, which is Zeiler's rule.
                    let change = (moved - *w) / eta;
                    *u = keep * *u + take * change * change;
                    *w = moved;
                }
            }
            Kind::Adam { mean_decay, .. } => {
                let (keep_m, take_m) = (T::from_f64(mean_decay), T::from_f64(1.0 - mean_decay));
                let mend_m = T::from_f64(1.0 / (1.0 - self.first_left));
                let mend = T::from_f64(1.0 / (1.0 - self.second_left));
                let memory = self.first[at..end].iter_mut().zip(&mut self.second[at..end]);
                for ((w, &g), (m, v)) in w.iter_mut().zip(grad).zip(memory) {
                    let g = g + l2 * *w;
                    *m = keep_m * *m + take_m * g;
                    *v = keep * *v + take * g * g;
                    let step = eta / ((*v * mend).sqrt() + epsilon);
                    *w = threshold(*w - step * mend_m * *m, step * l1);
                }
            }
        }
    }
}

/// Argmin over v of |v - w|^2 / 2 + cut |v|.
#[inline(always)]
fn threshold<T: Real>(w: T, cut: T) -> T {
    (w.max(cut) - cut) + (w.min(-cut) + cut)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Shares, StepRule, threshold};

    const FREE: Shares = Shares { l1: 0.0, l2: 0.0, penalized: 0 };

    #[test]
    fn the_threshold_is_soft() {
        assert_eq!(threshold(3.0, 1.0), 2.0);
        assert_eq!(threshold(-3.0, 1.0), -2.0);
        assert_eq!(threshold(0.5, 1.0), 0.0);
        assert_eq!(threshold(-0.5, 0.0), -0.5);
    }

    #[test]
    fn the_first_steps_are_those_of_the_papers() {
        let g = [2.0, -4.0];
        let first = |kind, epsilon| {
            let mut rule = StepRule::new(kind, epsilon, 2).expect("valid");
            let mut w = [0.0, 0.0];
            rule.step(&mut w, &g, 0.1, FREE).expect("lengths");
            w
        };
        let close = |w: [f64; 2], e: [f64; 2]| (w[0] - e[0]).abs() < 1e-6 && (w[1] - e[1]).abs() < 1e-6;
        assert!(close(first(Kind::Plain, 0.0), [-0.2, 0.4]));
        assert!(close(first(Kind::AdaGrad, 1e-10), [-0.1, 0.1]));
        let root = 1.0 / 0.1f64.sqrt();
        assert!(close(first(Kind::RmsProp { decay: 0.9 }, 1e-10), [-0.1 * root, 0.1 * root]));
        assert!(close(first(Kind::Adam { mean_decay: 0.9, decay: 0.999 }, 1e-10), [-0.1, 0.1]));
        let unit = (1e-6f64 / (0.05 * 4.0 + 1e-6)).sqrt();
        assert!((first(Kind::AdaDelta { decay: 0.95 }, 1e-6)[0] + 0.1 * unit * 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_fixed_point_is_the_penalized_minimum() {
        // min 1/2 (w - 3)^2 + l1 |w| + l2/2 w^2 has its minimum at (3 - l1) / (1 + l2).
        let shares = Shares { l1: 0.5, l2: 0.25, penalized: 1 };
        let kinds = [
            Kind::Plain,
            Kind::AdaGrad,
            Kind::RmsProp { decay: 0.9 },
            Kind::Adam { mean_decay: 0.9, decay: 0.999 },
            Kind::AdaDelta { decay: 0.95 },
        ];
        for kind in kinds {
            let mut rule = StepRule::<f64>::new(kind, 1e-6, 1).expect("valid");
            let mut w = [0.0];
            for t in 0..60_000 {
                let rate = match kind {
                    Kind::Plain => 0.1,
                    Kind::AdaDelta { .. } => 1.0,
                    _ => 0.5 / (1.0 + 0.001 * f64::from(t)),
                };
                let g = [w[0] - 3.0];
                rule.step(&mut w, &g, rate, shares).expect("lengths");
            }
            assert!((w[0] - 2.0).abs() < 2e-2, "{kind:?}: {}", w[0]);
        }
    }

    #[test]
    fn constants_are_checked() {
        assert!(StepRule::<f64>::new(Kind::RmsProp { decay: 1.0 }, 1e-8, 1).is_err());
        assert!(StepRule::<f64>::new(Kind::AdaGrad, 0.0, 1).is_err());
        let mut rule = StepRule::new(Kind::AdaGrad, 1e-8, 2).expect("valid");
        assert!(rule.step(&mut [0.0], &[0.0], 0.1, FREE).is_err());
    }
}
