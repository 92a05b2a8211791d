//! One weight per pair of a feature and a label, hashed into a table.
//!
//! Invariant: a pair has the same place for every table of the same size, on every machine.
//! Source: feature hashing, Weinberger et al. (2009); the mixing function of SplitMix64.

/// Places of pairs in a table of 2^bits entries.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    shift: u32,
}

impl Places {
    /// The places of a table of `size` entries, a power of two from 2 to 2^31.
    pub fn of(size: usize) -> Option<Self> {
        let fits = size.is_power_of_two() && (2..=1 << 31).contains(&size);
        fits.then(|| Self { shift: 64 - size.trailing_zeros() })
    }

    /// The place of a pair.
    #[inline(always)]
    pub fn place(self, feature: u32, label: u32) -> usize {
        let mut z = (u64::from(feature) << 32 | u64::from(label)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn places_fill_the_table_and_stay_inside() {
        assert!(Places::of(3).is_none() && Places::of(1).is_none());
        let places = Places::of(64).unwrap();
        let mut seen = [0; 64];
        for feature in 0..40 {
            for label in 0..40 {
                seen[places.place(feature, label)] += 1;
            }
        }
        assert!(seen.iter().all(|&n| (5..60).contains(&n)), "{seen:?}");
    }
}
