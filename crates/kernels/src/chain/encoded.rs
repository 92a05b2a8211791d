//! The attributes of all tokens as streams that a pass reads from front to back.
//!
//! An attribute with many labels has a row of weights, one per label, padded to whole vectors; one with few
//! labels has a weight per label. A token names the rows, and the (weight, label) pairs, that it adds up.
//! Weights lie row after row, then one by one. Attributes that were merged share their weights: the stream
//! names them once, and the weight is the sum of theirs (see [`crate::chain::observed::same_columns`]). Values are kept
//! only where some are neither zero nor one.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::chain::batch::check_offsets;
use crate::chain::layout::{Layout, Place};
use crate::chain::observed::{Pattern, by_appearance, same_columns};
use crate::chain::pairs::{Pair, Pairs, Spot, Stream};
use crate::data::csr::Csr;
use crate::data::rows::{Rows, sum_of_squares};
use crate::error::KernelError;
use crate::real::Real;
use crate::simd::{Gather, prefetch_outer};

/// Labels are padded to a multiple of this.
pub const LANES: usize = 8;
/// More labels than this are for other models: a chain of them has the square as many edges.
pub const MOST_LABELS: usize = 1 << 12;

/// Training data of a chain.
#[derive(Debug)]
pub struct Encoded<T> {
    n_labels: usize,
    width: usize,
    offsets: Vec<usize>,
    row_starts: Vec<usize>,
    /// Shared with the same data in another precision.
    rows: Arc<Vec<u32>>,
    row_values: Vec<T>,
    n_rows: usize,
    /// How many attributes share each weight of the rows.
    row_shares: Vec<u16>,
    spots: Stream<Spot, T>,
    edge_pairs: Option<Pairs<T>>,
    n_edge_weights: usize,
    /// How many attributes share each weight; zero for padding and for labels that were not observed.
    pub(super) multiplicity: Vec<f32>,
    /// Where the weight of every (attribute, label) of the pattern stands.
    positions: Vec<u32>,
    /// The weights that there are: those with a multiplicity.
    pub(super) used: Vec<u32>,
    /// |x_t|^2 of every token.
    norms: Vec<f32>,
    /// Room for sums over the weights, kept from one pass to the next.
    pub(super) spare: Mutex<Vec<Vec<T>>>,
}

impl<T: Gather> Encoded<T> {
    /// Encode the tokens of `x`; sequence i has the tokens `offsets[i]..offsets[i + 1]`.
    pub fn new(
        x: &Csr<'_, T>,
        offsets: Vec<usize>,
        pattern: &Pattern,
        n_labels: usize,
        merge: bool,
    ) -> Result<Self, KernelError> {
        let n = check_offsets(&offsets, x.n_rows())?;
        if n_labels > MOST_LABELS {
            return Err(KernelError::Argument(format!(
                "{n_labels} labels are too many: at most {MOST_LABELS}"
            )));
        }
        if pattern.n_attributes() != x.n_cols() || n_labels == 0 {
            return Err(KernelError::Argument("the pattern and the data differ in their attributes".into()));
        }
        let width = n_labels.next_multiple_of(LANES);
        let mut first = if merge { same_columns(x)? } else { (0..x.n_cols() as u32).collect() };
        // Attributes share their weights only where they have the same ones, and are not too many.
        let mut shares = vec![0u16; first.len()];
        for (a, first) in first.iter_mut().enumerate() {
            let owner = *first as usize;
            if pattern.of(a) != pattern.of(owner) || shares[owner] == u16::MAX {
                *first = a as u32;
            }
            shares[*first as usize] += 1;
        }
        let layout = Layout::new(pattern, &first, &shares, &by_appearance(x), width)?;
        let ones = (0..n).all(|t| x.row(t).1.iter().all(|&v| v == T::ONE || v == T::ZERO));
        let mut encoded = Self {
            n_labels,
            width,
            offsets,
            row_starts: Vec::with_capacity(n + 1),
            rows: Arc::default(),
            row_values: Vec::new(),
            n_rows: layout.n_rows,
            row_shares: layout.multiplicity[..layout.n_rows * width].iter().map(|&m| m as u16).collect(),
            spots: Stream::with_capacity(n),
            edge_pairs: None,
            n_edge_weights: 0,
            used: (0u32..).zip(&layout.multiplicity).filter(|(_, m)| **m > 0.0).map(|(at, _)| at).collect(),
            spare: Mutex::default(),
            multiplicity: layout.multiplicity,
            positions: layout.positions,
            norms: (0..n).map(|t| sum_of_squares(x.row(t).1) as f32).collect(),
        };
        encoded.row_starts.push(0);
        let mut named = Vec::new();
        for t in 0..n {
            let (columns, values) = x.row(t);
            for (&column, &value) in columns.iter().zip(values) {
                let a = column as isize as usize;
                let owner = *first.get(a).ok_or(KernelError::IndexOutOfRange {
                    row: t,
                    index: column.into(),
                    n_cols: x.n_cols(),
                })?;
                // Values of zero, as of `False` in a dict of features, change no score.
                if owner as usize != a || value == T::ZERO {
                    continue;
                }
                match layout.places[a] {
                    Place::Row(row) => {
                        named.push(row);
                        if !ones {
                            encoded.row_values.push(value);
                        }
                    }
                    Place::Weights(weight) => {
                        for (i, &label) in pattern.of(a).iter().enumerate() {
                            let spot =
                                Spot { weight: weight + i as u32, label: label as u16, share: shares[a] };
                            encoded.spots.push(spot, (!ones).then_some(value));
                        }
                    }
                }
            }
            encoded.row_starts.push(named.len());
            encoded.spots.end_token();
        }
        named.shrink_to_fit();
        encoded.rows = Arc::new(named);
        encoded.spots.shrink();
        Ok(encoded)
    }

    /// The same with attributes on edges: the pattern names edges of the graph instead of labels.
    pub fn with_edges(mut self, x: &Csr<'_, T>, pattern: &Pattern) -> Result<Self, KernelError> {
        if x.n_rows() != self.n_tokens() || pattern.n_attributes() != x.n_cols() {
            return Err(KernelError::Argument("the attributes of the edges do not fit the tokens".into()));
        }
        let mut pairs = Pairs::with_capacity(x.n_rows());
        for t in 0..x.n_rows() {
            let (columns, values) = x.row(t);
            for (&column, &value) in columns.iter().zip(values) {
                let a = column as isize as usize;
                if a >= x.n_cols() {
                    return Err(KernelError::IndexOutOfRange {
                        row: t,
                        index: column.into(),
                        n_cols: x.n_cols(),
                    });
                }
                for (i, &label) in pattern.of(a).iter().enumerate() {
                    pairs.push(Pair { weight: (pattern.starts[a] + i) as u32, label }, Some(value));
                }
            }
            pairs.end_token();
        }
        self.edge_pairs = Some(pairs);
        self.n_edge_weights = pattern.labels.len();
        Ok(self)
    }
}

impl<T: Real> Encoded<T> {
    /// The same data in double precision, to prove what a run in single precision found; the streams are shared.
    pub fn widened(&self) -> Encoded<f64> {
        Encoded {
            n_labels: self.n_labels,
            width: self.width,
            offsets: self.offsets.clone(),
            row_starts: self.row_starts.clone(),
            rows: Arc::clone(&self.rows),
            row_values: self.row_values.iter().map(|v| v.to_f64()).collect(),
            n_rows: self.n_rows,
            row_shares: self.row_shares.clone(),
            spots: self.spots.widened(),
            edge_pairs: self.edge_pairs.as_ref().map(Pairs::widened),
            n_edge_weights: self.n_edge_weights,
            multiplicity: self.multiplicity.clone(),
            positions: self.positions.clone(),
            used: self.used.clone(),
            norms: self.norms.clone(),
            spare: Mutex::default(),
        }
    }

    /// Number of labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Number of labels, padded.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of tokens.
    pub fn n_tokens(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Where the sequences begin.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of weights of the labels.
    pub fn n_weights(&self) -> usize {
        self.multiplicity.len()
    }

    /// Number of weights of the edges' attributes.
    pub fn n_edge_weights(&self) -> usize {
        self.n_edge_weights
    }

    /// The attributes of the edges.
    pub fn edge_pairs(&self) -> Option<&Pairs<T>> {
        self.edge_pairs.as_ref()
    }

    /// How many attributes share each weight; zero where there is none.
    pub fn multiplicity(&self) -> &[f32] {
        &self.multiplicity
    }

    /// Where the weight of every (attribute, label) of the pattern stands.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// |x_t|^2 of every token, merged attributes counted one by one.
    pub fn squared_norms(&self) -> Vec<f32> {
        self.norms.clone()
    }

    /// Multiply-adds of adding up the scores of all tokens.
    pub fn work(&self) -> usize {
        self.rows.len() * self.width + self.spots.len()
    }

    /// Ask for what the streams say about some tokens, which are next.
    #[inline(always)]
    pub fn prefetch(&self, tokens: Range<usize>) {
        prefetch_outer(&self.rows[self.row_starts[tokens.start]..self.row_starts[tokens.end]]);
        prefetch_outer(self.spots.of(tokens));
    }

    /// Scores of the labels of token `t`, `width` of them.
    #[inline(always)]
    pub fn scores<const FMA: bool>(&self, t: usize, w: &[T], out: &mut [T]) {
        let (dense, single) = w.split_at(self.n_rows * self.width);
        let range = self.row_starts[t]..self.row_starts[t + 1];
        let rows = &self.rows[range.clone()];
        let values = if self.row_values.is_empty() { &[][..] } else { &self.row_values[range] };
        let mut done = 0;
        while done < self.width {
            let rest = &mut out[done..];
            done += match rest.len() / LANES {
                1 => sum_rows::<T, FMA, 1>(dense, self.width, done, rows, values, rest),
                2 => sum_rows::<T, FMA, 2>(dense, self.width, done, rows, values, rest),
                3 => sum_rows::<T, FMA, 3>(dense, self.width, done, rows, values, rest),
                _ => sum_rows::<T, FMA, 4>(dense, self.width, done, rows, values, rest),
            };
        }
        self.spots.each(t, |spot, value| {
            out[spot.label as usize] += single[spot.weight as usize] * value;
        });
    }

    /// [`Encoded::scores`] at soft thresholds of `v`, u = v - clamp(v, -k theta, k theta) where k attributes share a
    /// weight; `counts` gets per label the sum of k x^2 over the weights u that are not zero.
    #[inline(always)]
    pub fn soft_scores<const FMA: bool>(&self, t: usize, v: &[T], theta: T, out: &mut [T], counts: &mut [T]) {
        let (dense, single) = v.split_at(self.n_rows * self.width);
        let range = self.row_starts[t]..self.row_starts[t + 1];
        let mut done = 0;
        while done < self.width {
            let (mut sums, mut found) = ([T::ZERO; LANES], [T::ZERO; LANES]);
            for (i, &row) in range.clone().zip(&self.rows[range.clone()]) {
                let first = row as usize * self.width + done;
                let value = if self.row_values.is_empty() { T::ONE } else { self.row_values[i] };
                let shares = &self.row_shares[first..first + LANES];
                let v = &dense[first..first + LANES];
                for l in 0..LANES {
                    let share = T::from_u16(shares[l]);
                    let u = soft(v[l], theta * share);
                    sums[l] = u.fma::<FMA>(value, sums[l]);
                    found[l] += if u == T::ZERO { T::ZERO } else { share * value * value };
                }
            }
            out[done..done + LANES].copy_from_slice(&sums);
            counts[done..done + LANES].copy_from_slice(&found);
            done += LANES;
        }
        self.spots.each(t, |spot, value| {
            let share = T::from_u16(spot.share);
            let u = soft(single[spot.weight as usize], theta * share);
            if u != T::ZERO {
                out[spot.label as usize] += u * value;
                counts[spot.label as usize] += share * value * value;
            }
        });
    }

    /// Add `r`, one number per label (padded), to the weights of token `t`: the adjoint of [`Encoded::scores`].
    #[inline(always)]
    pub fn add<const FMA: bool>(&self, t: usize, r: &[T], w: &mut [T]) {
        let (dense, single) = w.split_at_mut(self.n_rows * self.width);
        self.add_rows::<FMA, false>(t, r, dense);
        self.spots.each(t, |spot, value| {
            single[spot.weight as usize] += r[spot.label as usize] * value;
        });
    }

    /// [`Encoded::add`] with every change times the number of attributes that share the weight, which is zero where there
    /// is no weight.
    #[inline(always)]
    pub fn add_shared<const FMA: bool>(&self, t: usize, r: &[T], w: &mut [T]) {
        let (dense, single) = w.split_at_mut(self.n_rows * self.width);
        self.add_rows::<FMA, true>(t, r, dense);
        self.spots.each(t, |spot, value| {
            single[spot.weight as usize] += r[spot.label as usize] * value * T::from_u16(spot.share);
        });
    }

    #[inline(always)]
    fn add_rows<const FMA: bool, const SHARED: bool>(&self, t: usize, r: &[T], dense: &mut [T]) {
        let mut done = 0;
        while done < self.width {
            done += match (self.width - done) / LANES {
                1 => self.add_block::<FMA, SHARED, 1>(t, r, done, dense),
                2 => self.add_block::<FMA, SHARED, 2>(t, r, done, dense),
                3 => self.add_block::<FMA, SHARED, 3>(t, r, done, dense),
                _ => self.add_block::<FMA, SHARED, 4>(t, r, done, dense),
            };
        }
    }

    /// Add `N` vectors of `r`, from column `at` on, to the rows of token `t`; returns how many columns were added.
    #[inline(always)]
    fn add_block<const FMA: bool, const SHARED: bool, const N: usize>(
        &self,
        t: usize,
        r: &[T],
        at: usize,
        dense: &mut [T],
    ) -> usize {
        // Copies, so that the compiler need not fear that rows overlap with them.
        let mut lanes = [[T::ZERO; LANES]; N];
        for (lane, r) in lanes.iter_mut().zip(r[at..at + N * LANES].as_chunks::<LANES>().0) {
            *lane = *r;
        }
        let range = self.row_starts[t]..self.row_starts[t + 1];
        for (i, &row) in range.clone().zip(&self.rows[range]) {
            let first = row as usize * self.width + at;
            let places = first..first + N * LANES;
            let value = if self.row_values.is_empty() { T::ONE } else { self.row_values[i] };
            let shares = if SHARED { self.row_shares[places.clone()].as_chunks::<LANES>().0 } else { &[] };
            for (n, w) in dense[places].as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                let mut sums = *w;
                for l in 0..LANES {
                    let share = if SHARED { T::from_u16(shares[n][l]) } else { T::ONE };
                    sums[l] = (lanes[n][l] * value).fma::<FMA>(share, sums[l]);
                }
                *w = sums;
            }
        }
        N * LANES
    }

    /// Call `body(weight, value)` for the weights of label `label` at token `t`.
    #[inline(always)]
    pub fn each_of_label(&self, t: usize, label: usize, mut body: impl FnMut(usize, T)) {
        let range = self.row_starts[t]..self.row_starts[t + 1];
        for (i, &row) in range.clone().zip(&self.rows[range]) {
            let value = self.row_values.get(i).copied().unwrap_or(T::ONE);
            body(row as usize * self.width + label, value);
        }
        let first = self.n_rows * self.width;
        self.spots.each(t, |spot, value| {
            if usize::from(spot.label) == label {
                body(first + spot.weight as usize, value);
            }
        });
    }
}

/// The soft threshold v - clamp(v, -theta, theta).
#[inline(always)]
pub fn soft<T: Real>(v: T, theta: T) -> T {
    v - v.max(-theta).min(theta)
}

/// Add up `N` vectors of the rows, from column `at` on; returns how many columns were written.
#[inline(always)]
fn sum_rows<T: Real, const FMA: bool, const N: usize>(
    dense: &[T],
    width: usize,
    at: usize,
    rows: &[u32],
    values: &[T],
    out: &mut [T],
) -> usize {
    let mut sums = [[T::ZERO; LANES]; N];
    if values.is_empty() {
        for &row in rows {
            let row = &dense[row as usize * width + at..][..N * LANES];
            for (sum, w) in sums.iter_mut().zip(row.as_chunks::<LANES>().0) {
                for l in 0..LANES {
                    sum[l] += w[l];
                }
            }
        }
    } else {
        for (&row, &value) in rows.iter().zip(values) {
            let row = &dense[row as usize * width + at..][..N * LANES];
            for (sum, w) in sums.iter_mut().zip(row.as_chunks::<LANES>().0) {
                for l in 0..LANES {
                    sum[l] = w[l].fma::<FMA>(value, sum[l]);
                }
            }
        }
    }
    for (out, sum) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(&sums) {
        *out = *sum;
    }
    N * LANES
}
