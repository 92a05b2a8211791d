//! A file as a stream of plain bytes or of blocks of whole lines, unpacked on the way.
//!
//! The first bytes tell gzip and Zstandard, not the name. A block ends with a line, or with the blank line after a
//! group of lines, and knows the number of its first line; memory is bounded by the block asked for.

use crate::formats::tuning::{PACKED, SLICE};
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use memchr::{memchr, memchr_iter, memrchr};

use super::lines::{Block, is_blank};
use super::unpack::unpack;
use crate::error::KernelError;
use crate::interrupt::Interrupt;

/// Plain bytes that packed data may always become, whatever the bound on their ratio: 256 MiB.
const HARMLESS: usize = 1 << 28;

/// Bounds on what a few bytes may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one line.
    pub line: usize,
    /// Plain bytes for each packed one.
    pub unpack: usize,
}

impl Limits {
    /// No bounds.
    pub const NONE: Self = Self { line: usize::MAX, unpack: usize::MAX };
}

/// What a block counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Lines.
    Line,
    /// Groups of lines with blank lines between.
    Group,
}

/// The plain bytes of a file.
pub struct Source {
    reader: Box<dyn Read + Send>,
    packing: Option<&'static str>,
    /// Bytes that were read and not handed out.
    ahead: Vec<u8>,
    line: usize,
    ended: bool,
    /// How many plain bytes to expect; a guess.
    expected: usize,
    /// Bytes of the line that is being read.
    open_line: usize,
    /// Bytes that were read, unpacked.
    plain: usize,
    /// Most of them.
    most: usize,
    limits: Limits,
}

fn fault(error: &std::io::Error, packing: Option<&str>) -> KernelError {
    if error.kind() == ErrorKind::OutOfMemory {
        return KernelError::Memory { n: SLICE, what: "more bytes of the file", bytes: SLICE };
    }
    if error.raw_os_error().is_some() {
        return KernelError::Read(error.to_string());
    }
    let packing = packing.unwrap_or("plain");
    let message = if error.kind() == ErrorKind::UnexpectedEof {
        format!("the {packing} data end early: the file is truncated")
    } else {
        format!("the {packing} data are damaged: {error}")
    };
    KernelError::Format { line: 0, message }
}

impl Source {
    /// The file at a path.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, KernelError> {
        let file = File::open(path).map_err(|error| fault(&error, None))?;
        let size = file.metadata().map_or(0, |metadata| metadata.len() as usize);
        Self::new(Box::new(BufReader::with_capacity(PACKED, file)), size, limits)
    }

    /// Bytes in memory.
    pub fn from_bytes(bytes: Vec<u8>, limits: Limits) -> Result<Self, KernelError> {
        let size = bytes.len();
        Self::new(Box::new(Cursor::new(bytes)), size, limits)
    }

    fn new(
        packed: Box<dyn std::io::BufRead + Send>,
        size: usize,
        limits: Limits,
    ) -> Result<Self, KernelError> {
        let (reader, packing) = unpack(packed).map_err(|error| fault(&error, None))?;
        let expected = if packing.is_some() { size.saturating_mul(5).min(1 << 28) } else { size };
        // The size of a pipe is not known, nor how much its bytes become.
        let bounded = packing.is_some() && size > 0;
        let most = if bounded { size.saturating_mul(limits.unpack).max(HARMLESS) } else { usize::MAX };
        Ok(Self {
            reader,
            packing,
            ahead: Vec::new(),
            line: 1,
            ended: false,
            expected,
            open_line: 0,
            plain: 0,
            most,
            limits,
        })
    }

    /// "gzip", "Zstandard" or nothing.
    pub fn packing(&self) -> Option<&'static str> {
        self.packing
    }

    /// Read up to `n` more bytes into `ahead`; false at the end.
    fn more(&mut self, n: usize) -> Result<bool, KernelError> {
        if self.ended {
            return Ok(false);
        }
        let before = self.ahead.len();
        let mut slice = (&mut self.reader).take(n as u64);
        slice.read_to_end(&mut self.ahead).map_err(|error| fault(&error, self.packing))?;
        let new = &self.ahead[before..];
        self.ended = new.len() < n;
        self.plain += new.len();
        self.open_line = memrchr(b'\n', new).map_or(self.open_line + new.len(), |end| new.len() - end - 1);
        if self.open_line > self.limits.line {
            let line = self.line + memchr_iter(b'\n', &self.ahead).count();
            let message =
                format!("a line of more than {} bytes; pass line_limit= to read it", self.limits.line);
            return Err(KernelError::Format { line, message });
        }
        if self.plain > self.most {
            let message = format!(
                "{} data that become more than {} times their size; pass unpack_limit= to read them",
                self.packing.unwrap_or("packed"),
                self.limits.unpack
            );
            return Err(KernelError::Format { line: 0, message });
        }
        Ok(self.ahead.len() > before)
    }

    /// Up to `n` of the next bytes, which stay in place.
    pub fn peek(&mut self, n: usize) -> Result<&[u8], KernelError> {
        while self.ahead.len() < n && self.more((n - self.ahead.len()).min(SLICE))? {}
        Ok(&self.ahead[..n.min(self.ahead.len())])
    }

    /// Up to `n` of the next bytes; none at the end.
    pub fn read(&mut self, n: usize, flag: &Interrupt) -> Result<Vec<u8>, KernelError> {
        if n > self.ahead.len() {
            // A guess that cannot be had is no error: the vector then grows as it must.
            let _ = self.ahead.try_reserve(self.expected.min(n).saturating_sub(self.ahead.len()));
        }
        while self.ahead.len() < n && self.more(SLICE)? {
            flag.check()?;
        }
        let rest = self.ahead.split_off(n.min(self.ahead.len()));
        Ok(std::mem::replace(&mut self.ahead, rest))
    }

    /// The next `n` lines or groups, fewer at the end of the file; `None` when nothing is left.
    pub fn block(&mut self, n: usize, unit: Unit, flag: &Interrupt) -> Result<Option<Block>, KernelError> {
        if self.line == 1 && self.peek(3)? == b"\xef\xbb\xbf" {
            self.ahead.drain(..3);
        }
        let first_line = self.line;
        if n == usize::MAX {
            let bytes = self.read(usize::MAX, flag)?;
            return Ok((!bytes.is_empty()).then_some(Block { bytes, first_line }));
        }
        let (mut at, mut found, mut inside) = (0, 0, false);
        while found < n {
            let Some(length) = memchr(b'\n', &self.ahead[at..]) else {
                flag.check()?;
                // What was looked at of a long line is not looked at again by much: slices are large.
                if self.more(SLICE)? {
                    continue;
                }
                at = self.ahead.len();
                break;
            };
            let blank = unit == Unit::Group && is_blank(&self.ahead[at..at + length]);
            at += length + 1;
            self.line += 1;
            if unit == Unit::Line || (blank && inside) {
                found += 1;
            }
            inside = !blank;
        }
        let rest = self.ahead.split_off(at);
        let bytes = std::mem::replace(&mut self.ahead, rest);
        Ok((!bytes.is_empty()).then_some(Block { bytes, first_line }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn text() -> Vec<u8> {
        (0..100_000)
            .flat_map(|i| format!("line {i}\n{}", if i % 3 == 0 { "\r\n" } else { "" }).into_bytes())
            .collect()
    }

    fn all(bytes: Vec<u8>) -> Result<Vec<u8>, KernelError> {
        Source::from_bytes(bytes, Limits::NONE)?.read(usize::MAX, &Interrupt::new())
    }

    #[test]
    fn packed_data_come_out_plain() {
        let text = text();
        for packed in [text.clone(), gzip(&text), zstandard(&text)] {
            assert_eq!(all(packed).unwrap(), text);
        }
        let twice = [gzip(b"a\n"), gzip(b"b\n"), vec![0; 7]].concat();
        assert_eq!(all(twice).unwrap(), b"a\nb\n");
        let frames =
            [zstandard(b"a\n"), vec![0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9], zstandard(b"b\n")].concat();
        assert_eq!(all(frames).unwrap(), b"a\nb\n");
        assert_eq!(all(Vec::new()).unwrap(), b"");
    }

    #[test]
    fn truncated_and_damaged_data_are_told() {
        for packed in [gzip(&text()), zstandard(&text())] {
            for keep in [5, 30, packed.len() / 2, packed.len() - 1] {
                let error = all(packed[..keep].to_vec()).unwrap_err().to_string();
                assert!(error.contains("truncated"), "{keep}: {error}");
            }
        }
        let mut damaged = gzip(&text());
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        assert!(all(damaged).is_err());
        assert!(all([gzip(b"a"), b"xyz".to_vec()].concat()).unwrap_err().to_string().contains("follows"));
    }

    #[test]
    fn blocks_join_to_the_text() {
        let text = [b"\xef\xbb\xbf\n\n".to_vec(), text(), b"end".to_vec()].concat();
        for unit in [Unit::Line, Unit::Group] {
            let mut source = Source::from_bytes(gzip(&text), Limits::NONE).unwrap();
            let (mut joined, mut line, mut blocks) = (Vec::new(), 1, 0);
            while let Some(block) = source.block(1000, unit, &Interrupt::new()).unwrap() {
                assert_eq!(block.first_line, line);
                line += super::super::lines::lines(&block.bytes).count();
                joined.extend(block.bytes);
                blocks += 1;
            }
            assert_eq!(joined, text[3..]);
            assert_eq!(blocks, if unit == Unit::Line { 134 } else { 34 });
        }
    }

    #[test]
    fn bounds_are_told() {
        let flag = Interrupt::new();
        let limits = Limits { line: 1000, unpack: usize::MAX };
        let long = [b"short\n".to_vec(), vec![b'x'; 2000], b"\n".to_vec()].concat();
        // A line that ends within one slice is short enough, whatever its length.
        assert!(Source::from_bytes(long, limits).unwrap().read(usize::MAX, &flag).is_ok());
        let endless = [b"short\n".to_vec(), vec![b'x'; 2 * SLICE]].concat();
        let told = Source::from_bytes(endless, limits).unwrap().read(usize::MAX, &flag).unwrap_err();
        assert!(matches!(told, KernelError::Format { line: 2, .. }), "{told}");
        let blanks = gzip(&vec![b' '; HARMLESS + 2 * SLICE]);
        let limits = Limits { line: usize::MAX, unpack: 10 };
        let told = Source::from_bytes(blanks, limits).unwrap().read(usize::MAX, &flag).unwrap_err();
        assert!(told.to_string().contains("unpack_limit"), "{told}");
    }
}
