//! Stochastic subgradient descent for the structured SVM on chains.
//!
//! Pegasos (Shalev-Shwartz et al. 2011) on P / n with steps 1 / (lambda t): after t visits of n sequences
//!     w_t = n v_t / t,  v_t = sum over the visits of C_i (Psi(x_i, y_i) - Psi(x_i, y')),
//! y' the rival at the weights of the visit. The average weighs w_t by t (Lacoste-Julien, Schmidt & Bach 2012), which is
//! the plain average of v_t up to a factor. After whole passes every sequence was visited as often, so that
//! w_t is that of a feasible point of the dual, with the average cost of the rivals: a bound comes for free.

use crate::chain::encoded::Encoded;
use crate::chain::margin::{AtSequence, Entries, Margin, Pass, Visits};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::real::Real;
use crate::simd::dispatch;

/// The state of a solver.
#[derive(Debug)]
pub struct Subgradient<T> {
    v: Vec<f64>,
    /// v in the precision of the data, for searches.
    near: Vec<T>,
    /// sum over the visits j of (j - 1) times the change of v.
    sum: Vec<f64>,
    /// sum over the visits of C_i Delta_i(y').
    cost: f64,
    visits: f64,
    random: Random,
    order: Vec<u32>,
}

impl<T: Real> Subgradient<T> {
    /// Begin at w = 0.
    pub fn new(problem: &Margin, data: &Encoded<T>, seed: u64) -> Result<Self, KernelError> {
        problem.check(data)?;
        Ok(Self {
            v: zeros(problem.n_weights())?,
            near: zeros(problem.n_weights())?,
            sum: zeros(problem.n_weights())?,
            cost: 0.0,
            visits: 0.0,
            random: Random::new(seed),
            order: problem.active(data),
        })
    }

    /// w_t = factor v_t
    fn factor(&self) -> f64 {
        self.order.len() as f64 / self.visits.max(1.0)
    }
}

impl<T: Real> Visits<T> for Subgradient<T> {
    fn weights(&self) -> Vec<T> {
        let factor = self.factor();
        self.v.iter().map(|v| T::from_f64(factor * v)).collect()
    }

    fn average(&self) -> Vec<T> {
        let (t, n) = (self.visits.max(1.0), self.order.len() as f64);
        let factor = 2.0 * n / (t * (t + 1.0));
        let mean = |(v, sum): (&f64, &f64)| T::from_f64(factor * (t * v - sum));
        self.v.iter().zip(&self.sum).map(mean).collect()
    }

    fn run_pass(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        problem.check(data)?;
        check_length("weights", self.v.len(), problem.n_weights())?;
        self.random.shuffle(&mut self.order);
        dispatch(Pass { solver: self, problem, data, stop })
    }

    fn dual(&mut self, problem: &Margin) -> Result<f64, KernelError> {
        check_length("weights", self.v.len(), problem.n_weights())?;
        let factor = self.factor();
        let (cost, penalty) = (factor * self.cost, factor * factor * problem.penalty(&self.v));
        // v and the cost are sums over the visits: as many roundings, each of at most what there is at the end.
        let rounding = (self.visits + 8.0) * f64::EPSILON * (cost + 2.0 * penalty);
        Ok(cost - penalty - rounding)
    }
}

impl<T: Real> AtSequence<T> for Subgradient<T> {
    fn order(&self) -> &[u32] {
        &self.order
    }

    fn point(&self) -> (&[T], f64) {
        (&self.near, self.factor())
    }

    #[inline(always)]
    fn learn(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        number: usize,
        states: &[u32],
        entries: &mut Entries,
    ) {
        let c = problem.c[number];
        self.cost += c * problem.path_difference(data, number, states, entries);
        for &(at, value) in entries.settle(&problem.shares) {
            let change = -c * value * f64::from(problem.shares[at as usize]);
            self.v[at as usize] += change;
            self.near[at as usize] = T::from_f64(self.v[at as usize]);
            self.sum[at as usize] += self.visits * change;
        }
        self.visits += 1.0;
    }
}
