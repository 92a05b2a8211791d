//! The best labelling of a first-order chain: the fast form of [`crate::chain::best`].
//!
//! Viterbi (1967), rows of scores padded to vectors; the way back is found again by looking, for the label of a token,
//! at all labels before it. At a tie the first label wins or, with a labelling to avoid, the first that is not
//! in it: then the result is that labelling only where no other is as good.
//!
//! Where labels are many, a source is passed over for a block of labels where the most that it can give to any of them is
//! less than what the two best sources give to each.

use crate::chain::encoded::LANES;
use crate::chain::tuning::MANY_LABELS;
use crate::real::Real;

/// Labels in a block.
const BLOCK: usize = 4 * LANES;

/// Scores of the transitions, by source and by target, rows padded with minus infinity.
#[derive(Debug, Clone)]
pub struct Steps<T> {
    k: usize,
    width: usize,
    by_source: Vec<T>,
    by_target: Vec<T>,
    /// Bounds of the scores from every source into a block of labels, block after block: none is higher.
    highest: Vec<T>,
}

impl<T: Real> Steps<T> {
    /// From the scores of the edges, number `to * k + from`.
    pub fn new(edges: &[f64], k: usize) -> Self {
        let width = k.next_multiple_of(LANES);
        let never = T::from_f64(f64::NEG_INFINITY);
        let mut steps = Self {
            k,
            width,
            by_source: vec![never; k * width],
            by_target: vec![never; k * width],
            highest: vec![never; k.div_ceil(BLOCK) * width],
        };
        for to in 0..k {
            for from in 0..k {
                steps.set(from, to, T::from_f64(edges[to * k + from]));
            }
        }
        steps
    }

    /// Score of `to` after `from`.
    #[inline(always)]
    pub fn get(&self, from: usize, to: usize) -> T {
        self.by_source[from * self.width + to]
    }

    /// The bounds anew: scores that have fallen leave them too high.
    pub fn tighten(&mut self) {
        for (block, bounds) in self.highest.chunks_exact_mut(self.width).enumerate() {
            let labels = block * BLOCK..self.k.min((block + 1) * BLOCK);
            for (bound, row) in bounds.iter_mut().zip(self.by_source.chunks_exact(self.width)) {
                *bound = row[labels.clone()].iter().fold(T::from_f64(f64::NEG_INFINITY), |a, &b| a.max(b));
            }
        }
    }

    /// The labels, in order, that may be the best source of a label of the block that begins at `first`, after the
    /// scores `before`, padded; `best` are the two best of them.
    #[inline(always)]
    fn find_sources(&self, before: &[T], best: [usize; 2], first: usize, sources: &mut Vec<usize>) {
        let labels = first..self.k.min(first + BLOCK);
        let given = best.map(|i| &self.by_source[i * self.width..][labels.clone()]);
        let (a, b) = (before[best[0]], before[best[1]]);
        let mut floor = T::from_f64(f64::INFINITY);
        for (&x, &y) in given[0].iter().zip(given[1]) {
            floor = floor.min((a + x).max(b + y));
        }
        sources.clear();
        let bounds = &self.highest[first / BLOCK * self.width..][..self.width];
        let chunks = before.as_chunks::<LANES>().0.iter().zip(bounds.as_chunks::<LANES>().0);
        for (number, (scores, bounds)) in chunks.enumerate() {
            let mut reach = [T::ZERO; LANES];
            for l in 0..LANES {
                reach[l] = scores[l] + bounds[l];
            }
            let mut some = false;
            for x in reach {
                some |= x >= floor;
            }
            if some {
                let found = reach.iter().enumerate().filter(|(_, x)| **x >= floor);
                sources.extend(found.map(|(l, _)| number * LANES + l).filter(|&i| i < self.k));
            }
        }
    }

    /// Change the score of `to` after `from`.
    #[inline(always)]
    pub fn set(&mut self, from: usize, to: usize, score: T) {
        self.by_source[from * self.width + to] = score;
        self.by_target[to * self.width + from] = score;
        let bound = &mut self.highest[to / BLOCK * self.width + from];
        *bound = bound.max(score);
    }
}

/// Best labelling of the scores in `nodes` (length x width), which become the best scores of labellings up to each
/// token; written to `labels`. Returns its score.
#[inline(always)]
pub fn best_path<T: Real>(steps: &Steps<T>, nodes: &mut [T], avoid: Option<&[u32]>, labels: &mut [u32]) -> T {
    let (k, width, length) = (steps.k, steps.width, labels.len());
    let mut sources = Vec::new();
    for t in 1..length {
        let (before, here) = nodes.split_at_mut(t * width);
        let padded = &before[(t - 1) * width..][..width];
        let before = &padded[..k];
        if k >= MANY_LABELS {
            let best = two_best(before);
            for first in (0..width).step_by(BLOCK) {
                let rest = &mut here[first..width];
                steps.find_sources(padded, best, first, &mut sources);
                let rows = sources.iter().map(|&i| (before[i], &steps.by_source[i * width..][..width]));
                match rest.len() / LANES {
                    1 => raise::<T, 1>(rows, first, rest),
                    2 => raise::<T, 2>(rows, first, rest),
                    3 => raise::<T, 3>(rows, first, rest),
                    _ => raise::<T, 4>(rows, first, rest),
                };
            }
            continue;
        }
        let mut done = 0;
        while done < width {
            let rest = &mut here[done..width];
            let rows = before.iter().copied().zip(steps.by_source.chunks_exact(width));
            done += match rest.len() / LANES {
                1 => raise::<T, 1>(rows, done, rest),
                2 => raise::<T, 2>(rows, done, rest),
                3 => raise::<T, 3>(rows, done, rest),
                _ => raise::<T, 4>(rows, done, rest),
            };
        }
    }
    let Some(last) = length.checked_sub(1) else { return T::ZERO };
    let avoided = |t: usize| avoid.map_or(usize::MAX, |labels| labels[t] as usize);
    let row = &nodes[last * width..][..k];
    let mut label = first_best(k, avoided(last), |l| row[l]);
    let score = row[label];
    labels[last] = label as u32;
    for t in (0..last).rev() {
        let before = &nodes[t * width..][..k];
        let into = &steps.by_target[label * width..][..k];
        label = first_best(k, avoided(t), |l| before[l] + into[l]);
        labels[t] = label as u32;
    }
    score
}

/// here\[j\] += max over the rows (score, steps) of score + steps\[j\], for `N` vectors of columns from `at` on.
#[inline(always)]
fn raise<'a, T: Real, const N: usize>(
    rows: impl Iterator<Item = (T, &'a [T])>,
    at: usize,
    here: &mut [T],
) -> usize {
    let mut most = [[T::from_f64(f64::NEG_INFINITY); LANES]; N];
    for (b, row) in rows {
        for (most, row) in most.iter_mut().zip(row[at..at + N * LANES].as_chunks::<LANES>().0) {
            for l in 0..LANES {
                let value = b + row[l];
                most[l] = if value > most[l] { value } else { most[l] };
            }
        }
    }
    for (here, most) in here.as_chunks_mut::<LANES>().0.iter_mut().zip(&most) {
        for l in 0..LANES {
            here[l] += most[l];
        }
    }
    N * LANES
}

/// The labels of the two largest scores.
#[inline(always)]
fn two_best<T: Real>(scores: &[T]) -> [usize; 2] {
    let mut best = [0, 1];
    if scores[1] > scores[0] {
        best = [1, 0];
    }
    for (label, &score) in scores.iter().enumerate().skip(2) {
        if score > scores[best[1]] {
            best = if score > scores[best[0]] { [label, best[0]] } else { [best[0], label] };
        }
    }
    best
}

/// The first label of the largest value; `avoid` only where no other has it.
#[inline(always)]
fn first_best<T: Real>(k: usize, avoid: usize, value: impl Fn(usize) -> T) -> usize {
    let mut best = if avoid == 0 && k > 1 { 1 } else { 0 };
    let mut most = value(best);
    for label in best + 1..k {
        let here = value(label);
        if here > most && label != avoid {
            (best, most) = (label, here);
        }
    }
    if avoid < k && value(avoid) > most { avoid } else { best }
}
