//! Likelihoods of dense rows: class after class, several columns at a time.

use super::{Scored, Terms};
use crate::data::dense::Dense;
use crate::data::rows::{LANES, Rows};
use crate::error::KernelError;
use crate::real::Real;
use crate::stats::count::{Kind, all_finite, infinite, no_category};

/// Sum of `$term` over `$j` in `0 .. $n`, in lanes that fit the registers.
macro_rules! sum_over {
    ($n:expr, |$j:ident| $term:expr) => {{
        let n = $n;
        let mut lanes = [0.0f64; LANES];
        let whole = n - n % LANES;
        let mut at = 0;
        while at < whole {
            for (l, lane) in lanes.iter_mut().enumerate() {
                let $j = at + l;
                *lane += $term;
            }
            at += LANES;
        }
        let mut sum =
            ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
        for $j in whole..n {
            sum += $term;
        }
        sum
    }};
}

impl<T: Real> Scored<T> for Dense<'_, T> {
    fn prepare(&self, terms: &Terms<'_>) -> Vec<f64> {
        let d = self.n_cols();
        let plan = terms.plan;
        let base = |k: usize| -> f64 {
            let of = |run: &crate::stats::count::Run| match run.kind {
                Kind::Bernoulli | Kind::Gaussian => {
                    terms.base[k * d + run.columns.start..k * d + run.columns.end].iter().sum()
                }
                Kind::Multinomial | Kind::Categorical => 0.0,
            };
            plan.runs.iter().map(of).sum()
        };
        terms.start.iter().enumerate().map(|(k, start)| start + base(k)).collect()
    }

    #[inline(always)]
    fn row_terms(
        &self,
        i: usize,
        terms: &Terms<'_>,
        start: &[f64],
        out: &mut [f64],
    ) -> Result<bool, KernelError> {
        let row = self.row(i);
        out.copy_from_slice(start);
        if !all_finite(row) {
            careful(row, i, terms, out)?;
            return Ok(true);
        }
        let (d, plan) = (row.len(), terms.plan);
        for run in &plan.runs {
            let x = &row[run.columns.clone()];
            for (k, out) in out.iter_mut().enumerate() {
                let at = k * d + run.columns.start..k * d + run.columns.end;
                match run.kind {
                    Kind::Multinomial => {
                        let w = &terms.weight[at];
                        *out += sum_over!(x.len(), |j| w[j] * x[j].to_f64());
                    }
                    Kind::Bernoulli => {
                        let w = &terms.weight[at];
                        *out +=
                            sum_over!(x.len(), |j| if x[j].to_f64() > plan.threshold { w[j] } else { 0.0 });
                    }
                    Kind::Gaussian => {
                        let (w, m) = (&terms.weight[at.clone()], &terms.mean[at]);
                        *out -= 0.5
                            * sum_over!(x.len(), |j| {
                                let away = x[j].to_f64() - m[j];
                                w[j] * away * away
                            });
                    }
                    Kind::Categorical => {
                        let table = &terms.table[k * plan.n_categories()..(k + 1) * plan.n_categories()];
                        for (j, x) in run.columns.clone().zip(x) {
                            let x = x.to_f64();
                            *out += table[plan.category(j, x).ok_or_else(|| no_category(plan, i, j, x))?];
                        }
                    }
                }
            }
        }
        Ok(true)
    }
}

/// A row with missing values: what `start` holds for them is taken back.
#[cold]
fn careful<T: Real>(row: &[T], i: usize, terms: &Terms<'_>, out: &mut [f64]) -> Result<(), KernelError> {
    let (d, plan) = (row.len(), terms.plan);
    for run in &plan.runs {
        for j in run.columns.clone() {
            let x = row[j].to_f64();
            if x.is_infinite() {
                return Err(infinite(i, j));
            }
            for (k, out) in out.iter_mut().enumerate() {
                let at = k * d + j;
                *out += match run.kind {
                    Kind::Multinomial | Kind::Categorical if x.is_nan() => 0.0,
                    Kind::Bernoulli | Kind::Gaussian if x.is_nan() => -terms.base[at],
                    Kind::Multinomial => terms.weight[at] * x,
                    Kind::Bernoulli if x > plan.threshold => terms.weight[at],
                    Kind::Bernoulli => 0.0,
                    Kind::Gaussian => -0.5 * terms.weight[at] * (x - terms.mean[at]).powi(2),
                    Kind::Categorical => {
                        let entry = plan.category(j, x).ok_or_else(|| no_category(plan, i, j, x))?;
                        terms.table[k * plan.n_categories() + entry]
                    }
                };
            }
        }
    }
    Ok(())
}
