//! The best labelling of a first-order chain: the fast form of [`crate::chain::best`].
//!
//! Viterbi (1967), rows of scores padded to vectors; the way back is found again by looking, for the label of a token,
//! at all labels before it. At a tie the first label wins or, with a labelling to avoid, the first that is not
//! in it: then the result is that labelling only where no other is as good.

use crate::chain::encoded::LANES;
use crate::real::Real;

/// Scores of the transitions, by source and by target, rows padded with minus infinity.
#[derive(Debug, Clone)]
pub struct Steps<T> {
    k: usize,
    width: usize,
    by_source: Vec<T>,
    by_target: Vec<T>,
}

impl<T: Real> Steps<T> {
    /// From the scores of the edges, number `to * k + from`.
    pub fn new(edges: &[f64], k: usize) -> Self {
        let width = k.next_multiple_of(LANES);
        let never = T::from_f64(f64::NEG_INFINITY);
        let mut steps =
            Self { k, width, by_source: vec![never; k * width], by_target: vec![never; k * width] };
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

    /// Change the score of `to` after `from`.
    #[inline(always)]
    pub fn set(&mut self, from: usize, to: usize, score: T) {
        self.by_source[from * self.width + to] = score;
        self.by_target[to * self.width + from] = score;
    }
}

/// Best labelling of the scores in `nodes` (length x width), which become the best scores of labellings up to each
/// token; written to `labels`. Returns its score.
#[inline(always)]
pub fn best_path<T: Real>(steps: &Steps<T>, nodes: &mut [T], avoid: Option<&[u32]>, labels: &mut [u32]) -> T {
    let (k, width, length) = (steps.k, steps.width, labels.len());
    for t in 1..length {
        let (before, here) = nodes.split_at_mut(t * width);
        let before = &before[(t - 1) * width..][..k];
        let mut done = 0;
        while done < width {
            let rest = &mut here[done..width];
            done += match rest.len() / LANES {
                1 => raise::<T, 1>(before, &steps.by_source, width, done, rest),
                2 => raise::<T, 2>(before, &steps.by_source, width, done, rest),
                3 => raise::<T, 3>(before, &steps.by_source, width, done, rest),
                _ => raise::<T, 4>(before, &steps.by_source, width, done, rest),
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

/// here\[j\] += max over i of before\[i\] + steps\[i, j\], for `N` vectors of columns from `at` on.
#[inline(always)]
fn raise<T: Real, const N: usize>(
    before: &[T],
    steps: &[T],
    width: usize,
    at: usize,
    here: &mut [T],
) -> usize {
    let mut most = [[T::from_f64(f64::NEG_INFINITY); LANES]; N];
    for (&b, row) in before.iter().zip(steps.chunks_exact(width)) {
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
