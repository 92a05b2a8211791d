//! Streams of (weight, label) pairs per token, for attributes with few labels and for attributes of edges.

use std::ops::Range;
use std::sync::Arc;

use crate::real::Real;

/// A weight and the edge that it speaks for.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// Number of the weight.
    pub weight: u32,
    /// Label, or edge.
    pub label: u32,
}

/// A weight, the label that it speaks for, and how many attributes share it.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    /// Number of the weight.
    pub weight: u32,
    /// Label.
    pub label: u16,
    /// Attributes that share the weight.
    pub share: u16,
}

/// A stream of pairs per token; values are empty where all are one.
#[derive(Debug)]
pub struct Stream<P, T> {
    starts: Vec<usize>,
    /// Shared with the same stream in another precision.
    pairs: Arc<Vec<P>>,
    values: Vec<T>,
}

/// Pairs of attributes of edges.
pub type Pairs<T> = Stream<Pair, T>;

impl<P: Copy, T: Real> Stream<P, T> {
    /// Nothing yet, with room for `n` tokens.
    pub fn with_capacity(n: usize) -> Self {
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        Self { starts, pairs: Arc::default(), values: Vec::new() }
    }

    /// One more pair of the token at the end; without a value where all are one.
    pub fn push(&mut self, pair: P, value: Option<T>) {
        Arc::make_mut(&mut self.pairs).push(pair);
        self.values.extend(value);
    }

    /// The token at the end has all its pairs.
    pub fn end_token(&mut self) {
        self.starts.push(self.pairs.len());
    }

    /// Give back room that is not needed.
    pub fn shrink(&mut self) {
        Arc::make_mut(&mut self.pairs).shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// The same stream with values in double precision; the pairs are shared.
    pub fn widened(&self) -> Stream<P, f64> {
        Stream {
            starts: self.starts.clone(),
            pairs: Arc::clone(&self.pairs),
            values: self.values.iter().map(|v| v.to_f64()).collect(),
        }
    }

    /// The pairs of some tokens, for a look ahead.
    #[inline(always)]
    pub fn of(&self, tokens: Range<usize>) -> &[P] {
        &self.pairs[self.starts[tokens.start]..self.starts[tokens.end]]
    }

    /// Call `body(pair, value)` for the pairs of token `t`.
    #[inline(always)]
    pub fn each(&self, t: usize, mut body: impl FnMut(P, T)) {
        let range = self.starts[t]..self.starts[t + 1];
        if self.values.is_empty() {
            for &pair in &self.pairs[range] {
                body(pair, T::ONE);
            }
        } else {
            for (&pair, &value) in self.pairs[range.clone()].iter().zip(&self.values[range]) {
                body(pair, value);
            }
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}
