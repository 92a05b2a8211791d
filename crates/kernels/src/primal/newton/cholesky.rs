//! Symmetric systems by Cholesky factors, for matrices of a few hundred columns.

use crate::real::Real;
use crate::simd::{Task, dispatch};

const LANES: usize = 8;

/// Solve A b = b in place for A symmetric, of which the upper triangle is given; A is overwritten. Returns whether A
/// is positive definite in floating point.
pub(crate) fn solve(a: &mut [f64], size: usize, b: &mut [f64]) -> bool {
    dispatch(Solve { a, size, b })
}

struct Solve<'a> {
    a: &'a mut [f64],
    size: usize,
    b: &'a mut [f64],
}

#[inline(always)]
fn dot<const FMA: bool>(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left.zip(right) {
        for lane in 0..LANES {
            sums[lane] = Real::fma::<FMA>(a[lane], b[lane], sums[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

impl Task for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        let (a, size, b) = (self.a, self.size, self.b);
        for i in 0..size {
            for j in 0..i {
                a[i * size + j] = a[j * size + i];
            }
        }
        for j in 0..size {
            let (done, below) = a.split_at_mut((j + 1) * size);
            let row = &mut done[j * size..j * size + j + 1];
            let pivot = row[j] - dot::<FMA>(&row[..j], &row[..j]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            let root = pivot.sqrt();
            row[j] = root;
            let row = &done[j * size..j * size + j];
            for other in below.chunks_exact_mut(size) {
                other[j] = (other[j] - dot::<FMA>(&other[..j], row)) / root;
            }
        }
        for i in 0..size {
            let row = &a[i * size..i * size + i + 1];
            b[i] = (b[i] - dot::<FMA>(&row[..i], &b[..i])) / row[i];
        }
        for i in (0..size).rev() {
            let row = &a[i * size..i * size + i + 1];
            b[i] /= row[i];
            let (before, from) = b.split_at_mut(i);
            for (b, &l) in before.iter_mut().zip(row) {
                *b -= from[0] * l;
            }
        }
        true
    }
}
