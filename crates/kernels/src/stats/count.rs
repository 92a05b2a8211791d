//! Counting: the sufficient statistics of naive Bayes, class by class and column by column, in one pass.
//!
//! For every class k and column j, over the rows of that class with their weights c_i:
//! multinomial `value` = sum c_i x_ij; Bernoulli `value` = sum c_i [x_ij > threshold]; Gaussian `value` = the mean
//! and `scatter` = sum c_i (x_ij - mean)^2, kept by updates that do not cancel (Welford 1962; Chan, Golub &
//! LeVeque 1983); categorical: `table` = weight of every category. A NaN is a missing value: its weight goes to
//! `missing` and to nothing else. Zeros that sparse rows do not store count like zeros that they do.
//!
//! Small statistics are taken of parts of the rows, large ones class by class (so that those of one class at a
//! time are in the cache). Parts are cut by shape and labels alone and added in order: the result is the same to
//! the bit on any number of threads.

use crate::stats::tuning::{COUNT_BLOCK, COUNT_PARTS, SMALL};
use std::marker::PhantomData;
use std::ops::Range;

use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, check_not_negative, zeros};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::{WORTH_THREADS, try_each};

mod dense;
mod part;
mod sparse;
#[cfg(test)]
mod tests;

pub(crate) use dense::all_finite;
pub use part::Part;
pub(crate) use sparse::{ordered, place};

/// How a column is modeled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Counts of events, such as the words of a document.
    Multinomial,
    /// On or off.
    Bernoulli,
    /// A normal variable.
    Gaussian,
    /// One of 0, 1, … m - 1.
    Categorical,
}

/// Consecutive columns of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Their kind.
    pub kind: Kind,
    /// Their numbers.
    pub columns: Range<usize>,
}

/// How the columns are modeled.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The columns, cut where the kind changes.
    pub runs: Vec<Run>,
    /// Where the categories of a column begin in the table; empty where no column has categories.
    pub offsets: Vec<usize>,
    /// A Bernoulli column is on above this.
    pub threshold: f64,
    kinds: Vec<Kind>,
}

impl Plan {
    /// Kinds by number (0 multinomial, 1 Bernoulli, 2 Gaussian, 3 categorical), and where there are categorical
    /// columns the number of categories of every column (0 for the others).
    pub fn new(kinds: &[u8], sizes: Option<&[i64]>, threshold: f64) -> Result<Self, KernelError> {
        let known = [Kind::Multinomial, Kind::Bernoulli, Kind::Gaussian, Kind::Categorical];
        let mut runs: Vec<Run> = Vec::new();
        for (j, &code) in kinds.iter().enumerate() {
            let kind = *known
                .get(usize::from(code))
                .ok_or_else(|| KernelError::Argument(format!("there is no kind {code} (column {j})")))?;
            match runs.last_mut() {
                Some(run) if run.kind == kind => run.columns.end = j + 1,
                _ => runs.push(Run { kind, columns: j..j + 1 }),
            }
        }
        if threshold.is_nan() {
            return Err(KernelError::Argument("the threshold must be a number".into()));
        }
        let mut offsets = Vec::new();
        if let Some(sizes) = sizes {
            check_length("sizes", sizes.len(), kinds.len())?;
            offsets.push(0usize);
            for &size in sizes {
                let next = usize::try_from(size).ok().and_then(|s| offsets[offsets.len() - 1].checked_add(s));
                offsets.push(next.ok_or_else(|| KernelError::Argument(format!("{size} categories")))?);
            }
        } else if kinds.contains(&3) {
            return Err(KernelError::Argument("categorical columns need their number of categories".into()));
        }
        // Sparse rows ask for the kind of single columns; one kind for all needs no table of them.
        let kinds = if runs.len() > 1 {
            kinds.iter().map(|&code| known[usize::from(code)]).collect()
        } else {
            Vec::new()
        };
        Ok(Self { runs, offsets, threshold, kinds })
    }

    /// Whether some column is of that kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.runs.iter().any(|run| run.kind == kind)
    }

    /// The kind of every column, where there is but one.
    pub fn only(&self) -> Option<Kind> {
        match self.runs.as_slice() {
            [run] => Some(run.kind),
            _ => None,
        }
    }

    /// The kind of column `j`.
    #[inline(always)]
    pub fn kind(&self, j: usize) -> Kind {
        self.kinds.get(j).copied().unwrap_or_else(|| self.runs.first().map_or(Kind::Gaussian, |run| run.kind))
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.runs.last().map_or(0, |run| run.columns.end)
    }

    /// Entries of the table of one class.
    pub fn n_categories(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The categories of column `j` in the table.
    #[inline(always)]
    pub fn categories(&self, j: usize) -> Range<usize> {
        match (self.offsets.get(j), self.offsets.get(j + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    /// The place of category `x` of column `j` in the table, if there is such a category.
    #[inline(always)]
    pub fn category(&self, j: usize, x: f64) -> Option<usize> {
        let all = self.categories(j);
        // The cast cuts off fractions and sends negative numbers to zero: both differ from x then.
        let number = x as usize;
        (number as f64 == x && number < all.len()).then(|| all.start + number)
    }
}

/// The error of a category that column `j` does not have.
#[cold]
pub(crate) fn no_category(plan: &Plan, i: usize, j: usize, x: f64) -> KernelError {
    let last = plan.categories(j).len().saturating_sub(1);
    KernelError::Argument(format!(
        "Input X is {x} at row {i}, column {j}: not a category of 0, 1, ..., {last}."
    ))
}

/// The error of a count below zero.
#[cold]
pub(crate) fn negative(i: usize, j: usize, x: f64) -> KernelError {
    KernelError::Argument(format!(
        "Negative values in data: input X is {x} at row {i}, column {j}, and multinomial features are counts."
    ))
}

/// The error of an infinite value.
#[cold]
pub(crate) fn infinite(row: usize, column: usize) -> KernelError {
    KernelError::NotFinite { row, column, value: "infinity" }
}

/// Rows that can be counted: row by row, some columns at a time.
pub trait Countable<T: Real>: Rows<T> {
    /// Whether zeros may be left out of the rows.
    const SPARSE: bool;
    /// Add row `i` of the part's class number `class`; false where the row is not sorted or names a column twice.
    fn add_row(
        &self,
        i: usize,
        class: usize,
        weight: f64,
        plan: &Plan,
        part: &mut Part,
    ) -> Result<bool, KernelError>;
}

/// The rows of a task, in order, and the classes that they are of.
struct Share {
    rows: Range<usize>,
    classes: Range<usize>,
}

struct Counting<'a, T, X> {
    x: &'a X,
    plan: &'a Plan,
    targets: &'a [i64],
    weights: Option<&'a [f64]>,
    /// Row numbers; the rows themselves where there are none.
    order: Option<&'a [usize]>,
    share: Share,
    stop: &'a Interrupt,
    precision: PhantomData<T>,
}

impl<T: Real, X: Countable<T>> Task for Counting<'_, T, X> {
    /// `None` where a row is out of order.
    type Output = Result<Option<Part>, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { x, plan, targets, weights, order, share, stop, .. } = self;
        let mut part = Part::new(plan, share.classes.len(), X::SPARSE);
        for at in share.rows {
            if at % COUNT_BLOCK == 0 {
                stop.check()?;
            }
            let i = order.map_or(at, |order| order[at]);
            if let Some(&next) = order.and_then(|order| order.get(at + 4)) {
                x.prefetch(next);
            }
            let weight = weights.map_or(1.0, |w| w[i]);
            let class = targets[i] as usize - share.classes.start;
            // A row of no weight is no row; a mean of no weight would not be a number.
            if weight > 0.0 && !x.add_row(i, class, weight, plan, &mut part)? {
                return Ok(None);
            }
        }
        Ok(Some(part))
    }
}

/// The statistics of the rows by class; `targets` holds class numbers below `n_classes`.
///
/// Returns `None` where a sparse row is not sorted or names a column twice; sums of counts need no order.
pub fn count<T: Real, X: Countable<T>>(
    x: &X,
    plan: &Plan,
    targets: &[i64],
    weights: Option<&[f64]>,
    n_classes: usize,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Option<Part>, KernelError> {
    let (n, d) = (x.n_rows(), x.n_cols());
    check_labels(targets, weights, n, n_classes)?;
    check_length("kinds", plan.n_cols(), d)?;
    if X::SPARSE && plan.has(Kind::Bernoulli) && plan.threshold < 0.0 {
        return Err(KernelError::Argument(
            "a threshold below zero would turn on the zeros that sparse rows leave out".into(),
        ));
    }
    let one = (d * if plan.has(Kind::Gaussian) { 2 } else { 1 } + plan.n_categories()).max(1);
    zeros::<f64>(n_classes.saturating_mul(one))?; // fail in words where there is no memory for the result
    let work = x.n_stored();
    let together = n_classes.saturating_mul(one) <= SMALL;
    let order = if together { None } else { Some(by_class(targets, n_classes)) };
    let bounds = order.as_ref().map_or(vec![0, n], |(_, bounds)| bounds.clone());
    // A part of the rows pays where it holds several times more values than the statistics.
    let size = if together { n_classes * one } else { one };
    let shares: Vec<Vec<Share>> = bounds
        .windows(2)
        .enumerate()
        .map(|(k, bound)| {
            let (rows, classes) = (bound[1] - bound[0], if together { 0..n_classes } else { k..k + 1 });
            let parts = (work / n.max(1) * rows / (8 * size)).clamp(1, COUNT_PARTS).min(rows.max(1));
            let cut = |p: usize| bound[0] + rows * p / parts;
            (0..parts).map(|p| Share { rows: cut(p)..cut(p + 1), classes: classes.clone() }).collect()
        })
        .collect();
    let groups: Vec<usize> = shares.iter().map(Vec::len).collect();
    let order = order.as_ref().map(|(order, _)| order.as_slice());
    let task = |share: Share| {
        dispatch(Counting { x, plan, targets, weights, order, share, stop, precision: PhantomData })
    };
    let n_threads = if work < WORTH_THREADS { 1 } else { n_threads };
    let done = try_each(n_threads, shares.into_iter().flatten(), task)?;
    let Some(parts) = done.into_iter().collect::<Option<Vec<Part>>>() else {
        return Ok(None);
    };
    let mut parts = parts.into_iter();
    let mut all: Option<Part> = None;
    for group in groups {
        let Some(mut first) = parts.next() else { break };
        for next in parts.by_ref().take(group - 1) {
            first.absorb(&next);
        }
        first.count_zeros(plan);
        match &mut all {
            Some(all) => all.append(first, n_classes),
            None => all = Some(first),
        }
    }
    Ok(all)
}

/// Fail unless there are classes, not more than statistics of each could ever be kept, and each of `n` rows has
/// one of them, with a weight that is finite and not negative where there are weights.
pub(crate) fn check_labels(
    targets: &[i64],
    weights: Option<&[f64]>,
    n: usize,
    n_classes: usize,
) -> Result<(), KernelError> {
    if n_classes == 0 || n_classes > 1 << 24 {
        return Err(KernelError::Argument(format!("{n_classes} classes: there must be 1 to 2^24")));
    }
    check_length("targets", targets.len(), n)?;
    if let Some(i) = targets.iter().position(|&t| usize::try_from(t).map_or(true, |t| t >= n_classes)) {
        return Err(KernelError::Argument(format!("target {} in row {i} is no class", targets[i])));
    }
    if let Some(weights) = weights {
        check_length("weights", weights.len(), n)?;
        check_not_negative("weights", weights)?;
    }
    Ok(())
}

/// Row numbers class by class, in order, and where each class begins and the last one ends.
fn by_class(targets: &[i64], n_classes: usize) -> (Vec<usize>, Vec<usize>) {
    let mut bounds = vec![0; n_classes + 1];
    for &t in targets {
        bounds[t as usize + 1] += 1;
    }
    for k in 0..n_classes {
        bounds[k + 1] += bounds[k];
    }
    let mut next = bounds.clone();
    let mut order = vec![0; targets.len()];
    for (i, &t) in targets.iter().enumerate() {
        order[next[t as usize]] = i;
        next[t as usize] += 1;
    }
    (order, bounds)
}
