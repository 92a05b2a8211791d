//! Scores of the labels of all tokens; threads over tokens change nothing.

use rayon::prelude::*;

use crate::batch::threads_for;
use crate::chain::encoded::Encoded;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::with_threads;

/// Tokens per task.
const BLOCK: usize = 512;

struct Block<'a, T> {
    data: &'a Encoded<T>,
    weights: &'a [T],
    first: usize,
    out: &'a mut [f64],
}

impl<T: Real> Task for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mut row = vec![T::ZERO; self.data.width()];
        for (i, out) in self.out.chunks_exact_mut(self.data.n_labels()).enumerate() {
            self.data.scores::<FMA>(self.first + i, self.weights, &mut row);
            for (out, x) in out.iter_mut().zip(&row) {
                *out = x.to_f64();
            }
        }
    }
}

/// Scores of shape n_tokens x n_labels.
pub fn scores<T: Real>(
    data: &Encoded<T>,
    weights: &[T],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    check_length("weights", weights.len(), data.n_weights())?;
    let mut out = vec![0.0; data.n_tokens() * data.n_labels()];
    let block = |(b, out): (usize, &mut [f64])| {
        stop.check()?;
        dispatch(Block { data, weights, first: b * BLOCK, out });
        Ok(())
    };
    let size = BLOCK * data.n_labels();
    if threads_for(data.work(), n_threads) <= 1 {
        out.chunks_mut(size).enumerate().try_for_each(block)?;
    } else {
        with_threads(n_threads, || out.par_chunks_mut(size).enumerate().try_for_each(block))?;
    }
    Ok(out)
}
