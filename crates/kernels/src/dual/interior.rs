//! Moves of the duals and slacks in an interior-point method for the generalized hinge, row by row.
//!
//! A row has duals alpha_k > 0 that sum to a constant and slacks mu_k > 0 with
//! mu_k = xi - s_k - cost_k - excess_k. Newton's method on alpha_k mu_k = product_k asks for
//! d alpha = a - D (d xi - ds) with D = alpha / mu and a = product / mu - alpha - D excess, where d xi makes
//! the sum of d alpha vanish. [`fixed_moves`] gives the part of d alpha that does not depend on the scores,
//! [`moves`] the rest once their change ds is known.
//!
//! Invariant: the moves of a row sum to zero to the last bit that matters. Near the optimum one D of a row
//! exceeds the others by many orders of magnitude: scores are taken relative to its label, the chief, and its
//! own move is the sum of the others. Mehrotra (1992); the system in w is that of [`crate::primal::label_gram`].

use crate::error::{KernelError, check_length};

/// Duals and slacks of some rows, label by label.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// Labels a row.
    pub n_labels: usize,
    /// Duals.
    pub alpha: &'a [f64],
    /// Slacks, 1 for labels that take no part.
    pub mu: &'a [f64],
    /// Which labels take part; the duals of the others are zero.
    pub member: &'a [bool],
    /// xi - s - cost - mu.
    pub excess: &'a [f64],
}

impl Rows<'_> {
    fn check(&self) -> Result<(), KernelError> {
        let n = self.alpha.len();
        check_length("mu", self.mu.len(), n)?;
        check_length("member", self.member.len(), n)?;
        check_length("excess", self.excess.len(), n)?;
        if self.n_labels == 0 || !n.is_multiple_of(self.n_labels) {
            return Err(KernelError::Argument(format!(
                "{n} values are not rows of {} labels",
                self.n_labels
            )));
        }
        Ok(())
    }

    /// D of a row into `ratios`; returns their sum and the number of the largest.
    #[inline(always)]
    fn ratios(&self, at: usize, ratios: &mut [f64]) -> (f64, usize) {
        let (mut total, mut chief) = (0.0, 0);
        for (k, ratio) in ratios.iter_mut().enumerate() {
            *ratio = self.alpha[at + k] / self.mu[at + k];
            total += *ratio;
        }
        for (k, &ratio) in ratios.iter().enumerate() {
            if ratio > ratios[chief] {
                chief = k;
            }
        }
        (total, chief)
    }
}

/// Set the chief's move so that all sum to zero.
#[inline(always)]
fn balance(moves: &mut [f64], chief: usize) {
    moves[chief] = 0.0;
    moves[chief] = -moves.iter().sum::<f64>();
}

/// The moves of the duals towards alpha mu = products while the scores stay, and d xi of every row.
pub fn fixed_moves(rows: Rows<'_>, products: &[f64]) -> Result<(Vec<f64>, Vec<f64>), KernelError> {
    rows.check()?;
    check_length("products", products.len(), rows.alpha.len())?;
    let mut fixed = vec![0.0; products.len()];
    let mut ratios = vec![0.0; rows.n_labels];
    let mut lifts = Vec::with_capacity(products.len() / rows.n_labels);
    for (r, fixed) in fixed.chunks_exact_mut(rows.n_labels).enumerate() {
        let at = r * rows.n_labels;
        let (total, chief) = rows.ratios(at, &mut ratios);
        let mut sum = 0.0;
        for (k, a) in fixed.iter_mut().enumerate() {
            let i = at + k;
            *a = products[i] / rows.mu[i] - rows.alpha[i] - ratios[k] * rows.excess[i];
            sum += *a;
        }
        let lift = sum / total;
        for (a, ratio) in fixed.iter_mut().zip(&ratios) {
            *a -= ratio * lift;
        }
        balance(fixed, chief);
        lifts.push(lift);
    }
    Ok((fixed, lifts))
}

/// The moves of duals and slacks when the scores move by `ds`, and the longest step up to 1 that keeps both
/// from falling below zero.
///
/// `fixed` and `lifts` are what [`fixed_moves`] returned.
pub fn moves(
    rows: Rows<'_>,
    fixed: &[f64],
    lifts: &[f64],
    ds: &[f64],
) -> Result<(Vec<f64>, Vec<f64>, f64), KernelError> {
    rows.check()?;
    let n = rows.alpha.len();
    check_length("fixed", fixed.len(), n)?;
    check_length("ds", ds.len(), n)?;
    check_length("lifts", lifts.len(), n / rows.n_labels)?;
    let (mut dalpha, mut dmu) = (vec![0.0; n], vec![0.0; n]);
    let mut ratios = vec![0.0; rows.n_labels];
    let mut fall = 1.0f64;
    let both = dalpha.chunks_exact_mut(rows.n_labels).zip(dmu.chunks_exact_mut(rows.n_labels));
    for (r, (dalpha, dmu)) in both.enumerate() {
        let at = r * rows.n_labels;
        let (total, chief) = rows.ratios(at, &mut ratios);
        let ds = &ds[at..at + rows.n_labels];
        let origin = ds[chief];
        let shift = ds.iter().zip(&ratios).map(|(s, ratio)| ratio * (s - origin)).sum::<f64>() / total;
        for k in 0..rows.n_labels {
            let relative = ds[k] - origin - shift;
            dalpha[k] = fixed[at + k] + ratios[k] * relative;
            dmu[k] = lifts[r] - relative + rows.excess[at + k];
        }
        balance(dalpha, chief);
        for k in 0..rows.n_labels {
            let i = at + k;
            if rows.member[i] {
                fall = fall.max(-dalpha[k] / rows.alpha[i]).max(-dmu[k] / rows.mu[i]);
            } else {
                dmu[k] = 0.0;
            }
        }
    }
    Ok((dalpha, dmu, 1.0 / fall))
}

#[cfg(test)]
mod tests {
    use super::{Rows, fixed_moves, moves};

    const ALPHA: [f64; 6] = [0.5, 0.3, 0.2, 0.9, 0.0, 0.1];
    const MU: [f64; 6] = [0.1, 2.0, 0.4, 1e-9, 1.0, 3.0];
    const MEMBER: [bool; 6] = [true, true, true, true, false, true];
    const EXCESS: [f64; 6] = [0.0, 0.0, -0.3, 0.0, 0.0, 0.0];

    fn rows() -> Rows<'static> {
        Rows { n_labels: 3, alpha: &ALPHA, mu: &MU, member: &MEMBER, excess: &EXCESS }
    }

    #[test]
    fn the_moves_solve_the_linearized_equations() {
        let products = [0.1, 0.1, 0.1, 0.01, 0.0, 0.01];
        let ds = [0.2, -0.1, 0.4, 3.0, 5.0, -1.0];
        let (fixed, lifts) = fixed_moves(rows(), &products).expect("valid");
        let (dalpha, dmu, longest) = moves(rows(), &fixed, &lifts, &ds).expect("valid");
        for r in 0..2 {
            let row = 3 * r..3 * r + 3;
            assert!(dalpha[row.clone()].iter().sum::<f64>().abs() < 1e-15);
            // d xi is the same for every label that takes part.
            let lift = |i: usize| dmu[i] + ds[i] - EXCESS[i];
            for i in row.clone().filter(|&i| MEMBER[i]) {
                assert!((lift(i) - lift(row.start)).abs() < 1e-12);
                let product = ALPHA[i] * MU[i] + ALPHA[i] * dmu[i] + MU[i] * dalpha[i];
                assert!((product - products[i]).abs() < 1e-12, "{product} {}", products[i]);
            }
        }
        assert_eq!((dalpha[4], dmu[4]), (0.0, 0.0));
        let stays =
            |t: f64| (0..6).all(|i| ALPHA[i] + t * dalpha[i] >= -1e-15 && MU[i] + t * dmu[i] >= -1e-15);
        assert!(stays(longest) && (longest == 1.0 || !stays(1.001 * longest)));
    }

    #[test]
    fn lengths_are_checked() {
        assert!(fixed_moves(rows(), &[0.0; 5]).is_err());
        assert!(moves(rows(), &[0.0; 6], &[0.0; 3], &[0.0; 6]).is_err());
        assert!(fixed_moves(Rows { n_labels: 4, ..rows() }, &[0.0; 6]).is_err());
        assert!(fixed_moves(Rows { n_labels: 0, ..rows() }, &[0.0; 6]).is_err());
    }
}
