//! Joint log-likelihoods of naive Bayes: log P(y = k) + sum_j log P(x_ij | y = k) for every row i and class k.
//!
//! A column adds, by its kind, w x (multinomial, w = log p); b + w [x > threshold] (Bernoulli, b = log(1 - p),
//! w = log p - b); b - w/2 (x - m)^2 (Gaussian, w = 1 / variance, b = -1/2 log(2 pi variance)); or the entry of a
//! table (categorical). A missing value (NaN) adds nothing. Sums are in `f64`, one row in one order, so that a
//! row scores the same alone and in a batch, on any number of threads.

use crate::data::rows::Rows;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::stats::count::{Kind, Plan};
use crate::stats::tuning::LIKELIHOOD_BLOCK;
use crate::threads::try_each;

mod dense;
mod sparse;
#[cfg(test)]
mod tests;

/// The terms of a model with K classes: class-major (K x d) for dense rows, feature-major (d x K) for sparse.
///
/// Arrays that the kinds do not need are empty: `base` is of Bernoulli and Gaussian columns, `mean` of
/// Gaussian ones, `table` of categorical ones.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// How the columns are modeled.
    pub plan: &'a Plan,
    /// log P(y = k).
    pub start: &'a [f64],
    /// w
    pub weight: &'a [f64],
    /// b
    pub base: &'a [f64],
    /// m
    pub mean: &'a [f64],
    /// Log-probabilities of the categories.
    pub table: &'a [f64],
}

impl Terms<'_> {
    fn check(&self, d: usize) -> Result<(), KernelError> {
        let (k, plan) = (self.start.len(), self.plan);
        check_length("kinds", plan.n_cols(), d)?;
        let gaussian = plan.has(Kind::Gaussian);
        let weighted = gaussian || plan.has(Kind::Multinomial) || plan.has(Kind::Bernoulli);
        let size = |wanted: bool| if wanted { k * d } else { 0 };
        check_length("weight", self.weight.len(), size(weighted))?;
        check_length("base", self.base.len(), size(gaussian || plan.has(Kind::Bernoulli)))?;
        check_length("mean", self.mean.len(), size(gaussian))?;
        check_length("table", self.table.len(), k * plan.n_categories())
    }
}

/// Rows whose likelihood can be taken.
pub trait Scored<T: Real>: Rows<T> {
    /// What all rows begin with: the sums for a row without gaps, or of zeros alone.
    fn prepare(&self, terms: &Terms<'_>) -> Vec<f64>;
    /// The sums of row `i`; false where the row is not sorted or names a column twice.
    fn row_terms(
        &self,
        i: usize,
        terms: &Terms<'_>,
        start: &[f64],
        out: &mut [f64],
    ) -> Result<bool, KernelError>;
}

struct Block<'a, T, X> {
    x: &'a X,
    terms: &'a Terms<'a>,
    start: &'a [f64],
    first: usize,
    out: &'a mut [f64],
    precision: std::marker::PhantomData<T>,
}

impl<T: Real, X: Scored<T>> Task for Block<'_, T, X> {
    type Output = Result<bool, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        for (r, out) in self.out.chunks_exact_mut(self.start.len()).enumerate() {
            if !self.x.row_terms(self.first + r, self.terms, self.start, out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The joint log-likelihoods, n x K.
///
/// Returns `None` where a sparse row is not sorted or names a column twice.
pub fn joint<T: Real, X: Scored<T>>(
    x: &X,
    terms: &Terms<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Option<Vec<f64>>, KernelError> {
    let k = terms.start.len();
    if k == 0 {
        return Err(KernelError::Argument("there must be at least one class".into()));
    }
    terms.check(x.n_cols())?;
    let start = x.prepare(terms);
    let mut out = vec![0.0; x.n_rows() * k];
    let block = |(b, out): (usize, &mut [f64])| {
        stop.check()?;
        let (first, precision) = (b * LIKELIHOOD_BLOCK, std::marker::PhantomData);
        dispatch(Block { x, terms, start: &start, first, out, precision })
    };
    let n_threads = threads_for(x.n_stored() * k, n_threads);
    let ordered = try_each(n_threads, out.chunks_mut(LIKELIHOOD_BLOCK * k).enumerate(), block)?;
    Ok(ordered.into_iter().all(|fine| fine).then_some(out))
}
