//! The voted perceptron: every weight vector of the run votes, as often as it survived rows.
//!
//! Problem: votes_k(x) = sum_v c_v [argmax_j s_j^v(x) = k] over all vectors v of the run, c_v the rows
//! that v survived (Freund & Schapire 1999). The vectors are not stored: vector v + 1 is vector v
//! plus one row, so the scores of x follow from its products with the rows of the updates (the Gram
//! row of x). At a tie the first label gets the vote. Returns each label's share of the votes.

use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::online::{Update, n_scores};
use crate::threads::try_each;

/// Updates in order; `row` numbers the columns of the Gram matrix.
#[derive(Debug, Clone, Copy)]
pub struct Log<'a> {
    /// The updates.
    pub updates: &'a [Update],
    /// Rows that the starting weights survived.
    pub start_survived: u64,
    /// Number of labels.
    pub n_classes: usize,
    /// Columns of the Gram matrix.
    pub n_support: usize,
}

/// Shares of the votes, `n x n_classes`, for rows with `start` scores (n x scores) at the starting
/// weights and products `gram` (n x n_support) with the rows of the updates, bias feature included.
pub fn shares(
    log: Log<'_>,
    start: &[f64],
    gram: &[f64],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    if log.n_classes < 2 {
        return Err(KernelError::Argument("there must be at least two classes".into()));
    }
    let k = n_scores(log.n_classes);
    let n = start.len() / k;
    check_length("start scores", start.len(), n * k)?;
    check_length("gram", gram.len(), n * log.n_support)?;
    for update in log.updates {
        if update.row as usize >= log.n_support || update.raised.max(update.lowered) as usize >= log.n_classes
        {
            return Err(KernelError::Argument("an update names a row or a label that is not there".into()));
        }
    }
    let mut out = zeros(n.saturating_mul(log.n_classes))?;
    let one = |(i, out): (usize, &mut [f64])| {
        stop.check()?;
        row_shares(log, &start[i * k..(i + 1) * k], &gram[i * log.n_support..(i + 1) * log.n_support], out);
        Ok(())
    };
    try_each(n_threads, out.chunks_mut(log.n_classes).enumerate(), one)?;
    Ok(out)
}

fn row_shares(log: Log<'_>, start: &[f64], gram: &[f64], votes: &mut [f64]) {
    let mut scores = start.to_vec();
    let mut total = log.start_survived as f64;
    votes[winner(&scores)] += total;
    for update in log.updates {
        let step = update.size * gram[update.row as usize];
        if let [s] = scores.as_mut_slice() {
            *s += if update.raised == 1 { step } else { -step };
        } else {
            scores[update.raised as usize] += step;
            scores[update.lowered as usize] -= step;
        }
        votes[winner(&scores)] += update.survived as f64;
        total += update.survived as f64;
    }
    if total > 0.0 {
        votes.iter_mut().for_each(|v| *v /= total);
    }
}

fn winner(scores: &[f64]) -> usize {
    if let [s] = scores {
        return usize::from(*s > 0.0);
    }
    let mut best = 0;
    for (k, s) in scores.iter().enumerate() {
        if *s > scores[best] {
            best = k;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{Log, shares};
    use crate::interrupt::Interrupt;
    use crate::online::Update;

    #[test]
    fn vectors_vote_as_often_as_they_survived() {
        // Start: score 0, first label, one vote. Then +2 (three votes), then -3 (two votes).
        let updates = [
            Update { row: 0, raised: 1, lowered: 0, size: 1.0, survived: 3 },
            Update { row: 1, raised: 0, lowered: 1, size: 1.0, survived: 2 },
        ];
        let log = Log { updates: &updates, start_survived: 1, n_classes: 2, n_support: 2 };
        let votes = shares(log, &[0.0], &[2.0, 3.0], 1, &Interrupt::new()).expect("valid");
        assert_eq!(votes, [0.5, 0.5]);
    }

    #[test]
    fn a_wrong_log_is_an_error() {
        let updates = [Update { row: 5, raised: 1, lowered: 0, size: 1.0, survived: 3 }];
        let log = Log { updates: &updates, start_survived: 1, n_classes: 2, n_support: 2 };
        assert!(shares(log, &[0.0], &[2.0, 3.0], 1, &Interrupt::new()).is_err());
    }
}
