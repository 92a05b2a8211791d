//! Sequences of tokens in columns: one number per token, and the words that the numbers stand for.

use super::NONE;
use super::plan::Part;
use crate::error::{KernelError, check_length};

/// One column of all tokens.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Number of the word of each token; -1 where there is none.
    pub codes: &'a [i32],
    /// The distinct words in UTF-8, one after another.
    pub words: &'a [u8],
    /// Where each word begins, and where the last ends.
    pub word_starts: &'a [i64],
    /// Numbers of the words that stand for places outside the sequence: one, two, … before its start, then as many
    /// after its end; farther places get the last. Empty where there is nothing outside.
    pub pads: &'a [i32],
}

/// The columns of all tokens, checked.
#[derive(Debug)]
pub struct Tokens<'a> {
    columns: Vec<Column<'a>>,
    /// Where each sequence begins, and where the last ends.
    starts: Vec<usize>,
}

impl<'a> Tokens<'a> {
    /// Check lengths and numbers.
    pub fn new(columns: Vec<Column<'a>>, starts: &[i64]) -> Result<Self, KernelError> {
        let rising = |starts: &[i64], end: usize| {
            starts.first() == Some(&0)
                && starts.windows(2).all(|pair| pair[0] <= pair[1])
                && starts.last() == Some(&(end as i64))
        };
        let n = starts.last().map_or(0, |&n| usize::try_from(n).unwrap_or(0));
        if !rising(starts, n) || n >= NONE as usize {
            return Err(KernelError::Argument("starts of sequences must rise from 0, below 2^32 - 1".into()));
        }
        for (i, column) in columns.iter().enumerate() {
            check_length("a column", column.codes.len(), n)?;
            let n_words = column.word_starts.len().saturating_sub(1);
            if !rising(column.word_starts, column.words.len()) {
                return Err(KernelError::Argument(format!("words of column {i} are malformed")));
            }
            if !column.pads.len().is_multiple_of(2) {
                return Err(KernelError::Argument(format!("column {i} has an odd number of pads")));
            }
            let known = |&code: &i32| code >= -1 && i64::from(code) < n_words as i64;
            if let Some(t) = column.codes.iter().position(|code| !known(code)) {
                let code = column.codes[t];
                return Err(KernelError::Argument(format!(
                    "token {t} of column {i} has the number {code}, but there are {n_words} words"
                )));
            }
            if !column.pads.iter().all(known) {
                return Err(KernelError::Argument(format!("a pad of column {i} is not among its words")));
            }
        }
        Ok(Self { columns, starts: starts.iter().map(|&start| start as usize).collect() })
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// The places of the tokens from `first` on.
    pub(super) fn places(&self, first: usize) -> impl Iterator<Item = Place> {
        let starts = &self.starts;
        let mut sequence = starts.partition_point(|&start| start <= first).saturating_sub(1);
        (first..self.len()).map(move |token| {
            while starts[sequence + 1] <= token {
                sequence += 1;
            }
            Place { token, start: starts[sequence], end: starts[sequence + 1] }
        })
    }
}

/// A token and the sequence it stands in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub token: usize,
    pub start: usize,
    pub end: usize,
}

/// A column as numbers of its space.
#[derive(Debug)]
pub(super) struct Values {
    tokens: Vec<u32>,
    pads: Vec<u32>,
}

impl Values {
    /// The numbers that `number` gives to the words that occur, each asked for once; pads first.
    pub fn new(
        column: &Column<'_>,
        mut number: impl FnMut(&[u8]) -> Result<u32, KernelError>,
    ) -> Result<Self, KernelError> {
        let mut used = vec![false; column.word_starts.len() - 1];
        for &code in column.codes.iter().filter(|&&code| code >= 0) {
            used[code as usize] = true;
        }
        let word = |code: usize| {
            &column.words[column.word_starts[code] as usize..column.word_starts[code + 1] as usize]
        };
        let mut table = vec![NONE; used.len()];
        let mut pads = Vec::with_capacity(column.pads.len());
        for &code in column.pads {
            pads.push(if code < 0 { NONE } else { number(word(code as usize))? });
        }
        for (code, entry) in table.iter_mut().enumerate().filter(|&(code, _)| used[code]) {
            *entry = number(word(code))?;
        }
        // A negative number is beyond the table.
        let tokens =
            column.codes.iter().map(|&code| table.get(code as usize).copied().unwrap_or(NONE)).collect();
        Ok(Self { tokens, pads })
    }

    /// The value that a part reads at a place.
    #[inline(always)]
    pub fn at(&self, part: &Part, place: Place) -> u32 {
        let at = if !part.absolute {
            place.token as i64 + i64::from(part.offset)
        } else if part.offset < 0 {
            place.end as i64 + i64::from(part.offset)
        } else {
            place.start as i64 + i64::from(part.offset) - 1
        };
        if at >= place.start as i64 && at < place.end as i64 {
            return self.tokens[at as usize];
        }
        self.outside(at, place)
    }

    #[inline(never)]
    fn outside(&self, at: i64, place: Place) -> u32 {
        let width = self.pads.len() / 2;
        if width == 0 {
            return NONE;
        }
        let before = at < place.start as i64;
        let far = if before { place.start as i64 - at } else { at - place.end as i64 + 1 };
        let far = (far as usize).min(width) - 1;
        self.pads[if before { far } else { width + far }]
    }
}
