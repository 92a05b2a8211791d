//! The weights of one node, without those that hardly matter.
//!
//! Of every child's weights the smallest are dropped as long as those dropped have at most `share` times the
//! norm of all: then scores move by at most that share of |w| |x|, whatever the scale of the features is.
//! What is left is kept feature by feature, so that a row looks up each of its features once for all children
//! (compare the chunks of Etter et al. 2022).

use crate::real::Real;

/// Sparse weights of one node.
#[derive(Debug, Clone, Default)]
pub struct NodeWeights<T> {
    /// Features with a weight, rising.
    pub features: Vec<i32>,
    /// Number of weights of each of them.
    pub counts: Vec<u32>,
    /// The child of each weight, rising for each feature.
    pub children: Vec<u16>,
    /// The weights.
    pub values: Vec<T>,
    /// An intercept for each child.
    pub intercepts: Vec<f64>,
}

/// The magnitude below which weights are dropped; zero drops zeros alone.
fn threshold<T: Real>(weights: impl Iterator<Item = T>, share: f64, sizes: &mut Vec<T>) -> T {
    if share <= 0.0 {
        return T::ZERO;
    }
    sizes.clear();
    sizes.extend(weights.map(T::abs).filter(|w| *w > T::ZERO));
    let total: f64 = sizes.iter().map(|w| w.to_f64().powi(2)).sum();
    let mut left = share * share * total;
    // Only what is small enough to be dropped alone needs sorting.
    sizes.retain(|w| w.to_f64().powi(2) <= left);
    sizes.sort_unstable_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
    for &size in sizes.iter() {
        left -= size.to_f64().powi(2);
        if left < 0.0 {
            return size;
        }
    }
    // All of them go: the threshold lies above the largest.
    sizes.last().map_or(T::ZERO, |&size| T::from_f64(size.to_f64() * (1.0 + 1e-6)))
}

/// The weights that are kept, over the features of a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept<T> {
    features: Vec<u32>,
    counts: Vec<u32>,
    children: Vec<u16>,
    values: Vec<T>,
}

/// The weights of one child that are kept, with their features.
pub(crate) fn sparse<T: Real>(weights: &[T], share: f64) -> Vec<(u32, T)> {
    let least = threshold(weights.iter().copied(), share, &mut Vec::new());
    let kept = (0u32..).zip(weights).filter(|(_, w)| **w != T::ZERO && w.abs() >= least);
    kept.map(|(feature, &w)| (feature, w)).collect()
}

impl<T: Real> Kept<T> {
    /// Prune feature-major weights.
    pub fn dense(weights: &[T], n_children: usize, share: f64) -> Self {
        let mut sizes = Vec::new();
        let column = |child: usize| weights.iter().skip(child).step_by(n_children).copied();
        let least: Vec<T> =
            (0..n_children).map(|child| threshold(column(child), share, &mut sizes)).collect();
        let mut kept = Self { features: vec![], counts: vec![], children: vec![], values: vec![] };
        for (feature, row) in (0u32..).zip(weights.chunks_exact(n_children)) {
            let before = kept.values.len();
            for (child, (&w, &least)) in row.iter().zip(&least).enumerate() {
                if w != T::ZERO && w.abs() >= least {
                    kept.children.push(child as u16);
                    kept.values.push(w);
                }
            }
            kept.end_feature(feature, before);
        }
        kept
    }

    /// Put pruned columns together, one per child.
    pub fn columns(columns: Vec<Vec<(u32, T)>>, n_features: usize) -> Self {
        let mut starts = vec![0usize; n_features + 1];
        for &(feature, _) in columns.iter().flatten() {
            starts[feature as usize + 1] += 1;
        }
        for j in 0..n_features {
            starts[j + 1] += starts[j];
        }
        let n_kept = starts[n_features];
        let mut next = starts.clone();
        let (mut children, mut values) = (vec![0u16; n_kept], vec![T::ZERO; n_kept]);
        for (child, column) in columns.iter().enumerate() {
            for &(feature, w) in column {
                let at = &mut next[feature as usize];
                (children[*at], values[*at]) = (child as u16, w);
                *at += 1;
            }
        }
        let used = |j: &u32| starts[*j as usize + 1] > starts[*j as usize];
        let features: Vec<u32> = (0..n_features as u32).filter(used).collect();
        let count = |&j: &u32| (starts[j as usize + 1] - starts[j as usize]) as u32;
        let counts = features.iter().map(count).collect();
        Self { features, counts, children, values }
    }

    fn end_feature(&mut self, feature: u32, before: usize) {
        if self.values.len() > before {
            self.features.push(feature);
            self.counts.push((self.values.len() - before) as u32);
        }
    }

    /// The same with the features' own numbers.
    pub fn numbered(self, features: &[i32], intercepts: Vec<f64>) -> NodeWeights<T> {
        let features = self.features.iter().map(|&local| features[local as usize]).collect();
        let (counts, children, values) = (self.counts, self.children, self.values);
        NodeWeights { features, counts, children, values, intercepts }
    }
}
