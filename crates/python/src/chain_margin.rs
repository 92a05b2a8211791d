//! Handles of the structured SVM on chains: the problem, and its solvers.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use separatrix_kernels::chain::frank_wolfe::FrankWolfe;
use separatrix_kernels::chain::links::Links;
use separatrix_kernels::chain::margin::{Margin, Visits};
use separatrix_kernels::chain::segment_planes::{Active, SegmentPlanes};
use separatrix_kernels::chain::subgradient::Subgradient;
use separatrix_kernels::real::Real;

use crate::arrays::{matrix, vector};
use crate::chain::ChainGraph;
use crate::chains::{Chains, label_numbers};
use crate::errors::{data_error, to_python};
use crate::precision::{Either, either};
use crate::run::run;

type Doubles<'py> = Bound<'py, PyArray1<f64>>;

/// Numbers of the weights that edges, starts and ends carry: (edge_starts, edge_weights, start, end, n_weights).
type LinkArrays<'py> = (
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    usize,
);

type Integers<'py> = Bound<'py, PyArray1<i64>>;
type ActiveArrays<'py> = (Integers<'py>, Integers<'py>, Integers<'py>, Integers<'py>, Doubles<'py>);
type TakenActive<'py> = (
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
);

fn doubles<'py, T: Real>(py: Python<'py>, w: &[T]) -> Doubles<'py> {
    PyArray1::from_iter(py, w.iter().map(|w| w.to_f64()))
}

/// ChainMargin(chains, graph, links, labels, cost, scale, upper)
///
/// The problem 1/2 |w|^2 + sum_i upper_i H_i(w) with the costs scale_i cost\[label, other label\] of tokens. `links` is
/// (edge_starts, edge_weights, start, end, n_weights), numbers of the weights that edges and states carry; in the
/// weights those of the labels come first, then these.
#[pyclass(frozen, module = "separatrix._core")]
pub struct ChainMargin {
    chains: Py<Chains>,
    inner: Margin,
}

#[pymethods]
impl ChainMargin {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        chains: &Bound<'_, Chains>,
        graph: &Bound<'_, ChainGraph>,
        links: LinkArrays<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        cost: PyReadonlyArray2<'_, f64>,
        scale: PyReadonlyArray1<'_, f64>,
        upper: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let links = Links::new(
            graph.get().inner.clone(),
            vector("edge_starts", &links.0)?,
            vector("edge_weights", &links.1)?,
            vector("start", &links.2)?,
            vector("end", &links.3)?,
            links.4,
        )
        .map_err(to_python)?;
        let labels = label_numbers(Some(&labels))?;
        let cost = matrix("cost", &cost)?.to_vec();
        let (scale, upper) = (vector("scale", &scale)?.to_vec(), vector("upper", &upper)?.to_vec());
        let inner = either!(&chains.get().inner, |data| Margin::new(data, links, labels, cost, scale, upper));
        Ok(Self { chains: chains.clone().unbind(), inner: inner.map_err(to_python)? })
    }

    /// Number of weights.
    #[getter]
    fn n_weights(&self) -> usize {
        self.inner.n_weights()
    }

    /// (sum of upper_i H_i, size): its rounding is a small multiple of the size times that of one number.
    fn loss(
        &self,
        py: Python<'_>,
        weights: PyReadonlyArray1<'_, f64>,
        n_threads: usize,
    ) -> PyResult<(f64, f64)> {
        let (w, problem) = (vector("weights", &weights)?, &self.inner);
        either!(&self.chains.get().inner, |data| {
            run(py, problem.work(data), |stop| {
                let w: Vec<_> = w.iter().map(|&w| Real::from_f64(w)).collect();
                problem.loss(data, &w, n_threads, stop)
            })
        })
    }
}

type AnyVisits = Either<Box<dyn Visits<f32>>, Box<dyn Visits<f64>>>;

/// ChainVisits(margin, kind, seed)
///
/// Block-coordinate Frank–Wolfe (`kind="frank_wolfe"`) or stochastic subgradient descent (`kind="subgradient"`).
#[pyclass(module = "separatrix._core")]
pub struct ChainVisits {
    margin: Py<ChainMargin>,
    state: AnyVisits,
}

#[pymethods]
impl ChainVisits {
    #[new]
    fn new(margin: &Bound<'_, ChainMargin>, kind: &str, seed: u64) -> PyResult<Self> {
        let problem = &margin.get().inner;
        let state: AnyVisits = either!(&margin.get().chains.get().inner, |data| => match kind {
            "frank_wolfe" => Box::new(FrankWolfe::new(problem, data, seed).map_err(to_python)?),
            "subgradient" => Box::new(Subgradient::new(problem, data, seed).map_err(to_python)?),
            _ => {
                let message = format!("kind must be \"frank_wolfe\" or \"subgradient\", not {kind:?}");
                return Err(data_error(message));
            }
        });
        Ok(Self { margin: margin.clone().unbind(), state })
    }

    /// One pass over the sequences; returns sum_i upper_i H_i, each at the weights of its visit.
    fn run_pass(&mut self, py: Python<'_>) -> PyResult<f64> {
        let margin = self.margin.get();
        either!(&margin.chains.get().inner, &mut self.state, |data, solver| {
            run(py, margin.inner.work(data), |stop| solver.run_pass(&margin.inner, data, stop))
        })
    }

    /// A lower bound of the minimum, after whole passes.
    fn dual(&mut self) -> PyResult<f64> {
        let margin = self.margin.get();
        either!(&margin.chains.get().inner, &mut self.state, |_data, solver| {
            solver.dual(&margin.inner).map_err(to_python)
        })
    }

    /// The weights now.
    fn weights<'py>(&self, py: Python<'py>) -> Doubles<'py> {
        either!(&self.state, |solver| doubles(py, &solver.weights()))
    }

    /// Their average over the visits, visit t weighed by t.
    fn average<'py>(&self, py: Python<'py>) -> Doubles<'py> {
        either!(&self.state, |solver| doubles(py, &solver.average()))
    }
}

/// ChainSegments(margin, seed)
///
/// Dual coordinate ascent on segment planes.
#[pyclass(module = "separatrix._core")]
pub struct ChainSegments {
    margin: Py<ChainMargin>,
    state: Either<Box<SegmentPlanes<f32>>, Box<SegmentPlanes<f64>>>,
}

#[pymethods]
impl ChainSegments {
    #[new]
    fn new(margin: &Bound<'_, ChainMargin>, seed: u64) -> PyResult<Self> {
        let problem = &margin.get().inner;
        let state = either!(&margin.get().chains.get().inner, |data| => {
            Box::new(SegmentPlanes::new(problem, data, seed).map_err(to_python)?)
        });
        Ok(Self { margin: margin.clone().unbind(), state })
    }

    /// One pass over the sequences; returns sum_i upper_i H_i, each at the weights of its visit.
    fn run_pass(&mut self, py: Python<'_>) -> PyResult<f64> {
        let margin = self.margin.get();
        either!(&margin.chains.get().inner, &mut self.state, |data, solver| {
            run(py, margin.inner.work(data), |stop| solver.run_pass(&margin.inner, data, stop))
        })
    }

    /// A sweep over the planes known so far; returns by how much the dual rose.
    fn sweep(&mut self, py: Python<'_>) -> PyResult<f64> {
        let margin = self.margin.get();
        either!(&margin.chains.get().inner, &mut self.state, |data, solver| {
            run(py, margin.inner.work(data), |stop| solver.sweep(&margin.inner, stop))
        })
    }

    /// New planes at the weights `at` or, without, at the average over the sweeps since the last search. Returns P there.
    #[pyo3(signature = (at, n_threads))]
    fn search<'py>(
        &mut self,
        py: Python<'py>,
        at: Option<PyReadonlyArray1<'py, f64>>,
        n_threads: usize,
    ) -> PyResult<(f64, Doubles<'py>)> {
        let margin = self.margin.get();
        let at = at.as_ref().map(|at| vector("at", at)).transpose()?;
        either!(&margin.chains.get().inner, &mut self.state, |data, solver| {
            let problem = &margin.inner;
            let (value, w) = run(py, problem.work(data), |stop| {
                let w = match at {
                    Some(at) => at.iter().map(|&w| Real::from_f64(w)).collect(),
                    None => solver.average(),
                };
                let loss = solver.search(problem, data, &w, n_threads, stop)?;
                Ok((loss + problem.penalty(&w), w))
            })?;
            Ok((value, doubles(py, &w)))
        })
    }

    /// The positive dual variables as (sequences, first tokens, starts, labels, alphas): plane i puts
    /// labels\[starts\[i\]:starts\[i + 1\]\] at the tokens from its first one on.
    fn active<'py>(&self, py: Python<'py>) -> ActiveArrays<'py> {
        let problem = &self.margin.get().inner;
        let found = either!(&self.state, |solver| solver.active(problem));
        let [sequences, firsts, starts, labels] = [found.sequences, found.firsts, found.starts, found.labels]
            .map(|part| PyArray1::from_vec(py, part));
        (sequences, firsts, starts, labels, PyArray1::from_vec(py, found.alphas))
    }

    /// Begin at such dual variables, as far as they fit.
    fn restore(&mut self, py: Python<'_>, active: TakenActive<'_>) -> PyResult<()> {
        let margin = self.margin.get();
        let active = Active {
            sequences: vector("sequences", &active.0)?.to_vec(),
            firsts: vector("firsts", &active.1)?.to_vec(),
            starts: vector("starts", &active.2)?.to_vec(),
            labels: vector("labels", &active.3)?.to_vec(),
            alphas: vector("alphas", &active.4)?.to_vec(),
        };
        either!(&margin.chains.get().inner, &mut self.state, |data, solver| {
            run(py, margin.inner.work(data), |_| solver.restore(&margin.inner, data, &active))
        })
    }

    /// A lower bound of the minimum.
    fn dual(&mut self) -> PyResult<f64> {
        let margin = self.margin.get();
        either!(&margin.chains.get().inner, &mut self.state, |_data, solver| {
            solver.dual(&margin.inner).map_err(to_python)
        })
    }

    /// The weights now.
    fn weights<'py>(&self, py: Python<'py>) -> Doubles<'py> {
        either!(&self.state, |solver| doubles(py, solver.weights()))
    }

    /// (planes, planes with a positive dual variable)
    #[getter]
    fn counts(&self) -> (usize, usize) {
        either!(&self.state, |solver| solver.counts())
    }
}
