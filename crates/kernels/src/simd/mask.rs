//! Where the words are: one bit per byte, set unless the byte is a space.

/// Bytes that [`words_mask`] looks at.
pub const MASK_BLOCK: usize = 64;

/// Bit i is set when byte i is not a space.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn words_mask(block: &[u8; MASK_BLOCK]) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    let (halves, _) = block.as_chunks::<16>();
    let mut spaces = 0;
    for (i, half) in halves.iter().enumerate() {
        let value = u128::from_le_bytes(*half);
        // SAFETY: these are instructions of SSE2, which every x86-64 machine has.
        let equal = unsafe {
            let bytes = _mm_set_epi64x((value >> 64) as i64, value as i64);
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b' ' as i8)))
        };
        spaces |= u64::from(equal as u16) << (16 * i);
    }
    !spaces
}

/// Bit i is set when byte i is not a space.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn words_mask(block: &[u8; MASK_BLOCK]) -> u64 {
    plain(block)
}

/// [`words_mask`] on eight bytes at a time.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(block: &[u8; MASK_BLOCK]) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let (eights, _) = block.as_chunks::<8>();
    let mut mask = 0;
    for (i, eight) in eights.iter().enumerate() {
        let x = u64::from_le_bytes(*eight) ^ 0x2020_2020_2020_2020;
        // The top bit of each byte that is not zero, then those bits side by side.
        let top = (((x & LOW) + LOW) | x) & !LOW;
        mask |= ((top >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::{MASK_BLOCK, plain, words_mask};

    #[test]
    fn both_ways_see_the_same_bytes() {
        let mut block = [b' '; MASK_BLOCK];
        assert_eq!(words_mask(&block), 0);
        for i in 0..MASK_BLOCK {
            block[i] = if i % 3 == 0 { (i * 37) as u8 } else { b' ' };
            let expected = block.iter().enumerate().map(|(i, &b)| u64::from(b != b' ') << i).sum::<u64>();
            assert_eq!(words_mask(&block), expected);
            assert_eq!(plain(&block), expected);
        }
    }
}
