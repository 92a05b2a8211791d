//! What every character is, and what it becomes when case is folded and accents are stripped.
//!
//! The tables are filled from Python's own `isalnum`, `isspace`, `lower` and `unicodedata`, since versions of
//! Unicode differ between the interpreter and this compiler.

use crate::error::{KernelError, check_length};

/// The character is matched by `\w`.
pub const WORD: u8 = 1;
/// The character is matched by `\s`.
pub const SPACE: u8 = 2;
/// The character has case, and is not passed over when the context of a sigma is looked at.
pub const CASED: u8 = 4;
/// The character is passed over when the context of a sigma is looked at.
pub const IGNORABLE: u8 = 8;

const SIGMA: char = 'Σ';

/// Replacements of characters, numbered from 0.
#[derive(Debug, Default)]
struct Folds {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Folds {
    fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    fn push(&mut self, bytes: impl Iterator<Item = u8>) {
        self.bytes.extend(bytes);
        self.ends.push(self.bytes.len());
    }
}

/// Properties and replacements of all characters.
#[derive(Debug)]
pub struct Characters {
    /// Per code point: properties in the low byte, number of its replacement plus one above.
    table: Vec<u32>,
    folds: Folds,
    /// The replacements with every character that is no word character made a space.
    spaced: Folds,
    /// Numbers of the replacements of a sigma inside and at the end of a word, where it is folded.
    sigma: Option<[usize; 2]>,
    lowercase: bool,
}

/// One character to be replaced.
#[derive(Debug, Clone, Copy)]
pub struct Replaced<'a> {
    /// The character.
    pub character: u32,
    /// What replaces it.
    pub by: &'a str,
}

impl Characters {
    /// Tables from the `properties` of the code points 0, 1, …, and the characters to be replaced.
    ///
    /// With `lowercase`, letters of ASCII are folded as well, and `sigma` holds what the capital sigma
    /// becomes inside and at the end of a word. With `ascii`, other characters
    /// beyond ASCII vanish.
    pub fn new<'a>(
        properties: &[u8],
        replaced: impl Iterator<Item = Replaced<'a>>,
        sigma: [&str; 2],
        lowercase: bool,
        ascii: bool,
    ) -> Result<Self, KernelError> {
        check_length("properties", properties.len(), 0x11_0000)?;
        let mut table: Vec<u32> = properties.iter().map(|&p| u32::from(p)).collect();
        let (mut folds, mut spaced) = (Folds::default(), Folds::default());
        let mut add = |by: &str| {
            folds.push(by.bytes());
            let is_word = |c: char| properties[c as usize] & WORD != 0;
            let mut text = String::with_capacity(by.len());
            text.extend(by.chars().map(|c| if is_word(c) { c } else { ' ' }));
            spaced.push(text.bytes());
            folds.ends.len() - 1
        };
        if ascii {
            let nothing = (add("") as u32 + 1) << 8;
            table[0x80..].iter_mut().for_each(|entry| *entry |= nothing);
        }
        for Replaced { character, by } in replaced {
            let entry = table.get_mut(character as usize).ok_or_else(|| {
                KernelError::Argument(format!("{character} is not the number of a character"))
            })?;
            *entry = (*entry & 0xFF) | ((add(by) as u32 + 1) << 8);
        }
        let sigma = if lowercase { Some(sigma.map(add)) } else { None };
        Ok(Self { table, folds, spaced, sigma, lowercase })
    }

    /// Whether capital letters become small.
    pub fn lowercase(&self) -> bool {
        self.lowercase
    }

    /// Whether `c` has the property.
    #[inline(always)]
    pub fn has(&self, c: char, property: u8) -> bool {
        self.table[c as usize] as u8 & property != 0
    }

    /// What replaces the character that starts at byte `at` of `text`, or None where it stays.
    #[inline(always)]
    fn fold<'a>(&self, folds: &'a Folds, text: &str, at: usize, c: char) -> Option<&'a [u8]> {
        if c == SIGMA
            && let Some(sigma) = self.sigma
        {
            return Some(folds.get(sigma[usize::from(self.ends_word(text, at))]));
        }
        let number = self.table[c as usize] >> 8;
        (number != 0).then(|| folds.get(number as usize - 1))
    }

    /// Append the folded character to `out`, a space in the place of what is no word character.
    #[inline(always)]
    pub fn push_word(&self, text: &str, at: usize, c: char, out: &mut Vec<u8>) {
        match self.fold(&self.spaced, text, at, c) {
            Some(bytes) => out.extend_from_slice(bytes),
            None if self.has(c, WORD) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            None => out.push(b' '),
        }
    }

    /// Call `take` with the characters that `c` becomes.
    #[inline(always)]
    pub fn each_folded(&self, text: &str, at: usize, c: char, mut take: impl FnMut(char)) {
        match self.fold(&self.folds, text, at, c) {
            // The replacements came as strings, so that this finds no fault.
            Some(bytes) => String::from_utf8_lossy(bytes).chars().for_each(take),
            None => take(c),
        }
    }

    /// Whether the sigma at byte `at` ends a word: a cased letter comes before it and none after it,
    /// ignorable characters passed over (Unicode's Final_Sigma, as in Python's `str.lower`).
    #[cold]
    fn ends_word(&self, text: &str, at: usize) -> bool {
        let cased = |c: Option<char>| c.is_some_and(|c| self.has(c, CASED));
        let before = text[..at].chars().rev().find(|&c| !self.has(c, IGNORABLE));
        let after = text[at + SIGMA.len_utf8()..].chars().find(|&c| !self.has(c, IGNORABLE));
        cased(before) && !cased(after)
    }
}
