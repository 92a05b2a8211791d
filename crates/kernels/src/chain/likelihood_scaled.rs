//! The likelihood of a block of sequences in the scaled domain, in the precision of the data.
//!
//! Sums over edges are flushed to `f64` every few sequences; the sums of a block stay short enough for `f32`.

use crate::chain::tuning::FLUSH;
use std::ops::Range;

use crate::chain::encoded::Encoded;
use crate::chain::likelihood::{Model, Sums, Targets};
use crate::chain::scaled::{Scaled, Transitions};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::Task;
use crate::simd::exponential::VectorExp;

/// Sums over edges in the precision of the data, on their way to `f64`.
struct EdgeSums<T> {
    k: usize,
    width: usize,
    sums: Vec<T>,
    weight: f64,
    pending: usize,
}

impl<T: Real> EdgeSums<T> {
    fn new(k: usize, width: usize) -> Self {
        Self { k, width, sums: vec![T::ZERO; k * width], weight: 1.0, pending: 0 }
    }

    fn flush(&mut self, factors: &[T], edges: &mut [f64]) {
        if self.pending > 0 {
            for i in 0..self.k {
                for j in 0..self.k {
                    let at = i * self.width + j;
                    edges[j * self.k + i] += self.weight * self.sums[at].to_f64() * factors[at].to_f64();
                }
            }
            self.sums.fill(T::ZERO);
            self.pending = 0;
        }
    }

    /// Room for one more sequence of this weight.
    fn prepare(&mut self, weight: f64, factors: &[T], edges: &mut [f64]) -> &mut [T] {
        if weight != self.weight || self.pending == FLUSH {
            self.flush(factors, edges);
        }
        self.weight = weight;
        self.pending += 1;
        &mut self.sums
    }
}

pub(super) struct ScaledBlock<'a, T> {
    pub data: &'a Encoded<T>,
    pub model: &'a Model<'a, T>,
    pub transitions: &'a Transitions<T>,
    pub targets: Targets<'a>,
    pub sequences: Range<usize>,
    pub sums: Sums<T>,
    pub stop: &'a Interrupt,
}

impl<T: VectorExp> Task for ScaledBlock<'_, T> {
    type Output = Result<Sums<T>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> Self::Output {
        let (k, width) = (self.data.n_labels(), self.data.width());
        let (mut space, mut given) = (Scaled::default(), Scaled::default());
        let mut edge_sums = EdgeSums::new(k, width);
        for number in self.sequences.clone() {
            self.stop.check()?;
            let tokens = self.data.offsets()[number]..self.data.offsets()[number + 1];
            let c = self.targets.weight(number);
            if tokens.is_empty() || c == 0.0 {
                continue;
            }
            let length = tokens.len();
            space.resize(length, width);
            self.fill::<FMA>(&mut space, tokens.clone(), false);
            if self.targets.allowed.is_none() {
                let score = self.observed(&space, tokens.clone(), c);
                self.sums.value -= c * score;
                self.sums.gross += c * score.abs();
            }
            let log_z = space.run::<FMA>(self.transitions, length);
            self.sums.value += c * log_z;
            self.sums.gross += c * (log_z.abs() + length as f64);
            let factors = self.transitions.factors();
            let room = edge_sums.prepare(c, factors, &mut self.sums.edges);
            space.add_edges::<FMA>(k, width, length, room);
            if self.targets.allowed.is_some() {
                given.resize(length, width);
                self.fill::<FMA>(&mut given, tokens.clone(), true);
                let score = given.run::<FMA>(self.transitions, length);
                self.sums.value -= c * score;
                self.sums.gross += c * score.abs();
                let room = edge_sums.prepare(-c, factors, &mut self.sums.edges);
                given.add_edges::<FMA>(k, width, length, room);
                for (p, q) in space.marginals.iter_mut().zip(&given.marginals).take(length * width) {
                    *p -= *q;
                }
            } else {
                for (row, &label) in
                    space.marginals.chunks_mut(width).zip(&self.targets.labels[tokens.clone()])
                {
                    row[label as usize] -= T::ONE;
                }
            }
            if c != 1.0 {
                let c = T::from_f64(c);
                space.marginals[..length * width].iter_mut().for_each(|p| *p *= c);
            }
            for (t, row) in tokens.zip(space.marginals.chunks(width)) {
                self.data.add::<FMA>(t, row, &mut self.sums.weights);
            }
            for s in 0..k {
                self.sums.start[s] += space.marginals[s].to_f64();
                self.sums.end[s] += space.marginals[(length - 1) * width + s].to_f64();
            }
        }
        edge_sums.flush(self.transitions.factors(), &mut self.sums.edges);
        Ok(self.sums)
    }
}

impl<T: VectorExp> ScaledBlock<'_, T> {
    /// Scores of the labels with start and end added; with `given`, those not allowed at minus infinity.
    #[inline(always)]
    fn fill<const FMA: bool>(&self, space: &mut Scaled<T>, tokens: Range<usize>, given: bool) {
        let (k, width, length) = (self.data.n_labels(), self.data.width(), tokens.len());
        for (t, row) in tokens.clone().zip(space.nodes.chunks_mut(width)) {
            self.data.scores::<FMA>(t, self.model.weights, row);
            if let (true, Some(allowed)) = (given, self.targets.allowed) {
                for (x, &allowed) in row.iter_mut().zip(&allowed[t * k..(t + 1) * k]) {
                    if !allowed {
                        *x = T::from_f64(f64::NEG_INFINITY);
                    }
                }
            }
        }
        for s in 0..k {
            space.nodes[s] += T::from_f64(self.model.start[s]);
            space.nodes[(length - 1) * width + s] += T::from_f64(self.model.end[s]);
        }
    }

    /// Score of the observed labels; takes their edges from the sums.
    #[inline(always)]
    fn observed(&mut self, space: &Scaled<T>, tokens: Range<usize>, c: f64) -> f64 {
        let (k, width) = (self.data.n_labels(), self.data.width());
        let labels = &self.targets.labels[tokens];
        let mut score = 0.0;
        for (t, &label) in labels.iter().enumerate() {
            score += space.nodes[t * width + label as usize].to_f64();
            if t > 0 {
                let edge = label as usize * k + labels[t - 1] as usize;
                score += self.model.edges[edge];
                self.sums.edges[edge] -= c;
            }
        }
        score
    }
}
