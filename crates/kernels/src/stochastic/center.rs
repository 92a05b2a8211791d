//! The column means, and the way between an intercept b and that of centered columns, b + <w, m>.

use crate::data::rows::Rows;
use crate::real::Real;
use crate::simd::{Task, dispatch};

/// Column means of the data and their products with its rows.
#[derive(Debug, Clone)]
pub(super) struct Center<T> {
    /// m.
    pub mean: Vec<T>,
    /// <x_i, m>.
    pub products: Vec<T>,
    /// |m|^2.
    pub squared_norm: f64,
}

impl<T: Real> Center<T> {
    /// The means of the columns of `x`.
    pub fn of<X: Rows<T>>(x: &X) -> Self {
        dispatch(Means { x, scalar: std::marker::PhantomData })
    }

    /// <w_k, m> for each of the `k` scores of feature-major `w`.
    pub fn along(&self, w: &[T], k: usize) -> Vec<f64> {
        let mut out = vec![0.0; k];
        for (m, w) in self.mean.iter().zip(w.chunks_exact(k)) {
            for (o, w) in out.iter_mut().zip(w) {
                *o += m.to_f64() * w.to_f64();
            }
        }
        out
    }

    /// Turn the intercepts behind `w` into those of centered columns; nothing to do for no weights.
    pub fn enter(&self, w: &mut [T], k: usize) {
        self.move_intercepts(w, k, 1.0);
    }

    /// Undo [`Center::enter`].
    pub fn leave(&self, w: &mut [T], k: usize) {
        self.move_intercepts(w, k, -1.0);
    }

    fn move_intercepts(&self, w: &mut [T], k: usize, sign: f64) {
        if w.is_empty() {
            return;
        }
        let along = self.along(w, k);
        for (b, a) in w[self.mean.len() * k..].iter_mut().zip(along) {
            *b = T::from_f64(b.to_f64() + sign * a);
        }
    }
}

struct Means<'a, T, X> {
    x: &'a X,
    scalar: std::marker::PhantomData<T>,
}

impl<T: Real, X: Rows<T>> Task for Means<'_, T, X> {
    type Output = Center<T>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Center<T> {
        let n = self.x.n_rows();
        let mut mean = vec![T::ZERO; self.x.n_cols()];
        let share = T::from_f64(1.0 / n.max(1) as f64);
        for i in 0..n {
            self.x.add_to::<FMA>(i, share, &mut mean);
        }
        let products = (0..n).map(|i| self.x.dot::<FMA>(i, &mean)).collect();
        let squared_norm = mean.iter().map(|m| m.to_f64() * m.to_f64()).sum();
        Center { mean, products, squared_norm }
    }
}
