//! The score of a training row's own label as if the row had not been counted.
//!
//! Problem: a label's counts contain the row that is to be predicted, so that its score is too good; without the
//! row it is
//!     s_y(x) = sum_f x_f [ln(1 + (c_fy - x_f) / (mu p_f)) - ln((L_y - |x|_1 + mu) / mu)] + alpha ln(n_y - 1).
//! Other labels keep their scores, since the shares p_f hardly change.
//! Returned: per row the number of labels that score higher, or nothing for a label with no other row.

use super::index::{Index, Workspace, span};
use super::numbers::Number;
use crate::data::csr::Csr;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::simd::{Task, dispatch};
use crate::threads::{Spaces, try_each};

/// Rows of one task.
const BLOCK: usize = 256;

/// What was counted in the training rows, and how it is smoothed.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    /// Where the counts of each feature start, and the end (d + 1).
    pub starts: &'a [i64],
    /// Labels, rising within a feature.
    pub labels: &'a [i32],
    /// Counts c_fy.
    pub counts: &'a [f32],
    /// Share p_f of each feature (d).
    pub shares: &'a [f32],
    /// L_y (K).
    pub label_mass: &'a [f32],
    /// n_y (K).
    pub label_rows: &'a [f32],
    /// Mass of the prior.
    pub mu: f32,
    /// Weight of ln n_y.
    pub alpha: f32,
}

impl Counts<'_> {
    /// Fail unless the lengths agree with `n_features` and `n_labels`, and the smoothing is positive.
    pub fn check(&self, n_features: usize, n_labels: usize) -> Result<(), KernelError> {
        check_length("starts of the counts", self.starts.len(), n_features + 1)?;
        check_length("shares", self.shares.len(), n_features)?;
        check_length("counts", self.counts.len(), self.labels.len())?;
        check_length("label_mass", self.label_mass.len(), n_labels)?;
        check_length("label_rows", self.label_rows.len(), n_labels)?;
        if self.mu > 0.0 && self.mu.is_finite() && self.alpha.is_finite() {
            Ok(())
        } else {
            Err(KernelError::Argument("mu must be positive and alpha finite".into()))
        }
    }

    /// c_fy, zero where they never met.
    fn count(&self, feature: usize, label: usize) -> f32 {
        let range = span(self.starts, feature);
        let (Some(labels), Ok(label)) = (self.labels.get(range.clone()), i32::try_from(label)) else {
            return 0.0;
        };
        let found = labels.binary_search(&label).ok();
        found.and_then(|at| self.counts.get(range.start + at)).copied().unwrap_or(0.0)
    }

    /// The score of `label` without the row at hand; None when the row is the label's only one.
    pub fn without(&self, space: &Workspace, label: usize) -> Option<f32> {
        let rows = self.label_rows.get(label)? - 1.0;
        if rows < 0.5 {
            return None;
        }
        let (row, mass) = (&space.row, space.row.mass() as f32);
        let rest = (self.label_mass.get(label)? - mass).max(0.0);
        let mut score = self.alpha * rows.ln() - mass * (rest / self.mu).ln_1p();
        for (&f, &value) in row.features.iter().zip(&row.values) {
            let count = (self.count(f as usize, label) - value).max(0.0);
            let share = self.shares.get(f as usize).copied().unwrap_or(1.0);
            score += value * (count / (self.mu * share)).ln_1p();
        }
        Some(score)
    }
}

/// Labels ahead of each row's own, ties by half; -1 for a row that is the only one of its label.
pub fn ranks<L: Number>(
    index: &Index<'_, L>,
    counts: &Counts<'_>,
    x: &Csr<'_, f32>,
    y: &[u32],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f32>, KernelError> {
    use crate::data::rows::Rows;
    index.check(x)?;
    counts.check(index.n_features(), index.n_labels())?;
    check_length("y", y.len(), x.n_rows())?;
    let mut out = vec![-1.0; y.len()];
    let spaces = Spaces::default();
    let block = |(number, out): (usize, &mut [f32])| {
        stop.check()?;
        let first = number * BLOCK;
        let task = |space: &mut Workspace| dispatch(RankTask { index, counts, x, y, first, out, space });
        spaces.lend(|| Workspace::new(index), task)
    };
    try_each(n_threads, out.chunks_mut(BLOCK).enumerate(), block)?;
    Ok(out)
}

struct RankTask<'a, L> {
    index: &'a Index<'a, L>,
    counts: &'a Counts<'a>,
    x: &'a Csr<'a, f32>,
    y: &'a [u32],
    first: usize,
    out: &'a mut [f32],
    space: &'a mut Workspace,
}

impl<L: Number> Task for RankTask<'_, L> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let space = self.space;
        for (i, out) in (self.first..).zip(self.out) {
            space.score(self.index, self.x, i)?;
            let own = self.y[i] as usize;
            if let Some(score) = self.counts.without(space, own) {
                space.replace(own, score);
                *out = space.rank(own, self.index.n_labels());
            }
        }
        Ok(())
    }
}
