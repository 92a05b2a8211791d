//! Products of features as new sparse rows: of the entries of one row ([`expand`]), of two rows ([`joint`]).
//!
//! A product is named by a key: its place in a fixed order, or a hash of the columns that enter it. Every
//! row is made by itself, so the result is the same to the bit on any number of threads.

use crate::error::{KernelError, zeros};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::threads::{WORTH_THREADS, try_each};

pub mod expand;
pub mod joint;

/// Rows made by one task.
const BLOCK: usize = 64;

/// Sparse rows with columns of type `I`.
#[derive(Debug, Clone, PartialEq)]
pub struct Made<I, T> {
    /// Where each row starts, and the end.
    pub starts: Vec<i64>,
    /// Columns, rising within a row.
    pub columns: Vec<I>,
    /// Values.
    pub values: Vec<T>,
}

/// A column of 32 or 64 bits.
pub trait Column: Copy + Default + Ord + Send + Sync {
    /// The column of a key that is known to fit.
    fn of(key: u64) -> Self;
}

impl Column for i32 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key as Self
    }
}

impl Column for i64 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key as Self
    }
}

/// What a key stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Naming {
    /// The place of the product in the order of all products.
    Place,
    /// A hash, cut to so many columns; its highest bit is the sign of the value (Weinberger et al. 2009).
    Hash(u64),
}

impl Naming {
    /// Fail unless there is a column to hash to and it fits 32 bits.
    fn check(self) -> Result<(), KernelError> {
        match self {
            Self::Hash(n) if n == 0 || n > i32::MAX as u64 => Err(KernelError::Argument(format!(
                "the number of hashed columns must be in 1..2^31, got {n}"
            ))),
            _ => Ok(()),
        }
    }
}

/// The hash of a column followed by a product that is hashed already: SplitMix64's mixing function.
#[inline(always)]
fn mix(column: u64, rest: u64) -> u64 {
    let mut z =
        column.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(rest.wrapping_mul(0xd6e8_feb8_6659_fd93));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The products of one row: keys and values side by side.
#[derive(Debug, Default)]
struct Products<T> {
    keys: Vec<u64>,
    values: Vec<T>,
    pairs: Vec<(u64, T)>,
}

impl<T: Real> Products<T> {
    fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    /// Write the row as it is, or hashed, sorted and with equal columns added up; returns its length.
    fn write<I: Column>(&mut self, naming: Naming, columns: &mut [I], values: &mut [T]) -> usize {
        match naming {
            Naming::Place => {
                for (to, &key) in columns.iter_mut().zip(&self.keys) {
                    *to = I::of(key);
                }
                values[..self.values.len()].copy_from_slice(&self.values);
                self.keys.len()
            }
            Naming::Hash(n) => {
                self.pairs.clear();
                let signed = |(&key, &v): (&u64, &T)| {
                    ((key & (u64::MAX >> 1)) % n, if key >> 63 == 0 { v } else { -v })
                };
                self.pairs.extend(self.keys.iter().zip(&self.values).map(signed));
                // Stable: equal columns are added in the order of their products.
                self.pairs.sort_by_key(|pair| pair.0);
                let mut length = 0;
                for same in self.pairs.chunk_by(|a, b| a.0 == b.0) {
                    columns[length] = I::of(same[0].0);
                    values[length] = same.iter().map(|pair| pair.1).sum();
                    length += 1;
                }
                length
            }
        }
    }
}

/// Make rows of at most `lengths` entries; `make` fills in the products of one row.
fn assemble<I: Column, T: Real>(
    lengths: &[usize],
    naming: Naming,
    n_threads: usize,
    stop: &Interrupt,
    make: impl Fn(usize, &mut Products<T>) -> Result<(), KernelError> + Sync,
) -> Result<Made<I, T>, KernelError> {
    naming.check()?;
    let total = lengths.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
    let total = total.ok_or_else(|| KernelError::Argument("there are more products than memory".into()))?;
    let mut values: Vec<T> = zeros(total)?;
    let mut columns: Vec<I> = Vec::new();
    columns
        .try_reserve_exact(total)
        .map_err(|_| KernelError::Argument(format!("there is no memory for {total} columns")))?;
    columns.resize(total, I::default());
    let mut written = vec![0usize; lengths.len()];

    // One task per block of rows, each with its own part of the output.
    let mut tasks = Vec::new();
    let (mut rest_columns, mut rest_values) = (columns.as_mut_slice(), values.as_mut_slice());
    for (block, written) in written.chunks_mut(BLOCK).enumerate() {
        let size = lengths[block * BLOCK..][..written.len()].iter().sum();
        let (columns, after) = std::mem::take(&mut rest_columns).split_at_mut(size);
        rest_columns = after;
        let (values, after) = std::mem::take(&mut rest_values).split_at_mut(size);
        rest_values = after;
        tasks.push((block * BLOCK, written, columns, values));
    }
    let run = |(first, written, columns, values): (usize, &mut [usize], &mut [I], &mut [T])| {
        stop.check()?;
        let mut products = Products::default();
        let mut at = 0;
        for (r, written) in written.iter_mut().enumerate() {
            products.clear();
            make(first + r, &mut products)?;
            let length = lengths[first + r];
            if products.keys.len() > length || products.keys.len() != products.values.len() {
                return Err(KernelError::Argument("the rows changed while they were read".into()));
            }
            let to = at..at + length;
            *written = products.write(naming, &mut columns[to.clone()], &mut values[to]);
            at += length;
        }
        Ok(())
    };
    try_each(if total < WORTH_THREADS { 1 } else { n_threads }, tasks, run)?;
    Ok(close_gaps(lengths, &written, columns, values))
}

/// Move the rows together where some are shorter than their room.
fn close_gaps<I: Column, T: Real>(
    lengths: &[usize],
    written: &[usize],
    mut columns: Vec<I>,
    mut values: Vec<T>,
) -> Made<I, T> {
    let mut starts = Vec::with_capacity(lengths.len() + 1);
    let (mut from, mut to) = (0, 0);
    starts.push(0);
    for (&length, &n) in lengths.iter().zip(written) {
        if from != to {
            columns.copy_within(from..from + n, to);
            values.copy_within(from..from + n, to);
        }
        from += length;
        to += n;
        starts.push(to as i64);
    }
    columns.truncate(to);
    values.truncate(to);
    columns.shrink_to_fit();
    values.shrink_to_fit();
    Made { starts, columns, values }
}
