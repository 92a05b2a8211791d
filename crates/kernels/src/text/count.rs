//! Counts terms batch by batch: document frequencies and, where asked for, occurrences per class.
//!
//! Threads number the units of their documents with a table of their own behind the common one, which they
//! only read; the new strings are merged when all are done. Sequences of words are counted by
//! [`super::pairs`]. A batch is counted whole or, when it is interrupted or refused, not at all.

use crate::text::tuning::{COUNT_AHEAD, PIECE};
use std::ops::Range;
use std::sync::Arc;

use super::analyze::{Analyzer, Kind, Scratch};
use super::batch::Batch;
use super::pairs::{Level, Parted, Sequences, key};
use super::strings::{StringTable, Unit};
use super::terms::Terms;
use super::{NONE, threads_for};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::threads::each;

/// Numbers that are left for strings or sequences when a batch is refused.
const MOST: usize = u32::MAX as usize - 256;

/// What is counted besides the documents that hold a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tally {
    /// Nothing.
    Nothing,
    /// Its occurrences, per class.
    Occurrences,
    /// The documents that hold it, per class.
    Documents,
}

/// Counts of numbered things.
#[derive(Debug, Default)]
pub struct Counted {
    frequency: Vec<u32>,
    counts: Vec<[u64; 2]>,
}

impl Counted {
    /// Make room for one more.
    pub fn push(&mut self, tally: Tally) {
        self.frequency.push(0);
        if tally != Tally::Nothing {
            self.counts.push([0; 2]);
        }
    }

    /// Count an occurrence, the first of its document when `new`.
    #[inline(always)]
    pub fn add(&mut self, number: usize, new: bool, class: u8, tally: Tally) {
        self.frequency[number] += u32::from(new);
        match tally {
            Tally::Nothing => {}
            Tally::Occurrences => self.counts[number][usize::from(class != 0)] += 1,
            Tally::Documents => self.counts[number][usize::from(class != 0)] += u64::from(new),
        }
    }

    /// Add counts made elsewhere.
    pub fn raise(&mut self, number: usize, frequency: u32, counts: [u64; 2]) {
        self.frequency[number] += frequency;
        if let Some(sum) = self.counts.get_mut(number) {
            sum[0] += counts[0];
            sum[1] += counts[1];
        }
    }

    /// Document frequencies.
    pub fn frequencies(&self) -> &[u32] {
        &self.frequency
    }

    /// Counts per class; zeros where they are not kept.
    pub fn counts(&self, number: usize) -> [u64; 2] {
        self.counts.get(number).copied().unwrap_or_default()
    }
}

/// Consecutive documents as numbers.
#[derive(Debug, Default)]
pub struct Numbered {
    /// Per length, the numbers of the sequences that start at each unit (garbage where none does).
    pub levels: Vec<Vec<u32>>,
    /// Where each document ends.
    pub ends: Vec<usize>,
}

/// What one thread found in its run of documents.
struct Found {
    pieces: Vec<Numbered>,
    /// Strings that the common table lacks; they are numbered from its length on.
    fresh: StringTable,
    /// Per string, the last document (of no use any more) and how many documents hold it.
    seen: Vec<[u32; 2]>,
    counts: Vec<[u64; 2]>,
}

/// Terms and how often they were seen.
#[derive(Debug)]
pub struct Counter {
    analyzer: Arc<Analyzer>,
    tally: Tally,
    pub(super) units: StringTable,
    pub(super) counted: Counted,
    /// Sequences of 2, 3, … units.
    pub(super) levels: Vec<Level>,
    pub(super) kept: Vec<Numbered>,
    n_documents: usize,
}

impl Counter {
    /// A counter of the analyzer's terms.
    pub fn new(analyzer: Arc<Analyzer>, tally: Tally) -> Self {
        let (_, longest) = analyzer.lengths();
        Self {
            analyzer,
            tally,
            units: StringTable::default(),
            counted: Counted::default(),
            levels: (1..longest).map(|_| Level::default()).collect(),
            kept: Vec::new(),
            n_documents: 0,
        }
    }

    /// A counter that counted `terms` so often in `n_documents` documents.
    pub fn restored(
        analyzer: Arc<Analyzer>,
        tally: Tally,
        terms: &Terms,
        frequency: &[u32],
        counts: &[[u64; 2]],
        n_documents: usize,
    ) -> Result<Self, KernelError> {
        check_length("frequency", frequency.len(), terms.len())?;
        if tally != Tally::Nothing {
            check_length("counts", counts.len(), terms.len())?;
        }
        let mut counter = Self::new(analyzer, tally);
        counter.units = terms.units.clone();
        (0..counter.units.len()).for_each(|_| counter.counted.push(tally));
        for (i, (parts, &frequency)) in terms.iter().zip(frequency).enumerate() {
            if parts.len() > counter.levels.len() + 1 {
                return Err(KernelError::Argument(format!("term {i} has {} words", parts.len())));
            }
            let counts = counts.get(i).copied().unwrap_or_default();
            let mut number = parts[0];
            if parts.len() == 1 {
                counter.counted.raise(number as usize, frequency, counts);
            }
            for (level, &part) in parts[1..].iter().enumerate() {
                let (frequency, counts) =
                    if level + 2 == parts.len() { (frequency, counts) } else { (0, [0; 2]) };
                number = counter.levels[level].insert(key(number, part), frequency, counts, tally);
            }
        }
        counter.n_documents = n_documents;
        Ok(counter)
    }

    /// Number of documents counted.
    pub fn n_documents(&self) -> usize {
        self.n_documents
    }

    /// Least and largest number of units in a term.
    pub fn lengths(&self) -> (usize, usize) {
        self.analyzer.lengths()
    }

    /// What is counted besides documents.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Count a batch whose documents have the given classes (none: all have class 0); with `keep`, remember
    /// the documents as numbers, for [`super::finish::Finished::rows`].
    pub fn feed(
        &mut self,
        batch: Batch<'_>,
        classes: &[u8],
        keep: bool,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<(), KernelError> {
        if !classes.is_empty() {
            check_length("classes", classes.len(), batch.len())?;
        }
        let (cuts, size) = batch.cuts(n_threads);
        let n_threads = threads_for(size, n_threads);
        let found = each(n_threads, cuts, |run| self.number(batch, run, classes, stop))
            .into_iter()
            .collect::<Result<Vec<Found>, KernelError>>()?;
        let n_units: usize =
            found.iter().flat_map(|found| &found.pieces).map(|piece| piece.levels[0].len()).sum();
        let n_numbers = self.levels.iter().map(Level::len).max().unwrap_or(0).max(self.units.len());
        if n_numbers + n_units > MOST || self.n_documents + batch.len() > MOST {
            return Err(KernelError::Argument("more than 2^32 terms or documents cannot be counted".into()));
        }
        let mut pieces = self.merge(found, n_threads);
        for length in 2..=self.levels.len() + 1 {
            self.count_sequences(&mut pieces, length, classes, n_threads);
        }
        self.n_documents += batch.len();
        if keep {
            self.kept.append(&mut pieces);
        }
        Ok(())
    }

    /// Number the units of a run of documents.
    fn number(
        &self,
        batch: Batch<'_>,
        run: Range<usize>,
        classes: &[u8],
        stop: &Interrupt,
    ) -> Result<Found, KernelError> {
        let n_known = self.units.len();
        let mut fresh = StringTable::default();
        // Per string: the document it was last seen in (from 1), and how many hold it.
        let mut seen = vec![[0u32; 2]; n_known];
        let tallied = self.tally != Tally::Nothing;
        let mut counts = vec![[0u64; 2]; if tallied { n_known } else { 0 }];
        let mut scratch = Scratch::default();
        let mut pieces = Vec::new();
        let (mut units, mut ends) = (Vec::with_capacity(2 * PIECE), Vec::new());
        let look_ahead = self.analyzer.kind() != Kind::Word;
        for i in run {
            stop.check()?;
            self.analyzer.units(batch, i, &mut scratch)?;
            let class = classes.get(i).copied().unwrap_or(0);
            let mut ahead = scratch.units().skip(COUNT_AHEAD);
            for unit in scratch.units() {
                if look_ahead && let Some(unit) = ahead.next() {
                    fresh.prefetch(unit);
                    self.units.prefetch(unit);
                }
                let known = if n_known == 0 { NONE } else { self.units.find(unit) };
                let number = if known == NONE { n_known as u32 + fresh.insert(unit) } else { known };
                let index = number as usize;
                if index == seen.len() {
                    seen.push([0; 2]);
                    counts.extend(tallied.then_some([0; 2]));
                }
                let [last, frequency] = &mut seen[index];
                let new = *last != i as u32 + 1;
                *last = i as u32 + 1;
                *frequency += u32::from(new);
                if tallied {
                    let counted = self.tally == Tally::Occurrences || new;
                    counts[index][usize::from(class != 0)] += u64::from(counted);
                }
                units.push(number);
            }
            ends.push(units.len());
            if units.len() >= PIECE {
                pieces.push(Numbered { levels: vec![std::mem::take(&mut units)], ends });
                (units, ends) = (Vec::with_capacity(2 * PIECE), Vec::new());
            }
        }
        pieces.push(Numbered { levels: vec![units], ends });
        Ok(Found { pieces, fresh, seen, counts })
    }

    /// Take new strings into the common table, add the counts, and number the pieces by that table.
    fn merge(&mut self, found: Vec<Found>, n_threads: usize) -> Vec<Numbered> {
        let n_known = self.units.len();
        let mut tasks = Vec::new();
        for Found { pieces, fresh, seen, counts } in found {
            let common: Arc<Vec<u32>> = Arc::new(
                (0..fresh.len() as u32).map(|j| self.units.insert(Unit::of(fresh.get(j)))).collect(),
            );
            while self.counted.frequencies().len() < self.units.len() {
                self.counted.push(self.tally);
            }
            for (j, [_, frequency]) in seen.into_iter().enumerate() {
                let number = if j < n_known { j } else { common[j - n_known] as usize };
                self.counted.raise(number, frequency, counts.get(j).copied().unwrap_or_default());
            }
            tasks.extend(pieces.into_iter().map(|piece| (piece, common.clone())));
        }
        each(n_threads, tasks, |(mut piece, common)| {
            for unit in &mut piece.levels[0] {
                if *unit as usize >= n_known {
                    *unit = common[*unit as usize - n_known];
                }
            }
            piece
        })
    }

    fn count_sequences(&mut self, pieces: &mut [Numbered], length: usize, classes: &[u8], n_threads: usize) {
        // No document has the number 0, which stands for never.
        let first = self.n_documents as u32 + 1;
        let mut next = first;
        let mut tasks = Vec::with_capacity(pieces.len());
        for piece in pieces.iter() {
            let Numbered { levels, ends } = piece;
            let (prefixes, units) = (&levels[length - 2], &levels[0]);
            tasks.push(Sequences { prefixes, units, ends, first: next, length });
            next += ends.len() as u32;
        }
        let parted = each(n_threads, tasks, Parted::new);
        let mut outputs: Vec<Vec<u32>> =
            pieces.iter().map(|piece| vec![NONE; piece.levels[0].len()]).collect();
        self.levels[length - 2].count(&parted, &mut outputs, classes, first, self.tally, n_threads);
        for (piece, output) in pieces.iter_mut().zip(outputs) {
            piece.levels.push(output);
        }
    }
}
