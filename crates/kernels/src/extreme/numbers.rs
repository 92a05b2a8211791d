//! Numbers of labels and features in 16 or 32 bits, and the two loops that spend most of a search on them.
//!
//! Invariant: a number outside a table is passed over; a table of 2^16 entries holds every 16-bit number, so that
//! the loops over those need no check.

/// A number of 16 or 32 bits.
pub trait Number: Copy + Ord + Send + Sync {
    /// A table of this length has a place for every such number; zero where that would be too long.
    const ALL: usize;

    /// As a place in an array.
    fn place(self) -> usize;

    /// Add `value(weight)` to the places of `numbers`, both counted together. Tables have `ALL` entries or more.
    fn scatter(numbers: &[Self], weights: &[u8], table: &mut [i16], value: impl Fn(u8) -> i16);

    /// The sum of the places of `numbers` in a table of `ALL` entries or more.
    fn total(numbers: &[Self], table: &[u8]) -> usize;
}

impl Number for u16 {
    const ALL: usize = 1 << 16;

    #[inline(always)]
    fn place(self) -> usize {
        usize::from(self)
    }

    #[inline(always)]
    fn scatter(numbers: &[Self], weights: &[u8], table: &mut [i16], value: impl Fn(u8) -> i16) {
        let Some(table) = table.first_chunk_mut::<{ 1 << 16 }>() else { return };
        for (&number, &weight) in numbers.iter().zip(weights) {
            let place = &mut table[usize::from(number)];
            *place = place.wrapping_add(value(weight));
        }
    }

    #[inline(always)]
    fn total(numbers: &[Self], table: &[u8]) -> usize {
        let Some(table) = table.first_chunk::<{ 1 << 16 }>() else { return 0 };
        numbers.iter().map(|&number| usize::from(table[usize::from(number)])).sum()
    }
}

impl Number for u32 {
    const ALL: usize = 0;

    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn scatter(numbers: &[Self], weights: &[u8], table: &mut [i16], value: impl Fn(u8) -> i16) {
        for (&number, &weight) in numbers.iter().zip(weights) {
            if let Some(place) = table.get_mut(number as usize) {
                *place = place.wrapping_add(value(weight));
            }
        }
    }

    #[inline(always)]
    fn total(numbers: &[Self], table: &[u8]) -> usize {
        numbers.iter().map(|&number| usize::from(table.get(number as usize).copied().unwrap_or(0))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    fn check<N: Number>(number: impl Fn(u16) -> N) {
        let numbers = [3, 1, 3].map(number);
        let mut scores = vec![0; N::ALL.max(5)];
        N::scatter(&numbers, &[1, 2, 4], &mut scores, |weight| 10 * i16::from(weight));
        assert_eq!(scores[..5], [0, 20, 0, 50, 0]);
        let mut worths = vec![0; N::ALL.max(5)];
        worths[..5].copy_from_slice(&[9, 5, 0, 255, 1]);
        assert_eq!(N::total(&numbers, &worths), 515);
        assert_eq!(numbers[0].place(), 3);
    }

    #[test]
    fn both_widths_add_the_same() {
        check(|number| number);
        check(u32::from);
        assert_eq!(u32::total(&[1, 7], &[0, 2]), 2);
    }
}
