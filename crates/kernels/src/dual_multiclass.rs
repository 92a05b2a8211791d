//! Dual coordinate descent for many classes: softmax and Crammer–Singer with any costs, L2 penalty.
//!
//! Problem: min over W (d x K) of 1/2 |W|^2 + sum_i U_i (max_op_i(z_i) - z_i[y_i]), z_i = W' x_i, where
//! max_op is log-sum-exp, or the largest of z + cost[y]. The dual has one point p_i of the simplex per
//! row, value_i(p) its entropy or its expected cost:
//! max over p of sum_i U_i value_i(p_i) - 1/2 |W(p)|^2,  W(p) = sum_i U_i x_i (e_{y_i} - p_i)'.
//! Invariant, on every exit: the weights are W(p) (up to rounding, which is removed by rebuilding them
//! now and then in single precision) and every p_i is on its simplex.
//! Sources: Crammer & Singer (2001); Keerthi et al. (2008), the sequential dual method; Yu, Huang & Lin
//! (2011); the row problems are in [`crate::dual_softmax`] and [`crate::dual_hinge`].
//! A pass returns the state of convergence, [`DualMulticlass::certificate`] the exact duality gap.

use rayon::prelude::*;

use crate::dual_binary::{Certificate, Pass, active_rows, check_upper, following, squared_norm};
use crate::dual_hinge;
use crate::dual_intercept::{Intercept, scale_of};
use crate::dual_softmax::SoftmaxRow;
use crate::error::{KernelError, check_length};
use crate::fast_exp::FastExp;
use crate::hot::{HOT_SWEEPS, HotRows};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::rows::{Rows, padded};
use crate::simd::{Task, dispatch};
use crate::threads::with_threads;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 256;
/// Passes in single precision after which the weights are rebuilt from the duals.
const REBUILD: f64 = 50.0;
/// Multiply-adds of a score pass that is worth several threads.
const WORTH: usize = 1 << 20;

/// The losses with a dual for many classes.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassLoss {
    /// log sum_k exp z_k - z_y
    Softmax,
    /// max_k (z_k + cost[y, k]) - z_y; costs are K x K, or 0-1 where there are none.
    Hinge(Option<Vec<f64>>),
}

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

#[derive(Debug, Clone)]
struct Problem<T> {
    softmax: bool,
    /// K x width, zero padded; empty for 0-1 costs.
    costs: Vec<T>,
    intercept: Intercept,
    labels: Vec<u32>,
    upper: Vec<f64>,
    norms: Vec<f64>,
    n_classes: usize,
    width: usize,
}

/// The intercepts b = center + square * sum, with sum_k = S_k.
#[derive(Debug, Clone)]
struct Biases<T> {
    square: f64,
    center: Vec<f64>,
    sum: Vec<f64>,
    values: Vec<T>,
}

impl<T: FastExp> Biases<T> {
    #[inline(always)]
    fn add(&mut self, change: &[T]) {
        let sums = self.sum.iter_mut().zip(change);
        for ((value, &center), (sum, &c)) in self.values.iter_mut().zip(&self.center).zip(sums) {
            *sum += c.to_f64();
            *value = T::from_f64(center + self.square * *sum);
        }
    }

    fn set_center(&mut self, center: impl Fn(f64, f64) -> f64) {
        for k in 0..self.sum.len() {
            self.center[k] = center(self.center[k] + self.square * self.sum[k], self.sum[k]);
            self.values[k] = T::from_f64(self.center[k] + self.square * self.sum[k]);
        }
    }
}

/// Room for one row's work.
struct Scratch<T> {
    scores: Vec<T>,
    next: Vec<T>,
    softmax: SoftmaxRow<T>,
}

impl<T: FastExp> Problem<T> {
    fn scratch(&self) -> Scratch<T> {
        Scratch {
            scores: vec![T::ZERO; self.width],
            next: vec![T::ZERO; self.width],
            softmax: SoftmaxRow::new(self.n_classes, self.width),
        }
    }

    /// v <- v + cost[y] and the largest of the result.
    #[inline(always)]
    fn augment(&self, label: usize, v: &mut [T]) -> T {
        if self.costs.is_empty() {
            for v in v.iter_mut() {
                *v += T::ONE;
            }
            v[label] -= T::ONE;
        } else {
            for (v, &c) in v.iter_mut().zip(&self.costs[label * self.width..]) {
                *v += c;
            }
        }
        let mut top = v[0];
        for &v in &v[1..self.n_classes] {
            top = top.max(v);
        }
        top
    }

    /// <cost[y], p>
    #[inline(always)]
    fn expected_cost(&self, label: usize, p: &[T]) -> f64 {
        if self.costs.is_empty() {
            let other: f64 = p.iter().map(|p| p.to_f64()).sum();
            other - p[label].to_f64()
        } else {
            p.iter().zip(&self.costs[label * self.width..]).map(|(&p, &c)| (p * c).to_f64()).sum()
        }
    }
}

#[inline(always)]
fn dot<T: FastExp>(a: &[T], b: &[T]) -> f64 {
    let mut sum = T::ZERO;
    for (&a, &b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum.to_f64()
}

/// A sweep over a block of rows; returns the largest violation.
struct Sweep<'a, T, X> {
    problem: &'a Problem<T>,
    x: &'a X,
    rows: &'a [u32],
    scratch: &'a mut Scratch<T>,
    points: &'a mut [T],
    values: &'a mut [f64],
    weights: &'a mut [T],
    biases: &'a mut Biases<T>,
    gaps: &'a mut [f32],
    hot: &'a mut HotRows,
}

impl<T: FastExp, X: Rows<T>> Task for Sweep<'_, T, X> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let problem = self.problem;
        let Scratch { scores, next, softmax } = self.scratch;
        // Steps below the rounding of a probability are noise: the row counts as still.
        let noise = if size_of::<T>() < size_of::<f64>() { 2e-7 } else { 1e-15 };
        let mut violation = 0.0f64;
        for (&i, &after) in self.rows.iter().zip(following(self.rows)) {
            let i = i as usize;
            self.x.prefetch(after as usize);
            let (upper, label) = (problem.upper[i], problem.labels[i] as usize);
            let point = &mut self.points[i * problem.width..(i + 1) * problem.width];
            self.x.dot_many::<FMA>(i, self.weights, scores);
            if problem.intercept != Intercept::None {
                for (z, &b) in scores.iter_mut().zip(&self.biases.values) {
                    *z += b;
                }
            }
            let curvature = upper * (problem.norms[i] + self.biases.square);
            let gap;
            if problem.softmax {
                gap = softmax.softmax::<FMA>(scores, next) - dot(point, scores) - self.values[i];
                self.values[i] = softmax.step::<FMA>(scores, point, curvature, next);
            } else {
                let top = problem.augment(label, scores);
                gap = top.to_f64() - dot(point, scores);
                dual_hinge::step::<T, FMA>(scores, top, problem.n_classes, point, curvature, next);
            }
            self.gaps[i] = (upper * gap.max(0.0)) as f32;
            let mut moved = T::ZERO;
            let scale = T::from_f64(upper);
            for ((change, next), point) in scores.iter_mut().zip(next.iter()).zip(point.iter()) {
                let step = *point - *next;
                moved = moved.max(step.abs());
                *change = scale * step;
            }
            let mut moved = moved.to_f64();
            if moved < noise {
                moved = 0.0;
            } else {
                point.copy_from_slice(next);
                if !problem.softmax {
                    self.values[i] = problem.expected_cost(label, next);
                }
                self.x.add_to_many::<FMA>(i, scores, self.weights);
                if problem.intercept != Intercept::None {
                    self.biases.add(scores);
                }
            }
            violation = violation.max(moved * curvature);
            if !problem.softmax {
                self.hot.note(i, upper * moved);
            }
        }
        violation
    }
}

/// Sums of losses and gaps over a block of rows at fixed weights, past the products in double precision.
struct Measure<'a, T, X> {
    problem: &'a Problem<T>,
    x: &'a X,
    first: usize,
    points: &'a [T],
    weights: &'a [T],
    biases: &'a Biases<T>,
}

impl<T: FastExp, X: Rows<T>> Task for Measure<'_, T, X> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, f64) {
        let problem = self.problem;
        let (k, width) = (problem.n_classes, problem.width);
        let mut scores = vec![T::ZERO; width];
        let (mut wide, mut next) = (vec![0.0; width], vec![0.0; width]);
        let mut softmax = SoftmaxRow::<f64>::new(k, width);
        let (mut loss, mut gap) = (0.0, 0.0);
        for (i, point) in (self.first..).zip(self.points.chunks_exact(width)) {
            let (upper, label) = (problem.upper[i], problem.labels[i] as usize);
            if upper == 0.0 {
                continue;
            }
            self.x.dot_many::<FMA>(i, self.weights, &mut scores);
            for ((w, z), b) in wide.iter_mut().zip(&scores).zip(&self.biases.values) {
                *w = z.to_f64() + b.to_f64();
            }
            let own = wide[label];
            let mut expected = 0.0;
            let best;
            if problem.softmax {
                best = softmax.softmax::<FMA>(&wide, &mut next);
                for (&p, &z) in point[..k].iter().zip(&wide) {
                    let p = p.to_f64();
                    if p > 0.0 {
                        expected += p * (z - p.ln());
                    }
                }
            } else {
                for (c, z) in wide[..k].iter_mut().enumerate() {
                    *z += if problem.costs.is_empty() {
                        f64::from(u8::from(c != label))
                    } else {
                        problem.costs[label * width + c].to_f64()
                    };
                }
                best = wide[1..k].iter().fold(wide[0], |a, &b| a.max(b));
                expected = point[..k].iter().zip(&wide).map(|(p, z)| p.to_f64() * z).sum();
            }
            loss += upper * (best - own);
            gap += upper * (best - expected).max(0.0);
        }
        (loss, gap)
    }
}

impl<T: FastExp> DualMulticlass<T> {
    /// A state at the duals `start` (n x K, U_i p_i), made feasible; at p_i = e_{y_i} and W = 0 without.
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
        start: Option<&[f64]>,
    ) -> Result<Self, KernelError> {
        let (n, width) = (x.n_rows(), padded(n_classes));
        check_length("y", labels.len(), n)?;
        check_length("upper", upper.len(), n)?;
        check_upper(upper)?;
        if n_classes == 0 {
            return Err(KernelError::Argument("there must be at least one class".into()));
        }
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
        let mut points = vec![T::ZERO; n * width];
        for (point, &label) in points.chunks_exact_mut(width).zip(&labels) {
            point[label as usize] = T::ONE;
        }
        let zeros = vec![0.0; width];
        let mut state = Self {
            points,
            values: vec![0.0; n],
            weights: vec![T::ZERO; x.n_cols() * width],
            biases: Biases {
                square: intercept.square(mean_square, total, n_classes),
                center: zeros.clone(),
                sum: zeros,
                values: vec![T::ZERO; width],
            },
            order: active_rows(upper)?,
            hot: HotRows::new(n),
            gaps: vec![0.0; n],
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
        if let Some(start) = start {
            state.begin_at(start)?;
            state.rebuild(x);
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
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        let outcome = (|| {
            if self.problem.softmax {
                visited += order.len();
                return self.sweep(x, &order, stop);
            }
            let mut hot = self.hot.select(self.n_sweeps, &mut self.random);
            for _ in 0..HOT_SWEEPS {
                self.random.shuffle(&mut hot);
                self.sweep(x, &hot, stop)?;
                visited += hot.len();
            }
            let rows = self.hot.awake(self.n_sweeps, &order);
            visited += rows.len();
            self.sweep(x, &rows, stop)
        })();
        let n_active = order.len().max(1);
        self.order = order;
        let violation = outcome?;
        self.n_sweeps += 1;
        if self.problem.intercept == Intercept::Free {
            self.biases.set_center(|value, _| value);
        }
        let passes = visited as f64 / n_active as f64;
        self.since_rebuild += passes;
        if size_of::<T>() < size_of::<f64>() && self.since_rebuild > REBUILD {
            self.rebuild(x);
        }
        let value: f64 =
            self.order.iter().map(|&i| self.problem.upper[i as usize] * self.values[i as usize]).sum();
        let gap: f64 = self.gaps.iter().map(|&g| f64::from(g)).sum();
        Ok(Pass { dual: value - self.penalty(), gap: gap + self.slack(), violation, passes })
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

    /// The objective and its lower bound at the current weights, on all threads.
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
        let parts: Vec<(f64, f64)> = if self.n_threads > 1 {
            with_threads(self.n_threads, || {
                self.points.par_chunks(size).enumerate().map(measure).collect::<Result<_, KernelError>>()
            })?
        } else {
            self.points.chunks(size).enumerate().map(measure).collect::<Result<_, KernelError>>()?
        };
        let loss: f64 = parts.iter().map(|p| p.0).sum();
        let gap: f64 = parts.iter().map(|p| p.1).sum();
        let primal = self.penalty() + loss;
        Ok(Certificate { primal, dual: primal - gap - self.slack() })
    }

    /// 1/2 |W|^2, penalized intercepts included.
    fn penalty(&self) -> f64 {
        let b = if self.problem.intercept == Intercept::Penalized {
            squared_norm(&self.biases.values)
        } else {
            0.0
        };
        0.5 * (squared_norm(&self.weights) + b)
    }

    /// What the duality gap lacks while S is not zero, see [`Certificate`].
    fn slack(&self) -> f64 {
        if self.problem.intercept != Intercept::Free {
            return 0.0;
        }
        self.biases.sum.iter().zip(&self.biases.values).map(|(s, b)| s.abs() * (1.0 + b.to_f64().abs())).sum()
    }

    /// Set the weights to W(p).
    fn rebuild<X: Rows<T>>(&mut self, x: &X) {
        struct Rebuild<'a, T, X> {
            x: &'a X,
            order: &'a [u32],
            problem: &'a Problem<T>,
            points: &'a [T],
            weights: &'a mut [T],
            sums: &'a mut [f64],
        }
        impl<T: FastExp, X: Rows<T>> Task for Rebuild<'_, T, X> {
            type Output = ();
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                let width = self.problem.width;
                let mut change = vec![T::ZERO; width];
                for &i in self.order {
                    let i = i as usize;
                    let upper = T::from_f64(self.problem.upper[i]);
                    for (c, &p) in change.iter_mut().zip(&self.points[i * width..]) {
                        *c = -upper * p;
                    }
                    change[self.problem.labels[i] as usize] += upper;
                    for (s, c) in self.sums.iter_mut().zip(&change) {
                        *s += c.to_f64();
                    }
                    self.x.add_to_many::<FMA>(i, &change, self.weights);
                }
            }
        }
        self.weights.fill(T::ZERO);
        let mut sums = vec![0.0; self.problem.width];
        dispatch(Rebuild {
            x,
            order: &self.order,
            problem: &self.problem,
            points: &self.points,
            weights: &mut self.weights,
            sums: &mut sums,
        });
        let square = self.biases.square;
        let keep = self.problem.intercept == Intercept::Free;
        let values: Vec<f64> = self.biases.values.iter().map(|v| v.to_f64()).collect();
        self.biases.sum = sums;
        let mut value = values.iter();
        self.biases.center.fill(0.0);
        if keep {
            // Free intercepts keep their values.
            for (center, sum) in self.biases.center.iter_mut().zip(&self.biases.sum) {
                *center = value.next().copied().unwrap_or(0.0) - square * sum;
            }
        }
        let center = self.biases.center.clone();
        for (k, value) in self.biases.values.iter_mut().enumerate() {
            *value = T::from_f64(center[k] + square * self.biases.sum[k]);
        }
        self.since_rebuild = 0.0;
    }

    /// The weights (d x K, feature-major), followed by the K intercepts where there are any.
    pub fn weights(&self) -> Vec<T> {
        let (k, width) = (self.problem.n_classes, self.problem.width);
        let mut weights = Vec::with_capacity(self.weights.len() / width * k + k);
        for row in self.weights.chunks_exact(width) {
            weights.extend_from_slice(&row[..k]);
        }
        if self.problem.intercept != Intercept::None {
            weights.extend_from_slice(&self.biases.values[..k]);
        }
        weights
    }

    /// The duals U_i p_i (n x K).
    pub fn duals(&self) -> Vec<f64> {
        let (k, width) = (self.problem.n_classes, self.problem.width);
        let rows = self.points.chunks_exact(width).zip(&self.problem.upper);
        rows.flat_map(|(point, &upper)| point[..k].iter().map(move |p| upper * p.to_f64())).collect()
    }

    /// Threads that a pass uses.
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }
}

fn padded_costs<T: FastExp>(costs: &[f64], k: usize, width: usize) -> Result<Vec<T>, KernelError> {
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
