//! Passes that two threads share, by mixing weights.
//!
//! Two learners start from the same weights, visit one half of the shuffled rows each, and go on from the mean of
//! their weights: iterative parameter mixing (McDonald, Hall & Mann 2010), for stochastic gradients also known as
//! local SGD (Stich 2019). Two whatever the number of threads: with more, a pass learns less.

use crate::real::Real;
use crate::threads::worth_copies;

/// Learners that share a pass.
pub const LEARNERS: usize = 2;

/// Whether to share a pass over so many stored values of so many columns.
pub fn is_worth(n_threads: usize, n_stored: usize, n_cols: usize) -> bool {
    n_threads >= LEARNERS && worth_copies(n_stored, n_cols)
}

/// The rows of the two learners, each a number of whole batches but for the last one.
pub fn halves(rows: &[u32], batch_size: usize) -> (&[u32], &[u32]) {
    let batches = rows.len().div_ceil(batch_size);
    rows.split_at((batches.div_ceil(LEARNERS) * batch_size).min(rows.len()))
}

/// a = (a + b) / 2
pub fn mix<T: Real>(a: &mut [T], b: &[T]) {
    let half = T::from_f64(0.5);
    for (a, &b) in a.iter_mut().zip(b) {
        *a = half * (*a + b);
    }
}

#[cfg(test)]
mod tests {
    use super::{halves, is_worth, mix};

    #[test]
    fn halves_are_whole_batches() {
        let rows: Vec<u32> = (0..10).collect();
        for (batch_size, first) in [(1, 5), (3, 6), (4, 8), (20, 10)] {
            let (a, b) = halves(&rows, batch_size);
            assert_eq!((a.len(), b.len()), (first, 10 - first));
        }
    }

    #[test]
    fn long_passes_over_few_columns_are_shared() {
        assert!(is_worth(2, 1 << 21, 1 << 19) && is_worth(64, 1 << 30, 100));
        assert!(!is_worth(1, 1 << 30, 100) && !is_worth(2, 1 << 20, 100) && !is_worth(2, 1 << 22, 1 << 21));
    }

    #[test]
    fn mixing_takes_the_mean() {
        let mut a = [1.0, 2.0];
        mix(&mut a, &[3.0, 2.0]);
        assert_eq!(a, [2.0, 2.0]);
    }
}
