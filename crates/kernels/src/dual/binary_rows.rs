//! The sweeps of [`crate::dual::binary`]: loops over rows, compiled for each instruction set.

use crate::dual::common::following;
use crate::dual::intercept::Bias;
use crate::loss::dual::MarginDual;
use crate::real::Real;
use crate::simd::Task;

/// What a dual method asks of its rows: those of a matrix ([`crate::data::row_subset::Subset`]), or their inner products
/// ([`crate::dual::pair_gram::PairGram`]), where the "weights" are the scores of the rows.
pub trait DualRows<T: Real>: Sync {
    /// Whether threads may share a sweep.
    const SHARED: bool;
    /// Number of examples.
    fn n_rows(&self) -> usize;
    /// Length of the weights.
    fn n_cols(&self) -> usize;
    /// Number of stored values in all rows.
    fn n_stored(&self) -> usize;
    /// Ask for row `i` to be in the cache soon.
    fn prefetch(&self, i: usize);
    /// |x_i|^2
    fn squared_norm(&self, i: usize) -> f64;
    /// <x_i, w>
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T;
    /// <x_i, w>, summed in `f64`.
    fn double_dot(&self, i: usize, w: &[T]) -> f64;
    /// w += a x_i
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]);
    /// |w(a)|^2 for w(a) = sum_i a_i y_i x_i, which `weights` stands for.
    fn squared_weights(&self, weights: &[T], signs: &[f64], duals: &[f64]) -> f64;
}

/// The fixed part of the problem, as rows see it.
pub(crate) struct Problem<'a, X, L> {
    pub x: &'a X,
    pub loss: L,
    pub signs: &'a [f64],
    pub upper: &'a [f64],
    pub norms: &'a [f64],
}

/// Weights that a sweep may change.
pub(crate) struct Local<'a, T> {
    pub weights: &'a mut [T],
    pub bias: Bias,
    /// Factor on the curvature that steps are made for.
    pub curvature: f64,
    /// How many times as far as the duals the weights move.
    pub scale: f64,
}

/// What a visit found.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub dual: f64,
    pub gap: f64,
    pub violation: f64,
}

impl<X, L: MarginDual> Problem<'_, X, L> {
    /// The exact step on row `i` from `dual`, applied to the local weights.
    #[inline(always)]
    fn visit<T: Real, const FMA: bool>(&self, i: usize, dual: f64, local: &mut Local<'_, T>) -> Visit
    where
        X: DualRows<T>,
    {
        let (sign, upper) = (self.signs[i], self.upper[i]);
        let q = local.curvature * (self.norms[i] + local.bias.square);
        let prepared = self.loss.prepare(upper, dual);
        let margin = sign * (self.x.dot::<FMA>(i, local.weights).to_f64() + local.bias.value());
        let (next, gap) = self.loss.step(margin, q, upper, dual, prepared);
        let step = next - dual;
        if step != 0.0 {
            let change = local.scale * sign * step;
            local.bias.sum += change;
            self.x.add_to::<FMA>(i, T::from_f64(change), local.weights);
        }
        Visit { dual: next, gap, violation: (step * q).abs() }
    }
}

/// Visits to rows in their order, for somebody else to note; returns the local S.
///
/// Loops that note what they find would be compiled once more for every loss, matrix and instruction set.
pub(crate) struct Sweep<'a, T, X, L> {
    pub problem: &'a Problem<'a, X, L>,
    pub rows: &'a [u32],
    pub local: Local<'a, T>,
    pub duals: &'a [f64],
    pub visits: &'a mut Vec<Visit>,
}

impl<T: Real, X: DualRows<T>, L: MarginDual> Task for Sweep<'_, T, X, L> {
    type Output = f64;
    const WIDE: bool = true;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> f64 {
        for (&i, &next) in self.rows.iter().zip(following(self.rows)) {
            let i = i as usize;
            self.problem.x.prefetch(next as usize);
            self.visits.push(self.problem.visit::<T, FMA>(i, self.duals[i], &mut self.local));
        }
        self.local.bias.sum
    }
}

/// A row that is not visited, and its dual.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resting {
    pub row: u32,
    pub sign: f64,
    pub upper: f64,
    pub dual: f64,
}

/// Those of some rows that have a gap, so that a visit would move them, at fixed weights.
pub(crate) struct Look<'a, T, X, L> {
    pub x: &'a X,
    pub loss: L,
    pub rows: &'a [Resting],
    pub weights: &'a [T],
    pub intercept: f64,
}

impl<T: Real, X: DualRows<T>, L: MarginDual> Task for Look<'_, T, X, L> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Vec<u32> {
        let mut woken = Vec::new();
        for (at, &Resting { row, sign, upper, dual }) in self.rows.iter().enumerate() {
            if let Some(next) = self.rows.get(at + 1) {
                self.x.prefetch(next.row as usize);
            }
            let score = self.x.dot::<FMA>(row as usize, self.weights).to_f64() + self.intercept;
            if self.loss.gap(sign * score, upper, dual) > 0.0 {
                woken.push(row);
            }
        }
        woken
    }
}

/// Sums of losses and gaps over a block of rows, at fixed weights and in double precision.
pub(crate) struct Measure<'a, T, X, L> {
    pub problem: &'a Problem<'a, X, L>,
    pub first: usize,
    pub weights: &'a [T],
    pub intercept: f64,
    pub duals: &'a [f64],
    /// Factors on the duals of the negative and of the positive rows.
    pub scales: [f64; 2],
}

impl<T: Real, X: DualRows<T>, L: MarginDual> Measure<'_, T, X, L> {
    pub fn run(self) -> (f64, f64) {
        let p = self.problem;
        let (mut loss, mut gap) = (0.0, 0.0);
        for (i, &dual) in (self.first..).zip(self.duals) {
            if p.upper[i] > 0.0 {
                let score = p.x.double_dot(i, self.weights) + self.intercept;
                let dual = dual * self.scales[usize::from(p.signs[i] > 0.0)];
                loss += p.loss.loss(p.signs[i] * score, p.upper[i]);
                gap += p.loss.gap(p.signs[i] * score, p.upper[i], dual);
            }
        }
        (loss, gap)
    }
}

/// w += sum of a_i y_i x_i.
pub(crate) struct Rebuild<'a, T, X> {
    pub x: &'a X,
    pub rows: &'a [u32],
    pub signs: &'a [f64],
    pub duals: &'a [f64],
    pub weights: &'a mut [T],
}

impl<T: Real, X: DualRows<T>> Task for Rebuild<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for &i in self.rows {
            let i = i as usize;
            if self.duals[i] != 0.0 {
                self.x.add_to::<FMA>(i, T::from_f64(self.signs[i] * self.duals[i]), self.weights);
            }
        }
    }
}
