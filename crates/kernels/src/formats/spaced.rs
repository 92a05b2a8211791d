//! Columns parted by space, read in one pass: eight bytes at a time give a word, its end and its key together.

use super::conll::{Layout, Sentences};
use super::lines::{LINES_PER_LOOK, Piece, is_space};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use memchr::memchr;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// Bytes before the first that is at most a space (0x20), among eight; eight when there is none.
///
/// Subtracting 0x21 from every byte borrows from those below it; the first borrow, counted from the low end, is
/// exact (Mycroft's test for a zero byte, with another bound).
#[inline]
fn until_space(bytes: u64) -> usize {
    let low = bytes.wrapping_sub(0x21 * ONES) & !bytes & HIGH;
    low.trailing_zeros() as usize / 8
}

impl Sentences {
    /// Read all lines of a piece.
    pub(super) fn read_spaced(&mut self, piece: &Piece<'_>, flag: &Interrupt) -> Result<(), KernelError> {
        let text = piece.bytes;
        for column in &mut self.columns {
            // Lines are longer than this in most files, so that little is wasted and nothing moved.
            column.codes.reserve(text.len() / 12);
        }
        let (mut at, mut line) = (0, piece.first_line);
        while at < text.len() {
            if line % LINES_PER_LOOK == 0 {
                flag.check()?;
            }
            if text[at] == b'-' || text[at] == b'#' {
                let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
                if self.passes_over(&text[at..end], Layout::Space) {
                    at = (end + 1).min(text.len());
                    line += 1;
                    continue;
                }
            }
            let mut found = 0;
            while let Some(&byte) = text.get(at) {
                if is_space(byte) {
                    at += 1;
                    if byte == b'\n' {
                        break;
                    }
                } else {
                    at = self.read_word(text, at, found)?;
                    found += 1;
                }
            }
            if found == 0 {
                self.end_sentence();
            } else {
                self.check_columns(found, line)?;
            }
            line += 1;
        }
        self.end_sentence();
        Ok(())
    }

    /// Read the word at `start` into a column; where it ends.
    #[inline]
    fn read_word(&mut self, text: &[u8], start: usize, column: usize) -> Result<usize, KernelError> {
        if let Some(&chunk) = text[start..].first_chunk() {
            let bytes = u64::from_le_bytes(chunk);
            let length = until_space(bytes);
            // Control characters are no space, though as low: the slow way knows.
            if (1..8).contains(&length) && is_space(chunk[length]) {
                let end = start + length;
                if let Some(column) = self.columns.get_mut(column) {
                    let kept = bytes & ((1 << (8 * length)) - 1);
                    column.codes.push(column.words.intern_short(kept, &text[start..end])?);
                }
                return Ok(end);
            }
        }
        let length = text[start..].iter().position(|&byte| is_space(byte));
        let end = length.map_or(text.len(), |length| start + length);
        if let Some(column) = self.columns.get_mut(column) {
            column.codes.push(column.words.intern(&text[start..end])?);
        }
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_low_byte_is_found() {
        let mut state = 3_u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bytes =
                (state ^ state >> 29).to_le_bytes().map(|byte| if byte % 3 == 0 { byte % 48 } else { byte });
            let expected = bytes.iter().position(|&byte| byte <= 0x20).unwrap_or(8);
            assert_eq!(until_space(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
        }
    }
}
