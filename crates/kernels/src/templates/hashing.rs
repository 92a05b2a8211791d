//! Attributes to a fixed number of columns, without a dictionary.
//!
//! Words and literal text are hashed to 64 bits (FNV-1a, finished by splitmix64), an attribute is the chained
//! mixture of the hashes of its text and values, and its column the upper bits of hash times columns. All of
//! it is fixed: the same attribute has the same column in every process and on every machine.

use super::learn::intern;
use super::plan::Plan;
use super::rows::{Rows, build};
use super::tokens::Tokens;
use super::{NONE, threads_for};
use crate::error::KernelError;
use crate::interrupt::Interrupt;

/// The finalizer of splitmix64 (Steele, Lea and Flood 2014).
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// FNV-1a of 64 bits, finished.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mix(bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

fn chain(hash: u64, next: u64) -> u64 {
    mix(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ next)
}

/// The rows of `tokens` with attributes hashed to `n_columns`.
pub fn hash_rows(
    plan: &Plan,
    tokens: &Tokens<'_>,
    n_columns: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Rows, KernelError> {
    if n_columns == 0 || n_columns > i32::MAX as usize {
        return Err(KernelError::Argument(format!(
            "columns must number from 1 to 2^31 - 1, not {n_columns}"
        )));
    }
    let (spaces, values) = intern(plan, tokens)?;
    let hashes: Vec<Vec<u64>> = spaces.iter().map(|space| space.words().map(hash_bytes).collect()).collect();
    let seed = |literals: &Vec<String>| {
        literals.iter().fold(0, |hash, literal| chain(hash, hash_bytes(literal.as_bytes())))
    };
    let seeds: Vec<u64> = plan.literals().iter().map(seed).collect();
    let n_threads = threads_for(tokens.len() * plan.templates().len(), n_threads);
    build(plan, tokens, false, n_threads, stop, |t, first, found| {
        let template = &plan.templates()[t];
        let group_spaces = &plan.group_spaces()[template.group];
        for (found, place) in found.iter_mut().zip(tokens.places(first)) {
            let mut hash = Some(seeds[template.group]);
            for (part, &space) in template.parts.iter().zip(group_spaces) {
                let value = values[part.column].at(part, place);
                hash = hash.filter(|_| value != NONE).map(|hash| chain(hash, hashes[space][value as usize]));
            }
            *found = hash.map_or(NONE, |hash| ((u128::from(hash) * n_columns as u128) >> 64) as u32);
        }
    })
}
