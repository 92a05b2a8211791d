//! Candidates out of very many labels by an inverted index of naive-Bayes scores.
//!
//! Problem: the M labels of the highest smoothed score
//!     s_y(x) = sum_f x_f [ln(1 + c_fy / (mu p_f)) - ln((L_y + mu) / mu)] + alpha ln n_y,
//! where c_fy counts feature f in the rows of label y, L_y = sum_f c_fy, n_y the rows of y, and p_f is the share
//! of f in all counts: a multinomial per label, smoothed towards the whole (Dirichlet prior of mass mu), up to a
//! constant of the row. Rows are scaled so that their mean stored value is one.
//! The first term lies in postings (feature -> labels) of 8-bit weights, 1/16 of a unit each; features that most
//! labels share are whole rows instead, added without a scatter. Scores are 16-bit sums; a row whose sums
//! could leave that range is scored in coarser units.
//! Invariant: every row by itself, ties to the smaller label: the same on any number of threads.
//! Source: Zhai & Lafferty (2004), the query-likelihood score; Zobel & Moffat (2006) on inverted files.
//! Returned: candidates with their scores in natural units.

use super::examples::Marks;
use super::numbers::Number;
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length};

/// Binary digits of the units in which values, and weights, are counted.
const UNIT_BITS: u32 = 4;
/// Units of a natural logarithm at the finest scale: values times weights.
const FINE: f32 = 256.0;
/// Sums are kept below this.
const LARGEST: u64 = 30_000;
/// Bases that a workspace keeps.
const MOST_BASES: usize = 12;
/// Labels whose largest score is looked at together.
const BLOCK: usize = 64;
/// Labels whose scores stay in the nearest cache while whole rows of weights are added to them.
const PART: usize = 2048;

/// The index over d features and K labels, in borrowed arrays: every access is checked.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a, L> {
    /// Where the postings of each feature start, and the end (d + 1).
    pub starts: &'a [i64],
    /// Labels of the postings.
    pub labels: &'a [L],
    /// Their weights, 16 units per natural logarithm.
    pub weights: &'a [u8],
    /// For each feature its whole row of weights, or -1 (d).
    pub wide: &'a [i32],
    /// Whole rows of weights (rows x K).
    pub wide_weights: &'a [u8],
    /// ln((L_y + mu) / mu) in 1/256 (K).
    pub penalty: &'a [i32],
    /// alpha ln n_y in 1/256 (K).
    pub prior: &'a [i32],
}

impl<L: Number> Index<'_, L> {
    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.penalty.len()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.wide.len()
    }

    /// Fail unless the lengths agree, with each other and with the rows `x`.
    pub fn check(&self, x: &Csr<'_, f32>) -> Result<(), KernelError> {
        let k = self.n_labels();
        if k == 0 {
            return Err(KernelError::Argument("the index has no labels".into()));
        }
        check_length("prior", self.prior.len(), k)?;
        check_length("starts", self.starts.len(), self.n_features() + 1)?;
        check_length("weights", self.weights.len(), self.labels.len())?;
        check_length("wide_weights", self.wide_weights.len() % k, 0)?;
        check_length("the columns of x", x.n_cols(), self.n_features())
    }

    /// Postings of feature `f`: labels and weights.
    #[inline(always)]
    fn postings(&self, f: usize) -> (&[L], &[u8]) {
        let range = span(self.starts, f);
        match (self.labels.get(range.clone()), self.weights.get(range)) {
            (Some(labels), Some(weights)) => (labels, weights),
            _ => (&[], &[]),
        }
    }

    /// The number of the whole row of feature `f`, if it has one.
    #[inline(always)]
    fn whole_row(&self, f: usize) -> Option<usize> {
        usize::try_from(*self.wide.get(f)?).ok()
    }

    /// Weights of the labels from `first` on in whole row `row`.
    #[inline(always)]
    fn weights_from(&self, row: usize, first: usize) -> &[u8] {
        let k = self.n_labels();
        self.wide_weights.get(row * k + first..(row + 1) * k).unwrap_or(&[])
    }
}

/// `starts[f]..starts[f + 1]`; nothing where the array does not say.
#[inline(always)]
pub(super) fn span(starts: &[i64], f: usize) -> std::ops::Range<usize> {
    match (starts.get(f), starts.get(f + 1)) {
        (Some(&a), Some(&b)) if 0 <= a && a <= b => a as usize..b as usize,
        _ => 0..0,
    }
}

/// One row on its way through the index: features, values relative to their mean.
#[derive(Debug, Default)]
pub struct ScaledRow {
    /// Features.
    pub features: Vec<u32>,
    /// Values, one on average.
    pub values: Vec<f32>,
    steps: Vec<u16>,
    shift: u32,
}

impl ScaledRow {
    /// Take row `i`; fails at a column outside, a value below zero or one that is not finite.
    pub fn take(&mut self, x: &Csr<'_, f32>, i: usize, largest_penalty: u64) -> Result<(), KernelError> {
        self.features.clear();
        self.values.clear();
        self.steps.clear();
        let (columns, values) = x.row(i);
        for (&column, &value) in columns.iter().zip(values) {
            let place = usize::try_from(column).ok().filter(|&c| c < x.n_cols());
            match place {
                Some(_) if value == 0.0 => {}
                Some(place) if value > 0.0 && value < f32::INFINITY => {
                    self.features.push(place as u32);
                    self.values.push(value);
                }
                Some(place) if value < 0.0 && value > f32::NEG_INFINITY => {
                    return Err(KernelError::Argument(format!(
                        "Negative values in data passed to the index: {value} at row {i}, column {place}"
                    )));
                }
                _ => {
                    return Err(x
                        .fault(i)
                        .unwrap_or_else(|| KernelError::Argument(format!("row {i} changed"))));
                }
            }
        }
        let n = self.values.len();
        let mean = self.values.iter().map(|&v| f64::from(v)).sum::<f64>() / n.max(1) as f64;
        let mut total = 0;
        for v in &mut self.values {
            *v = (f64::from(*v) / mean) as f32;
            let steps = (*v * f32::from(1u16 << UNIT_BITS)).round().clamp(1.0, 255.0) as u16;
            total += u64::from(steps) * 255;
            self.steps.push(steps);
        }
        self.shift = UNIT_BITS;
        while (total + largest_penalty * n as u64) >> self.shift > LARGEST {
            self.shift += 1;
        }
        Ok(())
    }

    /// The length of the row: its values sum to it.
    pub fn mass(&self) -> usize {
        self.values.len()
    }

    /// Units of the scores in a natural logarithm.
    pub fn units(&self) -> f32 {
        FINE / (1u32 << self.shift.min(31)) as f32
    }
}

/// prior - mass * penalty of every label in units of 2^shift / 256; the row's shift keeps it in range.
#[inline(always)]
fn fill_base(base: &mut [i16], penalty: &[i32], prior: &[i32], (mass, shift): (usize, u32)) {
    let (mass, scale) = (mass as f32, 1.0 / (1u64 << shift.min(63)) as f32);
    for ((base, &penalty), &prior) in base.iter_mut().zip(penalty).zip(prior) {
        let sum = (prior as f32 - mass * penalty as f32) * scale;
        *base = sum.clamp(-32_767.0, 32_767.0).floor() as i32 as i16;
    }
}

/// Add one or two whole rows of weights, each with its value, to the scores of some labels.
#[inline(always)]
fn add_weights<'a>(
    scores: &mut [i16],
    rows: &[(usize, u16)],
    shift: u32,
    weights: impl Fn(usize) -> &'a [u8],
) {
    let one = 1 << shift;
    match rows {
        &[(first, a), (second, b)] if (u32::from(a), u32::from(b)) == (one, one) => {
            for ((score, &first), &second) in scores.iter_mut().zip(weights(first)).zip(weights(second)) {
                *score = score.wrapping_add(i16::from(first) + i16::from(second));
            }
        }
        _ => {
            for &(row, steps) in rows {
                for (score, &weight) in scores.iter_mut().zip(weights(row)) {
                    *score = score.wrapping_add(((u16::from(weight) * steps) >> shift) as i16);
                }
            }
        }
    }
}

/// A candidate: its score in natural units, and the label.
pub type Candidate = (f32, u32);

/// Space for the scores of one row.
#[derive(Debug)]
pub struct Workspace {
    scores: Vec<i16>,
    /// What rows of one mass, in one unit, have in common: prior and penalties.
    bases: Vec<((usize, u32), Vec<i16>)>,
    /// Whole rows of weights that the row at hand adds, with their values.
    whole: Vec<(usize, u16)>,
    largest: Vec<i16>,
    ranked: Vec<i16>,
    found: Vec<(i16, u32)>,
    largest_penalty: u64,
    /// The row at hand.
    pub row: ScaledRow,
    /// Space for comparisons with examples.
    pub marks: Marks,
}

impl Workspace {
    /// Space for an index.
    pub fn new<L: Number>(index: &Index<'_, L>) -> Self {
        let padded = index.n_labels().div_ceil(BLOCK) * BLOCK;
        let widest = |values: &[i32]| values.iter().map(|v| u64::from(v.unsigned_abs())).max().unwrap_or(0);
        Self {
            scores: vec![i16::MIN; padded.max(L::ALL)],
            bases: Vec::new(),
            whole: Vec::new(),
            largest: vec![0; padded / BLOCK],
            ranked: Vec::new(),
            found: Vec::new(),
            largest_penalty: widest(index.penalty) + widest(index.prior),
            row: ScaledRow::default(),
            marks: Marks::new(index.n_features()),
        }
    }

    /// Take row `i` and score every label.
    #[inline(always)]
    pub fn score<L: Number>(
        &mut self,
        index: &Index<'_, L>,
        x: &Csr<'_, f32>,
        i: usize,
    ) -> Result<(), KernelError> {
        self.row.take(x, i, self.largest_penalty)?;
        let key = (self.row.mass(), self.row.shift);
        let at = match self.bases.iter().position(|base| base.0 == key) {
            Some(at) => at,
            None => {
                let mut values = vec![i16::MIN; self.largest.len() * BLOCK];
                fill_base(&mut values, index.penalty, index.prior, key);
                if self.bases.len() == MOST_BASES {
                    self.bases.remove(0);
                }
                self.bases.push((key, values));
                self.bases.len() - 1
            }
        };
        let (base, row, shift) = (&self.bases[at].1, &self.row, self.row.shift);
        self.whole.clear();
        for (&f, &steps) in row.features.iter().zip(&row.steps) {
            self.whole.extend(index.whole_row(f as usize).map(|row| (row, steps)));
        }
        let scores = &mut self.scores[..base.len()];
        for (number, (scores, base)) in scores.chunks_mut(PART).zip(base.chunks(PART)).enumerate() {
            scores.copy_from_slice(base);
            for rows in self.whole.chunks(2) {
                add_weights(scores, rows, shift, |row| index.weights_from(row, number * PART));
            }
        }
        for (&f, &steps) in row.features.iter().zip(&row.steps) {
            let (labels, weights) = index.postings(f as usize);
            if u32::from(steps) == 1 << shift {
                L::scatter(labels, weights, &mut self.scores, i16::from);
            } else {
                L::scatter(labels, weights, &mut self.scores, |w| ((u16::from(w) * steps) >> shift) as i16);
            }
        }
        Ok(())
    }

    /// Put another score (in natural units) in the place of a label's.
    pub fn replace(&mut self, label: usize, score: f32) {
        let units = self.row.units();
        if let Some(place) = self.scores.get_mut(label) {
            *place = (score * units).round().clamp(-32_767.0, 32_767.0) as i16;
        }
    }

    /// Labels ahead of `label`; those of the same score count half.
    pub fn rank(&self, label: usize, n_labels: usize) -> f32 {
        let own = self.scores.get(label).copied().unwrap_or(i16::MIN);
        let scores = &self.scores[..n_labels.min(self.scores.len())];
        let ahead = scores.iter().filter(|&&s| s > own).count();
        let level = scores.iter().filter(|&&s| s == own).count().saturating_sub(1);
        ahead as f32 + 0.5 * level as f32
    }

    /// The `n` best labels, best first.
    #[inline(always)]
    pub fn best(&mut self, n: usize, n_labels: usize, out: &mut Vec<Candidate>) {
        out.clear();
        let n = n.min(n_labels);
        if n == 0 {
            return;
        }
        for (largest, block) in self.largest.iter_mut().zip(self.scores.chunks_exact(BLOCK)) {
            *largest = block.iter().fold(i16::MIN, |a, &b| a.max(b));
        }
        // At least n labels reach the n-th largest of the blocks' best, so the others need no look. With few
        // blocks all labels are looked at.
        let mut threshold = i16::MIN;
        if n < self.largest.len() {
            self.ranked.clear();
            self.ranked.extend_from_slice(&self.largest);
            threshold = *self.ranked.select_nth_unstable_by(n - 1, |a, b| b.cmp(a)).1;
        }
        self.found.clear();
        for (at, &largest) in self.largest.iter().enumerate() {
            if largest >= threshold {
                let first = at * BLOCK;
                let block = &self.scores[first..(first + BLOCK).min(n_labels)];
                let good = block.iter().enumerate().filter(|(_, score)| **score >= threshold);
                self.found.extend(good.map(|(place, &score)| (score, (first + place) as u32)));
            }
        }
        let order = |a: &(i16, u32), b: &(i16, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        if self.found.len() > n {
            self.found.select_nth_unstable_by(n - 1, order);
            self.found.truncate(n);
        }
        self.found.sort_unstable_by(order);
        let units = self.row.units();
        out.extend(self.found.iter().map(|&(score, label)| (f32::from(score) / units, label)));
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
