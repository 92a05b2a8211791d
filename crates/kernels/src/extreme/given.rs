//! The re-ranking of [`super::rerank`] for candidates that come from elsewhere, such as the beam of a label tree.
//!
//! Problem, source and what is returned: as there; the score s_y is the one that came with the candidate. A row whose
//! own label is not among its candidates teaches nothing.
//! Invariant: updates follow the order of the rows, each ranking is made by itself.

use super::index::{Candidate, ScaledRow, span};
use super::pairs::Places;
use super::rerank::{Best, Learned, Lesson, Plan, Progress, Ranked, Ranker, update};
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::threads::try_each;

/// Candidates of n rows: those of row i are `labels[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Where each row starts, and the end.
    pub starts: &'a [i64],
    /// Labels.
    pub labels: &'a [i32],
    /// Their scores.
    pub scores: &'a [f32],
}

impl Given<'_> {
    fn check(&self, n_rows: usize, n_labels: usize) -> Result<(), KernelError> {
        check_length("starts of the candidates", self.starts.len(), n_rows + 1)?;
        check_length("scores of the candidates", self.scores.len(), self.labels.len())?;
        let outside = |&y: &i32| usize::try_from(y).map_or(true, |y| y >= n_labels);
        if self.labels.iter().any(outside) {
            return Err(KernelError::Argument("a candidate is no label".into()));
        }
        if self.scores.iter().any(|s| s.is_nan()) {
            return Err(KernelError::Argument("the score of a candidate is not a number".into()));
        }
        Ok(())
    }

    fn take(&self, i: usize, out: &mut Vec<Candidate>) {
        out.clear();
        let range = span(self.starts, i);
        if let (Some(labels), Some(scores)) = (self.labels.get(range.clone()), self.scores.get(range)) {
            out.extend(labels.iter().zip(scores).map(|(&y, &s)| (s.max(LOWEST), y as u32)));
        }
    }
}

/// Stands for the logarithm of zero, which a product with a weight would not survive.
const LOWEST: f32 = -1e4;

/// One epoch over the rows in `order`.
pub fn learn(
    given: &Given<'_>,
    x: &Csr<'_, f32>,
    y: &[u32],
    order: &[u32],
    plan: Plan,
    learned: &mut Learned<'_>,
    stop: &Interrupt,
) -> Result<Progress, KernelError> {
    given.check(x.n_rows(), learned.biases.len())?;
    check_length("y", y.len(), x.n_rows())?;
    let Some(places) = Places::of(learned.pairs.len()) else {
        return Err(KernelError::Argument("the table must have a power of two of entries".into()));
    };
    if order.iter().any(|&i| i as usize >= y.len()) {
        return Err(KernelError::Argument("the order names a row that is not there".into()));
    }
    let (mut progress, mut row, mut lesson) = (Progress::default(), ScaledRow::default(), Lesson::default());
    for (number, &i) in order.iter().enumerate() {
        if number % 1024 == 0 {
            stop.check()?;
        }
        let i = i as usize;
        row.take(x, i, 0)?;
        given.take(i, &mut lesson.candidates);
        lesson.candidates.truncate(plan.n_candidates);
        lesson.own = lesson.candidates.iter().position(|c| c.1 == y[i]);
        lesson.counted = true;
        lesson.features.clone_from(&row.features);
        lesson.values.clone_from(&row.values);
        update(&lesson, places, plan, learned, &mut progress);
    }
    Ok(progress)
}

/// The `keep` best candidates of each row; places without one hold `u32::MAX` and minus infinity.
pub fn rank(
    given: &Given<'_>,
    ranker: &Ranker<'_>,
    x: &Csr<'_, f32>,
    keep: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Ranked, KernelError> {
    let (n, n_labels) = (x.n_rows(), ranker.biases.len());
    given.check(n, n_labels)?;
    ranker.check(n_labels)?;
    if keep == 0 || keep > n_labels {
        return Err(KernelError::Argument(format!("keep must be in 1..={n_labels}, got {keep}")));
    }
    let mut out = Ranked {
        labels: vec![u32::MAX; n * keep],
        scores: vec![f32::NEG_INFINITY; n * keep],
        log_sums: vec![f32::NEG_INFINITY; n],
    };
    let places = Places::of(ranker.pairs.len());
    let one = |(i, ((labels, scores), log_sum)): (usize, (Best<'_>, &mut f32))| {
        stop.check()?;
        let (mut row, mut candidates) = (ScaledRow::default(), Vec::new());
        row.take(x, i, 0)?;
        given.take(i, &mut candidates);
        if !candidates.is_empty() {
            *log_sum = ranker.sort(places, &row, &mut candidates, &[]);
        }
        for ((label, score), &(s, y)) in labels.iter_mut().zip(scores).zip(&candidates) {
            (*score, *label) = (s, y);
        }
        Ok(())
    };
    let rows = out.labels.chunks_mut(keep).zip(out.scores.chunks_mut(keep)).zip(&mut out.log_sums);
    try_each(n_threads, rows.enumerate(), one)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learning_from_given_candidates_puts_the_own_label_first() {
        // Two labels with equal scores: feature 0 tells the first, feature 1 the second.
        let x = Csr::new(&[0, 1, 2], &[0, 1], &[1.0, 1.0], 2).unwrap();
        let given = Given { starts: &[0, 2, 4], labels: &[0, 1, 0, 1], scores: &[-0.7; 4] };
        let (mut biases, mut pairs) = (vec![[0.0; 2]; 2], vec![[0.0; 2]; 1 << 8]);
        let mut learned =
            Learned { factors: [[1.0, 0.0], [0.0, 0.0]], biases: &mut biases, pairs: &mut pairs };
        let plan = Plan { n_candidates: 2, rate: 0.5, factor_rate: 0.0 };
        let order: Vec<u32> = (0..40).map(|i| i % 2).collect();
        let stop = Interrupt::new();
        let seen = learn(&given, &x, &[0, 1], &order, plan, &mut learned, &stop).unwrap();
        assert_eq!((seen.rows, seen.reached), (40, 40));
        let units: Vec<i8> = pairs.iter().map(|w| (w[0] * 32.0).round() as i8).collect();
        let biases: Vec<f32> = biases.iter().map(|b| b[0]).collect();
        let ranker = Ranker { factors: [1.0, 0.0], biases: &biases, pairs: &units, unit: 1.0 / 32.0 };
        let out = rank(&given, &ranker, &x, 2, 2, &stop).unwrap();
        assert_eq!(out.labels, [0, 1, 1, 0]);
        let total: f32 = out.scores[..2].iter().map(|s| (s - out.log_sums[0]).exp()).sum();
        assert!((total - 1.0).abs() < 1e-5);
        let outside = Given { labels: &[0, 1, 0, 2], ..given };
        assert!(rank(&outside, &ranker, &x, 2, 1, &stop).is_err());
    }
}
