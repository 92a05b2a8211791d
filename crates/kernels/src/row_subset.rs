//! Some rows of a matrix, read where they lie.

use crate::column_set::ColumnSet;
use crate::error::KernelError;
use crate::real::Real;
use crate::rows::Rows;

/// The rows `rows` of `x`, in that order; row `i` here is row `rows[i]` there.
#[derive(Debug, Clone, Copy)]
pub struct Subset<'a, X> {
    x: &'a X,
    rows: &'a [u32],
    n_stored: usize,
}

impl<'a, X> Subset<'a, X> {
    /// Take rows of `x` that together hold `n_stored` values; all must be rows of `x`.
    pub fn new<T: Real>(x: &'a X, rows: &'a [u32], n_stored: usize) -> Result<Self, KernelError>
    where
        X: Rows<T>,
    {
        match rows.iter().find(|&&i| i as usize >= x.n_rows()) {
            Some(i) => Err(KernelError::Argument(format!("there is no row {i} among {}", x.n_rows()))),
            None => Ok(Self { x, rows, n_stored }),
        }
    }

    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        self.rows[i] as usize
    }
}

impl<T: Real, X: Rows<T>> Rows<T> for Subset<'_, X> {
    fn n_rows(&self) -> usize {
        self.rows.len()
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

    fn fault(&self, i: usize) -> Option<KernelError> {
        self.x.fault(self.at(i))
    }

    #[inline(always)]
    fn squared_norm(&self, i: usize) -> f64 {
        self.x.squared_norm(self.at(i))
    }

    #[inline(always)]
    fn summed_squared_norm(&self, i: usize, set: &mut ColumnSet) -> f64 {
        self.x.summed_squared_norm(self.at(i), set)
    }

    #[inline(always)]
    fn each(&self, i: usize, visit: impl FnMut(usize, T)) {
        self.x.each(self.at(i), visit);
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        self.x.dot::<FMA>(self.at(i), w)
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        self.x.add_to::<FMA>(self.at(i), a, w);
    }

    #[inline(always)]
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]) {
        self.x.add_scaled_to::<FMA>(self.at(i), a, scale, w);
    }

    #[inline(always)]
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64 {
        self.x.scaled_square(self.at(i), scale)
    }

    #[inline(always)]
    fn dot_many<const FMA: bool>(&self, i: usize, w: &[T], out: &mut [T]) {
        self.x.dot_many::<FMA>(self.at(i), w, out);
    }

    #[inline(always)]
    fn add_to_many<const FMA: bool>(&self, i: usize, a: &[T], w: &mut [T]) {
        self.x.add_to_many::<FMA>(self.at(i), a, w);
    }

    #[inline(always)]
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize) {
        self.x.add_to_column::<FMA>(self.at(i), a, w, k, column);
    }
}

#[cfg(test)]
mod tests {
    use super::Subset;
    use crate::dense::Dense;
    use crate::rows::Rows;

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
        assert!(Subset::new::<f64>(&x, &[3], 2).is_err());
    }
}
