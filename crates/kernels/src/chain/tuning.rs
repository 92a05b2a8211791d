//! Sizes and thresholds of the kernels in this folder that were chosen for speed: the unit of each, why it is there, and
//! in brackets the case of `python -m benchmarks` to run, before and after, when it is changed.

/// Factor of the largest curvature of a token in a step. [s1]
pub(crate) const LARGEST: f64 = 0.8;
/// Factor of the curvature summed over the tokens in a step. [s1]
pub(crate) const SUMMED: f64 = 0.03;
/// Factor of the caution after a pass that raised the objective. [s1]
pub(crate) const MORE_CAUTION: f64 = 1.5;
/// Ratio of two objectives from which on a pass raised it by more than the order of the visits can. [s1]
pub(crate) const WORSE: f64 = 1.001;
/// Passes that visit all sequences (elastic net; from conll2000, conll2002 Spanish and wnut17).
/// [python -m benchmarks.taggers]
pub(crate) const FULL_PASSES: usize = 3;
/// The least probability of a visit afterwards (same corpora). [python -m benchmarks.taggers]
pub(crate) const LEAST_VISITS: f64 = 0.1;
/// Blocks of sequences at most. [s3]
pub(crate) const MAX_BLOCKS: usize = 8;
/// Multiply-adds of a block for every weight: clearing and adding up the sums must not cost much beside them. [s3]
pub(crate) const BLOCK_WORK: usize = 24;
/// Entries of a gradient that are added up at a time. [s3]
pub(crate) const CHUNK: usize = 1 << 13;
/// Sequences after which the sums over edges are flushed. [s3]
pub(crate) const FLUSH: usize = 16;
/// Sweeps for which a plane rests that did not leave zero. [s8]
pub(crate) const REST: u32 = 3;
/// Searches after which a plane that was of no use is forgotten. [s8]
pub(crate) const PATIENCE: u32 = 4;
/// The most words of a layout, per weight, that more rows than needed may take. [s5]
pub(crate) const WORDS_PER_WEIGHT: usize = 5;
/// Labels from which on it pays to sum over transitions with a weight alone, and to look for the sources that may matter:
/// fewer fit into few vectors, and a dense product is as fast. [s12]
pub(crate) const MANY_LABELS: usize = 48;
/// Transitions of a dense product that cost as much as one that is looked up. [s12]
pub(crate) const DENSE: usize = 3;
