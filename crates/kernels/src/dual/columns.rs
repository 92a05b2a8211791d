//! Many two-class problems on the same rows, one per column of a code: one-vs-all, all pairs, output codes.
//!
//! Problem: for every column l, min over w of 1/2 |w|^2 + sum_i U_i |m_il| phi(sign(m_il) <w, x_i>) with
//! m_il = `table[class of i][l]`; rows with m_il = 0 are left out of column l.
//! Invariant: a column's answer is that of [`DualBinary`] on its rows alone, whatever the other columns and
//! the number of threads are.
//! Sources: Allwein, Schapire & Singer (2000) for the columns; [`crate::dual::binary`] for each of them;
//! [`crate::dual::pairs`] where all columns are pairs of small classes.
//! Rows are sorted by class once and read where they lie; norms are those of the whole matrix; threads take
//! whole columns. Returns for each column the rows with a dual, the weights if wanted, and the certificate.

use crate::data::row_subset::Subset;
use crate::data::rows::Rows;
use crate::dual::binary::{self, DualBinary};
use crate::dual::common::check_upper;
use crate::dual::intercept::Intercept;
use crate::dual::pair_gram::ByClass;
use crate::dual::run::{Outcome, descend};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::loss::dual::MarginLoss;
use crate::real::Real;
use crate::threads::{each, try_each};

/// What all columns have in common.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The loss phi.
    pub loss: MarginLoss,
    /// What the intercepts are.
    pub intercept: Intercept,
    /// Seed of the order of visits.
    pub seed: u64,
    /// A column is done when its gap is at most so much times max(1, P).
    pub tol: f64,
    /// Budget of a column in passes over its rows.
    pub max_passes: f64,
    /// Passes within which the gap has to halve; infinite for any number.
    pub patience: f64,
    /// Whether to return weights.
    pub keep_weights: bool,
}

/// Why a column stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The gap is within the tolerance.
    Converged,
    /// The budget is used up.
    Budget,
    /// The gap did not halve in time.
    Stalled,
}

/// The answer of one column.
#[derive(Debug, Clone)]
pub struct Column<T> {
    /// Rows with a dual that is not zero.
    pub rows: Vec<u32>,
    /// Their a_i y_i, with w = sum_i a_i y_i x_i.
    pub duals: Vec<f64>,
    /// w, where wanted.
    pub weights: Vec<T>,
    /// The intercept.
    pub intercept: f64,
    /// P at w.
    pub objective: f64,
    /// Its distance from the dual value, exact.
    pub gap: f64,
    /// Passes over the rows of the column.
    pub passes: f64,
    /// Why it stopped.
    pub ending: Ending,
}

/// The rows, their classes and the table of a code.
#[derive(Debug)]
pub struct Code<'a> {
    pub(crate) classes: Vec<usize>,
    table: &'a [f64],
    pub(crate) n_columns: usize,
    upper: &'a [f64],
    pub(crate) by_class: ByClass,
}

impl<'a> Code<'a> {
    /// Check the classes of the rows, the table (`n_classes` x columns) and the weights U of the rows.
    pub fn new(
        classes: &[i64],
        table: &'a [f64],
        n_classes: usize,
        upper: &'a [f64],
    ) -> Result<Self, KernelError> {
        if n_classes == 0 || table.is_empty() || !table.len().is_multiple_of(n_classes) {
            return Err(KernelError::Argument("the table must have a row per class and columns".into()));
        }
        check_length("upper", upper.len(), classes.len())?;
        check_upper(upper)?;
        if table.iter().any(|m| !m.is_finite()) || u32::try_from(classes.len()).is_err() {
            return Err(KernelError::Argument(
                "the table must be finite, and the rows fewer than 2^32".into(),
            ));
        }
        let known = |(i, &k): (usize, &i64)| match usize::try_from(k) {
            Ok(k) if k < n_classes => Ok(k),
            _ => Err(KernelError::Argument(format!("y[{i}] = {k} is outside 0..{n_classes}"))),
        };
        let classes = classes.iter().enumerate().map(known).collect::<Result<Vec<_>, _>>()?;
        let by_class = ByClass::new(&classes, n_classes, |i| upper[i] > 0.0);
        Ok(Self { classes, table, n_columns: table.len() / n_classes, upper, by_class })
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.table.len() / self.n_columns
    }

    fn entry(&self, class: usize, column: usize) -> f64 {
        self.table[class * self.n_columns + column]
    }

    /// The classes with a part in `column`.
    pub(crate) fn parts(&self, column: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.n_classes()).filter(move |&k| self.entry(k, column) != 0.0)
    }

    /// The rows of `column`, rising.
    fn rows(&self, column: usize) -> Vec<u32> {
        let mut rows: Vec<u32> = self.parts(column).flat_map(|k| self.by_class.class(k)).copied().collect();
        rows.sort_unstable();
        rows
    }

    /// Signs and weights of `rows` in `column`; both signs must be there.
    pub(crate) fn targets(&self, rows: &[u32], column: usize) -> Result<(Vec<f64>, Vec<f64>), KernelError> {
        let entries = rows.iter().map(|&i| self.entry(self.classes[i as usize], column));
        let (mut signs, mut upper) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (m, &i) in entries.zip(rows) {
            signs.push(m.signum());
            upper.push(m.abs() * self.upper[i as usize]);
        }
        if signs.iter().all(|&s| s > 0.0) || signs.iter().all(|&s| s < 0.0) {
            return Err(KernelError::Argument(format!("column {column} has rows on one side only")));
        }
        Ok((signs, upper))
    }
}

/// Run one column to its end.
pub(crate) fn run<T: Real, X: binary::DualRows<T>>(
    x: &X,
    state: &mut DualBinary<T>,
    settings: &Settings,
    stop: &Interrupt,
) -> Result<Column<T>, KernelError> {
    let Outcome { objective, gap, passes, ending } = descend(x, state, settings, stop)?;
    let (rows, duals, weights) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Column { rows, duals, weights, intercept: state.intercept(), objective, gap, passes, ending })
}

/// The rows with a dual, and a_i y_i.
pub(crate) fn support(rows: &[u32], signs: &[f64], duals: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let signed = rows.iter().zip(signs.iter().zip(duals));
    signed.filter(|(_, (_, a))| **a != 0.0).map(|(&i, (y, a))| (i, y * a)).unzip()
}

/// Solve every column on its rows of `x`.
fn on_rows<T: Real, X: Rows<T>>(
    x: &X,
    code: &Code<'_>,
    settings: &Settings,
    column: usize,
    stop: &Interrupt,
) -> Result<Column<T>, KernelError> {
    let rows = code.rows(column);
    let (signs, upper) = code.targets(&rows, column)?;
    // A column has one thread, so that the number of its values decides nothing.
    let subset = Subset::new(x, &rows, x.n_stored() / x.n_rows().max(1) * rows.len())?;
    let Settings { loss, intercept, seed, .. } = *settings;
    let mut state = DualBinary::new(&subset, &signs, &upper, loss, intercept, seed, 1, None)?;
    let mut answer = run(&subset, &mut state, settings, stop)?;
    (answer.rows, answer.duals) = support(&rows, &signs, state.duals());
    if settings.keep_weights {
        answer.weights = state.weights();
        answer.weights.truncate(x.n_cols());
    }
    Ok(answer)
}

/// Solve all columns, each on its rows.
pub fn solve<T: Real, X: Rows<T>>(
    x: &X,
    code: &Code<'_>,
    settings: &Settings,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<Column<T>>, KernelError> {
    check_length("y", code.classes.len(), x.n_rows())?;
    let one = |column| on_rows(x, code, settings, column, stop);
    try_each(n_threads, 0..code.n_columns, one)
}

/// The weights of all columns, feature-major: `n_cols` x columns.
pub fn feature_major<T: Real>(columns: &[Column<T>], n_cols: usize, n_threads: usize) -> Vec<T> {
    /// Features whose weights are turned together, so that they stay in the cache.
    const BLOCK: usize = 64;
    let k = columns.len();
    let mut out = vec![T::ZERO; n_cols * k];
    let turn = |(b, out): (usize, &mut [T])| {
        for (l, column) in columns.iter().enumerate() {
            for (j, &w) in column.weights[b * BLOCK..].iter().take(BLOCK).enumerate() {
                out[j * k + l] = w;
            }
        }
    };
    each(n_threads, out.chunks_mut((BLOCK * k).max(1)).enumerate(), turn);
    out
}
