//! Curvature of losses over labels: sum_i M_i (x) x_i x_i' with M_i = diag(D_i) - D_i D_i' / sum_k D_ik.
//!
//! The Hessian of the softmax likelihood (D = c p) and the normal matrix of an interior-point method
//! for the generalized hinge (D = alpha / mu) have this form. M_i is the Laplacian of a graph over the
//! labels, sum over k < l of (D_ik D_il / sum D_i) (e_k - e_l)(e_k - e_l)', so every pair of labels needs
//! one Gram matrix of the rows in which both weights are positive: rows with few labels cost little,
//! and the blocks on the diagonal are sums of positive terms, free of cancellation.
//!
//! Invariant: pairs are summed each by itself, in the order of the rows, and put together in a fixed
//! order, so the result does not depend on the number of threads.

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, check_not_negative, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::primal::gram::{CHUNK, add_products, check_rows, pack_row};
use crate::real::Real;
use crate::simd::{Lanes, PackedTask, dispatch_packed};
use crate::threads::try_each;

/// Pairs of labels are cut into so many tasks at most, each with buffers of its own.
const MAX_TASKS: usize = 8;

struct Pairs<'a, T> {
    x: Dense<'a, T>,
    rows: Option<&'a [i64]>,
    weights: &'a [f64],
    totals: &'a [f64],
    n_labels: usize,
    pairs: &'a [(usize, usize)],
    intercept: bool,
    stop: &'a Interrupt,
}

impl<T: Real> PackedTask<f64> for Pairs<'_, T> {
    /// A Gram matrix per pair, symmetric, `size` columns in each of `size` rows; empty where no row has
    /// both labels.
    type Output = Result<Vec<Vec<f64>>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<f64>>(self) -> Self::Output {
        let panel = 2 * V::COUNT;
        let d = self.x.n_cols();
        let size = d + usize::from(self.intercept);
        let panels = size.div_ceil(panel);
        let width = panels * panel;
        let mut out = zeros(width.saturating_mul(width))?;
        let mut packed = zeros(width.saturating_mul(CHUNK))?;
        let mut scaled = vec![0.0; width];
        let mut results = Vec::with_capacity(self.pairs.len());
        for &(k, l) in self.pairs {
            self.stop.check()?;
            let (mut filled, mut any) = (0, false);
            for (at, (weights, &total)) in
                self.weights.chunks_exact(self.n_labels).zip(self.totals).enumerate()
            {
                if weights[k] == 0.0 || weights[l] == 0.0 {
                    continue;
                }
                let root = (weights[k] / total * weights[l]).sqrt();
                let row = self.rows.map_or(at, |rows| rows[at] as usize);
                for (s, &x) in scaled.iter_mut().zip(self.x.row(row)) {
                    *s = root * x.to_f64();
                }
                if self.intercept {
                    scaled[d] = root;
                }
                pack_row(&scaled, filled, panel, &mut packed);
                filled += 1;
                if filled == CHUNK {
                    self.stop.check()?;
                    add_products::<f64, V>(&packed, filled, panels, &mut out);
                    (filled, any) = (0, true);
                }
            }
            if !any && filled == 0 {
                results.push(Vec::new());
                continue;
            }
            add_products::<f64, V>(&packed, filled, panels, &mut out);
            let mut result = zeros(size.saturating_mul(size))?;
            for i in 0..size {
                for j in i..size {
                    result[i * size + j] = out[i * width + j];
                    result[j * size + i] = out[i * width + j];
                }
            }
            out.fill(0.0);
            results.push(result);
        }
        Ok(results)
    }
}

/// sum_i M_i (x) x_i x_i' over the numbered rows (all when `rows` is `None`): symmetric, of order k s, label
/// by label, s the number of columns and the intercept.
///
/// `weights` holds D_ik >= 0 of the rows used, K = `n_labels` a row; sums are in double precision. The blocks
/// of the first k = `kept` labels are returned: M_i does not see a shift of all labels together, so that one
/// of them may be held fixed.
pub fn label_gram<T: Real>(
    x: Dense<'_, T>,
    rows: Option<&[i64]>,
    weights: &[f64],
    (n_labels, kept): (usize, usize),
    intercept: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    let n = rows.map_or(x.n_rows(), <[i64]>::len);
    check_length("weights", weights.len(), n * n_labels)?;
    check_rows(rows, x.n_rows())?;
    if kept > n_labels {
        return Err(KernelError::Argument(format!("{kept} labels are kept of {n_labels}")));
    }
    check_not_negative("weights", weights)?;
    let mut used = 0;
    let mut totals = Vec::with_capacity(n);
    for weights in weights.chunks_exact(n_labels.max(1)) {
        let positive = weights.iter().filter(|&&c| c > 0.0).count();
        used += positive * positive.saturating_sub(1) / 2;
        totals.push(weights.iter().sum());
    }
    let pairs: Vec<(usize, usize)> =
        (0..n_labels).flat_map(|k| (k + 1..n_labels).map(move |l| (k, l))).collect();
    let size = x.n_cols() + usize::from(intercept);
    let cut = pairs.chunks(pairs.len().div_ceil(MAX_TASKS).max(1));
    let task = |pairs: &[(usize, usize)]| {
        dispatch_packed(Pairs { x, rows, weights, totals: &totals, n_labels, pairs, intercept, stop })
    };
    let parts = try_each(threads_for(used * size * size / 2, n_threads), cut, task)?;
    let order = kept * size;
    let mut out = zeros(order.saturating_mul(order))?;
    for (&(k, l), part) in pairs.iter().zip(parts.iter().flatten()) {
        for (i, line) in part.chunks_exact(size.max(1)).enumerate() {
            for (row, column, sign) in [(k, k, 1.0), (l, l, 1.0), (k, l, -1.0), (l, k, -1.0)] {
                if row < kept && column < kept {
                    let at = (row * size + i) * order + column * size;
                    for (o, g) in out[at..at + size].iter_mut().zip(line) {
                        *o += sign * g;
                    }
                }
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::label_gram;
    use crate::data::dense::Dense;
    use crate::interrupt::Interrupt;

    fn plain(x: &[f64], d: usize, rows: &[i64], weights: &[f64], labels: usize, intercept: bool) -> Vec<f64> {
        let size = d + usize::from(intercept);
        let order = labels * size;
        let mut out = vec![0.0; order * order];
        for (&r, weights) in rows.iter().zip(weights.chunks_exact(labels)) {
            let mut row = x[r as usize * d..(r as usize + 1) * d].to_vec();
            if intercept {
                row.push(1.0);
            }
            let total: f64 = weights.iter().sum();
            if total == 0.0 {
                continue;
            }
            for k in 0..labels {
                for l in 0..labels {
                    let same = if k == l { weights[k] } else { 0.0 };
                    let m = same - weights[k] * weights[l] / total;
                    for i in 0..size {
                        for j in 0..size {
                            out[(k * size + i) * order + l * size + j] += m * row[i] * row[j];
                        }
                    }
                }
            }
        }
        out
    }

    #[test]
    fn agrees_with_the_definition_on_any_shape_and_number_of_threads() {
        for (n, d, labels) in [(1, 1, 2), (5, 3, 3), (130, 17, 4), (400, 40, 3), (300, 5, 10)] {
            let x: Vec<f64> = (0..n * d).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect();
            let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
            let weights: Vec<f64> = (0..n * labels).map(|i| ((i * 31) % 7 % 4) as f64).collect();
            let all: Vec<i64> = (0..n as i64).collect();
            for intercept in [false, true] {
                let expected = plain(&x, d, &all, &weights, labels, intercept);
                let view = Dense::new(&x, n, d).expect("shape");
                let stop = Interrupt::new();
                let one =
                    label_gram(view, None, &weights, (labels, labels), intercept, 1, &stop).expect("valid");
                for n_threads in [2, 3] {
                    let many =
                        label_gram(view, Some(&all), &weights, (labels, labels), intercept, n_threads, &stop);
                    assert_eq!(many, Ok(one.clone()));
                }
                assert!(one.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10 * n as f64));
                let order = labels * (d + usize::from(intercept));
                let kept = order / labels * (labels - 1);
                let less = label_gram(view, None, &weights, (labels, labels - 1), intercept, 1, &stop);
                let cut = one.chunks_exact(order).take(kept).flat_map(|row| &row[..kept]);
                assert_eq!(less, Ok(cut.copied().collect::<Vec<_>>()));
                let view = Dense::new(&single, n, d).expect("shape");
                let low =
                    label_gram(view, None, &weights, (labels, labels), intercept, 2, &stop).expect("valid");
                assert!(low.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4 * n as f64));
            }
        }
    }

    #[test]
    fn bad_rows_and_weights_are_named() {
        let view = Dense::new(&[1.0f64, 2.0], 2, 1).expect("shape");
        let stop = Interrupt::new();
        assert!(label_gram(view, Some(&[2]), &[1.0, 1.0], (2, 2), false, 1, &stop).is_err());
        assert!(label_gram(view, None, &[1.0, -1.0, 1.0, 1.0], (2, 2), false, 1, &stop).is_err());
        assert!(label_gram(view, None, &[1.0, f64::NAN, 1.0, 1.0], (2, 2), false, 1, &stop).is_err());
        assert!(label_gram(view, None, &[1.0; 4], (2, 3), false, 1, &stop).is_err());
        assert!(label_gram(view, None, &[1.0], (2, 2), false, 1, &stop).is_err());
    }
}
