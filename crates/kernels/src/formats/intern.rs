//! Numbers for words: every distinct word gets the next number when it is first seen.
//!
//! An open-addressing table whose slots hold words of up to eight bytes themselves, so that the short words that
//! fill a text are compared without a look elsewhere; longer ones are told by a 64-bit hash and then by
//! their bytes.

use crate::error::KernelError;

/// What tells words apart: the bytes when there are few, else a hash.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    length: u32,
    /// Number of the word plus one; zero in an empty slot.
    id: u32,
}

/// Distinct words in the order in which they were first seen.
#[derive(Debug, Default)]
pub struct Interner {
    slots: Vec<Slot>,
    /// The words, one after another.
    bytes: Vec<u8>,
    /// Where every word ends.
    ends: Vec<usize>,
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

fn four(word: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes([word[at], word[at + 1], word[at + 2], word[at + 3]]))
}

fn eight(word: &[u8]) -> u64 {
    word.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// The bytes and zeros after them for at most eight; a hash beyond.
fn key(word: &[u8]) -> u64 {
    match word.len() {
        0 => 0,
        1..4 => {
            let byte = |at: usize| u64::from(word[at]) << (8 * at);
            byte(0) | byte(word.len() / 2) | byte(word.len() - 1)
        }
        // Where the two halves overlap they are the same bits.
        4..=8 => four(word, 0) | four(word, word.len() - 4) << (8 * (word.len() - 4)),
        length => {
            let mut hash = length as u64;
            for chunk in word.chunks_exact(8) {
                hash = mix(hash ^ eight(chunk));
            }
            mix(hash ^ eight(&word[length - 8..]))
        }
    }
}

fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(MULTIPLIER);
    (product as u64) ^ (product >> 64) as u64
}

impl Interner {
    /// How many words there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A word by its number.
    pub fn word(&self, id: usize) -> &[u8] {
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start..self.ends[id]]
    }

    /// All words in order.
    pub fn words(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|id| self.word(id))
    }

    /// The words one after another, and where each begins and the last ends.
    pub fn into_parts(self) -> (Vec<u8>, Vec<i64>) {
        let offsets = std::iter::once(0).chain(self.ends.iter().map(|&end| end as i64)).collect();
        (self.bytes, offsets)
    }

    /// The number of a word; a new one when it was not seen before.
    pub fn intern(&mut self, word: &[u8]) -> Result<u32, KernelError> {
        self.find(key(word), word)
    }

    /// The number of a word that was seen before.
    pub fn number(&self, word: &[u8]) -> Option<u32> {
        let (key, length) = (key(word), word.len() as u32);
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = mix(key ^ u64::from(length)) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.id == 0 {
                return None;
            }
            if slot.key == key
                && slot.length == length
                && (word.len() <= 8 || self.word(slot.id as usize - 1) == word)
            {
                return Some(slot.id - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// `intern` for a word of at most eight bytes that a caller has in a register: its bytes, then zeros.
    #[inline]
    pub fn intern_short(&mut self, bytes: u64, word: &[u8]) -> Result<u32, KernelError> {
        debug_assert!(word.len() <= 8 && bytes == key(word));
        self.find(bytes, word)
    }

    #[inline]
    fn find(&mut self, key: u64, word: &[u8]) -> Result<u32, KernelError> {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow()?;
        }
        let length = word.len() as u32;
        let mask = self.slots.len() - 1;
        let mut at = mix(key ^ u64::from(length)) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.id == 0 {
                let id = self.ends.len() as u32;
                self.bytes.extend_from_slice(word);
                self.ends.push(self.bytes.len());
                self.slots[at] = Slot { key, length, id: id + 1 };
                return Ok(id);
            }
            if slot.key == key
                && slot.length == length
                && (word.len() <= 8 || self.word(slot.id as usize - 1) == word)
            {
                return Ok(slot.id - 1);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), KernelError> {
        if self.ends.len() >= i32::MAX as usize / 2 {
            return Err(KernelError::Argument("there are more than 2^30 distinct words".into()));
        }
        let size = (self.slots.len() * 4).max(16);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.id != 0) {
            let mut at = mix(slot.key ^ u64::from(slot.length)) as usize & (size - 1);
            while self.slots[at].id != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
        Ok(())
    }

    /// Add the words of `other`; what their numbers become.
    pub fn absorb(&mut self, other: &Self) -> Result<Vec<u32>, KernelError> {
        other.words().map(|word| self.intern(word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_those_of_a_dictionary() {
        let mut state = 7_u64;
        let (mut interner, mut plain) = (Interner::default(), HashMap::new());
        for _ in 0..50_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = (state >> 33) as usize % 14;
            // Two letters and NUL only, so that words repeat and prefixes abound.
            let word: Vec<u8> = (0..length).map(|i| b"ab\0"[(state >> (2 * i + 30)) as usize % 3]).collect();
            let next = plain.len() as u32;
            assert_eq!(interner.number(&word), plain.get(&word).copied());
            let expected = *plain.entry(word.clone()).or_insert(next);
            assert_eq!(interner.intern(&word).unwrap(), expected);
            assert_eq!(interner.word(expected as usize), word);
        }
        assert_eq!(interner.len(), plain.len());
    }
}
