//! Counting dense rows.

use super::{Countable, Kind, Part, Plan, infinite, negative, no_category};
use crate::data::dense::Dense;
use crate::data::rows::LANES;
use crate::error::KernelError;
use crate::real::Real;

/// Whether no value is NaN or infinite: a sum of products with zero is NaN exactly then.
#[inline(always)]
pub(crate) fn all_finite<T: Real>(values: &[T]) -> bool {
    let mut lanes = [T::ZERO; LANES];
    let mut packs = values.chunks_exact(LANES);
    for pack in &mut packs {
        for (sum, &v) in lanes.iter_mut().zip(pack) {
            *sum += v * T::ZERO;
        }
    }
    let rest: T = packs.remainder().iter().map(|&v| v * T::ZERO).sum();
    !(lanes.iter().copied().sum::<T>() + rest).is_nan()
}

impl<T: Real> Countable<T> for Dense<'_, T> {
    const SPARSE: bool = false;

    #[inline(always)]
    fn add_row(
        &self,
        i: usize,
        class: usize,
        weight: f64,
        plan: &Plan,
        part: &mut Part,
    ) -> Result<bool, KernelError> {
        let row = self.row(i);
        part.totals[class] += weight;
        if !part.missing.is_empty() || !all_finite(row) {
            careful(row, i, class, weight, plan, part)?;
            return Ok(true);
        }
        let share = weight / part.totals[class];
        for r in 0..part.runs.len() {
            let (kind, columns) = (part.runs[r].kind, part.runs[r].columns.clone());
            let row = &row[columns.clone()];
            let at = part.at(class, &columns);
            let value = &mut part.value[at.clone()];
            match kind {
                Kind::Multinomial => {
                    let mut lowest = T::ZERO;
                    for (value, &x) in value.iter_mut().zip(row) {
                        lowest = if x < lowest { x } else { lowest };
                        *value += weight * x.to_f64();
                    }
                    if lowest < T::ZERO {
                        let j = row.iter().position(|&x| x < T::ZERO).unwrap_or(0);
                        return Err(negative(i, columns.start + j, row[j].to_f64()));
                    }
                }
                Kind::Bernoulli => {
                    for (value, &x) in value.iter_mut().zip(row) {
                        *value += if x.to_f64() > plan.threshold { weight } else { 0.0 };
                    }
                }
                Kind::Gaussian => {
                    for ((mean, square), &x) in value.iter_mut().zip(&mut part.scatter[at]).zip(row) {
                        let x = x.to_f64();
                        let delta = x - *mean;
                        *mean += share * delta;
                        *square += weight * delta * (x - *mean);
                    }
                }
                Kind::Categorical => {
                    for (j, &x) in columns.zip(row) {
                        add_category(i, j, x.to_f64(), class, weight, plan, part)?;
                    }
                }
            }
        }
        Ok(true)
    }
}

#[inline(always)]
fn add_category(
    i: usize,
    j: usize,
    x: f64,
    class: usize,
    weight: f64,
    plan: &Plan,
    part: &mut Part,
) -> Result<(), KernelError> {
    let at = plan.category(j, x).ok_or_else(|| no_category(plan, i, j, x))?;
    let at = part.table_at(class, at);
    if let Some(entry) = part.table.get_mut(at) {
        *entry += weight;
    }
    Ok(())
}

/// A row with missing values, or after one with some: every column has a weight of its own.
fn careful<T: Real>(
    row: &[T],
    i: usize,
    class: usize,
    weight: f64,
    plan: &Plan,
    part: &mut Part,
) -> Result<(), KernelError> {
    let total = part.totals[class];
    for r in 0..part.runs.len() {
        let (kind, columns) = (part.runs[r].kind, part.runs[r].columns.clone());
        for j in columns {
            let x = row[j].to_f64();
            if x.is_nan() {
                part.miss(class, j, weight);
                continue;
            }
            if !x.is_finite() {
                return Err(infinite(i, j));
            }
            let at = class * part.width + j;
            match kind {
                Kind::Multinomial if x < 0.0 => return Err(negative(i, j, x)),
                Kind::Multinomial => part.value[at] += weight * x,
                Kind::Bernoulli => part.value[at] += if x > plan.threshold { weight } else { 0.0 },
                Kind::Gaussian => {
                    let seen = total - part.missing.get(at).copied().unwrap_or(0.0);
                    let delta = x - part.value[at];
                    // Rounding must not leave less than the weight of this row.
                    part.value[at] += weight / seen.max(weight) * delta;
                    part.scatter[at] += weight * delta * (x - part.value[at]);
                }
                Kind::Categorical => add_category(i, j, x, class, weight, plan, part)?,
            }
        }
    }
    Ok(())
}
