//! The likelihood of a block of sequences where few transitions have a weight, eight sequences at a time.
//!
//! The sums are those of [`crate::chain::scaled`]. All transitions without a weight have the same factor e0 = exp(-most), so
//!     (a E)_j = e0 sum_i a_i + sum over the transitions (i, j) with a weight of (E_ij - e0) a_i,
//! and the expectations of the others are not asked for: a token costs as many multiply-adds as there are weights, not
//! the square of the labels. Sequences of about the same length stand side by side in the lanes of a vector, so that
//! every weight is read once for eight tokens. The difference loses digits where a weight is far below zero:
//! [`FewEdges::new`] says no there, as it does where the weights are many.

use std::ops::Range;

use crate::chain::encoded::{Encoded, LANES};
use crate::chain::likelihood::{Model, Sums, Targets};
use crate::chain::scaled::{exponentiate, range};
use crate::chain::tuning::{DENSE, MANY_LABELS};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::Task;
use crate::simd::exponential::VectorExp;

/// The lowest score of a transition for which E_ij - e0 keeps four digits of E_ij, or seven in double precision.
fn lowest<T>() -> f64 {
    if size_of::<T>() < size_of::<f64>() { -7.0 } else { -16.0 }
}

type Lanes<T> = [T; LANES];

/// Transitions with a weight, by one of their labels.
#[derive(Debug, Default)]
struct ByLabel<T> {
    starts: Vec<usize>,
    /// The other label, and E_ij - e0.
    others: Vec<(u32, T)>,
}

impl<T: Real> ByLabel<T> {
    /// `pairs` holds (label, other label, factor) in the order of the labels.
    fn new(k: usize, pairs: impl Iterator<Item = (usize, usize, T)>) -> Self {
        let (mut starts, mut others) = (vec![0; k + 1], Vec::new());
        for (label, other, factor) in pairs {
            others.push((other as u32, factor));
            starts[label + 1] = others.len();
        }
        for label in 0..k {
            starts[label + 1] = starts[label + 1].max(starts[label]);
        }
        Self { starts, others }
    }

    fn of(&self, label: usize) -> &[(u32, T)] {
        &self.others[self.starts[label]..self.starts[label + 1]]
    }

    /// out_j = base + sum of (E - e0) x over the transitions of label j.
    #[inline(always)]
    fn product<const FMA: bool>(&self, label: usize, base: Lanes<T>, x: &[Lanes<T>]) -> Lanes<T> {
        // Two sums, so that additions need not wait for each other.
        let (mut even, mut odd) = (base, [T::ZERO; LANES]);
        let (pairs, last) = self.of(label).as_chunks::<2>();
        for &[(a, f), (b, g)] in pairs {
            let (a, b) = (&x[a as usize], &x[b as usize]);
            for l in 0..LANES {
                even[l] = f.fma::<FMA>(a[l], even[l]);
                odd[l] = g.fma::<FMA>(b[l], odd[l]);
            }
        }
        if let Some(&(a, f)) = last.first() {
            for l in 0..LANES {
                even[l] = f.fma::<FMA>(x[a as usize][l], even[l]);
            }
        }
        for l in 0..LANES {
            even[l] += odd[l];
        }
        even
    }
}

/// The transitions with a weight of a chain of which most have none.
#[derive(Debug)]
pub(super) struct FewEdges<T> {
    most: f64,
    base: T,
    into: ByLabel<T>,
    out: ByLabel<T>,
}

impl<T: VectorExp> FewEdges<T> {
    /// From the scores of all edges, number `to * k + from`, and which have a weight; `None` where the dense form is the
    /// better one.
    pub fn new(scores: &[f64], free: &[bool], k: usize) -> Option<Self> {
        let n_free = free.iter().filter(|free| **free).count();
        if k < MANY_LABELS || n_free * DENSE > k * k {
            return None;
        }
        let (mut least, mut most) = (0.0f64, 0.0f64);
        for (&score, &free) in scores.iter().zip(free) {
            if !score.is_finite() || (!free && score != 0.0) {
                return None;
            }
            (least, most) = (least.min(score), most.max(score));
        }
        if least < lowest::<T>() || most - least > range::<T>() {
            return None;
        }
        let base = (-most).exp();
        let factor = |edge: usize| T::from_f64((scores[edge] - most).exp() - base);
        let every = |label: usize| (0..k).map(move |other| (label, other));
        let into = (0..k).flat_map(every).filter(|&(to, from)| free[to * k + from]);
        let out = (0..k).flat_map(every).filter(|&(from, to)| free[to * k + from]);
        Some(Self {
            most,
            base: T::from_f64(base),
            into: ByLabel::new(k, into.map(|(to, from)| (to, from, factor(to * k + from)))),
            out: ByLabel::new(k, out.map(|(from, to)| (from, to, factor(to * k + from)))),
        })
    }
}

/// Room for eight sequences; token t of label s stands at t k + s.
struct Space<T> {
    /// Scores, then exp(score - max), then v_t = n_t b_t / c_t.
    nodes: Vec<Lanes<T>>,
    alpha: Vec<Lanes<T>>,
    marginals: Vec<Lanes<T>>,
    /// b_t.
    beta: Vec<Lanes<T>>,
    /// 1 / c_t, zero behind the end of a sequence.
    inverse: Vec<Lanes<T>>,
    /// A row for every lane.
    rows: Vec<T>,
}

pub(super) struct SparseBlock<'a, T> {
    pub data: &'a Encoded<T>,
    pub model: &'a Model<'a, T>,
    pub few: &'a FewEdges<T>,
    pub targets: Targets<'a>,
    pub sequences: Range<usize>,
    pub sums: Sums<T>,
    pub stop: &'a Interrupt,
}

impl<T: VectorExp> Task for SparseBlock<'_, T> {
    type Output = Result<Sums<T>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> Self::Output {
        let (data, targets) = (self.data, self.targets);
        let length = |number: usize| data.offsets()[number + 1] - data.offsets()[number];
        let mut order: Vec<usize> =
            self.sequences.clone().filter(|&i| length(i) > 0 && targets.weight(i) != 0.0).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(length(number)));
        let (k, zero) = (data.n_labels(), [T::ZERO; LANES]);
        let size = order.first().map_or(0, |&number| length(number)) * k;
        let mut space = Space {
            nodes: vec![zero; size],
            alpha: vec![zero; size],
            marginals: vec![zero; size],
            beta: vec![zero; k],
            inverse: vec![zero; size / k],
            rows: vec![T::ZERO; LANES * data.width()],
        };
        for group in order.chunks(LANES) {
            self.stop.check()?;
            let longest = length(group[0]);
            self.fill::<FMA>(&mut space, group, longest);
            self.forward::<FMA>(&mut space, group, longest);
            self.backward::<FMA>(&mut space, group, longest);
            self.add_edges::<FMA>(&space, group, longest);
            self.add_tokens::<FMA>(&mut space, group, longest);
        }
        Ok(self.sums)
    }
}

impl<T: VectorExp> SparseBlock<'_, T> {
    /// The token at place `t` of sequence `number`, and whether it is the last; `None` behind the end.
    #[inline(always)]
    fn token(&self, number: usize, t: usize) -> Option<(usize, bool)> {
        let (first, end) = (self.data.offsets()[number], self.data.offsets()[number + 1]);
        (first + t < end).then_some((first + t, first + t + 1 == end))
    }

    /// exp(score - max) of all tokens into `nodes`, zero behind the ends; adds the maxima and the observed scores to the value.
    #[inline(always)]
    fn fill<const FMA: bool>(&mut self, space: &mut Space<T>, group: &[usize], longest: usize) {
        let (k, width) = (self.data.n_labels(), self.data.width());
        for t in 0..longest {
            space.rows.fill(T::ZERO);
            for (&number, row) in group.iter().zip(space.rows.chunks_exact_mut(width)) {
                let Some((token, last)) = self.token(number, t) else { continue };
                let c = self.targets.weight(number);
                self.data.scores::<FMA>(token, self.model.weights, row);
                for (on, scores) in [(t == 0, self.model.start), (last, self.model.end)] {
                    if on {
                        row.iter_mut().zip(scores).for_each(|(x, &s)| *x += T::from_f64(s));
                    }
                }
                let label = self.targets.labels[token] as usize;
                let mut score = row[label].to_f64();
                if t > 0 {
                    let edge = label * k + self.targets.labels[token - 1] as usize;
                    score += self.model.edges[edge];
                    self.sums.edges[edge] -= c;
                }
                let most = exponentiate::<T, FMA>(row, k);
                self.sums.value += c * (most - score);
                self.sums.gross += c * (most.abs() + score.abs() + 1.0);
            }
            for (s, node) in space.nodes[t * k..(t + 1) * k].iter_mut().enumerate() {
                for (x, row) in node.iter_mut().zip(space.rows.chunks_exact(width)) {
                    *x = row[s];
                }
            }
        }
    }

    /// a_t and 1 / c_t; adds the logarithms of the c_t to the value.
    #[inline(always)]
    fn forward<const FMA: bool>(&mut self, space: &mut Space<T>, group: &[usize], longest: usize) {
        let (k, few) = (self.data.n_labels(), self.few);
        for t in 0..longest {
            let nodes = &space.nodes[t * k..(t + 1) * k];
            let (before, here) = space.alpha.split_at_mut(t * k);
            let here = &mut here[..k];
            let mut sums = [T::ZERO; LANES];
            if t == 0 {
                here.copy_from_slice(nodes);
            } else {
                let before = &before[(t - 1) * k..];
                let mut base = add_up(before);
                base.iter_mut().for_each(|x| *x *= few.base);
                for (j, (out, n)) in here.iter_mut().zip(nodes).enumerate() {
                    *out = few.into.product::<FMA>(j, base, before);
                    for l in 0..LANES {
                        out[l] *= n[l];
                    }
                }
            }
            for x in here.iter() {
                for l in 0..LANES {
                    sums[l] += x[l];
                }
            }
            let inverse = sums.map(|sum| if sum > T::ZERO { T::ONE / sum } else { T::ZERO });
            space.inverse[t] = inverse;
            for x in here {
                for l in 0..LANES {
                    x[l] *= inverse[l];
                }
            }
            let shift = if t > 0 { few.most } else { 0.0 };
            for (&number, sum) in group.iter().zip(sums) {
                if self.token(number, t).is_some() {
                    let (c, log) = (self.targets.weight(number), sum.to_f64().ln() + shift);
                    self.sums.value += c * log;
                    self.sums.gross += c * log.abs();
                }
            }
        }
    }

    /// v_t in place of the nodes, and the marginals a_t b_t.
    #[inline(always)]
    fn backward<const FMA: bool>(&self, space: &mut Space<T>, group: &[usize], longest: usize) {
        let (k, few) = (self.data.n_labels(), self.few);
        for t in (0..longest).rev() {
            for (l, &number) in group.iter().enumerate() {
                if matches!(self.token(number, t), Some((_, true))) {
                    space.beta.iter_mut().for_each(|b| b[l] = T::ONE);
                }
            }
            let tokens = t * k..(t + 1) * k;
            let (nodes, inverse) = (&mut space.nodes[tokens.clone()], space.inverse[t]);
            let rest = space.alpha[tokens.clone()].iter().zip(&mut space.marginals[tokens]);
            for ((n, b), (a, p)) in nodes.iter_mut().zip(&space.beta).zip(rest) {
                for l in 0..LANES {
                    n[l] = n[l] * b[l] * inverse[l];
                    p[l] = a[l] * b[l];
                }
            }
            let mut base = add_up(nodes);
            base.iter_mut().for_each(|x| *x *= few.base);
            for (i, b) in space.beta.iter_mut().enumerate() {
                *b = few.out.product::<FMA>(i, base, nodes);
            }
        }
    }

    /// Add the expectations of the transitions that have a weight.
    #[inline(always)]
    fn add_edges<const FMA: bool>(&mut self, space: &Space<T>, group: &[usize], longest: usize) {
        let (k, few) = (self.data.n_labels(), self.few);
        let mut c = [0.0; LANES];
        c.iter_mut().zip(group).for_each(|(c, &number)| *c = self.targets.weight(number));
        for i in 0..k {
            for &(j, factor) in few.out.of(i) {
                let mut sums = [T::ZERO; LANES];
                for t in 1..longest {
                    let (a, v) = (&space.alpha[(t - 1) * k + i], &space.nodes[t * k + j as usize]);
                    for l in 0..LANES {
                        sums[l] = a[l].fma::<FMA>(v[l], sums[l]);
                    }
                }
                let factor = (factor + few.base).to_f64();
                let sum: f64 = sums.iter().zip(c).map(|(sum, c)| c * sum.to_f64()).sum();
                self.sums.edges[j as usize * k + i] += factor * sum;
            }
        }
    }

    /// Add marginals minus observed labels to the weights of the attributes, the starts and the ends.
    #[inline(always)]
    fn add_tokens<const FMA: bool>(&mut self, space: &mut Space<T>, group: &[usize], longest: usize) {
        let (k, width) = (self.data.n_labels(), self.data.width());
        for t in 0..longest {
            for (s, p) in space.marginals[t * k..(t + 1) * k].iter().enumerate() {
                for (p, row) in p.iter().zip(space.rows.chunks_exact_mut(width)) {
                    row[s] = *p;
                }
            }
            for (&number, row) in group.iter().zip(space.rows.chunks_exact_mut(width)) {
                let Some((token, last)) = self.token(number, t) else { continue };
                let c = self.targets.weight(number);
                row[k..].fill(T::ZERO);
                row[self.targets.labels[token] as usize] -= T::ONE;
                if c != 1.0 {
                    row.iter_mut().for_each(|x| *x *= T::from_f64(c));
                }
                self.data.add::<FMA>(token, row, &mut self.sums.weights);
                for (on, sums) in [(t == 0, &mut self.sums.start), (last, &mut self.sums.end)] {
                    if on {
                        sums.iter_mut().zip(&*row).for_each(|(sum, x)| *sum += x.to_f64());
                    }
                }
            }
        }
    }
}

/// The sum of all labels, lane by lane.
#[inline(always)]
fn add_up<T: Real>(x: &[Lanes<T>]) -> Lanes<T> {
    let mut sums = [[T::ZERO; LANES]; 2];
    let (pairs, last) = x.as_chunks::<2>();
    for pair in pairs {
        for (sum, x) in sums.iter_mut().zip(pair) {
            for l in 0..LANES {
                sum[l] += x[l];
            }
        }
    }
    for x in last {
        for l in 0..LANES {
            sums[0][l] += x[l];
        }
    }
    std::array::from_fn(|l| sums[0][l] + sums[1][l])
}
