//! Sorts the occurrences of a row by radix, from the last digit to the first.
//!
//! Rows of text are some hundred numbers of about twenty bits: two digits of ten bits, whose counters
//! stay in the first-level cache.

use crate::text::tuning::{BASE, SHORT};

/// Memory for sorting, used again for every row.
#[derive(Debug, Default)]
pub struct Sorter {
    copy: Vec<u32>,
}

impl Sorter {
    /// Sort in rising order.
    pub fn sort(&mut self, row: &mut [u32]) {
        if row.len() < SHORT {
            return row.sort_unstable();
        }
        let n_bits = 32 - row.iter().fold(0, |all, &code| all | code).leading_zeros();
        let n_passes = n_bits.div_ceil(BASE.ilog2());
        let width = n_bits.div_ceil(n_passes.max(1));
        self.copy.resize(self.copy.len().max(row.len()), 0);
        let (mut from, mut to) = (&mut *row, &mut self.copy[..]);
        to = &mut to[..from.len()];
        for pass in 0..n_passes {
            part(from, to, pass * width, width);
            std::mem::swap(&mut from, &mut to);
        }
        if n_passes % 2 == 1 {
            to.copy_from_slice(from);
        }
    }
}

/// Copy `from` to `to`, ordered by the digit of `width` bits at `shift`, otherwise in the same order.
fn part(from: &[u32], to: &mut [u32], shift: u32, width: u32) {
    let digit = |code: u32| (code >> shift) as usize & ((1 << width) - 1) & (BASE - 1);
    let mut next = [0u32; BASE];
    for &code in from {
        next[digit(code)] += 1;
    }
    let mut sum = 0;
    for count in &mut next[..1 << width] {
        sum += std::mem::replace(count, sum);
    }
    for &code in from {
        let place = &mut next[digit(code)];
        to[*place as usize] = code;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Sorter;

    #[test]
    fn any_row_is_sorted() {
        let mut state = 1u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % n) as u32
        };
        let mut sorter = Sorter::default();
        for (length, bound) in
            [(0, 1), (1, 9), (127, 5), (128, 1), (129, 2), (500, 3), (900, 1 << 19), (4000, 1 << 32)]
        {
            let mut row: Vec<u32> = (0..length).map(|_| draw(bound)).collect();
            let mut expected = row.clone();
            expected.sort_unstable();
            sorter.sort(&mut row);
            assert_eq!(row, expected);
        }
    }
}
