//! Weighted Gram matrices sum_i c_i x_i x_i' of dense rows, for preconditioners and Hessians.
//!
//! Rows are scaled by sqrt(c_i) and packed into panels two packs wide; tiles of the product are summed
//! over a chunk of rows in registers (Goto & van de Geijn 2008). Rows are cut into tasks by shape alone
//! and tasks are added in order, so the result does not depend on the number of threads.

use std::ops::AddAssign;

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, check_not_negative, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::simd::{Lanes, Packed, PackedTask, dispatch_packed};
use crate::threads::try_each;

/// Rows packed at a time: two panels of them fit into the first-level cache.
pub(crate) const CHUNK: usize = 128;
/// Tasks at most; each holds a matrix of its own.
const MAX_TASKS: usize = 4;
/// Values of a pack at most.
const LANES: usize = 16;

struct Part<'a, T> {
    x: Dense<'a, T>,
    /// Row numbers; all rows from `first` on when there are none.
    rows: Option<&'a [i64]>,
    first: usize,
    weights: &'a [T],
    intercept: bool,
    stop: &'a Interrupt,
}

impl<T: Packed> PackedTask<T> for Part<'_, T> {
    /// Upper triangle of panels, `width` columns (whole panels) in each of `width` rows.
    type Output = Result<Vec<T>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<T>>(self) -> Self::Output {
        let panel = 2 * V::COUNT;
        let d = self.x.n_cols();
        let size = d + usize::from(self.intercept);
        let panels = size.div_ceil(panel);
        let width = panels * panel;
        let mut out = zeros(width.saturating_mul(width))?;
        let mut packed = zeros(width.saturating_mul(CHUNK))?;
        let mut scaled = vec![T::ZERO; width];
        for (chunk, weights) in self.weights.chunks(CHUNK).enumerate() {
            self.stop.check()?;
            for (r, &c) in weights.iter().enumerate() {
                let at = chunk * CHUNK + r;
                let row = match self.rows {
                    Some(rows) => rows[at] as usize,
                    None => self.first + at,
                };
                let root = c.sqrt();
                for (s, &x) in scaled.iter_mut().zip(self.x.row(row)) {
                    *s = root * x;
                }
                if self.intercept {
                    scaled[d] = root;
                }
                pack_row(&scaled, r, panel, &mut packed);
            }
            add_products::<T, V>(&packed, weights.len(), panels, &mut out);
        }
        Ok(out)
    }
}

/// Put `row`, whole panels, at place `r` of the `CHUNK` rows that are packed panel by panel.
#[inline(always)]
pub(crate) fn pack_row<T: Copy>(row: &[T], r: usize, panel: usize, packed: &mut [T]) {
    for (p, part) in row.chunks_exact(panel).enumerate() {
        let to = (p * CHUNK + r) * panel;
        packed[to..to + panel].copy_from_slice(part);
    }
}

/// out += packed' packed over the upper triangle of panels, `filled` rows of `CHUNK` packed in each.
#[inline(always)]
pub(crate) fn add_products<T: Packed, V: Lanes<T>>(
    packed: &[T],
    filled: usize,
    panels: usize,
    out: &mut [T],
) {
    let panel = 2 * V::COUNT;
    let width = panels * panel;
    let (length, stride) = (filled * panel, CHUNK * panel);
    for p in 0..panels {
        let left = &packed[p * stride..p * stride + length];
        for q in p..panels {
            let right = &packed[q * stride..q * stride + length];
            let to = &mut out[p * panel * width + q * panel..];
            if V::MANY {
                panel_product::<T, V, 8>(left, right, to, width);
            } else {
                panel_product::<T, V, 2>(left, right, to, width);
            }
        }
    }
}

/// out += left' right for two panels, Q rows of the result at a time.
#[inline(always)]
fn panel_product<T: Packed, V: Lanes<T>, const Q: usize>(
    left: &[T],
    right: &[T],
    out: &mut [T],
    width: usize,
) {
    let panel = 2 * V::COUNT;
    let mut buffer = [T::ZERO; LANES];
    for first in (0..panel).step_by(Q) {
        let mut acc = [[V::splat(T::ZERO); 2]; Q];
        for (left, right) in left.chunks_exact(panel).zip(right.chunks_exact(panel)) {
            let low = V::load(right, 0);
            let high = V::load(right, V::COUNT);
            let left = &left[first..first + Q];
            for q in 0..Q {
                let x = V::splat(left[q]);
                acc[q][0] = x.fma(low, acc[q][0]);
                acc[q][1] = x.fma(high, acc[q][1]);
            }
        }
        for (q, halves) in acc.iter().enumerate() {
            for (half, sums) in halves.iter().enumerate() {
                sums.store(&mut buffer);
                let at = (first + q) * width + half * V::COUNT;
                for (o, &b) in out[at..at + V::COUNT].iter_mut().zip(&buffer) {
                    *o += b;
                }
            }
        }
    }
}

/// sum_i c_i x_i x_i' over the numbered rows (all when `rows` is `None`), row-major and symmetric.
///
/// With `intercept` a column of ones is appended to the data. `weights` holds c_i >= 0 for each row
/// used.
pub fn gram<T: Packed>(
    x: Dense<'_, T>,
    rows: Option<&[i64]>,
    weights: &[T],
    intercept: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<T>, KernelError> {
    let n = rows.map_or(x.n_rows(), <[i64]>::len);
    check_length("weights", weights.len(), n)?;
    check_rows(rows, x.n_rows())?;
    check_not_negative("weights", weights)?;
    let size = x.n_cols() + usize::from(intercept);
    let per = n.div_ceil(MAX_TASKS).max(CHUNK).next_multiple_of(CHUNK);
    let task = |t: usize| {
        let used = t * per..((t + 1) * per).min(n);
        let (rows, weights) = (rows.map(|rows| &rows[used.clone()]), &weights[used.clone()]);
        dispatch_packed(Part { x, rows, first: used.start, weights, intercept, stop })
    };
    let parts = try_each(threads_for(n * size * size / 2, n_threads), 0..n.div_ceil(per), task)?;
    let mut out = zeros(size.saturating_mul(size))?;
    add_parts(&parts, &mut out, size);
    Ok(out)
}

/// Fail unless all `rows` are numbers below `n`.
pub(crate) fn check_rows(rows: Option<&[i64]>, n: usize) -> Result<(), KernelError> {
    let outside = |row: &&i64| usize::try_from(**row).map_or(true, |row| row >= n);
    match rows.and_then(|rows| rows.iter().find(outside)) {
        Some(row) => Err(KernelError::Argument(format!("row {row} is outside 0..{n}"))),
        None => Ok(()),
    }
}

/// Add the upper triangles of the parts, in order, to `out`, of order `size` and zero before; then the lower one.
pub(crate) fn add_parts<T: Copy + AddAssign>(parts: &[Vec<T>], out: &mut [T], size: usize) {
    let width = parts.first().map_or(0, |part| part.len().isqrt());
    for i in 0..size {
        for part in parts {
            for (o, &p) in out[i * size + i..(i + 1) * size].iter_mut().zip(&part[i * width + i..]) {
                *o += p;
            }
        }
    }
    mirror(out, size);
}

/// Copy the upper triangle to the lower one, in squares that stay in cache.
fn mirror<T: Copy>(matrix: &mut [T], size: usize) {
    const SIDE: usize = 32;
    for top in (0..size).step_by(SIDE) {
        for left in (0..=top).step_by(SIDE) {
            for i in top..(top + SIDE).min(size) {
                for j in left..(left + SIDE).min(i) {
                    matrix[i * size + j] = matrix[j * size + i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::gram;
    use crate::data::dense::Dense;
    use crate::interrupt::Interrupt;

    fn plain(x: &[f64], d: usize, rows: &[i64], weights: &[f64], intercept: bool) -> Vec<f64> {
        let size = d + usize::from(intercept);
        let mut out = vec![0.0; size * size];
        for (&r, &c) in rows.iter().zip(weights) {
            let mut row = x[r as usize * d..(r as usize + 1) * d].to_vec();
            if intercept {
                row.push(1.0);
            }
            for i in 0..size {
                for j in 0..size {
                    out[i * size + j] += c * row[i] * row[j];
                }
            }
        }
        out
    }

    #[test]
    fn agrees_with_the_definition_on_any_shape_and_number_of_threads() {
        for (n, d) in [(1, 1), (5, 3), (130, 17), (700, 40), (300, 70)] {
            let x: Vec<f64> = (0..n * d).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect();
            let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
            let weights: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
            let all: Vec<i64> = (0..n as i64).collect();
            for intercept in [false, true] {
                let expected = plain(&x, d, &all, &weights, intercept);
                let view = Dense::new(&x, n, d).expect("shape");
                let one = gram(view, None, &weights, intercept, 1, &Interrupt::new()).expect("valid");
                for n_threads in [2, 3] {
                    let many = gram(view, Some(&all), &weights, intercept, n_threads, &Interrupt::new());
                    assert_eq!(many, Ok(one.clone()));
                }
                assert!(one.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10 * n as f64));
                let narrow: Vec<f32> = weights.iter().map(|&c| c as f32).collect();
                let view = Dense::new(&single, n, d).expect("shape");
                let low = gram(view, None, &narrow, intercept, 2, &Interrupt::new()).expect("valid");
                assert!(low.iter().zip(&expected).all(|(&a, b)| (f64::from(a) - b).abs() < 1e-4 * n as f64));
            }
        }
    }

    #[test]
    fn bad_rows_and_weights_are_named() {
        let view = Dense::new(&[1.0f64, 2.0], 2, 1).expect("shape");
        let stop = Interrupt::new();
        assert!(gram(view, Some(&[2]), &[1.0], false, 1, &stop).is_err());
        assert!(gram(view, Some(&[-1]), &[1.0], false, 1, &stop).is_err());
        assert!(gram(view, None, &[1.0, -1.0], false, 1, &stop).is_err());
        assert!(gram(view, None, &[1.0], false, 1, &stop).is_err());
    }
}
