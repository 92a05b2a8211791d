//! Means and scatters of classes: sum_i c_i (x_i - m_y)(x_i - m_y)' over dense rows, m_y the mean of the row's class.
//!
//! Rows are centered before they are multiplied, so that nothing cancels; products are summed in the data's
//! precision over a few thousand rows and then in `f64`. The means used for centering are rounded to that
//! precision, and what this changes is taken back in the end (Chan, Golub & LeVeque 1983). Rows are cut into tasks by
//! shape and labels alone and tasks are added in order: the result does not depend on the number of threads.

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::primal::gram::{CHUNK, add_parts, add_products, pack_row};
use crate::simd::{Lanes, Packed, PackedTask, Task, dispatch, dispatch_packed};
use crate::stats::count::check_labels;
use crate::stats::tuning::{FLUSH, MOST_PARTS, MOST_TASKS};
use crate::threads::try_each;

/// What was seen of K classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// Weight of the rows of every class.
    pub count: Vec<f64>,
    /// Their means, K x d; zero for a class without rows.
    pub mean: Vec<f64>,
    /// d x d matrices: one, of all classes together, or one per class.
    pub scatter: Vec<f64>,
}

/// Rows with their classes and weights.
#[derive(Clone, Copy)]
struct Labeled<'a, T> {
    x: Dense<'a, T>,
    targets: &'a [i64],
    weights: Option<&'a [f64]>,
}

impl<T> Labeled<'_, T> {
    #[inline(always)]
    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }
}

struct Sums<'a, T> {
    data: Labeled<'a, T>,
    first: usize,
    end: usize,
    n_classes: usize,
    stop: &'a Interrupt,
}

impl<T: Packed> Task for Sums<'_, T> {
    /// Weights of the classes, and sums of their rows.
    type Output = Result<(Vec<f64>, Vec<f64>), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let d = self.data.x.n_cols();
        let (mut count, mut sums) = (zeros(self.n_classes)?, zeros(self.n_classes.saturating_mul(d))?);
        for i in self.first..self.end {
            if i % CHUNK == 0 {
                self.stop.check()?;
            }
            let (class, weight) = (self.data.targets[i] as usize, self.data.weight(i));
            count[class] += weight;
            for (sum, x) in sums[class * d..(class + 1) * d].iter_mut().zip(self.data.x.row(i)) {
                *sum += weight * x.to_f64();
            }
        }
        Ok((count, sums))
    }
}

struct Products<'a, T> {
    data: Labeled<'a, T>,
    /// Row numbers.
    rows: &'a [usize],
    /// K x d.
    centers: &'a [T],
    stop: &'a Interrupt,
}

impl<T: Packed> PackedTask<T> for Products<'_, T> {
    /// Upper triangle of panels, `width` columns (whole panels) in each of `width` rows.
    type Output = Result<Vec<f64>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<T>>(self) -> Self::Output {
        let panel = 2 * V::COUNT;
        let d = self.data.x.n_cols();
        let panels = d.div_ceil(panel);
        let width = panels * panel;
        let square = width.saturating_mul(width);
        let (mut out, mut near) = (zeros::<f64>(square)?, zeros::<T>(square)?);
        let mut packed = zeros(width.saturating_mul(CHUNK))?;
        let mut scaled = vec![T::ZERO; width];
        let chunks = self.rows.len().div_ceil(CHUNK);
        for (number, rows) in self.rows.chunks(CHUNK).enumerate() {
            self.stop.check()?;
            for (r, &i) in rows.iter().enumerate() {
                let center = &self.centers[self.data.targets[i] as usize * d..][..d];
                let root = T::from_f64(self.data.weight(i).sqrt());
                for ((s, &x), &m) in scaled.iter_mut().zip(self.data.x.row(i)).zip(center) {
                    *s = root * (x - m);
                }
                pack_row(&scaled, r, panel, &mut packed);
            }
            add_products::<T, V>(&packed, rows.len(), panels, &mut near);
            if (number + 1) % FLUSH == 0 || number + 1 == chunks {
                for (o, n) in out.iter_mut().zip(&mut near) {
                    *o += n.to_f64();
                    *n = T::ZERO;
                }
            }
        }
        Ok(out)
    }
}

/// Means of the classes, and scatters around them: one of all together (`pooled`), or one per class.
pub fn class_scatter<T: Packed>(
    x: Dense<'_, T>,
    targets: &[i64],
    weights: Option<&[f64]>,
    n_classes: usize,
    pooled: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Scatter, KernelError> {
    let (n, d) = (x.n_rows(), x.n_cols());
    check_labels(targets, weights, n, n_classes)?;
    let groups = if pooled { 1 } else { n_classes };
    zeros::<f64>(groups.saturating_mul(d).saturating_mul(d))?; // fail in words where there is no memory
    let data = Labeled { x, targets, weights };
    let (count, mean) = means(data, n_classes, n_threads, stop)?;
    let centers: Vec<T> = mean.iter().map(|&m| T::from_f64(m)).collect();
    let mut rows: Vec<usize> = (0..n).filter(|&i| data.weight(i) > 0.0).collect();
    if !pooled {
        rows.sort_by_key(|&i| targets[i]);
    }
    let mut scatter = zeros(groups.saturating_mul(d).saturating_mul(d))?;
    for (k, out) in scatter.chunks_exact_mut((d * d).max(1)).enumerate() {
        let from = if pooled { 0 } else { rows.partition_point(|&i| (targets[i] as usize) < k) };
        let to = if pooled { rows.len() } else { rows.partition_point(|&i| (targets[i] as usize) <= k) };
        products(data, &rows[from..to], &centers, out, n_threads, stop)?;
        let classes = if pooled { 0..n_classes } else { k..k + 1 };
        for class in classes {
            let rounding: Vec<f64> =
                (class * d..(class + 1) * d).map(|at| mean[at] - centers[at].to_f64()).collect();
            for (row, &a) in out.chunks_exact_mut(d).zip(&rounding) {
                for (o, b) in row.iter_mut().zip(&rounding) {
                    *o -= count[class] * a * b;
                }
            }
        }
    }
    Ok(Scatter { count, mean, scatter })
}

/// Weights and means of the classes.
fn means<T: Packed>(
    data: Labeled<'_, T>,
    n_classes: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(Vec<f64>, Vec<f64>), KernelError> {
    let (n, d) = (data.x.n_rows(), data.x.n_cols());
    let parts = (n * d / (8 * n_classes * d).max(1)).clamp(1, MOST_PARTS);
    let task =
        |p: usize| dispatch(Sums { data, first: n * p / parts, end: n * (p + 1) / parts, n_classes, stop });
    let found = try_each(threads_for(n * d, n_threads), 0..parts, task)?;
    let (mut count, mut mean) = (vec![0.0; n_classes], zeros(n_classes.saturating_mul(d))?);
    for (counts, sums) in &found {
        for (all, part) in count.iter_mut().zip(counts).chain(mean.iter_mut().zip(sums)) {
            *all += part;
        }
    }
    for (mean, &count) in mean.chunks_exact_mut(d.max(1)).zip(&count) {
        for m in mean {
            *m = if count > 0.0 { *m / count } else { 0.0 };
        }
    }
    Ok((count, mean))
}

/// out = sum of the products of the centered rows, d x d.
fn products<T: Packed>(
    data: Labeled<'_, T>,
    rows: &[usize],
    centers: &[T],
    out: &mut [f64],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(), KernelError> {
    let d = data.x.n_cols();
    let per = rows.len().div_ceil(MOST_TASKS).max(CHUNK).next_multiple_of(CHUNK);
    let task = |rows: &[usize]| dispatch_packed(Products { data, rows, centers, stop });
    let parts = try_each(threads_for(rows.len() * d * d / 2, n_threads), rows.chunks(per), task)?;
    add_parts(&parts, out, d);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::class_scatter;
    use crate::data::dense::Dense;
    use crate::interrupt::Interrupt;

    #[test]
    fn means_and_scatters_agree_with_their_definition() {
        for (n, d) in [(9, 1), (40, 5), (700, 19), (1500, 33)] {
            // Far from zero, where uncentered products would cancel.
            let x: Vec<f64> = (0..n * d).map(|i| 1e4 + ((i * 7919) % 101) as f64 / 50.0).collect();
            let y: Vec<i64> = (0..n).map(|i| (i * 31 % 4) as i64).collect();
            let w: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
            let view = Dense::new(&x, n, d).expect("shape");
            let found = |pooled, threads| {
                class_scatter(view, &y, Some(&w), 5, pooled, threads, &Interrupt::new()).expect("valid")
            };
            let (one, all) = (found(true, 1), found(false, 1));
            assert_eq!(one, found(true, 3));
            assert_eq!(all, found(false, 2));
            let mut sum = vec![0.0; d * d];
            for k in 0..5 {
                let rows: Vec<usize> = (0..n).filter(|&i| y[i] == k as i64).collect();
                let total: f64 = rows.iter().map(|&i| w[i]).sum();
                assert_eq!(all.count[k], total);
                let mean: Vec<f64> = (0..d)
                    .map(|j| rows.iter().map(|&i| w[i] * x[i * d + j]).sum::<f64>() / total.max(1e-9))
                    .collect();
                for a in 0..d {
                    assert!((all.mean[k * d + a] - mean[a]).abs() < 1e-8);
                    for b in 0..d {
                        let term = |i: &usize| w[*i] * (x[i * d + a] - mean[a]) * (x[i * d + b] - mean[b]);
                        let expected: f64 = rows.iter().map(term).sum();
                        assert!((all.scatter[(k * d + a) * d + b] - expected).abs() < 1e-6);
                        sum[a * d + b] += expected;
                    }
                }
            }
            assert!(one.scatter.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-6));
            let single: Vec<f32> = x.iter().map(|&v| (v - 1e4) as f32).collect();
            let view = Dense::new(&single, n, d).expect("shape");
            let low = class_scatter(view, &y, Some(&w), 5, true, 2, &Interrupt::new()).expect("valid");
            assert!(low.scatter.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-5 * n as f64));
        }
    }

    #[test]
    fn bad_labels_and_weights_are_named() {
        let view = Dense::new(&[1.0f64, 2.0], 2, 1).expect("shape");
        let stop = Interrupt::new();
        assert!(class_scatter(view, &[0, 2], None, 2, true, 1, &stop).is_err());
        assert!(class_scatter(view, &[0, 1], Some(&[1.0, -1.0]), 2, true, 1, &stop).is_err());
        assert!(class_scatter(view, &[0], None, 2, true, 1, &stop).is_err());
    }
}
