//! Rows of occurrences to a CSR matrix of weighted, normalized values.
//!
//! value_ij = tf_ij idf_j / |row| r_j, with tf the count n, 1 (`binary`) or 1 + ln n (`sublinear`); norm and
//! idf as in scikit-learn's `TfidfTransformer`. A signed sum s of hashed terms counts as sign(s) tf(|s|).
//! Values are computed in `f64` in the order of the columns, row by row: threads do not change them.

use super::rows::{Piece, Rows};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::text::tuning::TABULATED;
use crate::threads::each;

/// What the values of a row are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Nothing.
    None,
    /// The sum of their absolute values.
    L1,
    /// The root of the sum of their squares.
    L2,
}

/// How occurrences become values.
#[derive(Debug, Clone, Copy)]
pub struct Weighting<'a> {
    /// Whether a term counts once, however often it occurs.
    pub binary: bool,
    /// Whether a count n becomes 1 + ln n.
    pub sublinear: bool,
    /// Weight of every column, before the rows are normalized.
    pub idf: Option<&'a [f64]>,
    /// Norm of the rows.
    pub norm: Norm,
    /// Scale of every column, after the rows are normalized.
    pub scale: Option<&'a [f64]>,
}

/// A CSR matrix with sorted columns.
#[derive(Debug)]
pub struct Matrix<T> {
    /// Where every row starts, and the number of stored values.
    pub starts: Vec<i64>,
    /// Columns.
    pub columns: Vec<i32>,
    /// Values.
    pub values: Vec<T>,
}

/// The weight of a term that occurs n times.
struct TermWeights {
    table: Vec<f64>,
    weighting: (bool, bool),
}

impl TermWeights {
    fn new(weighting: Weighting<'_>) -> Self {
        let weighting = (weighting.binary, weighting.sublinear);
        let table = (0..TABULATED).map(|n| Self::compute(n, weighting)).collect();
        Self { table, weighting }
    }

    fn compute(n: usize, (binary, sublinear): (bool, bool)) -> f64 {
        match (n, binary, sublinear) {
            // Hashed terms that cancelled out are stored, as scikit-learn does it.
            (_, true, _) => 1.0,
            (0, _, _) => 0.0,
            (_, _, true) => 1.0 + (n as f64).ln(),
            _ => n as f64,
        }
    }

    #[inline(always)]
    fn get(&self, n: usize) -> f64 {
        self.table.get(n).copied().unwrap_or_else(|| Self::compute(n, self.weighting))
    }
}

struct Task<'a, T> {
    piece: &'a Piece,
    first: i64,
    starts: &'a mut [i64],
    columns: &'a mut [i32],
    values: &'a mut [T],
}

/// The matrix of `rows`, `n_cols` wide.
pub fn weigh<T: Real>(
    rows: &Rows,
    n_cols: usize,
    weighting: Weighting<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Matrix<T>, KernelError> {
    if i32::try_from(n_cols).is_err() {
        return Err(KernelError::Argument(format!("{n_cols} columns are too many: at most 2^31 - 1")));
    }
    rows.check_columns(n_cols, n_threads)?;
    for (name, weights) in [("idf", weighting.idf), ("scale", weighting.scale)] {
        if let Some(weights) = weights {
            check_length(name, weights.len(), n_cols)?;
        }
    }
    let n_stored = rows.n_stored();
    let mut matrix = Matrix {
        starts: vec![0; rows.n_rows() + 1],
        columns: vec![0; n_stored],
        values: crate::error::zeros(n_stored)?,
    };
    let weights = TermWeights::new(weighting);
    let mut tasks = Vec::with_capacity(rows.pieces().len());
    let (mut starts, mut columns, mut values) =
        (&mut matrix.starts[1..], &mut matrix.columns[..], &mut matrix.values[..]);
    let mut first = 0;
    for piece in rows.pieces() {
        let (these, rest) = starts.split_at_mut(piece.n_rows());
        let (these_columns, rest_columns) = columns.split_at_mut(piece.n_stored());
        let (these_values, rest_values) = values.split_at_mut(piece.n_stored());
        tasks.push(Task { piece, first, starts: these, columns: these_columns, values: these_values });
        (starts, columns, values) = (rest, rest_columns, rest_values);
        first += piece.n_stored() as i64;
    }
    let n_threads = if n_stored < 1 << 15 { 1 } else { n_threads };
    each(n_threads, tasks, |task| {
        stop.check()?;
        fill(task, rows.signed(), weighting, &weights);
        Ok(())
    })
    .into_iter()
    .collect::<Result<(), KernelError>>()?;
    Ok(matrix)
}

fn fill<T: Real>(task: Task<'_, T>, signed: bool, weighting: Weighting<'_>, weights: &TermWeights) {
    let Task { piece, first, starts, mut columns, mut values } = task;
    let mut at = first;
    let (mut sums, mut row_values): (Vec<i64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (row, start) in piece.rows().zip(starts) {
        let n = gather(row, signed, columns, &mut sums);
        let (row_columns, rest) = std::mem::take(&mut columns).split_at_mut(n);
        columns = rest;
        row_values.clear();
        row_values.extend(sums[..n].iter().zip(std::iter::once(&0).chain(&sums)).map(|(to, from)| {
            let count = to - from;
            let weight = weights.get(count.unsigned_abs() as usize);
            if count < 0 && !weighting.binary { -weight } else { weight }
        }));
        if let Some(idf) = weighting.idf {
            for (value, &column) in row_values.iter_mut().zip(row_columns.iter()) {
                *value *= idf[column as usize];
            }
        }
        let norm = match weighting.norm {
            Norm::None => 1.0,
            Norm::L1 => row_values.iter().map(|value| value.abs()).sum(),
            Norm::L2 => row_values.iter().map(|value| value * value).sum::<f64>().sqrt(),
        };
        let inverse = if norm == 0.0 { 1.0 } else { 1.0 / norm };
        let (places, rest) = std::mem::take(&mut values).split_at_mut(n);
        values = rest;
        if let Some(scale) = weighting.scale {
            for (value, &column) in row_values.iter_mut().zip(row_columns.iter()) {
                *value *= scale[column as usize];
            }
        }
        for (place, &value) in places.iter_mut().zip(&row_values) {
            *place = T::from_f64(value * inverse);
        }
        at += n as i64;
        *start = at;
    }
}

/// The different columns of a row, written to the front of `columns`, and the running sum of all signs
/// after the last occurrence of each, written to `sums`; their number.
///
/// Without branches: every occurrence overwrites the entry under way, which is left when the column changes.
#[inline(always)]
fn gather(row: &[u32], signed: bool, columns: &mut [i32], sums: &mut Vec<i64>) -> usize {
    let shift = u32::from(signed);
    let Some(&last) = row.last() else { return 0 };
    sums.resize(sums.len().max(row.len()), 0);
    let (mut n, mut sum) = (0, 0);
    let mut take = |code: u32, n: usize| {
        sum += 1 - 2 * i64::from(code & shift);
        columns[n] = (code >> shift) as i32;
        sums[n] = sum;
    };
    for pair in row.windows(2) {
        take(pair[0], n);
        n += usize::from(pair[0] >> shift != pair[1] >> shift);
    }
    take(last, n);
    n + 1
}
