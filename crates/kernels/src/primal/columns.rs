//! Coordinate descent on a quadratic with an elastic-net penalty, the Hessian X' D X known by its factors.
//!
//! Problem: minimize over u   q'(u - s) + 1/2 (u - s)' X' D X (u - s) + sum_j l1_j |u_j| + l2_j/2 u_j^2,
//! where q is the gradient at the start s: the model of a proximal Newton step with one score per row.
//! Some coordinates only are given, each by its column of X; the intercept has a column of ones.
//! Invariant: `pull` is D X (u - s) at the current `weights` u after every coordinate step.
//! Source: Yuan, Ho & Lin (2012), "An improved GLMNET for L1-regularized logistic regression", sections
//! 3.2 and 5.2: shuffled sweeps over a shrinking set, all coordinates again before the end.
//! Returned: the sweeps made and the largest violation met in the last sweep over all coordinates.

use crate::data::rows::Rows;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::primal::quadratic::{Descent, Penalty};
use crate::random::Random;
use crate::real::Real;
use crate::simd::{Task, dispatch};

/// Coordinates between two looks at the interrupt flag.
const BLOCK: usize = 256;
/// Columns ahead of the current one that are asked into the cache.
const AHEAD: usize = 2;

/// The quadratic: columns of X as rows of `columns`, and D.
#[derive(Debug)]
pub struct Model<'a, T, X> {
    /// X transposed.
    pub columns: &'a X,
    /// The diagonal of D, one entry per row of X.
    pub curvature: &'a [T],
    /// For each coordinate its row in `columns`, or `columns.n_rows()` for the intercept.
    pub numbers: &'a [usize],
    /// The penalty of each coordinate.
    pub penalty: Penalty<'a>,
    /// q for each coordinate.
    pub gradient: &'a [f64],
}

impl<T: Real, X: Rows<T>> Model<'_, T, X> {
    fn is_intercept(&self, j: usize) -> bool {
        self.numbers[j] == self.columns.n_rows()
    }

    #[inline(always)]
    fn slope<const FMA: bool>(&self, j: usize, pull: &[T]) -> f64 {
        let moved = if self.is_intercept(j) {
            pull.iter().map(|p| p.to_f64()).sum()
        } else {
            self.columns.dot::<FMA>(self.numbers[j], pull).to_f64()
        };
        self.gradient[j] + moved
    }

    #[inline(always)]
    fn shift<const FMA: bool>(&self, j: usize, step: T, pull: &mut [T]) {
        if self.is_intercept(j) {
            for (p, &c) in pull.iter_mut().zip(self.curvature) {
                *p = step.fma::<FMA>(c, *p);
            }
        } else {
            self.columns.add_scaled_to::<FMA>(self.numbers[j], step, self.curvature, pull);
        }
    }
}

struct Diagonal<'a, T, X>(&'a Model<'a, T, X>);

impl<T: Real, X: Rows<T>> Task for Diagonal<'_, T, X> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Vec<f64> {
        let model = self.0;
        let all = || model.curvature.iter().map(|c| c.to_f64()).sum();
        let size = model.numbers.len();
        (0..size)
            .map(|j| {
                if model.is_intercept(j) {
                    all()
                } else {
                    model.columns.scaled_square(model.numbers[j], model.curvature)
                }
            })
            .collect()
    }
}

struct Sweep<'a, T, X> {
    model: &'a Model<'a, T, X>,
    diagonal: &'a [f64],
    order: &'a mut [u32],
    weights: &'a mut [f64],
    pull: &'a mut [T],
    /// Largest violation of the last sweep: weights at zero that are further inside rest.
    margin: f64,
}

impl<T: Real, X: Rows<T>> Task for Sweep<'_, T, X> {
    /// Largest violation met, and how many coordinates stay awake: they are moved to the front.
    type Output = (f64, usize);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, usize) {
        let model = self.model;
        let (mut largest, mut awake) = (0.0f64, 0);
        for at in 0..self.order.len() {
            if let Some(&next) = self.order.get(at + AHEAD) {
                let number = model.numbers[next as usize];
                if number < model.columns.n_rows() {
                    model.columns.prefetch(number);
                }
            }
            let j = self.order[at] as usize;
            let (u, q) = (self.weights[j], model.slope::<FMA>(j, self.pull));
            if u == 0.0 && model.penalty.holds_at_zero(j, q, self.margin) {
                continue;
            }
            self.order.swap(at, awake);
            awake += 1;
            largest = largest.max(model.penalty.violation(j, u, q));
            let moved = model.penalty.minimizer(j, u, q, self.diagonal[j]);
            // The step as the data type rounds it, so that weights and pull agree.
            let step = T::from_f64(moved - u);
            if step != T::ZERO {
                self.weights[j] = moved;
                model.shift::<FMA>(j, step, self.pull);
            }
        }
        (largest, awake)
    }
}

/// Sweep until a sweep over all coordinates meets no violation above `tolerance`, or `max_sweeps` times.
///
/// `weights` holds s on entry and u on exit.
pub fn descend<T: Real, X: Rows<T>>(
    model: &Model<'_, T, X>,
    weights: &mut [f64],
    tolerance: f64,
    max_sweeps: usize,
    seed: u64,
    stop: &Interrupt,
) -> Result<Descent, KernelError> {
    let size = weights.len();
    check_length("numbers", model.numbers.len(), size)?;
    check_length("gradient", model.gradient.len(), size)?;
    check_length("curvature", model.curvature.len(), model.columns.n_cols())?;
    if let Some(number) = model.numbers.iter().find(|&&number| number > model.columns.n_rows()) {
        return Err(KernelError::Argument(format!(
            "column {number} is outside 0..{}",
            model.columns.n_rows()
        )));
    }
    if u32::try_from(size).is_err() {
        return Err(KernelError::Argument(format!("{size} coordinates are too many")));
    }
    let diagonal = dispatch(Diagonal(model));
    let mut pull = vec![T::ZERO; model.curvature.len()];
    let mut order: Vec<u32> = (0..size as u32).collect();
    let mut random = Random::new(seed);
    let (mut awake, mut margin, mut residual) = (size, f64::INFINITY, f64::INFINITY);
    let mut sweeps = 0;
    while sweeps < max_sweeps {
        sweeps += 1;
        let whole = awake == size;
        random.shuffle(&mut order[..awake]);
        let (mut largest, mut kept) = (0.0f64, 0);
        let mut start = 0;
        while start < awake {
            stop.check()?;
            let end = (start + BLOCK).min(awake);
            let block = &mut order[start..end];
            let (most, stay) = dispatch(Sweep {
                model,
                diagonal: &diagonal,
                order: block,
                weights,
                pull: &mut pull,
                margin,
            });
            largest = largest.max(most);
            // Those that stay awake follow those of the blocks before.
            for at in 0..stay {
                order.swap(start + at, kept + at);
            }
            kept += stay;
            start = end;
        }
        if whole {
            residual = largest;
        }
        if largest <= tolerance {
            if whole {
                break;
            }
            (awake, margin) = (size, f64::INFINITY);
        } else {
            (awake, margin) = (kept, largest);
        }
    }
    Ok(Descent { sweeps, residual })
}

#[cfg(test)]
mod tests {
    use super::{Model, descend};
    use crate::data::csr::OwnedCsr;
    use crate::data::dense::Dense;
    use crate::data::rows::Rows;
    use crate::error::KernelError;
    use crate::interrupt::Interrupt;
    use crate::primal::quadratic::{self, Penalty};

    const N: usize = 40;
    const D: usize = 12;

    /// X transposed (one column has no entries), and the diagonal of D.
    fn data() -> (Vec<f64>, Vec<f64>) {
        let value = |at: usize| {
            if at.is_multiple_of(3) || at / N == 4 { 0.0 } else { ((at * 7919) % 101) as f64 / 50.0 - 1.0 }
        };
        ((0..N * D).map(value).collect(), (0..N).map(|i| (i % 5) as f64 / 4.0).collect())
    }

    fn sparse(values: &[f64]) -> OwnedCsr<f64> {
        let (mut starts, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks_exact(N) {
            for (i, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(i as i32);
                stored.push(v);
            }
            starts.push(columns.len());
        }
        OwnedCsr::new(&starts, &columns, &stored, N).expect("valid")
    }

    fn solve<X: Rows<f64>>(x: &X, curvature: &[f64], q: &[f64], l1: &[f64], l2: &[f64]) -> Vec<f64> {
        let numbers: Vec<usize> = (0..=D).collect();
        let penalty = Penalty::new(l1, l2, D + 1).expect("valid");
        let model = Model { columns: x, curvature, numbers: &numbers, penalty, gradient: q };
        let mut u = vec![0.5; D + 1];
        let done = descend(&model, &mut u, 1e-11, 100_000, 3, &Interrupt::new()).expect("valid");
        assert!(done.residual <= 1e-11 && done.sweeps < 100_000);
        u
    }

    #[test]
    fn agrees_with_the_hessian_formed_on_sparse_and_dense_columns() {
        let (values, curvature) = data();
        let mut rows: Vec<Vec<f64>> = values.chunks_exact(N).map(<[f64]>::to_vec).collect();
        rows.push(vec![1.0; N]);
        let product = |a: &[f64], b: &[f64]| -> f64 { (0..N).map(|i| a[i] * b[i] * curvature[i]).sum() };
        let hessian: Vec<f64> =
            rows.iter().flat_map(|a| rows.iter().map(|b| product(a, b)).collect::<Vec<_>>()).collect();
        let q: Vec<f64> =
            rows.iter().map(|a| a.iter().enumerate().map(|(i, x)| x * (i as f64).sin()).sum()).collect();
        let mut l1 = vec![0.4; D + 1];
        l1[D] = 0.0;
        for strength in [0.0, 0.2] {
            let mut l2 = vec![strength; D + 1];
            l2[D] = 0.0;
            let (mut expected, mut gradient) = (vec![0.5; D + 1], q.clone());
            let penalty = Penalty::new(&l1, &l2, D + 1).expect("valid");
            quadratic::descend(
                &hessian,
                penalty,
                &mut expected,
                &mut gradient,
                1e-12,
                100_000,
                &Interrupt::new(),
            )
            .expect("valid");
            assert!(expected.contains(&0.0) && expected[D] != 0.0);
            let dense = solve(&Dense::new(&values, D, N).expect("shape"), &curvature, &q, &l1, &l2);
            let thin = solve(&sparse(&values).rows(), &curvature, &q, &l1, &l2);
            for ((a, b), c) in expected.iter().zip(dense).zip(thin) {
                assert!((a - b).abs() < 1e-7 && (a - c).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn bad_input_and_interrupts_are_named() {
        let (values, curvature) = data();
        let x = Dense::new(&values, D, N).expect("shape");
        let penalty = Penalty::new(&[1.0], &[0.0], 1).expect("valid");
        let stop = Interrupt::new();
        let model = |numbers, curvature| Model { columns: &x, curvature, numbers, penalty, gradient: &[9.0] };
        assert!(descend(&model(&[D + 1], &curvature), &mut [0.0], 0.0, 9, 0, &stop).is_err());
        assert!(descend(&model(&[0], &curvature[1..]), &mut [0.0], 0.0, 9, 0, &stop).is_err());
        assert!(descend(&model(&[0, 1], &curvature), &mut [0.0], 0.0, 9, 0, &stop).is_err());
        stop.set();
        let halted = descend(&model(&[0], &curvature), &mut [0.0], 0.0, 9, 0, &stop);
        assert_eq!(halted, Err(KernelError::Interrupted));
    }
}
