//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Bytes from which on a second thread is worth its start. [t4b]
pub(crate) const CONLL_WORTH_THREADS: usize = 1 << 18;
/// Bytes from which on a second thread is worth its start. [no case: files of crfsuite]
pub(crate) const CRFSUITE_WORTH_THREADS: usize = 1 << 18;
/// Bytes from which on a text is shared by threads. [b1a]
pub(crate) const CSV_WORTH_THREADS: usize = 1 << 18;
/// Pieces per thread, so that none waits long for another. [b1a]
pub(crate) const PIECES: usize = 4;
/// Records after which a column of words is looked at. [b1a]
pub(crate) const LOOK: usize = 1024;
/// Bytes of a field that are compared one by one before longer steps pay. [b1a]
pub(crate) const SHORT: usize = 16;
/// Rows of a block: enough that a thread is worth its turn. [b3]
pub(crate) const ROW_BLOCK: usize = 4096;
/// Bytes read at a time. [t4a]
pub(crate) const SLICE: usize = 1 << 18;
/// Bytes before the packed data that are looked at together. [t4a]
pub(crate) const PACKED: usize = 1 << 17;
/// Bytes of text worth a task of their own. [t4a]
pub(crate) const SVMLIGHT_PIECE: usize = 1 << 19;
