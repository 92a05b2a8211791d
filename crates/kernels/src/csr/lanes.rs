//! Products of one sparse row with several columns of weights, in lanes that stay in registers.
//!
//! A row is (columns, values), `w` feature-major with `k` scores. A product that meets a column outside `w` is
//! NaN; additions pass over such a column.

use super::place;
use crate::real::Real;
use crate::rows::{LANES, axpy_lanes};

/// `width` weights of a column, from score `done` on.
#[inline(always)]
fn range(column: i32, k: usize, done: usize, width: usize) -> std::ops::Range<usize> {
    let at = place(column).saturating_mul(k).saturating_add(done);
    at..at.saturating_add(width)
}

/// Scores `done .. done + N * LANES` of one row, kept in registers.
#[inline(always)]
pub(super) fn dot_block<T: Real, const FMA: bool, const N: usize>(
    (columns, values): (&[i32], &[T]),
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [T],
) -> usize {
    let mut acc = [[T::ZERO; LANES]; N];
    let mut inside = true;
    for (&c, &v) in columns.iter().zip(values) {
        match w.get(range(c, k, done, N * LANES)) {
            Some(w) => axpy_lanes::<T, FMA, N>(&mut acc, v, w),
            None => inside = false,
        }
    }
    for (out, lane) in out.chunks_exact_mut(LANES).zip(&acc) {
        out.copy_from_slice(lane);
    }
    if !inside {
        out[..N * LANES].fill(T::NAN);
    }
    N * LANES
}

/// The last scores of one row, fewer than a lane.
#[inline(always)]
pub(super) fn dot_tail<T: Real, const FMA: bool>(
    (columns, values): (&[i32], &[T]),
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [T],
) -> usize {
    let n = out.len();
    let mut acc = [T::ZERO; LANES];
    for (&c, &v) in columns.iter().zip(values) {
        match w.get(range(c, k, done, n)) {
            Some(w) => {
                for (a, &w) in acc.iter_mut().zip(w) {
                    *a = v.fma::<FMA>(w, *a);
                }
            }
            None => acc.fill(T::NAN),
        }
    }
    out.copy_from_slice(&acc[..n]);
    n
}

/// W += x a' for scores `done .. done + N * LANES`, with `a` kept in registers.
#[inline(always)]
pub(super) fn add_block<T: Real, const FMA: bool, const N: usize>(
    (columns, values): (&[i32], &[T]),
    a: &[T],
    k: usize,
    done: usize,
    w: &mut [T],
) -> usize {
    let mut lanes = [[T::ZERO; LANES]; N];
    for (lane, a) in lanes.iter_mut().zip(a.chunks_exact(LANES)) {
        lane.copy_from_slice(a);
    }
    for (&c, &v) in columns.iter().zip(values) {
        let Some(w) = w.get_mut(range(c, k, done, N * LANES)) else { continue };
        for (w, lane) in w.chunks_exact_mut(LANES).zip(&lanes) {
            for (w, &a) in w.iter_mut().zip(lane) {
                *w = v.fma::<FMA>(a, *w);
            }
        }
    }
    N * LANES
}

/// W += x a' for the last scores, fewer than a lane.
#[inline(always)]
pub(super) fn add_tail<T: Real, const FMA: bool>(
    (columns, values): (&[i32], &[T]),
    a: &[T],
    k: usize,
    done: usize,
    w: &mut [T],
) -> usize {
    for (&c, &v) in columns.iter().zip(values) {
        let Some(w) = w.get_mut(range(c, k, done, a.len())) else { continue };
        for (w, &a) in w.iter_mut().zip(a) {
            *w = v.fma::<FMA>(a, *w);
        }
    }
    a.len()
}
