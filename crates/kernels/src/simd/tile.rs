//! Small dense products that stay in registers: the two halves of a dense pass.
//!
//! A block of rows is multiplied by all weights (scores) and by all residuals (gradient) while it is
//! in cache. Scores and residuals of a block are score-major, `z[c * BLOCK + i]`, so that losses run
//! over rows in vectors; weights and gradients are score-major too, `w[c * d + j]`.

use crate::real::Real;
use crate::simd::{Lanes, Packed, prefetch_outer};

/// Rows of a block.
pub(crate) const BLOCK: usize = 64;
/// Values of a pack at most.
const LANES: usize = 16;

/// Score-major from feature-major (or row-major) `values` of `k` scores.
pub(crate) fn turn<T: Real>(values: &[T], k: usize) -> Vec<T> {
    let d = values.len() / k.max(1);
    let mut turned = vec![T::ZERO; values.len()];
    for (j, row) in values.chunks_exact(k.max(1)).enumerate() {
        for (c, &v) in row.iter().enumerate() {
            turned[c * d + j] = v;
        }
    }
    turned
}

/// Feature-major from score-major `values` of `k` scores.
pub(crate) fn turn_back<T: Real>(values: &[T], k: usize) -> Vec<T> {
    turn(values, values.len() / k.max(1))
}

/// Residuals of a block, given row by row, into the score-major `z`, padded with zeros.
#[inline(always)]
pub(crate) fn from_rows<T: Real>(rows: &[T], k: usize, z: &mut [T]) {
    let n = rows.len() / k;
    for (c, z) in z.chunks_exact_mut(BLOCK).enumerate() {
        for (z, row) in z.iter_mut().zip(rows.chunks_exact(k)) {
            *z = row[c];
        }
        z[n..].fill(T::ZERO);
    }
}

/// Scores of a block, from the score-major `z`, row by row.
#[inline(always)]
pub(crate) fn to_rows<T: Real>(z: &[T], k: usize, rows: &mut [T]) {
    for (i, row) in rows.chunks_exact_mut(k).enumerate() {
        for (o, z) in row.iter_mut().zip(z.chunks_exact(BLOCK)) {
            *o = z[i];
        }
    }
}

/// Size of the next group of scores when `rest` are left: at most `limit`, as even as possible.
#[inline(always)]
fn group(rest: usize, limit: usize) -> usize {
    rest.div_ceil(rest.div_ceil(limit))
}

/// z[c * BLOCK + i] = <x_i, w_c> for the rows of `x` (at most [`BLOCK`], `d` columns each).
///
/// 4 rows x 5 scores fill the registers of AVX-512, 2 x 2 those of AVX2. Every product is summed in
/// the lanes of a pack, then over the lanes, whatever the size of the tile.
#[inline(always)]
pub(crate) fn scores<T: Packed, V: Lanes<T>>(x: &[T], d: usize, w: &[T], k: usize, z: &mut [T]) {
    let limit = if V::MANY { 5 } else { 2 };
    let mut done = 0;
    while done < k {
        let size = group(k - done, limit);
        let (w, z) = (&w[done * d..(done + size) * d], &mut z[done * BLOCK..(done + size) * BLOCK]);
        // Two matches, so that the tiles of other packs are not even instantiated.
        if V::MANY {
            match size {
                1 => score_group::<T, V, 8, 1>(x, d, w, z),
                2 => score_group::<T, V, 4, 2>(x, d, w, z),
                3 => score_group::<T, V, 4, 3>(x, d, w, z),
                4 => score_group::<T, V, 4, 4>(x, d, w, z),
                _ => score_group::<T, V, 4, 5>(x, d, w, z),
            }
        } else {
            match size {
                1 => score_group::<T, V, 4, 1>(x, d, w, z),
                _ => score_group::<T, V, 2, 2>(x, d, w, z),
            }
        }
        done += size;
    }
}

#[inline(always)]
fn score_group<T: Packed, V: Lanes<T>, const R: usize, const C: usize>(
    x: &[T],
    d: usize,
    w: &[T],
    z: &mut [T],
) {
    let rows = x.len().checked_div(d).unwrap_or(0);
    let mut i = 0;
    while i + R <= rows {
        score_tile::<T, V, R, C>(&x[i * d..(i + R) * d], d, w, &mut z[i..]);
        i += R;
    }
    while i < rows {
        score_tile::<T, V, 1, C>(&x[i * d..(i + 1) * d], d, w, &mut z[i..]);
        i += 1;
    }
}

#[inline(always)]
fn score_tile<T: Packed, V: Lanes<T>, const R: usize, const C: usize>(
    x: &[T],
    d: usize,
    w: &[T],
    z: &mut [T],
) {
    let mut acc = [[V::splat(T::ZERO); C]; R];
    let whole = d / V::COUNT * V::COUNT;
    let mut j = 0;
    while j < whole {
        let mut packs = [V::splat(T::ZERO); R];
        for (r, pack) in packs.iter_mut().enumerate() {
            *pack = V::load(x, r * d + j);
        }
        for c in 0..C {
            let weight = V::load(w, c * d + j);
            for (acc, pack) in acc.iter_mut().zip(&packs) {
                acc[c] = pack.fma(weight, acc[c]);
            }
        }
        j += V::COUNT;
    }
    for (r, parts) in spilled::<T, V, R, C>(&acc).into_iter().enumerate() {
        for (c, part) in parts.into_iter().enumerate() {
            let mut sum = fold(part, V::COUNT);
            for j in whole..d {
                sum += x[r * d + j] * w[c * d + j];
            }
            z[c * BLOCK + r] = sum;
        }
    }
}

/// The lanes of all packs, in memory.
///
/// The packs themselves stay in registers only if nothing but loops of known length touches them.
#[inline(always)]
fn spilled<T: Real, V: Lanes<T>, const R: usize, const C: usize>(
    packs: &[[V; C]; R],
) -> [[[T; LANES]; C]; R] {
    let mut parts = [[[T::ZERO; LANES]; C]; R];
    for r in 0..R {
        for c in 0..C {
            packs[r][c].store(&mut parts[r][c]);
        }
    }
    parts
}

/// Sum of the first `count` lanes, in halves.
#[inline(always)]
fn fold<T: Real>(mut part: [T; LANES], count: usize) -> T {
    let mut width = count / 2;
    while width > 0 {
        for l in 0..width {
            part[l] += part[l + width];
        }
        width /= 2;
    }
    part[0]
}

/// g[c * d + j] += sum_i z[c * BLOCK + i] x_ij for the rows of `x`, in `f64`.
///
/// Five scores x four packs of columns fill the registers of AVX-512, two x two those of AVX2. Meanwhile
/// the `next` block comes from memory, which would lie idle while this one is read from cache.
#[inline(always)]
pub(crate) fn gradient<T: Packed, V: Lanes<T>>(
    x: &[T],
    d: usize,
    z: &[T],
    k: usize,
    g: &mut [f64],
    next: &[T],
) {
    let limit = if V::MANY { 5 } else { 2 };
    let mut done = 0;
    while done < k {
        let size = group(k - done, limit);
        let (z, g) = (&z[done * BLOCK..(done + size) * BLOCK], &mut g[done * d..(done + size) * d]);
        let x = Passing { x, next: &next[next.len() * done / k..next.len() * (done + size) / k] };
        if V::MANY {
            match size {
                1 => gradient_group::<T, V, 1, 8>(x, d, z, g),
                2 => gradient_group::<T, V, 2, 8>(x, d, z, g),
                3 => gradient_group::<T, V, 3, 4>(x, d, z, g),
                4 => gradient_group::<T, V, 4, 4>(x, d, z, g),
                _ => gradient_group::<T, V, 5, 4>(x, d, z, g),
            }
        } else {
            match size {
                1 => gradient_group::<T, V, 1, 4>(x, d, z, g),
                _ => gradient_group::<T, V, 2, 2>(x, d, z, g),
            }
        }
        done += size;
    }
}

/// Rows that are read while others, `next`, are asked for.
#[derive(Clone, Copy)]
struct Passing<'a, T> {
    x: &'a [T],
    next: &'a [T],
}

#[inline(always)]
fn gradient_group<T: Packed, V: Lanes<T>, const C: usize, const N: usize>(
    x: Passing<'_, T>,
    d: usize,
    z: &[T],
    g: &mut [f64],
) {
    let Passing { x, next } = x;
    let mut j = 0;
    while j + N * V::COUNT <= d {
        let end = (j + N * V::COUNT).min(d);
        let next = &next[next.len() * j / d..next.len() * end / d];
        gradient_tile::<T, V, C, N>(Passing { x, next }, d, z, g, j);
        j += N * V::COUNT;
    }
    while j + V::COUNT <= d {
        gradient_tile::<T, V, C, 1>(Passing { x, next: &[] }, d, z, g, j);
        j += V::COUNT;
    }
    for j in j..d {
        for c in 0..C {
            let mut sum = T::ZERO;
            for (x, &r) in x.chunks_exact(d).zip(&z[c * BLOCK..(c + 1) * BLOCK]) {
                sum += r * x[j];
            }
            g[c * d + j] += sum.to_f64();
        }
    }
}

/// The gradients of C scores in N packs of columns, summed over the rows in registers.
#[inline(always)]
fn gradient_tile<T: Packed, V: Lanes<T>, const C: usize, const N: usize>(
    x: Passing<'_, T>,
    d: usize,
    z: &[T],
    g: &mut [f64],
    j: usize,
) {
    let mut acc = [[V::splat(T::ZERO); N]; C];
    let share = x.next.len().div_ceil(BLOCK).max(1);
    let mut next = x.next.chunks(share);
    for (i, x) in x.x.chunks_exact(d).enumerate() {
        prefetch_outer(next.next().unwrap_or(&[]));
        let mut packs = [V::splat(T::ZERO); N];
        for (n, pack) in packs.iter_mut().enumerate() {
            *pack = V::load(x, j + n * V::COUNT);
        }
        for (c, acc) in acc.iter_mut().enumerate() {
            let residual = V::splat(z[c * BLOCK + i]);
            for (acc, &pack) in acc.iter_mut().zip(&packs) {
                *acc = residual.fma(pack, *acc);
            }
        }
    }
    for (c, parts) in spilled::<T, V, C, N>(&acc).iter().enumerate() {
        for (n, part) in parts.iter().enumerate() {
            let at = c * d + j + n * V::COUNT;
            for (g, &p) in g[at..at + V::COUNT].iter_mut().zip(part) {
                *g += p.to_f64();
            }
        }
    }
}
