//! Scores and best labellings of tokens that are looked at once, straight from their attributes.
//!
//! The weights of a fitted model are laid out once for any number of calls: an attribute with many labels has a row of
//! weights, one per label, padded to whole vectors; one with few labels has their number, the labels and the weights side
//! by side. All stand in one array, rows first, so that a number says where and of which kind they are, and a first look
//! over the attributes of a few tokens can ask for the cache lines of all weights before any of them is read: they lie
//! anywhere in many megabytes. Sums are in `f64`; threads over sequences change nothing.

use std::ops::Range;

use crate::chain::batch::check_offsets;
use crate::chain::encoded::{LANES, MOST_LABELS};
use crate::chain::likelihood::blocks;
use crate::chain::observed::Pattern;
use crate::chain::viterbi::{Steps, best_path};
use crate::chain::word_layout::{PACKED, layout, number, packed};
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::real::Real;
use crate::simd::{Gather, Task, dispatch, prefetch_lines};
use crate::threads::try_each;

/// Tokens per task of a score product.
const BLOCK: usize = 64;
/// Tasks of a tagging.
const TASKS: usize = 64;
/// Tokens whose weights are asked for before any of them is read: more than a few do not fit the first cache.
const AHEAD: usize = 8;

/// The weights of (attribute, label) pairs, laid out for scoring.
#[derive(Debug)]
pub struct Scorer {
    n_labels: usize,
    width: usize,
    /// Where the weights of every attribute stand: rows before `end_of_rows`, the others after it.
    places: Vec<u32>,
    end_of_rows: usize,
    weights: Vec<f64>,
}

/// The scores that do not depend on attributes.
#[derive(Debug, Clone, Copy)]
pub struct Bonds<'a> {
    /// Scores of the edges, number `to * k + from`.
    pub edges: &'a [f64],
    /// Scores of beginning with a label.
    pub start: &'a [f64],
    /// Scores of ending with a label.
    pub end: &'a [f64],
}

impl Bonds<'_> {
    fn check(&self, k: usize) -> Result<(), KernelError> {
        check_length("edge scores", self.edges.len(), k * k)?;
        check_length("start scores", self.start.len(), k)?;
        check_length("end scores", self.end.len(), k)?;
        let mut all = self.edges.iter().chain(self.start).chain(self.end);
        match all.find(|x| !x.is_finite()) {
            Some(x) => Err(KernelError::Argument(format!("a score of an edge, a start or an end is {x}"))),
            None => Ok(()),
        }
    }
}

impl Scorer {
    /// Lay out one weight per (attribute, label) of the pattern.
    pub fn new(pattern: &Pattern, weights: &[f64], n_labels: usize) -> Result<Self, KernelError> {
        check_length("weights", weights.len(), pattern.labels.len())?;
        if n_labels == 0 || pattern.labels.iter().any(|&label| label as usize >= n_labels) {
            return Err(KernelError::Argument(format!("the pattern names labels outside 0..{n_labels}")));
        }
        if n_labels > MOST_LABELS {
            return Err(KernelError::Argument(format!(
                "{n_labels} labels are too many: at most {MOST_LABELS}"
            )));
        }
        if let Some(at) = weights.iter().position(|w| !w.is_finite()) {
            return Err(KernelError::Argument(format!("weight {at} is {}", weights[at])));
        }
        let width = n_labels.next_multiple_of(LANES);
        let mut scorer = Self {
            n_labels,
            width,
            places: vec![0; pattern.n_attributes()],
            end_of_rows: 0,
            weights: Vec::new(),
        };
        let (most, size) = layout(pattern, width);
        // A row that begins with a cache line takes as few of them as it can.
        scorer.weights.reserve_exact(size + LANES);
        let begin = scorer.weights.as_ptr().align_offset(size_of::<[f64; LANES]>());
        scorer.weights.resize(begin.min(LANES), 0.0);
        // Rows come first, close together: they are read most.
        let has_row = |a: usize| pattern.of(a).len() > most;
        let weights_of = |a: usize| &weights[pattern.starts[a]..pattern.starts[a + 1]];
        for a in (0..pattern.n_attributes()).filter(|&a| has_row(a)) {
            let first = scorer.weights.len();
            scorer.weights.resize(first + width, 0.0);
            for (&label, &weight) in pattern.of(a).iter().zip(weights_of(a)) {
                scorer.weights[first + label as usize] += weight;
            }
            scorer.places[a] = first as u32;
        }
        scorer.end_of_rows = scorer.weights.len();
        let mut numbers = Vec::new();
        for a in (0..pattern.n_attributes()).filter(|&a| !has_row(a)) {
            scorer.places[a] = scorer.weights.len() as u32;
            numbers.clear();
            numbers.push(pattern.of(a).len() as u32);
            numbers.extend_from_slice(pattern.of(a));
            scorer.weights.extend(numbers.chunks(PACKED).map(packed));
            scorer.weights.extend_from_slice(weights_of(a));
        }
        match u32::try_from(scorer.weights.len()) {
            Ok(_) => Ok(scorer),
            Err(_) => Err(KernelError::Argument(format!("{} weights are too many", weights.len()))),
        }
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Scores of shape n_tokens x n_labels.
    pub fn scores<T: Gather>(
        &self,
        x: &Csr<'_, T>,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Vec<f64>, KernelError> {
        check_length("attributes of the weights", self.places.len(), x.n_cols())?;
        let k = self.n_labels;
        let mut out = zeros(x.n_rows().saturating_mul(k))?;
        let block = |(b, out): (usize, &mut [f64])| {
            stop.check()?;
            dispatch(ScoreTokens { scorer: self, x, first: b * BLOCK, out })
        };
        let n_threads = threads_for(x.n_stored() * 4, n_threads);
        try_each(n_threads, out.chunks_mut(BLOCK * k).enumerate(), block)?;
        Ok(out)
    }

    /// The labels of the best labelling of every sequence.
    pub fn best<T: Gather>(
        &self,
        x: &Csr<'_, T>,
        offsets: &[usize],
        bonds: Bonds<'_>,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Vec<u32>, KernelError> {
        check_length("attributes of the weights", self.places.len(), x.n_cols())?;
        check_offsets(offsets, x.n_rows())?;
        bonds.check(self.n_labels)?;
        let steps = Steps::new(bonds.edges, self.n_labels);
        let part = |sequences: Range<usize>| {
            dispatch(TagSequences { scorer: self, x, offsets, bonds, steps: &steps, sequences, stop })
        };
        if threads_for(x.n_stored() * 4, n_threads) <= 1 {
            return part(0..offsets.len() - 1);
        }
        Ok(try_each(n_threads, blocks(offsets, TASKS), part)?.concat())
    }

    /// Scores of the labels of some tokens, padded; `found` is work space.
    #[inline(always)]
    fn fill<T: Gather, const FMA: bool>(
        &self,
        x: &Csr<'_, T>,
        tokens: Range<usize>,
        found: &mut Found<T>,
        out: &mut [f64],
    ) -> Result<(), KernelError> {
        for (first, out) in tokens.clone().step_by(AHEAD).zip(out.chunks_mut(AHEAD * self.width)) {
            let group = first..tokens.end.min(first + AHEAD);
            self.look_up(x, group.clone(), found)?;
            let (mut row, mut few) = (0, 0);
            for (&(end_of_rows, end_of_few), out) in found.ends.iter().zip(out.chunks_exact_mut(self.width)) {
                self.add_up::<T, FMA>(&found.rows[row..end_of_rows], out);
                self.add_few(&found.few[few..end_of_few], out);
                (row, few) = (end_of_rows, end_of_few);
            }
        }
        Ok(())
    }

    /// Find the weights of all attributes of some tokens, ask for their cache lines, and part the rows from the others:
    /// without a branch, because which of both an attribute is cannot be foreseen.
    #[inline(always)]
    fn look_up<T: Gather>(
        &self,
        x: &Csr<'_, T>,
        tokens: Range<usize>,
        found: &mut Found<T>,
    ) -> Result<(), KernelError> {
        let Found { rows, few, ends } = found;
        let most: usize = tokens.clone().map(|t| x.row(t).0.len()).sum::<usize>() + 1;
        if rows.len() < most {
            rows.resize(most, (0, T::ZERO));
            few.resize(most, (0, T::ZERO));
        }
        ends.clear();
        let (mut row, mut other) = (0, 0);
        for t in tokens {
            let (columns, values) = x.row(t);
            for (&column, &value) in columns.iter().zip(values) {
                let place =
                    *self.places.get(column as isize as usize).ok_or(KernelError::IndexOutOfRange {
                        row: t,
                        index: column.into(),
                        n_cols: x.n_cols(),
                    })?;
                let at = place as usize;
                prefetch_lines(&self.weights[at..=at], 1);
                rows[row] = (place, value);
                few[other] = (place, value);
                let is_row = usize::from(at < self.end_of_rows);
                row += is_row;
                other += 1 - is_row;
            }
            ends.push((row, other));
        }
        Ok(())
    }

    /// Sums of the rows of a token.
    #[inline(always)]
    fn add_up<T: Gather, const FMA: bool>(&self, rows: &[(u32, T)], out: &mut [f64]) {
        let mut done = 0;
        while done < self.width {
            let rest = &mut out[done..];
            done += match rest.len() / LANES {
                1 => self.add_rows::<T, FMA, 1>(rows, done, rest),
                2 => self.add_rows::<T, FMA, 2>(rows, done, rest),
                3 => self.add_rows::<T, FMA, 3>(rows, done, rest),
                _ => self.add_rows::<T, FMA, 4>(rows, done, rest),
            };
        }
    }

    /// Sums of `N` vectors of the rows, from column `at` on; returns how many columns were written.
    #[inline(always)]
    fn add_rows<T: Gather, const FMA: bool, const N: usize>(
        &self,
        rows: &[(u32, T)],
        at: usize,
        out: &mut [f64],
    ) -> usize {
        let mut sums = [[0.0; LANES]; N];
        for (place, value) in rows {
            let row = &self.weights[*place as usize + at..][..N * LANES];
            let value = value.to_f64();
            for (sum, w) in sums.iter_mut().zip(row.as_chunks::<LANES>().0) {
                for l in 0..LANES {
                    sum[l] = w[l].fma::<FMA>(value, sum[l]);
                }
            }
        }
        for (out, sum) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(&sums) {
            *out = *sum;
        }
        N * LANES
    }

    /// Add the weights of a token's attributes of few labels.
    #[inline(always)]
    fn add_few<T: Gather>(&self, few: &[(u32, T)], out: &mut [f64]) {
        for (place, value) in few {
            let words = &self.weights[*place as usize..];
            let count = number(words, 0);
            let weights = &words[count / PACKED + 1..][..count];
            for (i, weight) in weights.iter().enumerate() {
                out[number(words, i + 1)] += weight * value.to_f64();
            }
        }
    }
}

/// Where the weights of the attributes of some tokens are, with the attributes' values.
#[derive(Debug)]
struct Found<T> {
    rows: Vec<(u32, T)>,
    few: Vec<(u32, T)>,
    /// Where the attributes of each token end in both.
    ends: Vec<(usize, usize)>,
}

impl<T> Found<T> {
    fn new() -> Self {
        Self { rows: Vec::new(), few: Vec::new(), ends: Vec::new() }
    }
}

/// Scores of a block of tokens.
struct ScoreTokens<'a, 'b, T> {
    scorer: &'a Scorer,
    x: &'a Csr<'b, T>,
    first: usize,
    out: &'a mut [f64],
}

impl<T: Gather> Task for ScoreTokens<'_, '_, T> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let k = self.scorer.n_labels;
        let (n, width) = (self.out.len() / k, self.scorer.width);
        let (mut found, mut padded) = (Found::new(), vec![0.0; n * width]);
        self.scorer.fill::<T, FMA>(self.x, self.first..self.first + n, &mut found, &mut padded)?;
        for (out, padded) in self.out.chunks_exact_mut(k).zip(padded.chunks_exact(width)) {
            out.copy_from_slice(&padded[..k]);
        }
        Ok(())
    }
}

/// Labels of a range of sequences.
struct TagSequences<'a, 'b, T> {
    scorer: &'a Scorer,
    x: &'a Csr<'b, T>,
    offsets: &'a [usize],
    bonds: Bonds<'a>,
    steps: &'a Steps<f64>,
    sequences: Range<usize>,
    stop: &'a Interrupt,
}

impl<T: Gather> Task for TagSequences<'_, '_, T> {
    type Output = Result<Vec<u32>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let (k, width) = (self.scorer.n_labels, self.scorer.width);
        let first = self.offsets[self.sequences.start];
        let mut labels = vec![0; self.offsets[self.sequences.end] - first];
        let (mut found, mut nodes) = (Found::new(), Vec::new());
        for number in self.sequences {
            self.stop.check()?;
            let tokens = self.offsets[number]..self.offsets[number + 1];
            let Some(last) = tokens.len().checked_sub(1) else { continue };
            if nodes.len() < tokens.len() * width {
                nodes.resize(tokens.len() * width, 0.0);
            }
            let nodes = &mut nodes[..tokens.len() * width];
            self.scorer.fill::<T, FMA>(self.x, tokens.clone(), &mut found, nodes)?;
            for s in 0..k {
                nodes[s] += self.bonds.start[s];
                nodes[last * width + s] += self.bonds.end[s];
            }
            if let Some(at) = nodes.iter().position(|x| !x.is_finite()) {
                return Err(KernelError::Argument(format!(
                    "the score of token {} of sequence {number} is {}; scale the features",
                    at / width,
                    nodes[at]
                )));
            }
            best_path(self.steps, nodes, None, &mut labels[tokens.start - first..tokens.end - first]);
        }
        Ok(labels)
    }
}
