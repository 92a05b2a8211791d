//! Likelihoods of sparse rows: the sums of a row of zeros, and what the stored values change.

use super::{Scored, Terms};
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::simd::Gather;
use crate::stats::count::{Kind, infinite, no_category, ordered, place};

/// What column `j` adds to class `k` where x = 0.
#[inline(always)]
fn at_zero(terms: &Terms<'_>, kind: Kind, j: usize, k: usize) -> f64 {
    let n = terms.start.len();
    let at = j * n + k;
    match kind {
        Kind::Multinomial => 0.0,
        Kind::Bernoulli => terms.base[at],
        Kind::Gaussian => terms.base[at] - 0.5 * terms.weight[at] * terms.mean[at] * terms.mean[at],
        Kind::Categorical => terms.table[terms.plan.categories(j).start * n + k],
    }
}

impl<T: Gather> Scored<T> for Csr<'_, T> {
    fn prepare(&self, terms: &Terms<'_>) -> Vec<f64> {
        let mut sums = terms.start.to_vec();
        for run in terms.plan.runs.iter().filter(|run| run.kind != Kind::Multinomial) {
            for j in run.columns.clone() {
                if run.kind == Kind::Categorical && terms.plan.categories(j).is_empty() {
                    continue;
                }
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum += at_zero(terms, run.kind, j, k);
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn row_terms(
        &self,
        i: usize,
        terms: &Terms<'_>,
        start: &[f64],
        out: &mut [f64],
    ) -> Result<bool, KernelError> {
        let (n_cols, plan) = (self.n_cols(), terms.plan);
        let (columns, values) = self.row(i);
        if plan.only() == Some(Kind::Multinomial) {
            let inside = match out.len() {
                1 => products::<T, 1>(columns, values, terms.weight, start, out),
                2 => products::<T, 2>(columns, values, terms.weight, start, out),
                _ => many_products(columns, values, terms.weight, start, out),
            };
            // Missing and infinite values show in the sums.
            if inside && out.iter().all(|sum| sum.is_finite()) {
                return Ok(true);
            }
        }
        out.copy_from_slice(start);
        if plan.only() != Some(Kind::Multinomial) && !ordered(columns) {
            return self.kept(i, false);
        }
        for (&c, &v) in columns.iter().zip(values) {
            let (j, x) = (place(c), v.to_f64());
            if j >= n_cols {
                return self.kept(i, false);
            }
            if x.is_infinite() {
                return Err(infinite(i, j));
            }
            let kind = plan.kind(j);
            let missing = x.is_nan();
            let entry = if kind == Kind::Categorical && !missing {
                plan.category(j, x).ok_or_else(|| no_category(plan, i, j, x))?
            } else {
                0
            };
            let n = out.len();
            for (k, out) in out.iter_mut().enumerate() {
                let at = j * n + k;
                *out += match kind {
                    _ if missing => -at_zero(terms, kind, j, k),
                    Kind::Multinomial => terms.weight[at] * x,
                    Kind::Bernoulli if x > plan.threshold => terms.weight[at],
                    Kind::Bernoulli => 0.0,
                    // The difference of two squares, without cancellation.
                    Kind::Gaussian => -0.5 * terms.weight[at] * x * (x - 2.0 * terms.mean[at]),
                    Kind::Categorical => terms.table[entry * n + k] - at_zero(terms, kind, j, k),
                };
            }
        }
        Ok(true)
    }
}

/// out = start + x' W for K scores in registers; false where a column is outside.
#[inline(always)]
fn products<T: Gather, const K: usize>(
    columns: &[i32],
    values: &[T],
    weight: &[f64],
    start: &[f64],
    out: &mut [f64],
) -> bool {
    let (rows, _) = weight.as_chunks::<K>();
    let mut sums = [[0.0; K]; 4];
    let mut inside = true;
    let mut add = |sum: &mut [f64; K], c: i32, v: T| match rows.get(place(c)) {
        Some(row) => {
            for (s, w) in sum.iter_mut().zip(row) {
                *s += v.to_f64() * w;
            }
        }
        None => inside = false,
    };
    let (heads, tail) = columns.as_chunks::<4>();
    let (head_values, tail_values) = values.as_chunks::<4>();
    for (c, v) in heads.iter().zip(head_values) {
        for l in 0..4 {
            add(&mut sums[l], c[l], v[l]);
        }
    }
    for (&c, &v) in tail.iter().zip(tail_values) {
        add(&mut sums[0], c, v);
    }
    for k in 0..K {
        out[k] = start[k] + ((sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]));
    }
    inside
}

/// out = start + x' W for any number of scores; false where a column is outside.
#[inline(always)]
fn many_products<T: Gather>(
    columns: &[i32],
    values: &[T],
    weight: &[f64],
    start: &[f64],
    out: &mut [f64],
) -> bool {
    let k = out.len();
    out.copy_from_slice(start);
    let mut inside = true;
    for (&c, &v) in columns.iter().zip(values) {
        let first = place(c).saturating_mul(k);
        match weight.get(first..first.saturating_add(k)) {
            Some(row) => {
                for (o, w) in out.iter_mut().zip(row) {
                    *o += v.to_f64() * w;
                }
            }
            None => inside = false,
        }
    }
    inside
}
