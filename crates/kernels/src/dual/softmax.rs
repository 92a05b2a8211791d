//! One row of the softmax dual: the exact step, for any curvature.
//!
//! Problem: given scores z computed at the old probabilities p, and s = U |x|^2, find the p' on the
//! simplex that maximizes  entropy(p') + <z, p'> - s/2 |p' - p|^2.  Its conditions are
//! log p'_k + s (p'_k - p_k) = z_k - lambda and sum p' = 1.
//! For moderate s: Newton on all K + 1 equations at once, in the logarithms (K divisions and
//! exponentials a step, no matrix), as in Yu, Huang & Lin (2011) for two classes. Otherwise, or where that
//! has not settled: p'_k = omega(a_k - lambda + log s) / s with Wright's omega function, which solves
//! v + e^v = t, and a monotone Newton iteration for lambda, in double precision. Neither overflows.

use crate::data::rows::LANES;
use crate::dual::tuning::{MODERATE, NEWTON_STEPS, SETTLED};
use crate::real::Real;
use crate::simd::exponential::VectorExp;

/// Room for one row's work.
#[derive(Debug, Clone)]
pub struct SoftmaxRow<T> {
    n_classes: usize,
    logs: Vec<T>,
    inverse: Vec<T>,
    residual: Vec<T>,
    arguments: Vec<f64>,
    omegas: Vec<f64>,
    omega_logs: Vec<f64>,
}

impl<T: VectorExp> SoftmaxRow<T> {
    /// For `n_classes` classes in `width` lanes.
    pub fn new(n_classes: usize, width: usize) -> Self {
        Self {
            n_classes,
            logs: vec![T::ZERO; width],
            inverse: vec![T::ZERO; width],
            residual: vec![T::ZERO; width],
            arguments: vec![0.0; width],
            omegas: vec![0.0; width],
            omega_logs: vec![0.0; width],
        }
    }

    /// Log-sum-exp of the scores; `next` becomes their softmax. Lanes from `n_classes` on become zero.
    #[inline(always)]
    pub fn softmax<const FMA: bool>(&mut self, scores: &[T], next: &mut [T]) -> f64 {
        let k = self.n_classes;
        let mut top = scores[0];
        for &z in &scores[1..k] {
            top = top.max(z);
        }
        for (l, &z) in self.logs.iter_mut().zip(scores) {
            *l = z - top;
        }
        exp_masked::<T, FMA>(&self.logs, next, k);
        let total = sum(next);
        let log_total = total.ln();
        let inverse = T::ONE / total;
        for (p, l) in next.iter_mut().zip(&mut self.logs) {
            *p *= inverse;
            *l = (*l - log_total).max(T::LOWEST);
        }
        top.to_f64() + log_total.to_f64()
    }

    /// The step: from `old` probabilities to `next`, which must hold the softmax of the scores, as
    /// [`Self::softmax`] leaves it. Returns the entropy of `next`.
    #[inline(always)]
    pub fn step<const FMA: bool>(&mut self, scores: &[T], old: &[T], curvature: f64, next: &mut [T]) -> f64 {
        if !(curvature <= MODERATE && self.joint_newton::<FMA>(scores, old, T::from_f64(curvature), next)) {
            self.omega::<FMA>(scores, old, curvature, next);
        }
        let mut entropy = T::ZERO;
        for (&p, &l) in next.iter().zip(&self.logs) {
            entropy -= p * l;
        }
        entropy.to_f64()
    }

    /// Whether it settled; `next` is then on the simplex.
    #[inline(always)]
    fn joint_newton<const FMA: bool>(&mut self, scores: &[T], old: &[T], s: T, next: &mut [T]) -> bool {
        let settled = T::from_f64(SETTLED);
        for _ in 0..NEWTON_STEPS {
            let (mut total, mut weighted, mut weight) =
                ([T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES]);
            let rows =
                self.logs.chunks_exact(LANES).zip(scores.chunks_exact(LANES)).zip(old.chunks_exact(LANES));
            let work = self.inverse.chunks_exact_mut(LANES).zip(self.residual.chunks_exact_mut(LANES));
            for (((logs, z), old), ((inverse, residual), p)) in rows.zip(work.zip(next.chunks_exact(LANES))) {
                for l in 0..LANES {
                    inverse[l] = T::ONE / s.fma::<FMA>(p[l], T::ONE);
                    residual[l] = s.fma::<FMA>(p[l] - old[l], logs[l] - z[l]);
                    let c = p[l] * inverse[l];
                    total[l] += p[l];
                    weighted[l] = c.fma::<FMA>(residual[l], weighted[l]);
                    weight[l] += c;
                }
            }
            let lambda = -((T::ONE - sum(&total)) + sum(&weighted)) / sum(&weight);
            let mut largest = [T::ZERO; LANES];
            let work = self.inverse.chunks_exact(LANES).zip(self.residual.chunks_exact(LANES));
            for ((logs, p), (inverse, residual)) in
                self.logs.chunks_exact_mut(LANES).zip(next.chunks_exact(LANES)).zip(work)
            {
                for l in 0..LANES {
                    let step = -(residual[l] + lambda) * inverse[l];
                    largest[l] = largest[l].max((step * p[l]).abs());
                    logs[l] = (logs[l] + step).max(T::LOWEST).min(T::ZERO);
                }
            }
            exp_masked::<T, FMA>(&self.logs, next, self.n_classes);
            let mut most = largest[0];
            for &v in &largest[1..] {
                most = most.max(v);
            }
            if most < settled {
                let total = sum(next);
                let (inverse, log_total) = (T::ONE / total, total.ln());
                for (p, l) in next.iter_mut().zip(&mut self.logs) {
                    *p *= inverse;
                    *l -= log_total;
                }
                return total.is_finite() && total > T::ZERO;
            }
        }
        false
    }

    /// The safeguarded solve in double precision.
    #[inline(always)]
    fn omega<const FMA: bool>(&mut self, scores: &[T], old: &[T], curvature: f64, next: &mut [T]) {
        // Beyond this the step is a projection in double precision whatever the rest.
        let s = curvature.clamp(1e-300, 1e15);
        let mut top = f64::NEG_INFINITY;
        for ((t, z), p) in self.arguments.iter_mut().zip(scores).zip(old) {
            *t = s.fma::<FMA>(p.to_f64(), z.to_f64());
        }
        for &t in &self.arguments[..self.n_classes] {
            top = top.max(t);
        }
        // The sum of p'(lambda) falls and is convex, and is at least one at lambda = max a - s: Newton rises
        // to the root from there.
        let exact = if size_of::<T>() < size_of::<f64>() { 1e-6 } else { 1e-10 };
        let shift = s + s.ln();
        for t in &mut self.arguments {
            *t = (*t - top) + shift;
        }
        self.arguments[self.n_classes..].fill(f64::LOWEST);
        for _ in 0..100 {
            for (v, &t) in self.omega_logs.iter_mut().zip(&self.arguments) {
                *v = log_omega_start(t);
            }
            for _ in 0..2 {
                for (v, &t) in self.omega_logs.iter_mut().zip(&self.arguments) {
                    *v = log_omega_step::<FMA>(*v, t);
                }
            }
            for (omega, v) in self.omegas.iter_mut().zip(&self.omega_logs) {
                *omega = v.vector_exp::<FMA>();
            }
            let mut slope = [0.0; LANES];
            for omega in self.omegas.chunks_exact(LANES) {
                for (slope, &w) in slope.iter_mut().zip(omega) {
                    *slope += w / (1.0 + w);
                }
            }
            let excess = sum(&self.omegas) - s;
            let step = excess / sum(&slope);
            if excess.abs() < exact * s || step.abs() <= 1e-14 * (1.0 + s) {
                break;
            }
            for t in &mut self.arguments {
                *t -= step;
            }
        }
        let total: f64 = sum(&self.omegas);
        let (inverse, log_total) = (1.0 / total, total.ln());
        let values = self.omegas.iter().zip(&self.omega_logs);
        for ((p, log), (omega, omega_log)) in next.iter_mut().zip(&mut self.logs).zip(values) {
            *p = T::from_f64(omega * inverse);
            *log = T::from_f64(omega_log - log_total).max(T::LOWEST);
        }
        next[self.n_classes..].fill(T::ZERO);
    }
}

/// A v with v + e^v = t up to 0.3, the logarithm of Wright's omega function.
#[inline(always)]
fn log_omega_start(t: f64) -> f64 {
    let (tangent, above) = (0.5 * (t - 1.0), Real::max(t, 1.0));
    let high = rough_ln(above - rough_ln(above));
    Real::min(tangent, if t > 1.0 { high } else { t })
}

/// A step of Halley's method for v + e^v = t, of third order: two from the start leave an error of 1e-11.
#[inline(always)]
fn log_omega_step<const FMA: bool>(v: f64, t: f64) -> f64 {
    let e = v.vector_exp::<FMA>();
    let (f, d) = (v + e - t, 1.0 + e);
    v - 2.0 * f * d / (2.0 * d * d - f * e)
}

/// ln(x) within 0.03 for a positive normal number, read off its exponent and leading bits.
#[inline(always)]
fn rough_ln(x: f64) -> f64 {
    let leading = f64::from((x.to_bits() >> 32) as i32);
    (leading / f64::from(1 << 20) - 1022.957) * std::f64::consts::LN_2
}

/// next = exp(logs) in the first `k` lanes, zero in the others.
#[inline(always)]
fn exp_masked<T: VectorExp, const FMA: bool>(logs: &[T], next: &mut [T], k: usize) {
    for (next, logs) in next.chunks_exact_mut(LANES).zip(logs.chunks_exact(LANES)) {
        let mut lane = [T::ZERO; LANES];
        lane.copy_from_slice(logs);
        for x in &mut lane {
            *x = x.vector_exp::<FMA>();
        }
        next.copy_from_slice(&lane);
    }
    next[k..].fill(T::ZERO);
}

#[inline(always)]
fn sum<T: VectorExp>(values: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    for chunk in values.chunks_exact(LANES) {
        for (sum, &v) in lanes.iter_mut().zip(chunk) {
            *sum += v;
        }
    }
    let (a, b) = lanes.split_at(LANES / 2);
    a.iter().zip(b).map(|(&a, &b)| a + b).sum()
}

#[cfg(test)]
mod tests {
    use super::SoftmaxRow;
    use crate::data::rows::padded;
    use crate::simd::exponential::VectorExp;

    /// The conditions hold: log p'_k + s (p'_k - p_k) - z_k is the same for all classes that matter.
    fn check<T: VectorExp>(k: usize, s: f64, spread: f64, tolerance: f64) {
        let width = padded(k);
        let mut row = SoftmaxRow::<T>::new(k, width);
        let mut scores = vec![T::ZERO; width];
        let mut old = vec![T::ZERO; width];
        for (c, score) in scores[..k].iter_mut().enumerate() {
            *score = T::from_f64(spread * ((c * 7 + 3) % 11) as f64 / 11.0 - spread);
        }
        old[k / 2] = T::ONE;
        let mut next = vec![T::ZERO; width];
        for _ in 0..4 {
            row.softmax::<false>(&scores, &mut next);
            let entropy = row.step::<false>(&scores, &old, s, &mut next);
            assert!(next.iter().all(|p| p.is_finite()) && entropy.is_finite());
            let total: f64 = next.iter().map(|p| p.to_f64()).sum();
            assert!((total - 1.0).abs() < 1e-5);
            assert!(next[k..].iter().all(|p| p.to_f64() == 0.0));
            let level: Vec<f64> = (0..k)
                .filter(|&c| next[c].to_f64() > 1e-4)
                .map(|c| next[c].to_f64().ln() + s * (next[c] - old[c]).to_f64() - scores[c].to_f64())
                .collect();
            let spread =
                level.iter().fold(f64::MIN, |a, &b| a.max(b)) - level.iter().fold(f64::MAX, |a, &b| a.min(b));
            assert!(spread < tolerance * (1.0 + s), "{k} {s} {spread} {level:?}");
            old.copy_from_slice(&next);
        }
    }

    #[test]
    fn the_optimality_conditions_hold() {
        for k in [2, 3, 8, 20, 33] {
            for s in [0.0, 1e-6, 0.3, 2.0, 10.0, 1e3, 1e8] {
                for spread in [0.0, 1.0, 30.0, 1e4] {
                    check::<f64>(k, s, spread, 2e-2);
                    check::<f32>(k, s, spread, 2e-2);
                }
            }
        }
    }

    #[test]
    fn any_finite_input_gives_a_point_of_the_simplex() {
        for s in [0.0, 1e-30, 1.0, 1e20, 1e300] {
            for z in [0.0, 1e3, -1e9, 3e38] {
                let scores: Vec<f32> = (0..8).map(|c| if c % 2 == 0 { z } else { -z }).collect();
                let mut old = vec![0.0f32; 8];
                old[3] = 1.0;
                let mut next = vec![0.0f32; 8];
                let mut row = SoftmaxRow::<f32>::new(5, 8);
                row.softmax::<false>(&scores, &mut next);
                row.step::<false>(&scores, &old, s, &mut next);
                let total: f32 = next.iter().sum();
                assert!((total - 1.0).abs() < 1e-5 && next.iter().all(|p| *p >= 0.0), "{s} {z} {next:?}");
            }
        }
    }
}
