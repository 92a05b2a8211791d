//! Strings to numbers: open addressing, strings of up to twelve bytes inside the table.
//!
//! A short string is one entry of 128 bits, the number in its upper quarter, so that most look-ups touch one
//! cache line. Longer strings are compared in an arena. Short keys are padded with 0xFF, a byte that UTF-8
//! never uses, so that a string that ends in NUL differs from one that does not.

use super::NONE;

/// Longest string that fits into an entry.
const INLINE: usize = 12;
const KEY: u128 = (1 << 96) - 1;
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_HIGH: u64 = 0xD6E8_FEB8_6659_FD93;

/// A string to be looked up, with its key and hash.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    bytes: &'a [u8],
    /// The padded bytes of a short string; 0 for a long one.
    key: u128,
    hash: u64,
}

impl<'a> Unit<'a> {
    /// The string `buffer[start..end]`; fastest when the buffer goes on for 16 bytes after `start`.
    #[inline(always)]
    pub fn new(buffer: &'a [u8], start: usize, end: usize) -> Self {
        let bytes = &buffer[start..end];
        if bytes.len() > INLINE {
            return Self { bytes, key: 0, hash: hash_long(bytes) };
        }
        let window = match buffer[start..].first_chunk::<16>() {
            Some(window) => *window,
            None => {
                let mut window = [0; 16];
                window[..bytes.len()].copy_from_slice(bytes);
                window
            }
        };
        let key = (u128::from_le_bytes(window) | (u128::MAX << (8 * bytes.len()))) & KEY;
        // Twelve NULs have the key of an empty entry and count as a long string.
        let hash = if key == 0 { hash_long(bytes) } else { hash_short(key) };
        Self { bytes, key, hash }
    }

    /// A whole slice.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self::new(bytes, 0, bytes.len())
    }
}

#[inline(always)]
fn hash_short(key: u128) -> u64 {
    let h = ((key as u64) ^ ((key >> 64) as u64).wrapping_mul(MIX_HIGH)).wrapping_mul(MIX);
    (h ^ (h >> 32)).wrapping_mul(MIX_HIGH)
}

fn hash_long(bytes: &[u8]) -> u64 {
    let mut h = (bytes.len() as u64).wrapping_mul(MIX);
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        h = (h ^ u64::from_le_bytes(*eight)).wrapping_mul(MIX);
        h ^= h >> 29;
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    h = (h ^ u64::from_le_bytes(last)).wrapping_mul(MIX);
    (h ^ (h >> 32)).wrapping_mul(MIX_HIGH)
}

/// A set of strings, numbered in the order in which they came.
#[derive(Debug, Clone)]
pub struct StringTable {
    /// Entries of short strings: key, and number plus one above it; 0 when empty.
    short: Vec<u128>,
    n_short: usize,
    /// Entries of long strings: 32 bits of the hash, number plus one below; 0 when empty.
    long: Vec<u64>,
    n_long: usize,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Default for StringTable {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

/// Where a probe starts in a table whose size is a power of two.
#[inline(always)]
fn home(hash: u64, size: usize) -> usize {
    (hash >> 20) as usize & (size - 1)
}

impl StringTable {
    /// A table for about so many strings, most of them short.
    pub fn with_capacity(n: usize) -> Self {
        Self {
            short: vec![0; (2 * n).next_power_of_two().max(16)],
            n_short: 0,
            long: vec![0; (n / 4).next_power_of_two().max(16)],
            n_long: 0,
            bytes: Vec::new(),
            ends: Vec::with_capacity(n),
        }
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string of a number.
    pub fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    /// Ask for the cache line where the search for `unit` starts.
    #[inline(always)]
    pub fn prefetch(&self, unit: Unit<'_>) {
        if unit.key != 0 {
            let at = home(unit.hash, self.short.len());
            crate::simd::prefetch_lines(&self.short[at..=at], 1);
        }
    }

    /// The number of `unit`, or `NONE`.
    #[inline(always)]
    pub fn find(&self, unit: Unit<'_>) -> u32 {
        if unit.key == 0 {
            return self.search_long(unit).unwrap_or(NONE);
        }
        self.search_short(unit).unwrap_or(NONE)
    }

    /// The number of `unit`, which is added when it is new. At most 2^32 - 2 strings fit.
    #[inline(always)]
    pub fn insert(&mut self, unit: Unit<'_>) -> u32 {
        let found = if unit.key == 0 { self.search_long(unit) } else { self.search_short(unit) };
        found.unwrap_or_else(|place| self.add(unit, place))
    }

    /// The number, or the empty place where the search ended.
    #[inline(always)]
    fn search_short(&self, unit: Unit<'_>) -> Result<u32, usize> {
        let mut at = home(unit.hash, self.short.len());
        loop {
            let entry = self.short[at];
            if entry & KEY == unit.key {
                return Ok((entry >> 96) as u32 - 1);
            }
            if entry == 0 {
                return Err(at);
            }
            at = (at + 1) & (self.short.len() - 1);
        }
    }

    #[inline(never)]
    fn search_long(&self, unit: Unit<'_>) -> Result<u32, usize> {
        let mut at = home(unit.hash, self.long.len());
        loop {
            let entry = self.long[at];
            if entry == 0 {
                return Err(at);
            }
            let number = entry as u32 - 1;
            if entry >> 32 == unit.hash >> 32 && self.get(number) == unit.bytes {
                return Ok(number);
            }
            at = (at + 1) & (self.long.len() - 1);
        }
    }

    #[inline(never)]
    fn add(&mut self, unit: Unit<'_>, place: usize) -> u32 {
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(unit.bytes);
        self.ends.push(self.bytes.len());
        if unit.key == 0 {
            self.long[place] = ((unit.hash >> 32) << 32) | (u64::from(number) + 1);
            self.n_long += 1;
            if 2 * self.n_long > self.long.len() {
                self.grow_long();
            }
        } else {
            self.short[place] = unit.key | ((u128::from(number) + 1) << 96);
            self.n_short += 1;
            if 2 * self.n_short > self.short.len() {
                self.grow_short();
            }
        }
        number
    }

    fn grow_short(&mut self) {
        let old = std::mem::take(&mut self.short);
        let size = 4 * old.len();
        self.short = vec![0; size];
        for entry in old.into_iter().filter(|&entry| entry != 0) {
            let mut at = home(hash_short(entry & KEY), size);
            while self.short[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.short[at] = entry;
        }
    }

    fn grow_long(&mut self) {
        let old = std::mem::take(&mut self.long);
        let size = 4 * old.len();
        self.long = vec![0; size];
        for entry in old.into_iter().filter(|&entry| entry != 0) {
            let mut at = home(hash_long(self.get(entry as u32 - 1)), size);
            while self.long[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.long[at] = entry;
        }
    }
}
