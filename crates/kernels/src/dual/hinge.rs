//! One row of the Crammer–Singer dual: projection onto the simplex without sorting.
//!
//! Problem: given the cost-augmented scores v = z + cost computed at the old p, and s = U |x|^2, find the
//! p' on the simplex that maximizes  <v, p'> - s/2 |p' - p|^2: the projection of p + v/s.
//! Source: Crammer & Singer (2001) for the dual, Michelot (1986) for the projection: the threshold
//! rises from a lower bound to its value in a few rounds.

use crate::data::rows::LANES;
use crate::real::Real;

/// `next` becomes the best point of the simplex; `top` is the largest of the first `k` augmented scores.
///
/// Lanes from `k` on become zero.
#[inline(always)]
pub fn step<T: Real, const FMA: bool>(
    augmented: &[T],
    top: T,
    k: usize,
    old: &[T],
    curvature: f64,
    next: &mut [T],
) {
    let inverse = T::from_f64(1.0 / curvature.max(1e-30));
    let (floor, one) = (T::from_f64(-2.0), T::ONE);
    // Shifting v does not change the projection. The threshold is at least -1, so entries below -2 are
    // inactive whatever their value: cutting them there keeps all sums finite.
    let mut highest = [floor; LANES];
    let rows = augmented.chunks_exact(LANES).zip(old.chunks_exact(LANES));
    for (next, (v, old)) in next.chunks_exact_mut(LANES).zip(rows) {
        for l in 0..LANES {
            next[l] = (v[l] - top).fma::<FMA>(inverse, old[l]).max(floor);
        }
    }
    next[k..].fill(floor);
    for next in next.chunks_exact(LANES) {
        for (h, &v) in highest.iter_mut().zip(next) {
            *h = h.max(v);
        }
    }
    let mut threshold = highest[0];
    for &h in &highest[1..] {
        threshold = threshold.max(h);
    }
    threshold -= one;
    for _ in 0..k {
        let (mut total, mut count) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for next in next.chunks_exact(LANES) {
            for l in 0..LANES {
                let active = next[l] > threshold;
                total[l] += if active { next[l] } else { T::ZERO };
                count[l] += if active { one } else { T::ZERO };
            }
        }
        let raised = (total.iter().copied().sum::<T>() - one) / count.iter().copied().sum::<T>();
        // Also false when rounding left no entry active (0/0).
        if raised > threshold {
            threshold = raised;
        } else {
            break;
        }
    }
    for v in next.iter_mut() {
        *v = (*v - threshold).max(T::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn agrees_with_projection_by_sorting() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31) * 4.0 - 2.0
        };
        for round in 0..500usize {
            let k = 1 + round % 19;
            let width = k.div_ceil(8) * 8;
            let v: Vec<f64> = (0..width).map(|c| if c < k { random() } else { 9.0 }).collect();
            let mut old = vec![0.0; width];
            old[round % k] = 1.0;
            let s = 10f64.powi(round as i32 % 7 - 3);
            let top = v[..k].iter().fold(f64::MIN, |a, &b| a.max(b));
            let mut next = vec![0.0; width];
            step::<f64, false>(&v, top, k, &old, s, &mut next);
            let mut sorted: Vec<f64> = (0..k).map(|c| old[c] + v[c] / s).collect();
            let target = sorted.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let (mut total, mut threshold) = (0.0, 0.0);
            for (c, x) in sorted.iter().enumerate() {
                total += x;
                if x - (total - 1.0) / (c as f64 + 1.0) > 0.0 {
                    threshold = (total - 1.0) / (c as f64 + 1.0);
                }
            }
            for c in 0..k {
                assert!((next[c] - (target[c] - threshold).max(0.0)).abs() < 1e-9);
            }
            assert!(next[k..].iter().all(|&p| p == 0.0));
        }
    }

    #[test]
    fn no_curvature_puts_all_on_the_best() {
        let mut next = [0.0f32; 8];
        step::<f32, false>(
            &[1.0, 3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            3.0,
            3,
            &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            0.0,
            &mut next,
        );
        assert_eq!(next, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
