//! Labels compared with a row through the rows that they were learned from.
//!
//! Problem: how close is a row x to the rows R_y of a label y that are kept as its examples,
//!     m_y(x) = ln 1/|R_y| sum_{r in R_y} exp( sum_{f in x and in r} x_f t_f ),
//! the logarithm of a kernel density estimate; t_f is what it is worth to share feature f, in 1/16. Naive Bayes
//! only knows how often features occur with a label, this knows which of them occur together.
//! Invariant: one row of training can be left out of its own label's examples; a label without examples has m = 0.
//! Source: Parzen (1962); the weights of features are those of inverse document frequency, Sparck Jones (1972).
//! Returned: m of every candidate.

use super::index::{Candidate, ScaledRow, span};
use crate::error::{KernelError, check_length};
use crate::simd::prefetch_outer;

/// Units of a natural logarithm.
const UNITS: f32 = 16.0;
/// Shared worths count up to this many units, e^64.
const MOST: usize = 1024;

/// The 16-bit slot of a feature: itself among up to 2^16 of them, else a hash (Knuth's multiplicative one). Two rows
/// share so few features that hardly any meet in a slot by chance.
#[inline(always)]
pub fn slot(feature: u32, n_features: usize) -> u16 {
    if n_features <= SLOTS { feature as u16 } else { (feature.wrapping_mul(0x9e37_79b1) >> 16) as u16 }
}

/// Slots of features.
const SLOTS: usize = 1 << 16;

/// Rows of training, label by label, in borrowed arrays: every access is checked.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    /// Where the rows of each label start, and the end (K + 1).
    pub rows: &'a [i64],
    /// Where the features of each label's rows start, and the end (K + 1).
    pub starts: &'a [i64],
    /// Number of features of each row.
    pub lengths: &'a [u8],
    /// Slots of the features, row by row.
    pub features: &'a [u16],
    /// t_f in 1/16 (d).
    pub worths: &'a [u8],
}

impl Examples<'_> {
    /// Fail unless the lengths agree with `n_features` and `n_labels`.
    pub fn check(&self, n_features: usize, n_labels: usize) -> Result<(), KernelError> {
        check_length("rows of the examples", self.rows.len(), n_labels + 1)?;
        check_length("starts of the examples", self.starts.len(), n_labels + 1)?;
        check_length("worths", self.worths.len(), n_features)
    }

    /// m of every candidate for `row`, without the example `left_out`.
    #[inline(always)]
    pub fn compare(
        &self,
        row: &ScaledRow,
        candidates: &[Candidate],
        left_out: Option<usize>,
        space: &mut Marks,
        out: &mut Vec<f32>,
    ) {
        let n_features = self.worths.len();
        for (&feature, &value) in row.features.iter().zip(&row.values) {
            let worth = self.worths.get(feature as usize).copied().unwrap_or(0);
            let units = (value * f32::from(worth)).round() as u8;
            space.worths[usize::from(slot(feature, n_features))] = units;
        }
        out.clear();
        let of = |at: usize| match candidates.get(at) {
            Some(&(_, label)) => self.features.get(span(self.starts, label as usize)).unwrap_or(&[]),
            None => &[],
        };
        prefetch_outer(of(0));
        for (at, &(_, label)) in candidates.iter().enumerate() {
            // The examples of one label lie together, those of the next one anywhere.
            prefetch_outer(of(at + 1));
            let rows = span(self.rows, label as usize);
            let left_out = left_out.and_then(|row| row.checked_sub(rows.start));
            let (mut rest, mut sum, mut n) = (of(at), 0.0f32, 0u32);
            for (number, &length) in self.lengths.get(rows).unwrap_or(&[]).iter().enumerate() {
                let Some((row, others)) = rest.split_at_checked(usize::from(length)) else { break };
                rest = others;
                if left_out != Some(number) {
                    let total: usize =
                        row.iter().map(|&slot| usize::from(space.worths[usize::from(slot)])).sum();
                    sum += space.exponentials[total.min(MOST - 1)];
                    n += 1;
                }
            }
            out.push(if n == 0 { 0.0 } else { (sum / n as f32).ln() });
        }
        for &feature in &row.features {
            space.worths[usize::from(slot(feature, n_features))] = 0;
        }
    }
}

/// Space for one row: what the slots of its features are worth, zero for all others; and a table of exponentials.
#[derive(Debug)]
pub struct Marks {
    worths: Box<[u8; SLOTS]>,
    exponentials: [f32; MOST],
}

impl Default for Marks {
    fn default() -> Self {
        let exponentials = std::array::from_fn(|units| (units as f32 / UNITS).exp());
        Self { worths: Box::new([0; SLOTS]), exponentials }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::csr::Csr;

    /// Labels 0 and 2 have examples {0, 1}, {2} and {1, 2, 3}; label 1 has none.
    const ROWS: [i64; 4] = [0, 2, 2, 3];
    const STARTS: [i64; 4] = [0, 3, 3, 6];
    const LENGTHS: [u8; 3] = [2, 1, 3];
    const FEATURES: [u16; 6] = [0, 1, 2, 1, 2, 3];
    const WORTHS: [u8; 4] = [16, 32, 8, 4];

    fn compare(features: &[u16], left_out: Option<usize>) -> Vec<f32> {
        let examples =
            Examples { rows: &ROWS, starts: &STARTS, lengths: &LENGTHS, features, worths: &WORTHS };
        examples.check(4, 3).unwrap();
        assert!(examples.check(4, 2).is_err() && examples.check(5, 3).is_err());
        // Feature 1 counts half as much as feature 2.
        let x = Csr::new(&[0, 2], &[1, 2], &[1.0, 2.0], 4).unwrap();
        let (mut row, mut out) = (ScaledRow::default(), Vec::new());
        row.take(&x, 0, 0).unwrap();
        let mut space = Marks::default();
        for _ in 0..2 {
            let candidates = [(0.0, 0), (0.0, 1), (0.0, 2)];
            examples.compare(&row, &candidates, left_out, &mut space, &mut out);
            assert!(space.worths.iter().all(|&mark| mark == 0));
        }
        out
    }

    #[test]
    fn closeness_is_the_mean_of_the_exponentials_of_what_is_shared() {
        // Worths of features 1 and 2 in this row: 2 / 1.5 and 0.5 * 2 / 1.5, in sixteenths 21 and 11.
        let (one, two) = (21.0f32 / 16.0, 11.0f32 / 16.0);
        for (left_out, first) in [(None, (one.exp() + two.exp()) / 2.0), (Some(1), one.exp())] {
            let found = compare(&FEATURES, left_out);
            for (found, expected) in found.iter().zip([first.ln(), 0.0, one + two]) {
                assert!((found - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
        assert_eq!(compare(&FEATURES, Some(2))[2], 0.0);
    }

    #[test]
    fn slots_of_many_features_are_spread_evenly() {
        assert_eq!(slot(40_000, 1 << 16), 40_000);
        let mut seen = vec![0; SLOTS];
        for feature in 0..1 << 18 {
            seen[usize::from(slot(feature, 1 << 18))] += 1;
        }
        assert!(seen.iter().all(|&n| n < 8));
    }

    #[test]
    fn arrays_that_do_not_agree_do_no_harm() {
        let far = [0u16, 9, 2, 1, 2, 99];
        assert!(compare(&far, None).iter().all(|m| m.is_finite()));
        assert!(compare(&[0], None).iter().all(|m| m.is_finite()));
    }
}
