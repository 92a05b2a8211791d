//! Visits to a block of rows: score, compare, mend.

use super::{Examples, Keep, Online, Rule, Update, add_row, n_scores, rival, score_row};
use crate::data::rows::{Rows, check_row};
use crate::error::KernelError;
use crate::real::Real;
use crate::simd::Task;

/// The rows to visit next.
pub(super) struct Block<'a, T, X> {
    pub learner: &'a mut Online<T>,
    pub x: &'a X,
    pub examples: Examples<'a>,
    pub rows: &'a [u32],
}

impl<T: Real, X: Rows<T>> Task for Block<'_, T, X> {
    type Output = Result<u64, KernelError>;
    const WIDE: bool = true;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { learner, x, examples, rows } = self;
        let mut scores = vec![T::ZERO; n_scores(learner.n_classes)];
        let mut mistakes = 0;
        for (at, &row) in rows.iter().enumerate() {
            let i = row as usize;
            if let Some(&next) = rows.get(at + 1) {
                x.prefetch(next as usize);
            }
            let weight = examples.weight(i);
            if weight == 0.0 {
                check_row(x, i)?;
                continue;
            }
            score_row::<T, X, FMA>(x, i, &learner.weights, &mut scores);
            if !scores.iter().all(|s| s.is_finite()) {
                check_row(x, i)?;
            }
            let y = examples.targets[i] as usize;
            let (lowered, margin) = rival(&scores, y);
            // Written so that a score that is not a number counts as a mistake too.
            let right = margin > 0.0;
            if !right {
                mistakes += 1;
                learner.mend::<X, FMA>(x, row, y, lowered, margin, weight);
            } else if let Some(last) = learner.log.last_mut() {
                last.survived += 1;
            } else {
                learner.start_survived += 1;
            }
            learner.seen += 1;
        }
        Ok(mistakes)
    }
}

impl<T: Real> Online<T> {
    /// Move the weights after a mistake on `row`.
    #[inline(always)]
    fn mend<X: Rows<T>, const FMA: bool>(
        &mut self,
        x: &X,
        row: u32,
        y: usize,
        lowered: usize,
        margin: f64,
        weight: f64,
    ) {
        let i = row as usize;
        let k = n_scores(self.n_classes);
        let size = match self.rule {
            Rule::Perceptron { rate } => rate * weight,
            Rule::Mira { cap } => {
                // On w = w_1 - w_0 the step, and so its cap, is twice that on each vector.
                let twice = if k == 1 { 2.0 } else { 1.0 };
                let norm = x.summed_squared_norm(i, &mut self.set) + f64::from(u8::from(self.intercept));
                if norm == 0.0 { 0.0 } else { twice * ((1.0 - margin) / (2.0 * norm)).min(cap * weight) }
            }
        };
        let moves: &[(usize, f64)] =
            if k == 1 { &[(0, if y == 1 { size } else { -size })] } else { &[(y, size), (lowered, -size)] };
        for &(column, a) in moves {
            add_row::<T, X, FMA>(x, i, &mut self.weights, k, column, T::from_f64(a));
            if self.keep == Keep::Average && self.seen > 0 {
                let a = T::from_f64(a * self.seen as f64);
                add_row::<T, X, FMA>(x, i, &mut self.sums, k, column, a);
            }
        }
        if self.keep == Keep::Vote {
            let (raised, lowered) = (y as u32, lowered as u32);
            self.log.push(Update { row, raised, lowered, size, survived: 1 });
        }
    }
}
