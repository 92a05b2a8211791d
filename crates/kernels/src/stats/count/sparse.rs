//! Counting sparse rows.

use super::{Countable, Kind, Part, Plan, infinite, negative, no_category};
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::real::Real;
use crate::simd::Gather;

/// A column as a place in an array; a negative one is beyond every end.
#[inline(always)]
pub(crate) fn place(column: i32) -> usize {
    column as isize as usize
}

/// Whether the columns of a row rise.
#[inline(always)]
pub(crate) fn ordered(columns: &[i32]) -> bool {
    let mut ordered = true;
    for pair in columns.windows(2) {
        ordered &= pair[0] < pair[1];
    }
    ordered
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
        let counts = plan.only() == Some(Kind::Multinomial);
        if counts && all_counts(values) {
            let sums = &mut part.value[class * part.width..(class + 1) * part.width];
            let mut inside = true;
            for (&c, &v) in columns.iter().zip(values) {
                match sums.get_mut(place(c)) {
                    Some(sum) => *sum += weight * v.to_f64(),
                    None => inside = false,
                }
            }
            return self.kept(i, inside);
        }
        // Sums need no order; what a single value decides does.
        if !counts && !ordered(columns) {
            return self.kept(i, false);
        }
        for (&c, &v) in columns.iter().zip(values) {
            let (j, x) = (place(c), v.to_f64());
            if j >= part.width {
                return self.kept(i, false);
            }
            let at = class * part.width + j;
            if x.is_nan() {
                part.miss(class, j, weight);
                continue;
            }
            if !x.is_finite() {
                return Err(infinite(i, j));
            }
            match plan.kind(j) {
                Kind::Multinomial if x < 0.0 => return Err(negative(i, j, x)),
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
                    let entry = plan.category(j, x).ok_or_else(|| no_category(plan, i, j, x))?;
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
