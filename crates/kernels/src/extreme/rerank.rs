//! Candidates ranked again by a discriminative model over hashed pairs of features and labels.
//!
//! Problem: for a row x and its candidates C(x), z_y = beta s_y(x) + gamma m_y(x) + b_y + sum_f x_f v_h(f, y), where
//! s_y is the index's score, m_y the closeness to the label's examples and h hashes pairs into a table; minimize the
//! sum over rows of
//!     -ln exp(z_own) / sum_{y in C(x)} exp(z_y)
//! over beta, gamma, b and v by one epoch of AdaGrad. A row is left out of the counts and the examples of its own
//! label, so that what is seen in training is that of new rows; rows whose label is then no candidate teach nothing
//! and are passed over.
//! Invariant: candidates of a chunk of rows are made in parallel, while updates follow one by one, in the order of the
//! rows, for the chunk before: the same on any number of threads.
//! Source: Duchi, Hazan & Singer (2011), diagonal AdaGrad; Collins & Koo (2005) on re-ranking.
//! Returned: rows, rows that reached their label, hits and the loss before each update (progressive validation).

use super::examples::Examples;
use super::index::{Candidate, Index, MOST_CANDIDATES, ScaledRow, Workspace};
use super::leave_one_out::Counts;
use super::numbers::Number;
use super::pairs::Places;
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, filled};
use crate::interrupt::Interrupt;
use crate::simd::{Task, dispatch};
use crate::threads::{Spaces, side_by_side, try_each};

/// Rows of one task, and of one chunk between updates.
const BLOCK: usize = 256;
const CHUNK: usize = 1 << 13;
/// A gradient below this changes nothing that could be seen.
const NO_GRADIENT: f32 = 1e-3;

/// The weights that are learned: each with the sum of its squared gradients.
#[derive(Debug)]
pub struct Learned<'a> {
    /// The factors of the index's score and of the closeness to examples, beta and gamma.
    pub factors: [[f32; 2]; 2],
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
    /// Step of beta and gamma.
    pub factor_rate: f32,
    /// 1 / (C n), by which v and b shrink in proportion where they are met.
    pub decay: f32,
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
struct Lesson {
    counted: bool,
    own: Option<usize>,
    candidates: Vec<Candidate>,
    /// Closeness of each candidate; empty where there are no examples.
    closeness: Vec<f32>,
    features: Vec<u32>,
    values: Vec<f32>,
}

/// What rows of training are made candidates with.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// What was counted.
    pub counts: &'a Counts<'a>,
    /// Rows that are kept.
    pub examples: &'a Examples<'a>,
    /// Place of each row among them; `u32::MAX` for one that is not kept (n).
    pub places: &'a [u32],
    /// Rows.
    pub x: &'a Csr<'a, f32>,
    /// Their labels (n).
    pub y: &'a [u32],
}

/// One epoch over the rows in `order`.
pub fn learn<L: Number>(
    index: &Index<'_, L>,
    training: Training<'_>,
    order: &[u32],
    plan: Plan,
    learned: &mut Learned<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Progress, KernelError> {
    let Training { counts, examples, places: kept, x, y } = training;
    index.check(x)?;
    counts.check(index.n_features(), index.n_labels())?;
    examples.check(index.n_features(), index.n_labels())?;
    check_length("y", y.len(), x.n_rows())?;
    check_length("places", kept.len(), x.n_rows())?;
    check_length("biases", learned.biases.len(), index.n_labels())?;
    let Some(places) = Places::of(learned.pairs.len()) else {
        return Err(KernelError::Argument("the table must have a power of two of entries".into()));
    };
    if order.iter().any(|&i| i as usize >= y.len()) {
        return Err(KernelError::Argument("the order names a row that is not there".into()));
    }
    let spaces = Spaces::default();
    let propose = |rows: &[u32], chunk: &mut Vec<Lesson>| {
        stop.check()?;
        chunk.resize_with(rows.len(), Lesson::default);
        let block = |(lessons, rows): (&mut [Lesson], &[u32])| {
            let n = plan.n_candidates.min(MOST_CANDIDATES);
            let task =
                |space: &mut Workspace| dispatch(ProposeTask { index, training, rows, n, lessons, space });
            spaces.lend(|| Workspace::new(index), task)
        };
        try_each(n_threads, chunk.chunks_mut(BLOCK).zip(rows.chunks(BLOCK)), block)
    };
    let mut progress = Progress::default();
    let (mut chunk, mut next): (Vec<Lesson>, Vec<Lesson>) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for rows in order.chunks(CHUNK).chain([&[] as &[u32]]) {
        let teach = || {
            chunk.iter().for_each(|one| update(one, places, plan, learned, &mut progress, &mut found));
        };
        side_by_side(n_threads, teach, || propose(rows, &mut next)).1?;
        std::mem::swap(&mut chunk, &mut next);
    }
    Ok(progress)
}

struct ProposeTask<'a, L> {
    index: &'a Index<'a, L>,
    training: Training<'a>,
    rows: &'a [u32],
    n: usize,
    lessons: &'a mut [Lesson],
    space: &'a mut Workspace,
}

impl<L: Number> Task for ProposeTask<'_, L> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { index, training, space, .. } = self;
        for (&row, lesson) in self.rows.iter().zip(self.lessons) {
            let row = row as usize;
            space.score(index, training.x, row)?;
            let label = training.y[row];
            let score = training.counts.without(space, label as usize);
            (lesson.counted, lesson.own) = (score.is_some(), None);
            let Some(score) = score else { continue };
            space.replace(label as usize, score);
            space.best(index, self.n, &mut lesson.candidates);
            lesson.own = lesson.candidates.iter().position(|c| c.1 == label);
            if lesson.own.is_some() {
                let left_out = Some(training.places[row] as usize);
                let Workspace { row, marks, .. } = &mut *space;
                let (candidates, out) = (&lesson.candidates, &mut lesson.closeness);
                training.examples.compare(row, candidates, left_out, marks, out);
                lesson.features.clone_from(&row.features);
                lesson.values.clone_from(&row.values);
            }
        }
        Ok(())
    }
}

/// Learn from one row.
fn update(
    task: &Lesson,
    places: Places,
    plan: Plan,
    learned: &mut Learned<'_>,
    progress: &mut Progress,
    found: &mut Vec<u32>,
) {
    progress.rows += u64::from(task.counted);
    let Some(own) = task.own else { return };
    let mut scores = [0.0f32; MOST_CANDIDATES];
    let candidates = &task.candidates[..task.candidates.len().min(scores.len())];
    if own >= candidates.len() {
        return;
    }
    let scores = &mut scores[..candidates.len()];
    let [beta, gamma] = learned.factors.map(|factor| factor[0]);
    let closeness = |at: usize| task.closeness.get(at).copied().unwrap_or(0.0);
    // Where the pairs of every candidate stand: made ahead, so that the table is asked for many at once.
    found.clear();
    for &(_, label) in candidates {
        found.extend(task.features.iter().map(|&f| places.place(f, label) as u32));
    }
    let of = |at: usize| &found[at * task.features.len()..(at + 1) * task.features.len()];
    for (at, (z, &(score, label))) in scores.iter_mut().zip(candidates).enumerate() {
        let bias = learned.biases.get(label as usize).map_or(0.0, |b| b[0]);
        *z = beta * score + gamma * closeness(at) + bias;
        for (&place, &value) in of(at).iter().zip(&task.values) {
            *z += value * learned.pairs[place as usize][0];
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
    let mut slopes = [0.0; 2];
    for (at, (&p, &(score, label))) in scores.iter().zip(candidates).enumerate() {
        let gradient = f32::from(u8::from(at == own)) - p / total;
        slopes[0] += gradient * score;
        slopes[1] += gradient * closeness(at);
        if gradient.abs() < NO_GRADIENT || plan.rate <= 0.0 {
            continue;
        }
        if let Some(bias) = learned.biases.get_mut(label as usize) {
            step(bias, gradient - plan.decay * bias[0], plan.rate);
        }
        for (&place, &value) in of(at).iter().zip(&task.values) {
            let pair = &mut learned.pairs[place as usize];
            step(pair, gradient * value - plan.decay * pair[0], plan.rate);
        }
    }
    for (factor, slope) in learned.factors.iter_mut().zip(slopes) {
        step(factor, slope, plan.factor_rate);
        factor[0] = factor[0].clamp(0.0, 10.0);
    }
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
    /// The factors of the index's score and of the closeness to examples, beta and gamma.
    pub factors: [f32; 2],
    /// b_y (K).
    pub biases: &'a [f32],
    /// v in units of `unit`.
    pub pairs: &'a [i8],
    /// Value of one unit.
    pub unit: f32,
}

impl Ranker<'_> {
    /// Fail unless the arrays fit `n_labels` labels.
    fn check(&self, n_labels: usize) -> Result<(), KernelError> {
        check_length("biases", self.biases.len(), n_labels)?;
        if !self.pairs.is_empty() && Places::of(self.pairs.len()).is_none() {
            return Err(KernelError::Argument("the table must have a power of two of entries".into()));
        }
        Ok(())
    }

    /// Score the candidates anew and sort them, best first; returns ln of the sum of their exponentials.
    /// `closeness` is that of each candidate, or empty.
    #[inline(always)]
    fn sort(
        &self,
        places: Option<Places>,
        row: &ScaledRow,
        candidates: &mut [Candidate],
        closeness: &[f32],
    ) -> f32 {
        let [beta, gamma] = self.factors;
        for (at, (score, label)) in candidates.iter_mut().enumerate() {
            *score = beta * *score + gamma * closeness.get(at).copied().unwrap_or(0.0);
            *score += self.biases.get(*label as usize).copied().unwrap_or(0.0);
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

/// Places for the labels and the scores of some rows.
pub(super) type Best<'a> = (&'a mut [u32], &'a mut [f32]);

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

/// Rank the `n_candidates` best labels of the index and keep `keep` of them. The spaces must be of this index alone:
/// what they hold of it is used again.
#[allow(clippy::too_many_arguments)]
pub fn rank<L: Number>(
    index: &Index<'_, L>,
    ranker: &Ranker<'_>,
    examples: &Examples<'_>,
    x: &Csr<'_, f32>,
    n_candidates: usize,
    keep: usize,
    spaces: &Spaces<Workspace>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Ranked, KernelError> {
    index.check(x)?;
    ranker.check(index.n_labels())?;
    examples.check(index.n_features(), index.n_labels())?;
    let n_candidates = n_candidates.min(index.n_labels()).min(MOST_CANDIDATES);
    if keep == 0 || keep > n_candidates {
        return Err(KernelError::Argument(format!("keep must be in 1..={n_candidates}, got {keep}")));
    }
    let n = x.n_rows();
    let size = n.saturating_mul(keep);
    let mut out = Ranked { labels: filled(0, size)?, scores: filled(0.0, size)?, log_sums: filled(0.0, n)? };
    let block = |(number, ((labels, scores), log_sums)): (usize, (Best<'_>, &mut [f32]))| {
        stop.check()?;
        let first = number * BLOCK;
        let task = |space: &mut Workspace| {
            let found = Found { labels, scores, log_sums };
            dispatch(RankTask { index, ranker, examples, x, first, n_candidates, keep, found, space })
        };
        spaces.lend(|| Workspace::new(index), task)
    };
    let best = out.labels.chunks_mut(BLOCK * keep).zip(out.scores.chunks_mut(BLOCK * keep));
    try_each(n_threads, best.zip(out.log_sums.chunks_mut(BLOCK)).enumerate(), block)?;
    Ok(out)
}

struct Found<'a> {
    labels: &'a mut [u32],
    scores: &'a mut [f32],
    log_sums: &'a mut [f32],
}

struct RankTask<'a, L> {
    index: &'a Index<'a, L>,
    ranker: &'a Ranker<'a>,
    examples: &'a Examples<'a>,
    x: &'a Csr<'a, f32>,
    first: usize,
    n_candidates: usize,
    keep: usize,
    found: Found<'a>,
    space: &'a mut Workspace,
}

impl<L: Number> Task for RankTask<'_, L> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { index, ranker, examples, space, keep, .. } = self;
        let (mut candidates, mut closeness): (Vec<Candidate>, Vec<f32>) = (Vec::new(), Vec::new());
        let places = Places::of(ranker.pairs.len());
        let outputs = self.found.labels.chunks_mut(keep).zip(self.found.scores.chunks_mut(keep));
        for (i, ((labels, scores), log_sum)) in (self.first..).zip(outputs.zip(self.found.log_sums)) {
            space.score(index, self.x, i)?;
            space.best(index, self.n_candidates, &mut candidates);
            let Workspace { row, marks, .. } = &mut *space;
            if ranker.factors[1] != 0.0 {
                examples.compare(row, &candidates, None, marks, &mut closeness);
            }
            *log_sum = ranker.sort(places, row, &mut candidates, &closeness);
            for ((label, score), candidate) in labels.iter_mut().zip(scores).zip(&candidates) {
                (*score, *label) = *candidate;
            }
        }
        Ok(())
    }
}
