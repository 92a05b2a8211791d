//! A vocabulary: every term a sequence of units, its number the column.

use super::analyze::Kind;
use super::strings::{StringTable, Unit};
use crate::error::KernelError;

/// Terms in the order of their columns.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// The units that occur in terms.
    pub(super) units: StringTable,
    /// The units of all terms, one term after the other.
    pub(super) parts: Vec<u32>,
    /// Where each term ends in `parts`.
    pub(super) ends: Vec<usize>,
}

impl Terms {
    /// Terms from their names, of which `ends` says where each ends in `bytes`.
    ///
    /// Words of a term are separated by one space. Names that no document can hold never match.
    pub fn parse(bytes: &[u8], ends: &[i64], kind: Kind) -> Result<Self, KernelError> {
        let mut terms = Self { units: StringTable::with_capacity(ends.len() / 4), ..Self::default() };
        let mut start = 0;
        for (i, &end) in ends.iter().enumerate() {
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            let Some(name) = bytes.get(start..end) else {
                return Err(KernelError::Argument(format!(
                    "term {i} ends at {end}: ends must rise from 0 to {}",
                    bytes.len()
                )));
            };
            if kind == Kind::Word {
                for word in name.split(|&b| b == b' ') {
                    terms.parts.push(terms.units.insert(Unit::of(word)));
                }
            } else {
                terms.parts.push(terms.units.insert(Unit::of(name)));
            }
            terms.ends.push(terms.parts.len());
            start = end;
        }
        Ok(terms)
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The units of every term, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.parts[start..end])
    }

    /// The names of all terms, one after the other, and where each ends.
    pub fn names(&self) -> (Vec<u8>, Vec<i64>) {
        let (mut bytes, mut ends) = (Vec::with_capacity(12 * self.len()), Vec::with_capacity(self.len()));
        for parts in self.iter() {
            for (i, &part) in parts.iter().enumerate() {
                if i > 0 {
                    bytes.push(b' ');
                }
                bytes.extend_from_slice(self.units.get(part));
            }
            ends.push(bytes.len() as i64);
        }
        (bytes, ends)
    }

    /// The terms that `keep` marks, in the same order.
    pub fn restricted(self, keep: &[bool]) -> Self {
        let (mut parts, mut ends) = (Vec::new(), Vec::new());
        for (term, _) in self.iter().zip(keep).filter(|(_, keep)| **keep) {
            parts.extend_from_slice(term);
            ends.push(parts.len());
        }
        Self { units: self.units, parts, ends }
    }
}
