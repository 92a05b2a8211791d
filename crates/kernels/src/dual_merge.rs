//! Local copies of the weights for threads, and how their changes are added up.
//!
//! Problem: threads step on rows of their own, each on a copy of w, so that together they may go too far.
//! CoCoA+ (Ma et al. 2015): every thread steps as if the curvature were as many times larger as there are
//! threads, which its copy shows by moving so many times as far as its duals do. The mean of the copies
//! is then w of all duals together, and never lowers the dual objective.
//! Invariant: after a merge all copies equal the weights.

use rayon::prelude::*;

use crate::dual_binary_rows::Visit;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::with_threads;

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
        with_threads(n_threads, || {
            self.each.par_iter_mut().for_each(|copy| copy.weights.copy_from_slice(weights));
        });
    }

    /// Set `weights` and all copies to the mean of the copies.
    pub fn merge(&mut self, weights: &mut [T]) {
        let n_threads = self.each.len().max(1);
        let share = weights.len().div_ceil(n_threads).max(1);
        let mut shares: Vec<Mean<'_, T>> =
            weights.chunks_mut(share).map(|weights| Mean { weights, copies: Vec::new() }).collect();
        for copy in &mut self.each {
            for (part, mean) in copy.weights.chunks_mut(share).zip(&mut shares) {
                mean.copies.push(part);
            }
        }
        with_threads(n_threads, || shares.into_par_iter().for_each(dispatch));
    }
}

/// A share of the columns.
struct Mean<'a, T> {
    weights: &'a mut [T],
    copies: Vec<&'a mut [T]>,
}

impl<T: Real> Task for Mean<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        /// Columns that stay in the nearest cache.
        const BLOCK: usize = 1024;
        let inverse = T::from_f64(1.0 / self.copies.len().max(1) as f64);
        for (b, weights) in self.weights.chunks_mut(BLOCK).enumerate() {
            let block = b * BLOCK..b * BLOCK + weights.len();
            weights.fill(T::ZERO);
            for copy in &self.copies {
                for (w, &c) in weights.iter_mut().zip(&copy[block.clone()]) {
                    *w += c;
                }
            }
            for w in weights.iter_mut() {
                *w *= inverse;
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
    fn weights_and_copies_become_the_mean() {
        let n = 3000;
        let mut weights: Vec<f64> = (0..n).map(|j| j as f64).collect();
        let mut copies = Copies::new();
        copies.begin(&weights, 3);
        for (t, copy) in copies.each.iter_mut().enumerate() {
            copy.weights[t * 1200] += 3.0;
        }
        copies.merge(&mut weights);
        for (j, &w) in weights.iter().enumerate() {
            assert_eq!(w, j as f64 + if j % 1200 == 0 { 1.0 } else { 0.0 });
        }
        assert!(copies.each.iter().all(|copy| copy.weights == weights));
    }
}
