//! Products with the data in double precision, whatever the data are stored in: what certificates are made of.
//!
//! Problem: S = X W + 1 b' and X' R for f32 or f64 rows, with weights, residuals and all sums in f64. Rows are cut
//! by shape alone and partial sums are added in order, so that results do not depend on the number of threads. The
//! adjoint adds up row by row and needs no transpose of sparse data.

use std::marker::PhantomData;

use crate::batch::threads_for;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::{Task, dispatch};
use crate::threads::try_each;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 256;
/// Parts of the rows whose sums of an adjoint are kept apart: as many threads can share it.
const PARTS: usize = 2;

/// A block of rows whose products are written to, or added to, `out`.
struct Block<'a, T, X> {
    x: &'a X,
    /// Weights (d x k), or residuals (one row of k for each row of the block).
    values: &'a [f64],
    first: usize,
    n_rows: usize,
    k: usize,
    out: &'a mut [f64],
    transposed: bool,
    of: PhantomData<T>,
}

impl<T: Real, X: Rows<T>> Task for Block<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { x, values, first, n_rows, k, out, transposed, .. } = self;
        let last = x.n_rows().saturating_sub(1);
        for r in 0..n_rows {
            let i = first + r;
            x.prefetch((i + 1).min(last));
            match (transposed, k) {
                (false, 1) => {
                    let mut sum = 0.0;
                    x.each(i, |j, v| sum += v.to_f64() * values.get(j).copied().unwrap_or(f64::NAN));
                    out[r] = sum;
                }
                (true, 1) => {
                    let a = values[r];
                    if a != 0.0 {
                        x.each(i, |j, v| {
                            if let Some(sum) = out.get_mut(j) {
                                *sum += a * v.to_f64();
                            }
                        });
                    }
                }
                (false, _) => {
                    let out = &mut out[r * k..][..k];
                    x.each(i, |j, v| add::<FMA>(v.to_f64(), values.get(j * k..).unwrap_or(&[]), out));
                }
                (true, _) => {
                    let residual = &values[r * k..][..k];
                    x.each(i, |j, v| {
                        add::<FMA>(v.to_f64(), residual, out.get_mut(j * k..).unwrap_or_default());
                    });
                }
            }
        }
    }
}

/// out += v w, as far as both go.
#[inline(always)]
fn add<const FMA: bool>(v: f64, w: &[f64], out: &mut [f64]) {
    for (o, &w) in out.iter_mut().zip(w) {
        *o = v.fma::<FMA>(w, *o);
    }
}

/// S = X W + 1 b' for feature-major `w` of `k` scores (n x k); `w` holds `n_cols * k` weights, followed by `k`
/// intercepts or by nothing.
pub fn scores<T: Real, X: Rows<T>>(
    x: &X,
    w: &[f64],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let weights = x.n_cols() * k.max(1);
    if w.len() != weights {
        check_length("weights", w.len(), weights + k.max(1))?;
    }
    let (w, intercepts) = w.split_at(weights);
    let mut out: Vec<f64> = zeros(x.n_rows().saturating_mul(k))?;
    let n_threads = threads_for(x.n_stored() * k, n_threads);
    try_each(n_threads, out.chunks_mut(BLOCK * k.max(1)).enumerate(), |(b, out)| {
        stop.check()?;
        let (first, n_rows, transposed) = (b * BLOCK, out.len() / k.max(1), false);
        dispatch(Block { x, values: w, first, n_rows, k, out, transposed, of: PhantomData });
        for out in out.chunks_exact_mut(k) {
            for (o, &b) in out.iter_mut().zip(intercepts) {
                *o += b;
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// X' R (d x k) for residuals R (n x k).
pub fn adjoint<T: Real, X: Rows<T>>(
    x: &X,
    residuals: &[f64],
    k: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    check_length("residuals", residuals.len(), x.n_rows() * k)?;
    let size = x.n_rows().div_ceil(PARTS).max(1);
    let parts = residuals.chunks(size * k.max(1)).enumerate();
    let mut sums = try_each(threads_for(x.n_stored() * k, n_threads), parts, |(part, residuals)| {
        let mut sum: Vec<f64> = zeros(x.n_cols().saturating_mul(k))?;
        for (b, values) in residuals.chunks(BLOCK * k.max(1)).enumerate() {
            stop.check()?;
            let (first, n_rows) = (part * size + b * BLOCK, values.len() / k.max(1));
            let out = &mut sum[..];
            dispatch(Block { x, values, first, n_rows, k, out, transposed: true, of: PhantomData });
        }
        Ok::<_, KernelError>(sum)
    })?;
    let rest = sums.split_off(1.min(sums.len()));
    let mut total = sums.pop().map_or_else(|| zeros(x.n_cols().saturating_mul(k)), Ok)?;
    for part in rest {
        for (t, p) in total.iter_mut().zip(part) {
            *t += p;
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::{adjoint, scores};
    use crate::dense::Dense;
    use crate::interrupt::Interrupt;

    #[test]
    fn products_agree_with_sums_by_hand() {
        let values = [1.0f32, 2.0, -3.0, 0.5, 4.0, 1.0];
        let x = Dense::new(&values, 3, 2).expect("shape");
        let stop = Interrupt::new();
        for threads in [1, 2] {
            let s = scores(&x, &[1.0, 10.0, 2.0, 20.0, 0.5, 5.0], 2, threads, &stop).expect("scores");
            assert_eq!(s, [5.5, 55.0, -1.5, -15.0, 6.5, 65.0]);
            let one = scores(&x, &[1.0, 2.0], 1, threads, &stop).expect("scores");
            assert_eq!(one, [5.0, -2.0, 6.0]);
            let a = adjoint(&x, &[1.0, 0.0, 2.0, 1.0, 0.0, -1.0], 2, threads, &stop).expect("adjoint");
            assert_eq!(a, [-5.0, -7.0, 3.0, -0.5]);
            assert_eq!(adjoint(&x, &[1.0, 1.0, 0.0], 1, threads, &stop).expect("adjoint"), [-2.0, 2.5]);
        }
    }
}
