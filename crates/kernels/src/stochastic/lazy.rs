//! The plain rule at O(stored values) per step: w = s (v + q m'), average = b (u + a v) + p m'.
//!
//! v and u stand where the weights and their average do; s, a, b are numbers, p and q have one number
//! per score and are zero unless the columns are centered, when m holds their means.

use super::center::Center;
use super::{Batchwise, Settings, Stochastic, average_share};
use crate::data::rows::Rows;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::stochastic::tuning::BLOCK;

/// Size of s or b below which everything is multiplied out.
const SMALLEST: f64 = 1e-3;

struct Lazy {
    s: f64,
    a: f64,
    b: f64,
    q: Vec<f64>,
    p: Vec<f64>,
    /// <v_k, m>.
    along: Vec<f64>,
}

impl Lazy {
    fn new<T: Real>(v: &[T], k: usize, center: Option<&Center<T>>) -> Self {
        let along = center.map_or_else(|| vec![0.0; k], |c| c.along(v, k));
        Self { s: 1.0, a: 0.0, b: 1.0, q: vec![0.0; k], p: vec![0.0; k], along }
    }

    /// Multiply everything out: afterwards v and u are the weights and their average.
    fn fold<T: Real>(&mut self, v: &mut [T], u: &mut [T], n_features: usize, center: Option<&Center<T>>) {
        let k = self.q.len();
        if !u.is_empty() {
            for (u, v) in u[..n_features].iter_mut().zip(v.iter()) {
                *u = T::from_f64(self.b * (u.to_f64() + self.a * v.to_f64()));
            }
        }
        let s = T::from_f64(self.s);
        v[..n_features].iter_mut().for_each(|v| *v *= s);
        if let Some(center) = center {
            let q: Vec<f64> = self.q.iter().map(|q| q * self.s).collect();
            add_outer(&mut v[..n_features], &center.mean, &q);
            if !u.is_empty() {
                add_outer(&mut u[..n_features], &center.mean, &self.p);
            }
        }
        *self = Self::new(&v[..n_features], k, center);
    }

    /// Constant and factor of <x_i, m> in the scores of every row.
    fn set_shift<T: Real>(&self, b: &[T], center: Option<&Center<T>>, shift: &mut [T], tilt: &mut [T]) {
        let Some(center) = center else {
            if !b.is_empty() {
                shift.copy_from_slice(b);
            }
            return;
        };
        for (k, b) in b.iter().enumerate() {
            let inner = self.along[k] + self.q[k] * center.squared_norm;
            shift[k] = T::from_f64(b.to_f64() - self.s * inner);
            tilt[k] = T::from_f64(self.s * self.q[k]);
        }
    }
}

/// W += m p'
fn add_outer<T: Real>(w: &mut [T], m: &[T], p: &[f64]) {
    for (w, m) in w.chunks_exact_mut(p.len()).zip(m) {
        for (w, p) in w.iter_mut().zip(p) {
            *w += T::from_f64(m.to_f64() * p);
        }
    }
}

impl<T: Real> Stochastic<T> {
    pub(super) fn run_lazy<X: Rows<T>>(
        &mut self,
        x: &X,
        data: Batchwise<'_>,
        order: &[u32],
        center: Option<&Center<T>>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        let n_features = x.n_cols() * self.settings.k;
        let mut lazy = Lazy::new(&self.weights[..n_features], self.settings.k, center);
        let mut total = 0.0;
        let mut outcome = Ok(0.0);
        let block = self.settings.batch_size * BLOCK.div_ceil(self.settings.batch_size);
        for rows in order.chunks(block) {
            let block = Block { run: self, lazy: &mut lazy, x, data, rows, center };
            outcome = stop.check().and_then(|()| dispatch(block));
            match &outcome {
                Ok(loss) => total += loss,
                Err(_) => break,
            }
        }
        lazy.fold(&mut self.weights, &mut self.mean, n_features, center);
        outcome.map(|_| total)
    }
}

struct Block<'a, T, X> {
    run: &'a mut Stochastic<T>,
    lazy: &'a mut Lazy,
    x: &'a X,
    data: Batchwise<'a>,
    rows: &'a [u32],
    center: Option<&'a Center<T>>,
}

impl<T: Real, X: Rows<T>> Task for Block<'_, T, X> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { run, lazy, x, data, rows, center } = self;
        let Settings { k, shares, batch_size, average, .. } = run.settings;
        let n_features = x.n_cols() * k;
        let shrunk_intercept = shares.penalized > n_features;
        let mut total = 0.0;
        let mut moves = vec![T::ZERO; k];
        for (at, batch) in rows.chunks(batch_size).enumerate() {
            if let Some(&next) = rows.get((at + 1) * batch_size) {
                x.prefetch(next as usize);
            }
            lazy.set_shift(&run.weights[n_features..], center, &mut run.shift, &mut run.tilt);
            total += run.batch_slopes::<X, FMA>(x, data, batch, T::from_f64(lazy.s), center)?;
            let rate = run.next_rate(x.n_rows());
            let intercept_rate = T::from_f64(run.next_intercept_rate(x.n_rows(), n_features));
            let shrink = 1.0 / (1.0 + rate * shares.l2);
            let to_v = -rate / lazy.s;
            let (v, b) = run.weights.split_at_mut(n_features);
            for (&row, slopes) in batch.iter().zip(run.slopes.chunks_exact(k)) {
                if slopes.iter().all(|&g| g == T::ZERO) {
                    continue;
                }
                let i = row as usize;
                add_scaled::<T, X, FMA>(x, i, slopes, to_v, &mut moves, v);
                if average && lazy.a != 0.0 {
                    let u = &mut run.mean[..n_features];
                    add_scaled::<T, X, FMA>(x, i, slopes, -lazy.a * to_v, &mut moves, u);
                }
                for (b, &g) in b.iter_mut().zip(slopes) {
                    *b -= intercept_rate * g;
                }
                if let Some(center) = center {
                    let along = center.products[i].to_f64();
                    for ((q, at), g) in lazy.q.iter_mut().zip(&mut lazy.along).zip(slopes) {
                        *q -= to_v * g.to_f64();
                        *at += to_v * g.to_f64() * along;
                    }
                }
            }
            if shrunk_intercept {
                b.iter_mut().for_each(|b| *b *= T::from_f64(shrink));
            }
            lazy.s *= shrink;
            run.steps += 1;
            if average {
                let mu = average_share(run.steps as f64);
                lazy.b *= 1.0 - mu;
                lazy.a += mu * lazy.s / lazy.b;
                for (m, &b) in run.mean[n_features..].iter_mut().zip(b.iter()) {
                    *m += T::from_f64(mu) * (b - *m);
                }
                for (p, q) in lazy.p.iter_mut().zip(&lazy.q) {
                    *p += mu * (lazy.s * q - *p);
                }
            }
            if lazy.s < SMALLEST || lazy.b < SMALLEST {
                lazy.fold(&mut run.weights, &mut run.mean, n_features, center);
            }
        }
        Ok(total)
    }
}

/// W += factor x_i slopes'.
#[inline(always)]
fn add_scaled<T: Real, X: Rows<T>, const FMA: bool>(
    x: &X,
    i: usize,
    slopes: &[T],
    factor: f64,
    moves: &mut [T],
    w: &mut [T],
) {
    let factor = T::from_f64(factor);
    if let [g] = slopes {
        x.add_to::<FMA>(i, factor * *g, w);
        return;
    }
    for (m, &g) in moves.iter_mut().zip(slopes) {
        *m = factor * g;
    }
    x.add_to_many::<T, FMA>(i, moves, w);
}
