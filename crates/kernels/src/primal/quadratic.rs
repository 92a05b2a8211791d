//! Coordinate descent on a quadratic with an elastic-net penalty, the Hessian given.
//!
//! Problem: minimize over u   q'(u - s) + 1/2 (u - s)' H (u - s) + sum_j l1_j |u_j| + l2_j/2 u_j^2,
//! where q is the gradient of the quadratic at the start s: the model of a proximal Newton step.
//! Invariant: `gradient` is q + H (u - s) at the current `weights` u after every coordinate step. All
//! of it is kept up to date, so a visit to a weight that stays at zero costs no more than a look.
//! Source: Friedman, Hastie & Tibshirani (2010), covariance updates; Yuan, Ho & Lin (2012).
//! Returned: the sweeps made and the largest violation of the optimality conditions at the end.

use crate::error::{KernelError, check_length, check_not_negative};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Task, dispatch};

/// What a descent did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// Sweeps over the coordinates.
    pub sweeps: usize,
    /// Largest absolute value in the smallest subgradient at the end.
    pub residual: f64,
}

/// The penalty l1_j |u_j| + l2_j/2 u_j^2, coordinate by coordinate; intercepts have zeros.
#[derive(Debug, Clone, Copy)]
pub struct Penalty<'a> {
    l1: &'a [f64],
    l2: &'a [f64],
}

impl<'a> Penalty<'a> {
    /// Check that neither has negative entries and that both have `size` entries.
    pub fn new(l1: &'a [f64], l2: &'a [f64], size: usize) -> Result<Self, KernelError> {
        check_length("l1", l1.len(), size)?;
        check_length("l2", l2.len(), size)?;
        check_not_negative("penalties", l1)?;
        check_not_negative("penalties", l2)?;
        Ok(Self { l1, l2 })
    }

    /// Whether zero is the best value of coordinate `j` by more than `margin`, `q` being the slope there.
    #[inline(always)]
    pub fn holds_at_zero(&self, j: usize, q: f64, margin: f64) -> bool {
        q.abs() < self.l1[j] - margin
    }

    /// Absolute value of the smallest subgradient in coordinate `j`.
    #[inline(always)]
    pub fn violation(&self, j: usize, u: f64, q: f64) -> f64 {
        if u == 0.0 {
            (q.abs() - self.l1[j]).max(0.0)
        } else {
            (q + self.l2[j] * u + self.l1[j].copysign(u)).abs()
        }
    }

    /// The minimizer in coordinate `j`, where the quadratic has slope `q` and curvature `h` at `u`.
    #[inline(always)]
    pub fn minimizer(&self, j: usize, u: f64, q: f64, h: f64) -> f64 {
        let curvature = h + self.l2[j];
        if curvature <= 0.0 {
            // A column of zeros: only the penalty speaks.
            return if q.abs() < self.l1[j] { 0.0 } else { u };
        }
        let target = h * u - q;
        let size = target.abs() - self.l1[j];
        if size > 0.0 { size.copysign(target) / curvature } else { 0.0 }
    }
}

struct Sweep<'a> {
    hessian: &'a [f64],
    penalty: Penalty<'a>,
    weights: &'a mut [f64],
    gradient: &'a mut [f64],
}

impl Task for Sweep<'_> {
    /// Largest violation met before its coordinate moved.
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let size = self.weights.len();
        let mut largest = 0.0f64;
        for j in 0..size {
            let (u, q) = (self.weights[j], self.gradient[j]);
            let violation = self.penalty.violation(j, u, q);
            if violation == 0.0 {
                continue;
            }
            largest = largest.max(violation);
            let row = &self.hessian[j * size..(j + 1) * size];
            let moved = self.penalty.minimizer(j, u, q, row[j]);
            let step = moved - u;
            if step != 0.0 {
                self.weights[j] = moved;
                for (g, &h) in self.gradient.iter_mut().zip(row) {
                    *g = step.fma::<FMA>(h, *g);
                }
            }
        }
        largest
    }
}

/// Sweep until no coordinate violates its condition by more than `tolerance`, at most `max_sweeps` times.
///
/// `weights` holds s on entry and u on exit, `gradient` q on entry and q + H (u - s) on exit; `hessian` is
/// symmetric and row-major.
pub fn descend(
    hessian: &[f64],
    penalty: Penalty<'_>,
    weights: &mut [f64],
    gradient: &mut [f64],
    tolerance: f64,
    max_sweeps: usize,
    stop: &Interrupt,
) -> Result<Descent, KernelError> {
    let size = weights.len();
    check_length("gradient", gradient.len(), size)?;
    check_length("hessian", hessian.len(), size * size)?;
    check_length("l1", penalty.l1.len(), size)?;
    let mut sweeps = 0;
    while sweeps < max_sweeps {
        stop.check()?;
        sweeps += 1;
        if dispatch(Sweep { hessian, penalty, weights, gradient }) <= tolerance {
            break;
        }
    }
    let pairs = weights.iter().zip(&*gradient).enumerate();
    let residual = pairs.fold(0.0f64, |most, (j, (&u, &q))| most.max(penalty.violation(j, u, q)));
    Ok(Descent { sweeps, residual })
}

#[cfg(test)]
mod tests {
    use super::{Penalty, descend};
    use crate::error::KernelError;
    use crate::interrupt::Interrupt;
    use crate::random::Random;

    fn uniform(random: &mut Random) -> f64 {
        random.next_u64() as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    /// A'A of a random matrix with `rank` rows, and a gradient.
    fn problem(size: usize, rank: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::new(seed);
        let a: Vec<f64> = (0..rank * size).map(|_| uniform(&mut random)).collect();
        let mut hessian = vec![0.0; size * size];
        for row in a.chunks_exact(size) {
            for i in 0..size {
                for j in 0..size {
                    hessian[i * size + j] += row[i] * row[j];
                }
            }
        }
        // In the range of H, so that the quadratic is bounded below where H is singular.
        let x: Vec<f64> = (0..size).map(|_| 3.0 * uniform(&mut random)).collect();
        let gradient =
            hessian.chunks_exact(size).map(|h| h.iter().zip(&x).map(|(h, x)| h * x).sum()).collect();
        (hessian, gradient)
    }

    /// The same minimum by proximal gradient steps, slowly.
    fn reference(hessian: &[f64], q: &[f64], l1: &[f64], l2: &[f64], s: &[f64]) -> Vec<f64> {
        let size = q.len();
        let step = 1.0 / (0..size).map(|j| hessian[j * size + j] + l2[j]).sum::<f64>();
        let mut u = s.to_vec();
        for _ in 0..200_000 {
            let mut next = u.clone();
            for j in 0..size {
                let row = &hessian[j * size..(j + 1) * size];
                let g = q[j] + row.iter().zip(u.iter().zip(s)).map(|(h, (u, s))| h * (u - s)).sum::<f64>();
                let v = u[j] - step * (g + l2[j] * u[j]);
                next[j] = (v.abs() - step * l1[j]).max(0.0).copysign(v);
            }
            u = next;
        }
        u
    }

    #[test]
    fn reaches_the_minimum_of_proximal_gradient_with_a_free_coordinate() {
        for (seed, l2) in [(1, 0.0), (2, 0.3)] {
            let size = 6;
            let (hessian, q) = problem(size, 9, seed);
            let mut l1 = vec![0.7; size];
            let mut l2 = vec![l2; size];
            (l1[size - 1], l2[size - 1]) = (0.0, 0.0);
            let start: Vec<f64> = (0..size).map(|j| j as f64 % 2.0).collect();
            let (mut u, mut gradient) = (start.clone(), q.clone());
            let penalty = Penalty::new(&l1, &l2, size).expect("valid");
            let done = descend(&hessian, penalty, &mut u, &mut gradient, 1e-12, 10_000, &Interrupt::new());
            let done = done.expect("valid");
            assert!(done.residual <= 1e-10 && done.sweeps < 10_000);
            for (a, b) in u.iter().zip(reference(&hessian, &q, &l1, &l2, &start)) {
                assert!((a - b).abs() < 1e-6);
            }
            for (j, row) in hessian.chunks_exact(size).enumerate() {
                let moved: f64 = row.iter().zip(u.iter().zip(&start)).map(|(h, (u, s))| h * (u - s)).sum();
                assert!((gradient[j] - q[j] - moved).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_strong_penalty_gives_exact_zeros_and_a_column_of_zeros_does_no_harm() {
        let size = 4;
        let (mut hessian, mut q) = problem(size, 3, 5);
        for j in 0..size {
            (hessian[j], hessian[j * size]) = (0.0, 0.0);
        }
        q[0] = 0.0;
        let (l1, l2) = (vec![1e3; size], vec![0.0; size]);
        let mut u = vec![1.0; size];
        let penalty = Penalty::new(&l1, &l2, size).expect("valid");
        let done = descend(&hessian, penalty, &mut u, &mut q, 1e-9, 100, &Interrupt::new()).expect("valid");
        assert_eq!((u, done.residual), (vec![0.0; size], 0.0));
    }

    #[test]
    fn bad_input_and_interrupts_are_named() {
        assert!(Penalty::new(&[-1.0], &[0.0], 1).is_err());
        assert!(Penalty::new(&[1.0], &[f64::NAN], 1).is_err());
        let penalty = Penalty::new(&[1.0], &[0.0], 1).expect("valid");
        let stop = Interrupt::new();
        let (mut u, mut q) = (vec![0.0], vec![1.0]);
        assert!(descend(&[1.0, 2.0], penalty, &mut u, &mut q, 0.0, 1, &stop).is_err());
        stop.set();
        let halted = descend(&[1.0], penalty, &mut u, &mut q, 0.0, 1, &stop);
        assert_eq!(halted, Err(KernelError::Interrupted));
    }
}
