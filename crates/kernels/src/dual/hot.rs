//! Which rows deserve a visit: hot sets and resting rows for dual coordinate descent.
//!
//! With hinge losses most duals reach a bound early and stay there, and of the others a few move for long:
//! rows that nearly repeat each other settle slowly, while the rest is done. Before a sweep the rows that
//! moved most in the last one are swept several times, then the quarter of them that still moves most is
//! swept more often, and so on; rows that did not move in their last visit rest until the next full sweep, or
//! until a look at them finds that they would move. A row of the softmax never stops moving: there, rows rest
//! whose gap is far below the average. All this only reorders exact coordinate steps, so the optimum does not
//! change (compare shrinking, Hsieh et al. 2008, section 3.2).

use crate::dual::tuning::{
    FEWER_HOT, FIRST_HOT, FIRST_REST, FULL_EVERY, HOT_SHARE, HOT_SWEEPS, LEAST_HOT, LOOK_EVERY, MORE_SWEEPS,
    REST, SMALL_GAP, SMALLEST_HOT,
};

/// Rows to be swept several times, reshuffled before each sweep.
#[derive(Debug)]
pub struct HotSet {
    /// The rows, sorted.
    pub rows: Vec<u32>,
    /// How often.
    pub n_sweeps: usize,
    sweeps: f64,
}

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

    /// The first hot set before pass number `pass`, if there is one.
    pub fn first_set(&self, pass: usize) -> Option<HotSet> {
        if pass < FIRST_HOT {
            return None;
        }
        let rows = (0..self.moved.len() as u32).collect();
        let wanted = ((self.moved.len() as f64 * HOT_SHARE) as usize).max(LEAST_HOT);
        self.hottest(rows, wanted, HOT_SWEEPS)
    }

    /// The hot set after `set`, if there is one.
    pub fn next_set(&self, set: HotSet) -> Option<HotSet> {
        let wanted = set.rows.len() / FEWER_HOT;
        if wanted < SMALLEST_HOT {
            return None;
        }
        self.hottest(set.rows, wanted, set.sweeps * MORE_SWEEPS)
    }

    fn hottest(&self, mut rows: Vec<u32>, wanted: usize, sweeps: f64) -> Option<HotSet> {
        rows.retain(|&i| self.moved[i as usize] > 0.0);
        if wanted < rows.len() {
            let key = |i: &u32| self.moved[*i as usize];
            rows.select_nth_unstable_by(wanted, |a, b| key(b).total_cmp(&key(a)).then(a.cmp(b)));
            rows.truncate(wanted);
        }
        rows.sort_unstable();
        (!rows.is_empty()).then_some(HotSet { rows, n_sweeps: sweeps as usize, sweeps })
    }

    /// Whether all rows are visited in pass number `pass` because it is early.
    pub fn none_rests(pass: usize) -> bool {
        pass < FIRST_REST
    }

    /// Keep of `rows` those to be visited in pass number `pass`, all of them now and then.
    pub fn awake_or_all(&self, pass: usize, rows: &[u32]) -> Vec<u32> {
        if pass.is_multiple_of(FULL_EVERY) { rows.to_vec() } else { self.awake(pass, rows) }
    }

    /// Keep of `rows` those to be visited in pass number `pass`, where resting ones are looked at.
    pub fn awake(&self, pass: usize, rows: &[u32]) -> Vec<u32> {
        rows.iter().copied().filter(|&i| Self::none_rests(pass) || self.still[i as usize] < REST).collect()
    }

    /// Keep of `rows` those to be looked at before pass number `pass`.
    pub fn resting(&self, pass: usize, rows: &[u32]) -> Vec<u32> {
        if Self::none_rests(pass) || !pass.is_multiple_of(LOOK_EVERY) {
            return Vec::new();
        }
        rows.iter().copied().filter(|&i| self.still[i as usize] >= REST).collect()
    }

    /// Let row `i` be visited again.
    pub fn wake(&mut self, i: usize) {
        self.still[i] = 0;
    }

    /// Keep of `rows` those to be visited in pass number `pass`, by the gap of each at its last visit.
    pub fn worth_a_visit(&self, pass: usize, rows: &[u32], gaps: &[f32]) -> Vec<u32> {
        if Self::none_rests(pass) || pass.is_multiple_of(FULL_EVERY) {
            return rows.to_vec();
        }
        let total: f64 = gaps.iter().map(|&gap| f64::from(gap)).sum();
        let least = (SMALL_GAP * total / rows.len().max(1) as f64) as f32;
        rows.iter().copied().filter(|&i| gaps[i as usize] >= least).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{FEWER_HOT, FIRST_HOT, FULL_EVERY, HotRows, LEAST_HOT, LOOK_EVERY, SMALLEST_HOT};

    #[test]
    fn the_rows_that_moved_most_are_hot_and_still_rows_rest() {
        let n = 1000;
        let mut hot = HotRows::new(n);
        for _ in 0..3 {
            for i in 0..n {
                hot.note(i, if i % 2 == 0 { i as f64 + 1.0 } else { 0.0 });
            }
        }
        assert!(hot.first_set(0).is_none());
        let mut set = hot.first_set(FIRST_HOT);
        let mut wanted = LEAST_HOT;
        let mut sweeps = 0;
        while let Some(now) = set {
            assert_eq!(now.rows.len(), wanted);
            assert!(now.rows.iter().all(|&i| i % 2 == 0 && i as usize >= n - 2 * wanted));
            assert!(now.n_sweeps > sweeps);
            (wanted, sweeps) = (wanted / FEWER_HOT, now.n_sweeps);
            set = hot.next_set(now);
        }
        assert!(wanted < SMALLEST_HOT);
        let all: Vec<u32> = (0..n as u32).collect();
        assert_eq!(hot.awake_or_all(FULL_EVERY, &all).len(), n);
        assert_eq!(hot.awake_or_all(FULL_EVERY + 1, &all).len(), n / 2);
        assert_eq!(hot.awake(FULL_EVERY, &all).len(), n / 2);
        assert!(hot.resting(FULL_EVERY, &all).is_empty());
        let resting = hot.resting(2 * LOOK_EVERY, &all);
        assert!(resting.len() == n / 2 && resting.iter().all(|&i| i % 2 == 1));
        hot.wake(1);
        assert_eq!(hot.awake(FULL_EVERY, &all).len(), n / 2 + 1);
        let gaps: Vec<f32> = (0..n).map(|i| if i % 4 == 0 { 1.0 } else { 1e-3 }).collect();
        assert_eq!(hot.worth_a_visit(FULL_EVERY, &all, &gaps).len(), n);
        assert_eq!(hot.worth_a_visit(FULL_EVERY + 1, &all, &gaps).len(), n / 4);
        assert_eq!(hot.worth_a_visit(FULL_EVERY + 1, &all, &vec![0.0; n]).len(), n);
    }
}
