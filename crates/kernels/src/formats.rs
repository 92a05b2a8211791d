//! Readers and writers of text formats: bytes in, arrays out.
//!
//! Every reader takes whole lines as bytes and the number of the first of them, works on threads by splitting
//! at line ends (or at blank lines, where these end a record), and gives the same result on any number of
//! threads. Errors are [`KernelError::Format`](crate::KernelError::Format) with the line in the file; of several, the
//! first in the file is told.

pub mod conll;
pub mod crfsuite;
pub mod crfsuite_write;
pub mod csv;
pub mod intern;
pub mod lines;
pub mod number;
pub mod rows_write;
pub mod source;
mod spaced;
pub mod svmlight;
mod svmlight_line;
pub mod svmlight_write;
pub(crate) mod tuning;
mod unpack;
