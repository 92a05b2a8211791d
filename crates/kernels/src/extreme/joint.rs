//! One weight vector over joint features Psi(x, y) = x (outer) phi(y), learned against negatives.
//!
//! Problem: s_y(x) = sum_j sum_q x_j phi_q(y) w_{h(j, q)}; for each row, its label y is to score above the labels
//! of a set N. Perceptron: w += Psi(x, y) - Psi(x, r) when the best rival r of N does not score lower. MIRA: the
//! smallest change that gives a margin of one, its step at most C (Crammer & Singer 2003). SVM and softmax: a step
//! of AdaGrad (Duchi et al. 2011) on the hinge loss of the best rival, or on -ln of the softmax over y and N.
//! N is a random sample of labels, the row's own retrieved rivals, or both. A label that training never saw is scored
//! by what it shares with others.
//! Invariant: updates follow one by one in the order of the rows, samples come from the seed and the place in the
//! order alone. Perceptron and MIRA return the average over all updates.
//! Returned: mistakes (the label was not first) and the sum of the losses before each update.

use super::pairs::Places;
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, filled};
use crate::interrupt::Interrupt;
use crate::random::Random;

/// The most labels that are drawn for a row.
const MOST_SAMPLED: usize = 1 << 16;

/// How rows change the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Rosenblatt's.
    Perceptron,
    /// Margin-infused, step capped.
    Mira,
    /// Hinge loss by AdaGrad.
    Svm,
    /// Log loss by AdaGrad.
    Softmax,
}

/// Where the weight of a pair of features stands.
#[derive(Debug, Clone, Copy)]
pub enum Table {
    /// Row by row: d x p.
    Pairs {
        /// Number p of label features.
        p: usize,
    },
    /// Hashed.
    Hashed(Places),
}

impl Table {
    /// The table for d x p pairs in `size` entries.
    pub fn new(size: usize, d: usize, p: usize, hashed: bool) -> Result<Self, KernelError> {
        if hashed {
            let wrong = || KernelError::Argument("a hashed table must have a power of two of entries".into());
            return Places::of(size).map(Self::Hashed).ok_or_else(wrong);
        }
        check_length("the table of pairs", size, d.saturating_mul(p))?;
        Ok(Self::Pairs { p })
    }

    /// Place of a pair.
    #[inline(always)]
    pub fn place(self, j: i32, q: i32) -> usize {
        match self {
            Self::Pairs { p } => j as usize * p + q as usize,
            Self::Hashed(places) => places.place(j as u32, q as u32),
        }
    }
}

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct JointPlan {
    /// The rule.
    pub rule: Rule,
    /// Step of AdaGrad, or the cap C of MIRA's.
    pub rate: f32,
    /// 1 / (C n), by which AdaGrad shrinks weights in proportion where they are met.
    pub decay: f32,
    /// Random rivals of a row.
    pub n_sampled: usize,
    /// Seed of the samples.
    pub seed: u64,
}

/// Rows, their labels, the features of labels, and rivals.
#[derive(Debug, Clone, Copy)]
pub struct JointData<'a> {
    /// Rows.
    pub x: &'a Csr<'a, f32>,
    /// Labels of the rows.
    pub y: &'a [u32],
    /// phi, a row per label.
    pub phi: &'a Csr<'a, f32>,
    /// Retrieved rivals of row i: `rivals[starts[i]..starts[i + 1]]`; both empty for none.
    pub starts: &'a [i64],
    /// Labels.
    pub rivals: &'a [i32],
    /// Labels that random rivals come from: those below this number.
    pub n_trained: usize,
}

impl JointData<'_> {
    fn check(&self, size: usize, hashed: bool) -> Result<Table, KernelError> {
        let n_labels = self.phi.n_rows();
        check_length("y", self.y.len(), self.x.n_rows())?;
        if !self.starts.is_empty() {
            check_length("starts of the rivals", self.starts.len(), self.y.len() + 1)?;
        }
        for (i, &y) in self.y.iter().enumerate() {
            if y as usize >= n_labels {
                return Err(KernelError::Argument(format!("label {y} of row {i} has no features")));
            }
        }
        if self.rivals.iter().any(|&r| usize::try_from(r).map_or(true, |r| r >= n_labels)) {
            return Err(KernelError::Argument("a rival has no features".into()));
        }
        if self.n_trained > n_labels {
            return Err(KernelError::Argument("more labels are trained than there are".into()));
        }
        check_rows(self.x)?;
        check_rows(self.phi)?;
        Table::new(size, self.x.n_cols(), self.phi.n_cols(), hashed)
    }
}

/// Fail at the first column outside or value that is not finite.
fn check_rows(rows: &Csr<'_, f32>) -> Result<(), KernelError> {
    for i in 0..rows.n_rows() {
        let (columns, values) = rows.row(i);
        let outside = columns.iter().any(|&c| usize::try_from(c).map_or(true, |c| c >= rows.n_cols()));
        if outside || values.iter().any(|v| !v.is_finite()) {
            return Err(rows.fault(i).unwrap_or_else(|| KernelError::Argument("the rows changed".into())));
        }
    }
    Ok(())
}

/// <w, Psi(x_i, y)>; a place outside the table counts nothing.
#[inline(always)]
fn score(
    table: Table,
    weights: &[[f32; 2]],
    (columns, values): (&[i32], &[f32]),
    (names, factors): (&[i32], &[f32]),
) -> f32 {
    let mut total = 0.0;
    for (&q, &factor) in names.iter().zip(factors) {
        let mut sum = 0.0;
        for (&j, &value) in columns.iter().zip(values) {
            sum += value * weights.get(table.place(j, q)).map_or(0.0, |w| w[0]);
        }
        total += factor * sum;
    }
    total
}

/// One pass over the rows in `order`; `weights` are (weight, second moment or running sum), `seen` the updates so far.
pub fn learn(
    data: &JointData<'_>,
    order: &[u32],
    plan: JointPlan,
    hashed: bool,
    weights: &mut [[f32; 2]],
    seen: &mut u64,
    stop: &Interrupt,
) -> Result<(u64, f64), KernelError> {
    let table = data.check(weights.len(), hashed)?;
    if order.iter().any(|&i| i as usize >= data.y.len()) {
        return Err(KernelError::Argument("the order names a row that is not there".into()));
    }
    if plan.n_sampled > MOST_SAMPLED {
        return Err(KernelError::Argument(format!("at most {MOST_SAMPLED} labels can be drawn for a row")));
    }
    let mut random = Random::new(plan.seed);
    let (mut mistakes, mut loss) = (0, 0.0);
    let mut labels: Vec<u32> = Vec::new();
    let mut scores: Vec<f32> = Vec::new();
    for (number, &i) in order.iter().enumerate() {
        if number % 256 == 0 {
            stop.check()?;
        }
        let i = i as usize;
        let own = data.y[i];
        labels.clear();
        labels.push(own);
        let retrieved = data.rivals.get(super::index::span(data.starts, i)).unwrap_or(&[]);
        labels.extend(retrieved.iter().map(|&r| r as u32).filter(|&r| r != own));
        for _ in 0..plan.n_sampled {
            let rival = random.below(data.n_trained.max(1)) as u32;
            if !labels.contains(&rival) {
                labels.push(rival);
            }
        }
        if labels.len() < 2 {
            continue;
        }
        let x = data.x.row(i);
        scores.clear();
        scores.extend(labels.iter().map(|&y| score(table, weights, x, data.phi.row(y as usize))));
        let row = Visit { table, x, phi: data.phi, labels: &labels, scores: &mut scores };
        let (missed, cost) = row.update(plan, weights, seen);
        mistakes += u64::from(missed);
        loss += f64::from(cost);
    }
    Ok((mistakes, loss))
}

/// One row with its label (first) and its rivals.
struct Visit<'a> {
    table: Table,
    x: (&'a [i32], &'a [f32]),
    phi: &'a Csr<'a, f32>,
    labels: &'a [u32],
    scores: &'a mut [f32],
}

impl Visit<'_> {
    fn update(self, plan: JointPlan, weights: &mut [[f32; 2]], seen: &mut u64) -> (bool, f32) {
        let own = self.scores[0];
        let mut rival = 1;
        for (at, &score) in self.scores.iter().enumerate().skip(2) {
            if score > self.scores[rival] {
                rival = at;
            }
        }
        let gap = own - self.scores[rival];
        let missed = gap <= 0.0;
        *seen = seen.saturating_add(1);
        let clock = *seen as f32;
        let descend = |w: &mut [f32; 2], g: f32| adagrad(w, g - plan.decay * w[0], plan.rate);
        match plan.rule {
            Rule::Perceptron if missed => self.pair(rival, 1.0, weights, |w, g| running(w, g, clock)),
            Rule::Mira if gap < 1.0 => {
                let size = self.distance(rival);
                if size > 0.0 {
                    let step = plan.rate.min((1.0 - gap) / size);
                    self.pair(rival, step, weights, |w, g| running(w, g, clock));
                }
            }
            Rule::Svm if gap < 1.0 => self.pair(rival, 1.0, weights, descend),
            Rule::Softmax => {
                let top = self.scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let total: f32 = self.scores.iter().map(|s| (s - top).exp()).sum();
                for at in 0..self.labels.len() {
                    let share = (self.scores[at] - top).exp() / total;
                    let gradient = f32::from(u8::from(at == 0)) - share;
                    if gradient.abs() > 1e-3 {
                        self.add(at, gradient, weights, descend);
                    }
                }
                return (missed, total.ln() + top - own);
            }
            _ => {}
        }
        let cost = if plan.rule == Rule::Perceptron { -gap } else { 1.0 - gap };
        (missed, cost.max(0.0))
    }

    /// The label up, a rival down.
    fn pair(&self, rival: usize, size: f32, weights: &mut [[f32; 2]], change: impl Fn(&mut [f32; 2], f32)) {
        self.add(0, size, weights, &change);
        self.add(rival, -size, weights, &change);
    }

    fn add(&self, at: usize, size: f32, weights: &mut [[f32; 2]], change: impl Fn(&mut [f32; 2], f32)) {
        let (names, factors) = self.phi.row(self.labels[at] as usize);
        for (&q, &factor) in names.iter().zip(factors) {
            for (&j, &value) in self.x.0.iter().zip(self.x.1) {
                if let Some(weight) = weights.get_mut(self.table.place(j, q)) {
                    change(weight, size * factor * value);
                }
            }
        }
    }

    /// |Psi(x, y) - Psi(x, r)|^2 where no two pairs share a place.
    fn distance(&self, rival: usize) -> f32 {
        let length: f32 = self.x.1.iter().map(|v| v * v).sum();
        let (a, b) = (self.phi.row(self.labels[0] as usize), self.phi.row(self.labels[rival] as usize));
        let mut sum: f32 = a.1.iter().chain(b.1).map(|v| v * v).sum();
        let mut at = 0;
        for (&q, &value) in a.0.iter().zip(a.1) {
            while at < b.0.len() && b.0[at] < q {
                at += 1;
            }
            if at < b.0.len() && b.0[at] == q {
                sum -= 2.0 * value * b.1[at];
            }
        }
        length * sum
    }
}

/// A step of AdaGrad upwards.
#[inline(always)]
fn adagrad(weight: &mut [f32; 2], gradient: f32, rate: f32) {
    weight[1] += gradient * gradient;
    weight[0] += rate * gradient / (1e-6 + weight[1]).sqrt();
}

/// A plain step; the second number sums steps times the updates before them, for the average.
#[inline(always)]
fn running(weight: &mut [f32; 2], change: f32, clock: f32) {
    weight[0] += change;
    weight[1] += change * (clock - 1.0);
}

/// The `keep` best of all labels of each row by <w, Psi(x, y)>, best first, and ln of the sum of exponentials of all.
pub fn rank(
    x: &Csr<'_, f32>,
    phi: &Csr<'_, f32>,
    weights: &[f32],
    hashed: bool,
    keep: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<super::rerank::Ranked, KernelError> {
    let (d, p, k) = (x.n_cols(), phi.n_cols(), phi.n_rows());
    let table = Table::new(weights.len(), d, p, hashed)?;
    check_rows(x)?;
    check_rows(phi)?;
    if keep == 0 || keep > k {
        return Err(KernelError::Argument(format!("keep must be in 1..={k}, got {keep}")));
    }
    let n = x.n_rows();
    let size = n.saturating_mul(keep);
    let mut labels = filled(0, size)?;
    let mut scores = filled(0.0, size)?;
    let mut log_sums = filled(0.0, n)?;
    let one = |(i, ((labels, scores), log_sum)): (usize, (super::rerank::Best<'_>, &mut f32))| {
        stop.check()?;
        let (columns, values) = x.row(i);
        let project = |q: i32| {
            let part = |(&j, &v): (&i32, &f32)| v * weights.get(table.place(j, q)).copied().unwrap_or(0.0);
            columns.iter().zip(values).map(part).sum::<f32>()
        };
        let parts: Vec<f32> = (0..p as i32).map(project).collect();
        let of = |y: usize| {
            let (names, factors) = phi.row(y);
            names.iter().zip(factors).map(|(&q, &f)| f * parts[q as usize]).sum::<f32>()
        };
        let mut all: Vec<(f32, u32)> = (0..k).map(|y| (of(y), y as u32)).collect();
        let best = all.iter().map(|a| a.0).fold(f32::NEG_INFINITY, f32::max);
        *log_sum = best + all.iter().map(|a| (a.0 - best).exp()).sum::<f32>().ln();
        let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if keep < k {
            all.select_nth_unstable_by(keep - 1, order);
            all.truncate(keep);
        }
        all.sort_unstable_by(order);
        for ((label, score), &(s, y)) in labels.iter_mut().zip(scores).zip(&all) {
            (*score, *label) = (s, y);
        }
        Ok(())
    };
    let rows = labels.chunks_mut(keep).zip(scores.chunks_mut(keep)).zip(&mut log_sums);
    crate::threads::try_each(n_threads, rows.enumerate(), one)?;
    Ok(super::rerank::Ranked { labels, scores, log_sums })
}

#[cfg(test)]
#[path = "joint_tests.rs"]
mod tests;
