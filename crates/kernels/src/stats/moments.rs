//! Moments of a regression in one pass: the Gram matrix of the rows (x_i - a, y_i - b, 1) with weights c_i.
//!
//! Any (a, b) near the means will do: with them the centered matrix follows as G - W d d', d the small means
//! that are left, and no digits are lost to means that are large beside the spread. Sums are in double
//! precision whatever the data; a value that is not finite shows on the diagonal. Rows are packed and
//! multiplied as in [`crate::primal::gram`]; tasks are cut by shape alone and added in order, so the result does not
//! depend on the number of threads.

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, check_not_negative, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::primal::gram::{CHUNK, add_parts, add_products, pack_row};
use crate::real::Real;
use crate::simd::{Lanes, PackedTask, dispatch_packed};
use crate::stats::tuning::MOMENT_TASKS;
use crate::threads::try_each;

struct Part<'a, T> {
    x: Dense<'a, T>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    shift: &'a [f64],
    rows: std::ops::Range<usize>,
    stop: &'a Interrupt,
}

impl<T: Real> PackedTask<f64> for Part<'_, T> {
    /// Upper triangle of panels, `width` columns (whole panels) in each of `width` rows.
    type Output = Result<Vec<f64>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<f64>>(self) -> Self::Output {
        let panel = 2 * V::COUNT;
        let d = self.x.n_cols();
        let panels = (d + 2).div_ceil(panel);
        let width = panels * panel;
        let mut out = zeros(width.saturating_mul(width))?;
        let mut packed = zeros(width.saturating_mul(CHUNK))?;
        let mut scaled = vec![0.0; width];
        let (shift_x, shift_y) = (&self.shift[..d], self.shift[d]);
        for first in self.rows.clone().step_by(CHUNK) {
            self.stop.check()?;
            let last = (first + CHUNK).min(self.rows.end);
            for i in first..last {
                let root = self.weights.map_or(1.0, |c| c[i].sqrt());
                for ((s, &x), &a) in scaled.iter_mut().zip(self.x.row(i)).zip(shift_x) {
                    *s = root * (x.to_f64() - a);
                }
                scaled[d] = root * (self.y[i] - shift_y);
                scaled[d + 1] = root;
                pack_row(&scaled, i - first, panel, &mut packed);
            }
            add_products::<f64, V>(&packed, last - first, panels, &mut out);
        }
        Ok(out)
    }
}

/// sum_i c_i z_i z_i' with z_i = (x_i - a, y_i - b, 1): symmetric, of order d + 2, row-major.
///
/// `shift` holds a and then b; `weights` holds c_i >= 0, all of them one when there are none.
pub fn moments<T: Real>(
    x: Dense<'_, T>,
    y: &[f64],
    weights: Option<&[f64]>,
    shift: &[f64],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let (n, size) = (x.n_rows(), x.n_cols() + 2);
    check_length("y", y.len(), n)?;
    check_length("shift", shift.len(), size - 1)?;
    if let Some(weights) = weights {
        check_length("weights", weights.len(), n)?;
        check_not_negative("weights", weights)?;
    }
    let per = n.div_ceil(MOMENT_TASKS).max(CHUNK).next_multiple_of(CHUNK);
    let task = |t: usize| {
        let rows = t * per..((t + 1) * per).min(n);
        dispatch_packed(Part { x, y, weights, shift, rows, stop })
    };
    let parts = try_each(threads_for(n * size * size / 2, n_threads), 0..n.div_ceil(per), task)?;
    let mut out = zeros(size.saturating_mul(size))?;
    add_parts(&parts, &mut out, size);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::moments;
    use crate::data::dense::Dense;
    use crate::interrupt::Interrupt;

    #[test]
    fn agrees_with_the_definition_on_any_shape_and_number_of_threads() {
        for (n, d) in [(1, 1), (5, 3), (130, 14), (1100, 40)] {
            let x: Vec<f64> = (0..n * d).map(|i| ((i * 7919) % 101) as f64 / 64.0 - 1.0).collect();
            let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
            let y: Vec<f64> = (0..n).map(|i| ((i * 31) % 17) as f64).collect();
            let c: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
            let shift: Vec<f64> = (0..=d).map(|j| j as f64 / 8.0).collect();
            for weights in [None, Some(c.as_slice())] {
                let size = d + 2;
                let mut expected = vec![0.0; size * size];
                for i in 0..n {
                    let mut z: Vec<f64> = (0..d).map(|j| x[i * d + j] - shift[j]).collect();
                    z.extend([y[i] - shift[d], 1.0]);
                    for (a, row) in z.iter().zip(expected.chunks_exact_mut(size)) {
                        for (e, b) in row.iter_mut().zip(&z) {
                            *e += weights.map_or(1.0, |c| c[i]) * a * b;
                        }
                    }
                }
                let view = Dense::new(&x, n, d).expect("shape");
                let one = moments(view, &y, weights, &shift, 1, &Interrupt::new()).expect("valid");
                assert!(one.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10 * n as f64));
                for n_threads in [2, 3] {
                    let many = moments(view, &y, weights, &shift, n_threads, &Interrupt::new());
                    assert_eq!(many, Ok(one.clone()));
                }
                // These numbers are exact in single precision, so nothing may be lost.
                let view = Dense::new(&single, n, d).expect("shape");
                assert_eq!(moments(view, &y, weights, &shift, 2, &Interrupt::new()), Ok(one));
            }
        }
    }

    #[test]
    fn bad_lengths_and_weights_are_named_and_values_that_are_not_finite_show() {
        let view = Dense::new(&[1.0f64, 2.0], 2, 1).expect("shape");
        let stop = Interrupt::new();
        assert!(moments(view, &[0.0], None, &[0.0, 0.0], 1, &stop).is_err());
        assert!(moments(view, &[0.0, 0.0], None, &[0.0], 1, &stop).is_err());
        assert!(moments(view, &[0.0, 0.0], Some(&[1.0]), &[0.0, 0.0], 1, &stop).is_err());
        assert!(moments(view, &[0.0, 0.0], Some(&[1.0, -1.0]), &[0.0, 0.0], 1, &stop).is_err());
        let out = moments(view, &[0.0, f64::NAN], None, &[0.0, 0.0], 1, &stop).expect("valid");
        assert!(out[4].is_nan() && out[0].is_finite());
    }
}
