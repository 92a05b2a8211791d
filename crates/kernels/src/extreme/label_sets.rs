//! Sets out of very many labels: a logistic regression for each, learned side by side.
//!
//! Problem: minimize over the weights w_y and the intercept b_y of every label
//!     1/2 |w_y|^2 + C sum_i ln(1 + exp(-t_iy (<w_y, x_i> + b_y))),
//! t_iy = 1 for the labels of row i and -1 for all others, by AdaGrad's steps on batches of rows, whose rate falls to
//! zero. Labels do not depend on each other: a task has 32 of them and passes over all rows, so that their weights stay
//! in its cache and no array of rows times labels is made. Then each feature's weights become 8-bit steps of its own
//! size, which is all that predictions read.
//! Invariant: every label by itself, batches in the given order: the same on any number of threads.
//! Source: Duchi, Hazan & Singer (2011), diagonal AdaGrad.
//! Returned: steps, their sizes, intercepts, and the loss of the rows' own labels before each update.

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::simd::exponential::VectorExp;
use crate::simd::{Lanes, PackedTask, Task, dispatch, dispatch_packed};
use crate::threads::{Spaces, each, try_each};

use super::index::{find, keep_best, label_of, span};
use super::rerank::Best;

/// Labels of a task, and rows of a step.
const LABELS: usize = 32;
const BATCH: usize = 256;
/// The least probability whose logarithm is summed.
const TINY: f32 = 1e-12;
/// Rows of one task of prediction, and labels whose scores stay in the nearest cache while they are added up.
const BLOCK: usize = 128;
const PART: usize = 1024;
/// Labels whose largest score is looked at together.
const SIDE: usize = super::index::BLOCK;
/// Rough scores, in 16 bits, stay below this.
const LIMIT: f32 = 16_000.0;
/// More labels than asked for are scored exactly, as rough scores may change the order of the last.
const MORE: usize = 4;

type Lane = [f32; LABELS];

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct SetPlan {
    /// First step.
    pub rate: f32,
    /// 1 / (C n).
    pub decay: f32,
}

/// Rows, and the labels of each: `labels[starts[i]..starts[i + 1]]`, rising.
#[derive(Debug, Clone, Copy)]
pub struct SetData<'a> {
    /// Rows.
    pub x: &'a Csr<'a, f32>,
    /// n + 1.
    pub starts: &'a [i64],
    /// Labels.
    pub labels: &'a [i32],
    /// Number of labels.
    pub n_labels: usize,
}

/// Weights in 8 bits.
#[derive(Debug, Default)]
pub struct LearnedSets {
    /// Feature by feature (d x K).
    pub steps: Vec<i8>,
    /// Size of a step (d).
    pub sizes: Vec<f32>,
    /// b (K).
    pub intercepts: Vec<f32>,
    /// Sum of the losses of the rows' own labels in each pass.
    pub losses: Vec<f64>,
}

/// Some rows, what they have of each feature, and their labels.
struct Batch<'a> {
    rows: &'a [u32],
    /// (feature, place in `rows`, value), features rising.
    entries: Vec<(u32, u32, f32)>,
    /// (label, place in `rows`), labels rising.
    own: Vec<(u32, u32)>,
}

impl<'a> Batch<'a> {
    fn of(data: SetData<'_>, rows: &'a [u32]) -> Self {
        let (mut entries, mut own) = (Vec::new(), Vec::new());
        for (place, &row) in rows.iter().enumerate() {
            let (columns, values) = data.x.row(row as usize);
            entries.extend(columns.iter().zip(values).map(|(&c, &value)| (c as u32, place as u32, value)));
            let labels = data.labels.get(span(data.starts, row as usize)).unwrap_or(&[]);
            own.extend(labels.iter().map(|&label| (label as u32, place as u32)));
        }
        entries.sort_unstable_by_key(|&(feature, place, _)| (feature, place));
        own.sort_unstable();
        Self { rows, entries, own }
    }
}

/// The weights of the labels of one task, each with the sum of its squared gradients.
struct Block {
    first: usize,
    weights: Vec<[Lane; 2]>,
    intercepts: [Lane; 2],
    loss: f64,
}

/// Pass over the rows in the order of each of `orders`.
pub fn learn(
    data: SetData<'_>,
    orders: &[&[u32]],
    plan: SetPlan,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<LearnedSets, KernelError> {
    let SetData { x, starts, labels, n_labels } = data;
    let (n, d) = (x.n_rows(), x.n_cols());
    check_length("starts", starts.len(), n + 1)?;
    if orders.iter().any(|order| order.iter().any(|&i| i as usize >= n)) {
        return Err(KernelError::Argument("the order names a row that is not there".into()));
    }
    let mut counts = vec![0u32; n_labels.div_ceil(LABELS) * LABELS];
    for &label in labels {
        match usize::try_from(label).ok().filter(|&label| label < n_labels) {
            Some(label) => counts[label] += 1,
            None => return Err(KernelError::Argument(format!("there is no label {label}"))),
        }
    }
    let mut blocks = Vec::new();
    for (number, counts) in counts.chunks(LABELS).enumerate() {
        let odds =
            |at: usize| ((counts[at] as f32 + 0.5) / ((n as f32 - counts[at] as f32).max(0.0) + 0.5)).ln();
        let mut weights = Vec::new();
        weights.try_reserve_exact(d).map_err(|_| no_memory(d * LABELS, 8))?;
        weights.resize(d, [[0.0; LABELS], [1.0; LABELS]]);
        let intercepts = [std::array::from_fn(odds), [1.0; LABELS]];
        blocks.push(Block { first: number * LABELS, weights, intercepts, loss: 0.0 });
    }
    let mut losses = Vec::new();
    let n_steps: usize = orders.iter().map(|order| order.len().div_ceil(BATCH)).sum();
    let mut made = 0;
    for order in orders {
        let batches = each(n_threads, order.chunks(BATCH), |rows| Batch::of(data, rows));
        let pass = |block: &mut Block| {
            stop.check()?;
            block.loss = 0.0;
            let mut space = vec![[0.0; LABELS]; BATCH];
            for (number, batch) in batches.iter().enumerate() {
                let rate = plan.rate * (1.0 - (made + number) as f32 / n_steps as f32);
                let plan = SetPlan { rate, ..plan };
                dispatch_packed(StepTask { x, batch, plan, block, slopes: &mut space });
            }
            Ok(())
        };
        try_each(n_threads, blocks.iter_mut(), pass)?;
        losses.push(blocks.iter().map(|block| block.loss).sum());
        made += batches.len();
    }
    let mut out = LearnedSets { losses, ..LearnedSets::default() };
    out.intercepts = blocks.iter().flat_map(|block| block.intercepts[0]).take(n_labels).collect();
    let size = d * n_labels;
    out.steps.try_reserve_exact(size).map_err(|_| no_memory(size, 1))?;
    for feature in 0..d {
        let row = || blocks.iter().flat_map(|block| block.weights[feature][0]).take(n_labels);
        let size = row().fold(0.0f32, |most, w| most.max(w.abs())) / 127.0;
        let inverse = if size > 0.0 { 1.0 / size } else { 0.0 };
        out.steps.extend(row().map(|w| (w * inverse).round() as i8));
        out.sizes.push(size);
    }
    Ok(out)
}

fn no_memory(n: usize, each: usize) -> KernelError {
    KernelError::Memory { n, what: "weights", bytes: n.saturating_mul(each) }
}

struct StepTask<'a> {
    x: &'a Csr<'a, f32>,
    batch: &'a Batch<'a>,
    plan: SetPlan,
    block: &'a mut Block,
    slopes: &'a mut [Lane],
}

impl PackedTask<f32> for StepTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<f32>>(self) {
        let Self { x, batch, plan, block, slopes } = self;
        for (&row, slope) in batch.rows.iter().zip(slopes.iter_mut()) {
            let (columns, values) = x.row(row as usize);
            let terms = columns.iter().zip(values);
            let weights = |&column: &i32| block.weights.get(column as usize).map(|[weights, _]| weights);
            let sum = sum::<V>(&block.intercepts[0], terms.filter_map(|(c, &v)| Some((weights(c)?, v))));
            // Loops, as closures are not compiled for the instruction set.
            for (slope, &score) in slope.iter_mut().zip(&sum) {
                *slope = 1.0 / (1.0 + (-score).vector_exp::<FMA>());
            }
        }
        let from = batch.own.partition_point(|&(label, _)| (label as usize) < block.first);
        for &(label, place) in &batch.own[from..] {
            let (Some(slope), at) = (slopes.get_mut(place as usize), label as usize - block.first) else {
                break;
            };
            let Some(share) = slope.get_mut(at) else { break };
            block.loss -= f64::from(share.max(TINY).ln());
            *share -= 1.0;
        }
        let decay = plan.decay * batch.rows.len() as f32;
        for same in batch.entries.chunk_by(|a, b| a.0 == b.0) {
            let Some(weights) = block.weights.get_mut(same[0].0 as usize) else { continue };
            let mut pull = weights[0];
            for w in &mut pull {
                *w *= decay;
            }
            let gradient =
                sum::<V>(&pull, same.iter().map(|&(_, place, value)| (&slopes[place as usize], value)));
            descend(weights, &gradient, plan.rate);
        }
        let total = sum::<V>(&[0.0; LABELS], slopes[..batch.rows.len()].iter().map(|slope| (slope, 1.0)));
        descend(&mut block.intercepts, &total, plan.rate);
    }
}

/// The sum of weighted lanes, in registers.
#[inline(always)]
fn sum<'a, V: Lanes<f32>>(start: &Lane, terms: impl Iterator<Item = (&'a Lane, f32)>) -> Lane {
    let half = LABELS / 2;
    let (mut a, mut b) = (V::load(start, 0), V::load(start, half));
    for (values, factor) in terms {
        let factor = V::splat(factor);
        a = factor.fma(V::load(values, 0), a);
        b = factor.fma(V::load(values, half), b);
    }
    let mut out = [0.0; LABELS];
    a.store(&mut out[..half]);
    b.store(&mut out[half..]);
    out
}

/// AdaGrad's step on weights and the sums of their squared gradients.
#[inline(always)]
fn descend([weights, squares]: &mut [Lane; 2], gradient: &Lane, rate: f32) {
    for ((w, s), &g) in weights.iter_mut().zip(squares).zip(gradient) {
        *s += g * g;
        *w -= rate * g / s.sqrt();
    }
}

/// A fitted model in borrowed arrays; see [`LearnedSets`].
#[derive(Debug, Clone, Copy)]
pub struct SetWeights<'a> {
    /// Feature by feature (d x K).
    pub steps: &'a [i8],
    /// Size of a step (d).
    pub sizes: &'a [f32],
    /// b (K).
    pub intercepts: &'a [f32],
}

/// The `keep` labels of the highest score <w_y, x> + b_y of every row and these scores (n x keep), best first.
pub fn best(
    model: SetWeights<'_>,
    x: &Csr<'_, f32>,
    keep: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(Vec<u32>, Vec<f32>), KernelError> {
    let (n, k) = (x.n_rows(), model.intercepts.len());
    check_length("sizes", model.sizes.len(), x.n_cols())?;
    check_length("steps", model.steps.len(), x.n_cols().saturating_mul(k))?;
    if keep == 0 || keep > k {
        return Err(KernelError::Argument(format!("keep must be in 1..={k}, got {keep}")));
    }
    let (mut labels, mut scores) = (vec![0; n * keep], vec![0.0; n * keep]);
    let spaces = Spaces::<Space>::default();
    let block = |(number, (labels, scores)): (usize, Best<'_>)| {
        stop.check()?;
        let first = number * BLOCK;
        let task = |space: &mut Space| dispatch(BestTask { model, x, first, keep, labels, scores, space });
        spaces.lend(Space::default, task)
    };
    let out = labels.chunks_mut(BLOCK * keep).zip(scores.chunks_mut(BLOCK * keep));
    try_each(n_threads, out.enumerate(), block)?;
    Ok((labels, scores))
}

/// Space for one row.
#[derive(Debug, Default)]
struct Space {
    /// Where each feature's steps start, what a step is worth in this row, and the same in units of rough scores.
    entries: Vec<(usize, f32, i16)>,
    /// Intercepts in units, and these in a natural logarithm.
    base: Vec<i16>,
    unit: f32,
    rough: Vec<i16>,
    largest: Vec<i16>,
    ranked: Vec<i16>,
    found: Vec<u64>,
    exact: Vec<(f32, u32)>,
}

struct BestTask<'a> {
    model: SetWeights<'a>,
    x: &'a Csr<'a, f32>,
    first: usize,
    keep: usize,
    labels: &'a mut [u32],
    scores: &'a mut [f32],
    space: &'a mut Space,
}

impl Task for BestTask<'_> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { model, x, keep, space, .. } = self;
        let widest = model.intercepts.iter().fold(0.0f32, |most, b| most.max(b.abs()));
        for (i, (labels, scores)) in
            (self.first..).zip(self.labels.chunks_mut(keep).zip(self.scores.chunks_mut(keep)))
        {
            space.take(model, x, i, widest)?;
            space.add_up(model);
            let k = model.intercepts.len();
            let n = (keep + MORE).min(k);
            find(&space.rough[..k], &space.largest, n, &mut space.ranked, &mut space.found);
            keep_best(&mut space.found, n);
            space.exact.clear();
            for label in space.found.iter().map(|&found| label_of(found)) {
                let step = |at: usize| model.steps.get(at + label as usize).copied().unwrap_or(0);
                let sum: f32 = space.entries.iter().map(|&(at, worth, _)| worth * f32::from(step(at))).sum();
                space.exact.push((sum + model.intercepts[label as usize], label));
            }
            space.exact.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for ((label, score), found) in labels.iter_mut().zip(scores).zip(&space.exact) {
                (*score, *label) = *found;
            }
        }
        Ok(())
    }
}

impl Space {
    /// Take row `i`, and units in which its scores fit into 16 bits.
    #[inline(always)]
    fn take(
        &mut self,
        model: SetWeights<'_>,
        x: &Csr<'_, f32>,
        i: usize,
        widest: f32,
    ) -> Result<(), KernelError> {
        let (columns, values) = x.row(i);
        self.entries.clear();
        let mut bound = widest;
        for (&column, &value) in columns.iter().zip(values) {
            let Some(&size) = usize::try_from(column).ok().and_then(|column| model.sizes.get(column)) else {
                let changed = || KernelError::Argument(format!("row {i} changed"));
                return Err(x.fault(i).unwrap_or_else(changed));
            };
            bound += 127.0 * (value * size).abs();
            self.entries.push((column as usize * model.intercepts.len(), value * size, 0));
        }
        if !bound.is_finite() {
            let what =
                || KernelError::Argument(format!("scores of row {i} are not finite; scale the features"));
            return Err(x.fault(i).unwrap_or_else(what));
        }
        // A power of two, so that most rows share it.
        let unit = (LIMIT / bound.max(1e-30)).log2().floor().clamp(-100.0, 100.0).exp2();
        if unit != self.unit || self.base.len() < model.intercepts.len() {
            self.unit = unit;
            let padded = model.intercepts.len().div_ceil(SIDE) * SIDE;
            self.base.clear();
            self.base.extend(model.intercepts.iter().map(|b| (b * unit) as i16));
            self.base.resize(padded, i16::MIN);
            self.rough.resize(padded, 0);
            self.largest.resize(padded / SIDE, 0);
        }
        for (_, worth, units) in &mut self.entries {
            *units = (*worth * unit * 256.0).round() as i16;
        }
        Ok(())
    }

    /// Rough scores of all labels, and the largest of every block.
    #[inline(always)]
    fn add_up(&mut self, model: SetWeights<'_>) {
        let k = model.intercepts.len();
        self.rough.copy_from_slice(&self.base);
        for first in (0..k).step_by(PART) {
            let part = first..(first + PART).min(k);
            let rough = &mut self.rough[part.clone()];
            let steps = |at: usize| model.steps.get(at + part.start..at + part.end).unwrap_or(&[]);
            // Four at a time: sums are read and written once for all.
            let (fours, rest) = self.entries.as_chunks::<4>();
            for &[a, b, c, d] in fours {
                let values = steps(a.0).iter().zip(steps(b.0)).zip(steps(c.0).iter().zip(steps(d.0)));
                for (sum, ((&p, &q), (&r, &s))) in rough.iter_mut().zip(values) {
                    let left = product(p, a.2).saturating_add(product(q, b.2));
                    let right = product(r, c.2).saturating_add(product(s, d.2));
                    *sum = sum.saturating_add(left.saturating_add(right));
                }
            }
            for &(at, _, units) in rest {
                for (sum, &step) in rough.iter_mut().zip(steps(at)) {
                    *sum = sum.saturating_add(product(step, units));
                }
            }
        }
        for (largest, block) in self.largest.iter_mut().zip(self.rough.chunks(SIDE)) {
            *largest = block.iter().fold(i16::MIN, |a, &b| a.max(b));
        }
    }
}

/// step * units / 256, as one instruction multiplies: the upper half of a product of 16 bits.
#[inline(always)]
fn product(step: i8, units: i16) -> i16 {
    ((i32::from(i16::from(step) << 8) * i32::from(units)) >> 16) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(n_threads: usize) -> LearnedSets {
        // Label 0 goes with feature 0, label 1 with feature 1, label 39 with every row, the others with none.
        let starts: Vec<usize> = (0..=40).collect();
        let columns: Vec<i32> = (0..40).map(|i| i % 2).collect();
        let x = Csr::new(&starts, &columns, &[1.0; 40], 2).unwrap();
        let label_starts: Vec<i64> = (0..=40).map(|i| 2 * i).collect();
        let labels: Vec<i32> = (0..40).flat_map(|i| [i % 2, 39]).collect();
        let data = SetData { x: &x, starts: &label_starts, labels: &labels, n_labels: 40 };
        let order: Vec<u32> = (0..40).collect();
        let plan = SetPlan { rate: 1.0, decay: 1e-3 };
        learn(data, &[order.as_slice(); 30], plan, n_threads, &Interrupt::new()).unwrap()
    }

    #[test]
    fn labels_are_learned_the_same_on_any_number_of_threads() {
        let one = learned(1);
        assert!(one.losses.windows(2).all(|pair| pair[1] <= pair[0]), "{:?}", one.losses);
        let two = learned(2);
        assert_eq!((&one.steps, &one.sizes, &one.intercepts), (&two.steps, &two.sizes, &two.intercepts));
        let weight =
            |feature: usize, label: usize| f32::from(one.steps[feature * 40 + label]) * one.sizes[feature];
        assert!(weight(0, 0) > 0.0 && weight(1, 0) < 0.0 && weight(1, 1) > 0.0 && one.intercepts[39] > 1.0);
    }

    #[test]
    fn the_best_labels_are_those_of_the_highest_scores() {
        let (d, k, n) = (7, 150, 60);
        let mut random = crate::random::Random::of_part(3, 0);
        let mut draw = |range: u32| random.below(range as usize) as f32 - range as f32 / 2.0;
        let steps: Vec<i8> = (0..d * k).map(|_| draw(255) as i8).collect();
        let sizes: Vec<f32> = (0..d).map(|_| draw(100).abs() / 500.0).collect();
        let intercepts: Vec<f32> = (0..k).map(|_| draw(60) / 10.0).collect();
        let starts: Vec<usize> = (0..=n).map(|i| i * d).collect();
        let columns: Vec<i32> = (0..n * d).map(|at| (at % d) as i32).collect();
        let values: Vec<f32> = (0..n * d).map(|_| draw(40) / 7.0).collect();
        let x = Csr::new(&starts, &columns, &values, d).unwrap();
        let model = SetWeights { steps: &steps, sizes: &sizes, intercepts: &intercepts };
        for keep in [1, 5, k] {
            let (labels, scores) = best(model, &x, keep, 2, &Interrupt::new()).unwrap();
            for i in 0..n {
                let row = &values[i * d..(i + 1) * d];
                let score = |y: usize| {
                    let each = (0..d).map(|j| row[j] * sizes[j] * f32::from(steps[j * k + y]));
                    each.sum::<f32>() + intercepts[y]
                };
                let mut all: Vec<f32> = (0..k).map(score).collect();
                for at in i * keep..(i + 1) * keep {
                    assert!((scores[at] - score(labels[at] as usize)).abs() < 1e-4);
                }
                all.sort_unstable_by(|a, b| b.total_cmp(a));
                for (found, expected) in scores[i * keep..(i + 1) * keep].iter().zip(&all) {
                    assert!((found - expected).abs() < 0.02, "{found} {expected}");
                }
            }
        }
        assert!(best(model, &x, 0, 1, &Interrupt::new()).is_err());
    }
}
