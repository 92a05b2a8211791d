//! Handles of the learners on chains: the online ones, and the dual solver of the likelihood.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use separatrix_kernels::chain::dual::{ChainDual as Dual, Penalty};
use separatrix_kernels::chain::encoded::Encoded;
use separatrix_kernels::chain::likelihood::Targets;
use separatrix_kernels::chain::online::{ChainRule, Free, OnlineChain, Slack, Weights};
use separatrix_kernels::online::Rule;
use separatrix_kernels::real::Real;

use crate::arrays::vector;
use crate::chains::{Chains, label_numbers};
use crate::errors::{data_error, to_python};
use crate::precision::{State, either, learner, of_learner};
use crate::run::run;

type Arrays<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

/// (weights, edges, start, end) as the kernels take them; None stands for zeros.
fn taken<T: Real>(data: &Encoded<T>, weights: Option<&Bound<'_, PyTuple>>) -> PyResult<Weights<T>> {
    let Some(weights) = weights else { return Weights::zero(data).map_err(to_python) };
    let arrays: Arrays<'_> = weights
        .extract()
        .map_err(|_| data_error("weights must be (weights, edges, start, end), float64 vectors".into()))?;
    Ok(Weights {
        state: vector("weights", &arrays.0)?.iter().map(|&w| T::from_f64(w)).collect(),
        edges: vector("edges", &arrays.1)?.to_vec(),
        start: vector("start", &arrays.2)?.to_vec(),
        end: vector("end", &arrays.3)?.to_vec(),
    })
}

fn given<'py, T: Real>(py: Python<'py>, weights: &Weights<T>) -> PyResult<Bound<'py, PyTuple>> {
    let state = PyArray1::from_iter(py, weights.state.iter().map(|w| w.to_f64()));
    let [edges, start, end] =
        [&weights.edges, &weights.start, &weights.end].map(|part| PyArray1::from_slice(py, part));
    PyTuple::new(py, [state, edges, start, end])
}

/// Labels and weights of the sequences that a handle keeps.
struct Examples {
    labels: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Examples {
    fn new(
        labels: &PyReadonlyArray1<'_, i64>,
        weights: Option<&PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        Ok(Self {
            labels: label_numbers(Some(labels))?,
            weights: weights.map(|c| vector("sequence_weights", c).map(<[f64]>::to_vec)).transpose()?,
        })
    }

    fn targets(&self) -> Targets<'_> {
        Targets { labels: &self.labels, allowed: None, weights: self.weights.as_deref() }
    }
}

fn free_of(free_edges: &PyReadonlyArray1<'_, bool>, boundaries: bool) -> PyResult<Free> {
    Ok(Free { edges: vector("free_edges", free_edges)?.to_vec(), boundaries })
}

/// Evaluate `$body` with the data and the state of one precision.
macro_rules! with_state {
    ($self:expr, $chains:expr, $Kind:ident, |$data:ident, $state:ident| $body:expr) => {
        either!(&$chains.inner, |$data: T| {
            let $state = learner::<$Kind<T>>(&mut $self.state)?;
            $body
        })
    };
}

/// ChainOnline(chains, labels, sequence_weights, free_edges, boundaries, rule, step, by_errors, gamma, weights, average,
/// seen, seed)
///
/// Structured perceptron (`rule="perceptron"`, `step` its rate) or MIRA (`"mira"`, `step` its cap); as CRFsuite defines
/// them, the averaged perceptron (`"ap"`), passive–aggressive learning without slack, with it or with its square (`"pa"`,
/// `"pa1"`, `"pa2"`, `step` their c, which read `by_errors`) or AROW (`"arow"`, `step` the first variance, which reads
/// `gamma`). `weights` and `average` are (weights, edges, start, end), where an earlier run of `seen` sequences stopped.
#[pyclass(module = "separatrix._core")]
pub struct ChainOnline {
    chains: Py<Chains>,
    examples: Examples,
    state: State,
}

#[pymethods]
impl ChainOnline {
    #[new]
    #[pyo3(signature = (chains, labels, sequence_weights, free_edges, boundaries, rule, step, by_errors, gamma, weights, average, seen, seed))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        chains: &Bound<'_, Chains>,
        labels: PyReadonlyArray1<'_, i64>,
        sequence_weights: Option<PyReadonlyArray1<'_, f64>>,
        free_edges: PyReadonlyArray1<'_, bool>,
        boundaries: bool,
        rule: &str,
        step: f64,
        by_errors: bool,
        gamma: f64,
        weights: Option<&Bound<'_, PyTuple>>,
        average: Option<&Bound<'_, PyTuple>>,
        seen: u64,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let rule = match rule {
            "perceptron" => ChainRule::Plain(Rule::Perceptron { rate: step }),
            "mira" => ChainRule::Plain(Rule::Mira { cap: step }),
            "ap" => ChainRule::Perceptron,
            "pa" => ChainRule::Aggressive { slack: Slack::None, by_errors },
            "pa1" => ChainRule::Aggressive { slack: Slack::Linear(step), by_errors },
            "pa2" => ChainRule::Aggressive { slack: Slack::Squared(step), by_errors },
            "arow" => ChainRule::Arow { variance: step, gamma },
            _ => return Err(data_error(format!("{rule:?} is no rule of an online learner"))),
        };
        let free = free_of(&free_edges, boundaries)?;
        let state: State = either!(&chains.get().inner, |data| {
            let weights = taken(data, weights)?;
            let average = average.map(|average| taken(data, Some(average))).transpose()?;
            Box::new(OnlineChain::new(data, rule, free, weights, average, seen, seed).map_err(to_python)?)
        });
        Ok(Self {
            chains: chains.clone().unbind(),
            examples: Examples::new(&labels, sequence_weights.as_ref())?,
            state,
        })
    }

    /// One pass over the sequences; returns the number of mistaken tokens, or CRFsuite's sum of losses.
    fn run_epoch(&mut self, py: Python<'_>) -> PyResult<f64> {
        let chains = self.chains.clone_ref(py);
        let chains = chains.get();
        with_state!(self, chains, OnlineChain, |data, state| {
            let examples = &self.examples;
            run(py, data.work(), |stop| state.run_epoch(data, examples.targets(), stop))
        })
    }

    /// The last weights as (weights, edges, start, end).
    fn weights<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        of_learner!(&mut self.state, OnlineChain, |state| given(py, state.weights()))?
    }

    /// Their average over the sequences seen, and `idle` more without a mistake.
    fn average<'py>(&mut self, py: Python<'py>, idle: u64) -> PyResult<Bound<'py, PyTuple>> {
        of_learner!(&mut self.state, OnlineChain, |state| given(py, &state.average(idle)))?
    }

    /// Sequences seen.
    #[getter]
    fn seen(&mut self) -> PyResult<u64> {
        of_learner!(&mut self.state, OnlineChain, |state| state.seen())
    }
}

/// ChainDual(chains, labels, upper, free_edges, boundaries, l1, l2, seed)
///
/// Dual coordinate ascent for l1 |w|_1 + l2/2 |w|^2 + sum_i upper_i (log Z_i - score_i).
#[pyclass(module = "separatrix._core")]
pub struct ChainDual {
    chains: Py<Chains>,
    examples: Examples,
    state: State,
}

#[pymethods]
impl ChainDual {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the parts of an objective")]
    fn new(
        py: Python<'_>,
        chains: &Bound<'_, Chains>,
        labels: PyReadonlyArray1<'_, i64>,
        upper: PyReadonlyArray1<'_, f64>,
        free_edges: PyReadonlyArray1<'_, bool>,
        boundaries: bool,
        l1: f64,
        l2: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let free = free_of(&free_edges, boundaries)?;
        let examples = Examples::new(&labels, None)?;
        let c = vector("upper", &upper)?.to_vec();
        if let Some(i) = c.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(data_error(format!("upper[{i}] must be finite and not negative")));
        }
        let (targets, penalty) = (examples.targets(), Penalty { l1, l2 });
        let state: State = either!(&chains.get().inner, |data| {
            Box::new(run(py, 0, |_| Dual::new(data, targets, free, c, penalty, seed))?)
        });
        Ok(Self { chains: chains.clone().unbind(), examples, state })
    }

    /// One pass over the sequences; returns the penalty plus sum_i upper_i loss_i, each loss at the weights of its visit.
    fn run_pass(&mut self, py: Python<'_>) -> PyResult<f64> {
        let chains = self.chains.clone_ref(py);
        let chains = chains.get();
        with_state!(self, chains, Dual, |data, state| {
            let examples = &self.examples;
            run(py, data.work(), |stop| state.run_pass(data, examples.targets(), stop))
        })
    }

    /// The weights as (weights, edges, start, end).
    fn weights<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let chains = self.chains.clone_ref(py);
        let chains = chains.get();
        with_state!(self, chains, Dual, |data, state| given(py, &state.weights(data)))
    }

    /// Second derivatives of the losses by each weight, estimated from the marginals: (weights, edges, start, end).
    fn curvature<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let chains = self.chains.clone_ref(py);
        let chains = chains.get();
        with_state!(self, chains, Dual, |data, state| {
            let found = run(py, data.work(), |_| state.curvature(data))?;
            given(py, &found)
        })
    }
}
