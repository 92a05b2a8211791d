//! Rows of occurrences to a CSR matrix of weighted, normalized values.
//!
//! value_ij = tf_ij idf_j / |row| r_j, with tf the count n, 1 (`binary`) or 1 + ln n (`sublinear`); norm and
//! idf as in scikit-learn's `TfidfTransformer`. A signed sum s of hashed terms counts as sign(s) tf(|s|).
//! Values are computed in `f64` in the order of the columns, row by row: threads do not change them.

use super::each;
use super::rows::{Piece, Rows, each_column};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::real::Real;

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

/// Counts whose 1 + ln n is tabulated.
const TABULATED: usize = 256;

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
    let logs: Vec<f64> = (0..TABULATED).map(|n| if n == 0 { 0.0 } else { 1.0 + (n as f64).ln() }).collect();
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
        fill(task, rows.signed(), weighting, &logs);
        Ok(())
    })
    .into_iter()
    .collect::<Result<(), KernelError>>()?;
    Ok(matrix)
}

fn fill<T: Real>(task: Task<'_, T>, signed: bool, weighting: Weighting<'_>, logs: &[f64]) {
    let Task { piece, first, starts, mut columns, mut values } = task;
    let mut at = first;
    let mut row_values: Vec<f64> = Vec::new();
    for (row, start) in piece.rows().zip(starts) {
        row_values.clear();
        let mut sum = 0.0;
        let mut places = columns.iter_mut();
        each_column(row, signed, |column, count, _| {
            let mut value = if weighting.binary { 1.0 } else { count as f64 };
            if weighting.sublinear {
                let size = count.unsigned_abs() as usize;
                let log = logs.get(size).copied().unwrap_or_else(|| 1.0 + (size as f64).ln());
                value = if weighting.binary { 1.0 } else { log.copysign(value) };
            }
            if let Some(idf) = weighting.idf {
                value *= idf[column as usize];
            }
            sum += match weighting.norm {
                Norm::None => 0.0,
                Norm::L1 => value.abs(),
                Norm::L2 => value * value,
            };
            if let Some(place) = places.next() {
                *place = column as i32;
            }
            row_values.push(value);
        });
        let norm = match weighting.norm {
            Norm::None => 1.0,
            Norm::L1 => sum,
            Norm::L2 => sum.sqrt(),
        };
        let norm = if norm == 0.0 { 1.0 } else { norm };
        let n = row_values.len();
        let (row_columns, rest) = std::mem::take(&mut columns).split_at_mut(n);
        columns = rest;
        let (places, rest) = std::mem::take(&mut values).split_at_mut(n);
        values = rest;
        for ((place, &value), &mut column) in places.iter_mut().zip(&row_values).zip(row_columns) {
            let scale = weighting.scale.map_or(1.0, |scale| scale[column as usize]);
            *place = T::from_f64(value / norm * scale);
        }
        at += n as i64;
        *start = at;
    }
}
