//! From counts to a vocabulary: prune by document frequency, sort by name, number the columns.
//!
//! Names of terms are compared as sequences of words, which is the order of the joined names, since a space
//! is below every word character; as bytes of UTF-8, which is the order of the code points.

use super::NONE;
use super::count::{Counter, Numbered};
use super::pairs::pair;
use super::rows::{Piece, Rows};
use super::strings::{StringTable, Unit};
use super::terms::Terms;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::text::tuning::MANY;
use crate::threads::{each, sort};

/// A term on its way to its column.
#[derive(Debug, Clone)]
struct Candidate<K> {
    key: K,
    length: u32,
    number: u32,
    frequency: u32,
}

/// A vocabulary with what was counted of it.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// The terms.
    pub terms: Terms,
    /// Documents that hold each term.
    pub frequency: Vec<u32>,
    /// Counts of each term per class; zeros where they are not kept.
    pub counts: Vec<[u64; 2]>,
    /// Per length, the column of every number.
    columns: Vec<Vec<u32>>,
}

/// The terms whose document frequency lies between `low` and `high`, sorted by name.
pub fn finish(counter: &Counter, low: f64, high: f64, n_threads: usize) -> Finished {
    match counter.lengths().1 {
        0..=2 => finish_with(counter, low, high, n_threads, |ranks| {
            ranks.iter().enumerate().fold(0u64, |key, (i, &rank)| key | (u64::from(rank) << (32 - 32 * i)))
        }),
        3..=4 => finish_with(counter, low, high, n_threads, |ranks| {
            ranks.iter().enumerate().fold(0u128, |key, (i, &rank)| key | (u128::from(rank) << (96 - 32 * i)))
        }),
        _ => finish_with(counter, low, high, n_threads, <[u32]>::to_vec),
    }
}

fn finish_with<K: Ord + Send + Sync>(
    counter: &Counter,
    low: f64,
    high: f64,
    n_threads: usize,
    make_key: impl Fn(&[u32]) -> K + Sync + Send,
) -> Finished {
    let (shortest, longest) = counter.lengths();
    // Sequences that are kept, by length and part, and the units that they need.
    let lengths = shortest.max(2)..=longest;
    let kept: Vec<_> =
        lengths.clone().map(|length| counter.levels[length - 2].between(low, high, n_threads)).collect();
    let frequencies = counter.counted.frequencies();
    let in_range = |frequency: u32| (low..=high).contains(&f64::from(frequency));
    let mut needed: Vec<bool> =
        frequencies.iter().map(|&frequency| shortest == 1 && in_range(frequency)).collect();
    for (length, parts) in lengths.clone().zip(&kept) {
        for sequence in parts.iter().flatten() {
            each_unit(counter, length, pair(sequence.key), |unit| needed[unit as usize] = true);
        }
    }
    let (units, rank) = ranked(&counter.units, &needed, n_threads);

    let mut candidates: Vec<Candidate<K>> = Vec::new();
    if shortest == 1 {
        for (number, &frequency) in frequencies.iter().enumerate().filter(|(_, f)| in_range(**f)) {
            let key = make_key(&[rank[number] + 1]);
            candidates.push(Candidate { key, length: 1, number: number as u32, frequency });
        }
    }
    let mut ranks = Vec::new();
    for (length, parts) in lengths.zip(kept) {
        for sequence in parts.into_iter().flatten() {
            ranks.clear();
            each_unit(counter, length, pair(sequence.key), |unit| ranks.push(rank[unit as usize] + 1));
            ranks.reverse();
            let (number, frequency) = (sequence.number, sequence.frequency);
            candidates.push(Candidate { key: make_key(&ranks), length: length as u32, number, frequency });
        }
    }
    sort(if_many(candidates.len(), n_threads), &mut candidates, |a, b| a.key.cmp(&b.key));
    number(counter, units, &rank, &candidates)
}

/// Call `take` with the units of a sequence, from the last to the first.
#[inline(always)]
fn each_unit(counter: &Counter, length: usize, pair: (u32, u32), mut take: impl FnMut(u32)) {
    let (mut first, mut last) = pair;
    for shorter in (2..length).rev() {
        take(last);
        (first, last) = counter.levels[shorter - 2].pair(first);
    }
    take(last);
    take(first);
}

/// The needed units in the order of their bytes, and the rank of each among them.
fn ranked(units: &StringTable, needed: &[bool], n_threads: usize) -> (StringTable, Vec<u32>) {
    let mut order: Vec<(u64, u32)> = Vec::new();
    for (number, _) in (0u32..).zip(needed).filter(|(_, needed)| **needed) {
        // The first eight bytes decide most comparisons.
        let bytes = units.get(number);
        let mut head = [0; 8];
        let n = bytes.len().min(8);
        head[..n].copy_from_slice(&bytes[..n]);
        order.push((u64::from_be_bytes(head), number));
    }
    sort(if_many(order.len(), n_threads), &mut order, |a, b| {
        a.0.cmp(&b.0).then_with(|| units.get(a.1).cmp(units.get(b.1)))
    });
    let mut table = StringTable::with_capacity(order.len());
    let mut rank = vec![NONE; needed.len()];
    for (_, number) in order {
        rank[number as usize] = table.insert(Unit::of(units.get(number)));
    }
    (table, rank)
}

/// So many threads for so many items to sort.
fn if_many(n: usize, n_threads: usize) -> usize {
    if n < MANY { 1 } else { n_threads }
}

/// Give every sorted candidate its column.
fn number<K>(counter: &Counter, units: StringTable, rank: &[u32], candidates: &[Candidate<K>]) -> Finished {
    let mut columns = vec![vec![NONE; counter.units.len()]];
    columns.extend(counter.levels.iter().map(|level| vec![NONE; level.bound()]));
    let mut terms = Terms { units, ..Terms::default() };
    terms.ends.reserve(candidates.len());
    terms.parts.reserve(2 * candidates.len());
    for (column, candidate) in candidates.iter().enumerate() {
        let (length, number) = (candidate.length as usize, candidate.number);
        columns[length - 1][number as usize] = column as u32;
        if length == 1 {
            terms.parts.push(rank[number as usize]);
        } else {
            let start = terms.parts.len();
            let pair = counter.levels[length - 2].pair(number);
            each_unit(counter, length, pair, |unit| terms.parts.push(rank[unit as usize]));
            terms.parts[start..].reverse();
        }
        terms.ends.push(terms.parts.len());
    }
    let counts = |candidate: &Candidate<K>| match candidate.length as usize {
        1 => counter.counted.counts(candidate.number as usize),
        length => counter.levels[length - 2].counts(candidate.number),
    };
    let tallied = counter.tally() != super::count::Tally::Nothing;
    Finished {
        terms,
        frequency: candidates.iter().map(|candidate| candidate.frequency).collect(),
        counts: if tallied { candidates.iter().map(counts).collect() } else { Vec::new() },
        columns,
    }
}

impl Finished {
    /// Terms that were counted elsewhere; `counts` may be empty.
    pub fn new(terms: Terms, frequency: Vec<u32>, counts: Vec<[u64; 2]>) -> Result<Self, KernelError> {
        check_length("frequency", frequency.len(), terms.len())?;
        if !counts.is_empty() {
            check_length("counts", counts.len(), terms.len())?;
        }
        Ok(Self { terms, frequency, counts, columns: Vec::new() })
    }

    /// Keep only the terms that `keep` marks.
    pub fn restrict(&mut self, keep: &[bool]) -> Result<(), KernelError> {
        check_length("keep", keep.len(), self.terms.len())?;
        let mut n = 0;
        let new: Vec<u32> = keep
            .iter()
            .map(|&keep| {
                n += u32::from(keep);
                if keep { n - 1 } else { NONE }
            })
            .collect();
        for column in self.columns.iter_mut().flatten().filter(|column| **column != NONE) {
            *column = new[*column as usize];
        }
        let mut marks = keep.iter();
        self.frequency.retain(|_| marks.next() == Some(&true));
        let mut marks = keep.iter();
        self.counts.retain(|_| marks.next() == Some(&true));
        self.terms = std::mem::take(&mut self.terms).restricted(keep);
        Ok(())
    }

    /// The rows of the documents that the counter kept, which it hands over.
    pub fn rows(
        &self,
        counter: &mut Counter,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Rows, KernelError> {
        let (shortest, longest) = counter.lengths();
        let fits = self.columns.len() == longest
            && self.columns[0].len() == counter.units.len()
            && self.columns[1..].iter().zip(&counter.levels).all(|(c, level)| c.len() == level.bound());
        if !fits {
            return Err(KernelError::Argument("the counter went on after its terms were finished".into()));
        }
        let mut rows = Rows::new(false);
        let pieces = each(n_threads, std::mem::take(&mut counter.kept), |numbered| {
            stop.check()?;
            Ok(self.piece(&numbered, shortest, longest))
        });
        rows.extend(pieces.into_iter().collect::<Result<Vec<Piece>, KernelError>>()?);
        Ok(rows)
    }

    fn piece(&self, numbered: &Numbered, shortest: usize, longest: usize) -> Piece {
        let mut piece = Piece::default();
        piece.codes().reserve(numbered.levels[0].len() * (longest - shortest + 1));
        let mut start = 0;
        for &end in &numbered.ends {
            for length in shortest..=longest {
                let columns = &self.columns[length - 1];
                let stop = (end + 1).saturating_sub(length).max(start);
                for &number in &numbered.levels[length - 1][start..stop] {
                    piece.push(columns[number as usize]);
                }
            }
            piece.end_row(false);
            start = end;
        }
        piece
    }
}
