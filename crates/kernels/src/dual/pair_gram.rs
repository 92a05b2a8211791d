//! Inner products of the rows of two classes, for all pairs of classes at once.
//!
//! Problem: with K classes of a few rows each, all pairs are K (K - 1) / 2 small problems on the same rows,
//! each row in K - 1 of them. What a dual method needs of two rows, <x_i, x_j>, is the same wherever they
//! meet: it is summed once per pair of rows, for a class against all classes from its own on, and a visit of a
//! row then costs one look and, when its dual moves, one addition of a short vector.
//! Invariant: `strip` returns <x_r, x_s> of the rows in the order of their classes, in `f64`; the sums over
//! dense columns are made in the precision of the data, as the products with weights are.
//! Source: an inverted index (row by row, feature by feature, the rows that share it); features that many rows
//! share are kept as dense columns, where additions run in lanes.

use std::ops::Range;

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::dual::binary;
use crate::error::{KernelError, filled, zeros};
use crate::real::Real;
use crate::simd::{Gather, Task, dispatch};

/// A column is kept dense when at least one row out of so many has it.
const DENSE: usize = 16;
/// Rows whose products with dense columns are summed together: their part of all dense columns stays in the
/// cache.
const TILE: usize = 256;

/// The rows of a matrix in the order of their classes.
#[derive(Debug, Clone)]
pub struct ByClass {
    /// Rows, class after class, each in the order of the matrix.
    pub rows: Vec<u32>,
    /// Where each class begins in `rows`, and the end.
    pub starts: Vec<usize>,
}

impl ByClass {
    /// Sort the rows with `active[i]` by their classes, all below `n_classes`.
    pub fn new(classes: &[usize], n_classes: usize, active: impl Fn(usize) -> bool) -> Self {
        let mut starts = vec![0; n_classes + 1];
        let kept: Vec<usize> = (0..classes.len()).filter(|&i| active(i)).collect();
        for &i in &kept {
            starts[classes[i] + 1] += 1;
        }
        for k in 0..n_classes {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; kept.len()];
        for i in kept {
            rows[next[classes[i]]] = i as u32;
            next[classes[i]] += 1;
        }
        Self { rows, starts }
    }

    /// The places of class `k` in `rows`.
    pub fn range(&self, k: usize) -> Range<usize> {
        self.starts[k]..self.starts[k + 1]
    }

    /// The rows of class `k`.
    pub fn class(&self, k: usize) -> &[u32] {
        &self.rows[self.range(k)]
    }
}

/// The columns of a sparse matrix whose rows are sorted by class.
#[derive(Debug)]
pub struct Postings<'a, T> {
    x: &'a Csr<'a, T>,
    by_class: &'a ByClass,
    /// For each column its place among the dense ones, or none.
    dense_of: Vec<u32>,
    n_dense: usize,
    /// Dense columns, cut into tiles of rows: a tile holds `TILE` values of each column.
    dense: Vec<T>,
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<T>,
}

const NONE: u32 = u32::MAX;

/// How many of the rows have each column.
fn frequencies<T: Gather>(x: &Csr<'_, T>, rows: &[u32]) -> Result<Vec<usize>, KernelError> {
    let mut counts = filled(0usize, x.n_cols())?;
    for &i in rows {
        for &c in x.row(i as usize).0 {
            match usize::try_from(c).ok().and_then(|c| counts.get_mut(c)) {
                Some(count) => *count += 1,
                None => return Err(changed(x, i as usize)),
            }
        }
    }
    Ok(counts)
}

fn changed<T: Gather>(x: &Csr<'_, T>, i: usize) -> KernelError {
    x.fault(i).unwrap_or_else(|| KernelError::Argument("the rows changed while they were read".into()))
}

/// Additions that the products of all rows with all rows from their class on take, in lanes where dense.
pub fn cost<T: Gather>(x: &Csr<'_, T>, by_class: &ByClass) -> Result<usize, KernelError> {
    let n = by_class.rows.len();
    let counts = frequencies(x, &by_class.rows)?;
    Ok(counts.iter().map(|&count| count * count.min(n / DENSE + 1)).sum::<usize>() / 2)
}

impl<'a, T: Gather> Postings<'a, T> {
    /// Sort the values of `x` by column.
    pub fn new(x: &'a Csr<'a, T>, by_class: &'a ByClass) -> Result<Self, KernelError> {
        let n = by_class.rows.len();
        let counts = frequencies(x, &by_class.rows)?;
        let mut n_dense = 0usize;
        let mut dense_of = filled(NONE, counts.len())?;
        let mut starts = filled(0usize, counts.len() + 1)?;
        for (c, &count) in counts.iter().enumerate() {
            let heavy = count * DENSE >= n && count > 0;
            if heavy {
                dense_of[c] = n_dense as u32;
                n_dense += 1;
            }
            starts[c + 1] = starts[c] + if heavy { 0 } else { count };
        }
        let mut next = starts.clone();
        let light = starts[counts.len()];
        let (mut places, mut values) = (filled(0u32, light)?, zeros(light)?);
        let mut dense = zeros(n_dense.saturating_mul(n.next_multiple_of(TILE)))?;
        for (place, &i) in by_class.rows.iter().enumerate() {
            let (columns, stored) = x.row(i as usize);
            for (&c, &v) in columns.iter().zip(stored) {
                let c = usize::try_from(c).map_err(|_| changed(x, i as usize))?;
                let Some(&column) = dense_of.get(c) else { return Err(changed(x, i as usize)) };
                if column != NONE {
                    dense[(place / TILE * n_dense + column as usize) * TILE + place % TILE] += v;
                } else if next[c] < starts[c + 1] {
                    (places[next[c]], values[next[c]]) = (place as u32, v);
                    next[c] += 1;
                } else {
                    return Err(changed(x, i as usize));
                }
            }
        }
        Ok(Self { x, by_class, dense_of, n_dense, dense, starts, places, values })
    }

    /// out[s - first] += v x_sc for the rows s from `first` on that have the column c.
    #[inline(always)]
    fn add_light(&self, c: usize, v: T, first: usize, out: &mut [f64]) {
        let list = self.starts[c]..self.starts[c + 1];
        let places = &self.places[list.clone()];
        let begin = places.partition_point(|&s| (s as usize) < first);
        let v = v.to_f64();
        for (&s, &u) in places[begin..].iter().zip(&self.values[list][begin..]) {
            match out.get_mut(s as usize - first) {
                Some(sum) => *sum += v * u.to_f64(),
                None => break,
            }
        }
    }

    /// <x_r, x_s> for the rows r of `block` and the rows s from its start to `end`, row after row.
    pub fn strip(&self, block: Range<usize>, end: usize) -> Vec<f64> {
        let width = end - block.start;
        let mut out = vec![0.0; block.len() * width];
        if width > 0 {
            dispatch(Strip { postings: self, block, end, out: &mut out });
        }
        out
    }
}

struct Strip<'a, T> {
    postings: &'a Postings<'a, T>,
    block: Range<usize>,
    end: usize,
    out: &'a mut [f64],
}

impl<T: Gather> Task for Strip<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let p = self.postings;
        let (first, width) = (self.block.start, self.end - self.block.start);
        // The dense part of each row: where its columns begin in a tile, and their values.
        let (mut heavy, mut ends) = (Vec::new(), Vec::with_capacity(self.block.len()));
        for (r, out) in self.block.clone().zip(self.out.chunks_exact_mut(width)) {
            let (columns, stored) = p.x.row(p.by_class.rows[r] as usize);
            for (&c, &v) in columns.iter().zip(stored) {
                match usize::try_from(c).ok().and_then(|c| p.dense_of.get(c)) {
                    Some(&NONE) => p.add_light(c as usize, v, first, out),
                    Some(&column) => heavy.push((column as usize * TILE, v)),
                    None => {}
                }
            }
            ends.push(heavy.len());
        }
        // On the heap: the compiler takes an array apart into single numbers.
        #[allow(clippy::useless_vec)]
        let mut sums = vec![T::ZERO; TILE];
        for tile in first / TILE..self.end.div_ceil(TILE) {
            let dense = &p.dense[tile * p.n_dense * TILE..(tile + 1) * p.n_dense * TILE];
            // Lanes of the tile that are in the strip.
            let lanes = first.max(tile * TILE)..self.end.min((tile + 1) * TILE);
            let mut begin = 0;
            for (&end, out) in ends.iter().zip(self.out.chunks_exact_mut(width)) {
                sums.fill(T::ZERO);
                for &(from, v) in &heavy[begin..end] {
                    for (sum, &u) in sums.iter_mut().zip(&dense[from..from + TILE]) {
                        *sum = v.fma::<FMA>(u, *sum);
                    }
                }
                begin = end;
                let sums = &sums[lanes.start - tile * TILE..lanes.end - tile * TILE];
                for (out, sum) in out[lanes.start - first..lanes.end - first].iter_mut().zip(sums) {
                    *out += sum.to_f64();
                }
            }
        }
    }
}

/// The inner products of the rows of one problem, in the place of the rows: see [`binary::DualRows`].
#[derive(Debug, Clone, Default)]
pub struct PairGram {
    values: Vec<f64>,
    n: usize,
}

impl PairGram {
    /// Take the rows of two classes from their strips: `own` holds the products of the first class
    /// with itself and, from `offset` on, with the second; `other` begins with those of the second class.
    /// Neither class is empty.
    pub fn fill(&mut self, own: &[f64], n_own: usize, offset: usize, other: &[f64], n_other: usize) {
        let n = n_own + n_other;
        self.n = n;
        self.values.resize(n * n, 0.0);
        let (above, below) = self.values.split_at_mut(n_own * n);
        for (row, strip) in above.chunks_exact_mut(n.max(1)).zip(own.chunks(own.len() / n_own.max(1))) {
            row[..n_own].copy_from_slice(&strip[..n_own]);
            row[n_own..].copy_from_slice(&strip[offset..offset + n_other]);
        }
        let strips = other.chunks(other.len() / n_other.max(1));
        for (s, (row, strip)) in below.chunks_exact_mut(n.max(1)).zip(strips).enumerate() {
            for (r, value) in row[..n_own].iter_mut().enumerate() {
                *value = above[r * n + n_own + s];
            }
            row[n_own..].copy_from_slice(&strip[..n_other]);
        }
    }
}

impl binary::DualRows<f64> for PairGram {
    const SHARED: bool = false;

    fn n_rows(&self) -> usize {
        self.n
    }

    fn n_cols(&self) -> usize {
        self.n
    }

    fn n_stored(&self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn prefetch(&self, _i: usize) {}

    fn squared_norm(&self, i: usize) -> f64 {
        self.values[i * self.n + i]
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[f64]) -> f64 {
        w[i]
    }

    fn double_dot(&self, i: usize, w: &[f64]) -> f64 {
        w[i]
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: f64, w: &mut [f64]) {
        for (w, &g) in w.iter_mut().zip(&self.values[i * self.n..(i + 1) * self.n]) {
            *w = a.fma::<FMA>(g, *w);
        }
    }

    fn squared_weights(&self, weights: &[f64], signs: &[f64], duals: &[f64]) -> f64 {
        weights.iter().zip(signs).zip(duals).map(|((s, y), a)| s * y * a).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{ByClass, PairGram, Postings};
    use crate::data::csr::OwnedCsr;
    use crate::dual::binary::DualRows;
    use crate::random::Random;

    /// Rows of whom every one has the first column, and a few others each.
    fn example(n: usize) -> (OwnedCsr<f64>, Vec<Vec<f64>>, Vec<usize>) {
        let d = 40;
        let mut random = Random::new(7);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut dense = vec![vec![0.0; d]; n];
        for row in &mut dense {
            for (c, cell) in row.iter_mut().enumerate() {
                if c == 0 || random.below(30) < 2 {
                    let v = 1.0 + random.below(5) as f64;
                    *cell = v;
                    columns.push(c as i32);
                    values.push(v);
                }
            }
            starts.push(columns.len());
        }
        let classes = (0..n).map(|_| random.below(3)).collect();
        (OwnedCsr::new(&starts, &columns, &values, d).unwrap(), dense, classes)
    }

    #[test]
    fn strips_hold_the_inner_products() {
        let (x, dense, classes) = example(90);
        let rows = x.rows();
        let by_class = ByClass::new(&classes, 3, |i| i != 4);
        let postings = Postings::new(&rows, &by_class).unwrap();
        let n = by_class.rows.len();
        assert_eq!(n, 89);
        let product = |r: u32, s: u32| -> f64 {
            dense[r as usize].iter().zip(&dense[s as usize]).map(|(a, b)| a * b).sum()
        };
        for k in 0..3 {
            let block = by_class.range(k);
            let strip = postings.strip(block.clone(), n);
            let width = n - block.start;
            for (at, value) in strip.iter().enumerate() {
                let (r, s) = (block.start + at / width, block.start + at % width);
                assert_eq!(*value, product(by_class.rows[r], by_class.rows[s]));
            }
        }
        let (own, other) =
            (postings.strip(by_class.range(0), n), postings.strip(by_class.range(2), by_class.starts[3]));
        let (first, second) = (by_class.class(0), by_class.class(2));
        let mut gram = PairGram::default();
        gram.fill(&own, first.len(), by_class.starts[2], &other, second.len());
        let both: Vec<u32> = first.iter().chain(second).copied().collect();
        for (r, &i) in both.iter().enumerate() {
            let mut scores = vec![0.0; both.len()];
            gram.add_to::<false>(r, 1.0, &mut scores);
            for (s, &j) in both.iter().enumerate() {
                assert_eq!(gram.dot::<false>(s, &scores), product(i, j));
            }
        }
    }
}
