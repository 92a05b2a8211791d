//! Counting sparse rows.

use super::{Countable, Kind, Part, Plan, infinite, negative, no_category};
use crate::csr::Csr;
use crate::error::KernelError;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::Gather;

/// Rows that a sample of the columns is taken from.
const SAMPLE: usize = 64;

/// A column as a place in an array; a negative one is beyond every end.
#[inline(always)]
pub(crate) fn place(column: i32) -> usize {
    column as isize as usize
}

/// The entries of a row in the columns `first .. end`; `None` where the row is out of order.
///
/// Every cut is found in the same way, so that entries between two cuts that lie inside them, in order, make
/// an ordered row.
#[inline(always)]
pub(crate) fn within<'a, T>(
    columns: &'a [i32],
    values: &'a [T],
    first: usize,
    end: usize,
    n_cols: usize,
) -> Option<(&'a [i32], &'a [T])> {
    let cut = |at: usize| {
        if at == 0 {
            0
        } else if at >= n_cols {
            columns.len()
        } else {
            columns.partition_point(|&c| place(c) < at)
        }
    };
    let range = cut(first)..cut(end);
    let (columns, values) = (columns.get(range.clone())?, values.get(range)?);
    let mut ordered = true;
    for pair in columns.windows(2) {
        ordered &= pair[0] < pair[1];
    }
    match columns {
        [] => Some((columns, values)),
        // A last column outside the matrix is an error of its own, told by `fault`.
        [start, ..] => (ordered && place(*start) >= first).then_some((columns, values)),
    }
}

/// Whether all values are numbers from zero up.
#[inline(always)]
fn all_counts<T: Real>(values: &[T]) -> bool {
    let mut fine = true;
    for &v in values {
        // NaN fails the first test; infinity times zero is no number.
        fine &= (v >= T::ZERO) & (v * T::ZERO == T::ZERO);
    }
    fine
}

impl<T: Gather> Countable<T> for Csr<'_, T> {
    const SPARSE: bool = true;

    fn cuts(&self, parts: usize) -> Vec<usize> {
        let (n, d) = (self.n_rows(), self.n_cols());
        let step = (n / SAMPLE).max(1);
        let mut seen: Vec<usize> = (0..n)
            .step_by(step)
            .flat_map(|i| self.row(i).0.iter().map(|&c| place(c)).filter(|&c| c < d))
            .collect();
        seen.sort_unstable();
        let inner = (1..parts).map(|p| seen.get(seen.len() * p / parts).copied().unwrap_or(d * p / parts));
        let mut cuts: Vec<usize> = [0].into_iter().chain(inner).chain([d]).collect();
        cuts.dedup();
        cuts
    }

    #[inline(always)]
    fn add_row(
        &self,
        i: usize,
        class: usize,
        weight: f64,
        plan: &Plan,
        part: &mut Part,
    ) -> Result<bool, KernelError> {
        part.totals[class] += weight;
        let (columns, values) = self.row(i);
        let (end, counts) = (part.first + part.width, plan.only() == Some(Kind::Multinomial));
        let inner = if counts && part.width == self.n_cols() {
            Some((columns, values)) // sums of whole rows need no order
        } else {
            within(columns, values, part.first, end, self.n_cols())
        };
        let Some((columns, values)) = inner else {
            return self.kept(i, false);
        };
        if counts && all_counts(values) {
            let sums = &mut part.value[class * part.width..(class + 1) * part.width];
            let mut inside = true;
            for (&c, &v) in columns.iter().zip(values) {
                match sums.get_mut(place(c).wrapping_sub(part.first)) {
                    Some(sum) => *sum += weight * v.to_f64(),
                    None => inside = false,
                }
            }
            return self.kept(i, inside);
        }
        for (&c, &v) in columns.iter().zip(values) {
            let (column, x) = (place(c), v.to_f64());
            let j = column.wrapping_sub(part.first);
            if j >= part.width {
                return self.kept(i, false);
            }
            let at = class * part.width + j;
            if x.is_nan() {
                part.miss(class, j, weight);
                continue;
            }
            if !x.is_finite() {
                return Err(infinite(i, column));
            }
            match plan.kind(column) {
                Kind::Multinomial if x < 0.0 => return Err(negative(i, column, x)),
                Kind::Multinomial => part.value[at] += weight * x,
                Kind::Bernoulli => part.value[at] += if x > plan.threshold { weight } else { 0.0 },
                Kind::Gaussian => {
                    part.stored[at] += weight;
                    let delta = x - part.value[at];
                    part.value[at] += weight / part.stored[at] * delta;
                    part.scatter[at] += weight * delta * (x - part.value[at]);
                }
                Kind::Categorical => {
                    part.stored[at] += weight;
                    let entry = plan.category(column, x).ok_or_else(|| no_category(plan, i, column, x))?;
                    let entry = part.table_at(class, entry);
                    if let Some(entry) = part.table.get_mut(entry) {
                        *entry += weight;
                    }
                }
            }
        }
        Ok(true)
    }
}

impl<T: Gather> Csr<'_, T> {
    /// True where every column of row `i` was inside; otherwise what is wrong with the row.
    #[inline(always)]
    pub(crate) fn kept(&self, i: usize, inside: bool) -> Result<bool, KernelError> {
        let n_cols = self.n_cols();
        match self.row(i).0.iter().find(|&&c| !inside && place(c) >= n_cols) {
            Some(&c) => Err(KernelError::IndexOutOfRange { row: i, index: c.into(), n_cols }),
            None => Ok(inside),
        }
    }
}
