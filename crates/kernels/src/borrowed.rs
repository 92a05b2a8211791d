//! Compressed sparse rows over borrowed arrays, for kernels that pass over the data a few times only:
//! nothing is copied, and every column is checked where it is used.
//!
//! The arrays belong to somebody who may change them while a kernel runs. [`Borrowed::new`] checks lengths
//! and row pointers; a row pointer that becomes invalid later reads as an empty row. Columns and values
//! are not looked at beforehand: products with a row that has a column outside the matrix, a NaN or an
//! infinity are not finite, and kernels that meet such a score ask [`Rows::fault`] for the reason.
//! Additions pass over columns outside the matrix.

use crate::column_set::ColumnSet;
use crate::error::{KernelError, check_length};
use crate::rows::{Rows, sum_of_squares};
use crate::simd::{Gather, Index, prefetch_lines};

/// Cache lines of a row to ask for ahead of its visit.
const LINES: usize = 8;

/// A sparse matrix whose arrays are borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Borrowed<'a, T, I> {
    starts: &'a [I],
    columns: &'a [I],
    values: &'a [T],
    n_cols: usize,
}

impl<'a, T: Gather<I>, I: Index> Borrowed<'a, T, I> {
    /// Take arrays that [`Borrowed::new`] has accepted before; nothing breaks where they changed since.
    pub fn unchecked(starts: &'a [I], columns: &'a [I], values: &'a [T], n_cols: usize) -> Self {
        Self { starts, columns, values, n_cols }
    }

    /// Take the three arrays of a CSR matrix, `n_rows + 1` row pointers; these and the lengths are checked.
    pub fn new(
        starts: &'a [I],
        columns: &'a [I],
        values: &'a [T],
        n_cols: usize,
    ) -> Result<Self, KernelError> {
        check_length("indices", columns.len(), values.len())?;
        let nnz = values.len();
        let malformed = |row| KernelError::RowPointer { row, nnz };
        if starts.first().map(|s| s.to_i64()) != Some(0) {
            return Err(malformed(0));
        }
        if let Some(row) = starts.windows(2).position(|pair| pair[0].to_i64() > pair[1].to_i64()) {
            return Err(malformed(row + 1));
        }
        if starts.last().map(|s| s.to_i64()) != i64::try_from(nnz).ok() {
            return Err(malformed(starts.len() - 1));
        }
        Ok(Self { starts, columns, values, n_cols })
    }

    #[inline(always)]
    fn row(&self, i: usize) -> (&'a [I], &'a [T]) {
        let range = self.starts[i].to_i64() as usize..self.starts[i + 1].to_i64() as usize;
        match (self.columns.get(range.clone()), self.values.get(range)) {
            (Some(columns), Some(values)) => (columns, values),
            _ => (&[], &[]),
        }
    }

    /// Sum of squares of a row after its repeated columns were added up.
    #[cold]
    fn summed(&self, i: usize) -> f64 {
        let (columns, values) = self.row(i);
        let mut pairs: Vec<(i64, f64)> =
            columns.iter().zip(values).map(|(c, v)| (c.to_i64(), v.to_f64())).collect();
        pairs.sort_by_key(|pair| pair.0);
        pairs
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| same.iter().map(|pair| pair.1).sum::<f64>().powi(2))
            .sum()
    }
}

impl<T: Gather<I>, I: Index> Rows<T> for Borrowed<'_, T, I> {
    fn n_rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn n_stored(&self) -> usize {
        self.values.len()
    }

    fn fault(&self, i: usize) -> Option<KernelError> {
        let (columns, values) = self.row(i);
        let n_cols = self.n_cols;
        let inside = |c: i64| usize::try_from(c).is_ok_and(|c| c < n_cols);
        columns.iter().zip(values).find_map(|(c, v)| {
            let index = c.to_i64();
            if !inside(index) {
                return Some(KernelError::IndexOutOfRange { row: i, index, n_cols });
            }
            let value = if v.is_nan() { "NaN" } else { "infinity" };
            (!v.is_finite()).then_some(KernelError::NotFinite { row: i, column: index as usize, value })
        })
    }

    #[inline(always)]
    fn squared_norm(&self, i: usize) -> f64 {
        sum_of_squares(self.row(i).1)
    }

    #[inline(always)]
    fn summed_squared_norm(&self, i: usize, set: &mut ColumnSet) -> f64 {
        if set.repeats(self.row(i).0, self.n_cols) { self.summed(i) } else { self.squared_norm(i) }
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        let (columns, values) = self.row(i);
        prefetch_lines(columns, LINES);
        prefetch_lines(values, LINES);
    }

    #[inline(always)]
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T {
        let (columns, values) = self.row(i);
        T::gather_dot::<FMA>(columns, values, &w[..self.n_cols])
    }

    #[inline(always)]
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            if let Some(w) = w.get_mut(c.to_i64() as usize) {
                *w = a.fma::<FMA>(v, *w);
            }
        }
    }

    #[inline(always)]
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = c.to_i64() as usize;
            if let (Some(w), Some(&s)) = (w.get_mut(at), scale.get(at)) {
                *w = (a * s).fma::<FMA>(v, *w);
            }
        }
    }

    #[inline(always)]
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64 {
        let (columns, values) = self.row(i);
        let at = |c: &I| scale.get(c.to_i64() as usize).map_or(0.0, |s| s.to_f64());
        columns.iter().zip(values).map(|(c, v)| v.to_f64() * v.to_f64() * at(c)).sum()
    }

    #[inline(always)]
    fn dot_many<const FMA: bool>(&self, i: usize, w: &[T], out: &mut [T]) {
        let k = out.len();
        out.fill(T::ZERO);
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = (c.to_i64() as usize).saturating_mul(k);
            if let Some(w) = w.get(at..at.saturating_add(k)) {
                for (o, &w) in out.iter_mut().zip(w) {
                    *o = v.fma::<FMA>(w, *o);
                }
            } else {
                out.fill(T::NAN);
            }
        }
    }

    #[inline(always)]
    fn add_to_many<const FMA: bool>(&self, i: usize, a: &[T], w: &mut [T]) {
        let k = a.len();
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = (c.to_i64() as usize).saturating_mul(k);
            if let Some(w) = w.get_mut(at..at.saturating_add(k)) {
                for (w, &a) in w.iter_mut().zip(a) {
                    *w = v.fma::<FMA>(a, *w);
                }
            }
        }
    }

    #[inline(always)]
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize) {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let at = (c.to_i64() as usize).saturating_mul(k).saturating_add(column);
            if let Some(w) = w.get_mut(at) {
                *w = a.fma::<FMA>(v, *w);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Borrowed;
    use crate::column_set::ColumnSet;
    use crate::csr::Csr;
    use crate::error::KernelError;
    use crate::rows::{Rows, check_row};

    #[test]
    fn products_are_those_of_the_owned_matrix() {
        let starts = [0i32, 2, 2, 7];
        let columns = [0, 2, 0, 1, 2, 3, 4];
        let values: Vec<f64> = (1..8).map(f64::from).collect();
        let owned = Csr::new(&starts, &columns, &values, 5, 1).expect("valid");
        let borrowed = Borrowed::new(&starts, &columns, &values, 5).expect("valid");
        for k in [1, 3, 9] {
            let w: Vec<f64> = (0..5 * k).map(|v| v as f64).collect();
            for i in 0..3 {
                let (mut a, mut b) = (vec![0.0; k], vec![0.0; k]);
                owned.dot_many::<false>(i, &w, &mut a);
                borrowed.dot_many::<false>(i, &w, &mut b);
                assert_eq!(a, b);
                assert_eq!(owned.dot::<false>(i, &w), borrowed.dot::<false>(i, &w));
                assert_eq!(owned.squared_norm(i), borrowed.squared_norm(i));
                let (mut a, mut b) = (w.clone(), w.clone());
                owned.add_to_column::<false>(i, 0.5, &mut a, k, k - 1);
                borrowed.add_to_column::<false>(i, 0.5, &mut b, k, k - 1);
                owned.add_to_many::<false>(i, &w[..k], &mut a);
                borrowed.add_to_many::<false>(i, &w[..k], &mut b);
                owned.add_to::<false>(i, 2.0, &mut a);
                borrowed.add_to::<false>(i, 2.0, &mut b);
                assert_eq!(a, b);
            }
        }
    }

    #[test]
    fn malformed_row_pointers_are_named() {
        let malformed = Some(KernelError::RowPointer { row: 2, nnz: 1 });
        assert_eq!(Borrowed::new(&[0i64, 2, 1], &[0], &[1.0f32], 3).err(), malformed);
        assert!(Borrowed::new(&[] as &[i32], &[], &[] as &[f32], 3).is_err());
        assert!(Borrowed::new(&[0i32, 1], &[0, 1], &[1.0], 3).is_err());
    }

    #[test]
    fn arrays_that_changed_are_harmless() {
        let changed = Borrowed::unchecked(&[0i32, 9, -4], &[-1, 7], &[1.0f64, 1.0], 2);
        let mut w = [1.0, 1.0];
        for i in 0..2 {
            assert_eq!(changed.dot::<false>(i, &w), 0.0);
            changed.add_to::<false>(i, 1.0, &mut w);
        }
        assert_eq!(w, [1.0, 1.0]);
    }

    #[test]
    fn bad_rows_give_no_number_and_are_named() {
        for (column, value, expected) in [
            (5, 1.0f32, KernelError::IndexOutOfRange { row: 1, index: 5, n_cols: 3 }),
            (-1, 1.0, KernelError::IndexOutOfRange { row: 1, index: -1, n_cols: 3 }),
            (2, f32::NAN, KernelError::NotFinite { row: 1, column: 2, value: "NaN" }),
            (2, f32::INFINITY, KernelError::NotFinite { row: 1, column: 2, value: "infinity" }),
        ] {
            let (starts, columns, values) = ([0i32, 1, 2, 3], [0, column, column], [1.0, value, value]);
            let x = Borrowed::new(&starts, &columns, &values, 3).expect("pointers are fine");
            assert_eq!(x.dot::<false>(0, &[1.0, 1.0, 0.0]), 1.0);
            assert!(check_row(&x, 0).is_ok());
            assert!(!x.dot::<false>(2, &[1.0, 1.0, 0.0]).is_finite());
            let mut scores = [0.0; 2];
            x.dot_many::<false>(2, &[0.0; 6], &mut scores);
            assert!(!scores[0].is_finite() && !scores[1].is_finite());
            assert_eq!(check_row(&x, 2), Err(expected));
            let mut w = [1.0; 3];
            x.add_to::<false>(0, 1.0, &mut w);
            assert_eq!(w, [2.0, 1.0, 1.0]);
        }
    }

    #[test]
    fn norms_add_repeated_columns_up() {
        let x = Borrowed::new(&[0i32, 3, 5], &[2, 1, 2, 1, 2], &[1.0, 2.0, 3.0, 2.0, 4.0], 3).expect("valid");
        let mut set = ColumnSet::default();
        assert_eq!((x.squared_norm(0), x.summed_squared_norm(0, &mut set)), (14.0, 20.0));
        assert_eq!((x.squared_norm(1), x.summed_squared_norm(1, &mut set)), (20.0, 20.0));
    }
}
