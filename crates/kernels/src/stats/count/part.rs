//! The statistics of some columns over some rows: adding two of them, and side by side.

use std::ops::Range;

use super::{Kind, Plan, Run};

/// Statistics of some classes, class after class: entry `k * width + j` of an array.
///
/// Arrays that the kinds of the columns do not need are empty; `missing` is so until a value is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Number of columns.
    pub width: usize,
    /// Weight of the rows of every class.
    pub totals: Vec<f64>,
    /// Sums, weights of "on", or means.
    pub value: Vec<f64>,
    /// Weighted squares around the means.
    pub scatter: Vec<f64>,
    /// Weight of the rows whose value is missing.
    pub missing: Vec<f64>,
    /// Weights of the categories.
    pub table: Vec<f64>,
    /// Weight of the stored values of sparse Gaussian and categorical columns.
    pub(super) stored: Vec<f64>,
    /// The columns, cut where the kind changes.
    pub(super) runs: Vec<Run>,
    table_width: usize,
}

/// Join (weight, mean, squares) of two groups: Chan, Golub & LeVeque (1983), equation 1.5.
#[inline(always)]
fn join(one: (f64, f64, f64), two: (f64, f64, f64)) -> (f64, f64) {
    let n = one.0 + two.0;
    if one.0 <= 0.0 || two.0 <= 0.0 {
        return if two.0 > 0.0 { (two.1, two.2) } else { (one.1, one.2) };
    }
    let share = two.0 / n;
    let delta = two.1 - one.1;
    (one.1 + delta * share, one.2 + two.2 + delta * delta * one.0 * share)
}

impl Part {
    /// Nothing counted yet.
    pub fn new(plan: &Plan, n_classes: usize, sparse: bool) -> Self {
        let (width, table_width) = (plan.n_cols(), plan.n_categories());
        let when = |wanted: bool| if wanted { vec![0.0; n_classes * width] } else { Vec::new() };
        let (gaussian, categorical) = (plan.has(Kind::Gaussian), plan.has(Kind::Categorical));
        Self {
            width,
            totals: vec![0.0; n_classes],
            value: when(true),
            scatter: when(gaussian),
            missing: Vec::new(),
            table: vec![0.0; n_classes * table_width],
            stored: when(sparse && (gaussian || categorical)),
            runs: plan.runs.clone(),
            table_width,
        }
    }

    /// Columns `columns` of a class.
    #[inline(always)]
    pub(super) fn at(&self, class: usize, columns: &Range<usize>) -> Range<usize> {
        class * self.width + columns.start..class * self.width + columns.end
    }

    /// The place of entry `at` of the table of a class.
    #[inline(always)]
    pub(super) fn table_at(&self, class: usize, at: usize) -> usize {
        class * self.table_width + at
    }

    /// Note a missing value.
    #[cold]
    pub(super) fn miss(&mut self, class: usize, j: usize, weight: f64) {
        if self.missing.is_empty() {
            self.missing = vec![0.0; self.value.len()];
        }
        self.missing[class * self.width + j] += weight;
    }

    fn missing_at(&self, at: usize) -> f64 {
        self.missing.get(at).copied().unwrap_or(0.0)
    }

    /// Weight behind a Gaussian mean.
    fn weight_at(&self, class: usize, at: usize) -> f64 {
        self.stored.get(at).copied().unwrap_or_else(|| self.totals[class] - self.missing_at(at))
    }

    /// Add another part of the same columns, whose rows follow.
    pub(super) fn absorb(&mut self, other: &Self) {
        for run in self.runs.clone() {
            for class in 0..self.totals.len() {
                let range = self.at(class, &run.columns);
                if run.kind != Kind::Gaussian {
                    for (a, b) in self.value[range.clone()].iter_mut().zip(&other.value[range]) {
                        *a += b;
                    }
                    continue;
                }
                for at in range {
                    let one = (self.weight_at(class, at), self.value[at], self.scatter[at]);
                    let two = (other.weight_at(class, at), other.value[at], other.scatter[at]);
                    (self.value[at], self.scatter[at]) = join(one, two);
                }
            }
        }
        if !other.missing.is_empty() && self.missing.is_empty() {
            self.missing = vec![0.0; self.value.len()];
        }
        for (mine, theirs) in [
            (&mut self.totals, &other.totals),
            (&mut self.table, &other.table),
            (&mut self.stored, &other.stored),
            (&mut self.missing, &other.missing),
        ] {
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a += b;
            }
        }
    }

    /// Count the zeros that sparse rows left out, where they matter.
    pub(super) fn count_zeros(&mut self, plan: &Plan) {
        if self.stored.is_empty() {
            return;
        }
        for run in self.runs.clone() {
            for class in 0..self.totals.len() {
                for j in run.columns.clone() {
                    let at = class * self.width + j;
                    let left = (self.totals[class] - self.missing_at(at) - self.stored[at]).max(0.0);
                    if run.kind == Kind::Gaussian {
                        let stored = (self.stored[at], self.value[at], self.scatter[at]);
                        (self.value[at], self.scatter[at]) = join(stored, (left, 0.0, 0.0));
                    } else if run.kind == Kind::Categorical {
                        let zero = self.table_at(class, plan.categories(j).start);
                        if let Some(entry) = self.table.get_mut(zero) {
                            *entry += left;
                        }
                    }
                }
            }
        }
        self.stored = Vec::new();
    }

    /// Put the classes of another part behind these; there will be `n_classes` in all.
    pub(super) fn append(&mut self, other: Self, n_classes: usize) {
        let (mine, theirs) = (self.value.len(), other.value.len());
        if self.missing.len() + other.missing.len() > 0 {
            self.missing.resize(mine, 0.0);
            self.missing.extend(&other.missing);
            self.missing.resize(mine + theirs, 0.0);
        }
        for (mine, theirs) in [
            (&mut self.totals, other.totals),
            (&mut self.value, other.value),
            (&mut self.scatter, other.scatter),
            (&mut self.table, other.table),
        ] {
            // Room for all classes at once: a large array is then moved by its pages, not copied.
            mine.reserve_exact((theirs.len() * n_classes).saturating_sub(mine.len()));
            mine.extend(theirs);
        }
    }
}
