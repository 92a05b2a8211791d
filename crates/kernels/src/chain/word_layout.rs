//! How the weights of an attribute stand in words of eight bytes: a row with one per label, or their number, the labels
//! (four to a word) and the weights side by side.

use crate::chain::encoded::LANES;
use crate::chain::observed::Pattern;
use crate::chain::tuning::WORDS_PER_WEIGHT;

/// Numbers of sixteen bits that share a word.
pub(super) const PACKED: usize = 4;

/// The most labels of an attribute whose weights stand side by side, with more it has a row; and the words that all take.
///
/// A row is added up without looking at its labels, so that rows are best from two labels on, as long as they do not take
/// many times the memory of the weights; from so many labels on that a row costs no more than they do, they are best
/// anyway.
pub(super) fn layout(pattern: &Pattern, width: usize) -> (usize, usize) {
    let counts = || (0..pattern.n_attributes()).map(|a| pattern.of(a).len());
    let enough = (width / LANES + 1).max(2);
    let size = |most: usize| {
        counts().map(|n| if n > most { width } else { n + n / PACKED + 1 }).fold(0, usize::saturating_add)
    };
    let mut sizes = (1..enough).map(|most| (most, size(most)));
    let allowed = WORDS_PER_WEIGHT * pattern.labels.len();
    sizes.find(|&(_, size)| size <= allowed).unwrap_or_else(|| (enough, size(enough)))
}

/// Up to [`PACKED`] numbers in one word.
pub(super) fn packed(numbers: &[u32]) -> f64 {
    f64::from_bits(numbers.iter().rev().fold(0, |word, &number| word << 16 | u64::from(number)))
}

/// Number `i` of those packed at the front of `words`.
#[inline(always)]
pub(super) fn number(words: &[f64], i: usize) -> usize {
    (words[i / PACKED].to_bits() >> (16 * (i % PACKED)) & 0xffff) as usize
}
