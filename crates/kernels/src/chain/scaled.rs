//! Forward and backward sums of a first-order chain in the scaled domain: the fast form of
//! [`crate::chain::log_domain`].
//!
//! a_t = n_t * (a_{t-1} E) / c_t and b_{t-1} = E (n_t * b_t) / c_t with n_t = exp(node - max), E = exp(edge - max) and
//! c_t such that a_t sums to one; then a_t * b_t are the marginals and log Z = sum_t log c_t + the maxima taken out
//! (Rabiner 1989, V.A). Labels that are forbidden at a token (minus infinity) are exactly zero. Where the edge
//! scores span at most [`range`], no sum can vanish, and a term that underflows is smaller than the
//! sum it belongs to by a factor of e^-50 at least.

use crate::chain::encoded::LANES;
use crate::real::Real;
use crate::simd::exponential::VectorExp;

/// Largest difference between two edge scores for which the scaled domain is safe.
pub(super) fn range<T>() -> f64 {
    if size_of::<T>() < size_of::<f64>() { 30.0 } else { 300.0 }
}

/// exp(edge - max) of all edges, and its transpose, rows padded to vectors.
#[derive(Debug, Clone)]
pub struct Transitions<T> {
    k: usize,
    width: usize,
    forward: Vec<T>,
    backward: Vec<T>,
    most: f64,
}

impl<T: VectorExp> Transitions<T> {
    /// From the scores of the edges, number `to * k + from`; `None` where their range is too large or one is not
    /// finite.
    pub fn new(scores: &[f64], k: usize) -> Option<Self> {
        let width = k.next_multiple_of(LANES);
        let mut it = Self {
            k,
            width,
            forward: vec![T::ZERO; k * width],
            backward: vec![T::ZERO; k * width],
            most: 0.0,
        };
        it.set::<false>(scores).then_some(it)
    }

    /// Take new scores; says whether they are safe.
    #[inline(always)]
    pub fn set<const FMA: bool>(&mut self, scores: &[f64]) -> bool {
        let (k, width) = (self.k, self.width);
        let mut by_source = vec![0.0; k * width];
        for (to, scores) in scores.chunks_exact(k).enumerate() {
            for (from, &score) in scores.iter().enumerate() {
                by_source[from * width + to] = score;
            }
        }
        self.set_by_source::<FMA>(&by_source)
    }

    /// Take new scores in rows by source, padded; says whether they are safe.
    #[inline(always)]
    pub fn set_by_source<const FMA: bool>(&mut self, scores: &[f64]) -> bool {
        let (k, width) = (self.k, self.width);
        let (least, most) = bounds(scores, k, width);
        // A bound that is not a number is not safe.
        let safe = most - least <= range::<T>();
        if !safe {
            return false;
        }
        self.most = most;
        for (x, &score) in self.forward.iter_mut().zip(scores) {
            *x = T::from_f64(score - most).vector_exp::<FMA>();
        }
        for (i, row) in self.forward.chunks_exact_mut(width).enumerate() {
            row[k..].fill(T::ZERO);
            for (x, back) in row[..k].iter().zip(self.backward.chunks_exact_mut(width)) {
                back[i] = *x;
            }
        }
        true
    }

    /// exp(edge - max), rows by source, padded.
    pub fn factors(&self) -> &[T] {
        &self.forward
    }
}

/// Least and largest of the first `k` numbers of all rows; NaN where one is not finite.
#[inline(always)]
fn bounds(scores: &[f64], k: usize, width: usize) -> (f64, f64) {
    let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let mut sum = [0.0; LANES];
    for row in scores.chunks_exact(width) {
        let (chunks, rest) = row[..k].as_chunks::<LANES>();
        for chunk in chunks {
            for l in 0..LANES {
                least[l] = if chunk[l] < least[l] { chunk[l] } else { least[l] };
                most[l] = if chunk[l] > most[l] { chunk[l] } else { most[l] };
                sum[l] += chunk[l];
            }
        }
        for (l, &x) in rest.iter().enumerate() {
            least[l] = if x < least[l] { x } else { least[l] };
            most[l] = if x > most[l] { x } else { most[l] };
            sum[l] += x;
        }
    }
    // Comparisons pass over what is not a number; a sum does not.
    let nothing = 0.0 * sum.iter().sum::<f64>();
    let least = least.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    let most = most.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    (least + nothing, most + nothing)
}

/// Work space of a sequence.
#[derive(Debug, Default)]
pub struct Scaled<T> {
    /// Scores on entry; v_t = n_t * b_t / c_t afterwards. length x width.
    pub nodes: Vec<T>,
    /// a_t, length x width.
    pub alpha: Vec<T>,
    /// Marginals a_t * b_t, length x width.
    pub marginals: Vec<T>,
    inverse: Vec<T>,
}

impl<T: VectorExp> Scaled<T> {
    /// Make room for `length` tokens.
    pub fn resize(&mut self, length: usize, width: usize) {
        let size = length * width;
        if self.nodes.len() < size {
            self.nodes.resize(size, T::ZERO);
            self.alpha.resize(size, T::ZERO);
            self.marginals.resize(size, T::ZERO);
            self.inverse.resize(length, T::ZERO);
        }
    }

    /// Sums of the scores in `nodes`; returns log Z. Every token must have a label that is allowed.
    #[inline(always)]
    pub fn run<const FMA: bool>(&mut self, transitions: &Transitions<T>, length: usize) -> f64 {
        let (k, width) = (transitions.k, transitions.width);
        let mut log_z = transitions.most * length.saturating_sub(1) as f64;
        let mut product = 1f64;
        for t in 0..length {
            let (before, here) = self.alpha.split_at_mut(t * width);
            let here = &mut here[..width];
            let node = &mut self.nodes[t * width..][..width];
            log_z += exponentiate::<T, FMA>(node, k);
            if t == 0 {
                here.copy_from_slice(node);
            } else {
                times::<T, FMA>(&before[(t - 1) * width..][..k], &transitions.forward, width, here);
                for (a, n) in here.as_chunks_mut::<LANES>().0.iter_mut().zip(node.as_chunks::<LANES>().0) {
                    for l in 0..LANES {
                        a[l] *= n[l];
                    }
                }
            }
            let mut sums = [T::ZERO; LANES];
            for chunk in here.as_chunks::<LANES>().0 {
                for l in 0..LANES {
                    sums[l] += chunk[l];
                }
            }
            let sum = total(sums);
            let inverse = T::ONE / sum;
            for a in here.as_chunks_mut::<LANES>().0 {
                for a in a {
                    *a *= inverse;
                }
            }
            self.inverse[t] = inverse;
            product *= sum.to_f64();
            if !(1e-200..1e200).contains(&product) {
                log_z += product.ln();
                product = 1.0;
            }
        }
        if length > 0 {
            self.backward::<FMA>(transitions, length);
        }
        log_z + product.ln()
    }

    #[inline(always)]
    fn backward<const FMA: bool>(&mut self, transitions: &Transitions<T>, length: usize) {
        let (k, width) = (transitions.k, transitions.width);
        let last = (length - 1) * width..length * width;
        // Until its turn, the row of a token in `marginals` holds b_t.
        self.marginals[last.clone()].fill(T::ONE);
        for t in (0..length).rev() {
            let range = t * width..(t + 1) * width;
            let (before, here) = self.marginals.split_at_mut(t * width);
            let (here, node) = (&mut here[..width], &mut self.nodes[range.clone()]);
            let inverse = self.inverse[t];
            let chunks = here.as_chunks_mut::<LANES>().0.iter_mut();
            let nodes = node.as_chunks_mut::<LANES>().0.iter_mut();
            for ((b, n), a) in chunks.zip(nodes).zip(self.alpha[range].as_chunks::<LANES>().0) {
                for l in 0..LANES {
                    n[l] = n[l] * b[l] * inverse;
                    b[l] *= a[l];
                }
            }
            if t > 0 {
                let out = &mut before[(t - 1) * width..][..width];
                times::<T, FMA>(&node[..k], &transitions.backward, width, out);
            }
        }
    }

    /// Add sum_t a_{t-1} v_t' to `sums` (k x width); times exp(edge - max) they are the edge marginals.
    #[inline(always)]
    pub fn add_edges<const FMA: bool>(&self, k: usize, width: usize, length: usize, sums: &mut [T]) {
        if length < 2 {
            return;
        }
        let (a, v) = (&self.alpha[..(length - 1) * width], &self.nodes[width..length * width]);
        let mut done = 0;
        while done < width {
            done += match (width - done) / LANES {
                1 => outer::<T, FMA, 1>(a, v, k, width, done, sums),
                2 => outer::<T, FMA, 2>(a, v, k, width, done, sums),
                3 => outer::<T, FMA, 3>(a, v, k, width, done, sums),
                _ => outer::<T, FMA, 4>(a, v, k, width, done, sums),
            };
        }
    }
}

/// exp(node - max) in place, exactly zero at minus infinity and in the padding; returns the maximum.
#[inline(always)]
pub fn exponentiate<T: VectorExp, const FMA: bool>(node: &mut [T], k: usize) -> f64 {
    let never = T::from_f64(f64::NEG_INFINITY);
    node[k..].fill(never);
    let mut lanes = [never; LANES];
    for chunk in node.as_chunks::<LANES>().0 {
        for l in 0..LANES {
            lanes[l] = if chunk[l] > lanes[l] { chunk[l] } else { lanes[l] };
        }
    }
    let most = pairwise(lanes, |a, b| if a > b { a } else { b });
    // Whole vectors at a time: the compiler takes a loop over so few numbers one by one.
    for chunk in node.as_chunks_mut::<LANES>().0 {
        for x in chunk {
            let below = *x - most;
            let value = below.vector_exp::<FMA>();
            *x = if below > never { value } else { T::ZERO };
        }
    }
    most.to_f64()
}

/// The sum of a vector.
#[inline(always)]
pub fn total<T: Real>(lanes: [T; LANES]) -> T {
    pairwise(lanes, |a, b| a + b)
}

/// Fold a vector by halves, which takes three steps in a row and not seven.
#[inline(always)]
fn pairwise<T: Real>(x: [T; LANES], f: impl Fn(T, T) -> T) -> T {
    let four = [f(x[0], x[4]), f(x[1], x[5]), f(x[2], x[6]), f(x[3], x[7])];
    f(f(four[0], four[2]), f(four[1], four[3]))
}

/// out = x M for a vector of k numbers and a matrix of k rows.
#[inline(always)]
fn times<T: Real, const FMA: bool>(x: &[T], m: &[T], width: usize, out: &mut [T]) {
    let mut done = 0;
    while done < width {
        let rest = &mut out[done..];
        done += match rest.len() / LANES {
            1 => times_block::<T, FMA, 1>(x, m, width, done, rest),
            2 => times_block::<T, FMA, 2>(x, m, width, done, rest),
            3 => times_block::<T, FMA, 3>(x, m, width, done, rest),
            _ => times_block::<T, FMA, 4>(x, m, width, done, rest),
        };
    }
}

#[inline(always)]
fn add_row<T: Real, const FMA: bool, const N: usize>(sums: &mut [[T; LANES]; N], x: T, row: &[T]) {
    for (sum, m) in sums.iter_mut().zip(row[..N * LANES].as_chunks::<LANES>().0) {
        for l in 0..LANES {
            sum[l] = x.fma::<FMA>(m[l], sum[l]);
        }
    }
}

#[inline(always)]
fn times_block<T: Real, const FMA: bool, const N: usize>(
    x: &[T],
    m: &[T],
    width: usize,
    at: usize,
    out: &mut [T],
) -> usize {
    // Two sums per column, so that additions need not wait for each other.
    let mut even = [[T::ZERO; LANES]; N];
    let mut odd = [[T::ZERO; LANES]; N];
    let (pairs, last) = x.as_chunks::<2>();
    for (pair, rows) in pairs.iter().zip(m.chunks_exact(2 * width)) {
        let (first, second) = rows.split_at(width);
        add_row::<T, FMA, N>(&mut even, pair[0], &first[at..]);
        add_row::<T, FMA, N>(&mut odd, pair[1], &second[at..]);
    }
    if let Some(&x0) = last.first() {
        add_row::<T, FMA, N>(&mut even, x0, &m[(x.len() - 1) * width + at..]);
    }
    for ((out, a), b) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(&even).zip(&odd) {
        for l in 0..LANES {
            out[l] = a[l] + b[l];
        }
    }
    N * LANES
}

#[inline(always)]
fn outer<T: Real, const FMA: bool, const N: usize>(
    a: &[T],
    v: &[T],
    k: usize,
    width: usize,
    at: usize,
    sums: &mut [T],
) -> usize {
    let mut i = 0;
    while i + 2 <= k {
        let mut first = [[T::ZERO; LANES]; N];
        let mut second = [[T::ZERO; LANES]; N];
        for (a, v) in a.chunks_exact(width).zip(v.chunks_exact(width)) {
            let (x, y) = (a[i], a[i + 1]);
            let v = v[at..at + N * LANES].as_chunks::<LANES>().0;
            for n in 0..N {
                for l in 0..LANES {
                    first[n][l] = x.fma::<FMA>(v[n][l], first[n][l]);
                    second[n][l] = y.fma::<FMA>(v[n][l], second[n][l]);
                }
            }
        }
        add_to(&first, &mut sums[i * width + at..]);
        add_to(&second, &mut sums[(i + 1) * width + at..]);
        i += 2;
    }
    if i < k {
        let mut only = [[T::ZERO; LANES]; N];
        for (a, v) in a.chunks_exact(width).zip(v.chunks_exact(width)) {
            let v = v[at..at + N * LANES].as_chunks::<LANES>().0;
            for n in 0..N {
                for l in 0..LANES {
                    only[n][l] = a[i].fma::<FMA>(v[n][l], only[n][l]);
                }
            }
        }
        add_to(&only, &mut sums[i * width + at..]);
    }
    N * LANES
}

#[inline(always)]
fn add_to<T: Real, const N: usize>(more: &[[T; LANES]; N], sums: &mut [T]) {
    for (sum, more) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(more) {
        for l in 0..LANES {
            sum[l] += more[l];
        }
    }
}
