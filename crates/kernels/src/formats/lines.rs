//! Lines, blank lines, and pieces of a text that end with them.

use memchr::{memchr, memchr_iter};

use crate::error::KernelError;

/// Lines between two looks at the interrupt flag.
pub const LINES_PER_LOOK: usize = 4096;

/// Whole lines of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The lines, ends included; the last one of a file may lack its end.
    pub bytes: Vec<u8>,
    /// Number of the first line in the file, from one.
    pub first_line: usize,
}

/// Part of a text with the number of its first line.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// Whole lines.
    pub bytes: &'a [u8],
    /// Number of the first line, from one.
    pub first_line: usize,
}

/// Whether a byte separates words: what Python's `bytes.split` splits at.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Whether a line holds nothing but space.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_space(byte))
}

/// The line without its carriage return, which files from Windows have.
pub fn trim_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A token for a message: made printable, cut when long.
pub fn shown(token: &[u8]) -> String {
    let text = String::from_utf8_lossy(&token[..token.len().min(160)]).into_owned();
    let cut: String = text.chars().take(40).collect();
    let dots = if cut.len() < text.len() || token.len() > 160 { "..." } else { "" };
    format!("'{}{dots}'", cut.escape_debug())
}

/// The error at a line of the file.
pub fn at_line(line: usize, message: String) -> KernelError {
    KernelError::Format { line, message }
}

/// Fails when the token is not UTF-8.
pub fn check_utf8(token: &[u8], line: usize) -> Result<(), KernelError> {
    match std::str::from_utf8(token) {
        Ok(_) => Ok(()),
        Err(error) => {
            let byte = token.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("byte 0x{byte:02x} in {} is not UTF-8; name the encoding", shown(token));
            Err(at_line(line, message))
        }
    }
}

/// The lines of a text without their ends; no empty one after the last end.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, left) = match memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = left;
        Some(line)
    })
}

/// Cut a text into about `n` pieces that end where lines end.
pub fn at_line_ends<'a>(block: &'a Block, n: usize) -> Vec<Piece<'a>> {
    cut(block, n, |text, from| memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at + 1))
}

/// Cut a text into about `n` pieces that end with a blank line.
pub fn at_blank_lines<'a>(block: &'a Block, n: usize) -> Vec<Piece<'a>> {
    cut(block, n, |text, from| {
        let mut end = memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at + 1);
        while end < text.len() {
            let next = memchr(b'\n', &text[end..]).map_or(text.len(), |at| end + at + 1);
            if is_blank(&text[end..next]) {
                return next;
            }
            end = next;
        }
        end
    })
}

fn cut<'a>(block: &'a Block, n: usize, end_after: impl Fn(&[u8], usize) -> usize) -> Vec<Piece<'a>> {
    let text = &block.bytes[..];
    let size = text.len().div_ceil(n.max(1)).max(1);
    let mut pieces = Vec::new();
    let (mut start, mut first_line) = (0, block.first_line);
    while start < text.len() {
        let aim = start + size;
        let end = if aim >= text.len() { text.len() } else { end_after(text, aim - 1) };
        let bytes = &text[start..end];
        pieces.push(Piece { bytes, first_line });
        if end < text.len() {
            first_line += memchr_iter(b'\n', bytes).count();
        }
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        Block { bytes: text.as_bytes().to_vec(), first_line: 1 }
    }

    #[test]
    fn pieces_join_to_the_text_and_know_their_lines() {
        let text = block("a b\nc\n\nd e\nf\n\n\ng");
        for n in 1..20 {
            for pieces in [at_line_ends(&text, n), at_blank_lines(&text, n)] {
                let joined: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes.to_vec()).collect();
                assert_eq!(joined, text.bytes);
                let mut seen = 1;
                for piece in pieces {
                    assert_eq!(piece.first_line, seen);
                    seen += lines(piece.bytes).count();
                }
            }
            for piece in at_blank_lines(&text, n) {
                let last = lines(piece.bytes).last().unwrap_or_default();
                assert!(is_blank(last) || last == b"g");
            }
        }
    }

    #[test]
    fn a_final_line_end_makes_no_line() {
        assert_eq!(lines(b"a\n\nb\n").collect::<Vec<_>>(), [&b"a"[..], b"", b"b"]);
        assert_eq!(lines(b"a").count(), 1);
        assert_eq!(lines(b"").count(), 0);
    }
}
