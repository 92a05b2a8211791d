//! Finds the terms of a vocabulary in documents.
//!
//! Units and longer sequences share one range of numbers, so that one table of pairs (sequence, next unit)
//! holds the sequences of every length and their columns.

use crate::text::tuning::LOOKUP_AHEAD;
use std::sync::Arc;

use super::analyze::{Analyzer, Kind, Scratch};
use super::batch::Batch;
use super::pairs::{hash, key};
use super::rows::Piece;
use super::strings::StringTable;
use super::terms::Terms;
use super::{NONE, threads_for};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::simd::prefetch_lines;
use crate::threads::each;

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The pair plus one; 0 when empty.
    key: u64,
    /// Number of the sequence.
    number: u32,
    /// Its column, or `NONE` where only longer sequences are terms.
    column: u32,
}

/// A vocabulary, ready to be looked up.
#[derive(Debug)]
pub struct Lookup {
    analyzer: Arc<Analyzer>,
    units: StringTable,
    /// The column of every unit.
    columns: Vec<u32>,
    slots: Vec<Slot>,
}

/// Numbers of one document on their way to columns.
#[derive(Debug, Default)]
struct Work {
    units: Vec<u32>,
    prefixes: Vec<u32>,
    keys: Vec<u64>,
}

impl Lookup {
    /// Look-up of `terms` as `analyzer` would make them; terms of other lengths are never found.
    pub fn new(analyzer: Arc<Analyzer>, terms: &Terms) -> Self {
        let (shortest, longest) = analyzer.lengths();
        let mut columns = vec![NONE; terms.units.len()];
        let sizes = || terms.iter().map(<[u32]>::len);
        let most: usize = sizes().filter(|&n| n > 1 && n <= longest).map(|n| n - 1).sum();
        let size = (2 * most).next_power_of_two();
        let mut slots = vec![Slot { key: 0, number: NONE, column: NONE }; size];
        let mut next = terms.units.len() as u32;
        for (column, parts) in (0u32..).zip(terms.iter()) {
            if parts.len() < shortest || parts.len() > longest {
                continue;
            }
            let mut number = parts[0];
            let mut place = &mut columns[number as usize];
            for &part in &parts[1..] {
                let at = search(&slots, key(number, part) + 1);
                let slot = &mut slots[at];
                if slot.key == 0 {
                    *slot = Slot { key: key(number, part) + 1, number: next, column: NONE };
                    next += 1;
                }
                number = slot.number;
                place = &mut slot.column;
            }
            *place = column;
        }
        Self { analyzer, units: terms.units.clone(), columns, slots }
    }

    /// The rows of a batch.
    pub fn rows(
        &self,
        batch: Batch<'_>,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Vec<Piece>, KernelError> {
        let (cuts, size) = batch.cuts(n_threads.saturating_mul(8));
        each(threads_for(size, n_threads), cuts, |run| {
            let mut piece = Piece::default();
            let (mut scratch, mut work) = (Scratch::default(), Work::default());
            for i in run {
                stop.check()?;
                self.analyzer.units(batch, i, &mut scratch)?;
                self.find(&scratch, &mut work, &mut piece);
                piece.end_row(false);
            }
            Ok(piece)
        })
        .into_iter()
        .collect()
    }

    fn find(&self, scratch: &Scratch, work: &mut Work, piece: &mut Piece) {
        let (shortest, longest) = self.analyzer.lengths();
        let units = &self.units;
        work.units.clear();
        if self.analyzer.kind() == Kind::Word {
            work.units.extend(scratch.units().map(|unit| units.find(unit)));
        } else {
            let mut ahead = scratch.units().skip(LOOKUP_AHEAD);
            for unit in scratch.units() {
                if let Some(unit) = ahead.next() {
                    units.prefetch(unit);
                }
                work.units.push(units.find(unit));
            }
        }
        if shortest == 1 {
            for &unit in &work.units {
                if unit != NONE {
                    piece.push(self.columns[unit as usize]);
                }
            }
        }
        work.prefixes.clone_from(&work.units);
        for length in 2..=longest.min(work.units.len()) {
            self.find_sequences(length, work, piece);
        }
    }

    /// Find the sequences of one length; `work.prefixes` holds those that are shorter by one, then these.
    fn find_sequences(&self, length: usize, work: &mut Work, piece: &mut Piece) {
        let Work { units, prefixes, keys } = work;
        keys.clear();
        for (&prefix, &unit) in prefixes.iter().zip(&units[length - 1..]) {
            let known = prefix != NONE && unit != NONE;
            let key = if known { key(prefix, unit) + 1 } else { 0 };
            keys.push(key);
            let at = hash(key) as usize & (self.slots.len() - 1);
            prefetch_lines(&self.slots[at..=at], 1);
        }
        for (key, prefix) in keys.iter().zip(prefixes) {
            *prefix = NONE;
            if *key != 0 {
                let slot = self.slots[search(&self.slots, *key)];
                *prefix = slot.number;
                piece.push(slot.column);
            }
        }
    }
}

/// The slot that holds `key`, or the empty one where it would be.
#[inline(always)]
fn search(slots: &[Slot], key: u64) -> usize {
    let mut at = hash(key) as usize & (slots.len() - 1);
    while slots[at].key != key && slots[at].key != 0 {
        at = (at + 1) & (slots.len() - 1);
    }
    at
}
