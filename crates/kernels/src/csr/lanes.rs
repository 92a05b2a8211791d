//! Products of one sparse row with several columns of weights, in lanes that stay in registers.
//!
//! `row` is (columns, values), `w` feature-major with `k` scores; callers have checked that
//! `w.len() >= n_cols * k` for a bound `n_cols` of the columns.

use crate::real::Real;
use crate::rows::{LANES, axpy_lanes};

/// Scores `done .. done + N * LANES` of one row, kept in registers.
#[inline(always)]
pub(super) fn dot_block<T: Real, const FMA: bool, const N: usize>(
    (cols, vals): (&[u32], &[T]),
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [T],
) -> usize {
    let mut acc = [[T::ZERO; LANES]; N];
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + N * LANES <= k.
        let w = unsafe { w.get_unchecked(at..at + N * LANES) };
        axpy_lanes::<T, FMA, N>(&mut acc, v, w);
    }
    for (out, lane) in out.chunks_exact_mut(LANES).zip(&acc) {
        out.copy_from_slice(lane);
    }
    N * LANES
}

/// The last scores of one row, fewer than a lane.
#[inline(always)]
pub(super) fn dot_tail<T: Real, const FMA: bool>(
    (cols, vals): (&[u32], &[T]),
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [T],
) -> usize {
    let n = out.len();
    let mut acc = [T::ZERO; LANES];
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + n == k.
        let w = unsafe { w.get_unchecked(at..at + n) };
        for (a, &w) in acc.iter_mut().zip(w) {
            *a = v.fma::<FMA>(w, *a);
        }
    }
    out.copy_from_slice(&acc[..n]);
    n
}

/// W += x a' for scores `done .. done + N * LANES`, with `a` kept in registers.
#[inline(always)]
pub(super) fn add_block<T: Real, const FMA: bool, const N: usize>(
    (cols, vals): (&[u32], &[T]),
    a: &[T],
    k: usize,
    done: usize,
    w: &mut [T],
) -> usize {
    let mut lanes = [[T::ZERO; LANES]; N];
    for (lane, a) in lanes.iter_mut().zip(a.chunks_exact(LANES)) {
        lane.copy_from_slice(a);
    }
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + N * LANES <= k.
        let w = unsafe { w.get_unchecked_mut(at..at + N * LANES) };
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
    (cols, vals): (&[u32], &[T]),
    a: &[T],
    k: usize,
    done: usize,
    w: &mut [T],
) -> usize {
    for (&c, &v) in cols.iter().zip(vals) {
        let at = c as usize * k + done;
        // SAFETY: the caller asserted w.len() >= n_cols * k, and done + a.len() == k.
        let w = unsafe { w.get_unchecked_mut(at..at + a.len()) };
        for (w, &a) in w.iter_mut().zip(a) {
            *w = v.fma::<FMA>(a, *w);
        }
    }
    a.len()
}
