//! Dual coordinate ascent for the L2-regularized likelihood of a first-order chain, in mean parameters.
//!
//! Minimizes 1/2 |w|^2 + sum_i C_i (log Z_i - score_i). Invariant, up to rounding: with m_i the expected features of
//! sequence i under its own dual distribution,
//!     w = sum_i C_i (Psi(x_i, y_i) - m_i),
//! kept as node marginals per token and edge marginals per sequence; they begin at the labels, with w = 0. A visit of a
//! sequence moves its marginals towards those at w by a share
//!     g = 1 / (1 + 0.8 q C_i (max_t l_t n_t + 0.03 sum_t l_t n_t)),
//! l_t = 1 - |mean of the old and the new marginals of token t|^2, n_t = |x_t|^2, and w with them: no line search
//! (compare Le Priol, Piché & Lacoste-Julien 2018; Collins et al. 2008). The caution q is one and grows by half whenever
//! a pass raised the objective, as it may happen where the tokens of a sequence have much in common. Weights that
//! k attributes share are the sum of theirs, so they move by k times as much.
//!
//! A pass returns 1/2 |w|^2 + sum_i C_i loss_i, each loss at the w of its visit.

use crate::chain::encoded::{Encoded, LANES};
use crate::chain::likelihood::Targets;
use crate::chain::online::{Free, Weights};
use crate::chain::scaled::{Scaled, Transitions, total};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::simd::exponential::VectorExp;
use crate::simd::{Task, dispatch, prefetch_outer};

/// Factors of the largest and of the summed curvature in a step.
const LARGEST: f64 = 0.8;
const SUMMED: f64 = 0.03;
/// Factor of the caution after a pass that raised the objective by more than the order of the visits can.
const MORE_CAUTION: f64 = 1.5;
const WORSE: f64 = 1.001;

/// The state of a solver.
#[derive(Debug)]
pub struct ChainDual<T> {
    free: Free,
    c: Vec<f64>,
    weights: Weights<T>,
    /// Scores of the edges while a pass runs, k x width by source; those of `weights` afterwards.
    links: Vec<f64>,
    /// One where a link is free, else zero.
    free_links: Vec<f64>,
    /// n_tokens x width.
    nodes: Vec<T>,
    /// n_sequences x k x width, by source.
    edges: Vec<T>,
    norms: Vec<f32>,
    random: Random,
    order: Vec<u32>,
    caution: f64,
    /// What the last pass returned.
    value: f64,
}

impl<T: VectorExp> ChainDual<T> {
    /// Begin at the labels; `c` holds C_i.
    pub fn new(
        data: &Encoded<T>,
        targets: Targets<'_>,
        free: Free,
        c: Vec<f64>,
        seed: u64,
    ) -> Result<Self, KernelError> {
        targets.check(data)?;
        if targets.allowed.is_some() || data.edge_pairs().is_some() {
            return Err(KernelError::Argument(
                "this solver needs all labels, and no attributes of edges".into(),
            ));
        }
        let (k, width, n) = (data.n_labels(), data.width(), data.offsets().len() - 1);
        check_length("free edges", free.edges.len(), k * k)?;
        check_length("C", c.len(), n)?;
        let mut nodes = zeros::<T>(data.n_tokens() * width)?;
        let mut edges = zeros::<T>(n * k * width)?;
        for (row, &label) in nodes.chunks_exact_mut(width).zip(targets.labels) {
            row[label as usize] = T::ONE;
        }
        for (number, edges) in edges.chunks_exact_mut(k * width).enumerate() {
            let labels = &targets.labels[data.offsets()[number]..data.offsets()[number + 1]];
            for pair in labels.windows(2) {
                edges[pair[0] as usize * width + pair[1] as usize] += T::ONE;
            }
        }
        let mut free_links = vec![0.0; k * width];
        for (edge, _) in free.edges.iter().enumerate().filter(|(_, free)| **free) {
            free_links[edge % k * width + edge / k] = 1.0;
        }
        Ok(Self {
            links: vec![0.0; k * width],
            free_links,
            free,
            c,
            weights: Weights {
                state: zeros(data.n_weights())?,
                edges: vec![0.0; k * k],
                start: vec![0.0; k],
                end: vec![0.0; k],
            },
            nodes,
            edges,
            norms: data.squared_norms(),
            random: Random::new(seed),
            order: (0..n as u32).collect(),
            caution: 1.0,
            value: f64::INFINITY,
        })
    }

    /// The weights now.
    pub fn weights(&self) -> &Weights<T> {
        &self.weights
    }

    /// One pass over the sequences in random order. Fails where the edge scores leave the range of the scaled domain.
    pub fn run_pass(
        &mut self,
        data: &Encoded<T>,
        targets: Targets<'_>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        targets.check(data)?;
        check_length("tokens", data.n_tokens() * data.width(), self.nodes.len())?;
        self.weights.check(data)?;
        self.random.shuffle(&mut self.order);
        let losses = dispatch(Pass { solver: self, data, targets, stop });
        let (k, width) = (data.n_labels(), data.width());
        for (edge, weight) in self.weights.edges.iter_mut().enumerate() {
            *weight = self.links[edge % k * width + edge / k];
        }
        let losses = losses?;
        let value = losses + self.penalty(data);
        if value > WORSE * self.value {
            self.caution *= MORE_CAUTION;
        }
        self.value = value;
        Ok(value)
    }

    /// 1/2 |w|^2, where k attributes with a shared weight w have w / k each.
    fn penalty(&self, data: &Encoded<T>) -> f64 {
        let shared = self.weights.state.iter().zip(data.multiplicity()).filter(|(_, k)| **k > 0.0);
        let state: f64 = shared.map(|(w, &k)| w.to_f64() * w.to_f64() / f64::from(k)).sum();
        let others = self.weights.edges.iter().chain(&self.weights.start).chain(&self.weights.end);
        0.5 * (state + others.map(|w| w * w).sum::<f64>())
    }
}

struct Pass<'a, T> {
    solver: &'a mut ChainDual<T>,
    data: &'a Encoded<T>,
    targets: Targets<'a>,
    stop: &'a Interrupt,
}

impl<T: VectorExp> Task for Pass<'_, T> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { solver, data, targets, stop } = self;
        let (k, width) = (data.n_labels(), data.width());
        let far = || KernelError::Argument("the transition weights are too far apart for this solver".into());
        let mut transitions = Transitions::<T>::new(&solver.weights.edges, k).ok_or_else(far)?;
        let n_edges = k * width;
        let mut space = Scaled::default();
        let mut sums = vec![T::ZERO; k * width];
        let mut total = 0.0;
        for at in 0..solver.order.len() {
            if at % 64 == 0 {
                stop.check()?;
            }
            let number = solver.order[at] as usize;
            let tokens = data.offsets()[number]..data.offsets()[number + 1];
            if let Some(&next) = solver.order.get(at + 1) {
                // The order is random: the hardware cannot know what comes next.
                let next = next as usize;
                let tokens = data.offsets()[next]..data.offsets()[next + 1];
                prefetch_outer(&solver.nodes[tokens.start * width..tokens.end * width]);
                prefetch_outer(&solver.edges[next * n_edges..(next + 1) * n_edges]);
                data.prefetch(tokens);
            }
            let (c, length) = (solver.c[number], tokens.len());
            if length == 0 || c == 0.0 {
                continue;
            }
            space.resize(length, width);
            for (t, row) in tokens.clone().zip(space.nodes.chunks_mut(width)) {
                data.scores::<FMA>(t, &solver.weights.state, row);
            }
            for s in 0..k {
                space.nodes[s] += T::from_f64(solver.weights.start[s]);
                space.nodes[(length - 1) * width + s] += T::from_f64(solver.weights.end[s]);
            }
            if !transitions.set_by_source::<FMA>(&solver.links) {
                return Err(far());
            }
            let labels = &targets.labels[tokens.clone()];
            let mut score = 0.0;
            for (t, &label) in labels.iter().enumerate() {
                score += space.nodes[t * width + label as usize].to_f64();
                if t > 0 {
                    score += solver.links[labels[t - 1] as usize * width + label as usize];
                }
            }
            total += c * (space.run::<FMA>(&transitions, length) - score);
            sums.fill(T::ZERO);
            space.add_edges::<FMA>(k, width, length, &mut sums);
            let old = &solver.nodes[tokens.start * width..tokens.end * width];
            let norms = &solver.norms[tokens.clone()];
            let share = step(&space.marginals, old, norms, width, c * solver.caution);
            solver.move_nodes::<FMA>(data, tokens, &mut space.marginals, share, c);
            solver.move_edges(&sums, transitions.factors(), number, share, c);
        }
        Ok(total)
    }
}

/// The share by which marginals move from the old to the new ones.
#[inline(always)]
fn step<T: VectorExp>(new: &[T], old: &[T], norms: &[f32], width: usize, c: f64) -> f64 {
    let (mut most, mut sum) = (0.0f64, 0.0f64);
    for ((new, old), &norm) in new.chunks_exact(width).zip(old.chunks_exact(width)).zip(norms) {
        let mut lanes = [T::ZERO; LANES];
        for (a, b) in new.as_chunks::<LANES>().0.iter().zip(old.as_chunks::<LANES>().0) {
            for l in 0..LANES {
                lanes[l] += (a[l] + b[l]) * (a[l] + b[l]);
            }
        }
        let curvature = (1.0 - 0.25 * total(lanes).to_f64()).max(0.0) * f64::from(norm);
        most = most.max(curvature);
        sum += curvature;
    }
    1.0 / (1.0 + LARGEST * c * (most + SUMMED * sum))
}

impl<T: VectorExp> ChainDual<T> {
    #[inline(always)]
    fn move_nodes<const FMA: bool>(
        &mut self,
        data: &Encoded<T>,
        tokens: std::ops::Range<usize>,
        new: &mut [T],
        share: f64,
        c: f64,
    ) {
        let (width, k) = (data.width(), data.n_labels());
        let (first, last) = (tokens.start, tokens.end - 1);
        let (move_by, back) = (T::from_f64(share), T::from_f64(-c * share));
        for (t, new) in tokens.zip(new.chunks_exact_mut(width)) {
            let old = self.nodes[t * width..(t + 1) * width].as_chunks_mut::<LANES>().0;
            for (new, old) in new.as_chunks_mut::<LANES>().0.iter_mut().zip(old) {
                for l in 0..LANES {
                    new[l] -= old[l];
                    old[l] += move_by * new[l];
                    new[l] *= back;
                }
            }
            data.add_shared::<FMA>(t, new, &mut self.weights.state);
            if self.free.boundaries && t == first {
                for (w, d) in self.weights.start[..k].iter_mut().zip(&*new) {
                    *w += d.to_f64();
                }
            }
            if self.free.boundaries && t == last {
                for (w, d) in self.weights.end[..k].iter_mut().zip(&*new) {
                    *w += d.to_f64();
                }
            }
        }
    }

    /// Move the edge marginals of a sequence, whose new ones are `sums` times `factors`.
    #[inline(always)]
    fn move_edges(&mut self, sums: &[T], factors: &[T], number: usize, share: f64, c: f64) {
        let (size, share) = (sums.len(), T::from_f64(share));
        let old = self.edges[number * size..(number + 1) * size].as_chunks_mut::<LANES>().0;
        let links = self.links.as_chunks_mut::<LANES>().0.iter_mut();
        let links = links.zip(self.free_links.as_chunks::<LANES>().0);
        let new = sums.as_chunks::<LANES>().0.iter().zip(factors.as_chunks::<LANES>().0);
        for (((sum, factor), old), (link, free)) in new.zip(old).zip(links) {
            for l in 0..LANES {
                let change = share * (sum[l] * factor[l] - old[l]);
                old[l] += change;
                link[l] -= c * free[l] * change.to_f64();
            }
        }
    }
}
