//! Balanced groups of similar labels: spherical 2-means of fixed sizes, applied again and again.
//!
//! Problem: put K vectors of length one into groups whose sizes differ by at most one, level by level: the
//! numbers in `factors` say into how many groups each group of the level above falls apart.
//! A group of m parts is cut into one of m / 2 parts and the rest: centers c1, c2 of length one; the labels
//! with the largest <x, c1 - c2> go to the first half, which has its share of the labels exactly; each
//! center becomes the direction of the sum of its half; until the sum of <x, center> no longer rises.
//! Invariant: the result depends on the seed and on nothing else, whatever the number of threads is.
//! Sources: Dhillon & Modha (2001) for spherical k-means; Prabhu et al. (2018), Parabel, for balanced halves.
//! Returns the labels in their new order and the bounds of the last level's groups.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::simd::Gather;
use crate::threads::{Spaces, try_each};

/// A rise of the objective below this share of it ends a cut.
const SETTLED: f64 = 1e-4;

/// The order of the labels, and where each group of the last level begins (and the end).
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// Labels, group after group.
    pub order: Vec<u32>,
    /// Bounds of the groups in `order`.
    pub starts: Vec<usize>,
}

/// Labels `start..end` of the order, to become `parts` groups of level `level`.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    parts: usize,
    level: usize,
}

impl Span {
    /// The same labels at the first level below that has more than one part.
    fn descend(mut self, factors: &[usize]) -> Self {
        while self.parts == 1 && self.level + 1 < factors.len() {
            self.level += 1;
            self.parts = factors[self.level];
        }
        self
    }

    fn halves(self) -> (Self, Self) {
        let left = self.parts / 2;
        let middle = self.start + (self.end - self.start) * left / self.parts;
        (Self { end: middle, parts: left, ..self }, Self { start: middle, parts: self.parts - left, ..self })
    }
}

/// Group the rows of `x`, which have length one or zero.
///
/// `done` counts label-visits, of which there are about K log2(groups); every cut makes at most `max_iter`
/// rounds.
pub fn group<T: Gather>(
    x: &Csr<'_, T>,
    factors: &[usize],
    max_iter: usize,
    seed: u64,
    n_threads: usize,
    done: &AtomicU64,
    stop: &Interrupt,
) -> Result<Groups, KernelError> {
    let k = x.n_rows();
    let n_groups = factors.iter().try_fold(1usize, |a, &b| a.checked_mul(b)).unwrap_or(0);
    if n_groups == 0 || n_groups > k || u32::try_from(k).is_err() {
        return Err(KernelError::Argument(format!("{k} labels cannot be put into {factors:?} groups")));
    }
    let mut order: Vec<u32> = (0..k as u32).collect();
    let first = Span { start: 0, end: k, parts: *factors.first().unwrap_or(&1), level: 0 };
    let mut spans = vec![first.descend(factors)];
    while spans.iter().any(|span| span.parts > 1) {
        stop.check()?;
        let mut tasks = Vec::with_capacity(spans.len());
        let mut rest = &mut order[..];
        for &span in &spans {
            let (labels, after) = rest.split_at_mut(span.end - span.start);
            tasks.push((span, labels));
            rest = after;
        }
        let rooms = Spaces::default();
        let cut = |(span, labels): (Span, &mut [u32])| {
            stop.check()?;
            if span.parts == 1 {
                return Ok(vec![span]);
            }
            let (left, right) = span.halves();
            let random = Random::new(seed ^ (span.start as u64) << 32 ^ span.end as u64);
            let size = left.end - left.start;
            rooms.lend(|| Room::new(x.n_cols()), |room| room.cut(x, labels, size, max_iter, random, stop))?;
            done.fetch_add(labels.len() as u64, Ordering::Relaxed);
            Ok(vec![left.descend(factors), right.descend(factors)])
        };
        let next: Vec<Vec<Span>> = try_each(n_threads, tasks, cut)?;
        spans = next.into_iter().flatten().collect();
    }
    let mut starts: Vec<usize> = spans.iter().map(|span| span.start).collect();
    starts.push(k);
    Ok(Groups { order, starts })
}

/// Vectors over all features, of which a cut touches those of its labels.
struct Room<T> {
    /// c1 - c2, then sums of the halves.
    between: Vec<T>,
    first: Vec<T>,
    second: Vec<T>,
    touched: Vec<u32>,
    seen: Vec<bool>,
    scores: Vec<(T, u32)>,
}

impl<T: Gather> Room<T> {
    fn new(n_cols: usize) -> Self {
        let zeros = || vec![T::ZERO; n_cols];
        Self {
            between: zeros(),
            first: zeros(),
            second: zeros(),
            touched: Vec::new(),
            seen: vec![false; n_cols],
            scores: Vec::new(),
        }
    }

    /// Reorder `labels` so that the first `n_left` are one half.
    fn cut(
        &mut self,
        x: &Csr<'_, T>,
        labels: &mut [u32],
        n_left: usize,
        max_iter: usize,
        mut random: Random,
        stop: &Interrupt,
    ) -> Result<(), KernelError> {
        if n_left == 0 || n_left == labels.len() {
            return Ok(());
        }
        for &label in labels.iter() {
            for &c in x.row(label as usize).0 {
                if let Some(seen) = self.seen.get_mut(c as usize)
                    && !*seen
                {
                    *seen = true;
                    self.touched.push(c as u32);
                }
            }
        }
        let one = random.below(labels.len());
        let other = (one + 1 + random.below(labels.len() - 1)) % labels.len();
        add(x, labels[one], T::ONE, &mut self.between);
        add(x, labels[other], -T::ONE, &mut self.between);
        let mut best = f64::NEG_INFINITY;
        for _ in 0..max_iter.max(1) {
            stop.check()?;
            let score = |&label: &u32| (dot(x, label, &self.between), label);
            self.scores.clear();
            self.scores.extend(labels.iter().map(score));
            let order = |a: &(T, u32), b: &(T, u32)| {
                b.0.to_f64().total_cmp(&a.0.to_f64()).then_with(|| a.1.cmp(&b.1))
            };
            self.scores.select_nth_unstable_by(n_left, order);
            for (label, &(_, from)) in labels.iter_mut().zip(&self.scores) {
                *label = from;
            }
            // Sums in rising order of labels: memory is read forwards, and the order is always the same.
            let (left, right) = labels.split_at_mut(n_left);
            left.sort_unstable();
            right.sort_unstable();
            let value = self.sum(x, left, right);
            if value <= best + SETTLED * value.abs() {
                break;
            }
            best = value;
        }
        for &c in &self.touched {
            let c = c as usize;
            (self.between[c], self.first[c], self.second[c]) = (T::ZERO, T::ZERO, T::ZERO);
            self.seen[c] = false;
        }
        self.touched.clear();
        Ok(())
    }

    /// Set the difference of the centers of two halves; returns the sum of <x, center>.
    fn sum(&mut self, x: &Csr<'_, T>, left: &[u32], right: &[u32]) -> f64 {
        for &c in &self.touched {
            (self.first[c as usize], self.second[c as usize]) = (T::ZERO, T::ZERO);
        }
        left.iter().for_each(|&label| add(x, label, T::ONE, &mut self.first));
        right.iter().for_each(|&label| add(x, label, T::ONE, &mut self.second));
        let norm = |v: &[T]| self.touched.iter().map(|&c| v[c as usize].to_f64().powi(2)).sum::<f64>().sqrt();
        let (a, b) = (norm(&self.first), norm(&self.second));
        let inverse = |norm: f64| if norm > 0.0 { 1.0 / norm } else { 0.0 };
        let (ia, ib) = (T::from_f64(inverse(a)), T::from_f64(inverse(b)));
        for &c in &self.touched {
            let c = c as usize;
            self.between[c] = self.first[c] * ia - self.second[c] * ib;
        }
        a + b
    }
}

fn add<T: Gather>(x: &Csr<'_, T>, label: u32, a: T, w: &mut [T]) {
    Rows::add_to::<false>(x, label as usize, a, w);
}

fn dot<T: Gather>(x: &Csr<'_, T>, label: u32, w: &[T]) -> T {
    Rows::dot::<false>(x, label as usize, w)
}
