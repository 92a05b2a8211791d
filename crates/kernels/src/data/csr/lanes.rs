//! Products of one sparse row with several columns of weights, in lanes that stay in registers.
//!
//! `w` is feature-major with `k` scores and at least `n_cols * k` entries, which callers assert. A product
//! that meets a column outside the matrix is NaN; additions pass over such a column.
#![allow(unsafe_code)]

use super::place;
use crate::data::rows::{LANES, axpy_lanes};
use crate::real::Real;

/// Columns and values of a row, and the number of columns of the matrix.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, T> {
    pub columns: &'a [i32],
    pub values: &'a [T],
    pub n_cols: usize,
}

/// Scores `done .. done + N * LANES` of one row, kept in registers.
#[inline(always)]
pub(super) fn dot_block<T: Real, A: Real, const FMA: bool, const N: usize>(
    row: Row<'_, T>,
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [A],
) -> usize {
    let mut acc = [[A::ZERO; LANES]; N];
    let mut inside = true;
    for (&c, &v) in row.columns.iter().zip(row.values) {
        let c = place(c);
        if c >= row.n_cols {
            inside = false;
            continue;
        }
        let at = c * k + done;
        // SAFETY: c < n_cols, done + N * LANES <= k and w.len() >= n_cols * k.
        let w = unsafe { w.get_unchecked(at..at + N * LANES) };
        axpy_lanes::<T, A, FMA, N>(&mut acc, v, w);
    }
    for (out, lane) in out.chunks_exact_mut(LANES).zip(&acc) {
        out.copy_from_slice(lane);
    }
    if !inside {
        out[..N * LANES].fill(A::NAN);
    }
    N * LANES
}

/// The last scores of one row, fewer than a lane.
#[inline(always)]
pub(super) fn dot_tail<T: Real, A: Real, const FMA: bool>(
    row: Row<'_, T>,
    w: &[T],
    k: usize,
    done: usize,
    out: &mut [A],
) -> usize {
    let n = out.len();
    let mut acc = [A::ZERO; LANES];
    for (&c, &v) in row.columns.iter().zip(row.values) {
        let c = place(c);
        if c >= row.n_cols {
            acc.fill(A::NAN);
            continue;
        }
        let at = c * k + done;
        // SAFETY: c < n_cols, done + n == k and w.len() >= n_cols * k.
        let w = unsafe { w.get_unchecked(at..at + n) };
        let v: A = v.cast();
        for (a, &w) in acc.iter_mut().zip(w) {
            *a = v.fma::<FMA>(w.cast(), *a);
        }
    }
    out.copy_from_slice(&acc[..n]);
    n
}

/// W += x a' for scores `done .. done + N * LANES`, with `a` kept in registers.
#[inline(always)]
pub(super) fn add_block<T: Real, A: Real, const FMA: bool, const N: usize>(
    row: Row<'_, T>,
    a: &[A],
    k: usize,
    done: usize,
    w: &mut [A],
) -> usize {
    let mut lanes = [[A::ZERO; LANES]; N];
    for (lane, a) in lanes.iter_mut().zip(a.chunks_exact(LANES)) {
        lane.copy_from_slice(a);
    }
    for (&c, &v) in row.columns.iter().zip(row.values) {
        let c = place(c);
        if c >= row.n_cols {
            continue;
        }
        let at = c * k + done;
        // SAFETY: c < n_cols, done + N * LANES <= k and w.len() >= n_cols * k.
        let w = unsafe { w.get_unchecked_mut(at..at + N * LANES) };
        let v: A = v.cast();
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
pub(super) fn add_tail<T: Real, A: Real, const FMA: bool>(
    row: Row<'_, T>,
    a: &[A],
    k: usize,
    done: usize,
    w: &mut [A],
) -> usize {
    for (&c, &v) in row.columns.iter().zip(row.values) {
        let c = place(c);
        if c >= row.n_cols {
            continue;
        }
        let at = c * k + done;
        // SAFETY: c < n_cols, done + a.len() == k and w.len() >= n_cols * k.
        let w = unsafe { w.get_unchecked_mut(at..at + a.len()) };
        let v: A = v.cast();
        for (w, &a) in w.iter_mut().zip(a) {
            *w = v.fma::<FMA>(a, *w);
        }
    }
    a.len()
}
