//! Compressed bytes to plain ones, told apart by their first bytes: gzip, Zstandard, or neither.

use std::io::{self, BufRead, Error, ErrorKind, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A reader of the plain bytes, and the name of the packing where there is one.
pub fn unpack(
    mut packed: Box<dyn BufRead + Send>,
) -> io::Result<(Box<dyn Read + Send>, Option<&'static str>)> {
    let head = packed.fill_buf()?;
    if head.starts_with(&[0x1f, 0x8b]) {
        Ok((Box::new(Gzip { member: Some(GzDecoder::new(packed)) }), Some("gzip")))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skippable(head) {
        let frames = Zstandard { frame: FrameDecoder::new(), packed, open: false };
        Ok((Box::new(frames), Some("Zstandard")))
    } else {
        Ok((Box::new(packed), None))
    }
}

fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// The members of a gzip file, one after another; zeros may follow the last.
struct Gzip {
    member: Option<GzDecoder<Box<dyn BufRead + Send>>>,
}

impl Read for Gzip {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            if let Some(ended) = self.member.take() {
                let mut packed = ended.into_inner();
                skip_zeros(&mut packed)?;
                let head = packed.fill_buf()?;
                if head.is_empty() {
                    break;
                }
                if head[0] != 0x1f {
                    return Err(Error::new(ErrorKind::InvalidData, "something else follows the gzip data"));
                }
                self.member = Some(GzDecoder::new(packed));
            }
        }
        Ok(0)
    }
}

fn skip_zeros(packed: &mut impl BufRead) -> io::Result<()> {
    loop {
        let head = packed.fill_buf()?;
        let zeros = head.iter().take_while(|&&byte| byte == 0).count();
        let all = zeros == head.len();
        packed.consume(zeros);
        if !all || zeros == 0 {
            return Ok(());
        }
    }
}

/// The frames of a Zstandard file (RFC 8878), one after another; skippable ones are skipped.
struct Zstandard {
    packed: Box<dyn BufRead + Send>,
    frame: FrameDecoder,
    open: bool,
}

impl Zstandard {
    /// Begin the next frame; false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.packed.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.frame.reset(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = io::copy(&mut (&mut self.packed).take(u64::from(length)), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.failure(&error)),
            }
        }
    }

    /// An error at the end of the bytes is a truncated file.
    fn failure(&mut self, error: &FrameDecoderError) -> Error {
        match self.packed.fill_buf() {
            Ok([]) => ErrorKind::UnexpectedEof.into(),
            _ => Error::new(ErrorKind::InvalidData, error.to_string()),
        }
    }
}

impl Read for Zstandard {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.open {
                if into.is_empty() || !self.begin()? {
                    return Ok(0);
                }
                self.open = true;
            }
            while self.frame.can_collect() < into.len() && !self.frame.is_finished() {
                let more = BlockDecodingStrategy::UptoBytes(into.len() - self.frame.can_collect());
                if let Err(error) = self.frame.decode_blocks(&mut self.packed, more) {
                    return Err(self.failure(&error));
                }
            }
            let n = self.frame.read(into)?;
            if n > 0 {
                return Ok(n);
            }
            self.open = false;
            let told = self.frame.get_checksum_from_data();
            if told.is_some() && told != self.frame.get_calculated_checksum() {
                return Err(Error::new(ErrorKind::InvalidData, "the checksum does not fit"));
            }
        }
    }
}
