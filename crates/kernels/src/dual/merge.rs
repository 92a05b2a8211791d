//! Local copies of the weights for threads, and how their changes are added up.
//!
//! Invariant: after a merge all copies equal the weights.

use crate::data::rows::LANES;
use crate::dual::binary_rows::Visit;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::each;

/// A thread's copy of the weights, and the visits it has not handed over yet.
#[derive(Debug, Clone)]
pub(crate) struct Copy<T> {
    pub weights: Vec<T>,
    pub visits: Vec<Visit>,
}

/// The copies of all threads.
#[derive(Debug, Clone)]
pub(crate) struct Copies<T> {
    pub each: Vec<Copy<T>>,
}

impl<T: Real> Copies<T> {
    /// None yet.
    pub fn new() -> Self {
        Self { each: Vec::new() }
    }

    /// Make `n_threads` copies equal to `weights`.
    pub fn begin(&mut self, weights: &[T], n_threads: usize) {
        self.each
            .resize_with(n_threads, || Copy { weights: vec![T::ZERO; weights.len()], visits: Vec::new() });
        each(n_threads, &mut self.each, |copy| copy.weights.copy_from_slice(weights));
    }

    /// <w, z> and |z|^2 for the sum z of the changes of all copies from `weights` w.
    pub fn products(&self, weights: &[T]) -> (f64, f64) {
        let n_threads = self.each.len().max(1);
        let share = weights.len().div_ceil(n_threads).max(1);
        let task = |(s, weights): (usize, &[T])| {
            let copies = self.each.iter().map(|copy| &copy.weights[s * share..][..weights.len()]).collect();
            dispatch(Products { weights, copies })
        };
        let parts = each(n_threads, weights.chunks(share).enumerate(), task);
        parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// Add `factor` times the changes of all copies to `weights`, and set all copies to the result.
    pub fn merge(&mut self, weights: &mut [T], factor: f64) {
        let n_threads = self.each.len().max(1);
        let share = weights.len().div_ceil(n_threads).max(1);
        let factor = T::from_f64(factor);
        let mut shares: Vec<Sum<'_, T>> =
            weights.chunks_mut(share).map(|weights| Sum { weights, copies: Vec::new(), factor }).collect();
        for copy in &mut self.each {
            for (part, sum) in copy.weights.chunks_mut(share).zip(&mut shares) {
                sum.copies.push(part);
            }
        }
        each(n_threads, shares, dispatch);
    }
}

/// Columns that stay in the nearest cache.
const BLOCK: usize = 1024;

/// z = sum of the changes of `copies` from `weights`.
#[inline(always)]
fn changes<'a, T: Real>(weights: &[T], copies: impl Iterator<Item = &'a [T]>, z: &mut [T]) {
    z.fill(T::ZERO);
    for copy in copies {
        for ((z, &c), &w) in z.iter_mut().zip(copy).zip(weights) {
            *z += c - w;
        }
    }
}

/// Products over a share of the columns.
struct Products<'a, T> {
    weights: &'a [T],
    copies: Vec<&'a [T]>,
}

impl<T: Real> Task for Products<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, f64) {
        let mut z = [T::ZERO; BLOCK];
        let (mut along, mut square) = ([0.0; LANES], [0.0; LANES]);
        for (b, weights) in self.weights.chunks(BLOCK).enumerate() {
            let block = b * BLOCK..b * BLOCK + weights.len();
            let z = &mut z[..weights.len()];
            changes(weights, self.copies.iter().map(|copy| &copy[block.clone()]), z);
            for (z, w) in z.chunks(LANES).zip(weights.chunks(LANES)) {
                for (l, (z, w)) in z.iter().zip(w).enumerate() {
                    let z = z.to_f64();
                    along[l] += z * w.to_f64();
                    square[l] += z * z;
                }
            }
        }
        (along.iter().sum(), square.iter().sum())
    }
}

/// A merge of a share of the columns.
struct Sum<'a, T> {
    weights: &'a mut [T],
    copies: Vec<&'a mut [T]>,
    factor: T,
}

impl<T: Real> Task for Sum<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let mut z = [T::ZERO; BLOCK];
        for (b, weights) in self.weights.chunks_mut(BLOCK).enumerate() {
            let block = b * BLOCK..b * BLOCK + weights.len();
            let z = &mut z[..weights.len()];
            changes(weights, self.copies.iter().map(|copy| &copy[block.clone()]), z);
            for (w, &z) in weights.iter_mut().zip(z.iter()) {
                *w += self.factor * z;
            }
            for copy in &mut self.copies {
                copy[block.clone()].copy_from_slice(weights);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Copies;

    #[test]
    fn changes_are_measured_and_added_up() {
        let n = 3000;
        let mut weights: Vec<f64> = (0..n).map(|j| j as f64).collect();
        let mut copies = Copies::new();
        copies.begin(&weights, 3);
        for (t, copy) in copies.each.iter_mut().enumerate() {
            copy.weights[t * 1200] += 3.0;
        }
        assert_eq!(copies.products(&weights), (3.0 * 3600.0, 27.0));
        copies.merge(&mut weights, 1.0 / 3.0);
        for (j, &w) in weights.iter().enumerate() {
            assert_eq!(w, j as f64 + if j % 1200 == 0 { 1.0 } else { 0.0 });
        }
        assert!(copies.each.iter().all(|copy| copy.weights == weights));
    }
}
