//! Which label was seen with which attribute, and which attributes were seen at the same tokens.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::random::Random;
use crate::simd::Gather;

/// Labels seen with every attribute: those of attribute a are `labels[starts[a]..starts[a + 1]]`, rising.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Where the labels of every attribute begin.
    pub starts: Vec<usize>,
    /// The labels.
    pub labels: Vec<u32>,
}

impl Pattern {
    /// Take a pattern whose labels, edges say, are below `n_labels`.
    pub fn new(starts: &[i64], labels: &[i64], n_labels: usize) -> Result<Self, KernelError> {
        let bad = || KernelError::Argument("the pattern of observed labels is malformed".into());
        let starts: Vec<usize> =
            starts.iter().map(|&s| usize::try_from(s).map_err(|_| bad())).collect::<Result<_, _>>()?;
        let ends = starts.first() == Some(&0) && starts.last() == Some(&labels.len());
        if !ends || !starts.is_sorted() {
            return Err(bad());
        }
        let narrow = |&l: &i64| u32::try_from(l).ok().filter(|&l| (l as usize) < n_labels).ok_or_else(bad);
        Ok(Self { labels: labels.iter().map(narrow).collect::<Result<_, _>>()?, starts })
    }

    /// Labels of attribute `a`.
    #[inline(always)]
    pub fn of(&self, a: usize) -> &[u32] {
        &self.labels[self.starts[a]..self.starts[a + 1]]
    }

    /// Number of attributes.
    pub fn n_attributes(&self) -> usize {
        self.starts.len() - 1
    }
}

/// The labels seen with every attribute; `seen(t, mark)` marks those of token t.
pub fn observed<T: Gather>(
    x: &Csr<'_, T>,
    n_labels: usize,
    seen: impl Fn(usize, &mut dyn FnMut(usize)),
) -> Result<Pattern, KernelError> {
    let words = n_labels.div_ceil(64).max(1);
    let mut masks = vec![0u64; x.n_cols() * words];
    let mut here = vec![0u64; words];
    for t in 0..x.n_rows() {
        here.fill(0);
        seen(t, &mut |label| here[label / 64] |= 1 << (label % 64));
        for &column in x.row(t).0 {
            let first = column as isize as usize * words;
            let mask = masks
                .get_mut(first..first.saturating_add(words))
                .ok_or(KernelError::IndexOutOfRange { row: t, index: column.into(), n_cols: x.n_cols() })?;
            for (mask, here) in mask.iter_mut().zip(&here) {
                *mask |= here;
            }
        }
    }
    let mut pattern = Pattern { starts: Vec::with_capacity(x.n_cols() + 1), labels: Vec::new() };
    pattern.starts.push(0);
    for mask in masks.chunks_exact(words) {
        for (number, &word) in mask.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                pattern.labels.push((number * 64) as u32 + word.trailing_zeros());
                word &= word - 1;
            }
        }
        pattern.starts.push(pattern.labels.len());
    }
    Ok(pattern)
}

/// Hashes numbers that are random already.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.rotate_left(32) ^ number;
    }
}

/// For every attribute the first one with the same values at the same tokens.
///
/// Under a penalty on the squares, attributes that cannot be told apart get equal weights, so one of them with
/// the number of all as its multiplicity stands for them. They are found by a fingerprint of 128 bits: the sum
/// over the tokens of random numbers, which two different columns share with a probability of 2^-128.
pub fn same_columns<T: Gather>(x: &Csr<'_, T>) -> Result<Vec<u32>, KernelError> {
    let mut prints = vec![(0u64, 0u64); x.n_cols()];
    for t in 0..x.n_rows() {
        let mut random = Random::new((t as u64) << 1 | 1);
        let here = (random.next_u64(), random.next_u64());
        let (columns, values) = x.row(t);
        for (&column, value) in columns.iter().zip(values) {
            let bits = value.to_f64().to_bits() | 1;
            let print = prints.get_mut(column as isize as usize).ok_or(KernelError::IndexOutOfRange {
                row: t,
                index: column.into(),
                n_cols: x.n_cols(),
            })?;
            print.0 = print.0.wrapping_add(here.0.wrapping_mul(bits));
            print.1 = print.1.wrapping_add((here.1 ^ bits.rotate_left(17)).wrapping_mul(bits));
        }
    }
    let mut first: HashMap<(u64, u64), u32, BuildHasherDefault<Folded>> = HashMap::default();
    first.reserve(x.n_cols());
    Ok(prints.iter().enumerate().map(|(a, &print)| *first.entry(print).or_insert(a as u32)).collect())
}

/// The attributes in the order in which the tokens name them first, so that weights used together stand together; those
/// that no token names come last.
pub fn by_appearance<T: Gather>(x: &Csr<'_, T>) -> Vec<u32> {
    let mut seen = vec![false; x.n_cols()];
    let mut order = Vec::with_capacity(x.n_cols());
    for t in 0..x.n_rows() {
        for &column in x.row(t).0 {
            if let Some(seen) = seen.get_mut(column as isize as usize).filter(|seen| !**seen) {
                *seen = true;
                order.push(column as u32);
            }
        }
    }
    order.extend((0..x.n_cols() as u32).filter(|&a| !seen[a as usize]));
    order
}
