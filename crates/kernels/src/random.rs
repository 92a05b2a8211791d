//! A small generator for shuffles: SplitMix64 (Steele, Lea & Flood 2014).

/// Pseudo-random numbers from a 64-bit state; the same seed gives the same numbers everywhere.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Start from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Numbers of its own for part `number` of a whole, so that they do not depend on the order of the parts.
    pub fn of_part(seed: u64, number: usize) -> Self {
        Self::new(Self::new(seed ^ (number as u64).rotate_left(32)).next_u64())
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from zero to below one.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in `0..n` (bias below 2^-32 for n < 2^32; `n` must be positive).
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Fisher–Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_shuffle_is_a_permutation_and_depends_on_the_seed() {
        let mut a: Vec<u32> = (0..100).collect();
        let mut b = a.clone();
        Random::new(1).shuffle(&mut a);
        Random::new(2).shuffle(&mut b);
        assert_ne!(a, b);
        a.sort_unstable();
        assert_eq!(a, (0..100).collect::<Vec<u32>>());
    }
}
