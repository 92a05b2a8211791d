//! A fitted label tree over borrowed arrays, and the scores of a node's children.
//!
//! The arrays are those of [`crate::extreme::tree_plan`] and [`crate::extreme::tree_fit`]. They belong to somebody who may
//! change them while a kernel runs, so that every place is checked where it is used: what lies outside
//! counts as absent.

use crate::error::{KernelError, check_length};

/// A weight as it is stored.
pub trait Weight: Copy + Sync {
    /// Its value.
    fn value(self) -> f64;
}

impl Weight for f32 {
    #[inline(always)]
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Weight for f64 {
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
}

/// The bits of an IEEE half-precision number.
impl Weight for u16 {
    #[inline(always)]
    fn value(self) -> f64 {
        // Shifted into place, the exponent is that of single precision less 112.
        let size = f32::from_bits(u32::from(self & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
        f64::from(if self >> 15 == 1 { -size } else { size })
    }
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Link {
    /// One label per row: a softmax over the children of `scale` times the scores.
    Softmax {
        /// Factor on the scores.
        scale: f64,
    },
    /// Any number of labels: a sigmoid for each child of `scale` times its score.
    Sigmoid {
        /// Factor on the scores.
        scale: f64,
    },
}

impl Link {
    /// Replace scores by logarithms of probabilities.
    pub fn apply(self, scores: &mut [f64]) {
        match self {
            Self::Softmax { scale } => {
                let top = scores.iter().fold(f64::NEG_INFINITY, |a, &s| a.max(scale * s));
                let sum: f64 = scores.iter().map(|&s| (scale * s - top).exp()).sum();
                let all = top + sum.ln();
                scores.iter_mut().for_each(|s| *s = scale * *s - all);
            }
            Self::Sigmoid { scale } => {
                for s in scores {
                    let x = -scale * *s;
                    *s = -(x.max(0.0) + (-x.abs()).exp().ln_1p());
                }
            }
        }
    }
}

/// The arrays of a tree; see the head of this file.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a, W> {
    /// First edge of each node, and the end.
    pub edge_starts: &'a [i64],
    /// Where each edge leads.
    pub targets: &'a [i64],
    /// First feature of each node, and the end.
    pub feature_starts: &'a [i64],
    /// Features, rising within a node.
    pub features: &'a [i32],
    /// First weight of each feature, and the end.
    pub weight_starts: &'a [i64],
    /// Child of each weight.
    pub children: &'a [u16],
    /// Weights.
    pub values: &'a [W],
    /// An intercept for each edge.
    pub intercepts: &'a [f64],
    /// From scores to probabilities.
    pub link: Link,
}

/// Elements `starts[at]..starts[at + 1]`, nothing where that makes no sense.
#[inline(always)]
fn span(starts: &[i64], at: usize) -> std::ops::Range<usize> {
    let bound = |i: usize| starts.get(i).map_or(0, |&s| usize::try_from(s).unwrap_or(0));
    bound(at)..bound(at + 1)
}

/// The place of a feature that a node does not have.
pub const ABSENT: usize = usize::MAX;

/// Find `columns` among `features`, which rise: their places plus `first`, or [`ABSENT`].
///
/// All searches halve their ranges together, so that their waits for memory overlap: in a large tree nearly every
/// look is one at memory that nobody has read for long.
#[inline(always)]
pub fn find(features: &[i32], first: usize, columns: &[i32], places: &mut Vec<usize>) {
    places.clear();
    if features.is_empty() {
        places.resize(columns.len(), ABSENT);
        return;
    }
    places.resize(columns.len(), 0);
    let mut left = features.len();
    while left > 1 {
        let half = left / 2;
        for (place, column) in places.iter_mut().zip(columns) {
            // A product, not a branch, which nobody could predict.
            *place += half * usize::from(features[*place + half] <= *column);
        }
        left -= half;
    }
    for (place, column) in places.iter_mut().zip(columns) {
        *place = if features[*place] == *column { first + *place } else { ABSENT };
    }
}

impl<W: Weight> Model<'_, W> {
    /// Fail where the lengths of the arrays do not fit together.
    pub fn check(&self) -> Result<(), KernelError> {
        if self.edge_starts.len() < 2 {
            return Err(KernelError::Argument("a tree has at least one node".into()));
        }
        check_length("feature_starts", self.feature_starts.len(), self.edge_starts.len())?;
        check_length("weight_starts", self.weight_starts.len(), self.features.len() + 1)?;
        check_length("children", self.children.len(), self.values.len())?;
        check_length("intercepts", self.intercepts.len(), self.targets.len())
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.edge_starts.len() - 1
    }

    /// Where the edges of `node` lead.
    #[inline(always)]
    pub fn edges(&self, node: usize) -> &[i64] {
        self.targets.get(span(self.edge_starts, node)).unwrap_or(&[])
    }

    /// The intercepts of the edges of `node`.
    #[inline(always)]
    fn node_intercepts(&self, node: usize) -> &[f64] {
        self.intercepts.get(span(self.edge_starts, node)).unwrap_or(&[])
    }

    /// The first feature of `node`, and its features.
    #[inline(always)]
    pub fn node_features(&self, node: usize) -> (usize, &[i32]) {
        let range = span(self.feature_starts, node);
        (range.start, self.features.get(range).unwrap_or(&[]))
    }

    /// Scores of the children of `node` for a row; `places` are those of its features in [`Model::features`].
    #[inline(always)]
    pub fn score<T: crate::real::Real>(
        &self,
        node: usize,
        places: &[usize],
        values: &[T],
        scores: &mut Vec<f64>,
    ) {
        scores.clear();
        scores.extend_from_slice(self.node_intercepts(node));
        for (&at, &x) in places.iter().zip(values) {
            if at == ABSENT {
                continue;
            }
            let range = span(self.weight_starts, at);
            let weights = self.children.get(range.clone()).zip(self.values.get(range));
            let Some((children, weights)) = weights else { continue };
            let x = x.to_f64();
            for (&child, &w) in children.iter().zip(weights) {
                if let Some(score) = scores.get_mut(usize::from(child)) {
                    *score += x * w.value();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ABSENT, Weight, find};

    #[test]
    fn features_are_found_where_they_are() {
        let mut places = Vec::new();
        for n in 0..40 {
            let features: Vec<i32> = (0..n).map(|j| 3 * j + 1).collect();
            let columns: Vec<i32> = (-1..130).collect();
            find(&features, 5, &columns, &mut places);
            for (&place, column) in places.iter().zip(&columns) {
                assert_eq!(place, features.binary_search(column).map_or(ABSENT, |at| 5 + at));
            }
        }
    }

    #[test]
    fn half_precision_numbers_have_their_values() {
        for (bits, value) in [
            (0x3c00u16, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x7bff, 65504.0),
            (0x8000, 0.0),
        ] {
            assert_eq!(bits.value(), value);
        }
    }
}
