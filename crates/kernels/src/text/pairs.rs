//! Numbers for sequences of words: n words are the pair (number of the first n - 1, number of the last).
//!
//! Occurrences are parted by hash before they are counted, so that each part's table stays in the cache
//! and parts can be counted in parallel; a part sees its occurrences in the order of the documents.

use super::count::{Counted, Tally};
use crate::text::tuning::PARTS;
use crate::threads::each;

/// Occurrences to be counted: units of consecutive documents, and the numbers of the sequences of
/// `length - 1` units that start at each of them.
#[derive(Debug, Clone, Copy)]
pub struct Sequences<'a> {
    /// Numbers of the shorter sequences.
    pub prefixes: &'a [u32],
    /// Numbers of the units.
    pub units: &'a [u32],
    /// Where each document ends.
    pub ends: &'a [usize],
    /// Number of the first document.
    pub first: u32,
    /// Units in a sequence.
    pub length: usize,
}

impl Sequences<'_> {
    /// Call `take(key, document, position)` for every occurrence.
    #[inline(always)]
    fn each(&self, mut take: impl FnMut(u64, u32, u32)) {
        let mut start = 0;
        for (document, &end) in (self.first..).zip(self.ends) {
            let last = &self.units[(start + self.length - 1).min(end)..end];
            for (at, (&prefix, &unit)) in (start as u32..).zip(self.prefixes[start..].iter().zip(last)) {
                take(key(prefix, unit), document, at);
            }
            start = end;
        }
    }
}

/// An occurrence of a pair.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    key: u64,
    document: u32,
    /// Position among the units of its piece.
    at: u32,
}

/// The occurrences of one piece of documents, parted.
#[derive(Debug)]
pub struct Parted {
    entries: Vec<Entry>,
    /// Where each part starts.
    starts: Vec<u32>,
}

#[inline(always)]
pub(super) fn hash(key: u64) -> u64 {
    let h = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (h ^ (h >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[inline(always)]
fn part_of(hash: u64) -> usize {
    (hash >> 56) as usize % PARTS
}

/// The key of a pair.
#[inline(always)]
pub(super) fn key(first: u32, last: u32) -> u64 {
    (u64::from(first) << 32) | u64::from(last)
}

/// The pair of a key.
#[inline(always)]
pub(super) fn pair(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

impl Parted {
    /// Part the occurrences of one piece.
    pub fn new(sequences: Sequences<'_>) -> Self {
        let mut starts = vec![0; PARTS + 1];
        sequences.each(|key, _, _| starts[part_of(hash(key)) + 1] += 1);
        for part in 0..PARTS {
            starts[part + 1] += starts[part];
        }
        let mut entries = vec![Entry::default(); starts[PARTS] as usize];
        let mut next = starts.clone();
        sequences.each(|key, document, at| {
            let place = &mut next[part_of(hash(key))];
            entries[*place as usize] = Entry { key, document, at };
            *place += 1;
        });
        Self { entries, starts }
    }

    fn part(&self, part: usize) -> &[Entry] {
        &self.entries[self.starts[part] as usize..self.starts[part + 1] as usize]
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    /// Number within the part plus one; 0 when empty.
    number: u32,
    /// Document that the pair was last seen in; none has the number 0.
    last: u32,
}

/// The pairs of one part.
#[derive(Debug, Default)]
struct Part {
    slots: Vec<Slot>,
    keys: Vec<u64>,
    counted: Counted,
}

impl Part {
    /// The slot of a key, which is added when it is new.
    #[inline(always)]
    fn slot(&mut self, key: u64, tally: Tally) -> &mut Slot {
        if 4 * self.keys.len() >= 3 * self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(key) as usize & mask;
        while self.slots[at].number != 0 && self.slots[at].key != key {
            at = (at + 1) & mask;
        }
        let slot = &mut self.slots[at];
        if slot.number == 0 {
            self.keys.push(key);
            self.counted.push(tally);
            *slot = Slot { key, number: self.keys.len() as u32, last: 0 };
        }
        slot
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(16);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.number != 0) {
            let mut at = hash(slot.key) as usize & (size - 1);
            while self.slots[at].number != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Count the occurrences of this part in all pieces; their numbers, in the same order.
    fn count(
        &mut self,
        part: usize,
        pieces: &[Parted],
        classes: &[u8],
        first: u32,
        tally: Tally,
    ) -> Vec<u32> {
        let total = pieces.iter().map(|piece| piece.part(part).len()).sum();
        let mut numbers = Vec::with_capacity(total);
        for entry in pieces.iter().flat_map(|piece| piece.part(part)) {
            let slot = self.slot(entry.key, tally);
            let new = slot.last != entry.document;
            slot.last = entry.document;
            let number = slot.number - 1;
            let class = classes.get((entry.document - first) as usize).copied().unwrap_or(0);
            self.counted.add(number as usize, new, class, tally);
            numbers.push(number * PARTS as u32 + part as u32);
        }
        numbers
    }
}

/// All sequences of one length.
#[derive(Debug)]
pub struct Level {
    parts: Vec<Part>,
}

impl Default for Level {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Part::default()).collect() }
    }
}

/// A sequence that was counted.
#[derive(Debug, Clone, Copy)]
pub struct Sequence {
    /// Its number.
    pub number: u32,
    /// Its pair.
    pub key: u64,
    /// Documents that hold it.
    pub frequency: u32,
}

impl Level {
    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.keys.len()).sum()
    }

    /// Count the occurrences of all pieces, in documents numbered from `first` of which `classes` are the
    /// classes; the number of the sequence at each position is written to the outputs, one per piece.
    pub fn count(
        &mut self,
        pieces: &[Parted],
        outputs: &mut [Vec<u32>],
        classes: &[u8],
        first: u32,
        tally: Tally,
        n_threads: usize,
    ) {
        let parts: Vec<(usize, &mut Part)> = self.parts.iter_mut().enumerate().collect();
        let numbers = each(n_threads, parts, |(p, part)| part.count(p, pieces, classes, first, tally));
        // Where the numbers of each piece start among those of each part.
        let mut offsets = vec![0; PARTS];
        let mut tasks = Vec::with_capacity(pieces.len());
        for (piece, output) in pieces.iter().zip(outputs) {
            tasks.push((piece, output, offsets.clone()));
            for (part, offset) in offsets.iter_mut().enumerate() {
                *offset += piece.part(part).len();
            }
        }
        each(n_threads, tasks, |(piece, output, offsets)| {
            for (part, (numbers, offset)) in numbers.iter().zip(offsets).enumerate() {
                for (entry, &number) in piece.part(part).iter().zip(&numbers[offset..]) {
                    output[entry.at as usize] = number;
                }
            }
        });
    }

    /// The number of a pair, which is added when it is new; its counts are raised.
    pub fn insert(&mut self, key: u64, frequency: u32, counts: [u64; 2], tally: Tally) -> u32 {
        let p = part_of(hash(key));
        let part = &mut self.parts[p];
        let number = part.slot(key, tally).number - 1;
        part.counted.raise(number as usize, frequency, counts);
        number * PARTS as u32 + p as u32
    }

    /// The sequences whose document frequency lies between `low` and `high`.
    pub fn between(&self, low: f64, high: f64, n_threads: usize) -> Vec<Vec<Sequence>> {
        each(n_threads, self.parts.iter().enumerate(), |(p, part): (usize, &Part)| {
            let mut found = Vec::new();
            for (i, (&key, &frequency)) in part.keys.iter().zip(part.counted.frequencies()).enumerate() {
                if (low..=high).contains(&f64::from(frequency)) {
                    found.push(Sequence { number: (i * PARTS + p) as u32, key, frequency });
                }
            }
            found
        })
    }

    /// The pair of a number.
    pub fn pair(&self, number: u32) -> (u32, u32) {
        pair(self.parts[number as usize % PARTS].keys[number as usize / PARTS])
    }

    /// Occurrences of a sequence per class.
    pub fn counts(&self, number: u32) -> [u64; 2] {
        self.parts[number as usize % PARTS].counted.counts(number as usize / PARTS)
    }

    /// One more than the largest number.
    pub fn bound(&self) -> usize {
        self.parts.iter().map(|part| part.keys.len()).max().unwrap_or(0) * PARTS
    }
}
