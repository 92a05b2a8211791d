//! Symmetric systems by Cholesky factors, for matrices of a few hundred columns.

use crate::primal::newton::pass::products;
use crate::real::Real;
use crate::simd::{Lanes, PackedTask, dispatch_packed};

const LANES: usize = 8;
/// Columns that earlier ones are subtracted from together, in products of two rows with two: whole packs.
const PANEL: usize = 16;

/// Solve A b = b in place for A symmetric, of which the upper triangle is given; A is overwritten. Returns whether A
/// is positive definite in floating point.
pub(crate) fn solve(a: &mut [f64], size: usize, b: &mut [f64]) -> bool {
    dispatch_packed(Solve { a, size, b })
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

impl PackedTask<f64> for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<f64>>(self) -> bool {
        let (a, size, b) = (self.a, self.size, self.b);
        for i in 0..size {
            for j in 0..i {
                a[i * size + j] = a[j * size + i];
            }
        }
        for first in (0..size).step_by(PANEL) {
            let last = (first + PANEL).min(size);
            if first > 0 {
                subtract::<V>(a, size, first, last);
            }
            for j in first..last {
                let (done, below) = a.split_at_mut((j + 1) * size);
                let row = &mut done[j * size + first..j * size + j + 1];
                let (before, pivot) = row.split_at_mut(j - first);
                let square = pivot[0] - dot::<FMA>(before, before);
                if !(square > 0.0 && square.is_finite()) {
                    return false;
                }
                pivot[0] = square.sqrt();
                for other in below.chunks_exact_mut(size) {
                    other[j] = (other[j] - dot::<FMA>(&other[first..j], before)) / pivot[0];
                }
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

/// Subtract from the columns `first..last`, at and below the diagonal, what the columns before them account for.
#[inline(always)]
fn subtract<V: Lanes<f64>>(a: &mut [f64], size: usize, first: usize, last: usize) {
    for i in (first..size).step_by(2) {
        for j in (first..last.min(i + 2)).step_by(2) {
            let mut found = [[0.0; 2]; 2];
            let mut keep = |r: usize, c: usize, product: f64| found[r][c] = product;
            let (left, right) = (&a[i * size..], &a[j * size..]);
            match (i + 1 < size, j + 1 < last) {
                (true, true) => products::<V, 2, 2>(left, right, size, first, &mut keep),
                (true, false) => products::<V, 2, 1>(left, right, size, first, &mut keep),
                (false, true) => products::<V, 1, 2>(left, right, size, first, &mut keep),
                (false, false) => products::<V, 1, 1>(left, right, size, first, &mut keep),
            }
            for (r, found) in found.iter().enumerate().take(size - i) {
                for (c, product) in found.iter().enumerate().take(last - j) {
                    a[(i + r) * size + j + c] -= product;
                }
            }
        }
    }
}
