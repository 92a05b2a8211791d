//! One update of all weights per batch, by any step rule.

use super::center::Center;
use super::{Batchwise, Stochastic, average_share};
use crate::data::rows::Rows;
use crate::error::{KernelError, zeros};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::stochastic::step_rule::Kind;

impl<T: Real> Stochastic<T> {
    pub(super) fn run_dense<X: Rows<T>>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        order: &[u32],
        center: Option<&Center<T>>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let mut grad = zeros(self.weights.len())?;
        let mut total = 0.0;
        self.tilt.fill(T::ZERO);
        for rows in order.chunks(self.settings.batch_size) {
            stop.check()?;
            total += dispatch(Gradient { run: self, x, data, rows, center, grad: &mut grad })?;
            let rate = self.next_rate(x.n_rows());
            let n_features = x.n_cols() * self.settings.k;
            if self.rule.kind() == Kind::Plain && rate > 0.0 {
                let more = T::from_f64(self.next_intercept_rate(x.n_rows(), n_features) / rate);
                grad[n_features..].iter_mut().for_each(|g| *g *= more);
            }
            self.rule.step(&mut self.weights, &grad, rate, self.settings.shares)?;
            self.steps += 1;
            if self.settings.average {
                let mu = T::from_f64(average_share(self.steps as f64));
                for (m, &w) in self.mean.iter_mut().zip(&self.weights) {
                    *m += mu * (w - *m);
                }
            }
        }
        Ok(total)
    }

    /// The shift of all scores: intercepts, less <w, m> where columns are centered.
    #[inline(always)]
    fn set_shift(&mut self, n_features: usize, center: Option<&Center<T>>) {
        let k = self.settings.k;
        let intercepts = &self.weights[n_features..];
        if let Some(center) = center {
            let along = center.along(&self.weights, k);
            for ((shift, b), a) in self.shift.iter_mut().zip(intercepts).zip(along) {
                *shift = T::from_f64(b.to_f64() - a);
            }
        } else if !intercepts.is_empty() {
            self.shift.copy_from_slice(intercepts);
        }
    }
}

struct Gradient<'a, T, X> {
    run: &'a mut Stochastic<T>,
    x: &'a X,
    data: Batchwise<'a>,
    rows: &'a [u32],
    center: Option<&'a Center<T>>,
    grad: &'a mut [T],
}

impl<T: Real, X: Rows<T>> Task for Gradient<'_, T, X> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { run, x, data, rows, center, grad } = self;
        let k = run.settings.k;
        run.set_shift(x.n_cols() * k, center);
        let total = run.batch_slopes::<X, FMA>(x, data, rows, T::ONE, center)?;
        grad.fill(T::ZERO);
        let (features, intercepts) = grad.split_at_mut(x.n_cols() * k);
        for (&row, slopes) in rows.iter().zip(run.slopes.chunks_exact(k)) {
            if let [g] = slopes {
                x.add_to::<FMA>(row as usize, *g, features);
            } else {
                x.add_to_many::<T, FMA>(row as usize, slopes, features);
            }
            for (b, &g) in intercepts.iter_mut().zip(slopes) {
                *b += g;
            }
        }
        if let Some(center) = center {
            for (&m, g) in center.mean.iter().zip(features.chunks_exact_mut(k)) {
                for (g, &b) in g.iter_mut().zip(intercepts.iter()) {
                    *g -= m * b;
                }
            }
        }
        Ok(total)
    }
}
