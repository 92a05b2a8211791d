//! Numbers of labels in 16 or 32 bits, and the loop that spends most of a search on them.
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
}

#[cfg(test)]
mod tests {
    use super::Number;

    fn check<N: Number>(number: impl Fn(u16) -> N) {
        let numbers = [3, 1, 3].map(number);
        let mut scores = vec![0; N::ALL.max(5)];
        N::scatter(&numbers, &[1, 2, 4], &mut scores, |weight| 10 * i16::from(weight));
        assert_eq!(scores[..5], [0, 20, 0, 50, 0]);
        assert_eq!(numbers[0].place(), 3);
    }

    #[test]
    fn both_widths_add_the_same() {
        check(|number| number);
        check(u32::from);
    }
}
