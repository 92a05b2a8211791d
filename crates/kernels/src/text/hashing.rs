//! Terms to columns by a signed hash (Weinberger et al. 2009), as scikit-learn's `FeatureHasher` does it:
//! MurmurHash3 for 32 bits with seed 0, h; column |h| mod n, sign that of h.

use super::analyze::{Analyzer, Scratch};
use super::batch::Batch;
use super::rows::Piece;
use super::threads_for;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::threads::each;

/// MurmurHash3_x86_32 of Austin Appleby (public domain), seed 0.
#[inline]
pub fn murmur3(bytes: &[u8]) -> i32 {
    const C1: u32 = 0xCC9E_2D51;
    const C2: u32 = 0x1B87_3593;
    let mut h = 0u32;
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        let k = u32::from_le_bytes(*word).wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
        h = (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    let k = rest.iter().rev().fold(0, |k, &b| (k << 8) | u32::from(b));
    h ^= k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    h ^= bytes.len() as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    (h ^ (h >> 16)) as i32
}

/// The column of a hash, and whether its sign is negative.
#[inline(always)]
pub fn column(hash: i32, n_cols: u32) -> (u32, bool) {
    // scikit-learn takes (2^31 - 1 - (n - 1)) mod n for the hash -2^31, which is 2^31 mod n.
    let size = hash.unsigned_abs();
    let column = if n_cols.is_power_of_two() { size & (n_cols - 1) } else { size % n_cols };
    (column, hash < 0)
}

/// Fail unless `n_cols` columns can be numbered with a sign in 32 bits.
pub fn check_columns(n_cols: usize) -> Result<u32, KernelError> {
    match i32::try_from(n_cols) {
        Ok(n) if n > 0 => Ok(n as u32),
        _ => Err(KernelError::Argument(format!("n_features must be from 1 to 2^31 - 1, not {n_cols}"))),
    }
}

/// Rows of a batch: every term's column, doubled, plus one where its sign is negative (when `signed`).
pub fn hash_rows(
    analyzer: &Analyzer,
    batch: Batch<'_>,
    n_cols: usize,
    signed: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<Piece>, KernelError> {
    let n_cols = check_columns(n_cols)?;
    let (cuts, size) = batch.cuts(n_threads.saturating_mul(8));
    each(threads_for(size, n_threads), cuts, |run| {
        let mut piece = Piece::default();
        let mut scratch = Scratch::default();
        for i in run {
            stop.check()?;
            analyzer.terms(batch, i, &mut scratch)?;
            let code = |term: &[u8]| {
                let (column, negative) = column(murmur3(term), n_cols);
                if signed { 2 * column + u32::from(negative) } else { column }
            };
            piece.codes().extend(scratch.strings().map(code));
            piece.end_row(signed);
        }
        Ok(piece)
    })
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{column, murmur3};

    #[test]
    fn hashes_are_those_of_the_reference() {
        // From smhasher's verification of MurmurHash3_x86_32.
        for (text, hash) in
            [("", 0), ("a", 0x3C25_69B2), ("Hello, world!", 0xC036_3E43), ("abcd", 0x43ED_676A)]
        {
            assert_eq!(murmur3(text.as_bytes()) as u32, hash, "{text}");
        }
    }

    #[test]
    fn the_lowest_hash_has_a_column() {
        for n in [1, 2, 3, 1 << 20, 1_000_003] {
            assert_eq!(column(i32::MIN, n), ((2_147_483_647 - (n - 1)) % n, true));
        }
    }
}
