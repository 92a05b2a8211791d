//! Which rows deserve a visit: hot sets and resting rows for dual coordinate descent.
//!
//! With hinge losses most duals reach a bound early and stay there, while a few keep moving. Before a
//! full sweep the rows that moved most in the last one are swept several times; rows that did not
//! move in two visits rest until the next full sweep. Both only reorder exact coordinate steps,
//! so the optimum does not change (compare shrinking, Hsieh et al. 2008, section 3.2).

use crate::random::Random;

/// Share of the rows in a hot set.
const SHARE: f64 = 0.02;
/// A hot set has at least this many rows where so many moved: 2 % of a small problem is too few.
const LEAST: usize = 64;
/// Sweeps over a hot set before each sweep over the others.
pub const HOT_SWEEPS: usize = 20;
/// First pass (from zero) that starts with a hot set.
const FIRST: usize = 5;
/// Every so many passes all rows are visited.
const FULL_EVERY: usize = 5;
/// Visits without a move after which a row rests.
const REST: u8 = 2;

/// How far each row's dual moved at its last visit, and for how long it has not.
#[derive(Debug, Clone)]
pub struct HotRows {
    moved: Vec<f32>,
    still: Vec<u8>,
}

impl HotRows {
    /// No row has moved yet.
    pub fn new(n_rows: usize) -> Self {
        Self { moved: vec![0.0; n_rows], still: vec![0; n_rows] }
    }

    /// Note that the dual of row `i` moved by `step`.
    #[inline(always)]
    pub fn note(&mut self, i: usize, step: f64) {
        self.moved[i] = step.abs() as f32;
        self.still[i] = if step == 0.0 { self.still[i].saturating_add(1) } else { 0 };
    }

    /// The rows of a hot set before pass number `pass`, in random order; often none.
    pub fn select(&self, pass: usize, random: &mut Random) -> Vec<u32> {
        if pass < FIRST {
            return Vec::new();
        }
        let mut rows: Vec<u32> =
            (0..self.moved.len() as u32).filter(|&i| self.moved[i as usize] > 0.0).collect();
        let wanted = ((self.moved.len() as f64 * SHARE) as usize).max(LEAST);
        if wanted < rows.len() {
            let key = |i: &u32| self.moved[*i as usize];
            rows.select_nth_unstable_by(wanted, |a, b| key(b).total_cmp(&key(a)).then(a.cmp(b)));
            rows.truncate(wanted);
        }
        rows.sort_unstable();
        random.shuffle(&mut rows);
        rows
    }

    /// Keep of `rows` those to be visited in pass number `pass`.
    pub fn awake(&self, pass: usize, rows: &[u32]) -> Vec<u32> {
        if pass < FIRST || pass.is_multiple_of(FULL_EVERY) {
            return rows.to_vec();
        }
        rows.iter().copied().filter(|&i| self.still[i as usize] < REST).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, HotRows, LEAST};
    use crate::random::Random;

    #[test]
    fn the_rows_that_moved_most_are_hot_and_still_rows_rest() {
        let n = 1000;
        let mut hot = HotRows::new(n);
        for _ in 0..3 {
            for i in 0..n {
                hot.note(i, if i % 2 == 0 { i as f64 + 1.0 } else { 0.0 });
            }
        }
        assert!(hot.select(0, &mut Random::new(0)).is_empty());
        let rows = hot.select(FIRST + 1, &mut Random::new(0));
        assert_eq!(rows.len(), LEAST);
        assert!(rows.iter().all(|&i| i % 2 == 0 && i as usize >= n - 2 * LEAST));
        let all: Vec<u32> = (0..n as u32).collect();
        assert_eq!(hot.awake(FIRST, &all).len(), n);
        assert_eq!(hot.awake(FIRST + 1, &all).len(), n / 2);
    }
}
