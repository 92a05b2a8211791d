//! Dense row-major input, borrowed from its owner.

use crate::data::rows::{LANES, Rows, axpy_lanes};
use crate::error::{KernelError, check_length};
use crate::real::Real;
use crate::threads::{WORTH_THREADS, try_each};

/// A row-major matrix over borrowed values.
#[derive(Debug, Clone, Copy)]
pub struct Dense<'a, T> {
    values: &'a [T],
    n_rows: usize,
    n_cols: usize,
}

impl<'a, T: Real> Dense<'a, T> {
    /// Take `values` as `n_rows` rows of `n_cols`.
    pub fn new(values: &'a [T], n_rows: usize, n_cols: usize) -> Result<Self, KernelError> {
        check_length("values", values.len(), n_rows.saturating_mul(n_cols))?;
        Ok(Self { values, n_rows, n_cols })
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.values[i * self.n_cols..(i + 1) * self.n_cols]
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// Fail at the first value that is NaN or infinite.
    pub fn check_finite(&self, n_threads: usize) -> Result<(), KernelError> {
        let Some((at, value)) = first_not_finite(self.values, n_threads) else { return Ok(()) };
        Err(KernelError::NotFinite { row: at / self.n_cols, column: at % self.n_cols, value })
    }
}

/// Position and name of the first value that is NaN or infinite.
pub(crate) fn first_not_finite<T: Real>(values: &[T], n_threads: usize) -> Option<(usize, &'static str)> {
    const BLOCK: usize = 1 << 14;
    // A sum of products with zero is NaN exactly when some value is not finite; it vectorizes.
    let clean = |(block, values): (usize, &[T])| {
        let mut lanes = [T::ZERO; LANES];
        let mut chunks = values.chunks_exact(LANES);
        for chunk in &mut chunks {
            for (sum, &v) in lanes.iter_mut().zip(chunk) {
                *sum += v * T::ZERO;
            }
        }
        let rest: T = chunks.remainder().iter().map(|&v| v * T::ZERO).sum();
        if (lanes.iter().copied().sum::<T>() + rest).is_nan() { Err(block) } else { Ok(()) }
    };
    let n_threads = if values.len() < WORTH_THREADS { 1 } else { n_threads };
    let block = try_each(n_threads, values.chunks(BLOCK).enumerate(), clean).err()?;
    let at = block * BLOCK + values[block * BLOCK..].iter().position(|v| !v.is_finite())?;
    Some((at, if values[at].is_nan() { "NaN" } else { "infinity" }))
}

impl<T: Real> Rows<T> for Dense<'_, T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn n_stored(&self) -> usize {
        self.values.len()
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.row(i).iter().map(|v| v.to_f64() * v.to_f64()).sum()
    }

    #[inline(always)]
    fn each(&self, i: usize, mut visit: impl FnMut(usize, T)) {
        self.row(i).iter().enumerate().for_each(|(j, &v)| visit(j, v));
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        dot::<T, T, FMA>(self.row(i), w)
    }

    #[inline(always)]
    fn double_dot<const FMA: bool>(&self, i: usize, w: &[T]) -> f64 {
        dot::<T, f64, FMA>(self.row(i), w)
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        for (w, &x) in w.iter_mut().zip(self.row(i)) {
            *w = a.fma::<FMA>(x, *w);
        }
    }

    #[inline(always)]
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]) {
        for ((w, &x), &s) in w.iter_mut().zip(self.row(i)).zip(scale) {
            *w = (a * s).fma::<FMA>(x, *w);
        }
    }

    #[inline(always)]
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64 {
        self.row(i).iter().zip(scale).map(|(x, s)| x.to_f64() * x.to_f64() * s.to_f64()).sum()
    }

    #[inline(always)]
    fn dot_many<A: Real, const FMA: bool>(&self, i: usize, w: &[T], out: &mut [A]) {
        let k = out.len();
        let row = self.row(i);
        let mut done = 0;
        while done < k {
            let rest = &mut out[done..];
            done += match rest.len() / LANES {
                0 => dot_tail::<T, A, FMA>(row, w, k, done, rest),
                1 => dot_block::<T, A, FMA, 1>(row, w, k, done, rest),
                2 | 3 => dot_block::<T, A, FMA, 2>(row, w, k, done, rest),
                _ => dot_block::<T, A, FMA, 4>(row, w, k, done, rest),
            };
        }
    }

    #[inline(always)]
    fn add_to_many<A: Real, const FMA: bool>(&self, i: usize, a: &[A], w: &mut [A]) {
        for (x, w) in self.row(i).iter().zip(w.chunks_exact_mut(a.len())) {
            let x: A = x.cast();
            for (w, &a) in w.iter_mut().zip(a) {
                *w = x.fma::<FMA>(a, *w);
            }
        }
    }

    #[inline(always)]
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize) {
        for (&x, w) in self.row(i).iter().zip(w.chunks_exact_mut(k)) {
            w[column] = a.fma::<FMA>(x, w[column]);
        }
    }
}

/// <x, w>, summed in `A`.
#[inline(always)]
fn dot<T: Real, A: Real, const FMA: bool>(row: &[T], w: &[T]) -> A {
    let w = &w[..row.len()];
    let mut acc = [[A::ZERO; LANES]; 4];
    let mut x = row.chunks_exact(4 * LANES);
    let mut v = w.chunks_exact(4 * LANES);
    for (x, v) in (&mut x).zip(&mut v) {
        for (b, lane) in acc.iter_mut().enumerate() {
            for (l, a) in lane.iter_mut().enumerate() {
                *a = x[b * LANES + l].cast::<A>().fma::<FMA>(v[b * LANES + l].cast(), *a);
            }
        }
    }
    let mut sum = A::ZERO;
    for (((&a, &b), &c), &d) in acc[0].iter().zip(&acc[1]).zip(&acc[2]).zip(&acc[3]) {
        sum += (a + b) + (c + d);
    }
    for (&x, &v) in x.remainder().iter().zip(v.remainder()) {
        sum = x.cast::<A>().fma::<FMA>(v.cast(), sum);
    }
    sum
}

/// Scores `done .. done + N * LANES` of one row, kept in registers.
#[inline(always)]
fn dot_block<T: Real, A: Real, const FMA: bool, const N: usize>(
    row: &[T],
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [A],
) -> usize {
    let mut acc = [[A::ZERO; LANES]; N];
    for (&x, w) in row.iter().zip(w.chunks_exact(k)) {
        axpy_lanes::<T, A, FMA, N>(&mut acc, x, &w[done..done + N * LANES]);
    }
    for (out, lane) in out.chunks_exact_mut(LANES).zip(&acc) {
        out.copy_from_slice(lane);
    }
    N * LANES
}

/// The last scores of one row, fewer than a lane.
#[inline(always)]
fn dot_tail<T: Real, A: Real, const FMA: bool>(
    row: &[T],
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [A],
) -> usize {
    let n = out.len();
    let mut acc = [A::ZERO; LANES];
    for (x, w) in row.iter().zip(w.chunks_exact(k)) {
        let x: A = x.cast();
        for (a, &w) in acc.iter_mut().zip(&w[done..]) {
            *a = x.fma::<FMA>(w.cast(), *a);
        }
    }
    out.copy_from_slice(&acc[..n]);
    n
}

#[cfg(test)]
mod tests {
    use super::Dense;
    use crate::data::rows::Rows;
    use crate::error::KernelError;

    #[test]
    fn products_with_one_and_many_scores() {
        let values: Vec<f64> = (0..35).map(f64::from).collect();
        let x = Dense::new(&values, 1, 35).expect("shape");
        for k in [1, 3, 7, 8, 9, 24, 33, 45] {
            let w: Vec<f64> = (0..35 * k).map(|v| (v % 7) as f64).collect();
            let mut out = vec![0.0; k];
            x.dot_many::<_, false>(0, &w, &mut out);
            let expected: Vec<f64> =
                (0..k).map(|c| (0..35).map(|j| values[j] * w[j * k + c]).sum()).collect();
            assert_eq!(out, expected);
            let mut sum = vec![1.0; 35 * k];
            x.add_to_many::<_, false>(0, &out, &mut sum);
            assert!((0..35 * k).all(|at| sum[at] == 1.0 + values[at / k] * out[at % k]));
        }
        assert_eq!(x.dot::<false>(0, &values), values.iter().map(|v| v * v).sum::<f64>());
    }

    #[test]
    fn a_value_that_is_not_finite_is_named() {
        let mut values = vec![0.0f32; 6];
        values[5] = f32::INFINITY;
        let x = Dense::new(&values, 2, 3).expect("shape");
        assert_eq!(x.check_finite(1), Err(KernelError::NotFinite { row: 1, column: 2, value: "infinity" }));
        assert!(Dense::new(&values, 2, 2).is_err());
    }
}
