//! Block-coordinate Frank–Wolfe for the structured SVM on chains, with line search and averaging.
//!
//! Lacoste-Julien, Jaggi, Schmidt & Pletscher (2013), Algorithm 4. The dual variables of a sequence are a distribution over
//! its labellings, kept as w_i = C_i sum_y' alpha_i(y') (Psi(x_i, y_i) - Psi(x_i, y')) and l_i, its expected cost times
//! C_i. Invariant, up to rounding: w = sum_i w_i. A visit moves w_i and l_i towards those of the rival at w by the
//! share that raises the dual D = sum_i l_i - 1/2 |w|^2 most. The average weighs the weights after visit j by j.
//!
//! w_i and l_i are kept in double precision, w in that of the data. What rounding has moved w_i and l_i away from those
//! of a distribution is bounded on the way: a step by the share g leaves (1 - g) of what was there and adds its own. The
//! bound of D is taken at the worst.

use crate::chain::encoded::Encoded;
use crate::chain::margin::{AtSequence, Entries, Margin, Pass, Visits};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::real::Real;
use crate::simd::dispatch;

/// Relative error of a step: a handful of operations, each rounded.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// The state of a solver.
#[derive(Debug)]
pub struct FrankWolfe<T> {
    w: Vec<T>,
    /// w_i, sorted by weight, per attribute where some share a weight.
    blocks: Vec<Vec<(u32, f64)>>,
    /// l_i
    costs: Vec<f64>,
    /// By how much w_i, in the norm of the penalty, and l_i may be off.
    slips: Vec<(f64, f64)>,
    /// sum over the visits j of j (j - 1) / 2 times the change of w.
    sum: Vec<f64>,
    visits: f64,
    random: Random,
    order: Vec<u32>,
    /// Room for a step: (weight, change, value before).
    direction: Vec<(u32, f64, f64)>,
}

impl<T: Real> FrankWolfe<T> {
    /// Begin with all of alpha at the labels, w = 0.
    pub fn new(problem: &Margin, data: &Encoded<T>, seed: u64) -> Result<Self, KernelError> {
        problem.check(data)?;
        let n = data.offsets().len() - 1;
        Ok(Self {
            w: zeros(problem.n_weights())?,
            blocks: vec![Vec::new(); n],
            costs: vec![0.0; n],
            slips: vec![(0.0, 0.0); n],
            sum: zeros(problem.n_weights())?,
            visits: 0.0,
            random: Random::new(seed),
            order: problem.active(data),
            direction: Vec::new(),
        })
    }
}

impl<T: Real> Visits<T> for FrankWolfe<T> {
    fn weights(&self) -> Vec<T> {
        self.w.clone()
    }

    fn average(&self) -> Vec<T> {
        let share = 2.0 / (self.visits * (self.visits + 1.0)).max(1.0);
        self.w.iter().zip(&self.sum).map(|(w, sum)| T::from_f64(w.to_f64() - share * sum)).collect()
    }

    fn run_pass(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        problem.check(data)?;
        check_length("sequences", self.blocks.len(), problem.c.len())?;
        check_length("weights", self.w.len(), problem.n_weights())?;
        self.random.shuffle(&mut self.order);
        dispatch(Pass { solver: self, problem, data, stop })
    }

    /// With the weights computed anew from the dual variables, less what rounding may have added.
    fn dual(&mut self, problem: &Margin) -> Result<f64, KernelError> {
        check_length("weights", self.w.len(), problem.n_weights())?;
        let mut w = zeros::<f64>(self.w.len())?;
        let mut lengths = 0.0;
        for block in &self.blocks {
            let mut square = 0.0;
            for &(at, value) in block {
                let shared = f64::from(problem.shares[at as usize]) * value;
                w[at as usize] += shared;
                square += shared * value;
            }
            lengths += square.sqrt();
        }
        for (old, &new) in self.w.iter_mut().zip(&w) {
            *old = T::from_f64(new);
        }
        let (costs, penalty) = (self.costs.iter().sum::<f64>(), problem.penalty(&w));
        let (off, cost_off) =
            self.slips.iter().fold((0.0, 0.0), |sum, slip| (sum.0 + slip.0, sum.1 + slip.1));
        // Sums of so many terms, each rounded.
        let terms = (self.blocks.len() as f64 + 8.0) * f64::EPSILON;
        let off = off + terms * lengths;
        let length = (2.0 * penalty).sqrt();
        Ok(costs - penalty - cost_off - terms * (costs + penalty) - off * (length + 0.5 * off))
    }
}

impl<T: Real> AtSequence<T> for FrankWolfe<T> {
    fn order(&self) -> &[u32] {
        &self.order
    }

    fn point(&self) -> (&[T], f64) {
        (&self.w, 1.0)
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
        let cost = problem.path_difference(data, number, states, entries);
        let mut direction = std::mem::take(&mut self.direction);
        subtract(entries.settle(&problem.shares), -c, &self.blocks[number], &mut direction);
        self.visits += 1.0;
        self.step(problem, number, c * cost, &direction);
        self.direction = direction;
    }
}

/// direction = factor target - block, both sorted by weight.
fn subtract(target: &[(u32, f64)], factor: f64, block: &[(u32, f64)], direction: &mut Vec<(u32, f64, f64)>) {
    direction.clear();
    let (mut i, mut j) = (0, 0);
    while i < target.len() || j < block.len() {
        let a = target.get(i).map_or(u64::MAX, |entry| entry.0.into());
        let b = block.get(j).map_or(u64::MAX, |entry| entry.0.into());
        let (mut change, mut old) = (0.0, 0.0);
        if a <= b {
            change += factor * target[i].1;
            i += 1;
        }
        if b <= a {
            old = block[j].1;
            change -= old;
            j += 1;
        }
        direction.push((a.min(b) as u32, change, old));
    }
}

impl<T: Real> FrankWolfe<T> {
    /// Move w_i, l_i and w along a direction (weight, change, value before) as far as it raises the dual.
    #[inline(always)]
    fn step(&mut self, problem: &Margin, number: usize, cost: f64, direction: &[(u32, f64, f64)]) {
        let mut slope = cost - self.costs[number];
        let mut curvature = 0.0;
        for &(at, change, _) in direction {
            slope -= self.w[at as usize].to_f64() * change;
            curvature += f64::from(problem.shares[at as usize]) * change * change;
        }
        if slope <= 0.0 {
            return;
        }
        let share = if curvature > 0.0 { (slope / curvature).min(1.0) } else { 1.0 };
        self.costs[number] += share * (cost - self.costs[number]);
        let late = 0.5 * self.visits * (self.visits - 1.0);
        let block = &mut self.blocks[number];
        block.clear();
        let mut square = 0.0;
        for &(at, change, old) in direction {
            let by = share * change;
            let shared = by * f64::from(problem.shares[at as usize]);
            self.w[at as usize] += T::from_f64(shared);
            self.sum[at as usize] += late * shared;
            let value = old + by;
            square += f64::from(problem.shares[at as usize]) * (value * value + change * change);
            if value != 0.0 {
                block.push((at, value));
            }
        }
        let (off, cost_off) = &mut self.slips[number];
        *off = (1.0 - share) * *off + ROUNDED * square.sqrt();
        *cost_off = (1.0 - share) * *cost_off + ROUNDED * (cost + self.costs[number]);
    }
}
