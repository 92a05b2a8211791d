//! How well the last weights separate the rows.

use super::{BLOCK, Examples, Online, n_scores, rival, score_row};
use crate::data::column_set::ColumnSet;
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Task, dispatch};

impl<T: Real> Online<T> {
    /// Smallest margin s_y - max s_k over the rows at the last weights scaled to unit norm, and the
    /// largest |x|^2, the bias feature included; rows of weight 0 are left out.
    pub fn margin<X: Rows<T>>(
        &self,
        x: &X,
        examples: Examples<'_>,
        stop: &Interrupt,
    ) -> Result<(f64, f64), KernelError> {
        self.check(x, examples)?;
        let norm: f64 = self.weights.iter().map(|w| w.to_f64() * w.to_f64()).sum::<f64>().sqrt();
        let (mut margin, mut radius) = (f64::INFINITY, 0.0f64);
        let mut set = ColumnSet::default();
        for first in (0..x.n_rows()).step_by(BLOCK) {
            stop.check()?;
            let rows = first..(first + BLOCK).min(x.n_rows());
            let (m, r) = dispatch(Margins { learner: self, x, examples, rows, set: &mut set });
            margin = margin.min(m);
            radius = radius.max(r);
        }
        Ok((margin / norm, radius))
    }
}

struct Margins<'a, T, X> {
    learner: &'a Online<T>,
    x: &'a X,
    examples: Examples<'a>,
    rows: std::ops::Range<usize>,
    set: &'a mut ColumnSet,
}

impl<T: Real, X: Rows<T>> Task for Margins<'_, T, X> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, f64) {
        let mut scores = vec![T::ZERO; n_scores(self.learner.n_classes)];
        let (mut margin, mut radius) = (f64::INFINITY, 0.0f64);
        for i in self.rows {
            if self.examples.weight(i) == 0.0 {
                continue;
            }
            score_row::<T, X, FMA>(self.x, i, &self.learner.weights, &mut scores);
            margin = margin.min(rival(&scores, self.examples.targets[i] as usize).1);
            let norm = self.x.summed_squared_norm(i, self.set);
            radius = radius.max(norm + f64::from(u8::from(self.learner.intercept)));
        }
        (margin, radius)
    }
}
