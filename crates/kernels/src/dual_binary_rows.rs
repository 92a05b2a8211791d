//! The sweeps of [`crate::dual_binary`]: loops over rows, compiled for each instruction set.

use crate::dual_common::{following, squared_norm};
use crate::dual_intercept::Bias;
use crate::hot::HotRows;
use crate::margin_dual::MarginDual;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::Task;

/// What a dual method asks of its rows: any [`Rows`], or their inner products
/// ([`crate::pair_gram::PairGram`]), where the "weights" are the scores of the rows.
pub trait DualRows<T: Real>: Sync {
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

impl<T: Real, X: Rows<T>> DualRows<T> for X {
    fn n_rows(&self) -> usize {
        Rows::n_rows(self)
    }

    fn n_cols(&self) -> usize {
        Rows::n_cols(self)
    }

    fn n_stored(&self) -> usize {
        Rows::n_stored(self)
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        Rows::prefetch(self, i);
    }

    fn squared_norm(&self, i: usize) -> f64 {
        Rows::squared_norm(self, i)
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        Rows::dot::<FMA>(self, i, w)
    }

    #[inline(always)]
    fn double_dot(&self, i: usize, w: &[T]) -> f64 {
        let mut sum = 0.0;
        self.each(i, |j, v| sum += v.to_f64() * w.get(j).map_or(f64::NAN, |w| w.to_f64()));
        sum
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        Rows::add_to::<FMA>(self, i, a, w);
    }

    fn squared_weights(&self, weights: &[T], _signs: &[f64], _duals: &[f64]) -> f64 {
        squared_norm(weights)
    }
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

/// A serial sweep over a block of rows; returns the largest violation and the intercept.
pub(crate) struct Sweep<'a, T, X, L> {
    pub problem: &'a Problem<'a, X, L>,
    pub rows: &'a [u32],
    pub local: Local<'a, T>,
    pub duals: &'a mut [f64],
    pub gaps: &'a mut [f32],
    pub hot: &'a mut HotRows,
}

impl<T: Real, X: DualRows<T>, L: MarginDual> Task for Sweep<'_, T, X, L> {
    type Output = (f64, Bias);

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> (f64, Bias) {
        let mut violation = 0.0f64;
        for (&i, &next) in self.rows.iter().zip(following(self.rows)) {
            let i = i as usize;
            self.problem.x.prefetch(next as usize);
            let visit = self.problem.visit::<T, FMA>(i, self.duals[i], &mut self.local);
            if L::BOUNDED {
                self.hot.note(i, visit.dual - self.duals[i]);
            }
            self.duals[i] = visit.dual;
            self.gaps[i] = visit.gap as f32;
            violation = violation.max(visit.violation);
        }
        (violation, self.local.bias)
    }
}

/// One thread's share of a merge: visits in order, kept until the merge; returns the local S.
pub(crate) struct Share<'a, T, X, L> {
    pub problem: &'a Problem<'a, X, L>,
    pub rows: &'a [u32],
    pub local: Local<'a, T>,
    pub duals: &'a [f64],
    pub visits: &'a mut Vec<Visit>,
}

impl<T: Real, X: DualRows<T>, L: MarginDual> Task for Share<'_, T, X, L> {
    type Output = f64;

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
