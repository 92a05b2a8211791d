//! Candidates out of very many labels by an inverted index of naive-Bayes scores.
//!
//! Problem: the M labels of the highest smoothed score
//!     s_y(x) = sum_f x_f [ln(1 + c_fy / (mu p_f)) - ln((L_y + mu) / mu)] + alpha ln n_y,
//! where c_fy counts feature f in the rows of label y, L_y = sum_f c_fy, n_y the rows of y, and p_f is the share
//! of f in all counts: a multinomial per label, smoothed towards the whole (Dirichlet prior of mass mu), up to a
//! constant of the row. Rows are scaled so that their mean stored value is one.
//! The first term lies in postings (feature -> labels) of 8-bit weights, 1/16 of a unit each; features that most
//! labels share are whole rows instead, added without a scatter. Scores are 16-bit sums; a row whose sums
//! could leave that range is scored in coarser units. A row whose postings are few beside all labels touches those
//! alone: the others have prior and penalties, by which the best are known beforehand.
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
/// What a workspace keeps for rows to come: all labels by prior and penalties, and the best by these.
const MOST_BASES: usize = 12;
const MOST_LEADERS: usize = 64;
/// The most candidates of a row.
pub const MOST_CANDIDATES: usize = 256;
/// So many of the best labels by prior and penalties are known: one more, as the row's own may have sunk.
const MOST_BEST: usize = MOST_CANDIDATES + 1;
/// A row has few postings where all labels are so many times as many: 8 ns a posting that is touched, 0.08 ns a label
/// that is passed over.
const FEW: usize = 96;
/// Labels whose largest score is looked at together.
pub(super) const BLOCK: usize = 64;
/// And as many of a block where some may be good.
const FEW_LABELS: usize = 16;
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
    pub penalty: &'a [i16],
    /// alpha ln n_y in 1/256 (K).
    pub prior: &'a [i16],
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
fn fill_base(base: &mut [i16], penalty: &[i16], prior: &[i16], (mass, shift): Key) {
    let (mass, scale) = (mass as f32, 1.0 / (1u64 << shift.min(63)) as f32);
    for ((base, &penalty), &prior) in base.iter_mut().zip(penalty).zip(prior) {
        let sum = (f32::from(prior) - mass * f32::from(penalty)) * scale;
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

/// What rows of one mass, in one unit, have in common.
type Key = (usize, u32);

/// The labels by prior and penalties alone.
#[derive(Debug)]
struct Leaders {
    key: Key,
    /// The best, best first.
    best: Vec<u32>,
    /// How many labels are above a value, which stands at `value - i16::MIN`.
    above: Vec<u32>,
}

impl Leaders {
    fn new<L: Number>(index: &Index<'_, L>, key: Key) -> Self {
        let n_labels = index.n_labels();
        let mut values = vec![i16::MIN; n_labels];
        fill_base(&mut values, index.penalty, index.prior, key);
        let mut above = vec![0u32; 1 << 16];
        for &value in &values {
            above[(i32::from(value) - i32::from(i16::MIN)) as usize] += 1;
        }
        let mut total = 0;
        for n in above.iter_mut().rev() {
            total += std::mem::replace(n, total);
        }
        let order = |&y: &u32| (std::cmp::Reverse(values[y as usize]), y);
        let mut best: Vec<u32> = (0..n_labels as u32).collect();
        if n_labels > MOST_BEST {
            best.select_nth_unstable_by_key(MOST_BEST - 1, order);
            best.truncate(MOST_BEST);
            best.shrink_to_fit();
        }
        best.sort_unstable_by_key(order);
        Self { key, best, above }
    }

    /// Labels above `value`.
    fn above(&self, value: i16) -> usize {
        self.above[(i32::from(value) - i32::from(i16::MIN)) as usize] as usize
    }
}

/// Where what belongs to `key` stands among what was made before; the oldest goes where there are too many.
fn place_of<T>(made: &mut Vec<T>, most: usize, has: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    made.iter().position(has).unwrap_or_else(|| {
        if made.len() == most {
            made.remove(0);
        }
        made.push(make());
        made.len() - 1
    })
}

/// Space for the scores of one row.
#[derive(Debug)]
pub struct Workspace {
    scores: Vec<i16>,
    /// Prior and penalties of every label, in full.
    bases: Vec<(Key, Vec<i16>)>,
    leaders: Vec<Leaders>,
    /// Sums of postings of the labels that the row at hand touches, zero for all others; empty until needed.
    sums: Vec<i16>,
    /// These labels; nothing where all labels are scored.
    touched: Vec<u32>,
    /// Whether the row at hand touches few labels.
    few: bool,
    /// A label of the row at hand that has another score.
    replaced: Option<(u32, i16)>,
    /// Whole rows of weights that the row at hand adds, with their values.
    whole: Vec<(usize, u16)>,
    largest: Vec<i16>,
    ranked: Vec<i16>,
    found: Vec<u64>,
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
        let widest = |values: &[i16]| values.iter().map(|v| u64::from(v.unsigned_abs())).max().unwrap_or(0);
        Self {
            scores: Vec::new(),
            bases: Vec::new(),
            leaders: Vec::new(),
            sums: Vec::new(),
            touched: Vec::new(),
            few: false,
            replaced: None,
            whole: Vec::new(),
            largest: vec![0; padded / BLOCK],
            ranked: Vec::new(),
            found: Vec::new(),
            largest_penalty: widest(index.penalty) + widest(index.prior),
            row: ScaledRow::default(),
            marks: Marks::default(),
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
        self.whole.clear();
        let mut n_postings = 0;
        for (&f, &steps) in self.row.features.iter().zip(&self.row.steps) {
            self.whole.extend(index.whole_row(f as usize).map(|row| (row, steps)));
            n_postings += index.postings(f as usize).0.len();
        }
        self.few = self.whole.is_empty() && n_postings.saturating_mul(FEW) < index.n_labels();
        if self.few {
            self.touch(index);
            return Ok(());
        }
        let (key, padded) = (self.key(), self.largest.len() * BLOCK);
        let make = || {
            let mut values = vec![i16::MIN; padded];
            fill_base(&mut values, index.penalty, index.prior, key);
            (key, values)
        };
        let at = place_of(&mut self.bases, MOST_BASES, |base| base.0 == key, make);
        let (base, row, shift) = (&self.bases[at].1, &self.row, self.row.shift);
        self.scores.resize(padded.max(L::ALL), i16::MIN);
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

    /// What the row at hand has in common with others.
    fn key(&self) -> Key {
        (self.row.mass(), self.row.shift)
    }

    /// The labels by prior and penalties alone, for the row at hand.
    fn leaders<L: Number>(&mut self, index: &Index<'_, L>) -> usize {
        let key = self.key();
        place_of(&mut self.leaders, MOST_LEADERS, |one| one.key == key, || Leaders::new(index, key))
    }

    /// The score of a label of a row that touches few, unless it was replaced.
    #[inline(always)]
    fn few_score<L: Number>(&self, index: &Index<'_, L>, label: u32) -> (i16, i16) {
        let at = label as usize..label as usize + 1;
        let mut base = [i16::MIN];
        let (penalty, prior) = (index.penalty.get(at.clone()), index.prior.get(at));
        fill_base(&mut base, penalty.unwrap_or(&[]), prior.unwrap_or(&[]), self.key());
        (base[0], base[0].wrapping_add(self.sums[label as usize]))
    }

    /// Add up the postings of a row that has few.
    #[inline(always)]
    fn touch<L: Number>(&mut self, index: &Index<'_, L>) {
        let shift = self.row.shift;
        self.sums.resize(index.n_labels(), 0);
        for label in self.touched.drain(..) {
            self.sums[label as usize] = 0;
        }
        self.replaced = None;
        for (&f, &steps) in self.row.features.iter().zip(&self.row.steps) {
            let (labels, weights) = index.postings(f as usize);
            for (&label, &weight) in labels.iter().zip(weights) {
                let add = ((u16::from(weight) * steps) >> shift) as i16;
                let Some(sum) = self.sums.get_mut(label.place()) else { continue };
                if *sum == 0 && add != 0 {
                    self.touched.push(label.place() as u32);
                }
                *sum = sum.wrapping_add(add);
            }
        }
    }

    /// Put another score (in natural units) in the place of a label's.
    pub fn replace(&mut self, label: usize, score: f32) {
        let units = self.row.units();
        let score = (score * units).round().clamp(-32_767.0, 32_767.0) as i16;
        if self.few {
            self.replaced = Some((label as u32, score));
        } else if let Some(place) = self.scores.get_mut(label) {
            *place = score;
        }
    }

    /// [`Workspace::rank`] for a row that touches few: all other labels count by prior and penalties.
    fn rank_few<L: Number>(&mut self, index: &Index<'_, L>, label: u32) -> f32 {
        let at = self.leaders(index);
        let (leaders, replaced) = (&self.leaders[at], self.replaced.map(|(other, _)| other));
        let score_of = |y: u32| match self.replaced {
            Some((other, score)) if other == y => score,
            _ => self.few_score(index, y).1,
        };
        let own = score_of(label);
        let below = leaders.above(own.saturating_sub(1));
        let (mut ahead, mut level) = (leaders.above(own), below - leaders.above(own));
        let untouched = |y: &u32| self.sums[*y as usize] == 0;
        let alone = replaced.filter(untouched);
        let itself = Some(label).filter(untouched).filter(|&y| Some(y) != alone);
        for &y in self.touched.iter().chain(&alone).chain(&itself) {
            let base = self.few_score(index, y).0;
            ahead -= usize::from(base > own);
            level -= usize::from(base == own);
            if y != label {
                ahead += usize::from(score_of(y) > own);
                level += usize::from(score_of(y) == own);
            }
        }
        ahead as f32 + 0.5 * level as f32
    }

    /// Labels ahead of `label`; those of the same score count half.
    pub fn rank<L: Number>(&mut self, index: &Index<'_, L>, label: usize) -> f32 {
        if self.few {
            return self.rank_few(index, label as u32);
        }
        let own = self.scores.get(label).copied().unwrap_or(i16::MIN);
        let scores = &self.scores[..index.n_labels().min(self.scores.len())];
        // In 16 bits, which is much faster than to count in 64.
        let count = |part: &[i16], good: fn(i16, i16) -> bool| {
            usize::from(part.iter().fold(0u16, |n, &s| n + u16::from(good(s, own))))
        };
        let (mut ahead, mut level) = (0, 0);
        for part in scores.chunks(PART) {
            ahead += count(part, |s, own| s > own);
            level += count(part, |s, own| s == own);
        }
        ahead as f32 + 0.5 * (level.max(1) - 1) as f32
    }

    /// Labels among which are the `n` best of a row that touches few.
    #[inline(always)]
    fn find_few<L: Number>(&mut self, index: &Index<'_, L>, n: usize) {
        let at = self.leaders(index);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let replaced = self.replaced.map(|(label, _)| label);
        for &label in self.touched.iter().filter(|&&label| Some(label) != replaced) {
            found.push(scored(self.few_score(index, label).1, label));
        }
        // One more, as the replaced one may have sunk.
        for &label in self.leaders[at].best.iter().take(n + 1) {
            if self.sums[label as usize] == 0 && Some(label) != replaced {
                found.push(scored(self.few_score(index, label).0, label));
            }
        }
        found.extend(self.replaced.map(|(label, score)| scored(score, label)));
        self.found = found;
    }

    /// The `n` best labels, best first.
    #[inline(always)]
    pub fn best<L: Number>(&mut self, index: &Index<'_, L>, n: usize, out: &mut Vec<Candidate>) {
        out.clear();
        let n_labels = index.n_labels();
        let n = n.min(n_labels);
        if n == 0 {
            return;
        }
        if self.few {
            self.find_few(index, n);
        } else {
            for (largest, block) in self.largest.iter_mut().zip(self.scores.chunks_exact(BLOCK)) {
                *largest = block.iter().fold(i16::MIN, |a, &b| a.max(b));
            }
            find(&self.scores[..n_labels], &self.largest, n, &mut self.ranked, &mut self.found);
        }
        keep_best(&mut self.found, n);
        let units = self.row.units();
        out.extend(self.found.iter().map(|&found| (f32::from(score_of(found)) / units, label_of(found))));
    }
}

/// Labels among which are those of the `n` highest scores; `largest` are those of every [`BLOCK`].
#[inline(always)]
pub(super) fn find(scores: &[i16], largest: &[i16], n: usize, ranked: &mut Vec<i16>, found: &mut Vec<u64>) {
    // At least n labels reach the n-th largest of the blocks' best, so the others need no look. With few
    // blocks all labels are looked at.
    let mut threshold = i16::MIN;
    if n < largest.len() {
        ranked.clear();
        ranked.extend_from_slice(largest);
        let at = ranked.len() - n;
        threshold = *ranked.select_nth_unstable(at).1;
    }
    found.clear();
    for (at, (block, &largest)) in scores.chunks(BLOCK).zip(largest).enumerate() {
        if largest >= threshold {
            for (number, few) in block.chunks(FEW_LABELS).enumerate() {
                // One instruction for all of these, and most have none.
                if few.iter().fold(i16::MIN, |a, &b| a.max(b)) < threshold {
                    continue;
                }
                for (place, &score) in few.iter().enumerate() {
                    if score >= threshold {
                        found.push(scored(score, (at * BLOCK + number * FEW_LABELS + place) as u32));
                    }
                }
            }
        }
    }
}

/// A label and its score as one number: the better, the smaller; ties to the smaller label.
#[inline(always)]
fn scored(score: i16, label: u32) -> u64 {
    u64::from(!(score as u16 ^ 0x8000)) << 32 | u64::from(label)
}

/// The label of [`scored`].
#[inline(always)]
pub(super) fn label_of(found: u64) -> u32 {
    found as u32
}

/// The score of [`scored`].
#[inline(always)]
fn score_of(found: u64) -> i16 {
    (!((found >> 32) as u16) ^ 0x8000) as i16
}

/// The `n` best of those found, best first.
#[inline(always)]
pub(super) fn keep_best(found: &mut Vec<u64>, n: usize) {
    if found.len() > n {
        found.select_nth_unstable(n - 1);
        found.truncate(n);
    }
    found.sort_unstable();
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
