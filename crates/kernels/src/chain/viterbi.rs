//! The best labelling of a first-order chain: the fast form of [`crate::chain::best`].
//!
//! Viterbi (1967), rows of scores padded to vectors; the way back is found again by looking, for the label of a token,
//! at all labels before it. At a tie the first label wins or, with a labelling to avoid, the first that is not
//! in it: then the result is that labelling only where no other is as good.
//!
//! Where labels are many, those that cannot be the best source of any label are passed over: what they reach at most is
//! less than what the best label reaches at least.

use crate::chain::encoded::LANES;
use crate::real::Real;

/// Labels from which on it pays to look for sources that may matter.
const MANY: usize = 48;

/// Scores of the transitions, by source and by target, rows padded with minus infinity.
#[derive(Debug, Clone)]
pub struct Steps<T> {
    k: usize,
    width: usize,
    by_source: Vec<T>,
    by_target: Vec<T>,
    /// Bounds of the scores after every source: none is higher, none is lower.
    highest: Vec<T>,
    lowest: Vec<T>,
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
            highest: vec![never; k],
            lowest: vec![T::from_f64(f64::INFINITY); k],
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

    /// The labels, in order, that may be the best source of some label after the scores `before`.
    #[inline(always)]
    fn find_sources(&self, before: &[T], sources: &mut Vec<usize>) {
        let (mut top, mut floor) = (T::from_f64(f64::NEG_INFINITY), T::from_f64(f64::NEG_INFINITY));
        for (&score, &lowest) in before.iter().zip(&self.lowest) {
            if score > top {
                (top, floor) = (score, score + lowest);
            }
        }
        sources.clear();
        let reach = before.iter().zip(&self.highest).map(|(&score, &highest)| score + highest);
        sources.extend(reach.enumerate().filter(|(_, reach)| *reach >= floor).map(|(i, _)| i));
    }

    /// Change the score of `to` after `from`.
    #[inline(always)]
    pub fn set(&mut self, from: usize, to: usize, score: T) {
        self.by_source[from * self.width + to] = score;
        self.by_target[to * self.width + from] = score;
        self.highest[from] = self.highest[from].max(score);
        self.lowest[from] = self.lowest[from].min(score);
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
        let before = &before[(t - 1) * width..][..k];
        if k >= MANY {
            steps.find_sources(before, &mut sources);
            if sources.len() * 2 < k {
                let mut done = 0;
                while done < width {
                    let rest = &mut here[done..width];
                    let rows = sources.iter().map(|&i| (before[i], &steps.by_source[i * width..][..width]));
                    done += match rest.len() / LANES {
                        1 => raise::<T, 1>(rows, done, rest),
                        2 => raise::<T, 2>(rows, done, rest),
                        3 => raise::<T, 3>(rows, done, rest),
                        _ => raise::<T, 4>(rows, done, rest),
                    };
                }
                continue;
            }
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
