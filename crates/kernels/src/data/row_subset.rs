//! All rows of a matrix or some of them, read where they lie, for dual methods.
//!
//! One type for both: what is generic over rows is compiled for each type of them.

use crate::data::rows::Rows;
use crate::dual::binary::DualRows;
use crate::dual::common::squared_norm;
use crate::error::KernelError;
use crate::real::Real;

/// The rows `rows` of `x`, in that order; row `i` here is row `rows[i]` there. Without `rows`, those of `x`.
#[derive(Debug, Clone, Copy)]
pub struct Subset<'a, X> {
    x: &'a X,
    rows: Option<&'a [u32]>,
    n_stored: usize,
}

impl<'a, X> Subset<'a, X> {
    /// All rows of `x`.
    pub fn all<T: Real>(x: &'a X) -> Self
    where
        X: Rows<T>,
    {
        Self { x, rows: None, n_stored: x.n_stored() }
    }

    /// Take rows of `x` that together hold `n_stored` values; all must be rows of `x`.
    pub fn new<T: Real>(x: &'a X, rows: &'a [u32], n_stored: usize) -> Result<Self, KernelError>
    where
        X: Rows<T>,
    {
        match rows.iter().find(|&&i| i as usize >= x.n_rows()) {
            Some(i) => Err(KernelError::Argument(format!("there is no row {i} among {}", x.n_rows()))),
            None => Ok(Self { x, rows: Some(rows), n_stored }),
        }
    }

    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        match self.rows {
            Some(rows) => rows[i] as usize,
            None => i,
        }
    }
}

impl<T: Real, X: Rows<T>> DualRows<T> for Subset<'_, X> {
    const SHARED: bool = true;

    fn n_rows(&self) -> usize {
        self.rows.map_or_else(|| self.x.n_rows(), <[u32]>::len)
    }

    fn n_cols(&self) -> usize {
        self.x.n_cols()
    }

    fn n_stored(&self) -> usize {
        self.n_stored
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        self.x.prefetch(self.at(i));
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.x.squared_norm(self.at(i))
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        self.x.dot::<FMA>(self.at(i), w)
    }

    #[inline(always)]
    fn double_dot(&self, i: usize, w: &[T]) -> f64 {
        self.x.double_dot::<false>(self.at(i), w)
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        self.x.add_to::<FMA>(self.at(i), a, w);
    }

    fn squared_weights(&self, weights: &[T], _signs: &[f64], _duals: &[f64]) -> f64 {
        squared_norm(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::Subset;
    use crate::data::dense::Dense;
    use crate::dual::binary::DualRows;

    #[test]
    fn rows_of_a_subset_are_those_of_the_matrix() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let x = Dense::new(&values, 3, 2).unwrap();
        let subset = Subset::new(&x, &[2, 0], 4).unwrap();
        assert_eq!((subset.n_rows(), subset.n_cols(), subset.n_stored()), (2, 2, 4));
        assert_eq!(subset.dot::<false>(0, &[1.0, 10.0]), 65.0);
        assert_eq!(subset.squared_norm(1), 5.0);
        let mut w = [0.0; 2];
        subset.add_to::<false>(1, 2.0, &mut w);
        assert_eq!(w, [2.0, 4.0]);
        let all = Subset::all(&x);
        assert_eq!((all.n_rows(), all.n_stored()), (3, 6));
        assert_eq!(all.dot::<false>(2, &[1.0, 10.0]), 65.0);
        assert!(Subset::new::<f64>(&x, &[3], 2).is_err());
    }
}
