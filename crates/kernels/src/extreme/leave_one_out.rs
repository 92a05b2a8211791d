//! Features counted with labels, and the score of a training row's own label as if the row had not been counted.
//!
//! Problem: c_fy is the sum of x_f over the rows of y, each scaled to a mean value of one. Rows are visited label by
//! label, so that each feature's list of labels grows at its end only.
//! a label's counts contain the row that is to be predicted, so that its score is too good; without the
//! row it is
//!     s_y(x) = sum_f x_f [ln(1 + (c_fy - x_f) / (mu p_f)) - ln((L_y - |x|_1 + mu) / mu)] + alpha ln(n_y - 1).
//! Other labels keep their scores, since the shares p_f hardly change.
//! Returned: per row the number of labels that score higher, or nothing for a label with no other row.

use super::index::{Index, Workspace, span};
use super::numbers::Number;
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::simd::{Task, dispatch};
use crate::threads::{Spaces, each, try_each};

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

/// c_fy feature by feature: the list of f is `starts[f]..starts[f + 1]`, labels rising.
#[derive(Debug, Default)]
pub struct Counted {
    /// d + 1.
    pub starts: Vec<i64>,
    /// Labels.
    pub labels: Vec<i32>,
    /// Counts.
    pub counts: Vec<f32>,
}

/// Count rows of values above zero; `order` has them label by label, labels rising.
pub fn count(x: &Csr<'_, f32>, y: &[u32], order: &[u32], stop: &Interrupt) -> Result<Counted, KernelError> {
    check_length("y", y.len(), x.n_rows())?;
    let d = x.n_cols();
    let mut ends = vec![0i64; d + 1];
    let mut last = 0;
    for &i in order {
        let Some(&label) = y.get(i as usize).filter(|&&label| label >= last) else {
            return Err(KernelError::Argument("rows must come label by label".into()));
        };
        last = label;
        for &column in x.row(i as usize).0 {
            match ends.get_mut(column as usize + 1) {
                Some(end) if column >= 0 => *end += 1,
                _ => return Err(KernelError::Argument(format!("row {i} changed"))),
            }
        }
    }
    let mut total = 0;
    for end in &mut ends {
        total += *end;
        *end = total;
    }
    let n = ends[d] as usize;
    let mut out = Counted { starts: ends.clone(), labels: Vec::new(), counts: zeros(n)? };
    let bytes = n.saturating_mul(size_of::<i32>());
    out.labels.try_reserve_exact(n).map_err(|_| KernelError::Memory { n, what: "labels", bytes })?;
    out.labels.resize(n, 0);
    for &i in order {
        stop.check()?;
        let ((columns, values), label) = (x.row(i as usize), y[i as usize] as i32);
        let scale = values.len() as f32 / values.iter().sum::<f32>();
        for (&column, &value) in columns.iter().zip(values) {
            let Some(end) = ends.get_mut(column as usize) else { continue };
            let at = *end as usize;
            let first = out.starts[column as usize] as usize;
            if at > first && out.labels[at - 1] == label {
                out.counts[at - 1] += value * scale;
            } else if at < n {
                (out.labels[at], out.counts[at]) = (label, value * scale);
                *end += 1;
            }
        }
    }
    // Close the gaps that labels left which came more than once.
    let mut kept = 0;
    for (start, &end) in out.starts.iter_mut().zip(&ends).take(d) {
        let range = *start as usize..end as usize;
        *start = kept as i64;
        out.labels.copy_within(range.clone(), kept);
        out.counts.copy_within(range.clone(), kept);
        kept += range.len();
    }
    out.starts[d] = kept as i64;
    out.labels.truncate(kept);
    out.counts.truncate(kept);
    Ok(out)
}

impl Counts<'_> {
    /// The weights of an index: ln(1 + c_fy / (mu p_f)) in 1/16, 255 at most.
    pub fn weights(&self, n_threads: usize) -> Result<Vec<u8>, KernelError> {
        self.check(self.shares.len(), self.label_mass.len())?;
        let mut out = Vec::new();
        let n = self.counts.len();
        out.try_reserve_exact(n).map_err(|_| KernelError::Memory { n, what: "weights", bytes: n })?;
        out.resize(n, 0u8);
        let (mut tasks, mut rest, mut done) = (Vec::new(), out.as_mut_slice(), 0);
        for first in (0..self.shares.len()).step_by(BLOCK) {
            let last = (first + BLOCK).min(self.shares.len());
            let end = self
                .starts
                .get(last)
                .map_or(done, |&end| usize::try_from(end).unwrap_or(done).clamp(done, n));
            let (part, others) = rest.split_at_mut(end - done);
            tasks.push((first..last, done, part));
            (rest, done) = (others, end);
        }
        each(n_threads, tasks, |(features, offset, out)| {
            for f in features {
                let scale = 1.0 / (self.mu * self.shares[f]);
                let range = span(self.starts, f);
                let Some(counts) = self.counts.get(range.clone()) else { continue };
                let Some(out) =
                    range.start.checked_sub(offset).and_then(|at| out.get_mut(at..at + counts.len()))
                else {
                    continue;
                };
                for (weight, &count) in out.iter_mut().zip(counts) {
                    *weight = (16.0 * (count * scale).ln_1p()).round() as u8;
                }
            }
        });
        Ok(out)
    }

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
                *out = space.rank(self.index, own);
            }
        }
        Ok(())
    }
}
