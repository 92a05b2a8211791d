//! Many two-class problems on the same rows.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use separatrix_kernels::KernelError;
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::dual::columns::{Code, Column, Ending, Settings, feature_major, solve};
use separatrix_kernels::dual::intercept::Intercept;
use separatrix_kernels::dual::pairs::solve_sparse;
use separatrix_kernels::interrupt::Interrupt;
use separatrix_kernels::loss::dual::MarginLoss;

use crate::arrays::{matrix, new_matrix, vector};
use crate::design::{dense_of, with_csr, with_dense};
use crate::errors::{data_error, to_python};
use crate::precision::either;
use crate::run::run;
use crate::sparse::Csr;

type Vector<'py, T> = Bound<'py, PyArray1<T>>;
/// Starts, rows and signed duals.
type Support<'py> = (Vector<'py, i64>, Vector<'py, i64>, Vector<'py, f64>);
/// Intercepts, objectives, gaps, passes and endings.
type Reports<'py> =
    (Vector<'py, f64>, Vector<'py, f64>, Vector<'py, f64>, Vector<'py, f64>, Vector<'py, i64>);
type Answer<'py> = (Option<Bound<'py, PyAny>>, Support<'py>, Reports<'py>);

/// Solve on `$rows` by `$kernel`, and hand the answers over.
macro_rules! answer {
    ($py:expr, $rows:expr, $code:expr, $settings:expr, $n_threads:expr, $kernel:expr) => {{
        let rows = $rows;
        let work = rows.n_stored().saturating_mul($settings.1);
        let (columns, weights) = run($py, work, |stop: &Interrupt| {
            let columns = $kernel(rows, $code, &$settings.0, $n_threads, stop)?;
            let keep = $settings.0.keep_weights;
            let weights = keep.then(|| feature_major(&columns, rows.n_cols(), $n_threads));
            Ok::<_, KernelError>((columns, weights))
        })?;
        let k = columns.len();
        let weights = weights.map(|weights| new_matrix($py, weights, k)).transpose()?;
        let (support, reports) = reports($py, &columns);
        Ok((weights.map(Bound::into_any), support, reports))
    }};
}

fn reports<'py, T>(py: Python<'py>, columns: &[Column<T>]) -> (Support<'py>, Reports<'py>) {
    let mut starts = vec![0i64];
    for column in columns {
        starts.push(starts[starts.len() - 1] + column.rows.len() as i64);
    }
    let rows: Vec<i64> = columns.iter().flat_map(|c| c.rows.iter().map(|&i| i64::from(i))).collect();
    let duals: Vec<f64> = columns.iter().flat_map(|c| c.duals.iter().copied()).collect();
    let each = |value: fn(&Column<T>) -> f64| PyArray1::from_iter(py, columns.iter().map(value));
    let endings = columns.iter().map(|c| match c.ending {
        Ending::Converged => 0,
        Ending::Budget => 1,
        Ending::Stalled => 2,
    });
    (
        (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, rows), PyArray1::from_vec(py, duals)),
        (
            each(|c| c.intercept),
            each(|c| c.objective),
            each(|c| c.gap),
            each(|c| c.passes),
            PyArray1::from_iter(py, endings),
        ),
    )
}

/// solve_columns(design, y, table, upper, loss, intercept, seed, tol, max_passes, patience, keep_weights,
/// n_threads)
///
/// Dual coordinate descent for all columns of a code; `table` (K, L) holds the signed weight of each class in each
/// column. Returns the weights (d, L) or None, (starts, rows, signed duals) of the columns, and (intercepts,
/// objectives, gaps, passes, endings), where an ending is 0 (converged), 1 (budget) or 2 (stalled).
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn solve_columns<'py>(
    py: Python<'py>,
    design: &Bound<'py, PyAny>,
    y: PyReadonlyArray1<'py, i64>,
    table: PyReadonlyArray2<'py, f64>,
    upper: PyReadonlyArray1<'py, f64>,
    loss: &str,
    intercept: &str,
    seed: u64,
    tol: f64,
    max_passes: f64,
    patience: f64,
    keep_weights: bool,
    n_threads: usize,
) -> PyResult<Answer<'py>> {
    let (n_classes, n_columns) = (table.shape()[0], table.shape()[1]);
    if !(tol > 0.0 && max_passes > 0.0 && patience > 0.0) {
        return Err(data_error("tol, max_passes and patience must be positive".into()));
    }
    let settings = Settings {
        loss: MarginLoss::parse(loss).map_err(to_python)?,
        intercept: Intercept::parse(intercept).map_err(to_python)?,
        seed,
        tol,
        // What never ends cannot be asked for.
        max_passes: max_passes.min(1e9),
        patience,
        keep_weights,
    };
    let (y, table, upper) = (vector("y", &y)?, matrix("table", &table)?, vector("upper", &upper)?);
    let code = &Code::new(y, table, n_classes, upper).map_err(to_python)?;
    let settings = (settings, n_columns);
    if let Ok(csr) = design.cast::<Csr>() {
        with_csr!(py, csr.get(), |rows: T| answer!(py, rows, code, settings, n_threads, solve_sparse))
    } else {
        either!(&dense_of(design)?.get().inner, |array| {
            with_dense(py, array, |rows| answer!(py, rows, code, settings, n_threads, solve))
        })
    }
}
