//! Candidates ranked again by a discriminative model over hashed pairs of features and labels.
//!
//! Problem: for a row x and its candidates C(x), z_y = beta s_y(x) + b_y + sum_f x_f v_h(f, y), where s_y is the
//! index's score and h hashes pairs into a table; minimize the sum over rows of
//!     -ln exp(z_own) / sum_{y in C(x)} exp(z_y)
//! over beta, b and v by one epoch of AdaGrad. A row's own counts are left out of s_own, so that the scores seen in
//! training are those of new rows; rows whose label is then no candidate teach nothing and are passed over.
//! Invariant: candidates of a chunk of rows are made in parallel, updates follow one by one in the order of the rows:
//! the same on any number of threads.
//! Source: Duchi, Hazan & Singer (2011), diagonal AdaGrad; Collins & Koo (2005) on re-ranking.
//! Returned: rows, rows that reached their label, hits and the loss before each update (progressive validation).

use rayon::prelude::*;

use super::index::{Candidate, Index, Label, ScaledRow, Workspace};
use super::leave_one_out::Counts;
use super::pairs::Places;
use crate::csr::Csr;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::rows::Rows;
use crate::simd::{Task, dispatch};
use crate::threads::with_threads;

/// Rows of one task, and of one chunk between updates.
const BLOCK: usize = 256;
const CHUNK: usize = 1 << 13;
/// A gradient below this changes nothing that could be seen.
const NO_GRADIENT: f32 = 1e-3;

/// The weights that are learned: each with the sum of its squared gradients.
#[derive(Debug)]
pub struct Learned<'a> {
    /// The factor beta of the index's score.
    pub beta: [f32; 2],
    /// b_y (K).
    pub biases: &'a mut [[f32; 2]],
    /// v, a power of two of entries.
    pub pairs: &'a mut [[f32; 2]],
}

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Candidates of a row.
    pub n_candidates: usize,
    /// Step of v and b; zero leaves them.
    pub rate: f32,
    /// Step of beta.
    pub beta_rate: f32,
}

/// What was seen on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Rows whose label has another row.
    pub rows: u64,
    /// Rows whose label was among the candidates.
    pub reached: u64,
    /// Rows whose label was ranked first before the update.
    pub hits: u64,
    /// Sum of the losses of the rows that were reached.
    pub loss: f64,
}

/// The candidates of one row, and the place of its own label among them.
#[derive(Debug, Default)]
pub(super) struct Lesson {
    pub row: usize,
    pub counted: bool,
    pub own: Option<usize>,
    pub candidates: Vec<Candidate>,
    pub features: Vec<u32>,
    pub values: Vec<f32>,
}

/// One epoch over the rows in `order`.
#[allow(clippy::too_many_arguments)]
pub fn learn<L: Label>(
    index: &Index<'_, L>,
    counts: &Counts<'_>,
    x: &Csr<'_, f32>,
    y: &[u32],
    order: &[u32],
    plan: Plan,
    learned: &mut Learned<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Progress, KernelError> {
    index.check(x)?;
    counts.check(index.n_features(), index.n_labels())?;
    check_length("y", y.len(), x.n_rows())?;
    check_length("biases", learned.biases.len(), index.n_labels())?;
    let Some(places) = Places::of(learned.pairs.len()) else {
        return Err(KernelError::Argument("the table must have a power of two of entries".into()));
    };
    if order.iter().any(|&i| i as usize >= y.len()) {
        return Err(KernelError::Argument("the order names a row that is not there".into()));
    }
    let mut progress = Progress::default();
    let mut chunk: Vec<Lesson> = Vec::new();
    for rows in order.chunks(CHUNK) {
        stop.check()?;
        chunk.resize_with(rows.len(), Lesson::default);
        let block = |(tasks, rows): (&mut [Lesson], &[u32])| {
            dispatch(ProposeTask { index, counts, x, y, rows, n: plan.n_candidates, tasks })
        };
        with_threads(n_threads, || {
            chunk.par_chunks_mut(BLOCK).zip(rows.par_chunks(BLOCK)).try_for_each(block)
        })?;
        for task in &chunk {
            update(task, places, plan, learned, &mut progress);
        }
    }
    Ok(progress)
}

struct ProposeTask<'a, L> {
    index: &'a Index<'a, L>,
    counts: &'a Counts<'a>,
    x: &'a Csr<'a, f32>,
    y: &'a [u32],
    rows: &'a [u32],
    n: usize,
    tasks: &'a mut [Lesson],
}

impl<L: Label> Task for ProposeTask<'_, L> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let mut space = Workspace::new(self.index);
        for (&row, task) in self.rows.iter().zip(self.tasks) {
            task.row = row as usize;
            space.score(self.index, self.x, task.row)?;
            let label = self.y[task.row];
            let score = self.counts.without(&space, label as usize);
            (task.counted, task.own) = (score.is_some(), None);
            let Some(score) = score else { continue };
            space.replace(label as usize, score);
            space.best(self.n, self.index.n_labels(), &mut task.candidates);
            task.own = task.candidates.iter().position(|c| c.1 == label);
            task.features.clone_from(&space.row.features);
            task.values.clone_from(&space.row.values);
        }
        Ok(())
    }
}

/// Learn from one row.
pub(super) fn update(
    task: &Lesson,
    places: Places,
    plan: Plan,
    learned: &mut Learned<'_>,
    progress: &mut Progress,
) {
    progress.rows += u64::from(task.counted);
    let Some(own) = task.own else { return };
    let mut scores = [0.0f32; 256];
    let candidates = &task.candidates[..task.candidates.len().min(scores.len())];
    if own >= candidates.len() {
        return;
    }
    let scores = &mut scores[..candidates.len()];
    for (z, &(score, label)) in scores.iter_mut().zip(candidates) {
        *z = learned.beta[0] * score + learned.biases.get(label as usize).map_or(0.0, |b| b[0]);
        for (&f, &value) in task.features.iter().zip(&task.values) {
            *z += value * learned.pairs[places.place(f, label)][0];
        }
    }
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    progress.reached += 1;
    progress.hits += u64::from(scores[own] >= top);
    let own_score = scores[own];
    let mut total = 0.0;
    for z in scores.iter_mut() {
        *z = (*z - top).exp();
        total += *z;
    }
    progress.loss += f64::from(total.ln() - (own_score - top));
    let mut slope = 0.0;
    for (at, (&p, &(score, label))) in scores.iter().zip(candidates).enumerate() {
        let gradient = f32::from(u8::from(at == own)) - p / total;
        slope += gradient * score;
        if gradient.abs() < NO_GRADIENT || plan.rate <= 0.0 {
            continue;
        }
        if let Some(bias) = learned.biases.get_mut(label as usize) {
            step(bias, gradient, plan.rate);
        }
        for (&f, &value) in task.features.iter().zip(&task.values) {
            step(&mut learned.pairs[places.place(f, label)], gradient * value, plan.rate);
        }
    }
    step(&mut learned.beta, slope, plan.beta_rate);
    learned.beta[0] = learned.beta[0].clamp(0.0, 10.0);
}

/// A step of AdaGrad upwards.
#[inline(always)]
fn step(weight: &mut [f32; 2], gradient: f32, rate: f32) {
    weight[1] += gradient * gradient;
    weight[0] += rate * gradient / (1.0 + weight[1]).sqrt();
}

/// A fitted model: the index and the learned weights in 8 bits.
#[derive(Debug, Clone, Copy)]
pub struct Ranker<'a> {
    /// The factor of the index's score.
    pub beta: f32,
    /// b_y (K).
    pub biases: &'a [f32],
    /// v in units of `unit`.
    pub pairs: &'a [i8],
    /// Value of one unit.
    pub unit: f32,
}

impl Ranker<'_> {
    /// Fail unless the arrays fit `n_labels` labels.
    pub(super) fn check(&self, n_labels: usize) -> Result<(), KernelError> {
        check_length("biases", self.biases.len(), n_labels)?;
        if !self.pairs.is_empty() && Places::of(self.pairs.len()).is_none() {
            return Err(KernelError::Argument("the table must have a power of two of entries".into()));
        }
        Ok(())
    }

    /// Score the candidates anew and sort them, best first; returns ln of the sum of their exponentials.
    #[inline(always)]
    pub(super) fn sort(&self, places: Option<Places>, row: &ScaledRow, candidates: &mut [Candidate]) -> f32 {
        for (score, label) in candidates.iter_mut() {
            *score = self.beta * *score + self.biases.get(*label as usize).copied().unwrap_or(0.0);
            let Some(places) = places else { continue };
            let mut sum = 0.0;
            for (&f, &value) in row.features.iter().zip(&row.values) {
                sum += value * f32::from(self.pairs[places.place(f, *label)]);
            }
            *score += sum * self.unit;
        }
        candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let top = candidates.first().map_or(0.0, |c| c.0);
        top + candidates.iter().map(|c| (c.0 - top).exp()).sum::<f32>().ln()
    }
}

/// Labels and scores of the `keep` best candidates of each row (n x keep, best first), and the logarithm of the sum
/// of the exponentials of all candidates' scores (n).
#[derive(Debug, Default)]
pub struct Ranked {
    /// Labels.
    pub labels: Vec<u32>,
    /// Their scores z.
    pub scores: Vec<f32>,
    /// ln of the sum over all candidates.
    pub log_sums: Vec<f32>,
}

/// Rank the `n_candidates` best labels of the index and keep `keep` of them.
#[allow(clippy::too_many_arguments)]
pub fn rank<L: Label>(
    index: &Index<'_, L>,
    ranker: &Ranker<'_>,
    x: &Csr<'_, f32>,
    n_candidates: usize,
    keep: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Ranked, KernelError> {
    index.check(x)?;
    ranker.check(index.n_labels())?;
    let n_candidates = n_candidates.min(index.n_labels());
    if keep == 0 || keep > n_candidates {
        return Err(KernelError::Argument(format!("keep must be in 1..={n_candidates}, got {keep}")));
    }
    let n = x.n_rows();
    let mut out = Ranked { labels: vec![0; n * keep], scores: vec![0.0; n * keep], log_sums: vec![0.0; n] };
    let block = |(number, ((labels, scores), log_sums)): (usize, ((&mut [u32], &mut [f32]), &mut [f32]))| {
        stop.check()?;
        let first = number * BLOCK;
        dispatch(RankTask { index, ranker, x, first, n_candidates, keep, labels, scores, log_sums })
    };
    with_threads(n_threads, || {
        let parts = out.labels.par_chunks_mut(BLOCK * keep).zip(out.scores.par_chunks_mut(BLOCK * keep));
        parts.zip(out.log_sums.par_chunks_mut(BLOCK)).enumerate().try_for_each(block)
    })?;
    Ok(out)
}

struct RankTask<'a, L> {
    index: &'a Index<'a, L>,
    ranker: &'a Ranker<'a>,
    x: &'a Csr<'a, f32>,
    first: usize,
    n_candidates: usize,
    keep: usize,
    labels: &'a mut [u32],
    scores: &'a mut [f32],
    log_sums: &'a mut [f32],
}

impl<L: Label> Task for RankTask<'_, L> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let mut space = Workspace::new(self.index);
        let mut candidates: Vec<Candidate> = Vec::new();
        let places = Places::of(self.ranker.pairs.len());
        let outputs = self.labels.chunks_mut(self.keep).zip(self.scores.chunks_mut(self.keep));
        for (i, ((labels, scores), log_sum)) in (self.first..).zip(outputs.zip(self.log_sums)) {
            space.score(self.index, self.x, i)?;
            space.best(self.n_candidates, self.index.n_labels(), &mut candidates);
            *log_sum = self.ranker.sort(places, &space.row, &mut candidates);
            for ((label, score), candidate) in labels.iter_mut().zip(scores).zip(&candidates) {
                (*score, *label) = *candidate;
            }
        }
        Ok(())
    }
}
