//! Which columns a row names: one bit per column, small enough to stay in the cache.

use crate::simd::Index;

/// Columns beyond which a row is sorted instead: 8 MB of bits.
const MOST: usize = 1 << 26;

/// A set of columns, empty between two questions.
#[derive(Debug, Clone, Default)]
pub struct ColumnSet {
    words: Vec<u64>,
}

impl ColumnSet {
    /// Whether a column below `n_cols` stands twice in `columns`, sorted or not.
    pub fn repeats<I: Index>(&mut self, columns: &[I], n_cols: usize) -> bool {
        let rise = |pair: &[I]| pair[0].to_i64() < pair[1].to_i64();
        if columns.windows(2).all(rise) {
            return false;
        }
        if n_cols > MOST {
            let mut sorted: Vec<i64> = columns.iter().map(|c| c.to_i64()).collect();
            sorted.sort_unstable();
            return sorted.windows(2).any(|pair| pair[0] == pair[1]);
        }
        if self.words.len() != n_cols.div_ceil(64) {
            self.words = vec![0; n_cols.div_ceil(64)];
        }
        let mut again = 0;
        for c in columns {
            let c = c.to_i64() as usize;
            if let Some(word) = self.words.get_mut(c / 64) {
                again |= (*word >> (c % 64)) & 1;
                *word |= 1 << (c % 64);
            }
        }
        for c in columns {
            if let Some(word) = self.words.get_mut(c.to_i64() as usize / 64) {
                *word = 0;
            }
        }
        again == 1
    }
}

#[cfg(test)]
mod tests {
    use super::ColumnSet;

    #[test]
    fn repeated_columns_are_found_and_the_set_is_empty_afterwards() {
        let mut set = ColumnSet::default();
        for _ in 0..2 {
            assert!(!set.repeats(&[5i32, 64, 0, 199], 200));
            assert!(set.repeats(&[5i64, 64, 0, 64], 200));
            assert!(!set.repeats(&[-1i32, 5000], 200));
            assert!(!set.repeats(&[7i64, 1 << 50], 1 << 60) && set.repeats(&[7i64, 9, 7], 1 << 60));
            assert!(!set.repeats::<i32>(&[], 0));
        }
    }
}
