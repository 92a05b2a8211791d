//! The sweeps of [`crate::dual::multiclass`]: loops over rows, compiled for each instruction set.

use crate::data::rows::Rows;
use crate::dual::common::following;
use crate::dual::hinge;
use crate::dual::hot::HotRows;
use crate::dual::intercept::{Bias, Intercept};
use crate::dual::softmax::SoftmaxRow;
use crate::simd::Task;
use crate::simd::exponential::VectorExp;

#[derive(Debug, Clone)]
pub(crate) struct Problem<T> {
    pub softmax: bool,
    /// K x width, zero padded; empty for 0-1 costs.
    pub costs: Vec<T>,
    pub intercept: Intercept,
    pub labels: Vec<u32>,
    pub upper: Vec<f64>,
    pub norms: Vec<f64>,
    pub n_classes: usize,
    pub width: usize,
}

/// The intercepts, as [`Bias`] for every class; all zero where there are none.
#[derive(Debug, Clone)]
pub(crate) struct Biases<T> {
    intercept: Intercept,
    square: f64,
    center: Vec<f64>,
    sum: Vec<f64>,
    values: Vec<T>,
}

impl<T: VectorExp> Biases<T> {
    pub fn new(intercept: Intercept, square: f64, width: usize) -> Self {
        let zeros = vec![0.0; width];
        Self { intercept, square, center: zeros.clone(), sum: zeros, values: vec![T::ZERO; width] }
    }

    /// b
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Let the duals of one row change S.
    #[inline(always)]
    fn add(&mut self, change: &[T]) {
        let sums = self.sum.iter_mut().zip(change);
        for ((value, &center), (sum, &c)) in self.values.iter_mut().zip(&self.center).zip(sums) {
            *sum += c.to_f64();
            *value = T::from_f64(center + self.square * *sum);
        }
    }

    /// Change the intercept of every class.
    pub fn update(&mut self, mut change: impl FnMut(usize, &mut Bias)) {
        for (k, value) in self.values.iter_mut().enumerate() {
            let mut bias = Bias { center: self.center[k], square: self.square, sum: self.sum[k] };
            change(k, &mut bias);
            (self.center[k], self.sum[k]) = (bias.center, bias.sum);
            *value = T::from_f64(bias.value());
        }
    }

    /// The penalty, at b or at S.
    pub fn penalty(&self, at_sum: bool) -> f64 {
        let value = |(s, b): (&f64, &T)| if at_sum { *s } else { b.to_f64() };
        self.sum.iter().zip(&self.values).map(|pair| self.intercept.penalty(value(pair))).sum()
    }

    /// See [`Intercept::slack`].
    pub fn slack(&self) -> f64 {
        self.sum.iter().zip(&self.values).map(|(&s, b)| self.intercept.slack(b.to_f64(), s)).sum()
    }

    /// What sums that free intercepts want at zero may cost, while intercepts stay within 1 + |b|.
    pub fn imbalance(&self) -> f64 {
        if self.intercept != Intercept::Free {
            return 0.0;
        }
        self.sum.iter().zip(&self.values).map(|(&s, b)| s.abs() * (1.0 + b.to_f64().abs())).sum()
    }
}

/// Room for one row's work.
pub(crate) struct Scratch<T> {
    scores: Vec<T>,
    next: Vec<T>,
    softmax: SoftmaxRow<T>,
}

impl<T: VectorExp> Problem<T> {
    pub fn scratch(&self) -> Scratch<T> {
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
    pub fn expected_cost(&self, label: usize, p: &[T]) -> f64 {
        if self.costs.is_empty() {
            let other: f64 = p.iter().map(|p| p.to_f64()).sum();
            other - p[label].to_f64()
        } else {
            p.iter().zip(&self.costs[label * self.width..]).map(|(&p, &c)| (p * c).to_f64()).sum()
        }
    }
}

#[inline(always)]
fn dot<T: VectorExp>(a: &[T], b: &[T]) -> f64 {
    let mut sum = T::ZERO;
    for (&a, &b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum.to_f64()
}

/// A sweep over a block of rows; returns the largest violation.
pub(crate) struct Sweep<'a, T, X> {
    pub problem: &'a Problem<T>,
    pub x: &'a X,
    pub rows: &'a [u32],
    pub scratch: &'a mut Scratch<T>,
    pub points: &'a mut [T],
    pub values: &'a mut [f64],
    pub weights: &'a mut [T],
    pub biases: &'a mut Biases<T>,
    pub gaps: &'a mut [f32],
    pub hot: &'a mut HotRows,
}

impl<T: VectorExp, X: Rows<T>> Task for Sweep<'_, T, X> {
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
            self.x.dot_many::<T, FMA>(i, self.weights, scores);
            if problem.intercept != Intercept::None {
                for (z, &b) in scores.iter_mut().zip(self.biases.values()) {
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
                hinge::step::<T, FMA>(scores, top, problem.n_classes, point, curvature, next);
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
                self.x.add_to_many::<T, FMA>(i, scores, self.weights);
                if problem.intercept != Intercept::None {
                    self.biases.add(scores);
                }
            }
            violation = violation.max(moved * curvature);
            self.hot.note(i, upper * moved);
        }
        violation
    }
}

/// Sums of losses and gaps over a block of rows at fixed weights, past the products in double precision.
pub(crate) struct Measure<'a, T, X> {
    pub problem: &'a Problem<T>,
    pub x: &'a X,
    pub first: usize,
    pub points: &'a [T],
    pub weights: &'a [T],
    pub biases: &'a Biases<T>,
}

impl<T: VectorExp, X: Rows<T>> Task for Measure<'_, T, X> {
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
            self.x.dot_many::<T, FMA>(i, self.weights, &mut scores);
            for ((w, z), b) in wide.iter_mut().zip(&scores).zip(self.biases.values()) {
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

/// W += W(p), and the sums S of the duals.
pub(crate) struct Rebuild<'a, T, X> {
    pub x: &'a X,
    pub order: &'a [u32],
    pub problem: &'a Problem<T>,
    pub points: &'a [T],
    pub weights: &'a mut [T],
    pub sums: &'a mut [f64],
}
impl<T: VectorExp, X: Rows<T>> Task for Rebuild<'_, T, X> {
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
            self.x.add_to_many::<T, FMA>(i, &change, self.weights);
        }
    }
}
