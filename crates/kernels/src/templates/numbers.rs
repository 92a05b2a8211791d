//! Numbers for keys, in the order of their first occurrence.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::NONE;
use crate::error::KernelError;

/// A multiplicative hash of one 64-bit key.
#[derive(Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key ^ 0x2d35_8dcc_aa6c_78a5) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}

#[derive(Debug)]
enum Table {
    /// The number of every possible key.
    Direct(Vec<u32>),
    Hashed(HashMap<u64, u32, BuildHasherDefault<Mixer>>),
}

/// Keys and their numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    keys: Vec<u64>,
    table: Table,
}

impl Numbers {
    /// No keys yet; they will lie below `range`, and about `expected` of them occur.
    pub fn new(range: u64, expected: usize) -> Self {
        let direct = range <= (4 * expected as u64).clamp(1 << 12, 1 << 22);
        let table = if direct {
            Table::Direct(vec![NONE; range as usize])
        } else {
            Table::Hashed(HashMap::with_capacity_and_hasher(
                (expected / 2).min(1 << 17),
                BuildHasherDefault::default(),
            ))
        };
        Self { keys: Vec::new(), table }
    }

    /// The number of a key, which is added when it is new; the key must lie below the range.
    #[inline(always)]
    pub fn insert(&mut self, key: u64) -> u32 {
        let next = self.keys.len() as u32;
        let number = match &mut self.table {
            Table::Direct(table) => {
                let entry = &mut table[key as usize];
                if *entry == NONE {
                    *entry = next;
                }
                *entry
            }
            Table::Hashed(table) => *table.entry(key).or_insert(next),
        };
        if number == next {
            self.keys.push(key);
        }
        number
    }

    /// The number of a key, or `NONE`.
    #[inline(always)]
    pub fn find(&self, key: u64) -> u32 {
        let found = match &self.table {
            Table::Direct(table) => table.get(key as usize),
            Table::Hashed(table) => table.get(&key),
        };
        found.copied().unwrap_or(NONE)
    }

    /// The keys in the order of their numbers.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Numbers for keys that were kept: all below `range`, none twice.
    pub fn restore(keys: &[u64], range: u64) -> Result<Self, KernelError> {
        let mut numbers = Self::new(range, keys.len());
        for (i, &key) in keys.iter().enumerate() {
            if key >= range || numbers.insert(key) != i as u32 {
                return Err(KernelError::Argument(format!(
                    "key {i} of a template is out of range or repeated"
                )));
            }
        }
        Ok(numbers)
    }
}
