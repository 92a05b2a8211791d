//! Dual coordinate descent for many classes: softmax and Crammer–Singer with any costs, L2 penalty.
//!
//! Problem: min over W (d x K) of 1/2 |W|^2 + sum_i U_i (max_op_i(z_i) - z_i[y_i]), z_i = W' x_i, where
//! max_op is log-sum-exp, or the largest of z + cost[y]. The dual has one point p_i of the simplex per
//! row, value_i(p) its entropy or its expected cost:
//! max over p of sum_i U_i value_i(p_i) - 1/2 |W(p)|^2,  W(p) = sum_i U_i x_i (e_{y_i} - p_i)'.
//! Invariant, on every exit: the weights are W(p) (up to rounding, which is removed by rebuilding them
//! now and then in single precision) and every p_i is on its simplex.
//! Sources: Crammer & Singer (2001); Keerthi et al. (2008), the sequential dual method; Yu, Huang & Lin
//! (2011); the row problems are in [`crate::dual::softmax`] and [`crate::dual::hinge`].
//! A pass returns the state of convergence, [`DualMulticlass::certificate`] the exact duality gap.

use crate::data::rows::{Rows, padded};
use crate::dual::common::{Certificate, Pass, active_rows, check_upper, due_for_rebuild, squared_norm};
use crate::dual::hot::HotRows;
use crate::dual::intercept::{Intercept, scale_of};
use crate::dual::multiclass_rows::{Biases, Measure, Problem, Rebuild, Sweep};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::loss::dual::ClassLoss;
use crate::random::Random;
use crate::simd::dispatch;
use crate::simd::exponential::VectorExp;
use crate::threads::try_each;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 256;
/// Multiply-adds of an exact evaluation that is worth several threads.
const WORTH: usize = 1 << 20;

/// Duals, weights and order of visits; see the head of this file.
#[derive(Debug, Clone)]
pub struct DualMulticlass<T> {
    problem: Problem<T>,
    /// n x width
    points: Vec<T>,
    /// value_i(p_i)
    values: Vec<f64>,
    /// d x width, feature-major
    weights: Vec<T>,
    biases: Biases<T>,
    order: Vec<u32>,
    hot: HotRows,
    gaps: Vec<f32>,
    random: Random,
    n_threads: usize,
    n_sweeps: usize,
    since_rebuild: f64,
}

/// More classes than this want another method than one weight vector a class.
const MOST_CLASSES: usize = 1 << 24;

/// Fail unless there are between one and 2^24 classes.
pub fn check_classes(n_classes: usize) -> Result<(), KernelError> {
    if (1..=MOST_CLASSES).contains(&n_classes) {
        return Ok(());
    }
    Err(KernelError::Argument(format!("n_classes must be in 1..={MOST_CLASSES}, got {n_classes}")))
}

impl<T: VectorExp> DualMulticlass<T> {
    /// A state at the duals (n x K, U_i p_i) and free intercepts of `start`, made feasible; at p_i = e_{y_i}
    /// and W = 0 without.
    ///
    /// `upper` are the U_i >= 0, and rows with U_i = 0 are left out. A start keeps the duals of the wrong
    /// classes as they are (the weights of a path's last solution), scaled down where they exceed U_i.
    #[allow(clippy::too_many_arguments)]
    pub fn new<X: Rows<T>>(
        x: &X,
        labels: &[i64],
        upper: &[f64],
        n_classes: usize,
        loss: &ClassLoss,
        intercept: Intercept,
        seed: u64,
        n_threads: usize,
        start: Option<(&[f64], &[f64])>,
    ) -> Result<Self, KernelError> {
        check_classes(n_classes)?;
        let (n, width) = (x.n_rows(), padded(n_classes));
        check_length("y", labels.len(), n)?;
        check_length("upper", upper.len(), n)?;
        check_upper(upper)?;
        let labels = labels
            .iter()
            .enumerate()
            .map(|(i, &y)| match usize::try_from(y) {
                Ok(label) if label < n_classes => Ok(label as u32),
                _ => Err(KernelError::Argument(format!("y[{i}] is {y}, outside 0..{n_classes}"))),
            })
            .collect::<Result<Vec<u32>, _>>()?;
        let costs = match loss {
            ClassLoss::Hinge(Some(costs)) => padded_costs(costs, n_classes, width)?,
            _ => Vec::new(),
        };
        let norms: Vec<f64> = (0..n).map(|i| x.squared_norm(i)).collect();
        let (mean_square, total) = scale_of(&norms, upper);
        let softmax = *loss == ClassLoss::Softmax;
        let square = intercept.square(mean_square, total, n_classes);
        let mut points: Vec<T> = zeros(n.saturating_mul(width))?;
        for (point, &label) in points.chunks_exact_mut(width).zip(&labels) {
            point[label as usize] = T::ONE;
        }
        let mut state = Self {
            points,
            values: zeros(n)?,
            weights: zeros(x.n_cols().saturating_mul(width))?,
            biases: Biases::new(intercept, square, width),
            order: active_rows(upper)?,
            hot: HotRows::new(n),
            gaps: zeros(n)?,
            random: Random::new(seed),
            n_threads: if x.n_stored() * n_classes >= WORTH { n_threads.max(1) } else { 1 },
            n_sweeps: 0,
            since_rebuild: 0.0,
            problem: Problem {
                softmax,
                costs,
                intercept,
                labels,
                upper: upper.to_vec(),
                norms,
                n_classes,
                width,
            },
        };
        if let Some((start, b)) = start {
            check_length("intercepts", b.len(), n_classes)?;
            state.begin_at(start)?;
            let sums = state.rebuild(x);
            let at = |k: usize| b.get(k).copied().unwrap_or(0.0);
            state.biases.update(|k, bias| bias.begin(intercept, sums[k], at(k)));
        }
        Ok(state)
    }

    fn begin_at(&mut self, start: &[f64]) -> Result<(), KernelError> {
        let (k, width) = (self.problem.n_classes, self.problem.width);
        check_length("start", start.len(), self.problem.labels.len() * k)?;
        if let Some(at) = start.iter().position(|a| !a.is_finite()) {
            return Err(KernelError::Argument(format!("start[{}, {}] is not finite", at / k, at % k)));
        }
        for (i, (point, from)) in self.points.chunks_exact_mut(width).zip(start.chunks_exact(k)).enumerate() {
            let (upper, label) = (self.problem.upper[i], self.problem.labels[i] as usize);
            if upper == 0.0 {
                continue;
            }
            let wrong = |c: usize| if c == label { 0.0 } else { from[c].max(0.0) / upper };
            let total: f64 = (0..k).map(wrong).sum();
            let shrink = if total > 1.0 { 1.0 / total } else { 1.0 };
            for (c, p) in point[..k].iter_mut().enumerate() {
                *p = T::from_f64(shrink * wrong(c));
            }
            point[label] = T::from_f64((1.0 - total).max(0.0));
            self.values[i] = if self.problem.softmax {
                point.iter().map(|p| p.to_f64()).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum()
            } else {
                self.problem.expected_cost(label, point)
            };
        }
        Ok(())
    }

    /// One sweep over the rows, preceded by sweeps over the hot ones where that pays.
    pub fn pass<X: Rows<T>>(&mut self, x: &X, stop: &Interrupt) -> Result<Pass, KernelError> {
        let mut visited = 0;
        if self.n_sweeps > 0 {
            let intercept = self.problem.intercept;
            self.biases.update(|_, bias| bias.recenter(intercept));
        }
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        let outcome = (|| {
            let mut hot = self.hot.first_set(self.n_sweeps);
            while let Some(mut set) = hot {
                for _ in 0..set.n_sweeps {
                    self.random.shuffle(&mut set.rows);
                    self.sweep(x, &set.rows, stop)?;
                    visited += set.rows.len();
                }
                hot = self.hot.next_set(set);
            }
            let rows = if self.problem.softmax {
                self.hot.worth_a_visit(self.n_sweeps, &order, &self.gaps)
            } else {
                self.hot.awake_or_all(self.n_sweeps, &order)
            };
            visited += rows.len();
            self.sweep(x, &rows, stop)
        })();
        let n_active = order.len().max(1);
        self.order = order;
        let violation = outcome?;
        self.n_sweeps += 1;
        let passes = visited as f64 / n_active as f64;
        self.since_rebuild += passes;
        if due_for_rebuild::<T>(self.since_rebuild) {
            let sums = self.rebuild(x);
            self.biases.update(|k, bias| bias.reset_sum(sums[k]));
        }
        let value: f64 =
            self.order.iter().map(|&i| self.problem.upper[i as usize] * self.values[i as usize]).sum();
        let gap: f64 = self.gaps.iter().map(|&g| f64::from(g)).sum();
        let penalty = 0.5 * squared_norm(&self.weights) + self.biases.penalty(true);
        Ok(Pass { dual: value - penalty, gap: gap + self.biases.slack(), violation, passes })
    }

    fn sweep<X: Rows<T>>(&mut self, x: &X, rows: &[u32], stop: &Interrupt) -> Result<f64, KernelError> {
        let mut scratch = self.problem.scratch();
        let mut violation = 0.0f64;
        for block in rows.chunks(BLOCK) {
            stop.check()?;
            let largest = dispatch(Sweep {
                problem: &self.problem,
                x,
                rows: block,
                scratch: &mut scratch,
                points: &mut self.points,
                values: &mut self.values,
                weights: &mut self.weights,
                biases: &mut self.biases,
                gaps: &mut self.gaps,
                hot: &mut self.hot,
            });
            violation = violation.max(largest);
        }
        Ok(violation)
    }

    /// The objective and an estimate of its lower bound at the current weights, on all threads.
    pub fn certificate<X: Rows<T>>(&self, x: &X, stop: &Interrupt) -> Result<Certificate, KernelError> {
        let measure = |(b, points): (usize, &[T])| {
            stop.check()?;
            Ok(dispatch(Measure {
                problem: &self.problem,
                x,
                first: b * BLOCK,
                points,
                weights: &self.weights,
                biases: &self.biases,
            }))
        };
        let size = BLOCK * self.problem.width;
        let parts: Vec<(f64, f64)> = try_each(self.n_threads, self.points.chunks(size).enumerate(), measure)?;
        let loss: f64 = parts.iter().map(|p| p.0).sum();
        let gap: f64 = parts.iter().map(|p| p.1).sum();
        let primal = 0.5 * squared_norm(&self.weights) + self.biases.penalty(false) + loss;
        Ok(Certificate { primal, dual: primal - gap - self.biases.slack() - self.biases.imbalance() })
    }

    /// Set the weights to W(p); returns S.
    fn rebuild<X: Rows<T>>(&mut self, x: &X) -> Vec<f64> {
        let mut sums = vec![0.0; self.problem.width];
        self.weights.fill(T::ZERO);
        dispatch(Rebuild {
            x,
            order: &self.order,
            problem: &self.problem,
            points: &self.points,
            weights: &mut self.weights,
            sums: &mut sums,
        });
        self.since_rebuild = 0.0;
        sums
    }

    /// The weights (d x K, feature-major), followed by the K intercepts where there are any.
    pub fn weights(&self) -> Vec<T> {
        let (k, width) = (self.problem.n_classes, self.problem.width);
        let mut weights = Vec::with_capacity(self.weights.len() / width * k + k);
        for row in self.weights.chunks_exact(width) {
            weights.extend_from_slice(&row[..k]);
        }
        if self.problem.intercept != Intercept::None {
            weights.extend_from_slice(&self.biases.values()[..k]);
        }
        weights
    }

    /// The duals U_i p_i (n x K).
    pub fn duals(&self) -> Vec<f64> {
        let (k, width) = (self.problem.n_classes, self.problem.width);
        let rows = self.points.chunks_exact(width).zip(&self.problem.upper);
        rows.flat_map(|(point, &upper)| point[..k].iter().map(move |p| upper * p.to_f64())).collect()
    }

    /// Threads that a sweep uses: one. Copies of W for local steps cost more to add up than they save, so
    /// that threads serve the exact evaluation alone.
    pub fn n_sweep_threads(&self) -> usize {
        1
    }
}

fn padded_costs<T: VectorExp>(costs: &[f64], k: usize, width: usize) -> Result<Vec<T>, KernelError> {
    check_length("cost", costs.len(), k * k)?;
    if let Some(at) = costs.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
        return Err(KernelError::Argument(format!(
            "cost[{}, {}] must be finite and not negative",
            at / k,
            at % k
        )));
    }
    if let Some(c) = (0..k).find(|c| costs[c * k + c] != 0.0) {
        return Err(KernelError::Argument(format!("cost[{c}, {c}] must be zero")));
    }
    let mut wide = vec![T::ZERO; k * width];
    for (wide, row) in wide.chunks_exact_mut(width).zip(costs.chunks_exact(k)) {
        for (w, &c) in wide.iter_mut().zip(row) {
            *w = T::from_f64(c);
        }
    }
    Ok(wide)
}
