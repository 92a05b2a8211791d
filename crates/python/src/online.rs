//! Handles of the online learners: perceptron and MIRA, and the vote of their weight vectors.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use separatrix_kernels::data::rows::Rows;
use separatrix_kernels::online::vote;
use separatrix_kernels::online::{Examples, Keep, Online as Learner, Rule, Update, n_scores};

use crate::arrays::{matrix, new_matrix, vector};
use crate::design::with_rows;
use crate::errors::{data_error, to_python};
use crate::precision::{State, learner, lost, of_learner, taken};
use crate::run::run;

/// Online(design, targets, row_weights, n_classes, rule, step, keep, weights, average, seen,
/// seed, n_threads)
///
/// A perceptron (`rule="perceptron"`, `step` its rate) or MIRA (`rule="mira"`, `step` its cap) that
/// keeps the "last" weights, their "average" or the log of a "vote". `weights` and `average` are where an
/// earlier run stopped; a shape (d, K) in place of `weights` stands for zeros.
#[pyclass(module = "separatrix._core")]
pub struct Online {
    design: Py<PyAny>,
    targets: Vec<u32>,
    row_weights: Vec<f64>,
    n_scores: usize,
    state: State,
}

fn class_numbers(targets: &[i64]) -> PyResult<Vec<u32>> {
    let narrow = |&y: &i64| u32::try_from(y).map_err(|_| data_error(format!("{y} is not a class number")));
    targets.iter().map(narrow).collect()
}

#[pymethods]
impl Online {
    #[new]
    #[pyo3(signature = (design, targets, row_weights, n_classes, rule, step, keep, weights, average, seen, seed, n_threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        design: &Bound<'_, PyAny>,
        targets: PyReadonlyArray1<'_, i64>,
        row_weights: Option<PyReadonlyArray1<'_, f64>>,
        n_classes: usize,
        rule: &str,
        step: f64,
        keep: &str,
        weights: &Bound<'_, PyAny>,
        average: Option<&Bound<'_, PyAny>>,
        seen: u64,
        seed: Option<u64>,
        n_threads: usize,
    ) -> PyResult<Self> {
        let rule = match rule {
            "perceptron" => Rule::Perceptron { rate: step },
            "mira" => Rule::Mira { cap: step },
            _ => return Err(data_error(format!("rule must be \"perceptron\" or \"mira\", not {rule:?}"))),
        };
        let keep = match keep {
            "last" => Keep::Last,
            "average" => Keep::Average,
            "vote" => Keep::Vote,
            _ => {
                return Err(data_error(format!(
                    "keep must be \"last\", \"average\" or \"vote\", not {keep:?}"
                )));
            }
        };
        let k = n_scores(n_classes);
        let state: State = with_rows!(py, design, |rows: T| {
            let weights = taken::<T>("weights", weights)?.0;
            let intercept = weights.len() == (rows.n_cols() + 1) * k;
            let average = match average {
                Some(average) => taken::<T>("average", average)?.0,
                None => Vec::new(),
            };
            let learner = Learner::new(rule, keep, n_classes, intercept, weights, average, seen, seed)
                .map_err(to_python)?
                .with_threads(n_threads);
            Ok::<State, PyErr>(Box::new(learner))
        })?;
        Ok(Self {
            design: design.clone().unbind(),
            targets: class_numbers(vector("targets", &targets)?)?,
            row_weights: match &row_weights {
                Some(c) => vector("row_weights", c)?.to_vec(),
                None => Vec::new(),
            },
            n_scores: k,
            state,
        })
    }

    /// One pass over the rows; returns the number of mistakes.
    fn run_epoch(&mut self, py: Python<'_>) -> PyResult<u64> {
        let design = self.design.clone_ref(py).into_bound(py);
        let examples = Examples { targets: &self.targets, row_weights: &self.row_weights };
        let work = self.n_scores;
        let state = &mut self.state;
        with_rows!(py, &design, |rows: T| {
            let learner = learner::<Learner<T>>(state)?;
            run(py, rows.n_stored() * work, |stop| learner.run_epoch(rows, examples, stop))
        })
    }

    /// (smallest margin of the last weights scaled to unit norm, largest squared norm of a row).
    fn margin(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let design = self.design.bind(py);
        let examples = Examples { targets: &self.targets, row_weights: &self.row_weights };
        with_rows!(py, design, |rows: T| {
            let learner = self.state.downcast_ref::<Learner<T>>().ok_or_else(lost)?;
            run(py, rows.n_stored() * self.n_scores, |stop| learner.margin(rows, examples, stop))
        })
    }

    /// The last weights.
    fn weights<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let k = self.n_scores;
        of_learner!(&mut self.state, Learner, |l| new_matrix(py, l.weights().to_vec(), k)
            .map(Bound::into_any))?
    }

    /// The average of the weights after each row.
    fn average<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let k = self.n_scores;
        of_learner!(&mut self.state, Learner, |l| new_matrix(py, l.average(), k).map(Bound::into_any))?
    }

    /// The average (empty where none is kept) and the last weights; afterwards the handle is without.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let k = self.n_scores;
        of_learner!(&mut self.state, Learner, |l| {
            let [average, last] = l.finish();
            PyTuple::new(py, [new_matrix(py, average, k)?, new_matrix(py, last, k)?])
        })?
    }

    /// Rows seen so far.
    #[getter]
    fn seen(&mut self) -> PyResult<u64> {
        of_learner!(&mut self.state, Learner, |l| l.seen())
    }

    /// The most learners that shared a pass so far.
    #[getter]
    fn learners(&mut self) -> PyResult<usize> {
        of_learner!(&mut self.state, Learner, |l| l.learners())
    }

    /// Updates of a vote as (row, raised, lowered, size, survived), and the rows that the starting
    /// weights survived.
    fn log<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (updates, start) = of_learner!(&mut self.state, Learner, |l| l.log())?;
        let column = |f: fn(&Update) -> i64| PyArray1::from_iter(py, updates.iter().map(f));
        PyTuple::new(
            py,
            [
                column(|u| i64::from(u.row)).into_any(),
                column(|u| i64::from(u.raised)).into_any(),
                column(|u| i64::from(u.lowered)).into_any(),
                PyArray1::from_iter(py, updates.iter().map(|u| u.size)).into_any(),
                column(|u| u.survived as i64).into_any(),
                start.into_pyobject(py)?.into_any(),
            ],
        )
    }
}

/// Shares of the votes, of shape (n, n_classes).
///
/// `start` holds the scores at the starting weights, `gram` the products of the rows with the rows
/// of the updates, bias feature included; the other arrays are those of `Online.log`, rows numbered
/// by the columns of `gram`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn vote_shares<'py>(
    py: Python<'py>,
    start: PyReadonlyArray2<'_, f64>,
    gram: PyReadonlyArray2<'_, f64>,
    row: PyReadonlyArray1<'_, i64>,
    raised: PyReadonlyArray1<'_, i64>,
    lowered: PyReadonlyArray1<'_, i64>,
    size: PyReadonlyArray1<'_, f64>,
    survived: PyReadonlyArray1<'_, i64>,
    start_survived: u64,
    n_classes: usize,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let row = class_numbers(vector("row", &row)?)?;
    let raised = class_numbers(vector("raised", &raised)?)?;
    let lowered = class_numbers(vector("lowered", &lowered)?)?;
    let (size, survived) = (vector("size", &size)?, vector("survived", &survived)?);
    if [raised.len(), lowered.len(), size.len(), survived.len()] != [row.len(); 4] {
        return Err(data_error("the columns of the log differ in length".into()));
    }
    if start.shape()[1] != n_scores(n_classes) || start.shape()[0] != gram.shape()[0] {
        return Err(data_error("start scores, gram and classes do not fit together".into()));
    }
    let updates: Vec<Update> = (0..row.len())
        .map(|i| Update {
            row: row[i],
            raised: raised[i],
            lowered: lowered[i],
            size: size[i],
            survived: survived[i].max(0) as u64,
        })
        .collect();
    let log = vote::Log { updates: &updates, start_survived, n_classes, n_support: gram.shape()[1] };
    let (start, gram) = (matrix("start", &start)?, matrix("gram", &gram)?);
    let work = gram.len() + start.len() * updates.len();
    let shares = run(py, work, |stop| vote::shares(log, start, gram, n_threads, stop))?;
    new_matrix(py, shares, n_classes)
}
