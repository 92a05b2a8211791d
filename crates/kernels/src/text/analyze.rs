//! A document to its units: words, character n-grams, or strings that came analyzed.
//!
//! Equal to scikit-learn's analyzers: words are matched by `\b\w\w+\b` in the folded text; character n-grams
//! are taken from the folded text, runs of white space made one space, or (`CharWb`) from each word
//! with a space on either side.

use std::sync::Arc;

use super::NONE;
use super::batch::{Batch, Document};
use super::characters::{Characters, SPACE};
use super::strings::{StringTable, Unit};
use crate::error::KernelError;
use crate::simd::{MASK_BLOCK, Task, dispatch, words_mask};

/// Longest document, in bytes: positions in the folded text, up to 11 times as long, fit 32 bits.
pub const LONGEST: usize = 200 << 20;

/// What the units of a document are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words; terms are sequences of words.
    Word,
    /// Character n-grams of the whole text.
    Char,
    /// Character n-grams inside words.
    CharWb,
    /// Strings as they came.
    Given,
}

impl Kind {
    /// The kind that scikit-learn calls so ("given" is ours).
    pub fn named(name: &str) -> Result<Self, KernelError> {
        match name {
            "word" => Ok(Self::Word),
            "char" => Ok(Self::Char),
            "char_wb" => Ok(Self::CharWb),
            "given" => Ok(Self::Given),
            _ => Err(KernelError::Argument(format!(
                "analyzer must be \"word\", \"char\", \"char_wb\" or \"given\", not {name:?}"
            ))),
        }
    }
}

/// Where analysis leaves its result; used again for every document.
#[derive(Debug, Default)]
pub struct Scratch {
    buffer: Vec<u8>,
    spans: Vec<(u32, u32)>,
    /// Where each character starts, for n-grams of characters.
    starts: Vec<u32>,
    joined: Vec<u8>,
}

impl Scratch {
    /// The units of the last document.
    #[inline(always)]
    pub fn units(&self) -> impl ExactSizeIterator<Item = Unit<'_>> {
        self.spans.iter().map(|&(start, end)| Unit::new(&self.buffer, start as usize, end as usize))
    }

    /// The strings of the last document.
    #[inline(always)]
    pub fn strings(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.spans.iter().map(|&(start, end)| &self.buffer[start as usize..end as usize])
    }
}

/// How documents are taken apart.
#[derive(Debug)]
pub struct Analyzer {
    characters: Arc<Characters>,
    kind: Kind,
    min_n: usize,
    max_n: usize,
    stop_words: Option<StringTable>,
}

impl Analyzer {
    /// N-grams of `min_n` to `max_n` units, after `stop_words` are left out.
    pub fn new<'a>(
        characters: Arc<Characters>,
        kind: Kind,
        (min_n, max_n): (usize, usize),
        stop_words: impl Iterator<Item = &'a str>,
    ) -> Result<Self, KernelError> {
        if min_n == 0 || min_n > max_n {
            return Err(KernelError::Argument(format!(
                "ngram_range must be two numbers 1 <= low <= high, not ({min_n}, {max_n})"
            )));
        }
        let mut table = StringTable::default();
        for word in stop_words {
            table.insert(Unit::of(word.as_bytes()));
        }
        let stop_words = (!table.is_empty()).then_some(table);
        Ok(Self { characters, kind, min_n, max_n, stop_words })
    }

    /// What the units are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Least and largest number of units in a term.
    pub fn lengths(&self) -> (usize, usize) {
        match self.kind {
            Kind::Word => (self.min_n, self.max_n),
            _ => (1, 1),
        }
    }

    /// Leave the units of document `i` in `scratch`.
    pub fn units(&self, batch: Batch<'_>, i: usize, scratch: &mut Scratch) -> Result<(), KernelError> {
        scratch.buffer.clear();
        scratch.spans.clear();
        let size = batch.size(i);
        if size > LONGEST {
            return Err(KernelError::Argument(format!(
                "a document of {size} bytes is too long: at most {LONGEST} bytes; split it"
            )));
        }
        match (batch.get(i), self.kind) {
            (Document::Units(units), _) => take_given(units, scratch),
            (Document::Text(text), Kind::Word) => self.words(text, scratch),
            (Document::Text(text), Kind::Char) => self.characters(text, scratch),
            (Document::Text(text), Kind::CharWb) => self.word_characters(text, scratch),
            (Document::Text(_), Kind::Given) => {
                return Err(KernelError::Argument("documents must come as lists of strings".into()));
            }
        }
        // So that every unit may be read as 16 bytes.
        scratch.buffer.extend_from_slice(&[b' '; 16]);
        Ok(())
    }

    /// Leave the terms of document `i` in `scratch` as strings, sequences of words joined by a space.
    pub fn terms(&self, batch: Batch<'_>, i: usize, scratch: &mut Scratch) -> Result<(), KernelError> {
        self.units(batch, i, scratch)?;
        let (min_n, max_n) = self.lengths();
        if max_n == 1 {
            return Ok(());
        }
        let Scratch { buffer, spans, joined, starts } = scratch;
        joined.clear();
        starts.clear();
        for &(start, end) in spans.iter() {
            starts.push(joined.len() as u32);
            joined.extend_from_slice(&buffer[start as usize..end as usize]);
            joined.push(b' ');
        }
        starts.push(joined.len() as u32);
        std::mem::swap(buffer, joined);
        spans.clear();
        for n in min_n..=max_n.min(starts.len() - 1) {
            spans.extend((0..starts.len() - n).map(|i| (starts[i], starts[i + n] - 1)));
        }
        Ok(())
    }

    /// Runs of two and more word characters.
    fn words(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { buffer, spans, .. } = scratch;
        self.fold_words(text, buffer);
        buffer.resize((buffer.len() + 1).next_multiple_of(MASK_BLOCK), b' ');
        let (blocks, _) = buffer.as_chunks::<MASK_BLOCK>();
        let (mut before, mut start) = (0, 0);
        for (b, block) in blocks.iter().enumerate() {
            let words = words_mask(block);
            // Bits where a word begins or has ended; they alternate.
            let mut edges = words ^ ((words << 1) | before);
            before = words >> 63;
            while edges != 0 {
                let at = (b * MASK_BLOCK) as u32 + edges.trailing_zeros();
                edges &= edges - 1;
                if start == 0 {
                    start = at + 1;
                } else {
                    let first = start - 1;
                    start = 0;
                    if at - first > 1 && !is_one_character(&buffer[first as usize..at as usize]) {
                        spans.push((first, at));
                    }
                }
            }
        }
        if let Some(stop_words) = &self.stop_words {
            spans.retain(|&(start, end)| {
                stop_words.find(Unit::new(buffer, start as usize, end as usize)) == NONE
            });
        }
    }

    /// The folded text, every character that is no word character made a space.
    fn fold_words(&self, text: &str, out: &mut Vec<u8>) {
        let bytes = text.as_bytes();
        out.reserve(bytes.len() + 2 * MASK_BLOCK);
        let mut at = 0;
        while at < bytes.len() {
            let from = &bytes[at..at + ascii_run(&bytes[at..])];
            let start = out.len();
            out.resize(start + from.len(), b' ');
            dispatch(FoldAscii { from, to: &mut out[start..], lowercase: self.characters.lowercase() });
            at += from.len();
            let rest = &text[at..];
            for (i, c) in rest.char_indices() {
                if c.is_ascii() {
                    break;
                }
                self.characters.push_word(text, at + i, c, out);
            }
            at += rest.bytes().take_while(|b| !b.is_ascii()).count();
        }
    }

    /// Call `take` with every character of the folded text.
    #[inline(always)]
    fn each_folded(&self, text: &str, mut take: impl FnMut(char)) {
        for (at, c) in text.char_indices() {
            if c.is_ascii() {
                take(if self.characters.lowercase() { c.to_ascii_lowercase() } else { c });
            } else {
                self.characters.each_folded(text, at, c, &mut take);
            }
        }
    }

    /// N-grams of the folded text, a run of two and more white spaces made one space.
    fn characters(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { buffer, spans, starts, .. } = scratch;
        starts.clear();
        let mut after_space = false;
        self.each_folded(text, |c| {
            let space = self.characters.has(c, SPACE);
            if space && after_space {
                buffer.truncate(starts.last().map_or(0, |&start| start as usize));
                buffer.push(b' ');
            } else {
                starts.push(buffer.len() as u32);
                push_character(buffer, c);
            }
            after_space = space;
        });
        let n_characters = starts.len();
        starts.push(buffer.len() as u32);
        for n in self.min_n..=self.max_n.min(n_characters) {
            spans.extend((0..=n_characters - n).map(|i| (starts[i], starts[i + n])));
        }
    }

    /// N-grams inside each word with a space on either side; a word that is shorter counts once.
    fn word_characters(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { buffer, spans, starts, .. } = scratch;
        let (min_n, max_n) = (self.min_n, self.max_n);
        let mut close = |buffer: &mut Vec<u8>, starts: &mut Vec<u32>| {
            starts.push(buffer.len() as u32);
            buffer.push(b' ');
            let length = starts.len();
            starts.push(buffer.len() as u32);
            for n in min_n..=max_n {
                if n >= length {
                    spans.push((starts[0], starts[length]));
                    break;
                }
                spans.extend((0..=length - n).map(|i| (starts[i], starts[i + n])));
            }
            starts.clear();
        };
        starts.clear();
        self.each_folded(text, |c| {
            if self.characters.has(c, SPACE) {
                if !starts.is_empty() {
                    close(buffer, starts);
                }
                return;
            }
            if starts.is_empty() {
                starts.push(buffer.len() as u32);
                buffer.push(b' ');
            }
            starts.push(buffer.len() as u32);
            push_character(buffer, c);
        });
        if !starts.is_empty() {
            close(buffer, starts);
        }
    }
}

fn take_given(units: &[&str], scratch: &mut Scratch) {
    for unit in units {
        let start = scratch.buffer.len() as u32;
        scratch.buffer.extend_from_slice(unit.as_bytes());
        scratch.spans.push((start, scratch.buffer.len() as u32));
    }
}

#[inline(always)]
fn push_character(buffer: &mut Vec<u8>, c: char) {
    if c.is_ascii() {
        buffer.push(c as u8);
    } else {
        buffer.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Folds a run of ASCII.
struct FoldAscii<'a> {
    from: &'a [u8],
    to: &'a mut [u8],
    lowercase: bool,
}

impl Task for FoldAscii<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        if self.lowercase {
            self.to.iter_mut().zip(self.from).for_each(|(to, &from)| *to = word_byte::<true>(from));
        } else {
            self.to.iter_mut().zip(self.from).for_each(|(to, &from)| *to = word_byte::<false>(from));
        }
    }
}

/// A word byte of ASCII, folded, or a space. Written without a table, so that it is vectorized.
#[inline(always)]
fn word_byte<const LOWER: bool>(b: u8) -> u8 {
    let letter = (b | 0x20).wrapping_sub(b'a') < 26;
    let other = (b.wrapping_sub(b'0') < 10) | (b == b'_');
    let folded = if LOWER && letter { b | 0x20 } else { b };
    if letter | other { folded } else { b' ' }
}

/// Length of the run of ASCII that `bytes` starts with.
#[inline(always)]
fn ascii_run(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<32>();
    let whole = blocks.iter().take_while(|block| block.is_ascii()).count() * 32;
    whole + bytes[whole..].iter().take(32).take_while(|b| b.is_ascii()).count()
}

/// Whether a run of at least two bytes is a single character.
#[inline(always)]
fn is_one_character(bytes: &[u8]) -> bool {
    let first = bytes[0];
    first >= 0x80
        && bytes.len()
            == if first >= 0xF0 {
                4
            } else if first >= 0xE0 {
                3
            } else {
                2
            }
}
