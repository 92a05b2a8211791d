//! Dual coordinate ascent for the likelihood of a first-order chain under squares or an elastic net, in mean parameters.
//!
//! Minimizes l1 |w|_1 + l2/2 |w|^2 + sum_i C_i (log Z_i - score_i), l2 > 0. Invariant, up to rounding: with m_i the
//! expected features of sequence i under its own dual distribution,
//!     v = sum_i C_i (Psi(x_i, y_i) - m_i) / l2,  w = soft threshold of v at l1 / l2,
//! kept as node marginals per token and edge marginals per sequence; they begin at the labels, with w = 0. Without L1 a
//! visit of a sequence moves its marginals towards those at w by a share
//!     g = 1 / (1 + 0.8 q C_i (max_t l_t n_t + 0.03 sum_t l_t n_t)),
//! l_t = 1 - |mean of the old and the new marginals of token t|^2, n_t = |x_t|^2, and w with them: no line search
//! (compare Le Priol, Piché & Lacoste-Julien 2018; Collins et al. 2008). The caution q is one and grows by half whenever
//! a pass raised the objective, as it may happen where the tokens of a sequence have much in common. Weights that
//! k attributes share are the sum of theirs, so they move by k times as much, and their threshold is k times as large.
//!
//! With L1 the curvature of a token counts the weights that are not zero: l_t n_t becomes sum_y (n_ty + 1) m_y (1 - m_y),
//! m the mean marginals and n_ty the sum of squared values whose weight of label y is not zero, and C_i / l2 stands for
//! C_i. From the fourth pass on a sequence is visited with probability min(1, max(0.1, r / mean r)), r the sum of
//! |new - old| marginals at its last visit: most sequences are settled early (compare Csiba, Qu & Richtárik 2015).
//!
//! A pass returns the penalty at w plus sum_i C_i loss_i, each loss at the w of its last visit.

use crate::chain::encoded::{Encoded, LANES, soft};
use crate::chain::likelihood::Targets;
use crate::chain::online::{Free, Weights};
use crate::chain::scaled::{Scaled, Transitions, total};
use crate::chain::tuning::{FULL_PASSES, LARGEST, LEAST_VISITS, MORE_CAUTION, SUMMED, WORSE};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::simd::exponential::VectorExp;
use crate::simd::{Task, dispatch, prefetch_outer};

/// The penalty l1 |w|_1 + l2/2 |w|^2.
#[derive(Debug, Clone, Copy)]
pub struct Penalty {
    /// Weight of |w|_1, zero or more.
    pub l1: f64,
    /// Weight of 1/2 |w|^2, more than zero.
    pub l2: f64,
}

impl Penalty {
    /// 1/2 |w|^2.
    pub const SQUARES: Self = Self { l1: 0.0, l2: 1.0 };

    fn theta(self) -> f64 {
        self.l1 / self.l2
    }
}

/// The state of a solver.
#[derive(Debug)]
pub struct ChainDual<T> {
    free: Free,
    c: Vec<f64>,
    penalty: Penalty,
    /// v: the weights before the soft threshold; those of edges after a pass.
    weights: Weights<T>,
    /// v of the edges while a pass runs, k x width by source.
    links: Vec<f64>,
    /// Their weights: the same without L1.
    edge_scores: Vec<f64>,
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
    n_passes: usize,
    /// C_i loss_i at the last visit of every sequence, and how far its marginals were from the new ones.
    losses: Vec<f64>,
    distances: Vec<f32>,
}

impl<T: VectorExp> ChainDual<T> {
    /// Begin at the labels; `c` holds C_i.
    pub fn new(
        data: &Encoded<T>,
        targets: Targets<'_>,
        free: Free,
        c: Vec<f64>,
        penalty: Penalty,
        seed: u64,
    ) -> Result<Self, KernelError> {
        targets.check(data)?;
        let Penalty { l1, l2 } = penalty;
        if !(l1 >= 0.0 && l2 > 0.0 && (l1 / l2).is_finite() && l2.is_finite()) {
            return Err(KernelError::Argument(format!(
                "this solver needs l1 >= 0 and l2 > 0, got {l1} and {l2}"
            )));
        }
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
            edge_scores: vec![0.0; k * width],
            free_links,
            penalty,
            free,
            c,
            weights: Weights::zero(data)?,
            nodes,
            edges,
            norms: data.squared_norms(),
            random: Random::new(seed),
            order: (0..n as u32).collect(),
            caution: 1.0,
            value: f64::INFINITY,
            n_passes: 0,
            losses: zeros(n)?,
            distances: vec![f32::INFINITY; n],
        })
    }

    /// The weights now: soft thresholds of v.
    pub fn weights(&self, data: &Encoded<T>) -> Weights<T> {
        let theta = self.penalty.theta();
        let one = |v: &f64| soft(*v, theta);
        let state = self.weights.state.iter().zip(data.multiplicity());
        Weights {
            state: state.map(|(&v, &k)| soft(v, T::from_f64(theta * f64::from(k)))).collect(),
            edges: self.weights.edges.iter().map(one).collect(),
            start: self.weights.start.iter().map(one).collect(),
            end: self.weights.end.iter().map(one).collect(),
        }
    }

    /// An estimate of the second derivatives of the losses by each weight, from the marginals of the dual: sum_i C_i p (1 - p)
    /// over the tokens of an attribute (times its values), and the expected counts of edges.
    pub fn curvature(&self, data: &Encoded<T>) -> Result<Weights<T>, KernelError> {
        dispatch(Curvature { solver: self, data })
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
        let losses = if self.penalty.l1 > 0.0 {
            dispatch(Pass::<'_, T, true> { solver: self, data, targets, stop })
        } else {
            dispatch(Pass::<'_, T, false> { solver: self, data, targets, stop })
        };
        self.n_passes += 1;
        let (k, width) = (data.n_labels(), data.width());
        for (edge, weight) in self.weights.edges.iter_mut().enumerate() {
            *weight = self.links[edge % k * width + edge / k];
        }
        let losses = losses?;
        let value = losses + self.penalty_value(data);
        if value > WORSE * self.value {
            self.caution *= MORE_CAUTION;
        }
        self.value = value;
        Ok(value)
    }

    /// The penalty at the weights, where k attributes with a shared weight w have w / k each.
    fn penalty_value(&self, data: &Encoded<T>) -> f64 {
        let (Penalty { l1, l2 }, theta) = (self.penalty, self.penalty.theta());
        let of = |v: f64, k: f64| {
            let w = soft(v, theta * k);
            l1 * w.abs() + 0.5 * l2 * w * w / k
        };
        let shared = self.weights.state.iter().zip(data.multiplicity()).filter(|(_, k)| **k > 0.0);
        let state: f64 = shared.map(|(v, &k)| of(v.to_f64(), f64::from(k))).sum();
        let others = self.weights.edges.iter().chain(&self.weights.start).chain(&self.weights.end);
        state + others.map(|&v| of(v, 1.0)).sum::<f64>()
    }

    /// Probability of visiting each sequence in this pass.
    fn visits(&self) -> Option<Vec<f64>> {
        if self.n_passes < FULL_PASSES {
            return None;
        }
        let finite = self.distances.iter().map(|&r| f64::from(r)).filter(|r| r.is_finite());
        let (sum, n) = finite.fold((0.0, 0usize), |(sum, n), r| (sum + r, n + 1));
        let mean = sum / (n.max(1)) as f64;
        let share = |&r: &f32| if mean > 0.0 { (f64::from(r) / mean).max(LEAST_VISITS) } else { 1.0 };
        Some(self.distances.iter().map(share).collect())
    }
}

struct Curvature<'a, T> {
    solver: &'a ChainDual<T>,
    data: &'a Encoded<T>,
}

impl<T: VectorExp> Task for Curvature<'_, T> {
    type Output = Result<Weights<T>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { solver, data } = self;
        let (k, width) = (data.n_labels(), data.width());
        let mut found = Weights::zero(data)?;
        let mut row = vec![T::ZERO; width];
        for (number, &c) in solver.c.iter().enumerate() {
            let tokens = data.offsets()[number]..data.offsets()[number + 1];
            for t in tokens.clone() {
                let p = &solver.nodes[t * width..(t + 1) * width];
                for (out, &p) in row.iter_mut().zip(p) {
                    *out = T::from_f64(c) * p * (T::ONE - p);
                }
                data.add::<FMA>(t, &row, &mut found.state);
                for (at, sums) in [(tokens.start, &mut found.start), (tokens.end - 1, &mut found.end)] {
                    if at == t {
                        sums.iter_mut().zip(&row).for_each(|(sum, h)| *sum += h.to_f64());
                    }
                }
            }
            let edges = &solver.edges[number * k * width..(number + 1) * k * width];
            for (edge, sum) in found.edges.iter_mut().enumerate() {
                *sum += c * edges[edge % k * width + edge / k].to_f64();
            }
        }
        Ok(found)
    }
}

/// `SOFT`: the penalty has an L1 part.
struct Pass<'a, T, const SOFT: bool> {
    solver: &'a mut ChainDual<T>,
    data: &'a Encoded<T>,
    targets: Targets<'a>,
    stop: &'a Interrupt,
}

impl<T: VectorExp, const SOFT: bool> Task for Pass<'_, T, SOFT> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { solver, data, targets, stop } = self;
        let (k, width) = (data.n_labels(), data.width());
        let far = || KernelError::Argument("the transition weights are too far apart for this solver".into());
        let theta = solver.penalty.theta();
        let edges: Vec<f64> = solver.weights.edges.iter().map(|&v| soft(v, theta)).collect();
        let mut transitions = Transitions::<T>::new(&edges, k).ok_or_else(far)?;
        let n_edges = k * width;
        let visits = if SOFT { solver.visits() } else { None };
        let mut counts = Vec::new();
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
            if let Some(visits) = &visits
                && visits[number] < 1.0
                && solver.random.unit() > visits[number]
            {
                continue;
            }
            space.resize(length, width);
            if SOFT {
                counts.resize(length * width, T::ZERO);
                let rows = space.nodes.chunks_mut(width).zip(counts.chunks_mut(width));
                for (t, (row, counts)) in tokens.clone().zip(rows) {
                    data.soft_scores::<FMA>(t, &solver.weights.state, T::from_f64(theta), row, counts);
                }
            } else {
                for (t, row) in tokens.clone().zip(space.nodes.chunks_mut(width)) {
                    data.scores::<FMA>(t, &solver.weights.state, row);
                }
            }
            for s in 0..k {
                space.nodes[s] += T::from_f64(soft(solver.weights.start[s], theta));
                space.nodes[(length - 1) * width + s] += T::from_f64(soft(solver.weights.end[s], theta));
            }
            if !transitions.set_by_source::<FMA>(&solver.edge_scores) {
                return Err(far());
            }
            let labels = &targets.labels[tokens.clone()];
            let mut score = 0.0;
            for (t, &label) in labels.iter().enumerate() {
                score += space.nodes[t * width + label as usize].to_f64();
                if t > 0 {
                    score += solver.edge_scores[labels[t - 1] as usize * width + label as usize];
                }
            }
            let loss = c * (space.run::<FMA>(&transitions, length) - score);
            total += loss;
            sums.fill(T::ZERO);
            space.add_edges::<FMA>(k, width, length, &mut sums);
            let old = &solver.nodes[tokens.start * width..tokens.end * width];
            let c = c / solver.penalty.l2;
            let share = if SOFT {
                let (share, distance) = soft_step(&space.marginals, old, &counts, width, c * solver.caution);
                solver.losses[number] = loss;
                solver.distances[number] = distance as f32;
                share
            } else {
                let norms = &solver.norms[tokens.clone()];
                step(&space.marginals, old, norms, width, c * solver.caution)
            };
            solver.move_nodes::<FMA>(data, tokens, &mut space.marginals, share, c);
            solver.move_edges(&sums, transitions.factors(), number, share, c);
        }
        Ok(if SOFT { solver.losses.iter().sum() } else { total })
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

/// The share of [`step`] where only some weights are not zero, and how far old and new marginals are apart.
#[inline(always)]
fn soft_step<T: VectorExp>(new: &[T], old: &[T], counts: &[T], width: usize, c: f64) -> (f64, f64) {
    let (mut most, mut sum, mut distance) = (0.0f64, 0.0f64, 0.0f64);
    let rows = new.chunks_exact(width).zip(old.chunks_exact(width)).zip(counts.chunks_exact(width));
    for ((new, old), counts) in rows {
        let (mut lanes, mut far) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        let parts = new.as_chunks::<LANES>().0.iter().zip(old.as_chunks::<LANES>().0);
        for ((a, b), n) in parts.zip(counts.as_chunks::<LANES>().0) {
            for l in 0..LANES {
                let mean = T::from_f64(0.5) * (a[l] + b[l]);
                lanes[l] += (n[l] + T::ONE) * mean * (T::ONE - mean);
                far[l] += (a[l] - b[l]).abs();
            }
        }
        let curvature = total(lanes).to_f64().max(0.0);
        most = most.max(curvature);
        sum += curvature;
        distance += total(far).to_f64();
    }
    (1.0 / (1.0 + LARGEST * c * (most + SUMMED * sum)), distance)
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
        let (size, share, theta) = (sums.len(), T::from_f64(share), self.penalty.theta());
        let old = self.edges[number * size..(number + 1) * size].as_chunks_mut::<LANES>().0;
        let links = self.links.as_chunks_mut::<LANES>().0.iter_mut();
        let links = links.zip(self.edge_scores.as_chunks_mut::<LANES>().0);
        let links = links.zip(self.free_links.as_chunks::<LANES>().0);
        let new = sums.as_chunks::<LANES>().0.iter().zip(factors.as_chunks::<LANES>().0);
        for (((sum, factor), old), ((link, score), free)) in new.zip(old).zip(links) {
            for l in 0..LANES {
                let change = share * (sum[l] * factor[l] - old[l]);
                old[l] += change;
                link[l] -= c * free[l] * change.to_f64();
                score[l] = soft(link[l], theta);
            }
        }
    }
}
