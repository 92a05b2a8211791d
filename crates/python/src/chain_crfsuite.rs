//! Handle of the online learners on chains that follow CRFsuite.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use separatrix_kernels::chain::arow::{MarginChain, MarginRule, Slack};

use crate::arrays::vector;
use crate::chain_learners::{Examples, given};
use crate::chains::Chains;
use crate::errors::{data_error, to_python};
use crate::precision::{Either, either};
use crate::run::run;

/// ChainCrfsuite(chains, labels, free_edges, rule, c, by_errors, variance, gamma, seed)
///
/// Averaged perceptron (`rule="perceptron"`), passive–aggressive learning without slack, with it or with its square
/// (`"pa"`, `"pa1"`, `"pa2"`, which read `c` and `by_errors`), or AROW (`"arow"`, which reads `variance` and `gamma`).
#[pyclass(module = "separatrix._core")]
pub struct ChainCrfsuite {
    chains: Py<Chains>,
    examples: Examples,
    learner: Either<MarginChain<f32>, MarginChain<f64>>,
}

#[pymethods]
impl ChainCrfsuite {
    #[new]
    #[pyo3(signature = (chains, labels, free_edges, rule, c, by_errors, variance, gamma, seed))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        chains: &Bound<'_, Chains>,
        labels: PyReadonlyArray1<'_, i64>,
        free_edges: PyReadonlyArray1<'_, bool>,
        rule: &str,
        c: f64,
        by_errors: bool,
        variance: f64,
        gamma: f64,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let aggressive = |slack| MarginRule::Aggressive { slack, by_errors };
        let rule = match rule {
            "perceptron" => MarginRule::Perceptron,
            "pa" => aggressive(Slack::None),
            "pa1" => aggressive(Slack::Linear(c)),
            "pa2" => aggressive(Slack::Squared(c)),
            "arow" => MarginRule::Arow { variance, gamma },
            _ => {
                let message = format!(
                    "rule must be \"perceptron\", \"pa\", \"pa1\", \"pa2\" or \"arow\", not {rule:?}"
                );
                return Err(data_error(message));
            }
        };
        let free = vector("free_edges", &free_edges)?.to_vec();
        let learner = either!(&chains.get().inner, |data| => {
            MarginChain::new(data, rule, free, seed).map_err(to_python)?
        });
        Ok(Self { chains: chains.clone().unbind(), examples: Examples::new(&labels, None)?, learner })
    }

    /// One pass over the sequences; returns the sum of the losses of the mistakes.
    fn run_epoch(&mut self, py: Python<'_>) -> PyResult<f64> {
        let chains = self.chains.clone_ref(py);
        let targets = self.examples.targets();
        either!(&chains.get().inner, &mut self.learner, |data, state| {
            run(py, data.work(), |stop| state.run_epoch(data, targets, stop))
        })
    }

    /// The last weights as (weights, edges, start, end).
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        either!(&self.learner, |state| given(py, state.weights()))
    }

    /// Their average over the beginning and all sequences seen, and `idle` more without a mistake.
    fn average<'py>(&self, py: Python<'py>, idle: u64) -> PyResult<Bound<'py, PyTuple>> {
        either!(&self.learner, |state| given(py, &state.average(idle)))
    }
}
